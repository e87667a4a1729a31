use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::{JoinedTokens, sets_of_tokens};
use crate::arguments::{Tokens, coerce_tokens, constant_count, set_type};

/// `shingles(tokens, n)`: the set of hashes of all runs of `n` adjacent tokens.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The set of hashes of all runs of `n` adjacent tokens (n-shingles; Broder 1997, PDC-MR section 4.1). \
                   A list with fewer than `n` tokens has one shingle, itself, so that short sentences neither all \
                   collide nor vanish. `shingles(tokens, 1)` is the set of the tokens.\n\n\
                   Returns `List<UInt64>`, ascending and distinct: XXH3 hashes that stay the same from release to \
                   release. NULL for NULL; the empty set for an empty list; NULL tokens are left out.",
    syntax_example = "shingles(tokens, n)",
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
    argument(name = "n", description = "How many tokens a shingle has, from 1 to 1000; a constant.")
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
        let [tokens, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_tokens(self.name(), tokens)?, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [tokens, n] = take_function_args(self.name(), args.args)?;
        let n = constant_count(self.name(), "n", &n, 1000)?;
        let tokens = tokens.into_array(rows)?;
        let mut joined = JoinedTokens::default();
        Ok(sets_of_tokens(&Tokens::try_new(&tokens)?, rows, |row, set| {
            joined.refill(row);
            shingle(&joined, n, set);
        }))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Puts the set of the `n`-shingles of `tokens` into `set`.
fn shingle(tokens: &JoinedTokens, n: usize, set: &mut Vec<u64>) {
    set.clear();
    let length = tokens.len();
    let n = n.min(length);
    if n > 0 {
        set.extend((n..=length).map(|end| tokens.hash(end - n..end)));
    }
    set.sort_unstable();
    set.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(tokens: &[&str], n: usize) -> Vec<u64> {
        let mut joined = JoinedTokens::default();
        joined.refill(tokens.iter().copied());
        let mut set = Vec::new();
        shingle(&joined, n, &mut set);
        set
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
