//! The check that values keep everything that their text says. Arrow's readers truncate to what a type holds: 1.9
//! becomes 1, and a time its date.

use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::timezone::Tz;
use datafusion::arrow::array::{
    Array, ArrayRef, GenericStringArray, OffsetSizeTrait, PrimitiveArray, RecordBatch, RecordBatchOptions,
};
use datafusion::arrow::compute::kernels::cast_utils::{parse_decimal, string_to_datetime};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{
    DataType, Decimal128Type, Decimal256Type, DecimalType, Field, Fields, Float32Type, Float64Type, Schema, SchemaRef,
    TimeUnit,
};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

/// Returns the type that reads as text everything in `kind` that is of some types, and leaves out the rest. Returns
/// `None` if nothing is left.
pub(super) fn texts(kind: &DataType, is_one: fn(&DataType) -> bool) -> Option<DataType> {
    let of_field = |field: &Field| Some(field.clone().with_data_type(texts(field.data_type(), is_one)?));
    match kind {
        DataType::List(of) => Some(DataType::List(Arc::new(of_field(of)?))),
        DataType::Struct(fields) => {
            let fields: Fields = fields.iter().filter_map(|field| of_field(field)).collect();
            (!fields.is_empty()).then_some(DataType::Struct(fields))
        }
        kind => is_one(kind).then_some(DataType::Utf8),
    }
}

/// Returns true if values of the type may be truncated even if they are not numbers with a point or an exponent, or if
/// such numbers are in quotes.
pub(super) fn is_parsed(kind: &DataType) -> bool {
    kind.is_decimal() || (kind.is_temporal() && !matches!(kind, DataType::Duration(_) | DataType::Interval(_)))
}

/// Returns true if there is a float beyond the range in which floats represent all whole numbers.
pub(super) fn has_large(values: &dyn Array) -> bool {
    match values.data_type() {
        DataType::Float64 => {
            let values = values.as_primitive::<Float64Type>().values();
            values.iter().fold(false, |any, value| any | (value.abs() >= 9_007_199_254_740_992.0))
        }
        DataType::Float32 => {
            let values = values.as_primitive::<Float32Type>().values();
            values.iter().fold(false, |any, value| any | (value.abs() >= 16_777_216.0))
        }
        DataType::List(_) => has_large(values.as_list::<i32>().values()),
        DataType::Struct(_) => values.as_struct().columns().iter().any(|column| has_large(column)),
        _ => false,
    }
}

/// Returns the columns of a table, with text in place of types that a CSV reader would truncate. Integers become text
/// if they are not declared as integers: 007 may be a name.
pub(super) fn as_texts(columns: &Schema, is_found: bool) -> Schema {
    let fields = columns.fields().iter().map(|field| {
        let kind = field.data_type();
        let is_cut = is_parsed(kind) || kind.is_floating() || (is_found && kind.is_integer());
        field.as_ref().clone().with_data_type(if is_cut { DataType::Utf8 } else { kind.clone() })
    });
    Schema::new(fields.collect::<Fields>())
}

/// Fails if a text is not UTF-8 by itself: the CSV reader checks the texts of several rows as one.
pub(super) fn check_utf8(read: &RecordBatch) -> Result<(), ArrowError> {
    for (field, column) in read.schema_ref().fields().iter().zip(read.columns()) {
        let are_texts = match column.data_type() {
            DataType::Utf8 => are_utf8(column.as_string::<i32>()),
            DataType::LargeUtf8 => are_utf8(column.as_string::<i64>()),
            DataType::Utf8View => column.as_string_view().bytes_iter().all(|text| str::from_utf8(text).is_ok()),
            _ => true,
        };
        if !are_texts {
            return Err(ArrowError::CsvError(format!("a value of column {} is not valid UTF-8", field.name())));
        }
    }
    Ok(())
}

fn are_utf8<O: OffsetSizeTrait>(texts: &GenericStringArray<O>) -> bool {
    let values = texts.values();
    let is_utf8 = |[from, to]: &[O; 2]| str::from_utf8(&values[from.as_usize()..to.as_usize()]).is_ok();
    values.is_ascii() || texts.value_offsets().array_windows().all(is_utf8)
}

