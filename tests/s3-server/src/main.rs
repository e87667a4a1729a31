//! An S3 server on loopback, for the tests of ibid: `ibid-s3-server FOLDER KEY SECRET LOG [SEED]` serves the folders of
//! FOLDER as buckets to clients that sign with KEY and SECRET. It prints its addresses for `http:` and `https:` on a
//! line of standard output, and ends when its standard input ends. With SEED, requests fail by the [`Schedule`] of this
//! seed.
//!
//! Each request is written as a line of the file LOG before it is answered: method, path with query, range, status,
//! bytes of the answer, fault of the schedule, region of the signature, separated by tabs. A connection to the `https:`
//! address is logged in the same way, with the method `TLS`.
//!
//! Some buckets are special:
//!
//! * `public` is open to everyone without a signature.
//! * The buckets of [`refusal`] answer with the errors of S3.
//! * `basic` needs a password, like files of web servers.
//! * `google` is open to everyone, and speaks the protocol of Google Cloud Storage.
//!
//! Some texts in a key change the behaviour of an object:
//!
//! * `lost`: the answer to its first write is lost.
//! * `conflict`: its first conditional write conflicts with another one.
//! * `delayed`: its first conditional write is done after [`DELAY`], and other ones conflict with it until then.
//! * `slow`: each part of an upload takes [`PART`].
//! * `hidden/manifests`: the first three HEAD requests for it are refused.
//! * `changing`: each read makes it longer.
//!
//! The server gives out keys of roles at `/`, and where machines and containers ask for them ([`sts`]). The name of a
//! bucket may also stand in the host, before [`DOMAIN`].

mod faults;
mod google;
mod sts;
mod tls;
mod uploads;

use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use faults::{Fault, Schedule};
use futures::StreamExt as _;
use google::GOOGLE;
use http_body_util::StreamBody;
use hyper::body::{Body as _, Bytes, Frame, Incoming};
use hyper::header::{
    AUTHORIZATION, CONTENT_LENGTH, ETAG, HOST, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, RANGE,
};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::dto::{GetObjectInput, HeadObjectInput, Range};
use s3s::host::SingleDomain;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, S3Request, S3Result, s3_error};
use s3s_fs::FileSystem;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

/// The domain that follows the name of a bucket in the host of a request.
const DOMAIN: &str = "store.example";

/// The authorization header of the bucket `basic`: `me` and `open it:` in Base64.
const BASIC: &str = "Basic bWU6b3BlbiBpdDo=";

/// The region of the bucket `elsewhere`.
const ELSEWHERE: &str = "eu-central-1";

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, key, secret, log, seed @ ..] = arguments.as_slice() else {
        bail!("call it with FOLDER KEY SECRET LOG [SEED]")
    };
    let schedule = seed.first().map(|seed| seed.parse().map(Schedule::new)).transpose().context("SEED is a number")?;
    let files = FileSystem::new(folder).map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let mut service = S3ServiceBuilder::new(files);
    service.set_host(SingleDomain::new(DOMAIN)?);
    service.set_auth(OneKey { key: key.clone(), secret: secret.clone() });
    service.set_access(Public { folder: folder.into() });
    let log = File::options().create(true).append(true).open(log).context("cannot write LOG")?;
    let server = Arc::new(Server {
        service: service.build(),
        folder: folder.into(),
        log: Mutex::new(log),
        writing: tokio::sync::Mutex::new(()),
        failed: Mutex::default(),
        schedule,
    });
    let plain = TcpListener::bind(("127.0.0.1", 0)).await?;
    let encrypted = TcpListener::bind(("127.0.0.1", 0)).await?;
    let tls = tls::acceptor()?;
    writeln!(std::io::stdout(), "http://{} https://{}", plain.local_addr()?, encrypted.local_addr()?)?;
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    loop {
        let server = Arc::clone(&server);
        tokio::select! {
            accepted = plain.accept() => {
                let socket = at_once(accepted)?;
                tokio::spawn(serve(server, socket));
            }
            accepted = encrypted.accept() => {
                let socket = at_once(accepted)?;
                server.note("TLS\t\t\t0\t-\t\t\n");
                let handshake = tls.accept(socket);
                tokio::spawn(async move {
                    if let Ok(socket) = handshake.await {
                        serve(server, socket).await;
                    }
                });
            }
        }
    }
}

