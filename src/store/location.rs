//! What a URL names.

use std::fmt::{self, Display};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use object_store::ObjectStore;
use object_store::path::Path as Key;
use url::Url;

use super::registry::stores;
use super::uploads::Bucket;

/// The schemes of URLs that name objects.
const SCHEMES: [&str; 8] = ["s3", "gs", "az", "azure", "abfs", "abfss", "http", "https"];

/// What makes a name a pattern.
pub(crate) const MAGIC: [char; 4] = ['*', '?', '[', '{'];

/// An object, or a prefix of objects, in a store.
///
/// The key of an object in a bucket is taken as it is written, without percent-encoding, `?` and `#` included; a web address
/// is a URL.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Location {
    /// Scheme and bucket, such as `s3://bucket`, without a name or a password; empty for files of this machine.
    root: String,
    /// The same as a URL, with whatever the store is reached by.
    store: Url,
    key: Key,
    /// Whether it was written with a `/` at its end, and so is no object.
    is_prefix: bool,
}

impl Location {
    /// What a path names, if it is a URL of an object store.
    pub(crate) fn of_path(path: &Path) -> Result<Option<Self>> {
        path.to_str().map_or(Ok(None), Self::of)
    }

    /// The URL of a file, or of a folder if `is_folder`, or of an object, by its name as it stands: what DataFusion takes for a
    /// path may be a pattern.
    pub(crate) fn url_of(path: &Path, is_folder: bool) -> Result<Url> {
        if let Some(location) = Self::of_path(path)? {
            return Ok(location.url());
        }
        let absolute = std::path::absolute(path).with_context(|| format!("cannot read {}", path.display()))?;
        let url = if is_folder { Url::from_directory_path(&absolute) } else { Url::from_file_path(&absolute) };
        url.ok().with_context(|| format!("cannot read {}: no URL has this name", path.display()))
    }

    /// What a text names, if it is a URL of an object store.
    pub(crate) fn of(text: &str) -> Result<Option<Self>> {
        let Some((scheme, rest)) = text.split_once("://") else { return Ok(None) };
        let scheme = scheme.to_ascii_lowercase();
        // One place has one name.
        let scheme = scheme.strip_suffix('a').filter(|scheme| *scheme == "s3").unwrap_or(&scheme);
        if !SCHEMES.contains(&scheme) {
            return Ok(None);
        }
        Self::parse(scheme, rest).with_context(|| format!("{} cannot be read", redacted(text))).map(Some)
    }

    fn parse(scheme: &str, rest: &str) -> Result<Self> {
        let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
        // It would end the name of the host, in web addresses alone.
        if authority.contains('\\') {
            bail!("it has a backslash in the name of its host; write / before the path");
        }
        let mut store = Url::parse(&format!("{scheme}://{authority}/")).context("it is no URL")?;
        if store.host_str().is_none_or(str::is_empty) {
            bail!("it names no bucket; write {scheme}://bucket/key");
        }
        let root = match (scheme, authority.rsplit_once('@')) {
            // A container of an account.
            ("abfs" | "abfss", Some((container, account))) => {
                format!("{scheme}://{}@{account}", container.split(':').next().unwrap_or_default())
            }
            (_, Some((_, host))) => format!("{scheme}://{host}"),
            (_, None) => format!("{scheme}://{authority}"),
        };
        let (key, is_prefix) = if scheme.starts_with("http") {
            let url = Url::parse(&format!("{scheme}://{rest}")).context("it is no URL")?;
            // What is asked for stands with the server, and not with the file.
            store.set_query(url.query());
            (Key::from_url_path(url.path())?, url.path().ends_with('/'))
        } else {
            let key = rest[authority.len()..].trim_start_matches('/');
            let written = key.trim_end_matches('/');
            let Ok(parsed) = Key::parse(written) else { bail!("its key has an empty part, or one that is . or ..") };
            (parsed, key.len() != written.len() || key.is_empty())
        };
        Ok(Self { root, store, key, is_prefix })
    }

    /// A file of this machine, a folder, or a pattern of files, unless there is no folder for it.
    pub(crate) fn of_file(name: &str) -> Result<Option<Self>> {
        let path = Path::new(name);
        let magic = if path.exists() { None } else { name.find(MAGIC) };
        let split = name[..magic.unwrap_or(name.len())].rfind('/').map_or(0, |at| at + 1);
        let (folder, rest) = name.split_at(if path.is_dir() { name.len() } else { split });
        // Keys have no `..`.
        let folder = match fs::canonicalize(if folder.is_empty() { "." } else { folder }) {
            Ok(folder) => folder,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {name}")),
        };
        let key = Key::from_absolute_path(folder.join(rest)).with_context(|| format!("cannot read {name}"))?;
        Ok(Some(Self { root: String::new(), store: Url::parse("file:///")?, key, is_prefix: rest.is_empty() }))
    }

    /// The folder below which the objects of a glob are, and the pattern of their names below it.
    pub(crate) fn split_glob(&self) -> Option<(Self, String)> {
        let key = self.key.as_ref();
        let magic = key.find(MAGIC)?;
        let split = key[..magic].rfind('/').map_or(0, |at| at + 1);
        let folder = Self { key: Key::parse(&key[..split]).ok()?, is_prefix: true, ..self.clone() };
        Some((folder, key[split..].to_owned()))
    }

    /// The prefix that the object of this name would be.
    pub(crate) fn as_prefix(&self) -> Self {
        Self { is_prefix: true, ..self.clone() }
    }