/// Converts the text among these columns to the types of a table; `is_found` means the same as in [`as_texts`].
pub(super) fn of_texts(read: &RecordBatch, columns: &SchemaRef, is_found: bool) -> Result<RecordBatch, ArrowError> {
    let column = |(column, field): (&ArrayRef, &Arc<Field>)| {
        if column.data_type() == field.data_type() {
            return Ok(Arc::clone(column));
        }
        // A text that does not fit the type becomes NULL, by which it is recognized.
        let values = match *field.data_type() {
            DataType::Decimal128(precision, scale) => decimals::<Decimal128Type>(column, precision, scale)?,
            DataType::Decimal256(precision, scale) => decimals::<Decimal256Type>(column, precision, scale)?,
            ref kind => cast_with_options(column, kind, &CastOptions { safe: true, ..CastOptions::default() })?,
        };
        let kind = values.data_type();
        if is_found
            && kind.is_numeric()
            && let Some(text) = column.as_string::<i32>().iter().flatten().find(|text| may_be_name(text, kind))
        {
            return Err(ArrowError::ParseError(format!(
                "the value {text:?} of column {} may be a name, and the column is of type {kind}",
                field.name()
            )));
        }
        // A cast to integers truncates nothing.
        if !kind.is_integer() || values.null_count() > column.null_count() {
            check(field.name(), column, &values)?;
        }
        Ok(values)
    };
    let arrays = read.columns().iter().zip(columns.fields()).map(column).collect::<Result<_, ArrowError>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(read.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(columns), arrays, &options)
}

/// Parses texts as decimals with the parser of the reader, which accepts exponents; casts do not.
fn decimals<D: DecimalType>(texts: &ArrayRef, precision: u8, scale: i8) -> Result<ArrayRef, ArrowError> {
    let parsed = texts.as_string::<i32>().iter().map(|text| parse_decimal::<D>(text?, precision, scale).ok());
    Ok(Arc::new(PrimitiveArray::<D>::from_iter(parsed).with_precision_and_scale(precision, scale)?))
}

/// Fails if a value does not keep everything that its text says; `texts` has the type that [`texts`] returns.
pub(super) fn check(name: &str, texts: &dyn Array, values: &dyn Array) -> Result<(), ArrowError> {
    let kind = values.data_type();
    match kind {
        DataType::List(_) => return check(name, texts.as_list::<i32>().values(), values.as_list::<i32>().values()),
        DataType::Struct(_) => {
            let (texts, values) = (texts.as_struct(), values.as_struct());
            for (field, texts) in texts.fields().iter().zip(texts.columns()) {
                if let Some(values) = values.column_by_name(field.name()) {
                    check(&format!("{name}.{}", field.name()), texts, values)?;
                }
            }
            return Ok(());
        }
        _ => {}
    }
    if kind.is_floating() && values.null_count() == texts.null_count() && !has_large(values) {
        return Ok(());
    }
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(values, &options)?;
    let mut written = String::new();
    for (row, text) in texts.as_string::<i32>().iter().enumerate() {
        let Some(text) = text else { continue };
        if values.is_null(row) {
            return Err(ArrowError::ParseError(format!("the value {text:?} of column {name} is no {kind}")));
        }
        let is_all = if kind.is_temporal() {
            is_time(text, kind)
        } else {
            written.clear();
            formatter.value(row).write(&mut written)?;
            if kind.is_floating() && !is_whole(text) {
                // A float may be near a fraction, but it must not be infinite for a number that is too large.
                !written.ends_with("inf") || !text.contains(|c: char| c.is_ascii_digit())
            } else {
                written == text || is_same_number(&written, text.trim())
            }
        };
        if !is_all {
            let instead = if kind.is_floating() { ", and not DECIMAL" } else { "" };
            let said = format!(
                "the value {text:?} of column {name} would be cut, since the column is of type {kind}{instead}"
            );
            return Err(ArrowError::ParseError(said));
        }
    }
    Ok(())
}

/// Returns true if an undeclared number may be a name, since its type does not keep its leading zeros, plus sign or
/// blanks.
fn may_be_name(text: &str, kind: &DataType) -> bool {
    let has_more = |end: Option<char>| end.is_some_and(|end| end == '+' || end.is_whitespace());
    has_leading_zeros(text.as_bytes())
        || (kind.is_integer() && (has_more(text.chars().next()) || has_more(text.chars().next_back())))
}

/// Returns true if a text is a number with superfluous leading zeros.
pub(super) fn has_leading_zeros(text: &[u8]) -> bool {
    matches!(text.trim_ascii_start(), [b'0', b'0'..=b'9', ..] | [b'-' | b'+', b'0', b'0'..=b'9', ..])
}

