use std::fmt;
use std::str::FromStr;

use anyhow::Result;
use arrow::datatypes::Schema;

use super::Piece;
use crate::error::misuse;
use crate::methods::threads::{Readable, number};
use crate::methods::times::seconds;
use crate::pipeline::query::Literal;

/// The rule that chooses which of several duplicates is kept. Of duplicates that are equal by the rule, the first by
/// its id is kept.
///
/// ```
/// let keep: ibid::methods::Keep = "newest:published".parse()?;
/// assert_eq!(keep, ibid::methods::Keep::Newest("published".to_owned()));
/// # Ok::<(), ibid::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Keep {
    /// The first: files are in the order of their paths, records and rows in their own.
    #[default]
    First,
    /// The one with the most characters.
    Longest,
    /// The one with the earliest time in this column.
    Oldest(String),
    /// The one with the latest time in this column.
    Newest(String),
    /// The one with the highest number in this column.
    Highest(String),
    /// The one whose value of this column is first in this list; other values come after the list.
    Priority(String, Vec<String>),
}

impl FromStr for Keep {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = "first, longest, oldest:COLUMN, newest:COLUMN, highest:COLUMN, priority:COLUMN=a,b,c";
        let unknown = || misuse!("{text:?} is no rule of what to keep; known are {known}");
        let (rule, column) = text.split_once(':').map_or((text, None), |(rule, column)| (rule, Some(column)));
        let column = column.filter(|column| !column.is_empty()).map(str::to_owned);
        Ok(match (rule, column) {
            ("first", None) => Self::First,
            ("longest", None) => Self::Longest,
            ("oldest", Some(column)) => Self::Oldest(column),
            ("newest", Some(column)) => Self::Newest(column),
            ("highest", Some(column)) => Self::Highest(column),
            ("priority", Some(column)) => match column.split_once('=') {
                Some((name, values)) if !name.is_empty() && !values.is_empty() => {
                    Self::Priority(name.to_owned(), values.split(',').map(str::to_owned).collect())
                }
                _ => return Err(unknown().into()),
            },
            _ => return Err(unknown().into()),
        })
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => f.write_str("first"),
            Self::Longest => f.write_str("longest"),
            Self::Oldest(column) => write!(f, "oldest:{column}"),
            Self::Newest(column) => write!(f, "newest:{column}"),
            Self::Highest(column) => write!(f, "highest:{column}"),
            Self::Priority(column, values) => write!(f, "priority:{column}={}", values.join(",")),
        }
    }
}

impl Keep {
    /// Fails if the column of the rule is missing, or cannot be read as the rule needs it.
    pub(super) fn check(&self, table: &str, schema: &Schema) -> Result<()> {
        match self {
            Self::First | Self::Longest => Ok(()),
            Self::Oldest(column) | Self::Newest(column) => Readable::TIMES.check(table, schema, "`keep`", column),
            Self::Highest(column) => Readable::NUMBERS.check(table, schema, "`keep`", column),
            Self::Priority(column, _) => Readable::AS_TEXT.check(table, schema, "`keep`", column),
        }
    }

    /// Returns the SQL of the key by which documents are ordered, the smallest first.
    pub(super) fn key(&self) -> Literal {
        match self {
            Self::First | Self::Longest => Literal::from(0),
            Self::Oldest(column) => seconds(column),
            Self::Newest(column) => seconds(column).within("-(", ")"),
            Self::Highest(column) => number(column, f64::MAX).within("-(", ")"),
            Self::Priority(column, values) => {
                let texts = values.iter().map(|value| Literal::from(value.as_str()));
                let list = Literal::joined(texts, ", ").within("array_position([", "], CAST(");
                Literal::joined([list, Literal::column(column)], "").within("", " AS VARCHAR))")
            }
        }
    }

    /// Returns the SQL of the key that orders documents with equal keys.
    pub(super) fn tie(&self, unit: Piece) -> Literal {
        // DataFusion cannot order by a column with a single value, and whole documents are all the first piece.
        Literal::of_sql(match (self, unit) {
            (Self::First, Piece::Document | Piece::Passage) => "positions.position",
            (Self::First, _) => "positions.position, pieces.piece",
            (_, Piece::Document | Piece::Passage) => "pieces.doc",
            _ => "pieces.doc, pieces.piece",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read() {
        let priority = Keep::Priority("source".to_owned(), vec!["wiki".to_owned(), "web".to_owned()]);
        assert_eq!("priority:source=wiki,web".parse::<Keep>().unwrap(), priority);
        for text in ["first", "longest", "oldest:a", "newest:a", "highest:a b", "priority:a=b,c"] {
            assert_eq!(text.parse::<Keep>().unwrap().to_string(), text);
        }
        for wrong in ["", "last", "first:x", "oldest", "oldest:", "priority:source", "priority:=a"] {
            let error = wrong.parse::<Keep>().unwrap_err().to_string();
            assert!(error.contains("known are first, longest"), "{wrong}: {error}");
        }
    }
}
