//! How much memory there is, who may have how much of it, and what the process takes.

pub(crate) mod machine;
pub(crate) mod pool;
pub mod watch;
