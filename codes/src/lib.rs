//! Codes of words, for codes of sentences: the code of a sentence has the bits that some of its words sets, so that sentences
//! with many words in common have codes that differ in few bits.
//!
//! [`learn`] chooses the codes of frequent words, by one of three [methods](Method), into a [`Codebook`], which makes
//! [codes of sentences](Codebook::bit_code). A [`Bound`] says how far the codes of similar sentences are apart at most, which
//! makes an exact filter; the same holds for the [`bitmap`] of any set.
//!
//! Learned codes are for the search within a fixed number of bits, as in the paper that [`learn`] follows. For the exact filter
//! bitmaps of as many bits did better on all texts tried: a second bit for a word doubles the bound, and by no means the distance
//! of sentences that have nothing in common, as bits of many words fall together.
//!
//! ```
//! use ibid_codes::{Bound, Frequencies, Measure, Options, learn};
//!
//! let sentences = [vec!["copied", "from", "a", "book"], vec!["copied", "out", "of", "a", "book"]];
//! let frequencies = Frequencies::count(&sentences);
//! let codebook = learn(&sentences, &frequencies, &Options::default())?.codebook;
//! let [a, b] = sentences.each_ref().map(|sentence| codebook.bit_code(sentence));
//! // Three of six words in common: the similarity is exactly 0.5.
//! let bound = Bound::try_new(Measure::Jaccard, 0.5, codebook.per_word())?;
//! assert!(bound.distance(4, 5).is_some_and(|bound| a.hamming(&b) <= bound));
//! # Ok::<(), ibid_codes::Error>(())
//! ```

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
