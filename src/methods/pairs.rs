use anyhow::Result;
use arrow::datatypes::Field;
use ibid_udfs::similarity::Measure;

use super::options::{Given, NamedOptions, input_of};
use super::signature::Signature;
use super::table::{Tabular, float, int, text};
use super::{Base, Found, Input, against_option, check_ranges, check_ratio, common_options, runs};
use crate::corpus::ingest::Needed;
use crate::engine::Engine;
use crate::error::Error;
use crate::pipeline::query::{self, Parameters, Query};
use crate::run::{FEWER_PLACES, Method, Texts};

impl Engine {
    /// Finds pairs of similar documents, or of similar sentences.
    ///
    /// The table `pairs` has the columns `id_a`, `id_b` and `similarity`, and of sentences also `sent_a` and `sent_b`.
    /// The table `capped` has the texts that occur in too many places to make pairs.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let letters = engine.sql("SELECT * FROM (VALUES (1, 'Dear all, the meeting is on Monday.'), (2, 'Dear all, the meeting is on Friday.'))
    ///                           AS t(id, text)").await?;
    /// let found = engine.pairs(letters).signature("shingles:2".parse()?).threshold(0.5).await?;
    /// let pairs = found.dataframe("pairs")?.collect().await?;
    /// datafusion::assert_batches_eq!(
    ///     [
    ///         "+------+------+--------------------+",
    ///         "| id_a | id_b | similarity         |",
    ///         "+------+------+--------------------+",
    ///         "| 1    | 2    | 0.7142857142857143 |",
    ///         "+------+------+--------------------+",
    ///     ],
    ///     &pairs
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pairs(&self, input: impl Into<Input>) -> Pairs {
        Pairs {
            base: Base::new(self, input.into()),
            unit: Unit::Document,
            signature: Signature::SHINGLES_3,
            threshold: 0.8,
            pairing: Pairing::default(),
            max_frequency: 1000,
        }
    }
}

/// Pairs of similar documents or sentences; see [`Engine::pairs`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct Pairs {
    pub(crate) base: Base,
    pub(crate) unit: Unit,
    pub(crate) signature: Signature,
    pub(crate) threshold: f64,
    pub(crate) pairing: Pairing,
    pub(crate) max_frequency: u32,
}

common_options!(Pairs);
against_option!(Pairs);
pairing_options!(Pairs);
runs!(Pairs => Found);

/// The unit of comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Whole documents; a row of a file of sentences is one, too.
    Document,
    /// The sentences of the documents.
    Sentence,
}

/// The options of methods that make pairs of places.
#[derive(Debug, Clone)]
pub(crate) struct Pairing {
    pub(crate) within_documents: bool,
    pub(crate) max_pairs: u64,
    /// True if the places are in an index and in documents that are added to it.
    pub(crate) adds: bool,
}

impl Unit {
    pub(crate) const NAMES: [(&str, Self); 2] = [("document", Self::Document), ("sentence", Self::Sentence)];
}

impl Default for Pairing {
    fn default() -> Self {
        Self { within_documents: false, max_pairs: 50_000_000, adds: false }
    }
}

impl Pairing {
    pub(super) fn set(&self, parameters: &mut Parameters, is_against: bool) {
        parameters.set("against", is_against);
        parameters.set("add", self.adds);
        parameters.set("within_documents", self.within_documents);
    }

    /// Sets `within_documents` or `max_pairs`.
    pub(super) fn set_option(&mut self, given: Given<'_>) -> Result<()> {
        match given.name {
            "within_documents" => self.within_documents = given.flag()?,
            _ => self.max_pairs = given.number()?,
        }
        Ok(())
    }

    /// Returns the stage that makes pairs of units.
    pub(super) fn unit_pairs(&self) -> Query {
        if self.adds { query::ADDED_UNIT_PAIRS } else { query::PAIRS_UNIT_PAIRS }
    }
}

