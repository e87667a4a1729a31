use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::{JoinedTokens, sets_of_tokens};
use crate::arguments::{Tokens, coerce_tokens, constant_count, set_type};

/// `skip_bigrams(tokens, distance)`: the set of hashes of all pairs of tokens that stand near each other.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The set of hashes of all pairs of different tokens that are at most `distance` places apart, in \
                   either order. Two texts share such pairs even if words of one were replaced, inserted or moved a \
                   little, which leaves no shingle whole. A few shared pairs of rare words are enough to suspect an \
                   edited copy. A list without two different tokens has one element, the hash of all its tokens, so \
                   that short sentences neither all collide nor vanish.\n\n\
                   Returns `List<UInt64>`, ascending and distinct. The hash of a pair is the hash of the 2-shingle of \
                   the two tokens in code point order. NULL for NULL; the empty set for an empty list; NULL tokens are \
                   left out.",
    syntax_example = "skip_bigrams(tokens, distance)",
    sql_example = r#"```sql
> SELECT overlap(skip_bigrams(words('the quick brown fox'), 2), skip_bigrams(words('the brown quick fox'), 2)) AS pairs;
+-------+
| pairs |
+-------+
| 5     |
+-------+
```"#,
    argument(name = "tokens", description = "The tokens in order, `List<Utf8>`."),
    argument(
        name = "distance",
        description = "The greatest distance of two tokens, from 1 (neighbours only) to 1000; a constant."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SkipBigrams {
    signature: Signature,
}

impl Default for SkipBigrams {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for SkipBigrams {
    fn name(&self) -> &str {
        "skip_bigrams"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_tokens(self.name(), tokens)?, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [tokens, distance] = take_function_args(self.name(), args.args)?;
        let distance = constant_count(self.name(), "distance", &distance, 1000)?;
        let tokens = tokens.into_array(rows)?;
        let mut joined = JoinedTokens::default();
        let mut list = Vec::new();
        Ok(sets_of_tokens(&Tokens::try_new(&tokens)?, rows, |row, set| {
            list.clear();
            list.extend(row);
            skip_bigrams(&list, distance, &mut joined, set);
        }))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Replaces the content of `set` with the set of the pairs of `tokens`; `joined` is a reusable buffer.
fn skip_bigrams(tokens: &[&str], distance: usize, joined: &mut JoinedTokens, set: &mut Vec<u64>) {
    set.clear();
    for (i, first) in tokens.iter().enumerate() {
        for second in tokens[i + 1..].iter().take(distance).filter(|second| *second != first) {
            joined.refill([first.min(second), first.max(second)].into_iter().copied());
            set.push(joined.hash(0..2));
        }
    }
    if set.is_empty() && !tokens.is_empty() {
        joined.refill(tokens.iter().copied());
        set.push(joined.hash(0..tokens.len()));
    }
    set.sort_unstable();
    set.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, distance: usize) -> Vec<u64> {
        let tokens: Vec<&str> = text.split_whitespace().collect();
        let mut set = Vec::new();
        skip_bigrams(&tokens, distance, &mut JoinedTokens::default(), &mut set);
        set
    }

    fn shared(a: &str, b: &str, distance: usize) -> usize {
        let b = set(b, distance);
        set(a, distance).iter().filter(|pair| b.contains(pair)).count()
    }

    #[test]
    fn pairs_reach_as_far_as_the_distance_and_no_farther() {
        assert_eq!(set("a b c d", 1).len(), 3);
        assert_eq!(set("a b c d", 2).len(), 5);
        assert_eq!(set("a b c d", 3).len(), 6);
        assert_eq!(set("a b c d", 1000).len(), 6);
        assert_eq!(shared("a x y b", "a b", 3), 1);
        assert_eq!(shared("a x y b", "a b", 2), 0);
    }

    #[test]
    fn order_does_not_count_and_repeats_count_once() {
        assert_eq!(set("a b", 1), set("b a", 1));
        assert_eq!(set("b a b a", 3), set("a b", 1));
        assert_ne!(set("ab c", 1), set("a bc", 1));
    }

    #[test]
    fn an_edited_sentence_still_shares_pairs() {
        assert_eq!(shared("the quick brown fox jumps", "the swift brown fox jumps", 4), 6);
    }

    #[test]
    fn a_list_without_a_pair_is_its_own_element() {
        assert!(set("", 2).is_empty());
        assert_eq!(set("a", 2).len(), 1);
        assert_eq!(set("a a a", 2).len(), 1);
        assert_ne!(set("a a a", 2), set("a", 2));
        assert_ne!(set("a", 2), set("b", 2));
    }
}
