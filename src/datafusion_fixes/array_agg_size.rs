//! DF-24097 (open): `array_agg` adds up the sizes of all batches that it holds whenever it takes one more, so that its time grows
//! with the square of their number. Remove when fixed; test datafusion_measures_all_batches_anew fails then.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Result;
use datafusion::functions_aggregate::array_agg::ArrayAgg;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator, ReversedUDAF, Signature,
};

/// `array_agg` as DataFusion has it, with sizes that are measured rarely.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ArrayAggSize(ArrayAgg);

impl AggregateUDFImpl for ArrayAggSize {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        self.0.return_type(given)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.0.state_fields(args)
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.0.order_sensitivity()
    }

    /// Returns DataFusion's own function, which is used only with ORDER BY and has no groups then.
    fn with_beneficial_ordering(self: Arc<Self>, is_ordered: bool) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        Arc::new(ArrayAgg::default()).with_beneficial_ordering(is_ordered)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.0.accumulator(args)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        self.0.reverse_expr()
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.0.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Measured::of(self.0.create_groups_accumulator(args)?)))
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.0.supports_null_handling_clause()
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.0.documentation()
    }
}

/// An accumulator of lists that is measured when the number of its batches has doubled. Until then its size is the measured one
/// with the sizes of the batches since then.
struct Measured {
    lists: Box<dyn GroupsAccumulator>,
    size: usize,
    batches: usize,
    /// The number of batches at which the lists are measured next.
    next: usize,
}

impl Measured {
    fn of(lists: Box<dyn GroupsAccumulator>) -> Self {
        Self { size: lists.size(), lists, batches: 0, next: 1 }
    }

    fn add(&mut self, values: &ArrayRef) {
        self.batches += 1;
        if self.batches >= self.next {
            (self.size, self.next) = (self.lists.size(), 2 * self.batches);
        } else {
            // Beside its value, the accumulator holds the group and the row.
            let places = values.len() * size_of::<(u32, u32)>();
            self.size += values.to_data().get_slice_memory_size().unwrap_or_default() + places;
        }
    }

    /// Measures what is left after groups were given.
    fn measure(&mut self) {
        (self.size, self.batches, self.next) = (self.lists.size(), 0, 1);
    }
}

impl GroupsAccumulator for Measured {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.lists.update_batch(values, groups, filter, count)?;
        self.add(&values[0]);
        Ok(())
    }

    fn evaluate(&mut self, given: EmitTo) -> Result<ArrayRef> {
        let lists = self.lists.evaluate(given);
        self.measure();
        lists
    }

    fn state(&mut self, given: EmitTo) -> Result<Vec<ArrayRef>> {
        let state = self.lists.state(given);
        self.measure();
        state
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.lists.merge_batch(values, groups, count)?;
        self.add(values[0].as_list::<i32>().values());
        Ok(())
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.lists.convert_to_state(values, filter)
    }

    fn size(&self) -> usize {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use arrow::array::Int64Array;
    use arrow::datatypes::{Field, Schema};
    use datafusion::physical_expr::PhysicalExpr;
    use datafusion::physical_expr::expressions::Column;

    use super::*;

    fn lists_of(function: &dyn AggregateUDFImpl) -> Box<dyn GroupsAccumulator> {
        let field = Arc::new(Field::new("n", DataType::Int64, true));
        let schema = Schema::new(vec![Arc::clone(&field)]);
        let column = Arc::new(Column::new("n", 0)) as Arc<dyn PhysicalExpr>;
        let args = AccumulatorArgs {
            return_field: Arc::new(Field::new("lists", function.return_type(&[DataType::Int64]).unwrap(), true)),
            schema: &schema,
            ignore_nulls: false,
            order_bys: &[],
            is_reversed: false,
            name: "lists",
            is_distinct: false,
            exprs: &[column],
            expr_fields: &[field],
        };
        function.create_groups_accumulator(args).unwrap()
    }

    fn add(lists: &mut dyn GroupsAccumulator, batch: usize) {
        let numbers = Arc::new((0..5).map(|n| i64::try_from(batch).ok().filter(|_| n < 4)).collect::<Int64Array>());
        lists.update_batch(&[numbers], &[batch % 7, 1, 2, 3, 3], None, 7).unwrap();
    }

    #[test]
    fn lists_are_those_of_datafusion_and_sizes_nearly() {
        let (mut ours, mut theirs) = (lists_of(&ArrayAggSize::default()), lists_of(&ArrayAgg::default()));
        for batch in 0..1000 {
            add(ours.as_mut(), batch);
            add(theirs.as_mut(), batch);
            if batch == 500 {
                let given = EmitTo::First(2);
                assert_eq!(&ours.state(given).unwrap(), &theirs.state(given).unwrap());
            }
            let (of_ours, of_theirs) = (ours.size(), theirs.size());
            assert!(of_theirs / 2 <= of_ours && of_ours <= 2 * of_theirs, "{batch}: {of_ours} {of_theirs}");
        }
        let state = theirs.state(EmitTo::All).unwrap();
        assert_eq!(&ours.evaluate(EmitTo::All).unwrap(), &state[0]);
        for lists in [&mut ours, &mut theirs] {
            lists.merge_batch(&state, &[0, 1, 2, 3, 4], 5).unwrap();
        }
        assert_eq!(&ours.evaluate(EmitTo::All).unwrap(), &theirs.evaluate(EmitTo::All).unwrap());
    }

    #[test]
    fn datafusion_measures_all_batches_anew() {
        let time_with = |batches: usize| {
            let mut lists = lists_of(&ArrayAgg::default());
            (0..batches).for_each(|batch| add(lists.as_mut(), batch));
            let time = || {
                let began = Instant::now();
                std::hint::black_box(lists.size());
                began.elapsed()
            };
            (0..20).map(|_| time()).min().unwrap_or(Duration::ZERO)
        };
        let (few, many) = (time_with(100), time_with(10_000));
        assert!(many > 10 * few, "{few:?} {many:?}");
    }
}
