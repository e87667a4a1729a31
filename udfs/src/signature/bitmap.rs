use std::sync::Arc;

use arrow::array::FixedSizeBinaryArray;
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, ScalarValue, exec_err, internal_err, plan_err};
use datafusion_expr::{
    ColumnarValue, Documentation, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use datafusion_macros::user_doc;
use ibid_codes::{Width, bitmap};

use super::codebook::code_type;
use crate::arguments::{Sets, coerce_one_set, constant};

/// `bitmap(set, bits)`: a set as bits, one bit per element.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "A bitmap of a set, in which each element sets one bit that depends on all bits of the element \
                   (Sandes, Teodoro and Melo: Bitmap filter, Information Systems 2020). Sets differ in at least as \
                   many elements as their bitmaps differ in bits. So `hamming(a.bitmap, b.bitmap) <= \
                   hamming_bound(a.size, b.size, 'jaccard', t)` holds for all sets with a similarity of `t` or more, \
                   and is a filter that loses no pair, for the sets of any signature. It is useful if a bitmap has \
                   several bits for each element.\n\n\
                   Returns `FixedSizeBinary(n)` of `bits` / 8 bytes, the same from release to release: bit i is bit i \
                   % 8 of byte i / 8. The bit of an element is the first number that SplitMix64 generates from it, \
                   modulo `bits`. NULL for NULL; no bit is set for the empty set.",
    syntax_example = "bitmap(set, bits)",
    sql_example = r#"```sql
> SELECT hamming(bitmap(a, 64), bitmap(b, 64)) AS bits, hamming_bound(5, 5, 'jaccard', 0.6) AS at_most
  FROM (VALUES ([1, 2, 3, 4, 5], [2, 3, 4, 5, 6])) AS t(a, b);
+------+---------+
| bits | at_most |
+------+---------+
| 2    | 2       |
+------+---------+
```"#,
    argument(
        name = "set",
        description = "The set, `List<UInt64>`, as `shingles` gives it, or a list of any integers."
    ),
    argument(name = "bits", description = "The number of bits: 32, 64, 128 or 256; a literal.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bitmap {
    signature: Signature,
}

impl Default for Bitmap {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Bitmap {
    fn name(&self) -> &str {
        "bitmap"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [set, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_one_set(self.name(), set)?, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("the type of a bitmap depends on the number of its bits")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let [_, Some(bits)] = args.scalar_arguments else {
            return plan_err!("bitmap: bits must be a number as it is written, 32, 64, 128 or 256");
        };
        Ok(Arc::new(Field::new(self.name(), code_type(width(bits)?), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [set, bits] = take_function_args(self.name(), args.args)?;
        let width = width(constant(self.name(), "bits", &bits)?)?;
        let set = set.into_array(rows)?;
        let sets = Sets::try_new(&set)?;
        let mut bitmaps = Vec::with_capacity(rows * width.bytes());
        let mut scratch = Vec::new();
        for i in 0..rows {
            let set = sets.row(i, &mut scratch).unwrap_or_default();
            bitmaps.extend_from_slice(bitmap(set.iter().copied(), width).bytes(width));
        }

        let bytes = i32::try_from(width.bytes()).unwrap_or(0);
        let bitmaps = FixedSizeBinaryArray::try_new(bytes, Buffer::from_vec(bitmaps), set.nulls().cloned())?;
        Ok(ColumnarValue::Array(Arc::new(bitmaps)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the width of bitmaps of `bits` bits.
fn width(bits: &ScalarValue) -> Result<Width> {
    let width = match bits.cast_to(&DataType::Int64)? {
        ScalarValue::Int64(Some(bits)) => u32::try_from(bits).ok().and_then(Width::of_bits),
        _ => None,
    };
    match width {
        Some(width) => Ok(width),
        None => exec_err!("bitmap: bits must be 32, 64, 128 or 256, got {bits}"),
    }
}
