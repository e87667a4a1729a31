use std::error::Error as StdError;
use std::fmt::{self, Display, Write as _};
use std::io;
use std::sync::Arc;

use datafusion::error::DataFusionError;
use tokio::task::JoinError;

use crate::corpus;
use crate::pipeline::is_out_of_memory;
use crate::store::{Explained, redacted};

/// An error, by kind.
///
/// The text says what, where and why, and what to do. It names options as in Rust and SQL, between backticks:
/// `` `max_pairs` ``, `` `on_error = skip` ``. It contains no secrets.
///
/// ```
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let engine = ibid::Engine::new()?;
/// let error = engine.pairs("nowhere/").await.err().unwrap();
/// assert!(matches!(error, ibid::Error::Input(_)), "{error}");
/// assert_eq!(error.kind(), "input");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input that is missing, or is not what it should be: a bad record, a missing column.
    #[error("{0}")]
    Input(Cause),
    /// Options that do not go together, or values that they cannot have.
    #[error("{0}")]
    Options(Cause),
    /// More than a limit that was set allows, such as of pairs.
    #[error("{0}")]
    Limit(Cause),
    /// Too little memory.
    #[error("{0}")]
    Memory(Cause),
    /// A request that failed at an object store or a web server.
    #[error("{0}")]
    Store(Cause),
    /// SQL that cannot be parsed, planned or evaluated.
    #[error("{0}")]
    Sql(Cause),
    /// A file that cannot be read or written.
    #[error("{0}")]
    Io(Cause),
    /// A fault of ibid.
    #[error("{0}")]
    Internal(Cause),
    /// Anything else.
    #[error("{0}")]
    Other(Cause),
}

impl Error {
    /// Returns the name of the kind: `input`, `options`, `limit`, `memory`, `store`, `sql`, `io`, `internal` or `other`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Input(_) => "input",
            Self::Options(_) => "options",
            Self::Limit(_) => "limit",
            Self::Memory(_) => "memory",
            Self::Store(_) => "store",
            Self::Sql(_) => "sql",
            Self::Io(_) => "io",
            Self::Internal(_) => "internal",
            Self::Other(_) => "other",
        }
    }
}

/// The place in a file that an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1, where the file has lines.
    pub line: Option<u64>,
    /// The byte, from 0; in a compressed file, of the decompressed data.
    pub byte: Option<u64>,
    /// The record, from 1.
    pub record: Option<u64>,
}

impl Place {
    fn of(error: &corpus::Error) -> Option<Self> {
        match error {
            corpus::Error::Record(problem) => Some(Self {
                file: problem.file.clone(),
                line: problem.line,
                byte: problem.byte,
                record: problem.record,
            }),
            corpus::Error::DuplicateId { second, .. } => {
                Some(Self { file: second.file.clone(), line: second.line, byte: None, record: Some(second.record) })
            }
            _ => None,
        }
    }
}

impl Error {
    /// Returns the place of the bad record that a method met, or of the second document with an id; `None` for other errors.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("notes.jsonl");
    /// std::fs::write(&file, "{\"id\": 1, \"text\": \"Good.\"}\n{\"id\": 2, \"text\": }\n")?;
    /// let error = ibid::Engine::new()?.pairs(&file).await.err().unwrap();
    /// let place = error.place().unwrap();
    /// assert_eq!((place.line, place.byte), (Some(2), Some(45)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.cause().0.chain().find_map(|cause| match cause.downcast_ref::<Self>() {
            Some(within) => within.place(),
            None => Place::of(cause.downcast_ref()?),
        })
    }

    fn cause(&self) -> &Cause {
        match self {
            Self::Input(cause)
            | Self::Options(cause)
            | Self::Limit(cause)
            | Self::Memory(cause)
            | Self::Store(cause)
            | Self::Sql(cause)
            | Self::Io(cause)
            | Self::Internal(cause)
            | Self::Other(cause) => cause,
        }
    }

    /// Returns the constructor of errors of the same kind.
    fn like(&self) -> fn(Cause) -> Self {
        match self {
            Self::Input(_) => Self::Input,
            Self::Options(_) => Self::Options,
            Self::Limit(_) => Self::Limit,
            Self::Memory(_) => Self::Memory,
            Self::Store(_) => Self::Store,
            Self::Sql(_) => Self::Sql,
            Self::Io(_) => Self::Io,
            Self::Internal(_) => Self::Internal,
            Self::Other(_) => Self::Other,
        }
    }
}

