//! Fields, how they become sets, and which thread of a group is kept.

use std::str::FromStr;

use anyhow::{Error, Result, bail};

use crate::error::misuse;
use crate::methods::Signature;
use crate::methods::times::seconds;
use crate::pipeline::query::Literal;

/// Names of columns of the result, which fields cannot have.
const TAKEN: [&str; 7] = ["id_a", "id_b", "score", "doc_a", "doc_b", "label", "canonical"];

/// A field as it is given: `NAME` or `NAME=WEIGHT`.
#[derive(Debug, Clone)]
pub struct FieldOption {
    name: String,
    weight: Option<f64>,
}

impl FieldOption {
    pub(super) fn new(name: String, weight: f64) -> Self {
        Self { name, weight: Some(weight) }
    }

    /// Fails if the name or the weight is invalid.
    fn check(&self) -> Result<()> {
        if self.name.split('+').any(str::is_empty) {
            bail!("write NAME=WEIGHT, such as title=0.4, or title+body=1 for two columns that are read as one");
        }
        match self.weight.filter(|weight| !(*weight >= 0.0 && weight.is_finite())) {
            Some(weight) => bail!("the weight of {} is a number from 0, got {weight}", self.name),
            None => Ok(()),
        }
    }

    /// Returns the columns that are read as one text.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.name.split('+')
    }
}

impl FromStr for FieldOption {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, weight) = match text.rsplit_once('=') {
            None => (text, None),
            Some((name, weight)) => match weight.trim().parse::<f64>() {
                Ok(weight) if weight >= 0.0 && weight.is_finite() => (name, Some(weight)),
                _ => bail!(
                    "the weight of {name} is a number from 0, got '{weight}'; write NAME=WEIGHT, such as title=0.4"
                ),
            },
        };
        let field = Self { name: name.to_string(), weight };
        field.check()?;
        Ok(field)
    }
}

/// A signature of all fields, or of one: `SPEC` or `FIELD=SPEC`.
#[derive(Debug, Clone)]
pub struct SignatureOption {
    /// The option as it was given.
    pub(super) text: String,
    field: Option<String>,
    signature: Signature,
}

impl SignatureOption {
    pub(super) fn new(field: Option<String>, signature: Signature) -> Self {
        let of_field = field.as_ref().map(|field| format!("{field}=")).unwrap_or_default();
        Self { text: format!("{of_field}{}", signature.spec()), field, signature }
    }
}

impl FromStr for SignatureOption {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (field, signature) = text.rsplit_once('=').map_or((None, text), |(field, rest)| (Some(field), rest));
        Ok(Self { text: text.to_string(), field: field.map(str::to_string), signature: Signature::parse(signature)? })
    }
}

/// A field: columns that are read as one text, and how that becomes a set.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    /// Its share of the score; the weights of all fields sum to 1.
    pub(super) weight: f64,
    pub(super) signature: Signature,
}

impl Field {
    /// Returns the fields that the options ask for. Without weights, all fields weigh the same.
    pub(super) fn all(fields: &[FieldOption], signatures: &[SignatureOption]) -> Result<Vec<Self>> {
        let sum: f64 = fields.iter().filter_map(|field| field.weight).sum();
        let given = fields.iter().filter(|field| field.weight.is_some()).count();
        if given > 0 && given < fields.len() {
            bail!("give all fields a weight, as in title=0.4, or none, which makes them equal");
        }
        if given > 0 && !(sum > 0.0 && sum.is_finite()) {
            bail!("the weights of all fields are {sum} together; they must be more than 0, and not that large");
        }
        if fields.is_empty() {
            return Err(misuse!("there is no field to compare; name some as `field`, such as title=0.4"));
        }
        let mut all: Vec<Self> = Vec::new();
        for option in fields {
            option.check()?;
            let name = &option.name;
            if TAKEN.contains(&name.as_str()) {
                bail!(
                    "a field cannot be called {name}, which is a column of the result; rename the column of the input"
                );
            }
            if all.iter().any(|field| field.name == *name) {
                bail!("the field {name} is given twice");
            }
            #[expect(clippy::cast_precision_loss, reason = "a few fields")]
            let equal = 1.0 / fields.len() as f64;
            let of_field = |option: &&SignatureOption| option.field.as_deref() == Some(name);
            let chosen = signatures.iter().find(of_field);
            let chosen = chosen.or_else(|| signatures.iter().find(|option| option.field.is_none()));
            all.push(Self {
                name: name.clone(),
                weight: option.weight.map_or(equal, |weight| weight / sum),
                signature: chosen.map_or_else(|| Signature::SHINGLES_3, |option| option.signature.clone()),
            });
        }
        for (i, SignatureOption { field, .. }) in signatures.iter().enumerate() {
            if let Some(name) = field.as_ref().filter(|name| all.iter().all(|field| field.name != **name)) {
                bail!("`signature` names the field {name}, which is not among those of `field`");
            }
            if signatures[..i].iter().any(|before| before.field == *field) {
                let of_what = field.as_ref().map_or("all fields".to_owned(), |name| format!("the field {name}"));
                bail!("the signature of {of_what} is given twice");
            }
        }
        Ok(all)
    }

