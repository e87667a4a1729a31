use std::sync::Arc;

use arrow::array::{Array, BinaryViewBuilder};
use arrow::datatypes::DataType;
use datafusion_common::cast::as_list_array;
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::PackedSet;
use crate::arguments::{Elements, as_index, coerce_set, is_set};

/// `pack_set(set)`: a set as bytes, cheap to carry through a join.
#[user_doc(
    doc_section(label = "Similarity join"),
    description = "A set as bytes. For each row that a join returns, it copies a list with all its elements, but a \
                   binary view as a pointer, so the similarity join carries packed sets. The similarities, \
                   `length_filter` and `first_common_token` read packed sets as they read lists.\n\n\
                   Returns BinaryView; NULL for NULL. A list that is not a set (not ascending, repeats, NULL elements) \
                   keeps its elements as they are.",
    syntax_example = "pack_set(set)",
    sql_example = r#"```sql
> SELECT jaccard(pack_set([1, 2, 3]), pack_set([2, 3, 4])) AS jaccard;
+---------+
| jaccard |
+---------+
| 0.5     |
+---------+
```"#,
    argument(name = "set", description = "The set, `List<UInt64>`.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct PackSet {
    signature: Signature,
}

impl Default for PackSet {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for PackSet {
    fn name(&self) -> &str {
        "pack_set"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [set] = take_function_args(self.name(), given)?;
        match coerce_set(self.name(), set)? {
            DataType::BinaryView => plan_err!("pack_set expects a list, got bytes"),
            list => Ok(vec![list]),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::BinaryView)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [set] = take_function_args(self.name(), args.args)?;
        let set = set.into_array(rows)?;
        let lists = as_list_array(&set)?;
        let items = Elements::try_new(lists.values())?;
        let mut packed = BinaryViewBuilder::with_capacity(rows);
        let mut bytes = Vec::new();
        for i in 0..rows {
            if lists.is_null(i) {
                packed.append_null();
                continue;
            }
            let (start, end) = (as_index(lists.value_offsets()[i]), as_index(lists.value_offsets()[i + 1]));
            let values = &items.values()[start..end];
            let no_nulls = items.null_count() == 0 || (start..end).all(|k| items.is_valid(k));
            bytes.clear();
            PackedSet::pack(values, |k| items.is_valid(start + k), no_nulls && is_set(values), &mut bytes);
            packed.try_append_value(&bytes)?;
        }
        Ok(ColumnarValue::Array(Arc::new(packed.finish())))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
