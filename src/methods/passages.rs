use anyhow::Result;
use arrow::datatypes::Field;
use ibid_udfs::similarity::Measure;

use super::options::{Given, NamedOptions, input_of};
use super::pairs::{Pairing, pairing_options};
use super::table::{Tabular, boolean, float, int, long, text};
use super::{
    Base, Found, Input, against_option, check_ranges, check_ratio, common_options, refuse_without_effect, runs,
};
use crate::corpus::ingest::Needed;
use crate::engine::Engine;
use crate::error::Error;
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::run::{Method, Texts, twins};

impl Engine {
    /// Finds the passages that documents share, and their places.
    ///
    /// The table `passages` has a row for each pair of places: `doc_a`, `doc_b`, the place of the passage in each
    /// (`sent_a_start`, `sent_a_end`, `char_a_start`, `char_a_end`, `byte_a_start`, `byte_a_end`, and the same for `b`;
    /// ends are exclusive), `sentences`, `gaps`, `similarity`. The table `families` has the places of text that many
    /// documents share. With [`Passages::coverage`], the table `coverage` says how much of each document occurs
    /// elsewhere.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let documents = engine.sql(
    ///     "SELECT * FROM (VALUES
    ///          ('report', 'The board met on Monday. It approved the new ferry terminal by nine votes to two. Work will begin in March.'),
    ///          ('article', 'Good news! The board approved the new ferry terminal by nine votes to two. Work will begin in March.')
    ///      ) AS t(doc_id, text)").await?;
    /// let found = engine.passages(documents).min_words(10).await?;
    /// let passages = found.dataframe("passages")?.select_columns(&["doc_a", "doc_b", "char_a_start", "char_a_end"])?;
    /// datafusion::assert_batches_eq!(
    ///     [
    ///         "+---------+--------+--------------+------------+",
    ///         "| doc_a   | doc_b  | char_a_start | char_a_end |",
    ///         "+---------+--------+--------------+------------+",
    ///         "| article | report | 21           | 100        |",
    ///         "+---------+--------+--------------+------------+",
    ///     ],
    ///     &passages.collect().await?
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn passages(&self, input: impl Into<Input>) -> Passages {
        Passages {
            base: Base::new(self, input.into()),
            profile: Profile::Verbatim,
            threshold: None,
            min_words: None,
            min_sentences: 1,
            max_gap: None,
            common: Some(20),
            coverage: false,
            pairing: Pairing::default(),
        }
    }
}

/// Passages that documents share; see [`Engine::passages`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct Passages {
    pub(crate) base: Base,
    pub(crate) profile: Profile,
    pub(crate) threshold: Option<f64>,
    pub(crate) min_words: Option<u32>,
    pub(crate) min_sentences: u32,
    pub(crate) max_gap: Option<u32>,
    pub(crate) common: Option<u32>,
    pub(crate) coverage: bool,
    pub(crate) pairing: Pairing,
}

common_options!(Passages);
against_option!(Passages);
pairing_options!(Passages);
runs!(Passages => Found);

/// The kind of copies to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Copies, with a word changed here and there.
    Verbatim,
    /// Copies whose words were replaced, left out, added and put in another order, too; slower.
    Edited,
}

/// A number of documents that is more than a collection can have, and whose square fits an Int64.
const MOST_DOCUMENTS: u32 = i32::MAX.unsigned_abs();

/// The largest number of words of a fingerprint, and the size of the window from which one fingerprint is sampled.
const K: i64 = 5;
const WINDOW: i64 = 8;

/// The largest number of words between two fingerprints of a run of a family, such as the title of a page in its side
/// bar.
const BRIDGE: i64 = 15;

/// The parameters of the profile edited. Shared pairs of rare words make two sentences a seed: the largest distance of
/// the words, the largest number of distinct sentences in which a pair may occur, and the least number of shared pairs.
/// The last parameter is the least length of a passage.
const EDITED: [(&str, i64); 4] = [
    ("distance", 3),
    ("max_pair_frequency", MAX_PAIR_FREQUENCY),
    ("min_overlap", MIN_OVERLAP),
    ("min_characters", 150),
];
const MAX_PAIR_FREQUENCY: i64 = 20;
const MIN_OVERLAP: i64 = 4;

