//! The stores of an engine, or of a session.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use datafusion::common::exec_err;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use hyper::header::AUTHORIZATION;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredential};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{Certificate, HttpConnector as _};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, HeaderValue, ObjectStore, RetryConfig};
use percent_encoding::percent_decode_str;
use url::{Host, Url};
use xxhash_rust::xxh3::xxh3_64;

use super::aws::{Environment, variable};
use super::blocking::wait;
use super::given_up::Uploads;
use super::http::{Connector, Traffic};
use super::location::redacted_url;
use super::remote::{About, Remote};
use super::sealed::SealedStore;
use super::uploads::Bucket;

/// Number and time of the tries of a request: with the last try, 170 seconds at most.
const TRIES: RetryConfig = RetryConfig {
    backoff: BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(10),
        base: 2.0,
    },
    max_retries: 10,
    retry_timeout: Duration::from_secs(90),
};

/// Timeouts of a connection, and of one try of a request; most tries have a [shorter one](super::http::LONGEST).
const TIMEOUTS: [(ClientConfigKey, &str); 2] =
    [(ClientConfigKey::ConnectTimeout, "10 seconds"), (ClientConfigKey::Timeout, "80 seconds")];

/// Settings for reaching stores. The environment gives those that are missing here.
#[derive(Clone, Default)]
pub struct Settings {
    /// The address of a server that speaks S3.
    pub endpoint: Option<String>,
    /// True if requests go without a key.
    pub anonymous: bool,
    /// The region of buckets.
    pub region: Option<String>,
    /// True if connections may be unencrypted.
    pub allow_http: bool,
    /// The id and the secret of an S3 access key.
    pub keys: Option<[String; 2]>,
    /// The S3 session token that goes with the key.
    pub session_token: Option<String>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { endpoint, anonymous, region, allow_http, keys, session_token } = self;
        f.debug_struct("Settings")
            .field("endpoint", &endpoint.as_deref().map(redacted_url))
            .field("anonymous", anonymous)
            .field("region", region)
            .field("allow_http", allow_http)
            .field("keys", &keys.as_ref().map(|_| "***"))
            .field("session_token", &session_token.as_ref().map(|_| "***"))
            .finish()
    }
}

/// Traffic to and from an object store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreTraffic {
    /// Scheme and bucket, such as `s3://bucket`.
    pub store: String,
    /// The bytes of the bodies of all answers.
    pub read: u64,
    /// The bytes of the bodies of all requests.
    pub written: u64,
    /// The number of requests.
    pub requests: u64,
}

/// Stores by URL, each made when it is first needed. A `Stores` is equal only to itself.
#[derive(Default)]
pub struct Stores {
    settings: Settings,
    made: Mutex<BTreeMap<String, Made>>,
    /// The files of this machine, and stores that were registered by hand.
    others: DefaultObjectStoreRegistry,
    /// The registry of a session that belongs to no engine. It is asked first.
    of_session: Option<Arc<dyn ObjectStoreRegistry>>,
    pub(super) uploads: Uploads,
}

#[derive(Clone)]
struct Made {
    store: Arc<dyn ObjectStore>,
    root: String,
    traffic: Arc<Traffic>,
    /// The same store, if it is S3 with signed requests.
    bucket: Option<Arc<Bucket>>,
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stores")
    }
}

impl PartialEq for Stores {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self, other)
    }
}

impl Eq for Stores {}

impl Hash for Stores {
    fn hash<H: Hasher>(&self, state: &mut H) {
        ptr::hash(self, state);
    }
}

impl Stores {
    /// Creates stores that are reached with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Creates the stores of a session that belongs to no engine: those of its registry, and others with the settings
    /// of the environment.
    pub(crate) fn over(registry: Arc<dyn ObjectStoreRegistry>) -> Self {
        Self { of_session: Some(registry), ..Self::default() }
    }

    /// Returns the stores of a session.
    pub(crate) fn of_session(session: &SessionState) -> Arc<Self> {
        let known = session.config().get_extension::<Self>();
        known.unwrap_or_else(|| Arc::new(Self::over(Arc::clone(&session.runtime_env().object_store_registry))))
    }

