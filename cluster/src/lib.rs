//! The program `ibid-cluster`: the commands of `ibid`, whose plans run on the machines of a cluster, and the servers of that cluster.
//!
//! Apache DataFusion Ballista cuts a plan into stages, gives their tasks to executors, and retries those that fail. It
//! moves rows between stages through the disks of executors. This package adds the parts of ibid to it: functions and
//! operators, by the [codec](ibid::IbidCodec) of the library, stores, and limits of memory.
//!
//! A method runs as ever, in the process of the command, and its statements run on the cluster (`client.rs`). An executor runs parts of
//! plans as an engine of ibid would (`executor.rs`).

mod client;
mod connections;
mod encode;
mod executor;
mod options;
mod scheduler;
mod settings;

use std::ffi::OsString;

/// Runs the program and returns the exit code, as [`ibid_cli::run`] does. The first argument is the name of the
/// program.
#[must_use]
pub fn run(arguments: &[OsString], give_back: fn()) -> u8 {
    ibid_cli::run_extended(arguments, give_back, Box::new(options::ClusterExtension::default()))
}
