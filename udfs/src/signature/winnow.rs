use std::collections::VecDeque;

use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::{JoinedTokens, sets_of_tokens};
use crate::arguments::{Tokens, coerce_tokens, constant_count, set_type};

/// `winnow(tokens, k, w)`: the smallest hash of every `w` neighbouring shingles.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "A sample of the `k`-shingles in which two texts with a long enough common run share an element: the \
                   shingle with the smallest hash out of every `w` neighbouring ones (winnowing; Schleimer, Wilkerson \
                   and Aiken 2003, section 3; QA-THREADS table 1). A common run of `w` + `k` − 1 tokens is long \
                   enough. About 2 in `w` + 1 shingles are kept; `winnow(tokens, k, 1)` keeps all of them and equals \
                   `shingles(tokens, k)`.\n\n\
                   A list with fewer than `k` tokens has one shingle, the whole list; a list with fewer than `w` \
                   shingles keeps the one with the smallest hash. If hashes in a window are equal, the paper keeps the \
                   rightmost, which makes no difference to a set.\n\n\
                   Returns `List<UInt64>`, ascending and distinct. NULL for NULL; the empty set for an empty list; \
                   NULL tokens are left out.",
    syntax_example = "winnow(tokens, k, w)",
    sql_example = r#"```sql
> SELECT cardinality(shingles(tokens, 2)) AS shingles, cardinality(winnow(tokens, 2, 4)) AS winnowed,
    overlap(winnow(tokens, 2, 4), winnow(words('Or to take arms against a sea of troubles'), 2, 4)) > 0 AS shared
  FROM (SELECT words('to take arms against a sea of troubles and by opposing end them') AS tokens);
