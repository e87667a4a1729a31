//! Addresses and locations of objects, parsed from URLs.

use std::fmt::{self, Display};
use std::fs;
use std::io::ErrorKind;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use object_store::ObjectStore;
use object_store::path::{Path as Key, PathPart};
use url::Url;

use super::registry::Stores;
use super::uploads::Bucket;

/// The schemes of URLs that name objects.
const SCHEMES: [&str; 8] = ["s3", "gs", "az", "azure", "abfs", "abfss", "http", "https"];

/// Characters that make a name a pattern.
pub(crate) const MAGIC: [char; 4] = ['*', '?', '[', '{'];

/// An object, or a prefix of objects, by its URL.
///
/// The key of an object in a bucket is read as it is written, without percent-decoding, and includes `?` and `#`. A web
/// address is read as a URL.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    /// Scheme and bucket, such as `s3://bucket`, without a name or a password; empty for files of this machine.
    root: String,
    /// The bucket as a URL, with the name, the password and the query that the store is reached with.
    store: Url,
    key: Key,
    /// True if it was written with a `/` at its end, and so names no object.
    is_prefix: bool,
}

/// An address with the stores by which it is reached.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Location {
    address: Address,
    stores: Arc<Stores>,
}

impl Deref for Location {
    type Target = Address;

    fn deref(&self) -> &Address {
        &self.address
    }
}

impl Address {
    /// Parses a path. Returns `None` if it is no URL of an object store.
    pub(crate) fn of_path(path: &Path) -> Result<Option<Self>> {
        path.to_str().map_or(Ok(None), Self::of)
    }

    /// Returns the URL of a file, or of a folder if `is_folder`, or of an object. The name is taken literally, whereas
    /// DataFusion may take a path for a pattern.
    pub(crate) fn url_of(path: &Path, is_folder: bool) -> Result<Url> {
        if let Some(location) = Self::of_path(path)? {
            return Ok(location.url());
        }
        let absolute = std::path::absolute(path).with_context(|| format!("cannot read {}", path.display()))?;
        let url = if is_folder { Url::from_directory_path(&absolute) } else { Url::from_file_path(&absolute) };
        url.ok().with_context(|| format!("cannot read {}: no URL has this name", path.display()))
    }

    /// Parses a text. Returns `None` if it is no URL of an object store.
    pub(crate) fn of(text: &str) -> Result<Option<Self>> {
        let Some((scheme, rest)) = text.split_once("://") else { return Ok(None) };
        let scheme = scheme.to_ascii_lowercase();
        // Different schemes of one place become the same.
        let names_account = || rest.split('/').next().is_some_and(|authority| authority.contains('@'));
        let scheme = match scheme.as_str() {
            "s3a" => "s3",
            "azure" | "abfs" | "abfss" if !names_account() => "az",
            "abfs" => "abfss",
            scheme => scheme,
        };
        if !SCHEMES.contains(&scheme) {
            return Ok(None);
        }
        Self::parse(scheme, rest).with_context(|| format!("{} cannot be read", redacted_url(text))).map(Some)
    }

