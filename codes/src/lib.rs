//! Codes of words, for codes of sentences: the code of a sentence has the bits that some of its words sets, so that sentences
//! with many words in common have codes that differ in few bits.
//!
//! [`learn`] chooses the codes of frequent words, by one of three [methods](Method), into a [`Codebook`], which makes
//! [codes of sentences](Codebook::bit_code). The [`bitmap`] of any set is a code, too, of one bit for each element.
//!
//! A bit in which two codes differ is set by some element of one set and by no element of the other, so by an element
//! that only one of them has. Where an element sets at most `l` bits, the codes of two sets differ in at most `l` bits
//! for each element that only one set has. This is a filter that loses no similar sets, once it is known how many such
//! elements similar sets can have.
//!
//! Learned codes are for the search within a fixed number of bits, as in the paper that [`learn`] follows. For the
//! exact filter, bitmaps of as many bits did better on all texts tried. A second bit for a word doubles the bound, but
//! not the distance of sentences that have nothing in common, since the bits of many words coincide.
//!
//! ```
//! use ibid_codes::{Frequencies, Options, learn};
//!
//! let sentences = [vec!["copied", "from", "a", "book"], vec!["copied", "out", "of", "a", "book"]];
//! let frequencies = Frequencies::count(&sentences);
//! let codebook = learn(&sentences, &frequencies, &Options::default())?.codebook;
//! let [a, b] = sentences.each_ref().map(|sentence| codebook.bit_code(sentence));
//! // Three words are in one of the two alone: from, out, of.
//! assert!(a.hamming(&b) <= 3 * codebook.per_word());
//! # Ok::<(), ibid_codes::Error>(())
//! ```

mod bitmap;
mod code;
mod codebook;
mod cooccurrence;
mod error;
mod frequencies;
mod learn;
mod md5;
mod memory;
mod nearest;
mod random;
mod relax;
mod sample;
mod threads;

pub use bitmap::bitmap;
pub use code::{Code, Width};
pub use codebook::{Codebook, Row};
pub use error::{Error, Result};
pub use frequencies::Frequencies;
pub use learn::{Learned, Learner, Method, Objective, Options, Report, learn, learn_within};
pub use md5::md5_code;
pub use random::split_mix;