    /// Returns the columns that are read as one text.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.name.split('+')
    }

    /// Returns the columns as SQL, each cast to text.
    pub(super) fn texts(&self) -> Literal {
        let text = |name: &str| Literal::column(name).within("CAST(", " AS VARCHAR)");
        Literal::joined(self.columns().map(text), ", ")
    }
}

/// The rule that chooses the thread of a group to keep.
#[derive(Debug, Clone)]
pub enum Canonical {
    /// The thread with the highest number in this column.
    Votes(String),
    /// The thread with the earliest time in this column.
    Oldest(String),
    /// The thread with the longest text.
    Longest,
}

impl FromStr for Canonical {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (rule, column) = text.split_once('=').map_or((text, None), |(rule, column)| (rule, Some(column)));
        let column = |default: &str| column.unwrap_or(default).to_string();
        Ok(match rule {
            "votes" => Self::Votes(column("votes")),
            "oldest" => Self::Oldest(column("created_at")),
            "longest" if !text.contains('=') => Self::Longest,
            _ => bail!("write votes, oldest or longest; votes=COLUMN and oldest=COLUMN name the column"),
        })
    }
}

impl Canonical {
    /// Returns the column that the rule reads, if there is one.
    pub(super) fn column(&self) -> Option<&str> {
        match self {
            Self::Votes(column) | Self::Oldest(column) => Some(column),
            Self::Longest => None,
        }
    }

    /// Returns an SQL expression that is smallest for the thread to keep, and NULL if its value is not known. A column
    /// is read through its text, so that any type with a text form works.
    pub(super) fn rank(&self, fields: &[Field]) -> Literal {
        match self {
            Self::Votes(column) => number(column, f64::MAX).within("-", ""),
            Self::Oldest(column) => seconds(column),
            Self::Longest => {
                Literal::joined(fields.iter().map(Field::texts), ", ").within("-character_length(concat_ws('', ", "))")
            }
        }
    }

    /// Returns the column from which the rank is made, as SQL.
    pub(super) fn ranked_by(&self) -> Literal {
        self.column().map_or_else(|| "".into(), Literal::column)
    }
}

/// Returns SQL that reads a column as numbers. It is NULL for text that is no number, for a number beyond `most` on
/// either side of 0, and for NaN.
pub(crate) fn number(column: &str, most: f64) -> Literal {
    let number = || Literal::column(column).within("TRY_CAST(CAST(", " AS VARCHAR) AS DOUBLE)");
    let is_within = Literal::joined(
        [Literal::joined([number(), (-most).into()], " >= "), Literal::joined([number(), most.into()], " <= ")],
        " AND ",
    );
    Literal::joined([is_within, number()], " THEN ").within("CASE WHEN ", " END")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(fields: &[&str], signatures: &[&str]) -> Result<Vec<Field>> {
        let fields: Result<Vec<_>> = fields.iter().map(|text| text.parse()).collect();
        let signatures: Result<Vec<_>> = signatures.iter().map(|text| text.parse()).collect();
        Field::all(&fields?, &signatures?)
    }

    #[test]
    fn weights_are_shares() {
        let weights = |given: &[&str]| -> Vec<f64> { fields(given, &[]).unwrap().iter().map(|f| f.weight).collect() };
        assert_eq!(weights(&["title=2", "body=1", "answer=1"]), [0.5, 0.25, 0.25]);
        assert_eq!(weights(&["title", "body"]), [0.5, 0.5]);
        assert_eq!(fields(&["title+body=1"], &[]).unwrap()[0].columns().collect::<Vec<_>>(), ["title", "body"]);
    }

    #[test]
    fn mistakes_are_explained() {
        let error = |given: &[&str], signatures: &[&str]| fields(given, signatures).unwrap_err().to_string();
        assert!(error(&["title=x"], &[]).contains("the weight of title is a number from 0, got 'x'"));
        assert!(error(&["title=-1"], &[]).contains("a number from 0"));
        assert!(error(&["=1"], &[]).contains("write NAME=WEIGHT"));
        assert!(error(&["a+=1"], &[]).contains("write NAME=WEIGHT"));
        assert!(error(&["title=1", "body"], &[]).contains("give all fields a weight"));
        assert!(error(&["title=0", "body=0"], &[]).contains("are 0 together"));
        assert!(error(&["title=1e308", "body=1e308"], &[]).contains("are inf together"));
        assert!(error(&["title=1", "title=1"], &[]).contains("given twice"));
        assert!(error(&["score=1"], &[]).contains("cannot be called score"));
        assert!(error(&["title=1"], &["body=shingles:3"]).contains("not among those of `field`"));
        for twice in [["title=shingles:3", "title=lines"], ["shingles:3", "lines"]] {
            assert!(error(&["title=1"], &twice).contains("is given twice"));
        }
    }

    #[test]
    fn the_thread_to_keep_has_the_least_rank() {
        let rank = |text: &str| text.parse::<Canonical>().map(|rule| format!("{:?}", rule.rank(&[])));
        assert!(rank("votes").unwrap().contains("votes"));
        assert!(rank("oldest=posted").unwrap().contains("posted"));
        assert!(rank("longest=x").is_err() && rank("newest").is_err());
    }
}