    fn parse(scheme: &str, rest: &str) -> Result<Self> {
        let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
        // A backslash ends the host name of a web address, but not of other addresses.
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
            // Host names are case-insensitive, and the default port is left out.
            _ if scheme.starts_with("http") => {
                let port = store.port().map(|port| format!(":{port}")).unwrap_or_default();
                format!("{scheme}://{}{port}", store.host_str().unwrap_or_default())
            }
            (_, Some((_, host))) => format!("{scheme}://{host}"),
            (_, None) => format!("{scheme}://{authority}"),
        };
        let (key, is_prefix) = if scheme.starts_with("http") {
            let url = Url::parse(&format!("{scheme}://{rest}")).context("it is no URL")?;
            // The decoded key would name another object.
            if url.path().to_ascii_lowercase().contains("%2f") {
                bail!("its path has %2F, a / within a name, which cannot be asked for; download the file");
            }
            // The query is part of the store's URL, not of the key.
            store.set_query(url.query());
            (Key::from_url_path(url.path())?, url.path().ends_with('/'))
        } else {
            let behind = &rest[authority.len()..];
            let Some(key) = behind.strip_prefix('/').or(behind.is_empty().then_some("")) else {
                bail!("it has no / before its key");
            };
            let written = key.strip_suffix('/').unwrap_or(key);
            let has_empty = key.starts_with('/') || written.ends_with('/');
            let Some(parsed) = Key::parse(written).ok().filter(|_| !has_empty) else {
                bail!("its key has an empty part, or one that is . or ..")
            };
            (parsed, key.len() != written.len() || key.is_empty())
        };
        Ok(Self { root, store, key, is_prefix })
    }

    /// Returns the address of a file, a folder or a pattern of files on this machine, or `None` if its folder does not
    /// exist.
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

    /// Adds the stores by which this address is reached.
    fn within(self, stores: &Arc<Stores>) -> Location {
        Location { address: self, stores: Arc::clone(stores) }
    }

    /// Returns the address of another key in the same store.
    pub(super) fn with(&self, key: Key, is_prefix: bool) -> Self {
        Self { key, is_prefix, ..self.clone() }
    }

    /// Returns the scheme and the bucket.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    pub(crate) fn is_prefix(&self) -> bool {
        self.is_prefix
    }

    /// Returns true if it is on a web server, which cannot list files.
    pub(crate) fn is_web(&self) -> bool {
        self.store.scheme().starts_with("http")
    }

    /// Returns true if its URL contains a possible key.
    pub(crate) fn has_key(&self) -> bool {
        has_key(&self.store)
    }

    /// Returns true if it is on the machine that the program runs on.
    pub(crate) fn is_of_this_machine(&self) -> bool {
        self.store.scheme() == "file"
    }

    /// Returns the URL as DataFusion reads it, with special characters percent-encoded.
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

impl Location {
    /// Parses a path. Returns `None` if it is no URL of an object store.
    pub(crate) fn of_path(path: &Path, stores: &Arc<Stores>) -> Result<Option<Self>> {
        Ok(Address::of_path(path)?.map(|address| address.within(stores)))
    }

    /// Parses a text. Returns `None` if it is no URL of an object store.
    pub(crate) fn of(text: &str, stores: &Arc<Stores>) -> Result<Option<Self>> {
        Ok(Address::of(text)?.map(|address| address.within(stores)))
    }

    /// Returns the location of a file, a folder or a pattern of files on this machine, or `None` if its folder does not
    /// exist.
    pub(crate) fn of_file(name: &str, stores: &Arc<Stores>) -> Result<Option<Self>> {
        Ok(Address::of_file(name)?.map(|address| address.within(stores)))
    }

    /// Returns the stores by which it is reached.
    pub(crate) fn stores(&self) -> &Arc<Stores> {
        &self.stores
    }

    /// Returns the store that it is in.
    pub(crate) fn store(&self) -> Result<Arc<dyn ObjectStore>> {
        self.stores.get(&self.store)
    }

    /// Returns the bucket, if it is an S3 bucket with signed requests.
    pub(super) fn bucket(&self) -> Result<Option<Arc<Bucket>>> {
        self.stores.bucket(&self.store)
    }

    /// Returns the address without the stores.
    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the location of another key in the same store.
    fn with(&self, key: Key, is_prefix: bool) -> Self {
        self.address.with(key, is_prefix).within(&self.stores)
    }

    /// Splits a glob into the folder that contains its objects, and the pattern of their names below that folder.
    pub(crate) fn split_glob(&self) -> Option<(Self, String)> {
        let key = self.key.as_ref();
        let magic = key.find(MAGIC)?;
        let split = key[..magic].rfind('/').map_or(0, |at| at + 1);
        Some((self.with(Key::parse(&key[..split]).ok()?, true), key[split..].to_owned()))
    }

    /// Returns the prefix with the key of this object.
    pub(crate) fn as_prefix(&self) -> Self {
        self.with(self.key.clone(), true)
    }

    /// Returns the prefix that contains this object.
    pub(crate) fn folder(&self) -> Self {
        let mut parts: Vec<_> = self.key.parts().collect();
        parts.pop();
        self.with(parts.into_iter().collect(), true)
    }

    /// Returns the object of a key in the same store.
    pub(crate) fn at(&self, key: Key) -> Self {
        self.with(key, false)
    }

