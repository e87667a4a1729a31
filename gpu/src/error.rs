use thiserror::Error;

/// An error of a search.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The arguments do not fit together.
    #[error("{0}")]
    Invalid(String),
    /// No GPU can be used here.
    #[error("no GPU: {0}")]
    NoAdapter(String),
    /// The GPU was taken away, reset or shut down while it worked.
    #[error("the GPU was lost: {0}")]
    DeviceLost(String),
    /// The GPU has too little memory.
    #[error("the GPU is out of memory: {0}")]
    OutOfMemory(String),
    /// Anything else that the GPU or its driver reports.
    #[error("the GPU failed: {0}")]
    Device(String),
}

impl Error {
    /// Returns true if the cause is the GPU, so that another back end can do the same search, or continue it.
    pub fn is_of_device(&self) -> bool {
        !matches!(self, Self::Invalid(_))
    }
}

/// The result of a search.
pub type Result<T> = std::result::Result<T, Error>;
