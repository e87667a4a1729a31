use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array};
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

use super::{Measure, coerce_two_sets, containment, cosine, count_common, dice, jaccard, map_two_sets, overlap};

/// A similarity of two sets as a function: `jaccard`, `containment`, `overlap`, `dice` or `cosine`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct SetSimilarity {
    pub(super) measure: Measure,
    name: String,
    aliases: Vec<String>,
    signature: Signature,
}

impl SetSimilarity {
    pub(super) fn new(measure: Measure, aliases: [&str; 2]) -> Self {
        Self {
            measure,
            name: measure.to_string(),
            aliases: aliases.map(String::from).to_vec(),
            signature: Signature::user_defined(Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for SetSimilarity {
    fn name(&self) -> &str {
        &self.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        coerce_two_sets(self.name(), given)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(if self.measure == Measure::Overlap { DataType::Int64 } else { DataType::Float64 })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b] = take_function_args(self.name(), args.args)?;
        let (a, b) = (a.into_array(rows)?, b.into_array(rows)?);
        let values: ArrayRef = if self.measure == Measure::Overlap {
            let count = |a: &[u64], b: &[u64]| i64::try_from(count_common(a, b)).ok();
            Arc::new(map_two_sets::<_, Int64Array>(&a, &b, count)?)
        } else {
            let value = |a: &[u64], b: &[u64]| self.measure.value(count_common(a, b), a.len(), b.len());
            Arc::new(map_two_sets::<_, Float64Array>(&a, &b, value)?)
        };
        Ok(ColumnarValue::Array(values))
    }

    fn documentation(&self) -> Option<&Documentation> {
        match self.measure {
            Measure::Jaccard => jaccard::documentation(),
            Measure::Containment => containment::documentation(),
            Measure::Overlap => overlap::documentation(),
            Measure::Dice => dice::documentation(),
            Measure::Cosine => cosine::documentation(),
        }
    }
}
