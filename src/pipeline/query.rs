//! The statements of `queries/`, and the binding of their parameters.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};

use anyhow::{Result, bail};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use crate::store::redacted;

/// One statement of `queries/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Query {
    /// The file, such as `texts/3_links.sql`.
    pub file: &'static str,
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
    CORPUS_REPEATED_ID = "corpus/repeated_id.sql";
    REPORT_FOUND = "report/1_found.sql";
    REPORT_GROUPED = "report/1_grouped.sql";
    REPORT_SENTENCES = "report/2_sentences.sql";
    REPORT_SIDES = "report/2_sides.sql";
    REPORT_MEMBERS_CHARACTERS = "report/3_members_characters.sql";
    REPORT_MEMBERS_DOCUMENTS = "report/3_members_documents.sql";
    REPORT_MEMBERS_SENTENCES = "report/3_members_sentences.sql";
    REPORT_PLACED_CHARACTERS = "report/3_placed_characters.sql";
    REPORT_PLACED_DOCUMENTS = "report/3_placed_documents.sql";
    REPORT_PLACED_SENTENCES = "report/3_placed_sentences.sql";
    REPORT_MATCHES = "report/4_matches.sql";
    REPORT_BEST = "report/5_best.sql";
    REPORT_MEMBERS = "report/5_members.sql";
    REPORT_COUNTS = "report/6_counts.sql";
    REPORT_COVERAGE = "report/6_coverage.sql";
    REPORT_DOCUMENTS = "report/6_documents.sql";
    REPORT_GROUPS = "report/6_groups.sql";
    REPORT_LENGTHS = "report/6_lengths.sql";
    REPORT_SIMILARITIES = "report/6_similarities.sql";
    REPORT_SOURCES = "report/6_sources.sql";
    REPORT_TEXTS = "report/7_texts.sql";
    REPORT_DIFFERENCES = "report/8_differences.sql";
    REPORT_CELLS = "report/9_cells.sql";
    REPORT_PLOTS = "report/9_plots.sql";
    REVIEW_LINES = "review/1_lines.sql";
    REVIEW_UNREAD = "review/2_unread.sql";
    REVIEW_VERDICTS = "review/3_verdicts.sql";
    REVIEW_COUNTS = "review/4_counts.sql";
    REVIEW_ORDERED = "review/4_ordered.sql";
    REVIEW_SCORES = "review/5_scores.sql";
    REVIEW_REACHED = "review/6_reached.sql";
    TIMES_FORMS = "times/1_forms.sql";
    UNITS_DOCS = "units/docs.sql";
    UNITS_NO_TWINS = "units/no_twins.sql";
    UNITS_TWINS = "units/twins.sql";
    UNITS_DOCUMENTS = "units/documents.sql";
    UNITS_SENTENCES = "units/sentences.sql";
    UNITS_DOC_TEXTS = "units/doc_texts.sql";
    UNITS_SENTENCE_STARTS = "units/sentence_starts.sql";
    UNITS_FIELD = "units/field.sql";
    UNITS_LENGTHS = "units/lengths.sql";
    UNITS_PREPARED = "units/prepared.sql";
    SIGNATURES_SAMPLED_SHINGLES = "signatures/sampled_shingles.sql";
    SIGNATURES_SHINGLES = "signatures/shingles.sql";
    SIGNATURES_CHARACTERS = "signatures/characters.sql";
    SIGNATURES_I_MATCH = "signatures/i_match.sql";
    SIGNATURES_I_MATCH_RANKED = "signatures/i_match_ranked.sql";
    SIGNATURES_LINES = "signatures/lines.sql";
    SIGNATURES_SKIP_BIGRAMS = "signatures/skip_bigrams.sql";
    SIGNATURES_SPOT_SIGS = "signatures/spot_sigs.sql";
    SIGNATURES_SUBWORDS = "signatures/subwords.sql";
    SIGNATURES_WEIGHTED_SHINGLES = "signatures/weighted_shingles.sql";
    SIGNATURES_WEIGHTED_SUBWORDS = "signatures/weighted_subwords.sql";
    SIGNATURES_WINNOW = "signatures/winnow.sql";
    TEXTS = "texts/1_texts.sql";
    TEXTS_OCCURRENCES = "texts/2_occurrences.sql";
    TEXTS_LINKS = "texts/3_links.sql";
    TEXTS_MATCHES = "texts/4_matches.sql";
    TEXTS_PAIRS = "texts/5_text_pairs.sql";
    TEXTS_CAPPED = "texts/6_capped.sql";
    TEXTS_ESTIMATE = "texts/7_estimate.sql";
    TEXTS_CAPPED_ROWS = "texts/8_capped_rows.sql";
    ADDED_LEFT_OUT = "added/1_left_out.sql";
    ADDED_REFUSED = "added/2_refused.sql";
    ADDED_DOCUMENTS = "added/3_documents.sql";
    ADDED_SENTENCES = "added/3_sentences.sql";
    ADDED_TIMES = "added/4_times.sql";
    ADDED_UNIT_PAIRS = "added/5_unit_pairs.sql";
    EXPLAIN_SAMPLE = "explain/1_sample.sql";
    EXPLAIN_PLACES = "explain/2_places.sql";
    EXPLAIN_SUMS = "explain/3_sums.sql";
    EXPLAIN_FREQUENT_TEXTS = "explain/4_frequent_texts.sql";
    EXPLAIN_FREQUENT_WORDS = "explain/5_frequent_words.sql";
    EXPLAIN_FINGERPRINTS = "explain/6_fingerprints.sql";
    EXPLAIN_PASSAGES = "explain/7_passages.sql";
    EXPLAIN_COMMON_DOCUMENTS = "explain/8_common_documents.sql";
    PAIRS_UNIT_PAIRS = "pairs/1_unit_pairs.sql";
    PAIRS_DOCUMENTS = "pairs/2_documents.sql";
    PAIRS_SENTENCES = "pairs/2_sentences.sql";
    KEPT_NUMBERED = "kept/1_numbered.sql";
    KEPT_POSITIONS = "kept/2_positions.sql";
    KEPT_PLACES = "kept/3_places.sql";
    DEDUP_DOCUMENTS = "dedup/1_documents.sql";
    DEDUP_PARAGRAPHS = "dedup/1_paragraphs.sql";
    DEDUP_SENTENCES = "dedup/1_sentences.sql";
    DEDUP_RANKS = "dedup/2_ranks.sql";
    DEDUP_RANKS_BY_LENGTH = "dedup/2_ranks_by_length.sql";
    DEDUP_NAMED = "dedup/2_named.sql";
    DEDUP_UNITS = "dedup/3_units.sql";
    DEDUP_EQUAL = "dedup/4_equal.sql";
    DEDUP_REPEATED = "dedup/4_repeated.sql";
    DEDUP_REPEATED_RUNS = "dedup/5_repeated_runs.sql";
    DEDUP_PARTS = "dedup/6_parts.sql";
    DEDUP_PASSAGES = "dedup/6_passages.sql";
    DEDUP_PASSAGE_PIECES = "dedup/7_passage_pieces.sql";
    DEDUP_NAMED_PASSAGES = "dedup/7_named_passages.sql";
    DEDUP_REMOVED_PASSAGES = "dedup/8_removed_passages.sql";
    DEDUP_STRETCHES = "dedup/8_stretches.sql";
    DEDUP_BROKEN_PASSAGES = "dedup/9_broken_passages.sql";
    DEDUP_CUTS_WHOLE = "dedup/11_cuts_whole.sql";
    DEDUP_CUTS_PASSAGES = "dedup/11_cuts_passages.sql";
    DEDUP_MATCHING_PASSAGES = "dedup/12_matching_passages.sql";
    DEDUP_GONE_PIECES = "dedup/16_gone_pieces.sql";
    DEDUP_GONE_PASSAGES = "dedup/16_gone_passages.sql";
    DEDUP_COUNTS_PASSAGES = "dedup/16_counts_passages.sql";
    DEDUP_STORED_OCCURRENCES = "dedup/4_stored_occurrences.sql";
    DEDUP_STORED = "dedup/5_stored.sql";
    DEDUP_KEEPER_UNITS = "dedup/7_keeper_units.sql";
    DEDUP_ALIKE = "dedup/5_alike.sql";
    DEDUP_CONTAINERS = "dedup/5_containers.sql";
    DEDUP_NONE = "dedup/5_none.sql";
    DEDUP_REDUNDANT = "dedup/6_redundant.sql";
    DEDUP_KEEPERS = "dedup/7_keepers.sql";
    DEDUP_MEASURED = "dedup/7_measured.sql";
    DEDUP_UNMEASURED = "dedup/7_unmeasured.sql";
    DEDUP_REMOVED_UNITS = "dedup/8_removed_units.sql";
    DEDUP_BROKEN = "dedup/9_broken.sql";
    DEDUP_REMOVED_DOCUMENTS = "dedup/10_removed_documents.sql";
    DEDUP_REMOVED_PIECES = "dedup/10_removed_pieces.sql";
    DEDUP_CUTS_DOCUMENTS = "dedup/11_cuts_documents.sql";
    DEDUP_CUTS_PIECES = "dedup/11_cuts_pieces.sql";
    DEDUP_ANNOTATED_DOCUMENTS = "dedup/11_annotated_documents.sql";
    DEDUP_ANNOTATED_PIECES = "dedup/11_annotated_pieces.sql";
    DEDUP_MATCHING = "dedup/12_matching.sql";
    DEDUP_PAIRS_DOCUMENTS = "dedup/13_pairs_documents.sql";
    DEDUP_PAIRS_PIECES = "dedup/13_pairs_pieces.sql";
    DEDUP_CLUSTERED = "dedup/14_clustered.sql";
    DEDUP_CLUSTERS_DOCUMENTS = "dedup/15_clusters_documents.sql";
    DEDUP_CLUSTERS_PIECES = "dedup/15_clusters_pieces.sql";
    DEDUP_COUNTS = "dedup/16_counts.sql";
    DEDUP_SOURCES = "dedup/17_sources.sql";
    DEDUP_LOSSES = "dedup/18_losses.sql";
    DEDUP_SOURCES_ROWS = "dedup/18_sources_rows.sql";
    DECONTAMINATE_TEXTS = "decontaminate/1_compared_texts.sql";
    DECONTAMINATE_UNITS = "decontaminate/1_units.sql";
    DECONTAMINATE_SCORES = "decontaminate/2_scores.sql";
    DECONTAMINATE_ITEMS = "decontaminate/2_items.sql";
    DECONTAMINATE_GRAMS = "decontaminate/3_grams.sql";
    DECONTAMINATE_SEARCHED = "decontaminate/4_searched.sql";
    DECONTAMINATE_SEARCHED_CONTAINERS = "decontaminate/4_searched_containers.sql";
    DECONTAMINATE_MET = "decontaminate/5_met.sql";
    DECONTAMINATE_OWNED = "decontaminate/6_owned.sql";
    DECONTAMINATE_STRETCHED = "decontaminate/7_stretched.sql";
    DECONTAMINATE_STRETCHED_CONTAINED = "decontaminate/7_stretched_contained.sql";
    DECONTAMINATE_DIAGONALS = "decontaminate/8_diagonals.sql";
    DECONTAMINATE_DIAGONALS_CONTAINED = "decontaminate/8_diagonals_contained.sql";
    DECONTAMINATE_RUNS = "decontaminate/9_runs.sql";
    DECONTAMINATE_STRETCHES = "decontaminate/9_stretches.sql";
    DECONTAMINATE_PARTS = "decontaminate/10_parts.sql";
    DECONTAMINATE_HITS = "decontaminate/11_hits.sql";
    DECONTAMINATE_HITS_CONTAINED = "decontaminate/11_hits_contained.sql";
    DECONTAMINATE_TESTED = "decontaminate/12_tested.sql";
    DECONTAMINATE_TESTED_CONTAINED = "decontaminate/12_tested_contained.sql";
    DECONTAMINATE_ITEMS_ROWS = "decontaminate/13_items.sql";
    DECONTAMINATE_UNTESTED = "decontaminate/13_untested.sql";
    DECONTAMINATE_WITHOUT_TEXT = "decontaminate/13_without_text.sql";
    DECONTAMINATE_PLACED = "decontaminate/14_placed.sql";
    DECONTAMINATE_HITS_ROWS = "decontaminate/15_hits.sql";
    DECONTAMINATE_ANNOTATED = "decontaminate/15_annotated.sql";
    DECONTAMINATE_CUTS_DOCUMENTS = "decontaminate/15_cuts_documents.sql";
    DECONTAMINATE_CUTS_UNPLACED = "decontaminate/15_cuts_unplaced.sql";
    DECONTAMINATE_CUTS_PASSAGES = "decontaminate/15_cuts_passages.sql";
    DECONTAMINATE_AGAIN = "decontaminate/16_again.sql";
    DECONTAMINATE_COUNTS = "decontaminate/17_counts.sql";
    COMMON_SEQUENCES = "common/1_sequences.sql";
    COMMON_FINGERPRINTS = "common/2_fingerprints.sql";
    COMMON_SAMPLED = "common/3_sampled.sql";
    COMMON_FREQUENCIES = "common/4_frequencies.sql";
    COMMON = "common/5_common.sql";
    COMMON_PRINT_LINKS = "common/6_print_links.sql";
    COMMON_CLUSTERS = "common/7_clusters.sql";
    COMMON_RUNS = "common/8_common_runs.sql";
    FAMILIES_SLICES = "families/1_slices.sql";
    FAMILIES_MEMBERS = "families/2_members.sql";
    FAMILIES_STRETCHES = "families/3_stretches.sql";
    FAMILIES_PLACES = "families/4_family_places.sql";
    FAMILIES_IGNORED = "families/5_ignored_families.sql";
    FAMILIES_LOCATED = "families/6_located_families.sql";
    FAMILIES = "families/7_families.sql";
    FAMILIES_SUMS = "families/8_sums.sql";
    IGNORED_SEQUENCES = "ignored/1_sequences.sql";
    IGNORED = "ignored/2_ignored.sql";
    IGNORED_NONE = "ignored/none.sql";
    COVERED = "coverage/1_covered.sql";
    COVERAGE = "coverage/2_coverage.sql";
    PASSAGES_ESTIMATE = "passages/1_estimate.sql";
    PASSAGES_SEEDS = "passages/2_seeds.sql";
    PASSAGES_MARKED = "passages/3_marked.sql";
    PASSAGES_RUNS = "passages/4_runs.sql";
    PASSAGES_PARTS = "passages/5_parts.sql";
    PASSAGES_PLACES = "passages/6_places.sql";
    PASSAGES_PLACED = "passages/7_placed.sql";
    PASSAGES = "passages/8_passages.sql";
    EDITED_LINKS = "passages_edited/1_links.sql";
    EDITED_SEEDS = "passages_edited/2_seeds.sql";
    EDITED_PLACED = "passages_edited/3_placed.sql";
    EDITED_PARTS = "passages_edited/4_parts.sql";
    THREADS_NO_SETS = "threads/0_no_sets.sql";
    THREADS_SETS = "threads/1_sets.sql";
    THREADS_TEXTS = "threads/2_texts.sql";
    THREADS_OCCURRENCES = "threads/3_occurrences.sql";
    THREADS_LINKS = "threads/4_links.sql";
    THREADS_ESTIMATE = "threads/5_estimate.sql";
    THREADS_CANDIDATES = "threads/6_candidates.sql";
    THREADS_SIMILARITIES = "threads/7_similarities.sql";
    THREADS_PAIRS = "threads/8_pairs.sql";
    THREADS_COUNTS = "threads/9_counts.sql";
    THREADS = "threads/9_result.sql";
    TERM_POSTINGS = "threads_term/1_postings.sql";
    TERM_CAPPED = "threads_term/2_capped.sql";
    TERM_CANDIDATES = "threads_term/3_candidates.sql";
    TERM_LINKS = "threads_term/4_links.sql";
    TERM_PRUNED = "threads_term/5_pruned.sql";
    LABELS_ROWS = "threads_labels/1_rows.sql";
    LABELS_UNREAD = "threads_labels/2_unread.sql";
    LABELS = "threads_labels/3_labels.sql";
    LABELS_LEFT_OUT = "threads_labels/4_left_out.sql";
    LABELS_CONTRADICTORY = "threads_labels/4_contradictory.sql";
    LABELS_CANDIDATES = "threads_labels/5_candidates.sql";
    LABELS_UNKNOWN = "threads_labels/6_unknown.sql";
    LABELS_EXAMPLES = "threads_labels/7_examples.sql";
    GROUPS = "threads_groups/1_groups.sql";
    GROUPS_UNRANKED = "threads_groups/2_unranked.sql";
    GROUPS_CANONICAL = "threads_groups/2_canonical.sql";
    GROUPS_CANDIDATES = "threads_groups/3_candidates.sql";
    GROUPS_RESULT = "threads_groups/4_result.sql";
    CERTIFICATE_SAMPLE = "threads_certificate/1_sample.sql";
    CERTIFICATE_LINKS = "threads_certificate/2_links.sql";
    CERTIFICATE_SAMPLED = "threads_certificate/3_sampled.sql";
    CERTIFICATE_RECALL = "certificate/recall.sql";
    CLUSTERS_BANDS = "clusters/1_bands.sql";
    CLUSTERS_BUCKETS = "clusters/2_buckets.sql";
    CLUSTERS_USED = "clusters/3_used.sql";
    CLUSTERS_LINKS = "clusters/4_links.sql";
    CLUSTERS_EDITS = "clusters/5_edits.sql";
    CLUSTERS_COMPONENTS = "clusters/6_components.sql";
    CLUSTERS_REPRESENTATIVES = "clusters/7_representatives.sql";
    CLUSTERS_MEMBERS = "clusters/8_members.sql";
    CLUSTERS_STARS = "clusters/9_stars.sql";
    CLUSTERS_CITED = "clusters_tables/0_cited.sql";
    CLUSTERS_NONE_CITED = "clusters_tables/0_none_cited.sql";
    CLUSTERS_CLUSTERED = "clusters_tables/1_clustered.sql";
    CLUSTERS = "clusters_tables/2_clusters.sql";
    CLUSTERS_LINKED = "clusters_tables/3_linked.sql";
    CLUSTERS_TEXT_LINKS = "clusters_tables/4_text_links.sql";
    CLUSTERS_PAIRS = "clusters_tables/5_pairs.sql";
    CLUSTERS_SHARED = "clusters_tables/6_shared.sql";
    CLUSTERS_ARTICLE_PAIRS = "clusters_tables/7_article_pairs.sql";
    CLUSTERS_HISTOGRAM = "clusters_tables/8_histogram.sql";
    CLUSTERS_CAPPED = "clusters_tables/9_capped.sql";
    CLUSTERS_FULL_BUCKETS = "clusters_tables/9_buckets.sql";
    CLUSTERS_SAMPLE = "clusters_certificate/1_sample.sql";
    CLUSTERS_SAMPLE_LINKS = "clusters_certificate/2_links.sql";
    CLUSTERS_CERTIFICATE = "clusters_certificate/3_certificate.sql";
    CLUSTERS_SAMPLED = "clusters_certificate/4_sampled.sql";
    CLUSTERS_RECALL = "clusters_certificate/5_result.sql";
    PRINT_HISTOGRAM = "clusters_printed/histogram.sql";
    PRINT_KINDS = "clusters_printed/kinds.sql";
    PRINT_CLUSTERS = "clusters_printed/clusters.sql";
    PRINT_ARTICLE_PAIRS = "clusters_printed/article_pairs.sql";
    PRINT_CERTIFICATE = "clusters_printed/certificate.sql";
    CLUSTERS_COUNTS = "clusters_printed/counts.sql";
    SEARCH_GPU = "search/1_gpu.sql";
    SEARCH_STRATEGY = "search/2_strategy.sql";
    SEARCH_SEQUENCES = "search/3_sequences.sql";
    SEARCH_QUOTATIONS = "search/4_quotations.sql";
    SEARCH_QUOTATION_PLACES = "search/5_quotation_places.sql";
    SEARCH_UNITS = "search/6_units.sql";
    SEARCH_CODED_CHARACTERS = "search/7_coded_characters.sql";
    SEARCH_CODED_WORDS = "search/7_coded_words.sql";
    SEARCH_FOUND = "search/8_found.sql";
    SEARCH_FOUND_BY_CODES = "search/8_found_by_codes.sql";
    SEARCH_SENTENCES = "search/9_sentences.sql";
    SEARCH_DOCUMENTS = "search/9_documents.sql";
    CONTAINMENT_APART = "containment/0_apart.sql";
    CONTAINMENT_TIMES = "containment/1_times.sql";
    CONTAINMENT_WITHOUT_TIME = "containment/2_without_time.sql";
    CONTAINMENT_IN_TIME = "containment/3_in_time.sql";
    CONTAINMENT_SENTENCES = "containment/4_sentences.sql";
    CONTAINMENT_FOUND_SENTENCES = "containment/5_found_sentences.sql";
    CONTAINMENT_SHARED = "containment/6_shared.sql";
    CONTAINMENT = "containment/7_result.sql";
    STREAM_DOCUMENTS = "stream/1_documents.sql";
    STREAM_SENTENCES = "stream/1_sentences.sql";
    STREAM_TIMES = "stream/2_times.sql";
    STREAM_STORED = "stream/3_stored.sql";
    SHARED_SEQUENCES = "containment_passages/1_sequences.sql";
    SHARED_RUNS = "containment_passages/2_runs.sql";
    SHARED_PARTS = "containment_passages/3_parts.sql";
    SHARED_CAPPED = "containment_passages/4_capped.sql";
    SHARED_PASSAGES = "containment_passages/5_result.sql";
    CONTAINED_DOCUMENTS = "containment_sets/1_contained.sql";
    CONTAINED_ESTIMATE = "containment_sets/2_estimate.sql";
    CONTAINED_DOCUMENTS_SCORES = "containment_sets/3_scores.sql";
    CONTAINED_SENTENCES = "containment_sentences/1_contained.sql";
    CONTAINED_SENTENCES_SHARES = "containment_sentences/2_shares.sql";
    CONTAINED_SENTENCES_SCORES = "containment_sentences/3_scores.sql";
    CODET_REFERENCE = "containment_codet/1_reference.sql";
    CODET_NODES = "containment_codet/2_nodes.sql";
    CODET_ESTIMATE = "containment_codet/3_estimate.sql";
    CODET_COMMON_NODES = "containment_codet/4_common_nodes.sql";
    CODET_SCORES = "containment_codet/5_scores.sql";
    SIMHASH_CODES = "containment_simhash/1_codes.sql";
    SIMHASH_NEAR = "containment_simhash/2_near.sql";
    SIMHASH_SCORES = "containment_simhash/3_scores.sql";
    COMPARE_LABEL_ROWS = "compare_labels/1_rows.sql";
    COMPARE_LABELS_UNREAD = "compare_labels/2_unread.sql";
    COMPARE_LABELS = "compare_labels/3_labels.sql";
    COMPARE_LABELS_CONTRADICTORY = "compare_labels/4_contradictory.sql";
    COMPARE_LABELS_UNKNOWN = "compare_labels/5_unknown.sql";
    COMPARE_TRUTH = "compare_labels/6_truth.sql";
    COMPARE_POSTINGS = "compare/1_postings.sql";
    COMPARE_ESTIMATE = "compare/2_estimate.sql";
    COMPARE_COMMON = "compare/3_common.sql";
    COMPARE_SCORES = "compare/4_scores.sql";
    COMPARE_FOUND = "compare/5_found.sql";
    COMPARE_VISITED = "compare/5_visited.sql";
    COMPARE_FIGURES = "compare/6_figures.sql";
    COMPARE_PRINTED = "compare/7_printed.sql";
    CODES_WORDS = "codes/1_words.sql";
    CODES_CHARACTERS = "codes/1_characters.sql";
    CODES_FREQUENCIES = "codes/2_frequencies.sql";
    CODES_SENTENCES = "codes/3_sentences.sql";
}