    /// Returns the store of a URL. The path of the URL does not matter.
    pub(crate) fn get(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        match self.of_session.as_ref().map(|registry| registry.get_store(url)) {
            Some(Ok(store)) => Ok(store),
            _ => Ok(self.made(url)?.store),
        }
    }

    /// Returns the bucket of a URL, if it is an S3 bucket with signed requests.
    pub(super) fn bucket(&self, url: &Url) -> Result<Option<Arc<Bucket>>> {
        Ok(self.made(url)?.bucket)
    }

    fn made(&self, url: &Url) -> Result<Made> {
        let mut url = url.clone();
        url.set_path("");
        let key = format!("{}?{}", &url[..url::Position::BeforePath], url.query().unwrap_or_default());
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made.get(&key) {
            return Ok(made.clone());
        }
        let new = self
            .make(&url, &key)
            .with_context(|| format!("cannot reach {}", redacted_url(&url[..url::Position::BeforePath])))?;
        made.insert(key, new.clone());
        Ok(new)
    }

    /// Returns what went over the wire to and from each store.
    pub(crate) fn traffic(&self) -> Vec<StoreTraffic> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let of_store = |made: &Made| StoreTraffic {
            store: made.root.clone(),
            read: made.traffic.read(),
            written: made.traffic.written(),
            requests: made.traffic.requests(),
        };
        made.values().map(of_store).collect()
    }

    fn make(&self, url: &Url, key: &str) -> Result<Made> {
        let traffic = Arc::new(Traffic::default());
        let (bundle, certificates) = certificates()?;
        let connector = Connector::new(Arc::clone(&traffic), certificates);
        let root = redacted_url(&url[..url::Position::BeforePath]);
        let allow_http = self.settings.allow_http || variable(&["AWS_ALLOW_HTTP"]).is_some_and(|value| is_true(&value));
        let mut about = About {
            root: root.clone(),
            endpoint: None,
            region: None,
            is_anonymous: self.settings.anonymous,
            is_key_given: self.settings.keys.is_some(),
            has_suffixes: !url.scheme().starts_with('a'),
            seed: xxh3_64(key.as_bytes()),
        };
        let mut bucket = None;
        let inner: Arc<dyn ObjectStore> = match url.scheme() {
            "s3" | "s3a" => {
                let region = self.settings.region.clone();
                let keys = self.settings.keys.clone().map(|[key_id, secret_key]| AwsCredential {
                    key_id,
                    secret_key,
                    token: self.settings.session_token.clone(),
                });
                let environment = wait(Environment::read(region, keys, bundle))??;
                let endpoint = self.settings.endpoint.clone().or(environment.endpoint);
                let mut builder = AmazonS3Builder::from_env()
                    .with_bucket_name(url.host_str().unwrap_or_default())
                    .with_region(&environment.region)
                    .with_allow_http(allow_http)
                    .with_retry(TRIES)
                    .with_credentials(environment.keys)
                    .with_http_connector(connector.clone());
                for (key, value) in TIMEOUTS {
                    let key = AmazonS3ConfigKey::Client(key);
                    if builder.get_config_value(&key).is_none_or(|value| is_default(&key, &value)) {
                        builder = builder.with_config(key, value);
                    }
                }
                if self.settings.anonymous || about.is_key_given {
                    builder = builder.with_skip_signature(self.settings.anonymous);
                }
                about.is_anonymous |=
                    builder.get_config_value(&AmazonS3ConfigKey::SkipSignature).is_some_and(|value| is_true(&value));
                if let Some(endpoint) = endpoint {
                    check_endpoint(&endpoint, allow_http)?;
                    let is_of_bucket = builder
                        .get_config_value(&AmazonS3ConfigKey::VirtualHostedStyleRequest)
                        .is_some_and(|value| is_true(&value));
                    let bucket = url.host_str().unwrap_or_default();
                    let endpoint = if is_of_bucket { of_bucket(&endpoint, bucket)? } else { endpoint };
                    builder = builder.with_endpoint(&endpoint).with_config(AmazonS3ConfigKey::S3Endpoint, &endpoint);
                    about.endpoint = Some(redacted_url(&endpoint));
                }
                let store = Arc::new(builder.build()?);
                if !about.is_anonymous {
                    let options = ClientOptions::new().with_allow_http(allow_http);
                    let (store, region) = (Arc::clone(&store), environment.region.clone());
                    bucket = Some(Arc::new(Bucket { store, connector, options, region }));
                }
                about.region = Some(environment.region);
                store
            }
            "gs" => {
                let mut builder = GoogleCloudStorageBuilder::from_env()
                    .with_url(url.as_str())
                    .with_retry(TRIES)
                    .with_http_connector(connector);
                for (key, value) in TIMEOUTS {
                    builder = builder.with_config(GoogleConfigKey::Client(key), value);
                }
                if let Some(endpoint) = builder.get_config_value(&GoogleConfigKey::BaseUrl) {
                    check_endpoint(&endpoint, allow_http)?;
                    let key = GoogleConfigKey::Client(ClientConfigKey::AllowHttp);
                    builder = builder.with_config(key, allow_http.to_string());
                    about.endpoint = Some(redacted_url(&endpoint));
                }
                if self.settings.anonymous {
                    builder = builder.with_skip_signature(true);
                }
                Arc::new(builder.build()?)
            }
            "az" | "azure" | "abfs" | "abfss" => {
                let mut builder = MicrosoftAzureBuilder::from_env()
                    .with_url(url.as_str())
                    .with_allow_http(allow_http)
                    .with_retry(TRIES)
                    .with_http_connector(connector);
                for (key, value) in TIMEOUTS {
                    builder = builder.with_config(AzureConfigKey::Client(key), value);
                }
                if self.settings.anonymous {
                    builder = builder.with_skip_signature(true);
                }
                Arc::new(builder.build()?)
            }
            "http" | "https" => {
                check_endpoint(url.as_str(), allow_http)?;
                let mut options = ClientOptions::new();
                if let Some(authorization) = authorization(url)? {
                    options = options.with_default_headers([(AUTHORIZATION, authorization)].into_iter().collect());
                }
                let mut builder = HttpBuilder::new()
                    .with_client_options(options)
                    .with_url(url.as_str())
                    .with_retry(TRIES)
                    .with_http_connector(connector)
                    .with_config(ClientConfigKey::AllowHttp, allow_http.to_string());
                for (key, value) in TIMEOUTS {
                    builder = builder.with_config(key, value);
                }
                Arc::new(builder.build()?)
            }
            scheme => bail!("{scheme}:// is no object store; known are s3, gs, az, abfss, https"),
        };
        let remote: Arc<dyn ObjectStore> = Arc::new(Remote { inner, about: Arc::new(about) });
        // Sealed files are checked as they are read.
        let store = Arc::new(SealedStore::new(remote));
        Ok(Made { store, root, traffic, bucket })
    }
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.others.register_store(url, store)
    }

    fn deregister_store(&self, url: &Url) -> datafusion::common::Result<Arc<dyn ObjectStore>> {
        self.others.deregister_store(url)
    }

    fn get_store(&self, url: &Url) -> datafusion::common::Result<Arc<dyn ObjectStore>> {
        if let Ok(store) = self.others.get_store(url) {
            return Ok(store);
        }
        if url.scheme() == "file" {
            return exec_err!("there is no store for the files of this machine");
        }
        self.get(url).map_err(|error| DataFusionError::Execution(format!("{error:#}")))
    }
}

