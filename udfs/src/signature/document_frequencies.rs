use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDFImpl, Documentation, Signature, Volatility};
use datafusion_macros::user_doc;

use super::frequencies::{Counts, frequencies_type};
use super::hash_token;
use crate::arguments::{Tokens, coerce_tokens};

/// `document_frequencies(tokens)`: the number of rows in which each token occurs.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The number of rows in which each token occurs, as one value for `i_match`, `i_match_ranked`, \
                   `without_rarest`, `simhash` and `trie_nodes`.\n\n\
                   Returns `Struct<documents Int64, tokens List<UInt64>, frequencies List<Int64>>`: the number of rows \
                   whose list is not NULL, the hashes of the distinct tokens in ascending order, and the frequency of \
                   each. Holds one entry for each distinct token in memory.",
    syntax_example = "document_frequencies(tokens)",
    sql_example = r#"```sql
> SELECT document_frequencies(words(text))['documents'] AS documents FROM (VALUES ('a b'), ('b c')) AS t(text);
+-----------+
| documents |
+-----------+
| 2         |
+-----------+
```"#,
    argument(name = "tokens", description = "The tokens of a document or sentence, `List<Utf8>`.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct DocumentFrequencies {
    signature: Signature,
}

impl Default for DocumentFrequencies {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for DocumentFrequencies {
    fn name(&self) -> &str {
        "document_frequencies"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_tokens(self.name(), tokens)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(frequencies_type())
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Counts::new(distinct_hashes, 1)))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(args.name, frequencies_type(), true))])
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

fn distinct_hashes(tokens: &ArrayRef, each: &mut dyn FnMut(&[u64])) -> Result<()> {
    let lists = Tokens::try_new(tokens)?;
    let mut hashes = Vec::new();
    for row in (0..tokens.len()).filter_map(|i| lists.row(i)) {
        hashes.clear();
        hashes.extend(row.map(hash_token));
        hashes.sort_unstable();
        hashes.dedup();
        each(&hashes);
    }
    Ok(())
}
