use std::collections::HashMap;
use std::mem::{size_of, size_of_val};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray, Int32Array, StructArray, UInt64Array};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Int32Type, UInt64Type};
use datafusion_common::cast::{as_fixed_size_binary_array, as_string_view_array};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, ScalarValue, exec_err, plan_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDFImpl, ColumnarValue, Documentation, Signature, Volatility};
use datafusion_macros::user_doc;
use ibid_codes::{Code, Width, md5_code};

use super::hash_token;
use crate::arguments::{coerce_code, coerce_text, constant, one_list};

/// `codebook(word, code)`: the codes of words as one value.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The codes of words, such as those that `ibid codes learn` writes, as one value for `bit_code`.\n\n\
                   Returns `Struct<per_word Int32, words List<UInt64>, codes List<FixedSizeBinary(n)>>`: the number of \
                   bits that a word sets, the hashes of the words in ascending order, and their codes. Rows whose word \
                   or code is NULL are left out; NULL if no row is left. It is an error if two codes set different \
                   numbers of bits, if a code sets none, or if one word has two codes; a row may be repeated. Holds \
                   one entry for each word in memory.",
    syntax_example = "codebook(word, code)",
    sql_example = r#"```sql
> SELECT codebook(word, arrow_cast(code, 'FixedSizeBinary(4)'))['per_word'] AS bits_of_a_word
  FROM (VALUES ('copied', x'01000080'), ('text', x'03000000')) AS t(word, code);