/// The stages that count fingerprints, from the texts of the documents on.
const COUNTED: [Query; 5] = [
    query::UNITS_DOC_TEXTS,
    query::UNITS_SENTENCE_STARTS,
    query::COMMON_SEQUENCES,
    query::COMMON_FINGERPRINTS,
    query::COMMON_SAMPLED,
];

/// The stages from the counted fingerprints to families.
const STAGES: [Query; 10] = [
    query::COMMON_FREQUENCIES,
    query::COMMON,
    query::COMMON_PRINT_LINKS,
    query::COMMON_CLUSTERS,
    query::COMMON_RUNS,
    query::FAMILIES_SLICES,
    query::FAMILIES_MEMBERS,
    query::FAMILIES_STRETCHES,
    query::FAMILIES_PLACES,
    query::FAMILIES_IGNORED,
];

/// Returns the stages that find the text to be ignored, if there is any.
pub(super) fn ignored(is_some: bool) -> &'static [Query] {
    if is_some { &[query::IGNORED_SEQUENCES, query::IGNORED] } else { &[query::IGNORED_NONE] }
}

/// The stages from places to the further tables.
const FAMILIES: [Query; 1] = [query::FAMILIES];
const COVERAGE: [Query; 2] = [query::COVERED, query::COVERAGE];

impl Passages {
    /// Sets what to look for. Default: [`Profile::Verbatim`].
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets the least similarity of the two sides of a passage, above 0 and up to 1: the cosine of their word counts,
    /// in which words that are rare in their documents weigh more. For the profile edited it is the similarity of two
    /// sentences. Default: 0.8, and 0.25 for edited.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Sets the least number of words that both sides of a passage have, from 1 to 10,000, for the profile verbatim. Default: 15.
    pub fn min_words(mut self, words: u32) -> Self {
        self.min_words = Some(words);
        self
    }

    /// Sets the least number of sentences that a passage touches on both sides, 1 or more. For the profile edited, only
    /// sentences that match count. Default: 1.
    pub fn min_sentences(mut self, sentences: u32) -> Self {
        self.min_sentences = sentences;
        self
    }

    /// Sets how many sentences a passage may skip on either side between two that match, up to 1000, for the profile edited. Default: 4.
    pub fn max_gap(mut self, sentences: u32) -> Self {
        self.max_gap = Some(sentences);
        self
    }

    /// Sets the largest number of documents in which text may occur to make passages, 1 or more. Text in more documents
    /// is common: it makes families. `None` makes no text common. Default: 20.
    pub fn common(mut self, documents: impl Into<Option<u32>>) -> Self {
        self.common = documents.into();
        self
    }

