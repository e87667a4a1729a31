//! What fuzzers run of the names of objects.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use super::location::{Location, redacted, redacted_url};

pub(crate) fn location(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    redacted(&text);
    redacted_url(&text);
    let Ok(Some(location)) = Location::of(&text) else { return };
    let shown = location.to_string();
    // Web addresses are shown as they are read, without the marks that a URL has for some characters.
    if !location.is_web() {
        let again = Location::of(&shown).unwrap().unwrap();
        assert_eq!(again.to_string(), shown, "{text}");
        let parts = |location: &Location| (location.root().to_owned(), location.key().clone(), location.is_prefix());
        assert_eq!(parts(&again), parts(&location));
    }
    // No key leads out of its bucket.
    assert!(location.key().parts().all(|part| !matches!(part.as_ref(), "." | "..")), "{shown}");
    location.url();
    if let Some((folder, pattern)) = location.split_glob() {
        assert!(folder.is_prefix() && !pattern.is_empty(), "{shown}");
    }
    assert_eq!(location.folder().root(), location.root());
}