+----------+----------+--------+
| shingles | winnowed | shared |
+----------+----------+--------+
| 12       | 3        | true   |
+----------+----------+--------+
```"#,
    argument(
        name = "tokens",
        description = "The tokens in order, `List<Utf8>`, as `words` or `characters` give them."
    ),
    argument(name = "k", description = "The number of tokens in a shingle, from 1 to 1000; a constant."),
    argument(name = "w", description = "The number of shingles in a window, from 1 to 1000; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Winnow {
    signature: Signature,
}

impl Default for Winnow {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Winnow {
    fn name(&self) -> &str {
        "winnow"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens, _, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_tokens(self.name(), tokens)?, DataType::Int64, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [tokens, k, w] = take_function_args(self.name(), args.args)?;
        let k = constant_count(self.name(), "k", &k, 1000)?;
        let w = constant_count(self.name(), "w", &w, 1000)?;
        let tokens = tokens.into_array(rows)?;
        let mut joined = JoinedTokens::default();
        let mut smallest = VecDeque::new();
        Ok(sets_of_tokens(&Tokens::try_new(&tokens)?, rows, |row, set| {
            joined.refill(row);
            winnow(&joined, k, w, &mut smallest, set);
        }))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Replaces the content of `set` with the smallest hash of every `w` neighbouring `k`-shingles of `tokens`; `smallest`
/// is a reusable buffer.
fn winnow(tokens: &JoinedTokens, k: usize, w: usize, smallest: &mut VecDeque<(usize, u64)>, set: &mut Vec<u64>) {
    set.clear();
    let length = tokens.len();
    let k = k.min(length);
    let count = if k == 0 { 0 } else { length - k + 1 };
    each_smallest(count, w, smallest, |place| tokens.hash(place..place + k), |_, hash| set.push(hash));
    set.sort_unstable();
    set.dedup();
}

/// Calls `found` with the place and the hash of the smallest of every `w` neighbouring hashes out of `count`, the last
/// of equal ones. Each place is given once. If there are fewer than `w` hashes, calls it with the smallest of all.
/// `smallest` is a reusable buffer.
pub(crate) fn each_smallest(
    count: usize,
    w: usize,
    smallest: &mut VecDeque<(usize, u64)>,
    hash: impl Fn(usize) -> u64,
    mut found: impl FnMut(usize, u64),
) {
    // The hashes of the window that are smaller than all after them, with their places, ascending: the first is the
    // smallest of the window. Each hash is added and removed once.
    smallest.clear();
    let mut last = None;
    for place in 0..count {
        let hash = hash(place);
        while smallest.back().is_some_and(|&(_, other)| other >= hash) {
            smallest.pop_back();
        }
        smallest.push_back((place, hash));
        if smallest.front().is_some_and(|&(first, _)| first + w <= place) {
            smallest.pop_front();
        }
        let window_is_full = place + 1 >= w.min(count);
        if let Some(&(first, hash)) = smallest.front().filter(|_| window_is_full)
            && last != Some(first)
        {
            last = Some(first);
            found(first, hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn winnowed(tokens: &[&str], k: usize, w: usize) -> Vec<u64> {
        let mut joined = JoinedTokens::default();
        joined.refill(tokens.iter().copied());
        let mut set = Vec::new();
        winnow(&joined, k, w, &mut VecDeque::new(), &mut set);
        set
    }

    /// Returns the hashes of all `k`-shingles in order; the hash of the whole list if it is too short.
    fn shingles(tokens: &[&str], k: usize) -> Vec<u64> {
        let mut joined = JoinedTokens::default();
        joined.refill(tokens.iter().copied());
        let k = k.min(tokens.len());
        if k == 0 { Vec::new() } else { (k..=tokens.len()).map(|end| joined.hash(end - k..end)).collect() }
    }

    fn smallest_of_each_window(tokens: &[&str], k: usize, w: usize) -> Vec<u64> {
        let hashes = shingles(tokens, k);
        let mut set: Vec<u64> = match hashes.len() {
            0 => Vec::new(),
            n => hashes.windows(w.min(n)).filter_map(|window| window.iter().copied().min()).collect(),
        };
        set.sort_unstable();
        set.dedup();
        set
    }

    #[test]
    fn a_short_list_keeps_one_hash() {
        assert!(winnowed(&[], 3, 4).is_empty());
        assert_eq!(winnowed(&["a", "b"], 3, 4), shingles(&["a", "b"], 2));
        let few = ["a", "b", "c", "d"];
        assert_eq!(winnowed(&few, 2, 9), [shingles(&few, 2).into_iter().min().unwrap()]);
    }

    #[test]
    fn two_in_w_plus_1_of_distinct_shingles_are_kept() {
        let words: Vec<String> = (0..100_000).map(|i| i.to_string()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let kept = winnowed(&words, 1, 9).len();
        assert!((19_500..20_500).contains(&kept), "{kept}");
    }

    /// Generates tokens of a small alphabet, so that hashes repeat within a window.
    fn tokens() -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d", "我"]), 0..60)
    }

    proptest! {
        #[test]
        fn it_is_the_smallest_of_each_window(tokens in tokens(), k in 1_usize..6, w in 1_usize..12) {
            prop_assert_eq!(winnowed(&tokens, k, w), smallest_of_each_window(&tokens, k, w));
        }

        #[test]
        fn a_window_of_one_keeps_all_shingles(tokens in tokens(), k in 1_usize..6) {
            let mut all = shingles(&tokens, k);
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!(winnowed(&tokens, k, 1), all);
        }

        #[test]
        fn a_shared_run_is_never_missed(
            around in [tokens(), tokens(), tokens(), tokens()],
            run in prop::collection::vec(prop::sample::select(vec!["p", "q", "r", "s", "t"]), 30..31),
            k in 1_usize..6,
            w in 1_usize..12,
        ) {
            let [before_a, after_a, before_b, after_b] = around;
            let run = &run[..w + k - 1];
            let a = winnowed(&[&before_a, run, &after_a].concat(), k, w);
            let b = winnowed(&[&before_b, run, &after_b].concat(), k, w);
            prop_assert!(a.iter().any(|element| b.contains(element)));
        }
    }
}