/// Returns true if a setting of the environment means yes.
fn is_true(value: &str) -> bool {
    matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "on" | "yes" | "y")
}

/// Returns true if a timeout has the library's default.
fn is_default(key: &AmazonS3ConfigKey, value: &str) -> bool {
    AmazonS3Builder::new().get_config_value(key).as_deref() == Some(value)
}

/// Fails if an endpoint is not a valid address, or is unencrypted although that is not allowed.
fn check_endpoint(endpoint: &str, allow_http: bool) -> Result<()> {
    let shown = redacted_url(endpoint);
    match Url::parse(endpoint).map(|url| url.scheme().to_owned()).as_deref() {
        Ok("https") => Ok(()),
        Ok("http") if allow_http => Ok(()),
        Ok("http") => bail!("{shown} is not encrypted; use https://, or say `allow_http`"),
        _ => bail!("{shown} is no address of a server; write it as https://host:port"),
    }
}

/// Adds the bucket to the host of an endpoint, unless it is there. The library would take any address.
fn of_bucket(endpoint: &str, bucket: &str) -> Result<String> {
    let mut url = Url::parse(endpoint)?;
    let host = url.host_str().unwrap_or_default();
    let is_name = matches!(url.host(), Some(Host::Domain(_)));
    if !is_name || !host.starts_with(&format!("{bucket}.")) {
        let host = format!("{bucket}.{host}");
        if !is_name || url.set_host(Some(&host)).is_err() {
            bail!(
                "{} cannot have the bucket {bucket} in its host name, as AWS_VIRTUAL_HOSTED_STYLE_REQUEST=true \
                 requires: unset that",
                redacted_url(endpoint)
            );
        }
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Returns the name and the password of a URL as an `Authorization` header.
fn authorization(url: &Url) -> Result<Option<HeaderValue>> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(None);
    }
    let decoded = |part| percent_decode_str(part).collect::<Vec<u8>>();
    let both = [decoded(url.username()), decoded(url.password().unwrap_or_default())].join(&b':');
    let mut value = HeaderValue::from_str(&format!("Basic {}", BASE64_STANDARD.encode(both)))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// Reads the file that `AWS_CA_BUNDLE` names. Returns its PEM text and its certificates.
fn certificates() -> Result<(Vec<u8>, Vec<Certificate>)> {
    let Some(path) = variable(&["AWS_CA_BUNDLE"]) else { return Ok(Default::default()) };
    let bundle = std::fs::read(&path).with_context(|| format!("cannot read {path}, which AWS_CA_BUNDLE names"))?;
    let found = Certificate::from_pem_bundle(&bundle).unwrap_or_default();
    if found.is_empty() {
        bail!("{path}, which AWS_CA_BUNDLE names, has no certificates; name a file of them in PEM");
    }
    // The content of a certificate is parsed only when a client is made, and the client for keys would panic.
    Connector::new(Arc::default(), found.clone())
        .connect(&ClientOptions::new())
        .with_context(|| format!("{path}, which AWS_CA_BUNDLE names, has what is no certificate"))?;
    Ok((bundle, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_no_debug_output() {
        let settings = Settings {
            endpoint: Some("https://me:hush@store.example".to_owned()),
            keys: Some(["hush-id".to_owned(), "hush".to_owned()]),
            session_token: Some("hush".to_owned()),
            ..Settings::default()
        };
        let shown = format!("{settings:?} {settings:#?} {:?}", Stores::new(settings.clone()));
        assert!(!shown.contains("hush") && shown.contains("store.example"), "{shown}");
    }

    #[test]
    fn the_bucket_is_put_before_the_host_once() {
        for (endpoint, expected) in [
            ("http://store.example:9000", "http://box.store.example:9000"),
            ("https://box.store.example/", "https://box.store.example"),
            ("https://boxes.example", "https://box.boxes.example"),
        ] {
            assert_eq!(of_bucket(endpoint, "box").unwrap(), expected);
        }
        for (endpoint, bucket) in
            [("http://127.0.0.1:9000", "box"), ("http://[::1]:9000", "box"), ("http://127.0.0.1:9000", "127")]
        {
            let error = of_bucket(endpoint, bucket).unwrap_err().to_string();
            assert!(error.contains("AWS_VIRTUAL_HOSTED_STYLE_REQUEST"), "{error}");
        }
    }
}
