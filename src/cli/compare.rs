//! `ibid compare`: the methods of a command beside one another, judged by labels.

mod containment;
mod labels;

use anyhow::Result;
use clap::{Args, Subcommand};

use self::containment::CompareContainment;
use super::Ending;

/// Compare methods by a labelled collection: what they find of what there is to find, and at what cost
#[derive(Debug, Args)]
pub(super) struct Compare {
    #[command(subcommand)]
    methods: Methods,
}

#[derive(Debug, Subcommand)]
enum Methods {
    Containment(CompareContainment),
}

impl Compare {
    pub(super) async fn run(self) -> Result<Ending> {
        match self.methods {
            Methods::Containment(compare) => compare.run().await,
        }
    }
}
