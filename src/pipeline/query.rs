//! The statements of `queries/`, and how their parameters are bound.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

/// One statement of `queries/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Query {
    /// The file, such as `texts/3_links.sql`.
    pub(crate) file: &'static str,
    pub(crate) sql: &'static str,
}

macro_rules! queries {
    ($($name:ident = $file:literal;)*) => {
        $(pub(crate) const $name: Query = Query { file: $file, sql: include_str!(concat!("../../queries/", $file)) };)*
        /// Every statement.
        #[cfg(test)]
        pub(crate) const ALL: &[Query] = &[$($name),*];
    };
}

queries! {
    CORPUS_SENTENCES = "corpus/sentences.sql";
    UNITS_DOCS = "units/docs.sql";
    UNITS_TWINS = "units/twins.sql";
    UNITS_DOCUMENTS = "units/documents.sql";
    UNITS_SENTENCES = "units/sentences.sql";
    UNITS_DOC_TEXTS = "units/doc_texts.sql";
    UNITS_SPANS = "units/spans.sql";
    SIGNATURES_SHINGLES = "signatures/shingles.sql";
    SIGNATURES_CHARACTERS = "signatures/characters.sql";
    SIGNATURES_I_MATCH = "signatures/i_match.sql";
    SIGNATURES_I_MATCH_RANKED = "signatures/i_match_ranked.sql";
    SIGNATURES_SKIP_BIGRAMS = "signatures/skip_bigrams.sql";
    SIGNATURES_SPOT_SIGS = "signatures/spot_sigs.sql";
    TEXTS = "texts/1_texts.sql";
    TEXTS_OCCURRENCES = "texts/2_occurrences.sql";
    TEXTS_LINKS = "texts/3_links.sql";
    TEXTS_MATCHES = "texts/4_matches.sql";
    TEXTS_PAIRS = "texts/5_text_pairs.sql";
    TEXTS_CAPPED = "texts/6_capped.sql";
    TEXTS_ESTIMATE = "texts/7_estimate.sql";
    EXPLAIN_SAMPLE = "explain/1_sample.sql";
    EXPLAIN_PLACES = "explain/2_places.sql";
    EXPLAIN_SUMS = "explain/3_sums.sql";
    EXPLAIN_FREQUENT_TEXTS = "explain/4_frequent_texts.sql";
    EXPLAIN_FREQUENT_WORDS = "explain/5_frequent_words.sql";
    PAIRS_UNIT_PAIRS = "pairs/1_unit_pairs.sql";
    PAIRS_DOCUMENTS = "pairs/2_documents.sql";
    PAIRS_SENTENCES = "pairs/2_sentences.sql";
    PASSAGES_WEIGHTS = "passages/1_weights.sql";
    PASSAGES_SEEDS = "passages/2_seeds.sql";
    PASSAGES_EXTENSIONS = "passages/3_extensions.sql";
    PASSAGES_RUNS = "passages/4_runs.sql";
    PASSAGES = "passages/5_passages.sql";
    EDITED_LINKS = "passages_edited/1_links.sql";
    EDITED_SEEDS = "passages_edited/2_seeds.sql";
    EDITED_RUNS = "passages_edited/3_runs.sql";
    EDITED_PASSAGES = "passages_edited/4_passages.sql";
}

/// The values of `$parameters`, as SQL literals.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parameters(BTreeMap<String, String>);

impl Parameters {
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Literal>) {
        self.0.insert(name.to_string(), value.into().0);
    }

    /// Puts the values in the places of the parameters of `sql`, so that what runs is what is shown.
    pub(crate) fn bind(&self, sql: &str) -> Result<String> {
        let mut bound = String::with_capacity(sql.len());
        for token in Tokenizer::new(&GenericDialect {}, sql).with_unescape(false).tokenize()? {
            match &token {
                Token::Placeholder(name) => match self.0.get(name.trim_start_matches('$')) {
                    Some(value) => bound.push_str(value),
                    None if self.0.is_empty() => bail!("no value for the parameter {name}"),
                    None => {
                        let known: Vec<_> = self.0.keys().map(String::as_str).collect();
                        bail!("no value for the parameter {name}; there are values for {}", known.join(", "))
                    }
                },
                other => bound.push_str(&other.to_string()),
            }
        }
        Ok(bound)
    }
}

/// A value as SQL.
#[derive(Debug, Clone)]
pub(crate) struct Literal(String);

impl Literal {
    /// Reads a value as a user types it: a number, `true`, `false` or `null`, and text otherwise.
    pub(crate) fn of_text(text: &str) -> Self {
        let plain = text.parse::<f64>().is_ok_and(f64::is_finite)
            || ["true", "false", "null"].contains(&text.to_ascii_lowercase().as_str());
        if plain { Self(text.to_string()) } else { text.into() }
    }
}

impl From<&str> for Literal {
    fn from(text: &str) -> Self {
        Self(format!("'{}'", text.replace('\'', "''")))
    }
}

impl From<f64> for Literal {
    fn from(value: f64) -> Self {
        Self(format!("{value:?}"))
    }
}

impl From<i64> for Literal {
    fn from(value: i64) -> Self {
        Self(value.to_string())
    }
}

impl From<bool> for Literal {
    fn from(value: bool) -> Self {
        Self(value.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binding_leaves_comments_and_texts_alone() {
        let mut parameters = Parameters::default();
        parameters.set("n", 3_i64);
        parameters.set("who", Literal::of_text("O'Brien"));
        let bound = parameters.bind("-- $n\nSELECT 'it''s $n', $n, $who -- end").unwrap();
        assert_eq!(bound, "-- $n\nSELECT 'it''s $n', 3, 'O''Brien' -- end");
        assert!(parameters.bind("SELECT $m").unwrap_err().to_string().contains("n, who"));
    }

    #[test]
    fn every_statement_says_what_it_reads_and_writes() {
        for query in ALL {
            let mut lines = query.sql.lines();
            assert!(lines.next().is_some_and(|line| line.starts_with("-- reads:  ")), "{}", query.file);
            assert!(lines.any(|line| line.starts_with("-- writes: ")), "{}", query.file);
        }
    }
}
