use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use xxhash_rust::xxh3::xxh3_64;

use super::sets_of_tokens;
use crate::arguments::{Tokens, coerce_tokens, constant_count, set_type};

/// `subwords(tokens, n)`: the set of hashes of the parts of words.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The set of hashes of all runs of `n` characters within the tokens. Each token gets a space before \
                   and after it, so that runs at the beginning and at the end of a word differ from those within it \
                   (the subwords of Bojanowski et al. 2017). Words of one stem share most of their runs, and so do a \
                   word and its misspellings; the order of the words does not count. A token that is shorter than `n`, \
                   with its spaces, is one run.\n\n\
                   Returns `List<UInt64>`, ascending and distinct: XXH3 hashes that stay the same from release to \
                   release. NULL for NULL; the empty set for an empty list; NULL tokens are left out.",
    syntax_example = "subwords(tokens, n)",
    sql_example = r#"```sql
> SELECT jaccard(subwords(words('copied sentences'), 4), subwords(words('sentence copies'), 4)) AS similarity;
+------------+
| similarity |
+------------+
| 0.5625     |
+------------+
```"#,
    argument(name = "tokens", description = "The tokens, `List<Utf8>`, as `words` gives them."),
    argument(name = "n", description = "The number of characters in a run, from 1 to 1000; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Subwords {
    signature: Signature,
}

impl Default for Subwords {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Subwords {
    fn name(&self) -> &str {
        "subwords"
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
        let mut spaced = Spaced::default();
        Ok(sets_of_tokens(&Tokens::try_new(&tokens)?, rows, |row, set| {
            set.clear();
            row.for_each(|token| spaced.parts(token, n, set));
            set.sort_unstable();
            set.dedup();
        }))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// A token with a space before and after it.
#[derive(Default)]
struct Spaced {
    text: String,
    /// The starts of the characters, and the end of the text.
    bounds: Vec<usize>,
}

impl Spaced {
    /// Adds the hashes of the runs of `n` characters.
    fn parts(&mut self, token: &str, n: usize, set: &mut Vec<u64>) {
        self.text.clear();
        self.text.extend([" ", token, " "]);
        self.bounds.clear();
        self.bounds.extend(self.text.char_indices().map(|(at, _)| at).chain([self.text.len()]));
        let n = n.min(self.bounds.len() - 1);
        let hash = |ends: &[usize]| xxh3_64(&self.text.as_bytes()[ends[0]..ends[n]]);
        set.extend(self.bounds.windows(n + 1).map(hash));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(token: &str, n: usize) -> Vec<u64> {
        let mut set = Vec::new();
        Spaced::default().parts(token, n, &mut set);
        set
    }

    fn hashes(parts: &[&str]) -> Vec<u64> {
        parts.iter().map(|part| xxh3_64(part.as_bytes())).collect()
    }

    #[test]
    fn parts_know_where_a_word_begins_and_ends() {
        assert_eq!(parts("word", 4), hashes(&[" wor", "word", "ord "]));
        assert_eq!(parts("éa", 3), hashes(&[" éa", "éa "]));
        assert_eq!(parts("深圳", 2), hashes(&[" 深", "深圳", "圳 "]));
    }

    #[test]
    fn a_short_word_is_one_part() {
        assert_eq!(parts("a", 4), hashes(&[" a "]));
        assert_eq!(parts("ab", 4), hashes(&[" ab "]));
        assert_eq!(parts("", 4), hashes(&["  "]));
    }
}