/// Returns a connection that sends each write at once. Otherwise a small answer would wait 40 ms for an acknowledgement
/// (Nagle's algorithm).
fn at_once(accepted: std::io::Result<(TcpStream, SocketAddr)>) -> Result<TcpStream> {
    let (socket, _) = accepted.context("cannot accept a connection")?;
    socket.set_nodelay(true).context("cannot set TCP_NODELAY")?;
    Ok(socket)
}

/// Answers the requests of a connection.
async fn serve(server: Arc<Server>, connection: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let server = Arc::clone(&server);
        async move { server.answer(request.map(Body::from)).await }
    });
    // The server ignores a client that disconnects.
    let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(connection), answer).await;
}

struct Server {
    service: S3Service,
    folder: PathBuf,
    log: Mutex<File>,
    /// The lock that each write holds.
    writing: tokio::sync::Mutex<()>,
    /// The objects that have already failed once, as their keys request.
    failed: Mutex<HashSet<String>>,
    schedule: Option<Schedule>,
}

/// The time that a request is left without an answer.
const FOREVER: Duration = Duration::from_secs(600);

/// The time after which a delayed request is done.
const DELAY: Duration = Duration::from_secs(4);

/// The time that each part of a slow object takes.
const PART: Duration = Duration::from_secs(2);

impl Server {
    /// Writes a line into the log.
    fn note(&self, line: &str) {
        let _ = lock(&self.log).write_all(line.as_bytes());
    }

