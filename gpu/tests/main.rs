//! Every way to search against a plain loop over all pairs.

mod cases;
mod cpu;
mod engine;
#[cfg(feature = "gpu")]
mod gpu;
