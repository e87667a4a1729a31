use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::frequencies::{Frequencies, coerce_frequencies};
use super::{JoinedTokens, sets_of_tokens};
use crate::arguments::{Tokens, coerce_tokens, constant_number, keep_constants, set_type};

/// `i_match(tokens, frequencies, low, high)`: one hash of the terms that are neither too common nor too rare.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The I-Match signature: one hash of the distinct tokens, in code point order, whose normalised \
                   inverse document frequency log(N/df)/log(N) lies in [low, high] (Chowdhury et al. 2002; PDC-MR \
                   section 4.1, which found [0.1, 1.0] best for sentences). Two texts have either the same signature \
                   or nothing in common. If no token lies in the range, all tokens are hashed, so that such texts \
                   neither all collide nor vanish.\n\n\
                   Returns `List<UInt64>` with one element; NULL for NULL, the empty set for an empty list.",
    syntax_example = "i_match(tokens, frequencies, low, high)",
    sql_example = r#"```sql
> WITH t AS (SELECT column1 AS text FROM (VALUES ('the old cat'), ('the cat old'), ('the dog')))
  SELECT text, i_match(words(text), (SELECT document_frequencies(words(text)) FROM t), 0.1, 1.0)
    = i_match(words('cat old'), (SELECT document_frequencies(words(text)) FROM t), 0.1, 1.0) AS same
  FROM t ORDER BY text;
+-------------+-------+
| text        | same  |
+-------------+-------+
| the cat old | true  |
| the dog     | false |
| the old cat | true  |
+-------------+-------+
```"#,
    argument(name = "tokens", description = "The tokens, `List<Utf8>`."),
    argument(name = "frequencies", description = "The result of `document_frequencies` for the corpus; a constant."),
    argument(name = "low", description = "The least normalised idf, from 0 to 1; a constant."),
    argument(name = "high", description = "The highest normalised idf, from 0 to 1; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct IMatch {
    signature: Signature,
}

impl Default for IMatch {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for IMatch {
    fn name(&self) -> &str {
        "i_match"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens, frequencies, _, _] = take_function_args(self.name(), given)?;
        Ok(vec![
            coerce_tokens(self.name(), tokens)?,
            coerce_frequencies(self.name(), frequencies)?,
            DataType::Float64,
            DataType::Float64,
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
        let [tokens, frequencies, low, high] = take_function_args(self.name(), args.args)?;
        let low = constant_number(self.name(), "low", &low, 0.0..=1.0)?;
        let high = constant_number(self.name(), "high", &high, low..=1.0)?;
        let frequencies = Frequencies::try_new(self.name(), &frequencies)?;
        let tokens = tokens.into_array(rows)?;
        hash_kept_terms(&Tokens::try_new(&tokens)?, rows, |terms| {
            terms.retain(|term| (low..=high).contains(&frequencies.normalised_idf(term)));
        })
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns one hash for each row, over the distinct tokens that `keep` leaves, or over all if it leaves none.
pub(super) fn hash_kept_terms<'a>(
    tokens: &Tokens<'a>,
    rows: usize,
    mut keep: impl FnMut(&mut Vec<&'a str>),
) -> Result<ColumnarValue> {
    let mut joined = JoinedTokens::default();
    let (mut all, mut kept) = (Vec::new(), Vec::new());
    Ok(sets_of_tokens(tokens, rows, |row, set| {
        set.clear();
        all.clear();
        all.extend(row);
        all.sort_unstable();
        all.dedup();
        kept.clone_from(&all);
        keep(&mut kept);
        kept.sort_unstable();
        let terms = if kept.is_empty() { &all } else { &kept };
        if !terms.is_empty() {
            joined.refill(terms.iter().copied());
            set.push(joined.hash(0..joined.len()));
        }
    }))
}