/// Gives a builder the options of methods that make pairs of places.
macro_rules! pairing_options {
    ($builder:ident) => {
        impl $builder {
            /// Looks for pairs within each document, too. With two collections, a document that is in both is compared
            /// with itself.
            pub fn within_documents(mut self, looks: bool) -> Self {
                self.pairing.within_documents = looks;
                self
            }

            /// Limits the number of pairs of places. A run that would make more is refused beforehand, since each takes
            /// some 200 bytes of memory. Default: 50,000,000.
            pub fn max_pairs(mut self, pairs: u64) -> Self {
                self.pairing.max_pairs = pairs;
                self
            }
        }
    };
}
pub(super) use pairing_options;

/// The query for the capped texts of a method with a limit of frequency.
pub(super) const CAPPED: [Query; 1] = [query::TEXTS_CAPPED_ROWS];

impl Pairs {
    /// Sets what is compared. Default: documents.
    pub fn unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// Sets how a text becomes a set. Default: `shingles:3`.
    pub fn signature(mut self, signature: Signature) -> Self {
        self.signature = signature;
        self
    }

    /// Sets the least Jaccard similarity of the two sets, above 0 and up to 1. Default: 0.8.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = threshold;
        self
    }

    /// Sets the largest number of places in which a text may occur to make pairs, 1 or more. More frequent texts are
    /// counted, and listed as capped. Default: 1000.
    pub fn max_frequency(mut self, places: u32) -> Self {
        self.max_frequency = places;
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

    /// Returns the stages and parameters that the options ask for.
    pub(crate) fn method(&self) -> Result<Method> {
        check_ratio("threshold", self.threshold)?;
        check_ranges(&[
            ("max_frequency", Some(self.max_frequency.into()), 1, u64::MAX),
            ("max_pairs", Some(self.pairing.max_pairs), 1, u64::MAX),
        ])?;
        let (unit, pairs) = match self.unit {
            Unit::Document => (("documents", query::UNITS_DOCUMENTS), query::PAIRS_DOCUMENTS),
            Unit::Sentence => (("sentences", query::UNITS_SENTENCES), query::PAIRS_SENTENCES),
        };
        let mut parameters = Parameters::default();
        self.signature.set(&mut parameters);
        self.pairing.set(&mut parameters, self.base.against.is_some());
        parameters.set("max_frequency", i64::from(self.max_frequency));
        parameters.set("threshold", self.threshold);
        let texts = Texts {
            unit,
            signature: self.signature.query,
            links: query::TEXTS_LINKS,
            join: (Measure::Jaccard, self.threshold),
            in_texts: &[],
            limit: ("max_frequency", self.max_frequency),
        };
        Ok(Method {
            name: "pairs",
            parameters,
            needed: if self.unit == Unit::Document { Needed::Documents } else { Needed::DocumentsAndSentences },
            before: texts.stages(self.base.against.is_some()),
            estimate: (query::TEXTS_ESTIMATE, FEWER_PLACES),
            max_pairs: self.pairing.max_pairs,
            texts: Some(texts),
            pairs: vec![self.pairing.unit_pairs(), pairs],
            tables: vec![("capped", &CAPPED)],
            counts: vec![("documents", query::UNITS_DOCS), ("texts", self.signature.query), ("distinct", query::TEXTS)],
            result: "pairs",
            summed: None,
            fate: Some("they make no pairs"),
        })
    }
}

impl NamedOptions for Pairs {
    const NAMES: &'static [&'static str] =
        &["unit", "signature", "threshold", "max_frequency", "against", "same_ids", "within_documents", "max_pairs"];

    fn set_own(&mut self, given: Given<'_>) -> Result<()> {
        match given.name {
            "unit" => self.unit = given.choice(&Unit::NAMES)?,
            "signature" => self.signature = given.parsed()?,
            "threshold" => self.threshold = given.number()?,
            "max_frequency" => self.max_frequency = given.number()?,
            "against" => self.base.against = Some(input_of(given)?),
            "same_ids" => self.base.same_ids = given.flag()?,
            _ => self.pairing.set_option(given)?,
        }
        Ok(())
    }
}

impl Tabular for Pairs {
    fn schema(&self, _: &str) -> Result<Vec<Field>> {
        let mut fields = vec![text("id_a"), text("id_b"), float("similarity")];
        if self.unit == Unit::Sentence {
            fields.extend([int("sent_a"), int("sent_b")]);
        }
        Ok(fields)
    }
}
