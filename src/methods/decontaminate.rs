//! Documents without the items of an evaluation.

use anyhow::Result;
use arrow::datatypes::{Field, Schema};
use serde_json::{Value, json};

use super::found::Beside;
use super::kept::{self, Cuts, Shape, shape_options};
use super::options::{Given, NamedOptions, input_of};
use super::signature::Signature;
use super::table::{Tabular, float, int, long, text};
use super::threads::Readable;
use super::{
    Base, Collections, FEWER_MATCHES, Found, Input, check_ranges, check_ratio, common_options, name_of,
    refuse_more_matches, refuse_without_effect, runs,
};
use crate::corpus;
use crate::corpus::ingest::Needed;
use crate::engine::Engine;
use crate::error::Error;
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::run::{Compared, Run};

impl Engine {
    /// Removes text that contains an item of an evaluation, such as a question of a benchmark: whole documents, or the
    /// passages that contain it.
    ///
    /// The table `kept` has the kept documents, in the order and with the columns of the input. `hits` says which
    /// documents contain which item, and where: `id`, `item_id`, `rule` (`whole`: all words of the item in a row;
    /// `run`: a run of them; `contained`), `words` (of the run), `share` (of the item), `items` (the number of items
    /// with the same text, of which the first is named), `char_start`, `char_end`, `byte_start`, `byte_end` (in the
    /// document), `item_char_start`, `item_char_end`. The table `items` says how many `words` each item has, whether it
    /// was looked for (`is_tested`), in how many `documents` it was found (at least), and which `share` of it was
    /// found.
    ///
    /// Nothing is capped, and text that very many items or documents have costs no more than other text.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let train = engine.sql(
    ///     "SELECT * FROM (VALUES
    ///          ('a', 'A farm has 12 hens and each hen lays 4 eggs a week: how many eggs are laid in a year of 52 weeks? I say 2496.'),
    ///          ('b', 'Hens lay eggs.')) AS t(id, text)")
    ///     .await?;
    /// let items = engine.sql(
    ///     "SELECT 'q1' AS id, 'A farm has 12 hens, and each hen lays 4 eggs a week. How many eggs are laid in a year of 52 weeks?' AS text")
    ///     .await?;
    /// let found = engine.decontaminate(train, items).await?;
    /// let hits = found.dataframe("hits")?.select_columns(&["id", "item_id", "rule", "char_start", "char_end"])?.collect().await?;
    /// datafusion::assert_batches_eq!(
    ///     [
    ///         "+----+---------+-------+------------+----------+",
    ///         "| id | item_id | rule  | char_start | char_end |",
    ///         "+----+---------+-------+------------+----------+",
    ///         "| a  | q1      | whole | 0          | 97       |",
    ///         "+----+---------+-------+------------+----------+",
    ///     ],
    ///     &hits
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decontaminate(&self, input: impl Into<Input>, items: impl Into<Input>) -> Decontaminate {
        let mut base = Base::new(self, input.into());
        base.against = Some(items.into());
        Decontaminate {
            base,
            item_columns: Vec::new(),
            item_id_column: None,
            unit: Leaving::Document,
            by: Overlap::Words,
            words: None,
            min_words: None,
            signature: None,
            threshold: None,
            max_pairs: 50_000_000,
            shape: Shape::default(),
        }
    }
}

/// Documents without the items of an evaluation; see [`Engine::decontaminate`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct Decontaminate {
    base: Base,
    item_columns: Vec<String>,
    item_id_column: Option<String>,
    unit: Leaving,
    by: Overlap,
    words: Option<u32>,
    min_words: Option<u32>,
    signature: Option<Signature>,
    threshold: Option<f64>,
    max_pairs: u64,
    shape: Shape,
}

common_options!(Decontaminate);
shape_options!(Decontaminate);
runs!(Decontaminate => Found);

/// The parts of documents that are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    /// Whole documents.
    Document,
    /// The passages that a document and an item have in common, which are cut out of its text.
    Passage,
}

/// The measure by which a document contains an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// A run of words of the item occurs in the document.
    Words,
    /// A share of the item's set is in the document's set.
    Containment,
}

/// The default number of words of a run (Brown et al. 2020, appendix C).
const WORDS: u32 = 13;

/// The default least number of words of an item.
const MIN_WORDS: u32 = 3;

/// The default threshold.
const THRESHOLD: f64 = 0.8;

