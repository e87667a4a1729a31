//! How functions read their arguments: text as string views, tokens as lists of string views, sets as slices of
//! `u64`, parameters as constants.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ListArray, StringViewArray, UInt64Array};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field};
use datafusion_common::cast::{as_list_array, as_string_view_array, as_uint64_array};
use datafusion_common::{Result, ScalarValue, exec_err, plan_err};
use datafusion_expr::ColumnarValue;

/// `List<Utf8View>`: tokens point into the text they were cut from, so that cutting copies nothing.
pub(crate) fn tokens_type() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Utf8View, true)))
}

/// `List<UInt64>`: ascending, distinct, without NULLs.
pub(crate) fn set_type() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::UInt64, true)))
}

/// Whether `given` is text of any width, or NULL.
pub(crate) fn is_text(given: &DataType) -> bool {
    matches!(given, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null)
}

fn item(given: &DataType) -> Option<&DataType> {
    match given {
        DataType::List(f) | DataType::LargeList(f) | DataType::ListView(f) | DataType::FixedSizeList(f, _) => {
            Some(f.data_type())
        }
        _ => None,
    }
}

/// The type of a text argument, or an error that names the function.
pub(crate) fn coerce_text(function: &str, given: &DataType) -> Result<DataType> {
    if is_text(given) { Ok(DataType::Utf8View) } else { plan_err!("{function} expects text, got {given}") }
}

/// The type of a token argument, or an error that says how to make tokens.
pub(crate) fn coerce_tokens(function: &str, given: &DataType) -> Result<DataType> {
    match (given, item(given)) {
        (DataType::Null, _) => Ok(tokens_type()),
        (_, Some(item)) if is_text(item) => Ok(tokens_type()),
        _ if is_text(given) => plan_err!(
            "{function} expects a list of tokens, got {given}; write {function}(words(normalize(text)), …) or \
             {function}(characters(normalize(text)), …)"
        ),
        _ => plan_err!("{function} expects a list of tokens, got {given}"),
    }
}

/// The type of a set argument, or an error that says how to make a set.
pub(crate) fn coerce_set(function: &str, given: &DataType) -> Result<DataType> {
    match (given, item(given)) {
        (DataType::Null, _) => Ok(set_type()),
        (_, Some(item)) if item.is_integer() || *item == DataType::Null => Ok(set_type()),
        _ => plan_err!(
            "{function} expects two lists of hashes, got {given}; write {function}(shingles(words(normalize(a)), 3), \
             shingles(words(normalize(b)), 3)), or 1 in place of 3 to compare single words"
        ),
    }
}

/// The value of a parameter that must be the same for every row.
pub(crate) fn constant<'a>(function: &str, name: &str, value: &'a ColumnarValue) -> Result<&'a ScalarValue> {
    match value {
        ColumnarValue::Scalar(scalar) if !scalar.is_null() => Ok(scalar),
        ColumnarValue::Scalar(_) => exec_err!("{function}: {name} must not be NULL"),
        ColumnarValue::Array(_) => exec_err!("{function}: {name} must be a constant, not a column"),
    }
}

/// A constant whole number within `range`.
pub(crate) fn constant_integer(
    function: &str,
    name: &str,
    value: &ColumnarValue,
    range: std::ops::RangeInclusive<i64>,
) -> Result<i64> {
    match constant(function, name, value)?.cast_to(&DataType::Int64)? {
        ScalarValue::Int64(Some(n)) if range.contains(&n) => Ok(n),
        other => {
            exec_err!(
                "{function}: {name} must be a whole number from {} to {}, got {other}",
                range.start(),
                range.end()
            )
        }
    }
}

/// A constant number within `range`.
pub(crate) fn constant_number(
    function: &str,
    name: &str,
    value: &ColumnarValue,
    range: std::ops::RangeInclusive<f64>,
) -> Result<f64> {
    match constant(function, name, value)?.cast_to(&DataType::Float64)? {
        ScalarValue::Float64(Some(x)) if range.contains(&x) => Ok(x),
        other => {
            exec_err!("{function}: {name} must be a number from {} to {}, got {other}", range.start(), range.end())
        }
    }
}

/// The text argument of a batch.
pub(crate) fn text_array(value: &ArrayRef) -> Result<&StringViewArray> {
    as_string_view_array(value)
}

/// A column of token lists.
pub(crate) struct Tokens<'a> {
    lists: &'a ListArray,
    items: &'a StringViewArray,
}

impl<'a> Tokens<'a> {
    pub(crate) fn try_new(value: &'a ArrayRef) -> Result<Self> {
        let lists = as_list_array(value)?;
        Ok(Self { lists, items: as_string_view_array(lists.values())? })
    }

    /// The tokens of row `i` in order, without NULLs; `None` where the list is NULL.
    pub(crate) fn row(&self, i: usize) -> Option<impl Iterator<Item = &'a str> + Clone + use<'a>> {
        if self.lists.is_null(i) {
            return None;
        }
        let offsets = self.lists.value_offsets();
        let (start, end) = (as_index(offsets[i]), as_index(offsets[i + 1]));
        let items = self.items;
        Some((start..end).filter(move |&k| items.is_valid(k)).map(move |k| items.value(k)))
    }
}

/// A column of sets. Rows that break the contract of a set (not ascending, repeats, NULL elements) are put in order on
/// reading, so that the answer is right whatever the list.
pub(crate) struct Sets<'a> {
    lists: &'a ListArray,
    items: &'a UInt64Array,
}

impl<'a> Sets<'a> {
    pub(crate) fn try_new(value: &'a ArrayRef) -> Result<Self> {
        let lists = as_list_array(value)?;
        Ok(Self { lists, items: as_uint64_array(lists.values())? })
    }

    /// The set of row `i`; `None` where the list is NULL. `scratch` holds the ordered copy where one is needed.
    pub(crate) fn row<'s>(&self, i: usize, scratch: &'s mut Vec<u64>) -> Option<&'s [u64]>
    where
        'a: 's,
    {
        if self.lists.is_null(i) {
            return None;
        }
        let offsets = self.lists.value_offsets();
        let (start, end) = (as_index(offsets[i]), as_index(offsets[i + 1]));
        let given = &self.items.values()[start..end];
        if self.items.null_count() == 0 && given.is_sorted_by(|a, b| a < b) {
            return Some(given);
        }
        scratch.clear();
        scratch.extend((start..end).filter(|&k| self.items.is_valid(k)).map(|k| self.items.value(k)));
        scratch.sort_unstable();
        scratch.dedup();
        Some(scratch)
    }
}

/// A scalar that holds all of `items` as one list.
pub(crate) fn one_list(items: ArrayRef) -> Result<ScalarValue> {
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths([items.len()]);
    Ok(ScalarValue::List(Arc::new(ListArray::try_new(field, offsets, items, None)?)))
}

/// Arrow's offsets are never negative.
#[expect(clippy::cast_sign_loss, reason = "offsets of a valid array are not negative")]
pub(crate) fn as_index(offset: i32) -> usize {
    offset as usize
}
