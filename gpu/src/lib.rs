//! Exact search by Hamming distance: all pairs of a query and a row whose codes, of 32, 64, 128 or 256 bits, differ in
//! no more bits than a bound. The bound is one number or depends on the sizes of the sets that the codes represent.
//!
//! There are two back ends, [`Cpu`] and `Gpu` (feature `gpu`), which give the same answers to the bit and in the same
//! order. An [`Engine`] has some of them, and continues with the next one where one fails.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::Arc;
//!
//! use ibid_gpu::{Bound, Codes, Cpu, Engine, Task, Width};
//!
//! let rows = Codes::try_new(Width::W32, &[0b0000, 0b0111, 0b1111])?;
//! let queries = Codes::try_new(Width::W32, &[0b0011, 0b1111])?;
//! let task = Task::range(queries, rows, Bound::Constant(1))?;
//! let engine = Engine::new(vec![Arc::new(Cpu::default())]);
//! let mut pairs = Vec::new();
//! engine.search(&task, |hits| {
//!     pairs.extend(hits.iter().map(|hit| (hit.query, hit.row)));
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(pairs, [(0, 1), (1, 1), (1, 2)]);
//! // Of given pairs, which match: the second and the third.
//! assert_eq!(engine.mask(&task, &[0, 0, 1], &[0, 1, 2])?, [0b110]);
//! # Ok::<(), ibid_gpu::Error>(())
//! ```

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
pub use codes::{Codes, hamming};
pub use cpu::{Cpu, UseBands};
pub use error::{Error, Result};
#[cfg(feature = "gpu")]
pub use gpu::{Adapter, Choice, Gpu, adapters};
pub use ibid_codes::Width;
pub use search::{Backend, Collected, Engine, Hit, Outcome, Tile, Tiles};
pub use task::Task;
