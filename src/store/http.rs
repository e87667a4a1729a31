//! The HTTP client of the stores: it has its own runtime, counts traffic, and makes answers explainable.

use std::fmt;
use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{self, Poll, ready};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{LOCATION, RANGE};
use hyper::{Method, StatusCode};
use object_store::ClientOptions;
use object_store::client::{
    Certificate, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService, SpawnedReqwestConnector,
};

use tokio::time::{Instant, Sleep};

use super::blocking::runtime;

/// Traffic to and from a store.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    requests: AtomicU64,
    read: AtomicU64,
    written: AtomicU64,
    /// True if the server has ever answered.
    answered: AtomicBool,
    waits: Mutex<Waits>,
}

impl Traffic {
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes in the bodies of all answers.
    pub(crate) fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes in the bodies of all requests.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Records the end of a request that was sent at `began`. Its time counts as waited in vain if it is not answered.
    fn note(&self, began: Instant, is_answered: bool) {
        self.answered.fetch_or(is_answered, Ordering::Relaxed);
        self.waits().note(began, Instant::now(), is_answered);
    }

    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Upper bound of the total time that a run waits for a server in vain. A single request may wait longer, but many
/// requests may follow one another.
const WAITED: Duration = Duration::from_secs(120);

pub(super) const OUT_OF_PATIENCE: &str = "the server has kept the run waiting for two minutes";

/// The wait budget recovers one second in eight.
const FORGIVEN: u32 = 8;

/// The time that a run has waited in vain.
#[derive(Debug, Default)]
struct Waits {
    /// The time waited in vain, less the recovered time.
    waited: Duration,
    /// The time up to which waits are counted. Time in which another request is answered does not count.
    counted: Option<Instant>,
}

impl Waits {
    /// Records that a request that was sent at `began` was answered, or failed.
    fn note(&mut self, began: Instant, now: Instant, is_answered: bool) {
        let counted = *self.counted.get_or_insert(began);
        if !is_answered {
            self.waited += now.saturating_duration_since(began.max(counted));
        }
        self.waited = self.waited.saturating_sub(now.saturating_duration_since(counted) / FORGIVEN);
        self.counted = Some(now.max(counted));
    }

    fn is_too_long(&self) -> bool {
        self.waited > WAITED
    }
}

/// A factory for the client of a store.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    traffic: Arc<Traffic>,
    /// Authorities that may sign the certificates of servers, in addition to those that the system trusts.
    certificates: Vec<Certificate>,
}

impl Connector {
    pub(super) fn new(traffic: Arc<Traffic>, certificates: Vec<Certificate>) -> Self {
        Self { traffic, certificates }
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed = |error| object_store::Error::Generic { store: "HTTP", source: Box::new(error) };
        let options = self.certificates.iter().cloned().fold(options.clone(), ClientOptions::with_root_certificate);
        let inner = SpawnedReqwestConnector::new(runtime().map_err(failed)?.clone()).connect(&options)?;
        Ok(HttpClient::new(Counting { inner, traffic: Arc::clone(&self.traffic) }))
    }
}

/// Lowest expected rate, in bytes a second.
const SLOWEST: u64 = 256 << 10;

/// Upper bound of the time of one try of a request.
pub(super) const LONGEST: Duration = Duration::from_secs(80);

struct Counting {
    inner: HttpClient,
    traffic: Arc<Traffic>,
}

impl fmt::Debug for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counting").finish_non_exhaustive()
    }
}

#[async_trait]
impl HttpService for Counting {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.traffic.requests.fetch_add(1, Ordering::Relaxed);
        self.traffic.written.fetch_add(request.body().content_length() as u64, Ordering::Relaxed);
        if self.traffic.waits().is_too_long() {
            return Err(out_of_patience());
        }
        let began = Instant::now();
        let end = began + patience(&request);
        let response = match tokio::time::timeout_at(end, self.inner.execute(request)).await {
            Ok(Ok(response)) => response,
            failed => {
                self.traffic.note(began, false);
                return Err(match failed {
                    Ok(Err(error)) => self.judged(error),
                    _ => too_slow(),
                });
            }
        };
        self.traffic.note(began, true);
        let traffic = Arc::clone(&self.traffic);
        let end = Box::pin(tokio::time::sleep_until(end));
        let response = response.map(|body| HttpResponseBody::new(CountedBody { body, traffic, began, end }));
        explicable(response).await
    }
}

/// Returns the time limit of one try of a request, with its body and that of the answer. A silent server is asked again
/// soon, and large bodies get more time. The size of an answer is unknown unless the request asks for a range.
fn patience(request: &HttpRequest) -> Duration {
    let range = request.headers().get(RANGE).and_then(|range| range.to_str().ok()?.strip_prefix("bytes="));
    let wanted = match range.and_then(|range| range.split_once('-')) {
        Some((from, to)) if !from.is_empty() => {
            to.parse().ok().zip(from.parse().ok()).map(|(to, from): (u64, u64)| to.saturating_sub(from))
        }
        Some((_, last)) => last.parse().ok(),
        None => (request.method() != Method::GET).then_some(0),
    };
    let bytes = wanted.unwrap_or(SLOWEST * 35) + request.body().content_length() as u64;
    (Duration::from_secs(10) + Duration::from_secs(bytes / SLOWEST)).min(LONGEST)
}