+----------------+
| bits_of_a_word |
+----------------+
| 2              |
+----------------+
```"#,
    argument(name = "word", description = "A word, `Utf8`, as `words` or `characters` give it."),
    argument(
        name = "code",
        description = "Its code: `FixedSizeBinary(n)` of 4, 8, 16 or 32 bytes, bit i being bit i % 8 of byte i / 8."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Codebook {
    signature: Signature,
}

impl Default for Codebook {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for Codebook {
    fn name(&self) -> &str {
        "codebook"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [word, code] = take_function_args(self.name(), given)?;
        let code = coerce_code(self.name(), code)?;
        match width_of(&code) {
            Some(_) => Ok(vec![coerce_text(self.name(), word)?, code]),
            None => plan_err!("codebook expects codes of 4, 8, 16 or 32 bytes, FixedSizeBinary, got {code}"),
        }
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        let [_, code] = take_function_args(self.name(), given)?;
        Ok(codebook_type(code))
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let DataType::Struct(fields) = args.return_field.data_type().clone() else {
            return exec_err!("codebook gives a struct, not {}", args.return_field.data_type());
        };
        let Some(width) = width_of_codebook(&fields) else { return exec_err!("codebook gives codes of some width") };
        Ok(Box::new(Entries { width, fields, per_word: None, codes: HashMap::new() }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(args.name, args.return_type().clone(), true))])
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the type of a codebook with codes of this type.
fn codebook_type(code: &DataType) -> DataType {
    let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
    DataType::Struct(Fields::from(vec![
        Field::new("per_word", DataType::Int32, false),
        Field::new("words", list(DataType::UInt64), false),
        Field::new("codes", list(code.clone()), false),
    ]))
}

/// Returns the width of codes of this type.
fn width_of(code: &DataType) -> Option<Width> {
    let DataType::FixedSizeBinary(bytes) = code else { return None };
    Width::ALL.into_iter().find(|width| i32::try_from(width.bytes()) == Ok(*bytes))
}

/// Returns the type of codes of this width.
pub(super) fn code_type(width: Width) -> DataType {
    DataType::FixedSizeBinary(i32::try_from(width.bytes()).unwrap_or(0))
}

/// Returns the width of the codes of a struct, if it is a codebook.
fn width_of_codebook(fields: &Fields) -> Option<Width> {
    let [_, _, codes] = fields.as_ref() else { return None };
    let DataType::List(code) = codes.data_type() else { return None };
    let width = width_of(code.data_type())?;
    let same = |(a, b): (&FieldRef, &FieldRef)| a.name() == b.name();
    let DataType::Struct(wanted) = codebook_type(code.data_type()) else { return None };
    fields.iter().zip(&wanted).all(same).then_some(width)
}

/// Returns the width of the codes of an argument that is a codebook, or an error that says how to make one.
pub(super) fn width_of_argument(function: &str, given: &DataType) -> Result<Width> {
    let width = if let DataType::Struct(fields) = given { width_of_codebook(fields) } else { None };
    match width {
        Some(width) => Ok(width),
        None => plan_err!("{function} expects a codebook, got {given}; write (SELECT codebook(word, code) FROM …)"),
    }
}

/// Returns the type of a codebook with codes of this width.
pub(super) fn codebook_of(width: Width) -> DataType {
    codebook_type(&code_type(width))
}

/// The entries of a codebook by the hashes of their words.
#[derive(Debug)]
struct Entries {
    width: Width,
    fields: Fields,
    /// The number of bits that each code sets; `None` before the first code.
    per_word: Option<u32>,
    codes: HashMap<u64, Code>,
}

impl Entries {
    /// Adds a code. Fails with the end of a sentence that says what is wrong with the code.
    fn add(&mut self, word: u64, code: &[u8]) -> std::result::Result<(), String> {
        let Some(code) = Code::from_bytes(code) else { return Err(format!("has {} bytes", code.len())) };
        let (bits, per_word) = (code.count(), *self.per_word.get_or_insert(code.count()));
        if bits == 0 {
            return Err("sets no bit".to_string());
        }
        if bits != per_word {
            return Err(format!("sets {bits} bits where another sets {per_word}"));
        }
        if self.codes.insert(word, code).is_some_and(|other| other != code) {
            return Err("is not the only one".to_string());
        }
        Ok(())
    }
}

impl Accumulator for Entries {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (words, codes) = (as_string_view_array(&values[0])?, as_fixed_size_binary_array(&values[1])?);
        for (word, code) in words.iter().zip(codes) {
            if let (Some(word), Some(code)) = (word, code)
                && let Err(wrong) = self.add(hash_token(word), code)
            {
                return exec_err!("codebook: the code of '{word}' {wrong}");
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let Some(per_word) = self.per_word else { return ScalarValue::try_from(&codebook_of(self.width)) };
        let mut entries: Vec<_> = self.codes.iter().collect();
        entries.sort_unstable_by_key(|(word, _)| **word);
        let bytes: Vec<u8> = entries.iter().flat_map(|(_, code)| code.bytes(self.width)).copied().collect();
        let bytes_of_code = i32::try_from(self.width.bytes()).unwrap_or(0);
        let codes = FixedSizeBinaryArray::try_new(bytes_of_code, Buffer::from_vec(bytes), None)?;
        let columns = vec![
            Arc::new(Int32Array::from(vec![i32::try_from(per_word).unwrap_or(0)])) as ArrayRef,
            one_list(Arc::new(UInt64Array::from_iter_values(entries.iter().map(|(word, _)| **word))))?.to_array()?,
            one_list(Arc::new(codes))?.to_array()?,
        ];
        Ok(ScalarValue::Struct(Arc::new(StructArray::try_new(self.fields.clone(), columns, None)?)))
    }

    fn size(&self) -> usize {
        // The table has one more byte for each entry.
        size_of_val(self) + self.codes.capacity() * (size_of::<(u64, Code)>() + 1)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states[0].as_struct();
        for i in (0..states.len()).filter(|&i| states.is_valid(i)) {
            let words = states.column(1).as_list::<i32>().value(i);
            let codes = states.column(2).as_list::<i32>().value(i);
            let codes = as_fixed_size_binary_array(&codes)?;
            for (word, code) in words.as_primitive::<UInt64Type>().values().iter().zip(codes.iter().flatten()) {
                if let Err(wrong) = self.add(*word, code) {
                    return exec_err!("codebook: the code of a word {wrong}");
                }
            }
        }
        Ok(())
    }
}

/// A codebook as an argument.
pub(super) struct Codes {
    width: Width,
    per_word: u32,
    words: UInt64Array,
    codes: FixedSizeBinaryArray,
}

impl Codes {
    pub(super) fn try_new(function: &str, value: &ColumnarValue) -> Result<Self> {
        let value = constant(function, "the codebook", value)?;
        let width = width_of_argument(function, &value.data_type())?;
        let ScalarValue::Struct(value) = value else { return exec_err!("{function} expects a codebook as a constant") };
        let list = |i: usize| value.column(i).as_list::<i32>().value(0);
        let per_word = value.column(0).as_primitive::<Int32Type>().value(0);
        let words = list(1).as_primitive::<UInt64Type>().clone();
        let codes = as_fixed_size_binary_array(&list(2))?.clone();
        match u32::try_from(per_word) {
            Ok(per_word) if (1..=width.bits()).contains(&per_word) && words.len() == codes.len() => {
                Ok(Self { width, per_word, words, codes })
            }
            _ => exec_err!(
                "{function}: a codebook of {} words, {} codes and {per_word} bits for a word; make it with codebook",
                words.len(),
                codes.len()
            ),
        }
    }

    pub(super) fn width(&self) -> Width {
        self.width
    }

    /// Sets the bits of a word in a code.
    pub(super) fn set(&self, word: &str, code: &mut [u8]) {
        match self.words.values().binary_search(&hash_token(word)) {
            Ok(place) => set_bits(self.codes.value(place), code),
            Err(_) => set_bits(md5_code(word, self.width, self.per_word).bytes(self.width), code),
        }
    }
}

fn set_bits(bits: &[u8], code: &mut [u8]) {
    for (byte, bits) in code.iter_mut().zip(bits) {
        *byte |= bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Entries {
        let DataType::Struct(fields) = codebook_of(Width::W32) else { unreachable!() };
        Entries { width: Width::W32, fields, per_word: None, codes: HashMap::new() }
    }

    #[test]
    fn codes_that_do_not_fit_are_refused() {
        let mut all = entries();
        assert_eq!(all.add(1, &[3, 0, 0, 0]), Ok(()));
        assert_eq!(all.add(1, &[3, 0, 0, 0]), Ok(()));
        assert_eq!(all.add(2, &[0, 3, 0, 0]), Ok(()));
        assert_eq!(all.add(1, &[5, 0, 0, 0]), Err("is not the only one".to_string()));
        assert_eq!(all.add(3, &[7, 0, 0, 0]), Err("sets 3 bits where another sets 2".to_string()));
        assert_eq!(entries().add(3, &[0; 4]), Err("sets no bit".to_string()));
        assert_eq!(entries().add(3, &[1; 5]), Err("has 5 bytes".to_string()));
    }

    #[test]
    fn states_are_merged_into_what_all_rows_give() {
        let (mut one, mut other, mut all) = (entries(), entries(), entries());
        for (word, bit) in (0..20_u64).zip(0_u8..) {
            let code = (1_u32 << bit).to_le_bytes();
            if word % 3 == 0 { &mut one } else { &mut other }.add(word, &code).unwrap();
            all.add(word, &code).unwrap();
        }
        let mut merged = entries();
        for part in [&mut one, &mut entries(), &mut other] {
            let state = part.state().unwrap().remove(0).to_array().unwrap();
            merged.merge_batch(&[state]).unwrap();
        }
        assert_eq!(merged.evaluate().unwrap(), all.evaluate().unwrap());
        assert!(entries().evaluate().unwrap().is_null());
    }

    #[test]
    fn the_code_of_a_sentence_is_that_of_the_library() {
        let row = |word: &str, bits: u32| ibid_codes::Row {
            word: word.into(),
            code: Code::from_bytes(&bits.to_le_bytes()).unwrap(),
            frequency: 1,
        };
        let rows = vec![row("to", 0b11), row("be", 0b101)];
        let mut all = entries();
        for row in &rows {
            all.add(hash_token(&row.word), row.code.bytes(Width::W32)).unwrap();
        }
        let codes = Codes::try_new("bit_code", &ColumnarValue::Scalar(all.evaluate().unwrap())).unwrap();
        let library = ibid_codes::Codebook::try_new(Width::W32, 2, rows).unwrap();
        for sentence in [vec![], vec!["to"], vec!["be", "to", "be"], vec!["or", "not", "to"], vec!["", "書"]] {
            let mut code = [0; 4];
            sentence.iter().for_each(|word| codes.set(word, &mut code));
            assert_eq!(code, library.bit_code(&sentence).bytes(Width::W32), "{sentence:?}");
        }
    }
}