    /// Returns the object of this name below this prefix. The name is taken as it is written, except for parts that no
    /// key can have, which are percent-encoded.
    pub(crate) fn join(&self, name: &str) -> Self {
        let part = |part| PathPart::parse(part).unwrap_or_else(|_| PathPart::from(part));
        self.at(self.key.parts().chain(name.split('/').map(part)).collect())
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.root, self.key)?;
        if self.is_prefix && !self.key.as_ref().is_empty() { f.write_str("/") } else { Ok(()) }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.address, f)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

/// Returns true if a URL has a password before its host, or a possible key: a name before the host of a web address, or
/// a query behind `?`.
pub(crate) fn has_key(url: &Url) -> bool {
    let is_named = url.scheme().starts_with("http") && !url.username().is_empty();
    is_named || url.password().is_some() || url.query().is_some()
}

/// Hides possible secrets in a URL or a path: names and passwords before the host, and everything behind `?` or `#`.
pub fn redacted_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let Secrets { host, query } = Secrets::of(scheme, rest, true);
    let shown = &rest[host..query.map_or(rest.len(), |at| at + 1)];
    format!("{scheme}://{}{shown}{}", hidden_user(rest, host), if query.is_some() { "***" } else { "" })
}

/// Hides possible secrets of the URLs in a text.
///
/// Passwords may have blanks, quotes, brackets and `/` in them, so the end of a URL without quotes cannot be found. Too
/// much of it is hidden rather than too little, up to a colon that may precede a message about it. Hidden parts stay as
/// they are when the text is redacted again.
pub fn redacted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let scheme = scheme_before(&rest[..at]);
        let quote = rest[..at - scheme.len()].chars().next_back();
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let line = after.split('\n').next().unwrap_or_default();
        let quoted = quote.and_then(|quote| end_of_quoted(after, quote));
        let url = match quoted {
            Some(end) => &after[..end],
            None => &line[..line.find("://").map_or(line.len(), |at| at - scheme_before(&line[..at]).len())],
        };
        let Secrets { host, query } = Secrets::of(scheme, url, quoted.is_some());
        shown.push_str(hidden_user(url, host));
        let end = match query {
            Some(at) => {
                shown.push_str(&url[host..=at]);
                let asked = if quoted.is_some() { &url[at + 1..] } else { &line[at + 1..] };
                let stars = asked.len() - asked.trim_start_matches('*').len();
                shown.push_str(if stars >= 3 { &asked[..stars] } else { "***" });
                let end = match quoted {
                    Some(_) => asked.len(),
                    None if stars >= 3 => stars,
                    None => asked.find(": ").unwrap_or(asked.len()),
                };
                at + 1 + end
            }
            None => {
                shown.push_str(&url[host..]);
                url.len()
            }
        };
        rest = &after[end..];
    }
    shown.push_str(rest);
    shown
}

/// The places of possible secrets in the part of a URL behind its scheme.
struct Secrets {
    /// Start of the host. The text before it is a secret.
    host: usize,
    /// Position of the `?` or `#` that precedes a secret.
    query: Option<usize>,
}

impl Secrets {
    /// Finds possible secrets. `is_url` means that all of the text is the URL.
    fn of(scheme: &str, url: &str, is_url: bool) -> Self {
        let scheme = scheme.to_ascii_lowercase();
        let is_one_of = |schemes: &[&str]| schemes.iter().any(|name| scheme.ends_with(name));
        let is_web = is_one_of(&["http", "https"]);
        let word = |url: &str| match url.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '<' | '>'))
        {
            Some(end) if !is_url => end,
            _ => url.len(),
        };
        let authority = &url[..url.find(['/', '?', '#']).unwrap_or(url.len())];
        let host = match authority.rfind('@') {
            Some(at) if is_one_of(&["abfs", "abfss"]) && is_container(&authority[..at]) => 0,
            Some(at) => at + 1,
            None => host_behind_slash(url, authority, word(url)),
        };
        // In a pattern of names, `?` matches a character.
        let asks = |asked: &str| {
            let asked = &asked[..word(asked)];
            !asked.is_empty() && (is_web || is_one_of(&["az", "azure", "abfs", "abfss"]) || asked.contains('='))
        };
        let query = url[host..].find('?').map(|at| host + at).filter(|at| asks(&url[at + 1..]));
        let fragment = url[host..].find('#').map(|at| host + at).filter(|at| is_web && *at < word(url));
        Self { host, query: query.into_iter().chain(fragment).min() }
    }
}

