//! Signatures: a list of tokens becomes a set of 64-bit hashes.
//!
//! Hashes are XXH3 with seed 0 over the tokens' UTF-8 bytes, a unit separator (U+001F) between two tokens. They are
//! stored in signature tables, so they never change within a major version.

mod bands;
mod bit_code;
mod bitmap;
mod codebook;
mod document_frequencies;
mod frequencies;
mod frequent_tokens;
mod i_match;
mod i_match_ranked;
mod minhash;
mod multiset;
mod rare_elements;
mod set_frequencies;
mod shared_weight;
mod shingles;
mod simhash;
mod skip_bigrams;
mod spot_sigs;
mod subwords;
mod trie_nodes;
mod weighted;
mod winnow;
mod without_rarest;

pub(crate) use winnow::each_smallest;

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ListBuilder, UInt64Builder};
use datafusion_common::Result;
use datafusion_expr::{AggregateUDF, ColumnarValue, ScalarUDF};
use xxhash_rust::xxh3::xxh3_64;

use crate::arguments::{Sets, TokenRow, Tokens};

/// Returns the functions of this family.
pub(crate) fn functions() -> Vec<ScalarUDF> {
    vec![
        ScalarUDF::from(shingles::Shingles::default()),
        ScalarUDF::from(multiset::Multiset::default()),
        ScalarUDF::from(winnow::Winnow::default()),
        ScalarUDF::from(skip_bigrams::SkipBigrams::default()),
        ScalarUDF::from(i_match::IMatch::default()),
        ScalarUDF::from(i_match_ranked::IMatchRanked::default()),
        ScalarUDF::from(without_rarest::WithoutRarest::default()),
        ScalarUDF::from(spot_sigs::SpotSigs::default()),
        ScalarUDF::from(minhash::Minhash::default()),
        ScalarUDF::from(bands::Bands::default()),
        ScalarUDF::from(shared_weight::SharedWeight::default()),
        ScalarUDF::from(rare_elements::RareElements::default()),
        ScalarUDF::from(subwords::Subwords::default()),
        ScalarUDF::from(weighted::Weighted::default()),
        ScalarUDF::from(simhash::Simhash::default()),
        ScalarUDF::from(trie_nodes::TrieNodes::default()),
        ScalarUDF::from(bit_code::BitCode::default()),
        ScalarUDF::from(bitmap::Bitmap::default()),
    ]
}

/// Returns the aggregates of this family.
pub(crate) fn aggregates() -> Vec<AggregateUDF> {
    vec![
        AggregateUDF::from(document_frequencies::DocumentFrequencies::default()),
        AggregateUDF::from(frequent_tokens::FrequentTokens::default()),
        AggregateUDF::from(set_frequencies::SetFrequencies::default()),
        AggregateUDF::from(codebook::Codebook::default()),
    ]
}

/// Returns a set for each row of tokens, NULL for NULL. `make` replaces the content of the list that it is given with
/// the set of a row.
fn sets_of_tokens<'a>(
    tokens: &Tokens<'a>,
    rows: usize,
    mut make: impl FnMut(TokenRow<'a>, &mut Vec<u64>),
) -> ColumnarValue {
    let mut sets = ListBuilder::new(UInt64Builder::new());
    let mut set = Vec::new();
    for i in 0..rows {
        let row = tokens.row(i);
        let given = row.is_some();
        if let Some(row) = row {
            make(row, &mut set);
            sets.values().append_slice(&set);
        }
        sets.append(given);
    }
    ColumnarValue::Array(Arc::new(sets.finish()))
}

/// Returns a set for each set, NULL for NULL. `make` adds the elements for a row, ascending and distinct, to the empty
/// list that it is given.
fn sets_of_sets(set: ColumnarValue, rows: usize, mut make: impl FnMut(&[u64], &mut Vec<u64>)) -> Result<ColumnarValue> {
    let set = set.into_array(rows)?;
    let given = Sets::try_new(&set)?;
    let mut sets = ListBuilder::new(UInt64Builder::new());
    let (mut scratch, mut made) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let row = given.row(i, &mut scratch);
        if let Some(row) = row {
            made.clear();
            make(row, &mut made);
            sets.values().append_slice(&made);
        }
        sets.append(row.is_some());
    }
    Ok(ColumnarValue::Array(Arc::new(sets.finish())))
}

/// Returns the hash of one token.
fn hash_token(token: &str) -> u64 {
    xxh3_64(token.as_bytes())
}

/// A row of tokens joined into one string, so that any run of them is hashed in place.
#[derive(Default)]
struct JoinedTokens {
    bytes: Vec<u8>,
    /// The range of each token in `bytes`.
    spans: Vec<Range<usize>>,
}

impl JoinedTokens {
    fn refill<'a>(&mut self, tokens: impl Iterator<Item = &'a str>) {
        self.bytes.clear();
        self.spans.clear();
        for token in tokens {
            if !self.spans.is_empty() {
                self.bytes.push(b'\x1f');
            }
            let start = self.bytes.len();
            self.bytes.extend_from_slice(token.as_bytes());
            self.spans.push(start..self.bytes.len());
        }
    }

    fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns the hash of a run of tokens, which is not empty. The hash of a single token is [`hash_token`].
    fn hash(&self, run: Range<usize>) -> u64 {
        xxh3_64(&self.bytes[self.spans[run.start].start..self.spans[run.end - 1].end])
    }
}
