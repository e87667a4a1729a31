//! Helpers that read the arguments of functions: text as string views, tokens as lists of string views, sets as slices
//! of `u64`, parameters as constants.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, ListArray, ListBuilder, StringViewArray, UInt32Array, UInt64Array,
    UInt64Builder,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion_common::cast::{
    as_binary_view_array, as_int64_array, as_list_array, as_string_view_array, as_uint32_array, as_uint64_array,
};
use datafusion_common::{Result, ScalarValue, exec_datafusion_err, exec_err, internal_err, plan_err};
use datafusion_expr::{ColumnarValue, Expr};

use crate::similarity::PackedSet;

/// Returns the type of tokens, `List<Utf8View>`: tokens point into the text they were cut from, so that cutting copies
/// nothing.
pub(crate) fn tokens_type() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Utf8View, true)))
}

/// Returns the type of a set, `List<UInt64>`: ascending, distinct, without NULLs.
pub fn set_type() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::UInt64, true)))
}

/// Returns the field of the items of a list of minhashes.
pub(crate) fn minhash_item() -> FieldRef {
    Arc::new(Field::new_list_field(DataType::UInt32, true))
}

/// Returns the type of minhashes, `List<UInt32>`.
pub(crate) fn minhash_type() -> DataType {
    DataType::List(minhash_item())
}

/// Returns true if `given` is text of any width, or NULL.
pub(crate) fn is_text(given: &DataType) -> bool {
    matches!(given, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null)
}

pub(crate) fn item(given: &DataType) -> Option<&DataType> {
    match given {
        DataType::List(f) | DataType::LargeList(f) | DataType::ListView(f) | DataType::FixedSizeList(f, _) => {
            Some(f.data_type())
        }
        _ => None,
    }
}

/// Returns the type of a text argument, or an error that names the function.
pub(crate) fn coerce_text(function: &str, given: &DataType) -> Result<DataType> {
    if is_text(given) { Ok(DataType::Utf8View) } else { plan_err!("{function} expects text, got {given}") }
}

/// Returns the type of a token argument, or an error that says how to make tokens.
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

/// Returns the type of a set argument, or an error that says how to make a set.
pub(crate) fn coerce_set(function: &str, given: &DataType) -> Result<DataType> {
    match (given, item(given)) {
        (DataType::Null, _) => Ok(set_type()),
        // Signed integers are not cast: each is the element with the same bits.
        (_, Some(item)) if item.is_signed_integer() => {
            Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true))))
        }
        (_, Some(item)) if item.is_integer() || *item == DataType::Null => Ok(set_type()),
        (DataType::BinaryView, _) => Ok(DataType::BinaryView),
        (_, Some(item)) if is_text(item) => plan_err!(
            "{function} expects two lists of hashes, got {given}; shingles(list, 1) makes one of a list of texts"
        ),
        (_, Some(_)) => plan_err!("{function} expects two lists of hashes, got {given}; elements are whole numbers"),
        _ => plan_err!(
            "{function} expects two lists of hashes, got {given}; write {function}(shingles(words(normalize(a)), 3), \
             shingles(words(normalize(b)), 3)), or 1 in place of 3 to compare single words"
        ),
    }
}

/// Returns the type of the only set among the arguments, or an error that says how to make a set.
pub(crate) fn coerce_one_set(function: &str, given: &DataType) -> Result<DataType> {
    coerce_set(function, given).or_else(|_| {
        plan_err!(
            "{function} expects a list of hashes, got {given}; write {function}(shingles(words(normalize(text)), 3), …)"
        )
    })
}

/// Returns the type of an argument that holds minhashes, or an error that says how to make them.
pub(crate) fn coerce_minhashes(function: &str, given: &DataType) -> Result<DataType> {
    match (given, item(given)) {
        (DataType::Null, _) => Ok(minhash_type()),
        (_, Some(item)) if *item != DataType::UInt64 && (item.is_integer() || item.is_null()) => Ok(minhash_type()),
        _ => plan_err!("{function} expects minhashes, List(UInt32), got {given}; make them with minhash(set, k)"),
    }
}

/// Returns the type of the argument `name`, a list of structs with the whole-number fields `fields`, which keep the
/// order given. The error for any other type shows `example`, which makes such a list.
pub(crate) fn coerce_structs(
    function: &str,
    name: &str,
    fields: &[&str],
    example: &str,
    given: &DataType,
) -> Result<DataType> {
    let is_number = |field: &FieldRef| field.data_type().is_integer() || field.data_type().is_null();
    let names = match if given.is_null() { Some(given) } else { item(given) } {
        Some(DataType::Null) => fields.to_vec(),
        Some(DataType::Struct(given)) if given.iter().all(is_number) => {
            given.iter().map(|field| field.name().as_str()).collect()
        }
        _ => vec![],
    };
    if names.len() != fields.len() || fields.iter().any(|name| !names.contains(name)) {
        let expected = fields.join(", ");
        return plan_err!(
            "{function} expects a list of structs ({expected}) for {name}, got {given}; write array_agg(named_struct({example}))"
        );
    }
    let fields = names.into_iter().map(|name| Field::new(name, DataType::Int32, true)).collect();
    Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Struct(fields), true))))
}