    /// Ignores the text of these documents, such as a form or a licence, for the profile verbatim. Such text makes no
    /// passage, and makes families in however few documents it occurs. The documents are not part of the collection.
    /// Default: none.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let form = "I hereby apply for a place in the garden of the city and have read the rules that hold there.";
    /// let sent = engine.sql(&format!("SELECT id, '{form} ' || id AS text FROM (VALUES ('Ann'), ('Bob')) AS t(id)")).await?;
    /// let form = engine.sql(&format!("SELECT 'form' AS id, '{form}' AS text")).await?;
    /// let found = engine.passages(sent).ignore(form).await?;
    /// assert_eq!(found.dataframe("passages")?.count().await?, 0);
    /// assert_eq!(found.dataframe("families")?.count().await?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ignore(mut self, documents: impl Into<Input>) -> Self {
        self.base.ignored = Some(documents.into());
        self
    }

    /// Makes the table `coverage`, too: `doc_id`, `characters`, `in_passages`, `in_families`, `reused`, `closest`,
    /// `shared_with_closest`. Default: no.
    pub fn coverage(mut self, makes: bool) -> Self {
        self.coverage = makes;
        self
    }

    /// Returns the SQL that would run, as a script for `ibid sql`.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for options that do not go together, and for an input that is no file.
    pub fn show_sql(&self) -> Result<String, Error> {
        let method = self.method()?;
        Ok(self
            .base
            .places()?
            .compared(method.needed)
            .script(&[(method.parameters.clone(), method.stages())], self.base.engine.stores())?)
    }

    async fn run(self) -> Result<Found> {
        Found::of_method(&self.base, self.method()?).await
    }

    /// Fails if an option has an invalid value, or no effect.
    fn check(&self) -> Result<()> {
        let edited = self.profile == Profile::Edited;
        refuse_without_effect(&[
            ("min_words", self.min_words.is_some(), !edited),
            ("max_gap", self.max_gap.is_some(), edited),
            ("ignore", self.base.ignored.is_some(), !edited),
        ])?;
        check_ratio("threshold", self.threshold.unwrap_or(1.0))?;
        check_ranges(&[
            ("min_words", self.min_words.map(u64::from), 1, 10_000),
            ("min_sentences", Some(self.min_sentences.into()), 1, u64::MAX),
            ("max_gap", self.max_gap.map(u64::from), 0, 1000),
            ("common", self.common.map(u64::from), 1, MOST_DOCUMENTS.into()),
            ("max_pairs", Some(self.pairing.max_pairs), 1, u64::MAX),
        ])
    }

    /// Returns the largest number of documents in which text is not common yet.
    fn most_common(&self) -> u32 {
        self.common.unwrap_or(MOST_DOCUMENTS)
    }

    /// Returns the stages and parameters that the options ask for.
    pub(crate) fn method(&self) -> Result<Method> {
        self.check()?;
        let edited = self.profile == Profile::Edited;
        let texts = Texts {
            unit: ("sentences", query::UNITS_SENTENCES),
            signature: query::SIGNATURES_SKIP_BIGRAMS,
            links: query::EDITED_LINKS,
            #[expect(clippy::cast_precision_loss, reason = "4")]
            join: (Measure::Overlap, MIN_OVERLAP as f64),
            in_texts: &[("max_pair_frequency", MAX_PAIR_FREQUENCY)],
            limit: ("common", self.most_common()),
        };
        let mut method = Method {
            name: "passages",
            parameters: self.parameters(),
            needed: Needed::DocumentsAndSentences,
            before: Vec::new(),
            estimate: (query::PASSAGES_ESTIMATE, "lower `common`, so that more text makes families"),
            pairs: Vec::new(),
            max_pairs: self.pairing.max_pairs,
            tables: vec![("families", &FAMILIES)],
            texts: edited.then_some(texts),
            counts: vec![("documents", query::UNITS_DOCS)],
            result: "passages",
            summed: Some((query::FAMILIES_SUMS, ["families", "documents in families", "characters in families"])),
            fate: None,
        };
        let located = [query::PASSAGES_PLACES, query::FAMILIES_LOCATED];
        let ignored = ignored(self.base.ignored.is_some());
        let families = COUNTED.iter().chain(ignored).chain(&STAGES);
        if edited {
            method.before = texts.stages(self.base.against.is_some());
            method.estimate = (query::TEXTS_ESTIMATE, method.estimate.1);
            method.pairs.extend(families);
            method.pairs.extend([
                self.pairing.unit_pairs(),
                query::EDITED_SEEDS,
                query::EDITED_PLACED,
                query::EDITED_PARTS,
            ]);
            method.pairs.extend(located);
            method.counts.extend([
                ("sentences", texts.signature),
                ("distinct texts", query::TEXTS),
                ("document pairs", query::EDITED_SEEDS),
            ]);
            method.fate = Some("they start no passage, and only extend passages that others start");
        } else {
            method.before.extend([query::UNITS_DOCS, twins(self.base.against.is_some())]);
            method.before.extend(families);
            method.pairs.extend([
                query::PASSAGES_SEEDS,
                query::PASSAGES_MARKED,
                query::PASSAGES_RUNS,
                query::PASSAGES_PARTS,
            ]);
            method.pairs.extend(located);
            method.pairs.push(query::PASSAGES_PLACED);
            if self.base.ignored.is_some() {
                method.counts.push(("ignored documents", query::IGNORED_SEQUENCES));
            }
            method.counts.push(("document pairs", query::PASSAGES_SEEDS));
        }
        if self.coverage {
            method.tables.push(("coverage", &COVERAGE));
        }
        method.pairs.push(query::PASSAGES);
        Ok(method)
    }

    fn parameters(&self) -> Parameters {
        let edited = self.profile == Profile::Edited;
        let mut parameters = Parameters::default();
        self.pairing.set(&mut parameters, self.base.against.is_some());
        let min_words = i64::from(self.min_words.unwrap_or(15));
        // Every run of one and a half times `min_words` words has a sampled fingerprint.
        let k = K.min(min_words);
        let window = WINDOW.min(min_words * 3 / 2 - k + 1);
        parameters.set("common", i64::from(self.most_common()));
        let family_columns = self.family_fields();
        let family_columns = family_columns.iter().map(|field| Literal::column(field.name()));
        parameters.set("family_columns", Literal::joined(family_columns, ", "));
        parameters.set("k", k);
        parameters.set("window", window);
        parameters.set("bridge", BRIDGE);
        parameters.set("margin", k + window - 2);
        parameters.set("min_words", min_words);
        parameters.set("min_sentences", i64::from(self.min_sentences));
        // The similarity is between two sentences, or between the two sides of a passage.
        let (name, least) = if edited { ("threshold", 0.25) } else { ("similarity", 0.8) };
        parameters.set(name, self.threshold.unwrap_or(least));
        if edited {
            EDITED.iter().for_each(|(name, value)| parameters.set(name, *value));
            parameters.set("max_frequency", i64::from(self.most_common()));
            parameters.set("max_gap", i64::from(self.max_gap.unwrap_or(4)));
        }
        parameters
    }
}

