//! Code shared by the commands that write a filtered collection.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use ibid::methods::{Found, PartFormat};
use ibid::program::methods::{Builder, FolderPlace};

use super::Ending;
use super::options::{InputOptions, RunOptions};
use super::run::prepared;

/// The form in which the documents that stay are written.
#[derive(Debug, Args)]
pub(super) struct ShapeOptions {
    /// The format of the documents that stay
    #[arg(long, value_name = "FORMAT", default_value = "parquet", value_parser = PossibleValuesParser::new(
        PartFormat::NAMES.map(|(name, _)| name)).try_map(|name| name.parse::<PartFormat>()))]
    pub(super) format: PartFormat,
    /// Write at most this many documents to a file [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) rows_per_file: Option<u64>,
    /// Write only the ids of the documents that stay
    #[arg(long, conflicts_with = "annotate")]
    pub(super) ids_only: bool,
    /// Write all documents unchanged, with further columns that say what would be removed: is_kept; for duplicates kept_id,
    /// similarity and rule, or the list cuts; for items the list hits
    #[arg(long)]
    pub(super) annotate: bool,
}

/// Runs a method that filters a collection, and writes its folder. `files` are the names that the folder may contain.
pub(super) async fn hand_on<M>(
    mut method: M,
    output: &Path,
    files: &[&str],
    reading: &InputOptions,
    running: &RunOptions,
) -> Result<Ending>
where
    M: Builder + IntoFuture<Output = Result<Found, ibid::Error>>,
{
    let stores = Arc::clone(method.shared().engine.stores());
    reading.begin_folder(output, running, &stores)?;
    let place = FolderPlace::new(output, files, &stores)?;
    let talk = prepared(&mut method, reading.reading(), running)?;
    talk.deliver_folder(method.await?, "kept", place, running).await
}
