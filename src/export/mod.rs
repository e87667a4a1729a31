//! Results: written beside their target, and put in its place only when they are whole.
//!
//! A failed or killed run leaves at most a hidden file or folder whose name ends in `.ibid-staging`; what was there
//! before stays as it was. DataFusion's own `COPY … TO` is not used for results: a query that fails half way through it
//! leaves a readable file with half of the rows.

pub mod cleanup;
mod dates;
mod format;
mod json;
pub(crate) mod layout;
mod manifest;
mod objects;
pub(crate) mod orphaned_files;
mod parts;
mod spreadsheet;
mod staging;
mod table;

pub(crate) use format::refuse_same_names;
pub use format::{Form, Format, write_rows};
pub(crate) use json::noted_as_json;
pub(crate) use manifest::{MANIFEST, Manifest, names};
pub(crate) use objects::{name_here, stem_of_sealed, table_files};
pub use parts::PartFormat;
pub(crate) use parts::{Parts, write_json, write_text};
pub use staging::{StagedFile, is_url, is_within, names_folder, resolved, resolved_input};
pub(crate) use staging::{
    StagedFolder, Unheld, abandoned, hold, is_random, is_staging, set_mode, temporary_file, unheld,
};