    async fn answer(self: Arc<Self>, request: Request<Body>) -> Result<Response<Body>> {
        let method = request.method().clone();
        let target = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
        let header = |name: HeaderName| {
            request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned).unwrap_or_default()
        };
        let (range, is_conditional) =
            (header(RANGE), [IF_MATCH, IF_NONE_MATCH].iter().any(|name| request.headers().contains_key(name)));
        let if_match = header(IF_MATCH);
        // The region in `AWS4-HMAC-SHA256 Credential=KEY/DAY/REGION/…`.
        let region = header(AUTHORIZATION).split('/').nth(2).unwrap_or_default().to_owned();
        let scheduled = self.schedule.as_ref().and_then(|faults| faults.of(&method, &target, &range, is_conditional));
        let key = request.uri().path().to_owned();
        let of_key = match method {
            Method::PUT if key.contains("lost") => Some(Fault::Lost),
            Method::PUT if is_conditional && key.contains("conflict") => Some(Fault::Conflict),
            Method::PUT if is_conditional && key.contains("delayed") => Some(Fault::Delayed),
            _ => None,
        };
        let is_there = self.folder.join(key.trim_start_matches('/')).exists();
        let is_hidden = method == Method::HEAD
            && (key.contains("hidden/manifests") && is_there)
            && (0..3).any(|time| lock(&self.failed).insert(format!("{key} {time}")));
        let fault = match of_key {
            Some(Fault::Delayed) if is_there => None,
            Some(fault) if lock(&self.failed).insert(key.clone()) => Some(fault),
            Some(Fault::Delayed) => Some(Fault::Conflict),
            _ => scheduled,
        };
        let answer = match fault {
            Some(Fault::InternalError) => Ok(error(500, "InternalError", "")),
            Some(Fault::SlowDown) => Ok(error(503, "SlowDown", "")),
            Some(Fault::Conflict) => Ok(error(409, "ConditionalRequestConflict", "")),
            Some(Fault::ErrorWithin) => Ok(error(200, "InternalError", "")),
            Some(Fault::Reset) => Err(broken("the connection breaks")),
            Some(Fault::Stall) => Err(broken("no answer comes")),
            Some(Fault::Delayed) => {
                let (head, body) = request.into_parts();
                let request = Request::from_parts(head, Body::from(Bytes::from(whole(body).await)));
                let server = Arc::clone(&self);
                tokio::spawn(async move {
                    tokio::time::sleep(DELAY).await;
                    server.answer_well(request, &if_match).await
                });
                Err(broken("it is delayed"))
            }
            None if is_hidden => Ok(error(403, "AccessDenied", "")),
            _ => self.answer_well(request, &if_match).await,
        };
        let status = answer.as_ref().map_or(0, |response| response.status().as_u16());
        let length = |response: &Response<Body>| {
            let said =
                response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
            said.or_else(|| response.body().size_hint().exact())
        };
        let bytes = answer.as_ref().ok().and_then(length).map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
        let fault_name = fault.map(|fault| format!("{fault:?}")).unwrap_or_default();
        self.note(&format!("{method}\t{target}\t{range}\t{status}\t{bytes}\t{fault_name}\t{region}\n"));
        if key.contains("slow") && target.contains("partNumber=") {
            tokio::time::sleep(PART).await;
        }
        match fault {
            Some(Fault::Lost) => Err(broken("the answer is lost")),
            Some(Fault::Stall | Fault::StallAfter | Fault::Delayed) => {
                tokio::time::sleep(FOREVER).await;
                answer
            }
            Some(Fault::Late) => {
                tokio::time::sleep(Duration::from_millis(700)).await;
                answer
            }
            Some(Fault::CutShort) => Ok(cut_short(answer?).await),
            _ => answer.map(|response| if method == Method::HEAD { without_body(response) } else { response }),
        }
    }

    /// Answers a request as S3 would.
    async fn answer_well(&self, mut request: Request<Body>, if_match: &str) -> Result<Response<Body>> {
        let method = request.method().clone();
        let uri = request.uri().clone();
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let of_host = host.strip_suffix(DOMAIN).map(|bucket| bucket.replace('.', "/")).unwrap_or_default();
        let key = of_host + uri.path().trim_start_matches('/');
        let bucket = key.split('/').next().unwrap_or_default();
        if method == Method::POST && key.is_empty() {
            return Ok(sts::answer(&whole(request.into_body()).await));
        }
        if let Some(answer) = sts::metadata(&method, uri.path(), request.headers()) {
            return Ok(answer);
        }
        if let Some(refused) = sts::refusal(request.headers()) {
            return Ok(refused);
        }
        if let Some(refused) = refusal(bucket) {
            return Ok(refused);
        }
        let is_basic = |value: &HeaderValue| value.to_str().is_ok_and(|value| value.starts_with("Basic "));
        let basic = request.headers().get(AUTHORIZATION).filter(|value| is_basic(value)).cloned();
        if bucket == "basic" && basic.as_ref().is_none_or(|basic| basic != BASIC) {
            return Ok(error(401, "Unauthorized", ""));
        }
        if basic.is_some() {
            request.headers_mut().remove(AUTHORIZATION);
        }
        if !bucket.is_empty() && !self.folder.join(bucket).is_dir() {
            return Ok(error(404, "NoSuchBucket", ""));
        }
        let reads = [Method::GET, Method::HEAD].contains(&method);
        if bucket == GOOGLE {
            google::to_s3(request.headers_mut());
        }
        let _writing = if reads { None } else { Some(self.writing.lock().await) };
        let mut response = self.service.call(request).await.map_err(|error| anyhow::anyhow!("{error:?}"))?;
        if bucket == GOOGLE {
            google::of_s3(response.headers_mut());
        }
        if response.status() == StatusCode::NOT_IMPLEMENTED && method == Method::GET {
            // The signature is valid, otherwise the request would have been refused.
            return uploads::list(&self.folder, bucket, uri.query().unwrap_or_default());
        }
        let e_tag = response.headers().get(ETAG).and_then(|value| value.to_str().ok());
        let is_other = reads && !if_match.is_empty() && e_tag.is_some_and(|e_tag| e_tag != if_match);
        let response = if is_other { error(412, "PreconditionFailed", "") } else { response };
        if method == Method::GET && key.contains("changing") {
            let file = File::options().append(true).open(self.folder.join(&key));
            let _ = file.and_then(|mut file| file.write_all(b"\n"));
        }
        Ok(response)
    }
}

