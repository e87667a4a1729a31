//! Document frequencies as a value: what `document_frequencies` returns and the I-Match functions read.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, AsArray, Int64Array, StructArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Fields, Int64Type, UInt64Type};
use datafusion_common::{Result, ScalarValue, exec_err, plan_err};
use datafusion_expr::ColumnarValue;

use super::hash_token;
use crate::arguments::{constant, one_list};

static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
    vec![
        Field::new("documents", DataType::Int64, false),
        Field::new("tokens", list(DataType::UInt64), false),
        Field::new("frequencies", list(DataType::Int64), false),
    ]
    .into()
});

/// `Struct<documents Int64, tokens List<UInt64>, frequencies List<Int64>>`, tokens ascending.
pub(super) fn frequencies_type() -> DataType {
    DataType::Struct(FIELDS.clone())
}

/// Checks the type of an argument that holds document frequencies.
pub(super) fn coerce_frequencies(function: &str, given: &DataType) -> Result<DataType> {
    match given {
        DataType::Struct(fields) if fields.iter().map(|f| f.name()).eq(FIELDS.iter().map(|f| f.name())) => {
            Ok(frequencies_type())
        }
        other => plan_err!(
            "{function} expects document frequencies, got {other}; write (SELECT document_frequencies(tokens) FROM …), or set_frequencies(set)"
        ),
    }
}

/// The value for `documents` documents and the ascending `(token, frequency)` pairs.
pub(super) fn frequencies_value(documents: i64, pairs: &[(u64, i64)]) -> Result<ScalarValue> {
    let columns = vec![
        Arc::new(Int64Array::from(vec![documents])) as ArrayRef,
        one_list(Arc::new(UInt64Array::from_iter_values(pairs.iter().map(|pair| pair.0))))?.to_array()?,
        one_list(Arc::new(Int64Array::from_iter_values(pairs.iter().map(|pair| pair.1))))?.to_array()?,
    ];
    Ok(ScalarValue::Struct(Arc::new(StructArray::try_new(FIELDS.clone(), columns, None)?)))
}

/// Document frequencies as an argument.
pub(super) struct Frequencies {
    documents: i64,
    tokens: UInt64Array,
    frequencies: Int64Array,
}

impl Frequencies {
    pub(super) fn try_new(function: &str, value: &ColumnarValue) -> Result<Self> {
        let ScalarValue::Struct(value) = constant(function, "the document frequencies", value)? else {
            return exec_err!("{function} expects document frequencies as a constant");
        };
        let list = |i: usize| value.column(i).as_list::<i32>().value(0);
        Ok(Self {
            documents: value.column(0).as_primitive::<Int64Type>().value(0),
            tokens: list(1).as_primitive::<UInt64Type>().clone(),
            frequencies: list(2).as_primitive::<Int64Type>().clone(),
        })
    }

    /// The normalised inverse document frequency log(N/df)/log(N): 0 for a token of every document, 1 for one of a
    /// single document or of none. Where there is but one document it is 1.
    pub(super) fn normalised_idf(&self, token: &str) -> f64 {
        self.normalised_idf_of_hash(hash_token(token))
    }

    /// In how many documents a token occurs; 1 if it is not listed.
    pub(super) fn of_hash(&self, token: u64) -> i64 {
        match self.tokens.values().binary_search(&token) {
            Ok(i) => self.frequencies.value(i).max(1),
            Err(_) => 1,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a collection has fewer than 2^53 documents")]
    pub(super) fn normalised_idf_of_hash(&self, token: u64) -> f64 {
        let df = self.of_hash(token);
        if self.documents <= 1 {
            return 1.0;
        }
        let n = self.documents as f64;
        (n / df as f64).ln() / n.ln()
    }
}