/// Returns true if a temporal type holds everything that a text says.
fn is_time(text: &str, kind: &DataType) -> bool {
    let is_number = text.parse::<f64>().is_ok();
    let time = text.get(11..).unwrap_or_default();
    let zone = time.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | '.')).trim_start();
    // A leap second is read as the second before, and the time of another zone as that of UTC.
    let is_leap = text.contains(":60") || time.get(4..6) == Some("60") && !time.contains(':');
    let is_elsewhere = !matches!(zone.trim_matches(['+', '-', ':', '0']), "" | "Z" | "z" | "UTC");
    if !is_number && (is_leap || is_elsewhere && matches!(kind, DataType::Timestamp(_, None))) {
        return false;
    }
    let places = match kind {
        _ if is_number => 0,
        DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) => match unit {
            TimeUnit::Second => 0,
            TimeUnit::Millisecond => 3,
            TimeUnit::Microsecond => 6,
            TimeUnit::Nanosecond => 9,
        },
        DataType::Date64 => 3,
        _ => 0,
    };
    let fraction = text.split_once('.').map_or("", |(_, behind)| behind);
    let fraction = &fraction[..fraction.bytes().take_while(u8::is_ascii_digit).count()];
    if fraction.trim_end_matches('0').len() > places {
        return false;
    }
    if is_number {
        return text.parse::<i64>().is_ok() || !text.contains(['e', 'E']);
    }
    // A signed date may have a long year.
    if *kind != DataType::Date32 || text.len() <= 10 || text.starts_with(['+', '-']) {
        return true;
    }
    let time = "+00:00".parse::<Tz>().and_then(|utc| string_to_datetime(&utc, text));
    time.is_ok_and(|time| time.timestamp() % (24 * 60 * 60) == 0)
}

/// Returns true if a number is written without a point or an exponent.
pub(super) fn is_whole(number: &str) -> bool {
    number.trim_end().ends_with(|last: char| last.is_ascii_digit()) && !number.contains(['.', 'e', 'E'])
}

fn is_same_number(a: &str, b: &str) -> bool {
    let a = number(a);
    a.is_some() && a == number(b)
}

