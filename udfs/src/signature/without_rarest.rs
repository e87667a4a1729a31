use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::frequencies::{Frequencies, Ranked, coerce_frequencies};
use crate::arguments::{coerce_tokens, constant_integer, keep_constants, tokens_type};
use crate::text::tokens_of_tokens;

/// `without_rarest(tokens, frequencies, skip)`: the tokens without the ones of the highest idf.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The tokens in order, without all occurrences of the `skip` distinct tokens with the highest inverse \
                   document frequency. The rarest words are mostly misspellings, and names that differ from copy to \
                   copy (CODET section 4 leaves two out before `i_match_ranked` and `simhash`). Tokens that are in no \
                   document are the rarest; equally frequent tokens rank in code point order. A list with at most \
                   `skip` distinct tokens keeps them all, so that short texts do not vanish.\n\n\
                   Returns `List<Utf8View>`, which shares the memory of the argument. NULL for NULL; the empty list \
                   for an empty list; NULL tokens are left out.",
    syntax_example = "without_rarest(tokens, frequencies, skip)",
    sql_example = r#"```sql
> WITH t AS (SELECT column1 AS text FROM (VALUES ('the cat and a typo'), ('the cat'), ('the dog')))
  SELECT without_rarest(words('the cat and the typo'), (SELECT document_frequencies(words(text)) FROM t), 2) AS kept;
+-----------------+
| kept            |
+-----------------+
| [the, cat, the] |
+-----------------+
```"#,
    argument(name = "tokens", description = "The tokens in order, `List<Utf8>`."),
    argument(name = "frequencies", description = "The result of `document_frequencies` for the corpus; a constant."),
    argument(name = "skip", description = "The number of distinct tokens to leave out, from 0; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct WithoutRarest {
    signature: Signature,
}

impl Default for WithoutRarest {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for WithoutRarest {
    fn name(&self) -> &str {
        "without_rarest"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens, frequencies, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_tokens(self.name(), tokens)?, coerce_frequencies(self.name(), frequencies)?, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(tokens_type())
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 1)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [tokens, frequencies, skip] = take_function_args(self.name(), args.args)?;
        let skip = constant_integer(self.name(), "skip", &skip, 0..=i64::from(i32::MAX))?;
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        let frequencies = Frequencies::try_new(self.name(), &frequencies)?;
        let tokens = tokens.into_array(rows)?;
        Ok(ColumnarValue::Array(without_rarest(&tokens, &frequencies, skip)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the lists of `tokens` without the `skip` rarest of each.
fn without_rarest(tokens: &ArrayRef, frequencies: &Frequencies, skip: usize) -> Result<ArrayRef> {
    tokens_of_tokens("without_rarest", tokens, |row, kept| {
        let all: Vec<_> = row.with_places().map(|(place, token)| (place, Ranked::new(token, frequencies))).collect();
        let mut distinct: Vec<_> = all.iter().map(|(_, ranked)| *ranked).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let least = distinct.get(skip);
        for (place, ranked) in all.iter().filter(|(_, ranked)| least.is_none_or(|least| ranked >= least)) {
            kept.push(*place, ranked.term, 0..ranked.term.len());
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use arrow::array::{AsArray, ListBuilder, StringViewBuilder};
    use proptest::prelude::*;

    use super::*;

    fn kept(tokens: &[&str], frequencies: &Frequencies, skip: usize) -> Vec<String> {
        let mut lists = ListBuilder::new(StringViewBuilder::new());
        lists.append_value(tokens.iter().map(Some));
        let lists: ArrayRef = Arc::new(lists.finish());
        let kept = without_rarest(&lists, frequencies, skip).unwrap();
        kept.as_list::<i32>().values().as_string_view().iter().flatten().map(String::from).collect()
    }

    #[test]
    fn a_list_of_few_tokens_stays() {
        let frequencies = Frequencies::of_words(&[vec!["a", "b"], vec!["a"]]);
        assert_eq!(kept(&["a", "b", "a"], &frequencies, 1), ["a", "a"]);
        assert_eq!(kept(&["a", "b", "a"], &frequencies, 2), ["a", "b", "a"]);
        assert_eq!(kept(&[], &frequencies, 2), [""; 0]);
    }

    #[test]
    fn a_million_tokens_take_no_time() {
        let frequencies = Frequencies::of_words(&[vec!["a", "b"], vec!["a"]]);
        let words: Vec<String> = (0..1_000_000).map(|i| format!("a long beginning of a word {i}")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let started = Instant::now();
        assert_eq!(kept(&words, &frequencies, 2).len(), 999_998);
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    }

    proptest! {
        #[test]
        fn the_first_of_the_ranking_are_missing(
            tokens in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d", "\u{301}", ""]), 0..20),
            reference in prop::collection::vec(
                prop::collection::vec(prop::sample::select(vec!["a", "b", "c", ""]), 0..4), 0..6),
            skip in 0_usize..5,
        ) {
            let df = |token: &str| reference.iter().filter(|words| words.contains(&token)).count().max(1);
            let distinct: BTreeSet<(usize, &str)> = tokens.iter().map(|token| (df(token), *token)).collect();
            let dropped: Vec<&str> = distinct.iter().take(skip).map(|pair| pair.1).collect();
            let mut expected = tokens.clone();
            if distinct.len() > skip {
                expected.retain(|token| !dropped.contains(token));
            }
            prop_assert_eq!(kept(&tokens, &Frequencies::of_words(&reference), skip), expected);
        }
    }
}