/// Returns the type of a code argument: bytes of a fixed width or an integer.
pub(crate) fn coerce_code(function: &str, given: &DataType) -> Result<DataType> {
    match given {
        DataType::Null => Ok(DataType::Int64),
        DataType::FixedSizeBinary(_) => Ok(given.clone()),
        integer if integer.is_integer() => Ok(given.clone()),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => plan_err!(
            "{function} expects codes of a fixed width, got {given}; for codes of 64 bits write \
             arrow_cast(arrow_cast(code, 'Binary'), 'FixedSizeBinary(8)')"
        ),
        _ => plan_err!("{function} expects codes, FixedSizeBinary or integers, got {given}"),
    }
}

/// Returns the value of a parameter that must be the same for every row.
pub(crate) fn constant<'a>(function: &str, name: &str, value: &'a ColumnarValue) -> Result<&'a ScalarValue> {
    match value {
        ColumnarValue::Scalar(scalar) if !scalar.is_null() => Ok(scalar),
        ColumnarValue::Scalar(_) => exec_err!("{function}: {name} must not be NULL"),
        ColumnarValue::Array(_) => exec_err!("{function}: {name} must be a constant, not a column"),
    }
}

/// Keeps the optimizer from turning the constants among `args`, which begin at `first`, into columns. The optimizer
/// extracts a subquery that occurs twice in a query as a common subexpression, unless its evaluation is conditional.
pub(crate) fn keep_constants(args: &[Expr], first: usize) -> Option<(Vec<&Expr>, Vec<&Expr>)> {
    let (values, constants) = args.split_at_checked(first)?;
    Some((values.iter().collect(), constants.iter().collect()))
}

/// Returns a constant whole number within `range`.
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

/// Returns a constant count, from 1 to `most`.
pub(crate) fn constant_count(function: &str, name: &str, value: &ColumnarValue, most: u16) -> Result<usize> {
    constant_size(function, name, value, 1..=i64::from(most))
}

/// Returns whole numbers from 1 to `most`, one per row.
pub(crate) fn counts(function: &str, name: &str, value: ColumnarValue, rows: usize, most: u16) -> Result<Vec<usize>> {
    let numbers = value.cast_to(&DataType::Int64, None)?.into_array(rows)?;
    let numbers = numbers.as_primitive::<Int64Type>();
    let count = |number: Option<i64>| {
        let count = number.and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=usize::from(most)).contains(n));
        let given = || number.map_or("NULL".to_owned(), |number| number.to_string());
        count.ok_or_else(|| {
            exec_datafusion_err!("{function}: {name} must be a whole number from 1 to {most}, got {}", given())
        })
    };
    numbers.iter().map(count).collect()
}

/// Returns a constant whole number within `range`, which has no number below 0.
pub(crate) fn constant_size(
    function: &str,
    name: &str,
    value: &ColumnarValue,
    range: std::ops::RangeInclusive<i64>,
) -> Result<usize> {
    let n = constant_integer(function, name, value, range)?;
    usize::try_from(n).map_err(|e| exec_datafusion_err!("{function}: {name} = {n}: {e}"))
}

/// Returns a constant number within `range`.
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

/// Returns a constant number above 0.
pub(crate) fn constant_above_zero(function: &str, name: &str, value: &ColumnarValue) -> Result<f64> {
    match constant(function, name, value)?.cast_to(&DataType::Float64)? {
        ScalarValue::Float64(Some(x)) if x > 0.0 && x.is_finite() => Ok(x),
        other => exec_err!("{function}: {name} must be a number above 0, got {other}"),
    }
}

/// Returns a constant that is true or false.
pub(crate) fn constant_flag(function: &str, name: &str, value: &ColumnarValue) -> Result<bool> {
    match constant(function, name, value)?.cast_to(&DataType::Boolean)? {
        ScalarValue::Boolean(Some(flag)) => Ok(flag),
        other => exec_err!("{function}: {name} must be true or false, got {other}"),
    }
}

/// Returns the primary subtag of a language tag (BCP 47), in lower case: `tr` of `tr-TR`.
pub(crate) fn primary_subtag(tag: &str) -> String {
    tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase()
}

