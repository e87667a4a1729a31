//! `ibid gpu info`: the GPUs that can compare codes.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::Ending;
use super::run::Stdout;
use ibid::program::grouped;

/// Show the GPUs of this machine
#[derive(Debug, Args)]
pub(super) struct Gpu {
    #[command(subcommand)]
    about: About,
}

#[derive(Debug, Subcommand)]
enum About {
    /// List the GPUs that can compare codes, best first, with the memory limits of each
    Info,
}

impl Gpu {
    pub(super) fn run(self) -> Result<Ending> {
        let About::Info = self.about;
        Stdout.write_all(describe().as_bytes())?;
        Ok(Ending::Done)
    }
}

#[cfg(feature = "gpu")]
fn describe() -> String {
    let adapters = ibid_gpu::adapters();
    if adapters.is_empty() {
        return "no GPU: codes are compared on the processor\n".to_string();
    }
    let mut said = String::new();
    for adapter in &adapters {
        let software = if adapter.is_software { ", software: only taken with ibid.gpu = 'on' or if named" } else { "" };
        let _ = writeln!(said, "{} ({}, {}{software})", adapter.name, adapter.kind, adapter.backend);
        for (what, number) in [
            ("buffer", adapter.max_buffer_size),
            ("binding", adapter.max_storage_buffer_binding_size),
            ("memory of a workgroup", u64::from(adapter.max_compute_workgroup_storage_size)),
        ] {
            let _ = writeln!(said, "  largest {what}: {} bytes", grouped(number));
        }
        if !adapter.driver.is_empty() {
            let _ = writeln!(said, "  driver: {}", adapter.driver);
        }
    }
    said
}

#[cfg(not(feature = "gpu"))]
fn describe() -> String {
    "this ibid was built without the feature gpu: codes are compared on the processor\n".to_string()
}
