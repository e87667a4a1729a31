use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Result;
use arrow::array::{AsArray, RecordBatch, StringArray};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use datafusion::dataframe::DataFrame;
use datafusion::prelude::{col, lit, when};

use super::Found;
use crate::error::Error;

/// The columns of a table that give a place in a document.
struct Place {
    id: &'static str,
    /// The columns of the start and the end of the place in characters, and of the number of its sentence, if the table
    /// has them.
    start: &'static str,
    end: &'static str,
    sentence: &'static str,
    /// The column of the text of the place.
    text: &'static str,
    /// True if the document is in the other collection, if there is one.
    is_other: bool,
}

#[rustfmt::skip]
const PLACES: [Place; 10] = [
    Place { id: "doc_a", start: "char_a_start", end: "char_a_end", sentence: "", text: "text_a", is_other: false },
    Place { id: "doc_b", start: "char_b_start", end: "char_b_end", sentence: "", text: "text_b", is_other: true },
    Place { id: "id_a", start: "", end: "", sentence: "sent_a", text: "text_a", is_other: false },
    Place { id: "id_b", start: "", end: "", sentence: "sent_b", text: "text_b", is_other: true },
    Place { id: "doc_id", start: "char_start", end: "char_end", sentence: "", text: "text", is_other: false },
    Place { id: "id", start: "char_start", end: "char_end", sentence: "", text: "text", is_other: false },
    Place { id: "kept_id", start: "kept_char_start", end: "kept_char_end", sentence: "", text: "kept_text", is_other: false },
    Place { id: "item_id", start: "item_char_start", end: "item_char_end", sentence: "", text: "item_text", is_other: true },
    Place { id: "contained", start: "", end: "", sentence: "", text: "contained_text", is_other: false },
    Place { id: "container", start: "", end: "", sentence: "", text: "container_text", is_other: true },
];

impl Found {
    /// Returns the first rows of a table with their texts, each cut to this many characters, in further columns:
    /// `text_a` and `text_b`, or `text`; `kept_text`, `item_text`, `contained_text`, `container_text`. It reads all ids
    /// of the documents, so it is for a few rows that people look at.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let letters = engine.sql(
    ///     "SELECT * FROM (VALUES (1, 'Dear all, the meeting is on Monday.'), (2, 'dear all, the meeting is on Monday')) AS t(id, text)")
    ///     .await?;
    /// let found = engine.pairs(letters).await?;
    /// let rows = found.excerpts("pairs", 10, 8).await?.collect().await?;
    /// datafusion::assert_batches_eq!(
    ///     [
    ///         "+------+------+------------+----------+----------+",
    ///         "| id_a | id_b | similarity | text_a   | text_b   |",
    ///         "+------+------+------------+----------+----------+",
    ///         "| 1    | 2    | 1.0        | Dear all | dear all |",
    ///         "+------+------+------------+----------+----------+",
    ///     ],
    ///     &rows
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The same as for [`Found::dataframe`], and errors of the query that makes the rows.
    pub async fn excerpts(&self, table: &str, rows: usize, characters: usize) -> Result<DataFrame, Error> {
        let rows = self.dataframe(table)?.limit(0, Some(rows))?;
        Ok(self.with_texts(rows, characters).await?)
    }

    /// Returns the rows that a dedup removed and that are least similar to the kept text, by the measure by which they
    /// match. Both texts are included, each cut to this many characters. Look at these rows before you trust a
    /// threshold. The columns are the same as for [`Found::excerpts`] of `removed`.
    ///
    /// # Errors
    ///
    /// The same as for [`Found::excerpts`].
    pub async fn least_similar(&self, rows: usize, characters: usize) -> Result<DataFrame, Error> {
        let removed = self.dataframe("removed")?;
        let matched = when(col("rule").eq(lit("contained")), col("containment")).otherwise(col("similarity"))?;
        let ordered = removed.sort(vec![matched.sort(true, false), col("id").sort(true, false)])?;
        Ok(self.with_texts(ordered.limit(0, Some(rows))?, characters).await?)
    }

