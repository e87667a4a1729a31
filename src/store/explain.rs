//! Explanations of store errors: what is wrong, where, and what to do.

use std::error::Error;
use std::fmt::{self, Display};
use std::io;

use object_store::client::{HttpError, HttpErrorKind};

use super::http::OUT_OF_PATIENCE;
use super::location::redacted;

/// An error of a store as users see it. The texts of the libraries, with addresses and signatures, are left out.
#[derive(Debug, Clone)]
pub struct Explained {
    /// The object that was read or written, unless `said` names it.
    place: Option<String>,
    said: String,
    kind: Kind,
}

/// The category of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The object may not be read, or has no such bytes. It may or may not be writable.
    Unsure,
    NoBucket,
    Other,
}

impl Explained {
    pub(crate) fn new(said: String) -> Self {
        Self { place: None, said, kind: Kind::Other }
    }

    pub(crate) fn at(place: String, said: String) -> Self {
        Self { place: Some(place), said, kind: Kind::Other }
    }

    /// Returns the explanation in an error or its causes, if there is one.
    pub fn of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        causes(error).find_map(|cause| cause.downcast_ref::<Self>())
    }

    /// Returns the explanation that an I/O error holds, if there is one.
    pub(crate) fn of_io(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// Returns what is wrong and what to do about it, without the place.
    pub(crate) fn reason(&self) -> &str {
        &self.said
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }
}

impl Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.said),
            None => f.write_str(&self.said),
        }
    }
}

impl Error for Explained {}

/// The facts about a store that its explanations need.
pub(super) struct Asked<'a> {
    /// The object that was read or written, as the user calls it.
    pub(super) place: &'a str,
    /// The bucket, or the web server.
    pub(super) root: &'a str,
    /// The address of the server, unless it is a cloud's own.
    pub(super) endpoint: Option<&'a str>,
    /// The region of the requests, in stores that have regions.
    pub(super) region: Option<&'a str>,
    pub(super) is_anonymous: bool,
    /// True if the engine was given the key, regardless of the environment.
    pub(super) is_key_given: bool,
}

/// A reason that is shown as it is.
#[derive(Debug)]
pub(super) struct Told(pub(super) String);

impl Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Told {}

impl Asked<'_> {
    /// Returns the names of the settings that choose the credentials, and of those that choose the server.
    fn settings(&self) -> [&'static str; 2] {
        match self.root.split("://").next() {
            Some("gs") => ["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_BASE_URL"],
            Some("az" | "azure" | "abfs" | "abfss") => {
                ["AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_ACCOUNT_NAME"]
            }
            Some("http" | "https") => ["a name and a password in the URL", "the URL"],
            _ => ["AWS_PROFILE or AWS_ACCESS_KEY_ID", "`endpoint_url`"],
        }
    }
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}

/// Replaces the cause of an error by an explanation.
pub(super) fn explain(error: object_store::Error, asked: &Asked<'_>) -> object_store::Error {
    use object_store::Error as E;
    if Explained::of(&error).is_some() {
        return error;
    }
    let (said, kind) = reason(&error, asked);
    let source = Box::new(Explained { place: Some(asked.place.to_owned()), said, kind });
    match error {
        E::NotFound { path, .. } => E::NotFound { path, source },
        E::AlreadyExists { path, .. } => E::AlreadyExists { path, source },
        E::Precondition { path, .. } => E::Precondition { path, source },
        E::NotModified { path, .. } => E::NotModified { path, source },
        E::PermissionDenied { path, .. } => E::PermissionDenied { path, source },
        E::Unauthenticated { path, .. } => E::Unauthenticated { path, source },
        _ => E::Generic { store: "object store", source },
    }
}

