use std::sync::{Arc, LazyLock};

use arrow::array::timezone::Tz;
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, StringViewBuilder, StructArray};
use arrow::buffer::NullBuffer;
use arrow::compute::cast;
use arrow::compute::kernels::cast_utils::string_to_datetime;
use arrow::datatypes::{DataType, Field, Fields, Float64Type, Int64Type, TimeUnit};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use crate::arguments::{is_text, text_array};

/// `time_of(value)`: a time in whatever form it is given.
#[user_doc(
    doc_section(label = "Times"),
    description = "A time as seconds since 1970-01-01T00:00:00Z, and the form in which it was given. The argument is a \
                   date, a timestamp, a number, or text that holds one of these. The forms are:\n\n\
                   * `year`: a whole number of up to four digits, as a number or as text, such as 1789, `0476` and \
                   −44; the time is the first second of that year. Years are those of the proleptic Gregorian \
                   calendar; the year 0 is 1 BC.\n\
                   * `month`: `1789-07`, `1789/07`.\n\
                   * `day`: a date such as `1789-07-14`, `1789/7/14` or `-0044-03-15`, or a whole number of eight \
                   digits that is a date from the year 1000 on, such as 17890714.\n\
                   * `time`: a timestamp, or an ISO 8601 time as in RFC 3339, such as `2024-01-31T12:00:00Z` or \
                   `2024-01-31 12:00:00+01:00`; a time without a zone is in UTC.\n\
                   * `seconds`: any other number from −9e12 to 9e12.\n\n\
                   Returns `Struct<seconds: Float64, form: Utf8View>`. NULL for NULL and for any other value.",
    syntax_example = "time_of(value)",
    sql_example = r#"```sql
> SELECT text, time_of(text)['seconds'] AS seconds, time_of(text)['form'] AS form
  FROM (VALUES ('1969'), ('1969-12'), ('1969/12/31'), ('1970-01-01 00:00:00+01'), ('86400'), ('yesterday')) AS t(text);