impl NamedOptions for Passages {
    const NAMES: &'static [&'static str] = &[
        "profile",
        "threshold",
        "min_words",
        "min_sentences",
        "max_gap",
        "common",
        "ignore",
        "against",
        "same_ids",
        "within_documents",
        "max_pairs",
    ];

    fn set_own(&mut self, given: Given<'_>) -> Result<()> {
        match given.name {
            "profile" => {
                self.profile = given.choice(&[("verbatim", Profile::Verbatim), ("edited", Profile::Edited)])?;
            }
            "threshold" => self.threshold = Some(given.number()?),
            "min_words" => self.min_words = Some(given.number()?),
            "min_sentences" => self.min_sentences = given.number()?,
            "max_gap" => self.max_gap = Some(given.number()?),
            "common" if given.text()? == "none" => self.common = None,
            "common" => self.common = Some(given.number()?),
            "ignore" => self.base.ignored = Some(input_of(given)?),
            "against" => self.base.against = Some(input_of(given)?),
            "same_ids" => self.base.same_ids = given.flag()?,
            _ => self.pairing.set_option(given)?,
        }
        Ok(())
    }
}

impl Tabular for Passages {
    fn schema(&self, table: &str) -> Result<Vec<Field>> {
        Ok(match table {
            "families" => self.family_fields(),
            "coverage" => {
                let counts = ["characters", "in_passages", "in_families", "reused"].map(long);
                [&[text("doc_id")], &counts[..], &[text("closest"), long("shared_with_closest")]].concat()
            }
            _ => [vec![text("doc_a"), text("doc_b")], passage_fields()].concat(),
        })
    }
}

impl Passages {
    /// Returns the columns of families.
    fn family_fields(&self) -> Vec<Field> {
        let numbers = ["sent_start", "sent_end", "char_start", "char_end", "byte_start", "byte_end"].map(int);
        let said = [long("documents"), boolean("representative"), float("similarity"), boolean("ignored")];
        let collection = self.base.against.iter().map(|_| text("collection"));
        [text("family_id"), text("doc_id")].into_iter().chain(numbers).chain(said).chain(collection).collect()
    }
}

/// Returns the columns of the places of a passage in two documents, and of its similarity.
pub(super) fn passage_fields() -> Vec<Field> {
    let places = ["sent", "char", "byte"]
        .into_iter()
        .flat_map(|unit| ["a_start", "a_end", "b_start", "b_end"].map(|place| int(&format!("{unit}_{place}"))));
    places.chain([int("sentences"), int("gaps"), float("similarity")]).collect()
}
