use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow::datatypes::DataType;
use datafusion::common::utils::take_function_args;
use datafusion::common::{Result, exec_datafusion_err, internal_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use datafusion_macros::user_doc;
use ibid_gpu::{Bound, Codes, Task, Width};

use crate::config::{Gpu, IbidOptions};
use crate::functions::gpu;

/// The function `hamming_within(a, b, k)`: true if two codes differ in at most `k` bits, for a batch of pairs at a
/// time.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "True if two codes differ in at most `k` bits: `hamming(a, b) <= k` for given pairs, as a filter \
                   before a more expensive step. A batch of pairs is compared at once, on a GPU if `ibid.gpu` is `on`. \
                   The result is the same, and the processor is mostly faster, as a pair is little work. As the \
                   condition of a join write `hamming(a.code, b.code) <= k`, which is planned without generating all \
                   pairs.\n\n\
                   Returns BOOLEAN; NULL where a code is NULL. Codes of another width than 32, 64, 128 or 256 bits are \
                   an error.",
    syntax_example = "hamming_within(a, b, k)",
    sql_example = r#"```sql
> SELECT hamming_within(5, 6, 2) AS within;
+--------+
| within |
+--------+
| true   |
+--------+
```"#,
    argument(
        name = "a",
        description = "A code, `FixedSizeBinary(4)`, `(8)`, `(16)` or `(32)`, or an integer of 32 or 64 bits."
    ),
    argument(name = "b", description = "Another code of the same width."),
    argument(name = "k", description = "The most bits that may differ, a constant, 0 or more.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct HammingWithin {
    signature: Signature,
}

impl Default for HammingWithin {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for HammingWithin {
    fn name(&self) -> &str {
        "hamming_within"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [a, b, _] = take_function_args(self.name(), given)?;
        let known = |code: &DataType| if code.is_null() { DataType::Int64 } else { code.clone() };
        let (a, b) = match (a.is_null(), b.is_null()) {
            (true, _) => (known(b), known(b)),
            (_, true) => (known(a), known(a)),
            _ => (known(a), known(b)),
        };
        match (width(&a), width(&b)) {
            (Some(of_a), Some(of_b)) if of_a == of_b => Ok(vec![a, b, DataType::Int64]),
            _ => plan_err!("hamming_within expects two codes of one width, 32, 64, 128 or 256 bits, got {a} and {b}"),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b, k] = take_function_args(self.name(), args.args)?;
        let k = match k {
            ColumnarValue::Scalar(ScalarValue::Int64(Some(k))) => u32::try_from(k).ok(),
            _ => None,
        };
        let Some(k) = k else {
            return plan_err!("hamming_within: k is a constant, a whole number from 0 on");
        };
        let options = args.config_options.extensions.get::<IbidOptions>();
        // A pair is two reads and a few instructions, so a GPU is used only if `ibid.gpu` is on.
        let choice = options.map(|options| options.gpu).filter(|choice| *choice == Gpu::On).unwrap_or(Gpu::Off);
        let engine = gpu::engine(choice, 1)?;
        let (a, b) = (a.into_array(rows)?, b.into_array(rows)?);
        let Some(width) = width(a.data_type()) else {
            return internal_err!("codes of {}", a.data_type());
        };
        let failed = |error: ibid_gpu::Error| exec_datafusion_err!("hamming_within: {error}");
        let (a_words, b_words) = (words(&a, width), words(&b, width));
        let codes = |words| Codes::try_new(width, words).map_err(failed);
        let task = Task::range(codes(&a_words)?, codes(&b_words)?, Bound::Constant(k)).map_err(failed)?;
        let pairs: Vec<u32> = (0..rows).map_while(|row| u32::try_from(row).ok()).collect();
        let mask = engine.mask(&task, &pairs, &pairs).map_err(failed)?;
        let bytes = ScalarBuffer::from(mask).into_inner();
        let within = BooleanBuffer::new(bytes, 0, rows);
        let nulls = NullBuffer::union(a.nulls(), b.nulls());
        Ok(ColumnarValue::Array(Arc::new(BooleanArray::new(within, nulls))))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the number of bits of codes of a type, if they are compared in batches.
fn width(code: &DataType) -> Option<Width> {
    let bytes = match code {
        DataType::FixedSizeBinary(bytes) => usize::try_from(*bytes).ok()?,
        integer if integer.is_integer() => integer.primitive_width()?,
        _ => return None,
    };
    Width::of_bits(u32::try_from(8 * bytes).ok()?)
}

/// Returns the words of all codes of a column.
fn words(codes: &ArrayRef, width: Width) -> Vec<u32> {
    let data = codes.to_data();
    let bytes = data.buffers().first().map_or(&[][..], |buffer| buffer.as_slice());
    let of_column = bytes.get(data.offset() * width.bytes()..(data.offset() + data.len()) * width.bytes());
    let (words, _) = of_column.unwrap_or_default().as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
