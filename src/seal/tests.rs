use std::path::Path;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use bytes::Bytes;
use datafusion::prelude::ParquetReadOptions;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::{KeyValue, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

use super::*;
use crate::session;
use crate::store::{Verified, seal_of, verify};

/// Writes a file of numbers that compress little.
fn written(to: &Path, rows: i64, groups: usize) -> Written {
    let schema =
        Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false), Field::new("text", DataType::Utf8, false)]));
    let file = std::fs::File::create(to).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(groups));
    let mut writer = SealedWriter::try_new(file, Arc::clone(&schema), properties).unwrap();
    let mixed = |n: i64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64.cast_signed());
    for from in (0..rows).step_by(1000) {
        let numbers = arrow::array::Int64Array::from_iter_values((from..rows.min(from + 1000)).map(mixed));
        let texts = arrow::array::StringArray::from_iter_values(numbers.values().iter().map(|n| format!("{n:x}")));
        writer
            .write(&RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(numbers), Arc::new(texts)]).unwrap())
            .unwrap();
    }
    writer.close(&serde_json::json!({ "of": "numbers" })).unwrap().1
}

/// Runs a query that reads ranges of all kinds from a file.
async fn sum(path: &Path) -> datafusion::error::Result<(i64, i64)> {
    let session = session(Default::default(), Default::default()).unwrap();
    session.register_parquet("t", path.to_str().unwrap(), ParquetReadOptions::default()).await?;
    let rows = session.sql("SELECT bit_xor(n), count(DISTINCT text) FROM t").await?.collect().await?;
    let number = |i: usize| rows[0].column(i).as_primitive::<Int64Type>().value(0);
    Ok((number(0), number(1)))
}

#[test]
fn a_sealed_file_is_sound_and_says_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    for (rows, groups) in [(0, 10), (1, 10), (40_000, 7_000), (70_000, 70_000)] {
        let Written { rows: count, bytes, seal: root } = written(&path, rows, groups);
        let Verified::Sealed { seal, bytes: size } = verify(&path, &Arc::default()).unwrap() else {
            panic!("it has no seal")
        };
        assert_eq!((i64::try_from(count).unwrap(), bytes), (rows, path.metadata().unwrap().len()));
        assert_eq!((seal.rows, seal.root, size), (count, root, bytes));
        assert_eq!(seal.result, r#"{"of":"numbers"}"#);
        assert_eq!(seal_of(&path, &Arc::default()).unwrap().unwrap(), seal);
        assert_eq!(written(&path, rows, groups).seal, root, "the same rows have the same seal");
    }
    assert_ne!(written(&path, 40_000, 7_000).seal, written(&path, 40_001, 7_000).seal);
}

#[tokio::test]
async fn queries_read_a_sealed_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    for (rows, groups) in [(1_i64, 10), (40_000, 7_000), (70_000, 70_000)] {
        written(&path, rows, groups);
        let xor = (0..rows).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64.cast_signed())).fold(0, |a, b| a ^ b);
        assert_eq!(sum(&path).await.unwrap(), (xor, rows));
    }
}

#[tokio::test]
async fn a_file_that_is_replaced_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let session = session(Default::default(), Default::default()).unwrap();
    for rows in [10_000, 20_000] {
        written(&path, rows, 5_000);
        let sql = format!("SELECT count(DISTINCT n) FROM '{}'", path.display());
        let found = session.sql(&sql).await.unwrap().collect().await.unwrap();
        assert_eq!(found[0].column(0).as_primitive::<Int64Type>().value(0), rows);
    }
}

#[tokio::test]
async fn a_sealed_file_is_checked_whatever_its_name_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pq");
    written(&path, 40_000, 7_000);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[1000] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let session = session(Default::default(), Default::default()).unwrap();
    let made = format!("CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION '{}'", path.display());
    session.sql(&made).await.unwrap().collect().await.unwrap();
    let error = session.sql("SELECT bit_xor(n) FROM t").await.unwrap().collect().await.unwrap_err().to_string();
    assert!(error.contains("is not what was written"), "{error}");
}

#[test]
fn files_of_others_have_no_seal_and_are_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    for bytes in [&b""[..], b"PAR1", b"text that is no Parquet file"] {
        std::fs::write(&path, bytes).unwrap();
        assert!(matches!(verify(&path, &Arc::default()), Ok(Verified::Unsealed)), "{bytes:?}");
    }
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
    let file = std::fs::File::create(&path).unwrap();
    parquet::arrow::ArrowWriter::try_new(file, schema, None).unwrap().close().unwrap();
    assert!(matches!(verify(&path, &Arc::default()), Ok(Verified::Unsealed)));
    // A footer that cannot be read may be of any file.
    std::fs::write(&path, b"\0\0\0\0PAR1").unwrap();
    let error = format!("{:#}", verify(&path, &Arc::default()).unwrap_err());
    assert!(error.ends_with("it is no sound Parquet file: its footer is damaged"), "{error}");
}

