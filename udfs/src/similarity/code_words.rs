use std::sync::Arc;

use arrow::array::{ListBuilder, UInt64Builder};
use arrow::datatypes::{DataType, Field};
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::set_type;
use crate::arguments::{Codes, coerce_code};

/// `code_words(code)`: the bits of a code as numbers.
#[user_doc(
    doc_section(label = "Similarity join"),
    description = "The bits of a code as numbers of 64 bits, the first byte the lowest: the form in which the strategy `bitmap` of the similarity join reads codes.\n\n\
                   Returns `List<UInt64>`; the last number has zeros above the last byte. NULL for NULL.",
    syntax_example = "code_words(code)",
    sql_example = r#"```sql
> SELECT code_words(258) AS words;
+-------+
| words |
+-------+
| [258] |
+-------+
```"#,
    argument(name = "code", description = "The code, `FixedSizeBinary(n)` or an integer.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct CodeWords {
    signature: Signature,
}

impl Default for CodeWords {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for CodeWords {
    fn name(&self) -> &str {
        "code_words"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [code] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_code(self.name(), code)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [code] = take_function_args(self.name(), args.args)?;
        let code = code.into_array(args.number_rows)?;
        let codes = Codes::try_new(&code)?;
        let item = Arc::new(Field::new_list_field(DataType::UInt64, true));
        let mut lists = ListBuilder::new(UInt64Builder::new()).with_field(item);
        for row in 0..args.number_rows {
            let code = codes.row(row);
            let (words, rest) = code.unwrap_or_default().as_chunks::<8>();
            words.iter().for_each(|word| lists.values().append_value(u64::from_le_bytes(*word)));
            if !rest.is_empty() {
                let mut word = [0; 8];
                word[..rest.len()].copy_from_slice(rest);
                lists.values().append_value(u64::from_le_bytes(word));
            }
            lists.append(code.is_some());
        }
        Ok(ColumnarValue::Array(Arc::new(lists.finish())))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