/// Returns the start of the host behind a password that has a `/` in it, which a URL parser takes for the end of the
/// host. A colon is followed by either a port or a password.
fn host_behind_slash(url: &str, authority: &str, word: usize) -> usize {
    let address = authority.rfind(']').unwrap_or(0);
    let Some(colon) = authority[address..].find(':').map(|at| address + at) else { return 0 };
    let behind = &authority[colon + 1..];
    let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let is_port = (1..=5).contains(&digits) && !behind[digits..].starts_with(char::is_alphanumeric);
    let end = if is_port { url.find(['?', '#']).unwrap_or(url.len()).min(word) } else { url.len() };
    match url[..end].rfind('@') {
        // The rest may belong to a password or to the query.
        Some(at) if url[..at].contains(['?', '#']) => url.len(),
        Some(at) => at + 1,
        None => 0,
    }
}

/// Returns the text that replaces everything before a host.
fn hidden_user(url: &str, host: usize) -> &'static str {
    match host {
        0 => "",
        all if all == url.len() => "***",
        _ => "***@",
    }
}

/// Returns true if the text before the account in a URL of Azure is the name of a container.
fn is_container(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '$'))
}

/// Returns the scheme at the end of a text.
fn scheme_before(text: &str) -> &str {
    &text[text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')).len()..]
}

/// Returns the end of quoted text that begins behind `quote`, if that opens a quote. A quote that is doubled, or in the
/// middle of a word, belongs to the text.
fn end_of_quoted(text: &str, quote: char) -> Option<usize> {
    let end = match quote {
        '<' => '>',
        '\'' | '"' | '`' => quote,
        _ => return None,
    };
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != end {
            continue;
        }
        match chars.peek() {
            Some((_, next)) if *next == end => {
                chars.next();
            }
            Some((_, next)) if next.is_alphanumeric() => {}
            _ => return Some(at),
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Location {
        Location::of(text, &Arc::default()).unwrap().unwrap()
    }

    #[test]
    fn locations_are_equal_in_the_same_stores() {
        let (stores, others) = (Arc::default(), Arc::default());
        let at = |stores| Location::of("s3://b/x", stores).unwrap().unwrap();
        assert_eq!(at(&stores), at(&stores));
        assert_ne!(at(&stores), at(&others));
        assert_ne!(at(&stores), at(&stores).as_prefix());
    }

    #[test]
    fn a_backslash_in_the_name_of_a_host_is_an_error() {
        for text in ["https://a\\b/c", "s3://a\\b/c"] {
            let error = format!("{:#}", Address::of(text).unwrap_err());
            assert!(error.contains("it has a backslash"), "{error}");
        }
        assert_eq!(of("s3://a/b\\c").key().as_ref(), "b\\c");
    }

    #[test]
    fn passwords_and_signatures_are_in_no_debug_output() {
        for text in ["https://me:hush@h/a.csv?sig=hush#hush", "https://h/a.csv?X-Amz-Signature=hush"] {
            let shown = format!("{0:?} {0:#?} {0}", of(text));
            assert!(!shown.contains("hush") && shown.contains("//h/a.csv"), "{shown}");
        }
    }

    #[test]
    fn keys_are_as_they_are_written() {
        for (text, root, key, is_prefix) in [
            ("s3://b/dir/a b#1?.txt", "s3://b", "dir/a b#1?.txt", false),
            ("S3://b/50%25.txt", "s3://b", "50%25.txt", false),
            ("s3://b/dir/", "s3://b", "dir", true),
            ("s3a://b/dir/", "s3://b", "dir", true),
            ("abfss://b/dir/", "az://b", "dir", true),
            ("abfss://b@a.dfs.core.windows.net/dir/", "abfss://b@a.dfs.core.windows.net", "dir", true),
            ("s3://b", "s3://b", "", true),
            ("gs://b/数据.jsonl", "gs://b", "数据.jsonl", false),
            ("abfss://c@account.dfs.core.windows.net/x", "abfss://c@account.dfs.core.windows.net", "x", false),
            ("abfs://c@account/x", "abfss://c@account", "x", false),
            ("http://Host:80/x", "http://host", "x", false),
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
            assert_eq!(Address::of(text).unwrap(), None, "{text}");
        }
        // An encoded `/` would be read as a separator of folders.
        for text in ["s3://", "s3:///x", "s3://b/a//b", "s3://b/../x", "https://h/a%2Fb.csv", "https://h/a%2fb.csv"] {
            assert!(Address::of(text).is_err(), "{text}");
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
        for (name, joined) in
            [("x/y z", "x/y z"), ("a~1.csv", "a~1.csv"), ("数据#50%.csv", "数据#50%.csv"), ("..", "%2E%2E")]
        {
            assert_eq!(of("s3://b/dir/").join(name).to_string(), format!("s3://b/dir/{joined}"));
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        for (text, shown) in [
            ("cannot read https://me:pw@h/x?sig=1: no", "cannot read https://***@h/x?***: no"),
            ("'https://h/x?X-Amz-Signature=1' and s3://b/y?", "'https://h/x?***' and s3://b/y?"),
            ("https://token@h/x", "https://***@h/x"),
            ("HTTP://TOKEN@h/x or Https://h/x?TOKEN", "HTTP://***@h/x or Https://h/x?***"),
            ("abfss://c@account/x", "abfss://c@account/x"),
            ("abfss://c:SECRET@account/x", "abfss://***@account/x"),
            ("s3://KEY:SECRET@b/x", "s3://***@b/x"),
            ("s3://KEY:abc/SECRET@b/x: no", "s3://***@b/x: no"),
            ("s3://KEY:12/SECRET@b/x", "s3://***@b/x"),
            ("cannot read http://me:pa)SECRET@h/x", "cannot read http://***@h/x"),
            ("cannot read http://me:pa'SECRET@h/x", "cannot read http://***@h/x"),
            ("cannot read http://me:pa SECRET@h/x", "cannot read http://***@h/x"),
            ("FROM 'http://me:pa''SE?CRET@h/x' AS t", "FROM 'http://***' AS t"),
            ("FROM 'http://me:pa SECRET@h/x' AS t", "FROM 'http://***@h/x' AS t"),
            ("http://h/c.jsonl?a=b)SECRET, and http://SECRET@h: no", "http://h/c.jsonl?***: no"),
            ("http://h/c.jsonl?a=b'SECRET 'SECRET", "http://h/c.jsonl?***"),
            ("FROM 'http://h/c?a= b)SECRET/x' AS t", "FROM 'http://h/c?***' AS t"),
            ("'https://h/x.csv#access_token=SECRET'", "'https://h/x.csv#***'"),
            ("'az://b/x.csv?SECRET'", "'az://b/x.csv?***'"),
            ("http://h:80/x?mail=a@SECRET", "http://h:80/x?***"),
            // No secrets.
            ("no URL", "no URL"),
            (
                "FROM 'https://example.org/@me/a' WHERE mail = 'a@b?c=d'",
                "FROM 'https://example.org/@me/a' WHERE mail = 'a@b?c=d'",
            ),
            ("FROM 's3://b/part-?.csv', 's3://b/a@b'", "FROM 's3://b/part-?.csv', 's3://b/a@b'"),
            ("s3://b/x#1: see http://[::1]:80/x. Is that y?", "s3://b/x#1: see http://[::1]:80/x. Is that y?"),
        ] {
            let redacted = super::redacted(text);
            assert_eq!(redacted, shown, "{text}");
            assert_eq!(super::redacted(&redacted), redacted);
        }
        for (url, shown) in [
            ("HTTP://me:pa' )/SECRET@h/x: y?a: b", "HTTP://***@h/x: y?***"),
            ("http://me:pa ' SECRET@h/x y?a: b", "http://***@h/x y?***"),
            ("dir/a?b=c@d", "dir/a?b=c@d"),
        ] {
            assert_eq!(redacted_url(url), shown, "{url}");
        }
    }
}