/// The number of words of the runs that locate an item in a document that contains it.
const LOCATING: u32 = 5;

/// The files and folders that a folder of results may have.
pub const FILES: [&str; 4] = ["kept/", "hits.parquet", "items.parquet", "summary.json"];

impl Decontaminate {
    /// Names the columns of the text of the items, such as `question` and `answer`. The texts of several columns are
    /// put one under the other. Default: the text column of the documents.
    pub fn item_columns<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.item_columns = names.into_iter().map(Into::into).collect();
        self
    }

    /// Names the column that holds the id of an item; an empty name numbers them. Default: as for documents.
    pub fn item_id_column(mut self, name: impl Into<String>) -> Self {
        self.item_id_column = Some(name.into());
        self
    }

    /// Sets what is removed. Default: documents.
    pub fn unit(mut self, unit: Leaving) -> Self {
        self.unit = unit;
        self
    }

    /// Sets the measure by which a document contains an item. Default: [`Overlap::Words`].
    pub fn by(mut self, measure: Overlap) -> Self {
        self.by = measure;
        self
    }

    /// Sets how many words of an item in a row a document must have, from 1 to 1000, for [`Overlap::Words`]; an item
    /// with fewer words must occur as a whole. Default: 13.
    pub fn words(mut self, words: u32) -> Self {
        self.words = Some(words);
        self
    }

    /// Sets how many words an item must have to be looked for, from 1 to `words`, for [`Overlap::Words`]: one or two
    /// words, such as an answer alone, occur in very many documents. Default: 3, or `words` if that is less.
    pub fn min_words(mut self, words: u32) -> Self {
        self.min_words = Some(words);
        self
    }

    /// Sets how a text becomes a set, for [`Overlap::Containment`]. Default: `shingles:5`.
    pub fn signature(mut self, signature: Signature) -> Self {
        self.signature = Some(signature);
        self
    }

    /// Sets which share of an item a document must have, above 0 and up to 1, for [`Overlap::Containment`]. Default: 0.8.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Limits the pairs of distinct texts of which one contains the other, for [`Overlap::Containment`]; more are an error. Default: 50,000,000.
    pub fn max_pairs(mut self, pairs: u64) -> Self {
        self.max_pairs = pairs;
        self
    }

    /// Returns the SQL that would run, as a script for `ibid sql`. The script does not write the kept documents.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for options that do not go together, and for an input that is no file.
    pub fn show_sql(&self) -> Result<String, Error> {
        self.check()?;
        let stages =
            [&[query::UNITS_DOCS, query::KEPT_NUMBERED], &self.stages()[1..], &[query::DECONTAMINATE_HITS_ROWS]];
        Ok(self
            .compared(&self.base.places()?)
            .script(&[(self.parameters(), stages.concat())], self.base.engine.stores())?)
    }

    fn check(&self) -> Result<()> {
        let has_sets = self.by == Overlap::Containment;
        refuse_without_effect(&[
            ("words", self.words.is_some(), !has_sets),
            ("min_words", self.min_words.is_some(), !has_sets),
            ("signature", self.signature.is_some(), has_sets),
            ("threshold", self.threshold.is_some(), has_sets),
        ])?;
        check_ratio("threshold", self.least())?;
        self.shape.check(true)?;
        let [words, min_words] = [self.words, self.min_words].map(|words| words.map(u64::from));
        check_ranges(&[
            ("words", words, 1, 1000),
            ("min_words", min_words, 1, u64::from(self.run_words())),
            ("max_pairs", Some(self.max_pairs), 1, u64::MAX),
        ])
    }

    async fn run(self) -> Result<Found> {
        self.check()?;
        let (mut run, collections) = self.base.begin().await?;
        let check = |table: &str, schema: &Schema| {
            let columns = if table == "documents" { &[] } else { self.item_columns.as_slice() };
            columns.iter().try_for_each(|column| Readable::AS_TEXT.check(table, schema, "`item_column`", column))
        };
        run.open_checked(&self.compared(&collections), check).await?;
        kept::number(&run).await?;
        run.workspace.parameters = self.parameters();
        run.workspace.run_all(&self.stages()).await?;
        refuse_more_matches(run.workspace.rows_of(query::CONTAINED_DOCUMENTS), self.max_pairs, FEWER_MATCHES)?;
        let without_text = "items have none of the columns of their text, and were not looked for";
        let left_out = run.list(query::DECONTAMINATE_WITHOUT_TEXT, without_text).await?;
        run.leave_out(left_out);
        run.list(query::DECONTAMINATE_UNTESTED, &self.untested()).await?;

        let cuts = self.cuts(&mut run).await?;
        let kept = self.shape.kept(&mut run, cuts, query::DECONTAMINATE_ANNOTATED).await?;
        let mut tables = vec![("kept", kept)];
        for (name, rows) in [("hits", query::DECONTAMINATE_HITS_ROWS), ("items", query::DECONTAMINATE_ITEMS_ROWS)] {
            tables.push((name, run.rows(rows).await?));
        }
        let [documents, items] = run.numbers(query::DECONTAMINATE_COUNTS).await?;
        let [all, all_items] = run.count("documents").await?;
        let counts =
            vec![("documents", all), ("items", all_items), ("items found", items), ("documents with items", documents)];
        let summary = run.summary_of(counts, None);
        let counted_at = summary.counts.len();
        let mut found = Found::new(run, "decontaminate", tables, summary, counted_at);
        found.beside = Some(Beside::new(&found.summary, "decontaminate", self.options(), self.shape, &FILES));
        Ok(found)
    }

    /// Returns what is removed. Also removes documents that have a run of an item where text was joined by cutting
    /// passages out.
    async fn cuts(&self, run: &mut Run) -> Result<Cuts> {
        if self.unit == Leaving::Document {
            return kept::cuts(run, &[query::DECONTAMINATE_CUTS_DOCUMENTS]).await;
        }
        let of_passages = [query::DECONTAMINATE_CUTS_UNPLACED, query::DECONTAMINATE_CUTS_PASSAGES];
        let mut cuts = kept::cuts(run, &of_passages).await?;
        if self.by == Overlap::Words && !self.shape.annotates {
            kept::register_remaining(run, cuts.clone()).await?;
            kept::add_cuts(run, &mut cuts, query::DECONTAMINATE_AGAIN).await?;
        }
        Ok(cuts)
    }

    /// Returns the note on items that are not looked for.
    fn untested(&self) -> String {
        let sets = if self.by == Overlap::Containment { "no set or " } else { "" };
        format!("items have {sets}fewer than {} words, and were not looked for", self.least_words())
    }

    fn options(&self) -> Value {
        let has_sets = self.by == Overlap::Containment;
        json!({
            "unit": name_of(&Leaving::NAMES, self.unit),
            "by": name_of(&Overlap::NAMES, self.by),
            "words": (!has_sets).then(|| self.run_words()),
            "min_words": (!has_sets).then(|| self.least_words()),
            "signature": has_sets.then(|| self.signature_of_sets().spec()),
            "threshold": has_sets.then(|| self.least()),
            "item_column": self.item_columns,
            "item_id_column": self.item_id_column,
        })
    }

    fn run_words(&self) -> u32 {
        match self.by {
            Overlap::Words => self.words.unwrap_or(WORDS),
            Overlap::Containment => LOCATING,
        }
    }

    fn least_words(&self) -> u32 {
        match self.by {
            Overlap::Words => self.min_words.unwrap_or(MIN_WORDS).min(self.run_words()),
            Overlap::Containment => self.signature_of_sets().words_of_element(),
        }
    }

    fn least(&self) -> f64 {
        self.threshold.unwrap_or(THRESHOLD)
    }

    fn signature_of_sets(&self) -> Signature {
        self.signature.clone().unwrap_or(Signature::SHINGLES_5)
    }

    /// Returns the collections with the options for reading them. Items may have their text in columns of their own.
    fn compared<'a>(&self, collections: &'a Collections) -> Compared<'a> {
        let compared = collections.compared(Needed::Documents);
        let mut reading = compared.reading.clone();
        if let Some(column) = &self.item_id_column {
            reading.id_column = Some(column.clone());
        }
        if !self.item_columns.is_empty() {
            let reads_text = self.item_columns.iter().any(|column| column == "text");
            let text_column = (!reads_text).then(String::new);
            reading = corpus::Options { text_is_optional: true, text_column, ..reading };
        }
        Compared { against_reading: Some(reading), ..compared }
    }

    fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::default();
        if self.by == Overlap::Containment {
            self.signature_of_sets().set(&mut parameters);
        }
        parameters.set("against", true);
        parameters.set("texts", Literal::column("compared_texts"));
        parameters.set("add", false);
        parameters.set("least", self.least());
        parameters.set("words", i64::from(self.run_words()));
        parameters.set("min_words", i64::from(self.least_words()));
        let columns: Vec<_> = self.item_columns.iter().map(|column| Literal::column(column)).collect();
        let columns = if columns.is_empty() { vec![Literal::column("text")] } else { columns };
        let texts = columns.into_iter().map(|column| column.within("CAST(", " AS VARCHAR)"));
        parameters.set("columns", Literal::joined(texts, ", "));
        parameters
    }

    /// Returns the stages from the documents to the items that they contain. The documents must be numbered before.
    fn stages(&self) -> Vec<Query> {
        let mut stages =
            vec![query::UNITS_DOCS, query::KEPT_POSITIONS, query::DECONTAMINATE_TEXTS, query::DECONTAMINATE_ITEMS];
        let searched = match self.by {
            Overlap::Words => query::DECONTAMINATE_SEARCHED,
            Overlap::Containment => {
                stages.push(query::DECONTAMINATE_UNITS);
                stages.push(self.signature_of_sets().query);
                stages.extend([query::TEXTS, query::TEXTS_OCCURRENCES, query::CONTAINED_DOCUMENTS]);
                stages.push(query::DECONTAMINATE_SCORES);
                query::DECONTAMINATE_SEARCHED_CONTAINERS
            }
        };
        stages.extend([query::DECONTAMINATE_GRAMS, searched, query::DECONTAMINATE_MET]);
        stages.extend(match self.by {
            Overlap::Words => {
                vec![query::DECONTAMINATE_OWNED, query::DECONTAMINATE_STRETCHED, query::DECONTAMINATE_DIAGONALS]
            }
            Overlap::Containment => {
                vec![query::DECONTAMINATE_STRETCHED_CONTAINED, query::DECONTAMINATE_DIAGONALS_CONTAINED]
            }
        });
        stages.extend([query::DECONTAMINATE_RUNS, query::DECONTAMINATE_STRETCHES, query::DECONTAMINATE_PARTS]);
        stages.push(query::KEPT_PLACES);
        stages.extend(match self.by {
            Overlap::Words => [query::DECONTAMINATE_HITS, query::DECONTAMINATE_TESTED],
            Overlap::Containment => [query::DECONTAMINATE_HITS_CONTAINED, query::DECONTAMINATE_TESTED_CONTAINED],
        });
        stages.push(query::DECONTAMINATE_PLACED);
        stages
    }
}