/// Checks that wide tables have none: they took 40 KB for each column, and eight bytes more for each value, in addition
/// to the rows that are counted.
#[test]
fn a_wide_table_has_no_dictionaries() {
    for (columns, has) in [(3, true), (600, false)] {
        let schema = Arc::new(Schema::new(
            (0..columns).map(|n| Field::new(format!("c{n}"), DataType::Int64, false)).collect::<Vec<_>>(),
        ));
        let column = Arc::new(arrow::array::Int64Array::from(vec![7; 100])) as arrow::array::ArrayRef;
        let rows = RecordBatch::try_new(Arc::clone(&schema), vec![column; columns]).unwrap();
        let mut writer = SealedWriter::try_new(Vec::new(), schema, WriterProperties::builder()).unwrap();
        writer.write(&rows).unwrap();
        let (file, _) = writer.close(&serde_json::Value::Null).unwrap();
        let mut read = ParquetMetaDataReader::new();
        read.try_parse(&Bytes::from(file)).unwrap();
        let column = read.finish().unwrap().row_group(0).column(1).clone();
        assert_eq!(column.dictionary_page_offset().is_some(), has, "{columns}");
    }
}

#[test]
fn a_forged_seal_of_another_length_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, schema, None).unwrap();
    for (key, value) in [(RESULT, "{}"), (BLOCKS, "0:"), (SEAL, "abc"), ("x", "ibid.seal\u{18}\u{10}abc")] {
        writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value.to_owned()));
    }
    writer.close().unwrap();
    let error = format!("{:#}", verify(&path, &Arc::default()).unwrap_err());
    assert!(error.contains("its seal cannot be read"), "{error}");
}

#[tokio::test]
async fn a_footer_longer_than_the_file_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    std::fs::write(&path, b"PAR1\xff\xff\xff\xffPAR1").unwrap();
    for error in [verify(&path, &Arc::default()).unwrap_err().to_string(), sum(&path).await.unwrap_err().to_string()] {
        assert!(error.contains("a.parquet"), "{error}");
    }
}

#[tokio::test]
async fn a_file_cut_short_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    written(&path, 40_000, 7_000);
    let whole = std::fs::read(&path).unwrap();
    for length in [0, 1, 8, 1000, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(!matches!(verify(&path, &Arc::default()), Ok(Verified::Sealed { .. })), "{length}");
        assert!(sum(&path).await.is_err(), "{length}");
    }
}

/// Returns the number of flipped bytes that are tried.
fn flips() -> u32 {
    std::env::var("IBID_FLIPS").ok().and_then(|count| count.parse().ok()).unwrap_or(75)
}

#[test]
fn each_flipped_byte_is_found_by_verify_and_gives_a_query_no_other_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    written(&path, 40_000, 7_000);
    let whole = std::fs::read(&path).unwrap();
    let End::Sealed(seal) = Seal::of_end(&whole, whole.len() as u64).unwrap() else { panic!("it has no seal") };
    let end = usize::try_from(seal.covered).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let right = runtime.block_on(sum(&path)).unwrap();
    let anywhere = prop_oneof![0..whole.len(), end..whole.len()];
    proptest!(ProptestConfig::with_cases(flips()), |(at in anywhere, flip in 1..=255_u8)| {
        let mut bytes = whole.clone();
        bytes[at] ^= flip;
        std::fs::write(&path, &bytes).unwrap();
        prop_assert!(!matches!(verify(&path, &Arc::default()), Ok(Verified::Sealed { .. })), "verify believes byte {at}");
        // Most are errors; the others give the same rows.
        if let Ok(read) = runtime.block_on(sum(&path)) {
            prop_assert_eq!(read, right, "a query believes byte {}", at);
        }
    });
}

/// Checks the limit of nesting. Readers follow the nesting of Arrow's schema, up to a limit of their own.
#[test]
fn what_is_nested_too_deep_to_be_read_is_not_written() {
    let nested = |levels: usize| {
        let field = |kind| Arc::new(Field::new("item", kind, true));
        let kind = (0..levels).fold(DataType::Int64, |kind, level| {
            if level % 2 == 0 { DataType::List(field(kind)) } else { DataType::Struct(vec![field(kind)].into()) }
        });
        Arc::new(Schema::new(vec![Field::new("deep", kind, true)]))
    };
    let writer = |schema| SealedWriter::try_new(Vec::new(), schema, WriterProperties::builder());
    let written = writer(nested(50)).unwrap().close(&serde_json::Value::Null).unwrap().0;
    assert!(ParquetRecordBatchReaderBuilder::try_new(Bytes::from(written)).is_ok());
    let error = writer(nested(51)).err().unwrap().to_string();
    assert!(error.contains("the column deep is nested more than 50 deep"), "{error}");
}
