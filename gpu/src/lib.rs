//! Exact search by Hamming distance.

mod bound;
mod codes;
mod cpu;
mod error;
mod search;
mod task;

pub use bound::{Bound, jaccard_bounds};
pub use codes::{Codes, Width, hamming};
pub use cpu::{Cpu, UseBands};
pub use error::{Error, Result};
pub use search::{Backend, Collected, Engine, Hit, Outcome, Tile, Tiles};
pub use task::Task;