/// Returns the primary subtag of a constant language tag.
pub(crate) fn constant_language(function: &str, value: &ColumnarValue) -> Result<String> {
    let given = constant(function, "language", value)?;
    let primary = primary_subtag(given.try_as_str().flatten().unwrap_or_default());
    if !(2..=3).contains(&primary.len()) || !primary.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return exec_err!("{function}: language must be a code such as 'en' or 'tr', got '{given}'");
    }
    Ok(primary)
}

/// Returns the text argument of a batch.
pub(crate) fn text_array(value: &ArrayRef) -> Result<&StringViewArray> {
    as_string_view_array(value)
}

/// A column of codes, as bytes.
pub(crate) struct Codes {
    bytes: Buffer,
    offset: usize,
    width: usize,
    nulls: Option<NullBuffer>,
}

impl Codes {
    pub(crate) fn try_new(value: &ArrayRef) -> Result<Self> {
        let width = match value.data_type() {
            DataType::FixedSizeBinary(width) => usize::try_from(*width).ok(),
            integer => integer.primitive_width(),
        };
        let data = value.to_data();
        let (Some(width), [bytes]) = (width, data.buffers()) else {
            return internal_err!("codes of {}", value.data_type());
        };
        Ok(Self { bytes: bytes.clone(), offset: data.offset(), width, nulls: data.nulls().cloned() })
    }

    /// Returns the code of a row; `None` where it is NULL.
    pub(crate) fn row(&self, i: usize) -> Option<&[u8]> {
        let is_null = self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(i));
        (!is_null).then(|| &self.bytes[(self.offset + i) * self.width..][..self.width])
    }
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

    /// Returns the tokens of all rows. Each row has a slice of them.
    pub(crate) fn items(&self) -> &'a StringViewArray {
        self.items
    }

    /// Returns the validity of the rows.
    pub(crate) fn nulls(&self) -> Option<&'a NullBuffer> {
        self.lists.nulls()
    }

    /// Returns the tokens of row `i` in order, without NULLs; `None` where the list is NULL.
    pub(crate) fn row(&self, i: usize) -> Option<TokenRow<'a>> {
        if self.lists.is_null(i) {
            return None;
        }
        let offsets = self.lists.value_offsets();
        Some(TokenRow { items: self.items, places: as_index(offsets[i])..as_index(offsets[i + 1]) })
    }
}

/// The tokens of a row.
#[derive(Clone)]
pub(crate) struct TokenRow<'a> {
    items: &'a StringViewArray,
    places: Range<usize>,
}

impl<'a> TokenRow<'a> {
    /// Returns the tokens with their places in [`Tokens::items`].
    pub(crate) fn with_places(self) -> impl Iterator<Item = (usize, &'a str)> {
        let items = self.items;
        self.places.filter(|&k| items.is_valid(k)).map(|k| (k, items.value(k)))
    }
}

impl<'a> Iterator for TokenRow<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let items = self.items;
        self.places.find(|&k| items.is_valid(k)).map(|k| items.value(k))
    }
}

/// A column of sets: lists, or sets packed by `pack_set`. Rows that break the contract of a set (not ascending,
/// repeats, NULL elements) are put in order on reading, so that the answer is right whatever the list.
pub(crate) enum Sets<'a> {
    Lists { lists: &'a ListArray, items: Elements<'a> },
    Packed(&'a BinaryViewArray),
}

impl<'a> Sets<'a> {
    pub(crate) fn try_new(value: &'a ArrayRef) -> Result<Self> {
        match value.data_type() {
            DataType::BinaryView => {
                let sets = as_binary_view_array(value)?;
                match sets.iter().flatten().find(|bytes| bytes.len() % 8 > 1) {
                    Some(bytes) => exec_err!("{} bytes are no packed set; pack sets with pack_set", bytes.len()),
                    None => Ok(Self::Packed(sets)),
                }
            }
            _ => {
                let lists = as_list_array(value)?;
                Ok(Self::Lists { lists, items: Elements::try_new(lists.values())? })
            }
        }
    }

    /// Returns the set of row `i`; `None` where it is NULL. `scratch` holds the set unless the column stores it as an
    /// ordered list.
    pub(crate) fn row<'s>(&self, i: usize, scratch: &'s mut Vec<u64>) -> Option<&'s [u64]>
    where
        'a: 's,
    {
        let in_order = match self {
            Self::Lists { lists, items } => {
                if lists.is_null(i) {
                    return None;
                }
                let offsets = lists.value_offsets();
                let (start, end) = (as_index(offsets[i]), as_index(offsets[i + 1]));
                let given = &items.values()[start..end];
                if items.null_count() == 0 && is_set(given) {
                    return Some(given);
                }
                scratch.clear();
                scratch.extend((start..end).filter(|&k| items.is_valid(k)).map(|k| items.values()[k]));
                false
            }
            Self::Packed(sets) => {
                if sets.is_null(i) {
                    return None;
                }
                let packed = PackedSet::new(sets.value(i));
                scratch.clear();
                scratch.extend(packed.values().zip(packed.valid()).filter_map(|(value, valid)| valid.then_some(value)));
                packed.is_set()
            }
        };
        if !in_order {
            scratch.sort_unstable();
            scratch.dedup();
        }
        Some(scratch)
    }

    /// Returns the number of elements in the set of row `i`.
    pub(crate) fn size(&self, i: usize, scratch: &mut Vec<u64>) -> Option<usize> {
        match self {
            Self::Packed(sets) if sets.is_valid(i) && PackedSet::new(sets.value(i)).is_set() => {
                Some(sets.value(i).len() / 8)
            }
            _ => self.row(i, scratch).map(<[u64]>::len),
        }
    }
}

