//! An S3 server on loopback, for the tests of ibid: `ibid-s3-server FOLDER KEY SECRET LOG` serves the folders of FOLDER as
//! buckets to whoever signs with KEY and SECRET, says its address on standard output, and ends with its standard input.
//!
//! Each request is a line of the file LOG before it is answered: method, path with query, range, status, bytes of the answer,
//! separated by tabs. The bucket `public` is for all, and the buckets of [`refusal`] answer as S3 does when something is wrong.
//! The first time that an object with `lost` in its key is written the answer gets lost, and one with `changing` in its key
//! becomes longer whenever it was read. Writes come one after the other, so that conditional ones are atomic.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, ETAG, HeaderName, HeaderValue, IF_MATCH, RANGE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::dto::{GetObjectInput, HeadObjectInput, Range};
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, S3Request, S3Result, s3_error};
use s3s_fs::FileSystem;
use tokio::net::TcpListener;

/// The region of the bucket `elsewhere`.
const ELSEWHERE: &str = "eu-central-1";

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, key, secret, log] = arguments.as_slice() else { bail!("call it with FOLDER KEY SECRET LOG") };
    let files = FileSystem::new(folder).map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let mut service = S3ServiceBuilder::new(files);
    service.set_auth(OneKey { key: key.clone(), secret: secret.clone() });
    service.set_access(Public { folder: folder.into() });
    let log = File::options().create(true).append(true).open(log).context("cannot write LOG")?;
    let server = Arc::new(Server {
        service: service.build(),
        folder: folder.into(),
        log: Mutex::new(log),
        writing: tokio::sync::Mutex::new(()),
        lost: Mutex::default(),
    });
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    writeln!(std::io::stdout(), "http://{}", listener.local_addr()?)?;
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    loop {
        let (socket, _) = listener.accept().await.context("cannot accept a connection")?;
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let answer = service_fn(move |request: Request<Incoming>| {
                let server = Arc::clone(&server);
                async move { server.answer(request.map(Body::from)).await }
            });
            // A client that goes away is none of the server's business.
            let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), answer).await;
        });
    }
}

struct Server {
    service: S3Service,
    folder: PathBuf,
    log: Mutex<File>,
    /// Held by whoever writes.
    writing: tokio::sync::Mutex<()>,
    /// The objects of which an answer got lost.
    lost: Mutex<HashSet<String>>,
}

impl Server {
    async fn answer(&self, request: Request<Body>) -> Result<Response<Body>> {
        let method = request.method().clone();
        let target = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
        let header = |name: HeaderName| {
            request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned).unwrap_or_default()
        };
        let (range, if_match) = (header(RANGE), header(IF_MATCH));
        let bucket = request.uri().path().trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
        let response = match refusal(&bucket) {
            Some(refused) => refused,
            None if !bucket.is_empty() && !self.folder.join(&bucket).is_dir() => error(404, "NoSuchBucket", ""),
            None => {
                let reads = [Method::GET, Method::HEAD].contains(&method);
                let _writing = if reads { None } else { Some(self.writing.lock().await) };
                let response = self.service.call(request).await.map_err(|error| anyhow::anyhow!("{error:?}"))?;
                let e_tag = response.headers().get(ETAG).and_then(|value| value.to_str().ok());
                let is_other = reads && !if_match.is_empty() && e_tag.is_some_and(|e_tag| e_tag != if_match);
                if is_other { error(412, "PreconditionFailed", "") } else { response }
            }
        };
        let response = if method == Method::HEAD && !response.status().is_success() {
            // It has no body, whatever there is to say.
            response.map(|_| Body::empty())
        } else {
            response
        };
        let bytes = response.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()).unwrap_or("-");
        let line = format!("{method}\t{target}\t{range}\t{}\t{bytes}\n", response.status().as_u16());
        let _ = lock(&self.log).write_all(line.as_bytes());
        let key = target.split('?').next().unwrap_or_default().to_owned();
        if method == Method::GET && key.contains("changing") {
            let _ = File::options()
                .append(true)
                .open(self.folder.join(&key[1..]))
                .and_then(|mut file| file.write_all(b"\n"));
        }
        if method == Method::PUT && key.contains("lost") && lock(&self.lost).insert(key) {
            // Of which no connection comes out whole.
            return Err(std::io::Error::other("the answer is lost").into());
        }
        Ok(response)
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What S3 answers when something is wrong, by the name of the bucket.
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

/// An answer that says what is wrong, as S3 says it.
fn error(status: u16, code: &str, more: &str) -> Response<Body> {
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>It is {code}.</Message>{more}</Error>"
    );
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

/// Whoever signs, by one key.
struct OneKey {
    key: String,
    secret: String,
}

#[async_trait::async_trait]
impl S3Auth for OneKey {
    async fn get_secret_key(&self, key: &str) -> S3Result<SecretKey> {
        if key == self.key { Ok(self.secret.clone().into()) } else { Err(s3_error!(InvalidAccessKeyId)) }
    }
}

/// The bucket `public` can be read by all.
struct Public {
    folder: PathBuf,
}

#[async_trait::async_trait]
impl S3Access for Public {
    async fn check(&self, request: &mut S3AccessContext<'_>) -> S3Result<()> {
        if request.credentials().is_some() || request.s3_path().get_bucket_name() == Some("public") {
            return Ok(());
        }
        Err(s3_error!(AccessDenied, "Signature is required"))
    }

    /// A folder is no object.
    async fn head_object(&self, request: &mut S3Request<HeadObjectInput>) -> S3Result<()> {
        let is_folder = self.folder.join(&request.input.bucket).join(&request.input.key).is_dir();
        if is_folder { Err(s3_error!(NoSuchKey)) } else { Ok(()) }
    }

    /// The last bytes of an object that has fewer are all of it, which the server does not know.
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
