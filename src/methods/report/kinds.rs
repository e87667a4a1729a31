//! The tables that reports show, recognised by their columns.

use arrow::datatypes::Schema;

use crate::pipeline::query::{self, Literal, Parameters, Query};

/// The part that a table has in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A table of pairs of places.
    Matches(&'static Pairs),
    /// A table of places of groups.
    Groups(&'static Groups),
    /// A table of how much of each document occurs elsewhere.
    Coverage,
    /// A table of how much each source loses.
    Sources,
}

/// The unit in which columns give a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    Characters,
    Sentence,
    Document,
}

/// The columns of pairs of places.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pairs {
    method: &'static str,
    /// The columns by which the table is recognised.
    known_by: &'static [&'static str],
    pub(super) span: Span,
    /// SQL of parameters of `queries/report/1_found.sql`; the others are NULL.
    columns: &'static [(&'static str, &'static str)],
}

/// The columns of places of groups.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Groups {
    method: &'static str,
    known_by: &'static [&'static str],
    pub(super) span: Span,
    /// The words for one and for several groups.
    pub(super) nouns: [&'static str; 2],
    /// SQL of parameters of `queries/report/1_grouped.sql`.
    columns: &'static [(&'static str, &'static str)],
}

/// The SQL for the similarity of a removed document to the kept one, by the rule that removed it.
const OF_RULE: &str = "CASE rule WHEN 'contained' THEN containment WHEN 'equal' THEN 1 ELSE similarity END";

/// The known tables of pairs, more specific ones first.
const PAIRS: [Pairs; 9] = [
    Pairs {
        method: "passages",
        known_by: &["doc_a", "doc_b", "char_a_start", "sent_a_start"],
        span: Span::Characters,
        columns: &[
            ("doc_a", "doc_a"),
            ("doc_b", "doc_b"),
            ("char_a_start", "char_a_start"),
            ("char_a_end", "char_a_end"),
            ("char_b_start", "char_b_start"),
            ("char_b_end", "char_b_end"),
            ("sent_a_start", "sent_a_start"),
            ("sent_a_end", "sent_a_end"),
            ("sent_b_start", "sent_b_start"),
            ("sent_b_end", "sent_b_end"),
            ("similarity", "similarity"),
        ],
    },
    Pairs {
        method: "pairs",
        known_by: &["id_a", "id_b", "sent_a", "sent_b"],
        span: Span::Sentence,
        columns: &[
            ("doc_a", "id_a"),
            ("doc_b", "id_b"),
            ("sent_a_start", "sent_a"),
            ("sent_a_end", "sent_a + 1"),
            ("sent_b_start", "sent_b"),
            ("sent_b_end", "sent_b + 1"),
            ("similarity", "similarity"),
        ],
    },
    Pairs {
        method: "pairs",
        known_by: &["id_a", "id_b", "similarity"],
        span: Span::Document,
        columns: &[("doc_a", "id_a"), ("doc_b", "id_b"), ("similarity", "similarity")],
    },
    Pairs {
        method: "threads",
        known_by: &["id_a", "id_b", "score"],
        span: Span::Document,
        columns: &[("doc_a", "id_a"), ("doc_b", "id_b"), ("similarity", "score")],
    },
    Pairs {
        method: "containment",
        known_by: &["contained", "container", "score"],
        span: Span::Document,
        columns: &[("doc_a", "contained"), ("doc_b", "container"), ("similarity", "score")],
    },
    Pairs {
        method: "clusters",
        known_by: &["doc_a", "doc_b", "sent_a", "sent_b", "kind"],
        span: Span::Sentence,
        columns: &[
            ("doc_a", "doc_a"),
            ("doc_b", "doc_b"),
            ("sent_a_start", "sent_a"),
            ("sent_a_end", "sent_a + 1"),
            ("sent_b_start", "sent_b"),
            ("sent_b_end", "sent_b + 1"),
            ("similarity", "similarity"),
            ("kind", "kind"),
        ],
    },
    Pairs {
        method: "dedup",
        known_by: &["id", "kept_id", "rule", "char_start", "kept_char_start"],
        span: Span::Characters,
        columns: &[
            ("doc_a", "id"),
            ("doc_b", "kept_id"),
            ("char_a_start", "char_start"),
            ("char_a_end", "char_end"),
            ("char_b_start", "kept_char_start"),
            ("char_b_end", "kept_char_end"),
            ("similarity", OF_RULE),
            ("kind", "rule"),
        ],
    },
    Pairs {
        method: "dedup",
        known_by: &["id", "kept_id", "rule"],
        span: Span::Document,
        columns: &[("doc_a", "id"), ("doc_b", "kept_id"), ("similarity", OF_RULE), ("kind", "rule")],
    },
    Pairs {
        method: "decontaminate",
        known_by: &["id", "item_id", "char_start", "item_char_start"],
        span: Span::Characters,
        columns: &[
            ("doc_a", "id"),
            ("doc_b", "item_id"),
            ("char_a_start", "char_start"),
            ("char_a_end", "char_end"),
            ("char_b_start", "item_char_start"),
            ("char_b_end", "item_char_end"),
            ("similarity", "share"),
            ("kind", "rule"),
        ],
    },
];

