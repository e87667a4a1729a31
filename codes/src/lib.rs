//! Codes of words, for codes of sentences: the code of a sentence has the bits that some of its words sets, so that sentences
//! with many words in common have codes that differ in few bits.
//!
//! [`learn`] chooses the codes of frequent words, by one of three [methods](Method), into a [`Codebook`], which makes
//! [codes of sentences](Codebook::bit_code). A [`Bound`] says how far the codes of similar sentences are apart at most, which
//! makes an exact filter; the same holds for the [`bitmap`] of any set.

mod bitmap;
mod bound;
mod code;
mod codebook;
mod cooccurrence;
mod error;
mod frequencies;
mod learn;
mod md5;
mod nearest;
mod random;
mod relax;
mod sample;
mod threads;

pub use bitmap::bitmap;
pub use bound::{Bound, Measure};
pub use code::{Code, Width};
pub use codebook::{Codebook, Row};
pub use error::{Error, Result};
pub use frequencies::Frequencies;
pub use learn::{Learned, Method, Objective, Options, Report, learn};