/// Returns what is wrong and what to do about it, and the category of the error.
fn reason(error: &object_store::Error, asked: &Asked<'_>) -> (String, Kind) {
    if let Some(told) = causes(error).find_map(|cause| cause.downcast_ref::<Told>()) {
        return (told.0.clone(), Kind::Other);
    }
    if let Some(http) = causes(error).find_map(|cause| cause.downcast_ref::<HttpError>()) {
        return (of_connection(http, asked), Kind::Other);
    }
    let text = error.to_string();
    let status = text.split_once("status code: ").and_then(|(_, rest)| rest.get(..3)?.parse::<u16>().ok());
    let code = element(&text, "Code").unwrap_or_default();
    let at = asked.endpoint.map(|endpoint| format!(" at {endpoint}")).unwrap_or_default();
    let (root, [keys, address]) = (asked.root, asked.settings());
    let said = match (code, status) {
        ("InvalidAccessKeyId", _) if asked.is_key_given => {
            "the server does not know the access key; check `keys` and `endpoint` of the engine".to_owned()
        }
        ("SignatureDoesNotMatch", _) if asked.is_key_given => {
            "the secret key does not belong to the access key; check `keys` of the engine".to_owned()
        }
        ("InvalidAccessKeyId", _) => {
            "the server does not know the access key; check AWS_ACCESS_KEY_ID or the profile of AWS_PROFILE, and \
             `endpoint_url`"
                .to_owned()
        }
        ("SignatureDoesNotMatch", _) => {
            "the secret key does not belong to the access key; check AWS_SECRET_ACCESS_KEY or the profile of AWS_PROFILE"
                .to_owned()
        }
        ("ExpiredToken" | "InvalidToken" | "TokenRefreshRequired", _) => {
            "the session token has expired or is no token; get a new one, such as with aws sso login".to_owned()
        }
        ("RequestTimeTooSkewed", _) => {
            let server = element(&text, "ServerTime").map(|time| format!(", which is at {time}")).unwrap_or_default();
            format!(
                "the clock of this machine is too far from that of the server{server}; set it, such as with timedatectl \
                 set-ntp true"
            )
        }
        ("AuthenticationFailed", _) => format!(
            "the server does not take the key or the token; check AZURE_STORAGE_ACCOUNT_NAME, {keys}, and the clock of this machine"
        ),
        ("NoSuchBucket" | "ContainerNotFound", _) => {
            return (format!("there is no bucket {root}{at}; check its name and {address}"), Kind::NoBucket);
        }
        (_, Some(416)) => return ("it has no such bytes".to_owned(), Kind::Unsure),
        (
            "PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException"
            | "IncorrectEndpoint",
            _,
        ) => match (element(&text, "Region"), asked.region) {
            (Some(region), Some(asked)) => {
                format!("the bucket is in the region {region}, and {asked} was asked; say `region = {region}`")
            }
            (Some(region), None) => format!("the bucket is in the region {region}; say `region = {region}`"),
            _ => format!(
                "the bucket is not in the region {}; name its region by `region`",
                asked.region.unwrap_or("that was asked")
            ),
        },
        (_, Some(403) | Some(401)) if asked.is_anonymous => {
            "it may not be read without a key; leave out `no_sign_request`".to_owned()
        }
        (_, Some(403) | Some(401)) => {
            let said = format!(
                "access is denied: these credentials may not do it; have it allowed, or choose others by {keys}"
            );
            return (said, Kind::Unsure);
        }
        (_, Some(404)) => "it does not exist; check the name".to_owned(),
        (_, Some(412)) => "it was changed while it was read or written; run it again".to_owned(),
        (_, Some(405 | 501)) => {
            format!(
                "the server{at} does not do that ({}): it may not accept files, or not list them",
                status.unwrap_or(501)
            )
        }
        ("SlowDown", _) | (_, Some(429)) => {
            format!("the server asks for fewer requests ({}), again and again; run it again later", status.unwrap_or(503))
        }
        (code, Some(status)) if status >= 500 => {
            format!("the server{at} is in trouble ({}), again and again; run it again later", with_code(status, code))
        }
        (code, Some(status)) => {
            let message = element(&text, "Message").map(|message| format!(": {message}")).unwrap_or_default();
            format!("the server{at} answers {}{message}", with_code(status, code))
        }
        (_, None) => match error {
            object_store::Error::NotFound { .. } => "it does not exist; check the name".to_owned(),
            object_store::Error::AlreadyExists { .. } => "there is one already".to_owned(),
            object_store::Error::Precondition { .. } => {
                "it was changed while it was read or written; run it again".to_owned()
            }
            _ if text.contains("non-partial response") || text.contains("Range request not supported") => {
                "the server does not give parts of files; download it first".to_owned()
            }
            _ => redacted(&innermost(error)),
        },
    };
    (said, Kind::Other)
}

fn with_code(status: u16, code: &str) -> String {
    if code.is_empty() { status.to_string() } else { format!("{status} {code}") }
}

/// Returns the text of an element of an XML answer.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once('<')?.0.trim())
}

