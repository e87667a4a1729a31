use thiserror::Error;

/// An error of making codes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The arguments do not fit together.
    #[error("{0}")]
    Invalid(String),
}

/// The result of an operation that can fail.
pub type Result<T> = std::result::Result<T, Error>;