+------------------------+-------------+---------+
| text                   | seconds     | form    |
+------------------------+-------------+---------+
| 1969                   | -31536000.0 | year    |
| 1969-12                | -2678400.0  | month   |
| 1969/12/31             | -86400.0    | day     |
| 1970-01-01 00:00:00+01 | -3600.0     | time    |
| 86400                  | 86400.0     | seconds |
| yesterday              |             |         |
+------------------------+-------------+---------+
```"#,
    argument(name = "value", description = "A date, a timestamp, a number, or text of any width.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct TimeOf {
    signature: Signature,
}

impl Default for TimeOf {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    Fields::from(vec![Field::new("seconds", DataType::Float64, true), Field::new("form", DataType::Utf8View, true)])
});

impl ScalarUDFImpl for TimeOf {
    fn name(&self) -> &str {
        "time_of"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [value] = take_function_args(self.name(), given)?;
        match value {
            DataType::Dictionary(_, value) => self.coerce_types(&[value.as_ref().clone()]),
            text if is_text(text) || text.is_null() => Ok(vec![DataType::Utf8View]),
            DataType::Date32 | DataType::Date64 => Ok(vec![DataType::Date32]),
            // In UTC, whatever the zone is.
            DataType::Timestamp(_, _) => Ok(vec![DataType::Timestamp(TimeUnit::Microsecond, None)]),
            number if number.is_numeric() => Ok(vec![DataType::Float64]),
            other => plan_err!("time_of expects a date, a timestamp, a number or text, got {other}"),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Struct(FIELDS.clone()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [value] = take_function_args(self.name(), ColumnarValue::values_to_arrays(&args.args)?)?;
        let mut times = Vec::with_capacity(value.len());
        match value.data_type() {
            DataType::Date32 => {
                let days = cast(&cast(&value, &DataType::Int32)?, &DataType::Int64)?;
                #[expect(clippy::cast_precision_loss, reason = "days have 32 bits")]
                let time = |days: i64| Time { seconds: (days * DAY) as f64, form: "day" };
                times.extend(days.as_primitive::<Int64Type>().iter().map(|days| days.map(time)));
            }
            DataType::Timestamp(_, _) => {
                let micros = cast(&value, &DataType::Int64)?;
                times.extend(micros.as_primitive::<Int64Type>().iter().map(|micros| micros.map(of_micros)));
            }
            DataType::Float64 => {
                times.extend(value.as_primitive::<Float64Type>().iter().map(|number| of_number(number?)));
            }
            _ => times.extend(text_array(&value)?.iter().map(|text| of_text(text?))),
        }
        let mut forms = StringViewBuilder::with_capacity(times.len());
        times.iter().for_each(|time| forms.append_option(time.map(|time| time.form)));
        let seconds: Float64Array = times.iter().map(|time| time.map(|time| time.seconds)).collect();
        let nulls = NullBuffer::from_iter(times.iter().map(Option::is_some));
        let columns: Vec<ArrayRef> = vec![Arc::new(seconds), Arc::new(forms.finish())];
        Ok(ColumnarValue::Array(Arc::new(StructArray::try_new(FIELDS.clone(), columns, Some(nulls))?)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// A time, and the form in which it was given.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Time {
    seconds: f64,
    form: &'static str,
}

/// The seconds of a day.
const DAY: i64 = 24 * 60 * 60;

/// The days of 400 years of the Gregorian calendar, after which it begins anew.
const DAYS_OF_400_YEARS: i64 = 146_097;

/// The most seconds on either side of 1970 that can be counted in microseconds, there and back.
const MOST_SECONDS: f64 = 9e12;

#[expect(
    clippy::cast_precision_loss,
    reason = "half a second is told apart within 2^51 microseconds, which are 70 years"
)]
fn of_micros(micros: i64) -> Time {
    Time { seconds: micros as f64 / 1e6, form: "time" }
}

/// Returns the time that a number is: a year, a day or seconds.
fn of_number(number: f64) -> Option<Time> {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and short")]
    if number.fract() == 0.0 && number.abs() < 1e8 {
        let whole = number as i64;
        if whole.abs() < 10_000 {
            return of_parts(whole, "01", "01", "").map(|seconds| Time { seconds, form: "year" });
        }
        if whole >= 10_000_000 {
            let digits = whole.to_string();
            let day = of_parts(whole / 10_000, &digits[4..6], &digits[6..], "");
            return Some(
                day.map_or(Time { seconds: number, form: "seconds" }, |seconds| Time { seconds, form: "day" }),
            );
        }
    }
    (number.abs() <= MOST_SECONDS).then_some(Time { seconds: number, form: "seconds" })
}

/// Returns the time that text is, if it is one.
fn of_text(text: &str) -> Option<Time> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return of_number(number);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let year = &text[..text.len() - unsigned.len() + digits(unsigned)];
    if !(4..=6).contains(&digits(unsigned)) || (unsigned == text && digits(unsigned) > 4) {
        return None;
    }
    let rest = &text[year.len()..];
    let separator = rest.chars().next().filter(|sign| matches!(sign, '-' | '/'))?;
    let (month, rest) = number_of_two_digits(&rest[1..])?;
    let year: i64 = year.parse().ok()?;
    if rest.is_empty() {
        return of_parts(year, month, "01", "").map(|seconds| Time { seconds, form: "month" });
    }
    let (day, rest) = number_of_two_digits(rest.strip_prefix(separator)?)?;
    let form = if rest.is_empty() { "day" } else { "time" };
    of_parts(year, month, day, rest).map(|seconds| Time { seconds, form })
}

/// Returns the number of digits that a text begins with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Returns the one or two digits that a text begins with, and what follows.
fn number_of_two_digits(text: &str) -> Option<(&str, &str)> {
    match digits(text) {
        count @ 1..=2 => Some(text.split_at(count)),
        _ => None,
    }
}

/// Returns the seconds of a time: `rest` is what follows the day, such as `T12:00:00Z`.
fn of_parts(year: i64, month: &str, day: &str, rest: &str) -> Option<f64> {
    static UTC: LazyLock<Option<Tz>> = LazyLock::new(|| "+00:00".parse().ok());
    // A year of four digits that has the same calendar.
    let like = 2000 + year.rem_euclid(400);
    let time = string_to_datetime((*UTC).as_ref()?, &format!("{like}-{month:0>2}-{day:0>2}{rest}")).ok()?;
    let micros = time.timestamp_micros().checked_add((year - like) / 400 * DAYS_OF_400_YEARS * DAY * 1_000_000)?;
    Some(of_micros(micros).seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_many_forms() {
        let day = 86_400.0;
        for (text, seconds, form) in [
            ("1970", 0.0, "year"),
            ("1969", -365.0 * day, "year"),
            (" 0476 ", -545_672.0 * day, "year"),
            ("-44", -735_599.0 * day, "year"),
            ("-0044-03-15", -735_525.0 * day, "day"),
            ("1970-02", 31.0 * day, "month"),
            ("1970/2", 31.0 * day, "month"),
            ("1970/2/1", 31.0 * day, "day"),
            ("19700201", 31.0 * day, "day"),
            ("2024-01-31T12:00:00Z", 1_706_702_400.0, "time"),
            ("2024-01-31 12:00:00.5+01:00", 1_706_698_800.5, "time"),
            ("1704067200", 1_704_067_200.0, "seconds"),
            ("19709901", 19_709_901.0, "seconds"),
            ("-1.5", -1.5, "seconds"),
            ("10000", 10_000.0, "seconds"),
            ("9e12", 9e12, "seconds"),
        ] {
            assert_eq!(of_text(text), Some(Time { seconds, form }), "{text}");
        }
        let none = [
            "",
            "yesterday",
            "31.12.1913",
            "1789-13",
            "1789-02-30",
            "1789-07-14-15",
            "17890-01",
            "9.1e12",
            "nan",
            "inf",
            "1789-7/14",
        ];
        for text in none {
            assert_eq!(of_text(text), None, "{text}");
        }
    }

    #[test]
    fn dates_before_and_after_1970_are_in_order() {
        let texts =
            ["-0380", "-0044-03-15", "0400", "1789", "1799-12-31", "1850", "1914-08-04", "1969-12-31T23:59:59Z", "0.5"];
        let seconds: Vec<_> = texts.iter().map(|text| of_text(text).unwrap().seconds).collect();
        assert!(seconds.is_sorted(), "{seconds:?}");
    }
}
