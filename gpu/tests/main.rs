//! Every way to search against a plain loop over all pairs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![expect(clippy::cast_possible_truncation, reason = "the numbers of the tests are small")]

mod cases;
mod cpu;
mod engine;
#[cfg(feature = "gpu")]
mod gpu;
