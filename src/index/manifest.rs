//! The manifest of an index, as JSON.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::seal::Root;

/// The version of the layout that is written and read.
const LAYOUT: u64 = 3;

/// The parts of an index at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The number of the manifest that this one was made from, plus one.
    pub(crate) number: u64,
    /// The column with the times of documents.
    pub(crate) time_column: Option<String>,
    /// The parts, in the order in which they were added.
    pub parts: Vec<Part>,
}

/// The documents of one batch, as a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The name of the folder among the parts.
    pub name: String,
    /// The number of the manifest that named it first. It orders parts, and documents that have no time.
    pub(crate) number: u64,
    /// The version of ibid that wrote it.
    pub(crate) ibid: String,
    pub documents: PartFile,
    pub(crate) sentences: PartFile,
    /// The earliest and the latest time of its documents, in microseconds since 1970, if there is a time column.
    pub(crate) times: Option<[i64; 2]>,
    /// The inputs as they were named, and the parameters of reading them.
    pub(crate) inputs: Value,
    pub(crate) parameters: Value,
}

/// A file of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartFile {
    pub rows: u64,
    pub(crate) bytes: u64,
    pub(crate) seal: Root,
}

impl Manifest {
    pub(super) fn has_part(&self, name: &str) -> bool {
        self.parts.iter().any(|part| part.name == name)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "layout": LAYOUT,
            "ibid": env!("CARGO_PKG_VERSION"),
            "number": self.number,
            "time_column": self.time_column,
            "parts": self.parts.iter().map(Part::to_json).collect::<Vec<_>>(),
        })
    }

    pub(super) fn of_json(json: &Value) -> Result<Self> {
        let layout = number(json, "layout")?;
        if layout != LAYOUT {
            let ibid = text(json, "ibid").unwrap_or("another version");
            bail!(
                "its layout {layout} is that of ibid {ibid}, and this version reads layout {LAYOUT}; use that version of ibid"
            );
        }
        let parts = json["parts"].as_array().context("\"parts\" is no list")?;
        Ok(Self {
            number: number(json, "number")?,
            time_column: json["time_column"].as_str().map(str::to_owned),
            parts: parts.iter().map(Part::of_json).collect::<Result<_>>()?,
        })
    }
}

impl Part {
    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "number": self.number,
            "ibid": self.ibid,
            "documents": self.documents.to_json(),
            "sentences": self.sentences.to_json(),
            "times": self.times,
            "inputs": self.inputs,
            "parameters": self.parameters,
        })
    }

    fn of_json(json: &Value) -> Result<Self> {
        let name = text(json, "name")?;
        // A name must be the folder of a part, and lead nowhere else.
        if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
            bail!("{name:?} is no name of a part");
        }
        let times = match &json["times"] {
            Value::Null => None,
            times => Some([time(&times[0])?, time(&times[1])?]),
        };
        Ok(Self {
            name: name.to_owned(),
            number: number(json, "number")?,
            ibid: text(json, "ibid")?.to_owned(),
            documents: PartFile::of_json(&json["documents"])?,
            sentences: PartFile::of_json(&json["sentences"])?,
            times,
            inputs: json["inputs"].clone(),
            parameters: json["parameters"].clone(),
        })
    }

    /// Returns the file of a table.
    pub(crate) fn file(&self, table: &str) -> PartFile {
        if table == "documents" { self.documents } else { self.sentences }
    }
}

impl PartFile {
    fn to_json(self) -> Value {
        json!({ "rows": self.rows, "bytes": self.bytes, "seal": self.seal.to_string() })
    }

    fn of_json(json: &Value) -> Result<Self> {
        let seal = text(json, "seal")?.parse().context("\"seal\" is no hash")?;
        Ok(Self { rows: number(json, "rows")?, bytes: number(json, "bytes")?, seal })
    }
}

fn number(json: &Value, key: &str) -> Result<u64> {
    json[key].as_u64().with_context(|| format!("{key:?} is no number"))
}

fn text<'a>(json: &'a Value, key: &str) -> Result<&'a str> {
    json[key].as_str().with_context(|| format!("{key:?} is no text"))
}

fn time(json: &Value) -> Result<i64> {
    json.as_i64().context("\"times\" are no two numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let file = |seal| PartFile { rows: 3, bytes: 1 << 40, seal: Root(seal) };
        let part = |number, times| Part {
            name: format!("{number:08}-1f"),
            number,
            ibid: "0.1.0".to_owned(),
            documents: file(1),
            sentences: file(u64::MAX),
            times,
            inputs: json!(["batch.jsonl"]),
            parameters: json!({"text_column": null}),
        };
        let parts = vec![part(1, None), part(2, Some([-5, 1_704_067_200_000_000]))];
        Manifest { number: 2, time_column: Some("published \"at\"".to_owned()), parts }
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let written = manifest().to_json().to_string();
        assert_eq!(Manifest::of_json(&serde_json::from_str(&written).unwrap()).unwrap(), manifest());
    }

    #[test]
    fn what_is_no_manifest_is_an_error_that_says_why() {
        let sound = manifest().to_json();
        for (path, wrong, said) in [
            ("/layout", json!(1), "its layout 1"),
            ("/number", json!(-1), "\"number\" is no number"),
            ("/parts", json!({}), "\"parts\" is no list"),
            ("/parts/0/name", json!("../../etc"), "is no name of a part"),
            ("/parts/0/name", json!(null), "\"name\" is no text"),
            ("/parts/0/documents", json!([]), "\"seal\" is no text"),
            ("/parts/0/documents/seal", json!("xyz"), "\"seal\" is no hash"),
            ("/parts/1/times", json!([1]), "\"times\" are no two numbers"),
        ] {
            let mut json = sound.clone();
            *json.pointer_mut(path).unwrap() = wrong;
            let error = Manifest::of_json(&json).unwrap_err().to_string();
            assert!(error.contains(said), "{path}: {error}");
        }
        assert!(Manifest::of_json(&json!("text")).is_err());
    }
}