const GROUPS: [Groups; 3] = [
    Groups {
        method: "passages",
        known_by: &["family_id", "doc_id", "char_start", "ignored"],
        span: Span::Characters,
        nouns: ["family", "families"],
        columns: &[
            ("group_id", "family_id"),
            ("member", "doc_id"),
            ("char_start", "char_start"),
            ("char_end", "char_end"),
            ("representative", "representative"),
            ("group_similarity", "similarity"),
            ("ignored", "ignored"),
            ("collection", "collection"),
        ],
    },
    Groups {
        method: "clusters",
        known_by: &["cluster_id", "doc_id", "sent", "representative"],
        span: Span::Sentence,
        nouns: ["cluster", "clusters"],
        columns: &[
            ("group_id", "cluster_id"),
            ("member", "doc_id"),
            ("sent", "sent"),
            ("representative", "representative"),
            ("group_similarity", "similarity_to_representative"),
        ],
    },
    // This table has no places of pieces.
    Groups {
        method: "dedup",
        known_by: &["kept_id", "id", "is_kept", "similarity"],
        span: Span::Document,
        nouns: ["cluster", "clusters"],
        columns: &[
            ("group_id", "kept_id"),
            ("member", "id"),
            ("representative", "is_kept"),
            ("group_similarity", "similarity"),
        ],
    },
];

/// Columns that repeat other columns in another form, and columns of text.
const LEFT_OUT: [&str; 14] = [
    "byte_a_start",
    "byte_a_end",
    "byte_b_start",
    "byte_b_end",
    "byte_start",
    "byte_end",
    "text_a",
    "text_b",
    "piece",
    "kept_piece",
    "places_a",
    "places_b",
    "similarity",
    "similarity_to_representative",
];

impl Role {
    /// Returns the part that a table of a method has in a report, if it has one.
    pub(super) fn of(method: &str, schema: &Schema) -> Option<Self> {
        let has = |columns: &[&str]| columns.iter().all(|column| schema.column_with_name(column).is_some());
        if has(&["in_passages", "in_families", "reused"]) {
            return Some(Self::Coverage);
        }
        if has(&["source", "characters_removed", "removed"]) {
            return Some(Self::Sources);
        }
        let groups = GROUPS.iter().find(|groups| groups.method == method && has(groups.known_by));
        // Pieces of documents have clusters, too, but without places.
        if let Some(groups) = groups.filter(|_| schema.column_with_name("kept_piece").is_none()) {
            return Some(Self::Groups(groups));
        }
        PAIRS.iter().find(|pairs| pairs.method == method && has(pairs.known_by)).map(Self::Matches)
    }
}

/// Sets parameters to the given SQL, and those that are not given to NULL.
fn set(parameters: &mut Parameters, all: &[&str], given: &[(&str, &'static str)], schema: &Schema) {
    // A column that some results do not have.
    let has = |sql: &str| sql != "collection" || schema.column_with_name(sql).is_some();
    for name in all {
        let sql = given.iter().find(|(given, sql)| given == name && has(sql)).map_or("NULL", |(_, sql)| sql);
        parameters.set(name, Literal::of_sql(sql));
    }
}

impl Span {
    /// Returns the unit for a result: the whole document instead of sentences if the result was made without sentences.
    pub(super) fn of(self, has_sentences: bool) -> Self {
        if self == Self::Sentence && !has_sentences { Self::Document } else { self }
    }
}

impl Pairs {
    /// Returns the statements that make `matches` from `result`, whose places are in this unit.
    pub(super) fn queries(span: Span) -> [Query; 3] {
        let placed = match span {
            Span::Characters => query::REPORT_PLACED_CHARACTERS,
            Span::Sentence => query::REPORT_PLACED_SENTENCES,
            Span::Document => query::REPORT_PLACED_DOCUMENTS,
        };
        [query::REPORT_FOUND, placed, query::REPORT_MATCHES]
    }

    /// Sets the parameters of these statements for a table with these columns. Returns the names of the columns that
    /// not all matches have.
    pub(super) fn set(&self, span: Span, schema: &Schema, parameters: &mut Parameters) -> Vec<String> {
        let all = ["doc_a", "doc_b", "char_a_start", "char_a_end", "char_b_start", "char_b_end", "similarity", "kind"];
        let sentences = ["sent_a_start", "sent_a_end", "sent_b_start", "sent_b_end"];
        set(parameters, &all, self.columns, schema);
        set(parameters, &sentences, if span == Span::Document { &[] } else { self.columns }, schema);
        let is_known = |name: &str| match name {
            "sentences" => self.span == Span::Characters,
            "sent_a" | "sent_b" => true,
            _ => LEFT_OUT.contains(&name) || self.columns.iter().any(|(_, sql)| *sql == name),
        };
        let fields: Vec<_> =
            schema.fields().iter().map(|field| field.name().clone()).filter(|name| !is_known(name)).collect();
        let column = |(i, name): (usize, &String)| Literal::column(name).within("", &format!(" AS field_{i}"));
        // The count comes first, since an empty list would leave a trailing comma in the SQL.
        let count = Literal::from(i64::try_from(fields.len()).unwrap_or(i64::MAX)).within("", " AS fields");
        let columns = std::iter::once(count).chain(fields.iter().enumerate().map(column));
        parameters.set("fields", Literal::joined(columns, ", "));
        fields
    }
}

impl Groups {
    /// Returns the statements that make `members` from `result_groups`, whose places are in this unit.
    pub(super) fn queries(span: Span) -> [Query; 2] {
        let members = match span {
            Span::Characters => query::REPORT_MEMBERS_CHARACTERS,
            Span::Sentence => query::REPORT_MEMBERS_SENTENCES,
            Span::Document => query::REPORT_MEMBERS_DOCUMENTS,
        };
        [query::REPORT_GROUPED, members]
    }

    pub(super) fn set(&self, schema: &Schema, parameters: &mut Parameters) {
        let place = ["group_id", "member", "char_start", "char_end", "sent", "collection"];
        set(parameters, &place, self.columns, schema);
        set(parameters, &["representative", "group_similarity", "ignored"], self.columns, schema);
    }
}
