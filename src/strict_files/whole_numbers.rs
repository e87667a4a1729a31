//! The types of whole numbers in JSON that are too large for Int64.

use std::sync::Arc;

use datafusion::arrow::array::Array;
use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::ReaderBuilder;
use memchr::memchr_iter;

use super::lossless_types::{is_whole, texts};

/// Returns these columns with another type in place of floats that are whole numbers in all `records`, since floats
/// would round them: UInt64 if that holds all of them, and else text.
pub(super) fn with_whole_numbers(columns: &Schema, records: &[u8]) -> Result<Schema, ArrowError> {
    let floats = columns.fields().iter().filter_map(|field| {
        Some(field.as_ref().clone().with_data_type(texts(field.data_type(), DataType::is_floating)?))
    });
    let floats: Fields = floats.collect();
    if floats.is_empty() {
        return Ok(columns.clone());
    }
    let rows = 1 + memchr_iter(b'\n', records).count();
    let reader = ReaderBuilder::new(Arc::new(Schema::new(floats))).with_coerce_primitive(true).with_batch_size(rows);
    let mut decoder = reader.build_decoder()?;
    decoder.decode(records)?;
    let Some(texts) = decoder.flush()? else { return Ok(columns.clone()) };
    let fields = columns.fields().iter().map(|field| match texts.column_by_name(field.name()) {
        Some(texts) => with_type(field, texts),
        None => Arc::clone(field),
    });
    Ok(Schema::new(fields.collect::<Fields>()))
}

fn with_type(field: &Field, texts: &dyn Array) -> Arc<Field> {
    Arc::new(field.clone().with_data_type(type_of(field.data_type(), texts)))
}

/// Returns the type of values that were found to be of type `kind`.
fn type_of(kind: &DataType, texts: &dyn Array) -> DataType {
    match kind {
        DataType::List(of) => DataType::List(with_type(of, texts.as_list::<i32>().values())),
        DataType::Struct(fields) => {
            let texts = texts.as_struct();
            let fields = fields.iter().map(|field| match texts.column_by_name(field.name()) {
                Some(texts) => with_type(field, texts),
                None => Arc::clone(field),
            });
            DataType::Struct(fields.collect())
        }
        kind if kind.is_floating() => type_of_numbers(texts.as_string::<i32>().iter().flatten()),
        kind => kind.clone(),
    }
}

fn type_of_numbers<'a>(numbers: impl Iterator<Item = &'a str>) -> DataType {
    let (mut fit_int64, mut fit_uint64) = (true, true);
    for number in numbers {
        if !is_whole(number) {
            return DataType::Float64;
        }
        fit_int64 &= number.parse::<i64>().is_ok();
        fit_uint64 &= number.parse::<u64>().is_ok();
    }
    match (fit_int64, fit_uint64) {
        // For example -0, which is a float.
        (true, _) => DataType::Float64,
        (false, true) => DataType::UInt64,
        (false, false) => DataType::Utf8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_beyond_int64_are_no_floats() {
        for (numbers, expected) in [
            ("18446744073709551615 1 9223372036854775807", DataType::UInt64),
            ("9223372036854775808 null 0", DataType::UInt64),
            ("9223372036854775808 -1", DataType::Utf8),
            ("18446744073709551616 1", DataType::Utf8),
            ("-9223372036854775809", DataType::Utf8),
            ("9223372036854775808 1.5", DataType::Float64),
            ("9223372036854775808 1e3", DataType::Float64),
            ("1e400 9223372036854775808", DataType::Float64),
            ("-0 0", DataType::Float64),
        ] {
            for (open, close) in [("", ""), ("[null,", "]"), ("{\"n\":[{\"b\":", "}],\"t\":\"7\"}")] {
                let wrapped = |kind: DataType| match open {
                    "" => kind,
                    "[null," => DataType::new_list(kind, true),
                    _ => {
                        let of = DataType::Struct(Fields::from(vec![Field::new("b", kind, true)]));
                        let list = Field::new("n", DataType::new_list(of, true), true);
                        DataType::Struct(Fields::from(vec![list, Field::new("t", DataType::Utf8, true)]))
                    }
                };
                let records: String =
                    numbers.split(' ').map(|number| format!("{{\"a\":{open}{number}{close},\"t\":\"x\"}}\n")).collect();
                let columns = |kind| {
                    Schema::new(vec![Field::new("a", wrapped(kind), true), Field::new("t", DataType::Utf8, true)])
                };
                let found = with_whole_numbers(&columns(DataType::Float64), records.as_bytes()).unwrap();
                assert_eq!(found, columns(expected.clone()), "{records}");
            }
        }
    }
}
