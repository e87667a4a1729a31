//! The seal of a manifest, which is its last member: the XXH3 hash of the text before it.

use anyhow::{Result, bail};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::Root;

const SEAL: &str = "seal";

/// Returns the end of a manifest that begins with this text.
fn end_of(beginning: &[u8]) -> String {
    format!(",\n  \"{SEAL}\": \"{}\"\n}}\n", Root(xxh3_64(beginning)))
}

/// Returns an object as text, with its seal, which replaces any older seal.
pub(crate) fn sealed_json(mut json: Value) -> Result<String> {
    if let Some(members) = json.as_object_mut() {
        members.shift_remove(SEAL);
    }
    let mut text = serde_json::to_string_pretty(&json)?;
    text.truncate(text.len() - "\n}".len());
    let end = end_of(text.as_bytes());
    Ok(text + &end)
}

/// Fails if a byte of a manifest has changed since it was written.
pub(crate) fn check_json(text: &[u8]) -> Result<()> {
    let beginning = text.len().saturating_sub(end_of(&[]).len());
    let (beginning, end) = text.split_at(beginning);
    if end != end_of(beginning).as_bytes() {
        bail!("it is damaged: its seal does not match its content");
    }
    Ok(())
}

/// Returns true if a text, which may be damaged, ends as manifests do.
pub(crate) fn ends_sealed(text: &[u8]) -> bool {
    let end = end_of(&[]);
    let is_like = |(found, written): (&u8, &u8)| found == written || written.is_ascii_hexdigit();
    text.len() > end.len() && text.iter().rev().zip(end.as_bytes().iter().rev()).all(is_like)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_byte_of_a_manifest_counts() {
        let json = json!({ "layout": 7, "files": [{ "name": "a.parquet" }], "seal": "of another" });
        let text = sealed_json(json).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["files"][0]["name"], "a.parquet");
        assert_eq!(sealed_json(serde_json::from_str(&text).unwrap()).unwrap(), text);
        check_json(text.as_bytes()).unwrap();
        assert!(ends_sealed(text.as_bytes()));
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                assert!(check_json(&bytes).is_err(), "byte {at}");
            }
            assert!(check_json(&text.as_bytes()[at + 1..]).is_err(), "without the first {}", at + 1);
            assert!(check_json(&text.as_bytes()[..at]).is_err(), "only the first {at}");
        }
        for other in ["", "{}", "{\n}\n", "{\n  \"sea\": \"0123456789abcdef\"\n}\n"] {
            assert!(!ends_sealed(other.as_bytes()), "{other}");
        }
    }
}
