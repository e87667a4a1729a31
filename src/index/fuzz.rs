//! Fuzz targets for manifests.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use serde_json::Value;

use super::manifest::Manifest;
use crate::seal::sealed_json;

/// Reads `data` as the manifest of an index and as the manifest of a folder of results: both are JSON.
pub(crate) fn manifest(data: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let read = |text: &[u8]| {
        std::fs::write(folder.path().join(crate::export::MANIFEST), text).unwrap();
        if let Ok(Some(manifest)) = crate::export::Manifest::of(folder.path(), &std::sync::Arc::default()) {
            assert!(manifest.files.iter().all(|file| leads_nowhere(&file.name)));
        }
    };
    read(data);
    let Ok(json) = serde_json::from_slice::<Value>(data) else { return };
    if json.as_object().is_some_and(|members| members.keys().any(|key| key != "seal")) {
        read(sealed_json(json.clone()).unwrap().as_bytes());
    }
    let Ok(manifest) = Manifest::of_json(&json) else { return };
    assert!(manifest.parts.iter().all(|part| leads_nowhere(&part.name)));
    assert_eq!(Manifest::of_json(&manifest.to_json()).unwrap(), manifest);
}

fn leads_nowhere(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\']) && !matches!(name, "." | "..")
}
