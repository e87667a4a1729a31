//! Methods in FROM: `SELECT * FROM passages('corpus/', min_words => 20)` has the rows that [`crate::Engine::passages`] finds.
//!
//! Calls are planned without running: the columns are known from the options. A call runs once, when it is first
//! scanned, and equal calls of a statement are one call.

mod arguments;
mod call;
mod exec;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod planner;
mod table;

pub use self::call::NAMES;
pub(crate) use self::planner::NoHooks;
pub use self::planner::{Hooks, register};