/// The values of `$parameters`, as SQL literals.
#[derive(Debug, Clone, Default)]
pub struct Parameters(BTreeMap<String, String>);

impl Parameters {
    /// Sets the value of a parameter.
    pub fn set(&mut self, name: &str, value: impl Into<Literal>) {
        self.0.insert(name.to_string(), value.into().0);
    }

    /// Returns the values as SQL, by name, without the secrets of URLs.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        self.0.iter().map(|(name, value)| (name.clone(), serde_json::Value::from(redacted(value)))).collect()
    }

    /// Hides the values of the parameters whose names are secret.
    pub fn without(mut self, is_secret: impl Fn(&str) -> bool) -> Self {
        for (_, value) in self.0.iter_mut().filter(|(name, _)| is_secret(name)) {
            "'***'".clone_into(value);
        }
        self
    }

    /// Returns the parameters and their values as SQL.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Replaces the parameters of `sql` by their values, so that the SQL that runs is the SQL that is shown. PREPARE
    /// may have other parameters, whose values EXECUTE gives.
    pub(crate) fn bind(&self, sql: &str) -> Result<String> {
        self.bind_noting(sql, &mut Self::default())
    }

    /// Does the same, and notes the parameters that `sql` has.
    pub fn bind_noting(&self, sql: &str, used: &mut Self) -> Result<String> {
        let mut bound = String::with_capacity(sql.len());
        let tokens = Tokenizer::new(&GenericDialect {}, sql).with_unescape(false).tokenize()?;
        let first = tokens.iter().find(|token| !matches!(token, Token::Whitespace(_)));
        let prepares = matches!(first, Some(Token::Word(word)) if word.keyword == Keyword::PREPARE);
        for token in &tokens {
            match token {
                Token::Placeholder(name) => match self.0.get(name.trim_start_matches('$')) {
                    Some(value) => {
                        bound.push_str(value);
                        used.0.insert(name.trim_start_matches('$').to_owned(), value.clone());
                    }
                    None if prepares => bound.push_str(name),
                    None if self.0.is_empty() => bail!("no value for the parameter {name}"),
                    None => {
                        let known: Vec<_> = self.0.keys().map(String::as_str).collect();
                        bail!("no value for the parameter {name}; there are values for {}", known.join(", "))
                    }
                },
                // The escapes of the literal are decoded already.
                Token::EscapedStringLiteral(text) | Token::UnicodeStringLiteral(text) => {
                    let _ = write!(bound, "'{}'", text.replace('\'', "''"));
                }
                other => bound.push_str(&other.to_string()),
            }
        }
        Ok(bound)
    }
}