    /// The prefix that an object stands below.
    pub(crate) fn folder(&self) -> Self {
        let mut parts: Vec<_> = self.key.parts().collect();
        parts.pop();
        Self { key: parts.into_iter().collect(), ..self.as_prefix() }
    }

    /// The object of a key in the same store.
    pub(crate) fn at(&self, key: Key) -> Self {
        Self { key, is_prefix: false, ..self.clone() }
    }

    /// The object of a name below this prefix.
    pub(crate) fn join(&self, name: &str) -> Self {
        self.at(self.key.parts().chain(name.split('/').map(Into::into)).collect())
    }

    /// Scheme and bucket.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    pub(crate) fn is_prefix(&self) -> bool {
        self.is_prefix
    }

    /// Whether it is a file of a web server, of which no others can be listed.
    pub(crate) fn is_web(&self) -> bool {
        self.store.scheme().starts_with("http")
    }

    /// Whether it is of the machine that the program runs on.
    pub(crate) fn is_of_this_machine(&self) -> bool {
        self.store.scheme() == "file"
    }

    /// The store.
    pub(crate) fn store(&self) -> Result<Arc<dyn ObjectStore>> {
        stores().get(&self.store)
    }

    /// The bucket, if it is one of S3 that is asked with keys.
    pub(super) fn bucket(&self) -> Result<Option<Arc<Bucket>>> {
        stores().bucket(&self.store)
    }

    /// The URL as DataFusion reads it, where what is special is percent-encoded.
    pub(crate) fn url(&self) -> Url {
        let mut url = self.store.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.clear().extend(self.key.parts().map(|part| part.as_ref().to_owned()));
            if self.is_prefix {
                path.push("");
            }
        }
        url
    }
}

impl Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.root, self.key)?;
        if self.is_prefix && !self.key.as_ref().is_empty() { f.write_str("/") } else { Ok(()) }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

/// The text without what may be a secret in a URL: names and passwords before the host, and what follows a `?`.
pub(crate) fn redacted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let is_web = before.ends_with("http://") || before.ends_with("https://");
        let end = after
            .find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '<' | '>' | ')'))
            .unwrap_or(after.len());
        let (url, more) = after.split_at(end);
        let (authority, path) = url.split_at(url.find(['/', '?', '#']).unwrap_or(url.len()));
        match authority.rsplit_once('@') {
            Some((user, host)) if user.contains(':') || is_web => {
                shown.push_str("***@");
                shown.push_str(host);
            }
            _ => shown.push_str(authority),
        }
        match path.split_once('?') {
            Some((path, query)) if is_web || query.contains('=') => {
                shown.push_str(path);
                shown.push_str("?***");
            }
            _ => shown.push_str(path),
        }
        rest = more;
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Location {
        Location::of(text).unwrap().unwrap()
    }

    #[test]
    fn a_backslash_in_the_name_of_a_host_is_an_error() {
        for text in ["https://a\\b/c", "s3://a\\b/c"] {
            let error = format!("{:#}", Location::of(text).unwrap_err());
            assert!(error.contains("it has a backslash"), "{error}");
        }
        assert_eq!(of("s3://a/b\\c").key().as_ref(), "b\\c");
    }

    #[test]
    fn keys_are_as_they_are_written() {
        for (text, root, key, is_prefix) in [
            ("s3://b/dir/a b#1?.txt", "s3://b", "dir/a b#1?.txt", false),
            ("S3://b/50%25.txt", "s3://b", "50%25.txt", false),
            ("s3://b/dir/", "s3://b", "dir", true),
            ("s3://b", "s3://b", "", true),
            ("gs://b/数据.jsonl", "gs://b", "数据.jsonl", false),
            ("abfss://c@account.dfs.core.windows.net/x", "abfss://c@account.dfs.core.windows.net", "x", false),
            ("https://me:secret@h:8080/a%20b.csv?X-Amz-Signature=1", "https://h:8080", "a b.csv", false),
        ] {
            let location = of(text);
            assert_eq!(
                (location.root(), location.key().as_ref(), location.is_prefix()),
                (root, key, is_prefix),
                "{text}"
            );
            assert!(!format!("{location:?} {location}").contains("secret"));
        }
        for text in ["s3:/b/x", "dir/x", "ftp://b/x", "C://x"] {
            assert_eq!(Location::of(text).unwrap(), None, "{text}");
        }
        for text in ["s3://", "s3:///x", "s3://b/a//b", "s3://b/../x"] {
            assert!(Location::of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_url_for_datafusion_names_the_same_key() {
        for text in ["s3://b/dir/a b#1?.txt", "s3://b/50%25.txt", "s3://b/dir/", "s3://b/数据/[x].csv"] {
            let location = of(text);
            let url = location.url();
            assert_eq!(Key::from_url_path(url.path()).unwrap(), *location.key(), "{text}: {url}");
            assert_eq!(url.path().ends_with('/'), location.is_prefix(), "{text}: {url}");
        }
        assert_eq!(of("s3://b/dir/").join("x/y z").to_string(), "s3://b/dir/x/y z");
    }

    #[test]
    fn secrets_are_not_shown() {
        for (text, shown) in [
            ("cannot read https://me:pw@h/x?sig=1: no", "cannot read https://***@h/x?*** no"),
            ("'https://h/x?X-Amz-Signature=1' and s3://b/y?", "'https://h/x?***' and s3://b/y?"),
            ("https://token@h/x", "https://***@h/x"),
            ("abfss://c@account/x", "abfss://c@account/x"),
            ("s3://KEY:SECRET@b/x", "s3://***@b/x"),
            ("no URL", "no URL"),
        ] {
            assert_eq!(redacted(text), shown, "{text}");
        }
    }
}
