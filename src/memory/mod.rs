//! The memory of the machine, the shares of operators, and the memory of the process.

pub(crate) mod machine;
pub(crate) mod pool;
pub mod watch;
