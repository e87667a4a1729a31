use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::frequencies::{Frequencies, Ranked, coerce_frequencies};
use super::i_match::hash_kept_terms;
use crate::arguments::{Tokens, coerce_tokens, constant_integer, keep_constants, set_type};

/// `i_match_ranked(tokens, frequencies, skip, take)`: one hash of the terms of the highest idf.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The I-Match signature by rank: the distinct tokens are ranked by descending inverse document \
                   frequency, the first `skip` are left out, and the next `take` give one hash (CODET section 5 skips \
                   two and hashes ten). Equally frequent tokens rank in code point order. If no token is left, all \
                   tokens are hashed.\n\n\
                   Returns `List<UInt64>` with one element; NULL for NULL, the empty set for an empty list.",
    syntax_example = "i_match_ranked(tokens, frequencies, skip, take)",
    sql_example = r#"```sql
> WITH t AS (SELECT column1 AS text FROM (VALUES ('the cat and a typo'), ('the cat'), ('the dog')))
  SELECT i_match_ranked(words('the cat typo'), (SELECT document_frequencies(words(text)) FROM t), 1, 1)
    = i_match_ranked(words('the cat error'), (SELECT document_frequencies(words(text)) FROM t), 1, 1) AS same;
+------+
| same |
+------+
| true |
+------+
```"#,
    argument(name = "tokens", description = "The tokens, `List<Utf8>`."),
    argument(name = "frequencies", description = "The result of `document_frequencies` for the corpus; a constant."),
    argument(name = "skip", description = "The number of the rarest tokens to leave out, from 0; a constant."),
    argument(name = "take", description = "The number of the next tokens to hash, from 1; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct IMatchRanked {
    signature: Signature,
}

impl Default for IMatchRanked {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for IMatchRanked {
    fn name(&self) -> &str {
        "i_match_ranked"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens, frequencies, _, _] = take_function_args(self.name(), given)?;
        Ok(vec![
            coerce_tokens(self.name(), tokens)?,
            coerce_frequencies(self.name(), frequencies)?,
            DataType::Int64,
            DataType::Int64,
        ])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 1)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [tokens, frequencies, skip, take] = take_function_args(self.name(), args.args)?;
        let count = |name, value, least| -> Result<usize> {
            let n = constant_integer(self.name(), name, value, least..=i64::from(i32::MAX))?;
            Ok(usize::try_from(n).unwrap_or(usize::MAX))
        };
        let (skip, take) = (count("skip", &skip, 0)?, count("take", &take, 1)?);
        let frequencies = Frequencies::try_new(self.name(), &frequencies)?;
        let tokens = tokens.into_array(rows)?;
        let mut ranked = Vec::new();
        hash_kept_terms(&Tokens::try_new(&tokens)?, rows, |terms| {
            ranked.clear();
            ranked.extend(terms.drain(..).map(|term| Ranked::new(term, &frequencies)));
            ranked.sort_unstable();
            terms.extend(ranked.iter().skip(skip).take(take).map(|ranked| ranked.term));
        })
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
