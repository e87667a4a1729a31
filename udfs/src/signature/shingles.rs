use arrow::datatypes::DataType;
use datafusion_common::{Result, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::{JoinedTokens, sets_of_tokens};
use crate::arguments::{Tokens, coerce_tokens, constant_count, set_type};

/// `shingles(tokens, n [, step])`: the set of hashes of all runs of `n` adjacent tokens.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The set of hashes of all runs of `n` adjacent tokens (n-shingles; Broder 1997, PDC-MR section 4.1). \
                   A list with fewer than `n` tokens has one shingle, the whole list, so that short sentences neither \
                   all collide nor vanish. `shingles(tokens, 1)` is the set of the tokens.\n\n\
                   With a `step` of m, only every m-th run is taken, beginning with the first (DSC; CODET section 4 \
                   takes every third run of four tokens). The set is m times smaller, but a copy that begins at \
                   another place may share nothing with it; `winnow` takes a sample that copies agree on.\n\n\
                   Returns `List<UInt64>`, ascending and distinct: XXH3 hashes that stay the same from release to \
                   release. NULL for NULL; the empty set for an empty list; NULL tokens are left out.",
    syntax_example = "shingles(tokens, n [, step])",
    sql_example = r#"```sql
> SELECT cardinality(shingles(words('to be or not to be'), 2)) AS shingles;
+----------+
| shingles |
+----------+
| 4        |
+----------+
```"#,
    argument(
        name = "tokens",
        description = "The tokens in order, `List<Utf8>`, as `words` or `characters` give them."
    ),
    argument(name = "n", description = "The number of tokens in a shingle, from 1 to 1000; a constant."),
    argument(
        name = "step",
        description = "The number of tokens from the start of one run to the start of the next, from 1 to 1000; 1, all \
                       runs, if left out; a constant."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shingles {
    signature: Signature,
}

impl Default for Shingles {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Shingles {
    fn name(&self) -> &str {
        "shingles"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let (Some(tokens), 2 | 3) = (given.first(), given.len()) else {
            return plan_err!("shingles expects (tokens, n [, step]), got {} arguments", given.len());
        };
        let parameters = given[1..].iter().map(|_| DataType::Int64);
        Ok([coerce_tokens(self.name(), tokens)?].into_iter().chain(parameters).collect())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let (tokens, n, step) = match args.args.as_slice() {
            [tokens, n] => (tokens, n, None),
            [tokens, n, step] => (tokens, n, Some(step)),
            other => return exec_err!("shingles expects (tokens, n [, step]), got {} arguments", other.len()),
        };
        let n = constant_count(self.name(), "n", n, 1000)?;
        let step = step.map_or(Ok(1), |step| constant_count(self.name(), "step", step, 1000))?;
        let tokens = tokens.to_array(rows)?;
        let mut joined = JoinedTokens::default();
        Ok(sets_of_tokens(&Tokens::try_new(&tokens)?, rows, |row, set| {
            joined.refill(row);
            shingle(&joined, n, step, set);
        }))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Replaces the content of `set` with the set of every `step`th of the `n`-shingles of `tokens`.
fn shingle(tokens: &JoinedTokens, n: usize, step: usize, set: &mut Vec<u64>) {
    set.clear();
    let length = tokens.len();
    let n = n.min(length);
    if n > 0 {
        set.extend((n..=length).step_by(step).map(|end| tokens.hash(end - n..end)));
    }
    set.sort_unstable();
    set.dedup();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(tokens: &[&str], n: usize) -> Vec<u64> {
        sample(tokens, n, 1)
    }

    fn sample(tokens: &[&str], n: usize, step: usize) -> Vec<u64> {
        let mut joined = JoinedTokens::default();
        joined.refill(tokens.iter().copied());
        let mut set = Vec::new();
        shingle(&joined, n, step, &mut set);
        set
    }

    #[test]
    fn a_short_list_is_in_every_sample() {
        assert_eq!(sample(&["a", "b"], 4, 3), set(&["a", "b"], 2));
        assert_eq!(sample(&["a", "b"], 2, 1000), set(&["a", "b"], 2));
        assert!(sample(&[], 4, 3).is_empty());
    }

    proptest! {
        #[test]
        fn a_sample_has_the_runs_at_its_places(
            tokens in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "我", "\u{301}", ""]), 0..40),
            n in 1_usize..6,
            step in 1_usize..8,
        ) {
            let places = (0..tokens.len()).filter(|place| place % step == 0 && place + n <= tokens.len());
            let mut expected: Vec<u64> = places.flat_map(|place| set(&tokens[place..place + n], n)).collect();
            if tokens.len() < n {
                expected = set(&tokens, n);
            }
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(sample(&tokens, n, step), expected);
        }
    }

    #[test]
    fn a_short_list_is_its_own_shingle() {
        assert_eq!(set(&["a", "b"], 3), set(&["a", "b"], 2));
        assert_ne!(set(&["a", "b"], 3), set(&["a", "c"], 3));
    }

    #[test]
    fn repeats_count_once_and_order_counts() {
        assert_eq!(set(&["a", "b", "a", "b"], 2).len(), 2);
        assert_ne!(set(&["a", "b"], 2), set(&["b", "a"], 2));
    }

    #[test]
    fn where_one_token_ends_matters() {
        assert_ne!(set(&["ab", "c"], 2), set(&["a", "bc"], 2));
    }
}
