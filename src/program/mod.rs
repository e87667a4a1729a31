//! Parts of the library that only the programs use, in addition to those for everybody. They change without notice.

#![allow(missing_docs, reason = "each is described where it is")]

pub use crate::cluster::{Cluster, shared_value};
pub use crate::datafusion_fixes::{fix_statement, in_sql, settle_using_columns};
pub use crate::error::{describe, is_panic};
pub use crate::index::stored::{check_folder, check_place};
pub use crate::memory::watch;
pub use crate::pipeline::query::{Literal, Parameters};
pub use crate::pipeline::{Outcome, on_executor};
pub use crate::run::{Run, Settings, grouped, mebibytes};
pub use crate::sql::files::unreadable;
pub use crate::strict_files::{Limits, limit_files};
pub use crate::terminal::{Screen, visible};

pub mod corpus {
    pub use crate::corpus::{
        Boilerplate, Fields, Format, OnError, Options, PageFilter, Quarantine, STDIN_FILE, encoding_of, refuse_result,
    };
    pub use encoding_rs::Encoding;
    pub use ibid_udfs::LanguageChoice;
}

pub mod export {
    pub use crate::export::{
        Form, Format, StagedFile, cleanup, is_url, is_within, names_folder, resolved, resolved_input, write_rows,
    };
}

pub mod methods {
    pub use crate::methods::add::Delivery;
    pub use crate::methods::clusters::NAMES;
    pub use crate::methods::codes::Learning;
    pub use crate::methods::decontaminate::FILES as DECONTAMINATE_FILES;
    pub use crate::methods::dedup::FILES as DEDUP_FILES;
    pub use crate::methods::found::FolderPlace;
    pub use crate::methods::options::{duration, format_of, sign_of};
    pub use crate::methods::threads::{Canonical, FieldOption, SignatureOption};
    pub use crate::methods::{Builder, refuse_without_effect};
}

pub mod store {
    pub use crate::store::{Explained, Settings, Source, Stores, guarded, place_of, redacted, redacted_url, unsound};
}

pub mod table_functions {
    pub use crate::table_functions::{Hooks, NAMES, register};
}
