//! JSON lines, in which each row has all columns.

use std::io::Write;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float16Type, Float32Type, Float64Type};
use arrow::error::ArrowError;
use arrow::json::writer::{
    Encoder, EncoderFactory, EncoderOptions, LineDelimited, NullableEncoder, Writer, WriterBuilder, make_encoder,
};
use serde::de::IgnoredAny;

/// The key in the metadata of a field whose text is JSON.
const JSON: &str = "ibid.json";

/// Returns the field with the note that its text is JSON.
pub(crate) fn noted_as_json(field: Field) -> Field {
    field.with_metadata([(JSON.to_owned(), String::new())].into())
}

/// Returns a writer of one line per row, with `null` for NULL, and with text for the numbers that JSON does not have.
/// Text with the note that it is JSON is written as it is.
pub(super) fn lines<W: Write>(to: W) -> Writer<W, LineDelimited> {
    WriterBuilder::new().with_explicit_nulls(true).with_encoder_factory(Arc::new(Values)).build(to)
}

/// A factory of encoders for floats that are not finite, and for text that is JSON.
#[derive(Debug)]
struct Values;

impl EncoderFactory for Values {
    fn make_default_encoder<'a>(
        &self,
        field: &'a FieldRef,
        array: &'a dyn Array,
        _: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        static DEFAULT: LazyLock<EncoderOptions> = LazyLock::new(EncoderOptions::default);
        if field.metadata().contains_key(JSON) && array.data_type().is_string() {
            let (texts, as_text) = (cast(array, &DataType::Utf8View)?, make_encoder(field, array, &DEFAULT)?);
            return Ok(Some(NullableEncoder::new(Box::new(Json { texts, as_text }), array.nulls().cloned())));
        }
        let values: Vec<f64> = match array.data_type() {
            DataType::Float16 => array.as_primitive::<Float16Type>().values().iter().map(|n| n.to_f64()).collect(),
            DataType::Float32 => array.as_primitive::<Float32Type>().values().iter().map(|n| f64::from(*n)).collect(),
            DataType::Float64 => array.as_primitive::<Float64Type>().values().to_vec(),
            _ => return Ok(None),
        };
        if values.iter().all(|value| value.is_finite()) {
            return Ok(None);
        }
        let finite = make_encoder(field, array, &DEFAULT)?;
        Ok(Some(NullableEncoder::new(Box::new(AnyFloat { values, finite }), array.nulls().cloned())))
    }
}

/// Floats, some of which are not finite.
struct AnyFloat<'a> {
    values: Vec<f64>,
    finite: NullableEncoder<'a>,
}

impl Encoder for AnyFloat<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        match self.values[row] {
            value if value.is_finite() => self.finite.encode(row, out),
            value if value.is_nan() => out.extend_from_slice(b"\"NaN\""),
            value if value > 0.0 => out.extend_from_slice(b"\"Infinity\""),
            _ => out.extend_from_slice(b"\"-Infinity\""),
        }
    }
}

/// Texts that are lists or objects of JSON.
struct Json<'a> {
    texts: ArrayRef,
    as_text: NullableEncoder<'a>,
}

impl Encoder for Json<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let text = self.texts.as_string_view().value(row);
        if serde_json::from_str::<IgnoredAny>(text).is_err() {
            return self.as_text.encode(row, out);
        }
        // JSON has line breaks only between values.
        out.extend(text.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }));
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Float32Array, Float64Array, ListArray, RecordBatch, StringArray};
    use arrow::datatypes::Schema;

    use super::*;

    #[test]
    fn text_that_is_json_is_written_as_it_is_and_other_text_is_quoted() {
        let fields = [noted_as_json(Field::new("a", DataType::Utf8, true)), Field::new("b", DataType::Utf8, true)];
        let values = StringArray::from(vec![Some("{\"k\": [1,\n1e2]}"), Some("[\"x\"]"), Some("{"), None]);
        let columns: Vec<ArrayRef> = vec![Arc::new(values.clone()), Arc::new(values)];
        let mut out = Vec::new();
        let mut writer = lines(&mut out);
        writer.write(&RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), columns).unwrap()).unwrap();
        writer.finish().unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"a\":{\"k\": [1, 1e2]},\"b\":\"{\\\"k\\\": [1,\\n1e2]}\"}\n\
             {\"a\":[\"x\"],\"b\":\"[\\\"x\\\"]\"}\n\
             {\"a\":\"{\",\"b\":\"{\"}\n\
             {\"a\":null,\"b\":null}\n"
        );
    }

    #[test]
    fn rows_have_all_columns_and_all_numbers() {
        let floats = [Some(0.5), None, Some(f64::NAN), Some(f64::INFINITY), Some(f64::NEG_INFINITY)];
        let lists = [Some(vec![Some(1.5_f32), Some(f32::NAN), None]), None, Some(vec![]), None, None];
        let columns: [(&str, ArrayRef); 3] = [
            ("a", Arc::new(Float64Array::from_iter(floats))),
            ("b", Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(lists))),
            ("c", Arc::new(Float32Array::from_iter_values([0.1, 1.0, 2.0, 3.0, 1e30]))),
        ];
        let mut out = Vec::new();
        let mut writer = lines(&mut out);
        writer.write(&RecordBatch::try_from_iter(columns).unwrap()).unwrap();
        writer.finish().unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"a\":0.5,\"b\":[1.5,\"NaN\",null],\"c\":0.1}\n\
             {\"a\":null,\"b\":null,\"c\":1.0}\n\
             {\"a\":\"NaN\",\"b\":[],\"c\":2.0}\n\
             {\"a\":\"Infinity\",\"b\":null,\"c\":3.0}\n\
             {\"a\":\"-Infinity\",\"b\":null,\"c\":1.0e30}\n"
        );
    }
}