impl NamedOptions for Decontaminate {
    const NAMES: &'static [&'static str] = &[
        "against",
        "item_column",
        "item_id_column",
        "unit",
        "by",
        "words",
        "min_words",
        "signature",
        "threshold",
        "max_pairs",
        "format",
        "rows_per_file",
        "ids_only",
        "annotate",
    ];

    fn set_own(&mut self, given: Given<'_>) -> Result<()> {
        match given.name {
            "against" => self.base.against = Some(input_of(given)?),
            "item_column" => {
                let names = given.values.iter().flat_map(|names| names.split(','));
                self.item_columns = names.map(str::to_owned).collect();
            }
            "item_id_column" => self.item_id_column = Some(given.text()?),
            "unit" => self.unit = given.choice(&Leaving::NAMES)?,
            "by" => self.by = given.choice(&Overlap::NAMES)?,
            "words" => self.words = Some(given.number()?),
            "min_words" => self.min_words = Some(given.number()?),
            "signature" => self.signature = Some(given.parsed()?),
            "threshold" => self.threshold = Some(given.number()?),
            "max_pairs" => self.max_pairs = given.number()?,
            _ => self.shape.set_option(given)?,
        }
        Ok(())
    }
}

impl Leaving {
    const NAMES: [(&str, Self); 2] = [("document", Self::Document), ("passage", Self::Passage)];
}

impl Overlap {
    const NAMES: [(&str, Self); 2] = [("words", Self::Words), ("containment", Self::Containment)];
}

impl Tabular for Decontaminate {
    fn schema(&self, _: &str) -> Result<Vec<Field>> {
        Ok(vec![
            text("id"),
            text("item_id"),
            text("rule"),
            int("words"),
            float("share"),
            long("items"),
            int("char_start"),
            int("char_end"),
            int("byte_start"),
            int("byte_end"),
            int("item_char_start"),
            int("item_char_end"),
        ])
    }
}
