//! Dates and times that are in no calendar, for which writers of text would write an error message.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};

/// Fails if a column contains such a date or time, also within lists and records.
pub(super) fn check_dates(batch: &RecordBatch) -> Result<(), ArrowError> {
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        check(column).map_err(|error| {
            ArrowError::CastError(format!("the column {:?} has a date that cannot be written: {error}", field.name()))
        })?;
    }
    Ok(())
}

fn check(array: &ArrayRef) -> Result<(), ArrowError> {
    match array.data_type() {
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => {
            let numbers = cast(array, &DataType::Int64)?;
            let numbers = numbers.as_primitive::<Int64Type>();
            let valid = || (0..numbers.len()).filter(|row| numbers.is_valid(*row));
            // If the first and the last can be written, all can.
            let ends = [valid().min_by_key(|row| numbers.value(*row)), valid().max_by_key(|row| numbers.value(*row))];
            let formatter = ArrayFormatter::try_new(array, &FormatOptions::new())?;
            ends.into_iter().flatten().try_for_each(|row| formatter.value(row).try_to_string().map(drop))
        }
        DataType::Struct(_) => array.as_struct().columns().iter().try_for_each(check),
        DataType::List(_) => check(array.as_list::<i32>().values()),
        DataType::LargeList(_) => check(array.as_list::<i64>().values()),
        DataType::FixedSizeList(..) => check(array.as_fixed_size_list().values()),
        DataType::Map(..) => array.as_map().entries().columns().iter().try_for_each(check),
        DataType::Dictionary(..) => check(array.as_any_dictionary().values()),
        _ => Ok(()),
    }
}