/// Returns the error that breaks the connection.
fn broken(why: &'static str) -> anyhow::Error {
    std::io::Error::other(why).into()
}

/// Removes the body of an error, because an answer to HEAD has none.
fn without_body(response: Response<Body>) -> Response<Body> {
    if response.status().is_success() { response } else { response.map(|_| Body::empty()) }
}

async fn whole(mut body: Body) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(Ok(piece)) = body.next().await {
        whole.extend_from_slice(&piece);
    }
    whole
}

/// Returns the first half of an answer, after which the connection breaks.
async fn cut_short(response: Response<Body>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    let mut whole = whole(body).await;
    parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(whole.len()));
    whole.truncate(whole.len() / 2);
    let pieces = [Ok(Frame::data(Bytes::from(whole))), Err(std::io::Error::other("the connection breaks"))];
    Response::from_parts(parts, Body::http_body_unsync(StreamBody::new(futures::stream::iter(pieces))))
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the error of S3 for the name of a bucket, if it is a special one.
fn refusal(bucket: &str) -> Option<Response<Body>> {
    Some(match bucket {
        "skewed" => error(403, "RequestTimeTooSkewed", "<ServerTime>2001-01-01T00:00:00Z</ServerTime>"),
        "denied" => error(403, "AccessDenied", ""),
        "expired" => error(400, "ExpiredToken", ""),
        "malformed" => error(400, "AuthorizationHeaderMalformed", &format!("<Region>{ELSEWHERE}</Region>")),
        "elsewhere" => {
            let mut moved = error(301, "PermanentRedirect", "<Endpoint>elsewhere.s3.amazonaws.com</Endpoint>");
            let name = HeaderName::from_static("x-amz-bucket-region");
            moved.headers_mut().insert(name, HeaderValue::from_static(ELSEWHERE));
            moved
        }
        "busy" => error(503, "SlowDown", ""),
        _ => return None,
    })
}

/// Returns an error in the format of S3.
fn error(status: u16, code: &str, more: &str) -> Response<Body> {
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>It is {code}.</Message>{more}</Error>"
    );
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

/// The authentication by one key, or by the key of the role.
struct OneKey {
    key: String,
    secret: String,
}

#[async_trait::async_trait]
impl S3Auth for OneKey {
    async fn get_secret_key(&self, key: &str) -> S3Result<SecretKey> {
        match key {
            key if key == self.key => Ok(self.secret.clone().into()),
            sts::KEY => Ok(sts::SECRET.into()),
            _ => Err(s3_error!(InvalidAccessKeyId)),
        }
    }
}

/// The access rules: the buckets `public`, `basic` and `google` need no signature.
struct Public {
    folder: PathBuf,
}

#[async_trait::async_trait]
impl S3Access for Public {
    async fn check(&self, request: &mut S3AccessContext<'_>) -> S3Result<()> {
        let is_open =
            request.s3_path().get_bucket_name().is_some_and(|bucket| ["public", "basic", GOOGLE].contains(&bucket));
        if is_open || request.credentials().is_some() {
            return Ok(());
        }
        Err(s3_error!(AccessDenied, "Signature is required"))
    }

    /// Answers that there is no object where a folder is.
    async fn head_object(&self, request: &mut S3Request<HeadObjectInput>) -> S3Result<()> {
        let is_folder = self.folder.join(&request.input.bucket).join(&request.input.key).is_dir();
        if is_folder { Err(s3_error!(NoSuchKey)) } else { Ok(()) }
    }

    /// Replaces a suffix range that is longer than the object by the whole object. The library does not handle this
    /// case.
    async fn get_object(&self, request: &mut S3Request<GetObjectInput>) -> S3Result<()> {
        let input = &mut request.input;
        let size =
            std::fs::metadata(self.folder.join(&input.bucket).join(&input.key)).map_or(u64::MAX, |file| file.len());
        if let Some(Range::Suffix { length }) = input.range
            && length > size
        {
            input.range = Some(Range::Int { first: 0, last: None });
        }
        Ok(())
    }
}
