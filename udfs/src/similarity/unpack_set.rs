use std::sync::Arc;

use arrow::array::{ListBuilder, UInt64Builder};
use arrow::datatypes::DataType;
use datafusion_common::cast::as_binary_view_array;
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::PackedSet;
use crate::arguments::set_type;

/// `unpack_set(packed)`: the set that `pack_set` packed.
#[user_doc(
    doc_section(label = "Similarity join"),
    description = "The list that `pack_set` packed, as it was.\n\n\
                   Returns `List<UInt64>`; NULL for NULL.",
    syntax_example = "unpack_set(packed)",
    sql_example = r#"```sql
> SELECT unpack_set(pack_set([3, 1, NULL])) AS set;
+----------+
| set      |
+----------+
| [3, 1, ] |
+----------+
```"#,
    argument(name = "packed", description = "The packed set, BinaryView.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct UnpackSet {
    signature: Signature,
}

impl Default for UnpackSet {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for UnpackSet {
    fn name(&self) -> &str {
        "unpack_set"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [packed] = take_function_args(self.name(), given)?;
        match packed {
            DataType::BinaryView | DataType::Null => Ok(vec![DataType::BinaryView]),
            other => plan_err!("unpack_set expects what pack_set gave, got {other}"),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [packed] = take_function_args(self.name(), args.args)?;
        let packed = packed.into_array(rows)?;
        let packed = as_binary_view_array(&packed)?;
        let mut lists = ListBuilder::new(UInt64Builder::new());
        for bytes in packed {
            if let Some(bytes) = bytes {
                let set = PackedSet::new(bytes);
                let items = set.values().zip(set.valid()).map(|(value, valid)| valid.then_some(value));
                items.for_each(|item| lists.values().append_option(item));
            }
            lists.append(bytes.is_some());
        }
        Ok(ColumnarValue::Array(Arc::new(lists.finish())))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