/// A column of minhashes.
pub(crate) struct Minhashes<'a> {
    lists: &'a ListArray,
    items: &'a UInt32Array,
}

impl<'a> Minhashes<'a> {
    pub(crate) fn try_new(value: &'a ArrayRef) -> Result<Self> {
        let lists = as_list_array(value)?;
        Ok(Self { lists, items: as_uint32_array(lists.values())? })
    }

    /// Returns the minhashes of row `i`; `None` where the list is NULL or contains a NULL.
    pub(crate) fn row(&self, i: usize) -> Option<&'a [u32]> {
        let offsets = self.lists.value_offsets();
        let (start, end) = (as_index(offsets[i]), as_index(offsets[i + 1]));
        let whole = self.items.null_count() == 0 || (start..end).all(|k| self.items.is_valid(k));
        (whole && self.lists.is_valid(i)).then(|| &self.items.values()[start..end])
    }
}

/// The elements of sets. A signed integer is the element with the same bits.
pub(crate) struct Elements<'a> {
    values: &'a [u64],
    nulls: Option<&'a NullBuffer>,
}

impl<'a> Elements<'a> {
    pub(crate) fn try_new(items: &'a ArrayRef) -> Result<Self> {
        let values = match items.data_type() {
            DataType::Int64 => bytemuck::cast_slice(as_int64_array(items)?.values()),
            _ => as_uint64_array(items)?.values(),
        };
        Ok(Self { values, nulls: items.nulls() })
    }

    pub(crate) fn values(&self) -> &'a [u64] {
        self.values
    }

    pub(crate) fn null_count(&self) -> usize {
        self.nulls.map_or(0, NullBuffer::null_count)
    }

    pub(crate) fn is_valid(&self, k: usize) -> bool {
        self.nulls.is_none_or(|nulls| nulls.is_valid(k))
    }
}

/// Returns a column of sets as lists that keep the contract of a set, whatever `value` holds. Copies nothing if the
/// lists keep it already.
///
/// # Errors
/// If `value` is not `List<UInt64>` and not `BinaryView` of packed sets.
pub fn canonical_sets(value: &ArrayRef) -> Result<ListArray> {
    let sets = Sets::try_new(value)?;
    if let Sets::Lists { lists, items } = &sets {
        let offsets = lists.value_offsets();
        let in_order =
            |i: usize| lists.is_null(i) || is_set(&items.values()[as_index(offsets[i])..as_index(offsets[i + 1])]);
        if items.null_count() == 0 && (0..lists.len()).all(in_order) {
            if *lists.values().data_type() == DataType::UInt64 {
                return Ok((*lists).clone());
            }
            let (item, values) =
                (Arc::new(Field::new_list_field(DataType::UInt64, true)), as_int64_array(lists.values())?);
            let values = UInt64Array::new(ScalarBuffer::new(values.values().inner().clone(), 0, values.len()), None);
            return Ok(ListArray::try_new(item, lists.offsets().clone(), Arc::new(values), lists.nulls().cloned())?);
        }
    }
    let mut canonical = ListBuilder::new(UInt64Builder::new());
    let mut scratch = Vec::new();
    for i in 0..value.len() {
        let row = sets.row(i, &mut scratch);
        canonical.values().append_slice(row.unwrap_or_default());
        canonical.append(row.is_some());
    }
    Ok(canonical.finish())
}

/// Returns true if a list keeps the contract of a set.
pub(crate) fn is_set(list: &[u64]) -> bool {
    list.is_sorted_by(|a, b| a < b)
}

/// Returns a scalar that holds all of `items` as one list.
pub(crate) fn one_list(items: ArrayRef) -> Result<ScalarValue> {
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths([items.len()]);
    Ok(ScalarValue::List(Arc::new(ListArray::try_new(field, offsets, items, None)?)))
}

/// Converts an offset of Arrow, which is never negative.
#[expect(clippy::cast_sign_loss, reason = "offsets of a valid array are not negative")]
pub(crate) fn as_index(offset: i32) -> usize {
    offset as usize
}