/// A value as SQL, or a piece of SQL that depends on names of columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Literal(String);

impl Literal {
    /// Returns SQL as it stands.
    pub(crate) fn of_sql(sql: &'static str) -> Self {
        Self(sql.to_owned())
    }

    /// Reads a value as a user types it: a number, `true`, `false` or `null`, and text otherwise, such as `007`.
    pub fn of_text(text: &str) -> Self {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let has_zeros = digits.strip_prefix('0').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let is_number = text.parse::<f64>().is_ok_and(f64::is_finite) && !has_zeros && !text.starts_with('+');
        match text {
            // Behind another minus, the sign would begin a comment.
            _ if is_number && text.starts_with('-') => Self(format!("({text})")),
            _ if is_number => Self(text.to_string()),
            _ if ["true", "false", "null"].contains(&text.to_ascii_lowercase().as_str()) => Self(text.to_string()),
            _ => text.into(),
        }
    }

    /// Returns the name of a column as SQL.
    pub fn column(name: &str) -> Self {
        Self(format!("\"{}\"", name.replace('"', "\"\"")))
    }

    /// Joins values with a text between them.
    pub(crate) fn joined(values: impl IntoIterator<Item = Self>, between: &str) -> Self {
        Self(values.into_iter().map(|value| value.0).collect::<Vec<_>>().join(between))
    }