/// The errors that led to an [`Error`], as one text.
pub struct Cause(anyhow::Error);

impl Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe(&self.0))
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", describe(&self.0))
    }
}

/// Options that do not go together, or values that they cannot have.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Misuse(pub(crate) String);

/// More than a limit allows.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct OverLimit(pub(crate) String);

/// Returns an error of options.
macro_rules! misuse {
    ($($text:tt)*) => { anyhow::Error::new($crate::error::Misuse(format!($($text)*))) };
}
pub(crate) use misuse;

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        // A method in FROM fails with an error of ours within one of DataFusion; others have a context.
        if let Some(kind) = error.chain().skip(1).find_map(|cause| Some(cause.downcast_ref::<Self>()?.like())) {
            return kind(Cause(error));
        }
        let error = match error.downcast::<Self>() {
            Ok(known) => return known,
            Err(error) => error,
        };
        let has = |is: fn(&(dyn StdError + 'static)) -> bool| error.chain().any(is);
        let kind = if is_panic(&error) {
            Self::Internal
        } else if is_out_of_memory(&error) {
            Self::Memory
        } else if has(|cause| cause.is::<Misuse>()) {
            Self::Options
        } else if has(|cause| cause.is::<OverLimit>()) {
            Self::Limit
        } else if Explained::of(error.as_ref()).is_some() {
            Self::Store
        } else if has(|cause| cause.is::<corpus::Error>()) {
            Self::Input
        } else if has(|cause| cause.is::<io::Error>()) {
            Self::Io
        } else if has(|cause| cause.is::<DataFusionError>()) {
            Self::Sql
        } else {
            Self::Other
        };
        kind(Cause(error))
    }
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Self {
        anyhow::Error::new(error).into()
    }
}

impl From<Error> for DataFusionError {
    fn from(error: Error) -> Self {
        Self::External(Box::new(error))
    }
}

/// Describes an error and its causes, each once.
pub fn describe(error: &anyhow::Error) -> String {
    let mut said = String::new();
    let of_store = Explained::of(error.as_ref()).map(ToString::to_string);
    for cause in error.chain() {
        let text = match cause.downcast_ref::<DataFusionError>().map(DataFusionError::find_root) {
            // The next cause is the error within, which has words of its own.
            Some(DataFusionError::SQL(error, _)) => error.to_string(),
            Some(DataFusionError::External(error)) => error.to_string(),
            Some(error) => error.strip_backtrace(),
            None => cause.to_string(),
        };
        // The explanation of a store's error replaces a text that contains it.
        let text = of_store.clone().filter(|of_store| text.contains(of_store)).unwrap_or(text);
        if !said.contains(&text) {
            let _ = write!(said, "{}{text}", if said.is_empty() { "" } else { ": " });
        }
    }
    if is_out_of_memory(error) && !said.contains("`memory`") {
        said.push_str("; raise `memory`, or set it if it is not set: then all joins can spill");
    }
    if is_panic(error) {
        said.push_str("; this is an internal error, please report it with the command that did it");
    }
    redacted(&said)
}

/// Returns true if a thread of the query engine panicked, which it reports as an error.
pub fn is_panic(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let shared = cause.downcast_ref::<Arc<JoinError>>().map(Arc::as_ref);
        shared.or_else(|| cause.downcast_ref()).is_some_and(JoinError::is_panic)
    })
}
