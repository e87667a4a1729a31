use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterPropertiesBuilder;
use xxhash_rust::xxh3::Xxh3Default;

use super::{BLOCK, BLOCKS, CREATED_BY, RESULT, Root, SEAL, UNSEALED, place_of_seal, root_of, text_of_hashes};

/// Upper bound of the number of columns with dictionaries. Each dictionary takes 40 KB before there is a value, and
/// eight bytes per value that are not counted.
const MOST_DICTIONARIES: usize = 512;

/// Upper bound of the nesting of a column: readers of the schema that Arrow puts beside Parquet's follow it no deeper.
const MOST_LEVELS: usize = 50;

/// A writer of a sealed Parquet file.
pub(crate) struct SealedWriter<W: Write + Send> {
    writer: ArrowWriter<Sealing<W>>,
    rows: u64,
}

impl<W: Write + Send> SealedWriter<W> {
    pub(crate) fn try_new(to: W, schema: SchemaRef, properties: WriterPropertiesBuilder) -> Result<Self> {
        if let Some(field) = schema.flattened_fields().iter().find(|field| is_interval(field.data_type())) {
            bail!(
                "the column {} has intervals, which Parquet cannot hold; write CAST({0} AS VARCHAR), or date_part of it",
                field.name()
            );
        }
        if let Some(field) = schema.fields().iter().find(|field| is_deeper_than(field.data_type(), MOST_LEVELS)) {
            bail!(
                "the column {} is nested more than {MOST_LEVELS} deep, and as Parquet nothing could read it; write parts of it, \
                 or CAST({0} AS VARCHAR)",
                field.name()
            );
        }
        let has_many = schema.flattened_fields().len() > MOST_DICTIONARIES;
        let properties = if has_many { properties.set_dictionary_enabled(false) } else { properties };
        let properties = properties.set_created_by(CREATED_BY.to_string()).build();
        Ok(Self { writer: ArrowWriter::try_new(Sealing::new(to), schema, Some(properties))?, rows: 0 })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        Ok(self.writer.write(batch)?)
    }

    /// Ends the row group if it takes more than `bytes` bytes of memory.
    pub(crate) fn end_group_above(&mut self, bytes: usize) -> Result<()> {
        if self.writer.in_progress_size() > bytes {
            self.writer.flush()?;
        }
        Ok(())
    }

    /// Ends the file, which `result` describes. Returns the underlying writer.
    pub(crate) fn close(mut self, result: &serde_json::Value) -> Result<(W, Written)> {
        self.writer.flush()?;
        self.writer.sync()?;
        let (covered, blocks) = self.writer.inner_mut().end_blocks();
        for (key, value) in [
            (RESULT, result.to_string()),
            (BLOCKS, format!("{covered}:{}", text_of_hashes(&blocks))),
            (SEAL, UNSEALED.to_string()),
        ] {
            self.writer.append_key_value_metadata(KeyValue { key: key.to_string(), value: Some(value) });
        }
        let (to, bytes, seal) = self.writer.into_inner()?.end()?;
        Ok((to, Written { rows: self.rows, bytes, seal }))
    }
}

/// Returns true if a type is nested more than `levels` deep.
fn is_deeper_than(kind: &DataType, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return kind.is_nested() };
    match kind {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => is_deeper_than(item.data_type(), levels),
        DataType::ListView(item) | DataType::LargeListView(item) => is_deeper_than(item.data_type(), levels),
        DataType::Struct(fields) => fields.iter().any(|field| is_deeper_than(field.data_type(), levels)),
        DataType::Dictionary(_, kind) => is_deeper_than(kind, levels),
        _ => false,
    }
}

fn is_interval(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, kind) => is_interval(kind),
        kind => matches!(kind, DataType::Interval(_)),
    }
}

/// The size and the seal of a file that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) seal: Root,
}

/// A writer that hashes the row groups as they pass, and holds back the bytes behind them.
struct Sealing<W> {
    to: W,
    bytes: u64,
    hash: Xxh3Default,
    /// The number of bytes of the current block that have passed.
    in_block: usize,
    blocks: Vec<u64>,
    end: Option<Vec<u8>>,
}

impl<W: Write> Sealing<W> {
    fn new(to: W) -> Self {
        Self { to, bytes: 0, hash: Xxh3Default::new(), in_block: 0, blocks: Vec::new(), end: None }
    }

    /// Ends the row groups. Returns their size in bytes, and the hash of each of their blocks.
    fn end_blocks(&mut self) -> (u64, Vec<u64>) {
        if self.in_block > 0 {
            self.blocks.push(self.hash.digest());
        }
        self.end = Some(Vec::new());
        (self.bytes, std::mem::take(&mut self.blocks))
    }

    /// Puts the seal in its place, and writes the bytes that were held back.
    fn end(mut self) -> Result<(W, u64, Root)> {
        let lost = "internal error: a footer without a seal; please report it";
        let mut end = self.end.take().context(lost)?;
        let place = place_of_seal(&end, UNSEALED).context(lost)?;
        let root = root_of(&mut end, UNSEALED).context(lost)?;
        end[place].copy_from_slice(root.to_string().as_bytes());
        self.to.write_all(&end)?;
        self.to.flush()?;
        Ok((self.to, self.bytes, root))
    }
}

impl<W: Write> Write for Sealing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        if let Some(end) = &mut self.end {
            end.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        self.to.write_all(bytes)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(rest.len().min(BLOCK - self.in_block));
            self.hash.update(piece);
            self.in_block += piece.len();
            if self.in_block == BLOCK {
                self.blocks.push(self.hash.digest());
                self.hash.reset();
                self.in_block = 0;
            }
            rest = more;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