    /// Puts texts around a value, such as a function or `[` and `]`.
    pub fn within(self, before: &str, after: &str) -> Self {
        Self(format!("{before}{}{after}", self.0))
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
        assert_eq!(
            parameters.bind(r"SELECT E'it\'s \\n $n', U&'d\0061t', $n").unwrap(),
            r"SELECT 'it''s \n $n', 'dat', 3"
        );
        assert!(parameters.bind("SELECT $m").unwrap_err().to_string().contains("n, who"));
        assert_eq!(parameters.bind("/**/ prepare p AS SELECT $1, $n").unwrap(), "/**/ prepare p AS SELECT $1, 3");
    }

    #[test]
    fn what_users_type_is_a_number_or_text() {
        for (typed, sql) in [
            ("3", "3"),
            (".5", ".5"),
            ("0.5", "0.5"),
            ("1e-3", "1e-3"),
            ("-1", "(-1)"),
            ("NULL", "NULL"),
            ("007", "'007'"),
            ("-01", "'-01'"),
            ("+49", "'+49'"),
            ("1e999", "'1e999'"),
            ("", "''"),
        ] {
            assert_eq!(Literal::of_text(typed).to_string(), sql);
        }
        let mut parameters = Parameters::default();
        parameters.set("n", Literal::of_text("-1"));
        assert_eq!(parameters.bind("SELECT 10-$n").unwrap(), "SELECT 10-(-1)");
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
