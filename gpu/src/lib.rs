//! Exact search by Hamming distance.

mod bound;
mod codes;
mod cpu;
mod error;
#[cfg(feature = "gpu")]
mod gpu;
mod order;
mod search;
mod task;

pub use bound::{Bound, jaccard_bounds};
pub use codes::{Codes, Width, hamming};
pub use cpu::{Cpu, UseBands};
pub use error::{Error, Result};
#[cfg(feature = "gpu")]
pub use gpu::{Adapter, Choice, Gpu, adapters};
pub use search::{Backend, Collected, Engine, Hit, Outcome, Tile, Tiles};
pub use task::Task;