/// Returns the error of a request that takes too long.
fn too_slow() -> HttpError {
    HttpError::new(HttpErrorKind::Timeout, io::Error::new(io::ErrorKind::TimedOut, "the server takes too long"))
}

/// Returns the error of a request that is no longer sent.
fn out_of_patience() -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, io::Error::new(io::ErrorKind::TimedOut, OUT_OF_PATIENCE))
}

impl Counting {
    /// Makes a connection error final if the server was never reached: the address is wrong, or there is no network,
    /// and neither is likely to change within a minute.
    fn judged(&self, error: HttpError) -> HttpError {
        let is_new = !self.traffic.answered.load(Ordering::Relaxed);
        if error.kind() == HttpErrorKind::Connect && is_new {
            HttpError::new(HttpErrorKind::Unknown, Unreachable(error))
        } else {
            error
        }
    }
}

/// The reason for which a server cannot be reached.
#[derive(Debug)]
struct Unreachable(HttpError);

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot connect")
    }
}

impl std::error::Error for Unreachable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// Turns a redirection of S3 into an error that names the region, which the client would drop.
async fn explicable(response: HttpResponse) -> Result<HttpResponse, HttpError> {
    let is_bare = response.status().is_redirection()
        && response.status() != StatusCode::NOT_MODIFIED
        && !response.headers().contains_key(LOCATION);
    let region = response.headers().get("x-amz-bucket-region").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (true, Some(region)) = (is_bare, region) else { return Ok(response) };
    let text = format!("<Error><Code>PermanentRedirect</Code><Region>{region}</Region></Error>");
    let (mut parts, _) = response.into_parts();
    parts.status = StatusCode::BAD_REQUEST;
    parts.headers.clear();
    Ok(HttpResponse::from_parts(parts, text.into()))
}

/// A body whose bytes are counted.
struct CountedBody {
    body: HttpResponseBody,
    traffic: Arc<Traffic>,
    /// The time at which the request was sent.
    began: Instant,
    /// The time at which the body should be complete.
    end: Pin<Box<Sleep>>,
}

impl Body for CountedBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            ready!(self.end.as_mut().poll(context));
            self.traffic.note(self.began, false);
            return Poll::Ready(Some(Err(too_slow())));
        };
        match &frame {
            Some(Ok(_)) => {}
            Some(Err(_)) => self.traffic.note(self.began, false),
            None => self.traffic.note(self.began, true),
        }
        if let Some(data) = frame.as_ref().and_then(|frame| frame.as_ref().ok()).and_then(Frame::data_ref) {
            self.traffic.read.fetch_add(data.len() as u64, Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;
    use object_store::client::HttpRequestBody;

    use super::*;

    #[test]
    fn a_run_does_not_wait_in_vain_for_ever() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut waits = Waits::default();
        // Two waits at the same time count as one.
        for i in 0..14 {
            assert!(!waits.is_too_long(), "after {} seconds", 10 * i);
            waits.note(at(10 * i), at(10 * i + 10), false);
            waits.note(at(10 * i), at(10 * i + 10), false);
        }
        assert!(waits.is_too_long());
        waits.note(at(300), at(300), true);
        assert!(!waits.is_too_long());
        // Rare waits do not add up, and waits do not count while other requests are answered.
        let mut waits = Waits::default();
        for i in 0..1000 {
            waits.note(at(80 * i), at(80 * i + 10), false);
            waits.note(at(80 * i + 79), at(80 * i + 80), true);
        }
        assert!(!waits.is_too_long());
        for i in 0..1000 {
            waits.note(at(100_000 + i), at(100_000 + i), true);
            waits.note(at(100_000 + i - 9), at(100_000 + i), false);
        }
        assert!(!waits.is_too_long());
    }

    #[test]
    fn what_is_much_has_more_time() {
        let seconds = |method: Method, range: &str, body: usize| {
            let request = Request::builder().method(method).header(RANGE, range);
            let body = HttpRequestBody::from(vec![0; body]);
            patience(&request.body(body).unwrap()).as_secs()
        };
        assert_eq!(seconds(Method::HEAD, "", 0), 10);
        assert_eq!(seconds(Method::GET, "bytes=0-1048576", 0), 14);
        assert_eq!(seconds(Method::GET, "bytes=-4194304", 0), 26);
        assert_eq!(seconds(Method::GET, "bytes=5-", 0), 45);
        assert_eq!(seconds(Method::PUT, "", 16 << 20), 74);
        assert_eq!(seconds(Method::PUT, "", 64 << 20), 80);
        assert_eq!(seconds(Method::PUT, "", 0), 10);
    }
}