    async fn with_texts(&self, rows: DataFrame, characters: usize) -> Result<DataFrame> {
        let schema = Arc::clone(rows.schema().inner());
        let batch = concat_batches(&schema, &rows.collect().await?)?;
        let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
        let mut columns = batch.columns().to_vec();
        let [_, others] = self.run.count("documents").await?;
        for place in PLACES.iter().filter(|place| batch.column_by_name(place.text).is_none()) {
            let Some(ids) = batch.column_by_name(place.id) else { continue };
            let ids = cast(ids, &DataType::Utf8)?;
            let number = |column: &str| -> Result<Vec<Option<usize>>> {
                let Some(column) = batch.column_by_name(column) else { return Ok(vec![None; batch.num_rows()]) };
                let numbers = cast(column, &DataType::Int64)?;
                Ok(numbers.as_primitive::<Int64Type>().iter().map(|number| usize::try_from(number?).ok()).collect())
            };
            let (starts, ends, sentences) = (number(place.start)?, number(place.end)?, number(place.sentence)?);
            let keys: Vec<_> = ids.as_string::<i32>().iter().zip(sentences).collect();
            let texts = self.texts_of(&keys, place.is_other && others > 0).await?;
            let cut = |((key, start), end): ((&Key<'_>, Option<usize>), Option<usize>)| {
                let start = start.unwrap_or(0);
                let length = end.map_or(usize::MAX, |end| end.saturating_sub(start)).min(characters);
                let text = texts.get(&(key.0?.to_owned(), key.1))?;
                Some(text.chars().skip(start).take(length).collect::<String>())
            };
            let texts: StringArray = keys.iter().zip(starts).zip(ends).map(cut).collect();
            fields.push(Arc::new(Field::new(place.text, DataType::Utf8, true)));
            columns.push(Arc::new(texts));
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?;
        Ok(self.run.workspace.session.read_batch(batch)?)
    }

    /// Returns the texts of documents, or of sentences if the keys have numbers, by their ids and numbers.
    async fn texts_of(&self, keys: &[Key<'_>], is_other: bool) -> Result<HashMap<(String, Option<usize>), String>> {
        let session = &self.run.workspace.session;
        let is_of_sentences = keys.iter().any(|(_, sentence)| sentence.is_some());
        let table = if is_of_sentences { "sentences" } else { "documents" };
        let table = format!("{}{table}", if is_other { "against_" } else { "" });
        let wanted = keys.iter().filter_map(|(id, _)| *id).map(lit).collect();
        let rows = session.table(&table).await?.filter(col("doc_id").in_list(wanted, false))?;
        let columns = if is_of_sentences { &["doc_id", "text", "sent"][..] } else { &["doc_id", "text"] };
        let mut texts = HashMap::new();
        for batch in rows.select_columns(columns)?.collect().await? {
            let [ids, of_ids] = [0, 1].map(|column| cast(batch.column(column), &DataType::Utf8));
            let (ids, of_ids) = (ids?, of_ids?);
            let numbers = if is_of_sentences { Some(cast(batch.column(2), &DataType::Int64)?) } else { None };
            let numbers = numbers.as_ref().map(|numbers| numbers.as_primitive::<Int64Type>());
            for (row, (id, text)) in ids.as_string::<i32>().iter().zip(of_ids.as_string::<i32>()).enumerate() {
                let number = numbers.and_then(|numbers| usize::try_from(numbers.value(row)).ok());
                if let (Some(id), Some(text)) = (id, text)
                    && keys.contains(&(Some(id), number))
                {
                    texts.insert((id.to_owned(), number), text.to_owned());
                }
            }
        }
        Ok(texts)
    }
}

/// The id of a document, and the number of one of its sentences.
type Key<'a> = (Option<&'a str>, Option<usize>);