/// Returns the sign of a decimal number, its digits without leading and trailing zeros, and the power of ten by which
/// they are multiplied.
fn number(text: &str) -> Option<(bool, String, i64)> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse().ok()?),
        None => (text, 0_i64),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let all = whole.trim_start_matches(['+', '-']).to_owned() + fraction;
    let digits = all.trim_end_matches('0');
    let zeros = i64::try_from(all.len() - digits.len()).ok()?;
    let power = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(zeros)?;
    let digits = digits.trim_start_matches('0');
    Some(if digits.is_empty() { (false, String::new(), 0) } else { (whole.starts_with('-'), digits.to_owned(), power) })
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::StringArray;

    use super::*;

    #[test]
    fn decimals_are_all_of_their_texts() {
        let read = |texts: Vec<Option<&str>>| {
            let texts: ArrayRef = Arc::new(StringArray::from(texts));
            let columns = Arc::new(Schema::new(vec![Field::new("a", DataType::Decimal128(5, 2), true)]));
            let made = of_texts(&RecordBatch::try_from_iter([("a", texts)]).unwrap(), &columns, false)?;
            Ok::<_, ArrowError>(made.column(0).as_primitive::<Decimal128Type>().iter().collect::<Vec<_>>())
        };
        let found = read(vec![Some("1e2"), Some("+1.5"), None, Some("-.5"), Some("12.000")]).unwrap();
        assert_eq!(found, [Some(10_000), Some(150), None, Some(-50), Some(1200)]);
        for text in ["1.239", "1e-3", "1e65537", "1000", "x", &format!("1{}", "0".repeat(256))] {
            assert!(read(vec![Some(text)]).is_err(), "{text}");
        }
    }

    #[test]
    fn floats_are_the_whole_numbers_of_their_texts() {
        let read = |kind: DataType, text: &str| {
            let texts: ArrayRef = Arc::new(StringArray::from(vec![text]));
            let columns = Arc::new(Schema::new(vec![Field::new("a", kind, true)]));
            of_texts(&RecordBatch::try_from_iter([("a", texts)]).unwrap(), &columns, false)
        };
        for (text, kind, expected) in [
            ("9007199254740993", DataType::Float64, false),
            ("-9007199254740993", DataType::Float64, false),
            (" +9007199254740993", DataType::Float64, false),
            ("12345678901234567890123", DataType::Float64, false),
            (&"9".repeat(400), DataType::Float64, false),
            ("16777217", DataType::Float32, false),
            ("x", DataType::Float64, false),
            ("9007199254740992", DataType::Float64, true),
            ("123456789012345680000", DataType::Float64, true),
            (" 16777216", DataType::Float32, true),
            ("16777217", DataType::Float64, true),
            ("0.1", DataType::Float64, true),
            ("0.12345678901234567890", DataType::Float64, true),
            ("9007199254740993.5", DataType::Float64, true),
            ("9007199254740993e1", DataType::Float64, true),
            ("NaN", DataType::Float64, true),
            ("-Infinity", DataType::Float64, true),
        ] {
            assert_eq!(read(kind.clone(), text).is_ok(), expected, "{text} {kind}");
        }
    }

    #[test]
    fn numbers_that_nobody_declared_have_no_leading_zeros() {
        let read = |kind: DataType, text: &str, is_found| {
            let texts: ArrayRef = Arc::new(StringArray::from(vec!["1", text]));
            let columns = Arc::new(Schema::new(vec![Field::new("a", kind, true)]));
            let made = of_texts(&RecordBatch::try_from_iter([("a", texts)]).unwrap(), &columns, is_found)?;
            Ok::<_, ArrowError>(made.column(0).null_count())
        };
        for text in ["007", "-01", " 00", "+007", "+7", " 7", "7 "] {
            assert!(read(DataType::Int64, text, true).is_err(), "{text}");
        }
        for text in ["007", "+7"] {
            assert_eq!(read(DataType::Int64, text, false).unwrap(), 0, "{text}");
        }
        assert!(read(DataType::Float64, "00.5", true).is_err());
        for text in ["0", "-0", "10", "9223372036854775807"] {
            assert_eq!(read(DataType::Int64, text, true).unwrap(), 0, "{text}");
        }
        for text in ["1.9", "9223372036854775808", "1e3", "x"] {
            assert!(read(DataType::Int64, text, true).is_err(), "{text}");
        }
        for text in ["0.5", "-0.0", "0e0"] {
            assert_eq!(read(DataType::Float64, text, true).unwrap(), 0, "{text}");
        }
    }

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        for (a, b, expected) in [
            ("1", "1.0", true),
            ("1000", "1e3", true),
            ("-0.50", "-5E-1", true),
            ("0", "-0.0", true),
            ("1", "1.9", false),
            ("1", "-1", false),
            ("0", "1e-400", false),
            ("9007199254740992", "9007199254740993.0", false),
            ("-9223372036854775808", "-9223372036854775809", false),
            ("10", "1e65537", false),
            ("1", "1e99999999999999999999", false),
        ] {
            assert_eq!(is_same_number(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn times_are_whole_where_the_type_holds_them() {
        let seconds = DataType::Timestamp(TimeUnit::Second, None);
        let nanoseconds = DataType::Timestamp(TimeUnit::Nanosecond, None);
        let zoned = DataType::Timestamp(TimeUnit::Second, Some("UTC".into()));
        for (text, kind, expected) in [
            ("2024-01-01", &DataType::Date32, true),
            ("20240101", &DataType::Date32, true),
            ("2024-01-01T00:00:00.000Z", &DataType::Date32, true),
            ("+10999-12-31", &DataType::Date32, true),
            ("2024-01-01T23:59:59", &DataType::Date32, false),
            ("2024-01-01T00:00:00+01:00", &DataType::Date32, false),
            ("19000.5", &DataType::Date32, false),
            ("2024-01-01T23:59:59", &seconds, true),
            ("2024-01-01T23:59:59.0", &seconds, true),
            ("2024-01-01T23:59:59.123456789", &seconds, false),
            ("2024-01-01T23:59:59.123456789", &nanoseconds, true),
            ("2024-01-01T23:59:59.1234567891", &nanoseconds, false),
            ("1.5", &nanoseconds, false),
            ("2024-01-01 10:00:60", &seconds, false),
            ("2024-01-01 100060", &seconds, false),
            ("2024-01-01 10:00:60", &zoned, false),
            ("10:00:60", &DataType::Time64(TimeUnit::Nanosecond), false),
            ("10:00:59", &DataType::Time64(TimeUnit::Nanosecond), true),
            ("2024-01-01", &seconds, true),
            ("2024-01-01T10:00:00Z", &seconds, true),
            ("2024-01-01 10:00:00.5+00:00", &nanoseconds, true),
            ("2024-01-01 100000 UTC", &seconds, true),
            ("2024-01-01T10:00:00+05:00", &seconds, false),
            ("2024-01-01 10:00:00.5 -08", &nanoseconds, false),
            ("2024-01-01 10:00:00 Europe/Berlin", &seconds, false),
            ("2024-01-01T10:00:00+05:00", &zoned, true),
        ] {
            assert_eq!(is_time(text, kind), expected, "{text} {kind}");
        }
    }
}