fn innermost(error: &(dyn Error + 'static)) -> String {
    causes(error).last().map(ToString::to_string).unwrap_or_default()
}

/// Explains why there was no answer.
fn of_connection(error: &HttpError, asked: &Asked<'_>) -> String {
    let (server, [_, address]) = (asked.endpoint.unwrap_or(asked.root), asked.settings());
    let mut said = String::new();
    for cause in causes(error) {
        said.push_str(&cause.to_string().to_ascii_lowercase());
        said.push('\n');
    }
    let has = |parts: &[&str]| parts.iter().any(|part| said.contains(part));
    if has(&["dns error", "failed to lookup", "name or service not known", "no such host"]) {
        let region = if asked.region.is_some() { ", the region" } else { "" };
        format!("the name of the server {server} is not known; check {address}{region}, and the network")
    } else if has(&["connection refused"]) {
        format!("nothing listens at {server}; check {address}, and that the server runs")
    } else if has(&["certificate", "unknownissuer", "notvalidforname"]) {
        format!(
            "the certificate of {server} is not one to trust ({}); name that of its authority by AWS_CA_BUNDLE, or check \
             {address}",
            redacted(&innermost(error))
        )
    } else if has(&["tls", "handshake", "invalidcontenttype", "corrupt message"]) {
        format!(
            "no encrypted connection to {server} is possible ({}); check {address}, which may need http:// and \
             `allow_http`",
            redacted(&innermost(error))
        )
    } else if has(&["invalid http version"]) {
        format!("what listens at {server} does not speak HTTP; check {address}, which may need https://")
    } else if has(&[OUT_OF_PATIENCE]) {
        format!(
            "the server {server} has kept the run waiting for two minutes in all; check the network, or run it again later"
        )
    } else if error.kind() == HttpErrorKind::Timeout || has(&["timed out"]) {
        format!("the server {server} does not answer in time; check the network, or run it again later")
    } else if has(&["not allowed", "scheme"]) {
        format!("the connection to {server} is not encrypted; say `allow_http` to allow it")
    } else {
        format!("the connection to {server} broke ({}); run it again", redacted(&innermost(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, region: Option<&str>) -> String {
        let error = object_store::Error::Generic { store: "S3", source: text.to_owned().into() };
        let asked = Asked {
            place: "s3://b/k",
            root: "s3://b",
            endpoint: None,
            region,
            is_anonymous: false,
            is_key_given: false,
        };
        let explained = explain(error, &asked);
        Explained::of(&explained).unwrap().to_string()
    }

    #[test]
    fn answers_are_told_apart() {
        let answer =
            |status: u16, xml: &str| format!("Server returned non-2xx status code: {status} X: <Error>{xml}</Error>");
        for (status, xml, expected) in [
            (403, "<Code>InvalidAccessKeyId</Code>", "does not know the access key"),
            (
                403,
                "<Code>SignatureDoesNotMatch</Code><StringToSign>AWS4</StringToSign>",
                "the secret key does not belong",
            ),
            (403, "<Code>RequestTimeTooSkewed</Code>", "the clock of this machine"),
            (403, "<Code>AccessDenied</Code>", "access is denied"),
            (404, "<Code>NoSuchBucket</Code>", "there is no bucket s3://b"),
            (404, "<Code>NoSuchKey</Code>", "it does not exist"),
            (400, "<Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region>", "say `region = eu-west-1`"),
            (400, "<Code>ExpiredToken</Code>", "the session token has expired"),
            (503, "<Code>SlowDown</Code>", "asks for fewer requests"),
            (500, "", "is in trouble (500)"),
            (501, "", "does not do that (501)"),
            (418, "<Code>Teapot</Code><Message>Short and stout</Message>", "answers 418 Teapot: Short and stout"),
        ] {
            let said = said(&answer(status, xml), Some("us-east-1"));
            assert!(said.starts_with("s3://b/k: ") && said.contains(expected), "{said}");
            assert!(!said.contains("AWS4") && !said.contains('<'), "{said}");
        }
    }

    #[test]
    fn no_answer_is_told_apart() {
        for (text, expected) in [
            ("dns error: failed to lookup address information", "is not known"),
            ("tcp connect error: Connection refused (os error 111)", "nothing listens at s3://b"),
            ("invalid peer certificate: UnknownIssuer", "is not one to trust"),
            ("received corrupt message of type InvalidContentType", "no encrypted connection"),
            ("operation timed out", "does not answer in time"),
            (OUT_OF_PATIENCE, "waiting for two minutes in all"),
            ("connection reset by peer", "broke"),
        ] {
            let error = HttpError::new(HttpErrorKind::Unknown, Told(text.to_owned()));
            let asked = Asked {
                place: "s3://b/k",
                root: "s3://b",
                endpoint: None,
                region: None,
                is_anonymous: false,
                is_key_given: false,
            };
            assert!(of_connection(&error, &asked).contains(expected), "{text}");
        }
    }
}
