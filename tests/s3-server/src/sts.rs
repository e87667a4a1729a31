//! The temporary keys of roles, which AWS gives out to clients with the token of a web identity, or with keys of their
//! own, and to programs in a container or on a machine that has a role.

use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use hyper::{Method, Response, StatusCode};
use s3s::Body;

use crate::error;

/// The keys of the role.
pub(crate) const KEY: &str = "ASIAEXAMPLE";
pub(crate) const SECRET: &str = "je7MtGbClwBF-2Zp9Utk-h3yCo8nvbEXAMPLEKEY";
const SESSION: &str = "IQoJb3JpZ2luX2VjEXAMPLETOKEN";

/// The only role, as it is encoded in a form.
const ROLE: &str = "arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Freader";

/// The token of the web identity that may assume the role.
const IDENTITY: &str = "token-of-the-identity";

/// The token that a container must send.
const CONTAINER: &str = "token-of-the-container";

/// The token that a machine requests first.
const MACHINE: &str = "token-of-the-machine";

/// Answers a container or a machine that asks for the keys of its role.
pub(crate) fn metadata(method: &Method, path: &str, headers: &HeaderMap) -> Option<Response<Body>> {
    let has = |name: &str, value: &str| headers.get(name).is_some_and(|header| header == value);
    let keys = format!(
        "{{\"Code\": \"Success\", \"Type\": \"AWS-HMAC\", \"AccessKeyId\": \"{KEY}\", \"SecretAccessKey\": \"{SECRET}\", \
         \"Token\": \"{SESSION}\", \"LastUpdated\": \"2026-01-01T00:00:00Z\", \"Expiration\": \"2999-01-01T00:00:00Z\"}}"
    );
    let (may, text) = match path {
        "/container/keys" => (has("authorization", CONTAINER), keys),
        "/latest/api/token" => (*method == Method::PUT, MACHINE.to_owned()),
        "/latest/meta-data/iam/security-credentials/" => {
            (has("x-aws-ec2-metadata-token", MACHINE), "reader".to_owned())
        }
        "/latest/meta-data/iam/security-credentials/reader" => (has("x-aws-ec2-metadata-token", MACHINE), keys),
        _ => return None,
    };
    let mut answer = Response::new(Body::from(if may { text } else { String::new() }));
    answer.headers_mut().insert("x-aws-ec2-metadata-token-ttl-seconds", HeaderValue::from_static("21600"));
    *answer.status_mut() = if may { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
    Some(answer)
}

/// Answers a form that asks for the keys of the role.
pub(crate) fn answer(form: &[u8]) -> Response<Body> {
    let form = String::from_utf8_lossy(form);
    let field = |name: &str| form.split('&').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    let action = field("Action").unwrap_or_default();
    let may = match action {
        "AssumeRole" => true,
        "AssumeRoleWithWebIdentity" => field("WebIdentityToken") == Some(IDENTITY),
        _ => false,
    };
    if !may || field("RoleArn") != Some(ROLE) {
        let mut refused = Response::new(Body::from(
            "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>Not authorized to take the \
             role.</Message></Error><RequestId>1</RequestId></ErrorResponse>"
                .to_owned(),
        ));
        *refused.status_mut() = StatusCode::FORBIDDEN;
        return refused;
    }
    Response::new(Body::from(format!(
        "<{action}Response><{action}Result><Credentials><AccessKeyId>{KEY}</AccessKeyId><SecretAccessKey>{SECRET}\
         </SecretAccessKey><SessionToken>{SESSION}</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials>\
         <AssumedRoleUser><AssumedRoleId>AROA:reader</AssumedRoleId><Arn>arn:aws:sts::123456789012:assumed-role/reader/r\
         </Arn></AssumedRoleUser></{action}Result></{action}Response>"
    )))
}

/// Refuses the keys of the role without the token of their session.
pub(crate) fn refusal(headers: &HeaderMap) -> Option<Response<Body>> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_of_role = text(AUTHORIZATION.as_str()).contains(KEY);
    (is_of_role && text("x-amz-security-token") != SESSION).then(|| error(403, "InvalidToken", ""))
}
