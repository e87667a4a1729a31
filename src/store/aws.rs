//! Credentials, region and endpoint of S3 from the variables `AWS_*` and the profiles of `~/.aws`.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use aws_config::profile::ProfileFileRegionProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_types::service_config::ServiceConfigKey;
use object_store::CredentialProvider;
use object_store::aws::AwsCredential;
use tokio::sync::Mutex;

use super::explain::Told;

/// Time before their expiry from which credentials are no longer used: a request may be retried for minutes.
const MARGIN: Duration = Duration::from_secs(300);

/// Help for runs without credentials and without a profile that should have them.
const HELP: &str = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile by AWS_PROFILE, or say `no_sign_request` for \
                    what is open to all";

/// Message that the library gives instead of the reason from the second failure on.
const TAKEN: &str = "initialization error already taken";

/// The settings of S3 in the environment and the profiles.
pub(super) struct Environment {
    pub(super) region: String,
    pub(super) endpoint: Option<String>,
    pub(super) keys: Arc<Keys>,
}

impl Environment {
    /// Reads the settings, except for a region and a key that are given. Makes no network request before keys are
    /// needed. The authorities in `bundle`, which is PEM, may sign the certificates of servers that give keys, too.
    pub(super) async fn read(
        region: Option<String>,
        given: Option<AwsCredential>,
        bundle: Vec<u8>,
    ) -> anyhow::Result<Self> {
        let named = region.or_else(|| variable(&["AWS_REGION", "AWS_DEFAULT_REGION"]));
        let region = match named {
            Some(region) => region,
            None => {
                use aws_config::meta::region::ProvideRegion;
                let of_profile = ProfileFileRegionProvider::new().region().await;
                of_profile.map_or_else(|| "us-east-1".to_owned(), |region| region.as_ref().to_owned())
            }
        };
        let trusted = TrustStore::default().with_pem_certificate(bundle);
        let client = Builder::new()
            .tls_provider(Provider::Rustls(CryptoMode::Ring))
            .tls_context(TlsContext::builder().with_trust_store(trusted).build()?)
            .build_https();
        let config = aws_config::defaults(BehaviorVersion::latest())
            .http_client(client)
            .region(Region::new(region.clone()))
            .load()
            .await;
        let endpoint = variable(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"])
            .or_else(|| of_services(&config))
            .or_else(|| config.endpoint_url().map(str::to_owned));
        let known = Mutex::new(given.map(|key| (Arc::new(key), None)));
        let keys = Keys { provider: config.credentials_provider(), known, first_failure: OnceLock::new() };
        Ok(Self { region, endpoint, keys: Arc::new(keys) })
    }
}

/// Returns the endpoint of S3 in the section `services` of a profile.
fn of_services(config: &SdkConfig) -> Option<String> {
    let key =
        ServiceConfigKey::builder().service_id("S3").env("AWS_ENDPOINT_URL").profile("endpoint_url").build().ok()?;
    config.service_config()?.load_config(key)
}

/// Returns the value of the first variable that is set and not blank.
pub(super) fn variable(names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
}

/// Credentials, which are fetched when they are needed, and again before they expire.
pub(super) struct Keys {
    provider: Option<SharedCredentialsProvider>,
    known: Mutex<Option<(Arc<AwsCredential>, Option<SystemTime>)>>,
    /// The first reason for missing credentials. The library gives the reason of an unreadable profile only once.
    first_failure: OnceLock<String>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

#[async_trait]
impl CredentialProvider for Keys {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        let mut known = self.known.lock().await;
        if let Some((keys, end)) = &*known
            && end.is_none_or(|end| SystemTime::now() + MARGIN < end)
        {
            return Ok(Arc::clone(keys));
        }
        let failed = |said: String| object_store::Error::Generic { store: "S3", source: Box::new(Told(said)) };
        let provider = self.provider.as_ref().ok_or_else(|| failed(format!("there are no credentials; {HELP}")))?;
        let found = provider.provide_credentials().await.map_err(|error| {
            let said = no_keys(&error);
            let first = self.first_failure.get_or_init(|| said.clone());
            failed(if said.contains(TAKEN) { first.clone() } else { said })
        })?;
        let keys = Arc::new(AwsCredential {
            key_id: found.access_key_id().to_owned(),
            secret_key: found.secret_access_key().to_owned(),
            token: found.session_token().map(str::to_owned),
        });
        *known = Some((Arc::clone(&keys), found.expiry()));
        Ok(keys)
    }
}

/// Explains why there are no credentials.
fn no_keys(error: &CredentialsError) -> String {
    let profile = variable(&["AWS_PROFILE"]);
    if matches!(error, CredentialsError::CredentialsNotLoaded(_)) && profile.is_none() {
        return format!("there are no credentials; {HELP}");
    }
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |cause| cause.source());
    // The outermost error says only that something went wrong.
    let said = causes
        .skip(1)
        .map(ToString::to_string)
        .reduce(|all, cause| if all.contains(&cause) { all } else { format!("{all}: {cause}") });
    let (of_profile, help) = match profile {
        Some(name) => (
            format!(" of the profile {name}"),
            "check ~/.aws/config and ~/.aws/credentials, or sign in again, such as with aws sso login",
        ),
        None => (String::new(), HELP),
    };
    format!(
        "there are no credentials{of_profile} ({}); {help}",
        super::redacted(&said.unwrap_or_else(|| error.to_string()))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_no_debug_output() {
        let credential = AwsCredential {
            key_id: "hush-id".to_owned(),
            secret_key: "hush".to_owned(),
            token: Some("hush".to_owned()),
        };
        let known = Mutex::new(Some((Arc::new(credential), None)));
        let keys = Arc::new(Keys { provider: None, known, first_failure: OnceLock::new() });
        assert_eq!(format!("{keys:?} {keys:#?}"), "Keys Keys");
    }
}
