use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use xxhash_rust::xxh3::xxh3_64;

use super::{hash_token, sets_of_tokens};
use crate::arguments::{TokenRow, Tokens, coerce_tokens, set_type};

/// `multiset(tokens)`: the tokens as a set in which each repetition is a separate element.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The multiset of the tokens as a set of hashes: the first, the second and each further occurrence of \
                   a token are different elements. So the set has as many elements as there are tokens, and two sets \
                   share each token as many times as both have it. Over `multiset(lines(text))`, `containment` gives \
                   the share of the lines of one version that another kept. Programs that compare files by lines count \
                   the same, except for lines that changed places.\n\n\
                   Returns `List<UInt64>`, ascending and distinct: XXH3 hashes that stay the same from release to \
                   release. The first occurrence of a token has its hash in `shingles(tokens, 1)`. NULL for NULL; the \
                   empty set for an empty list; NULL tokens are left out.",
    syntax_example = "multiset(tokens)",
    sql_example = r#"```sql
> SELECT containment(multiset(['so', 'so', 'good']), multiset(['so', 'good'])) AS kept;
+--------------------+
| kept               |
+--------------------+
| 0.6666666666666666 |
+--------------------+
```"#,
    argument(
        name = "tokens",
        description = "The tokens, `List<Utf8>`, as `lines`, `words` or `characters` give them."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Multiset {
    signature: Signature,
}

impl Default for Multiset {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Multiset {
    fn name(&self) -> &str {
        "multiset"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_tokens(self.name(), tokens)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [tokens] = take_function_args(self.name(), &args.args)?;
        let tokens = tokens.to_array(args.number_rows)?;
        Ok(sets_of_tokens(&Tokens::try_new(&tokens)?, args.number_rows, multiset))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Replaces the content of `set` with one element for each of `tokens`.
fn multiset(tokens: TokenRow<'_>, set: &mut Vec<u64>) {
    set.clear();
    set.extend(tokens.map(hash_token));
    set.sort_unstable();
    let (mut last, mut repeats) = (None, 0_u64);
    for element in set.iter_mut() {
        repeats = if last == Some(*element) { repeats + 1 } else { 0 };
        last = Some(*element);
        if repeats > 0 {
            *element = repetition(*element, repeats);
        }
    }
    set.sort_unstable();
    // Two elements with one hash are one element for all functions of sets.
    set.dedup();
}

/// Returns the element for a token that occurred `repeats` times before.
fn repetition(token: u64, repeats: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&token.to_le_bytes());
    bytes[8..].copy_from_slice(&repeats.to_le_bytes());
    xxh3_64(&bytes)
}
