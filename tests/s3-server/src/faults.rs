//! Faults between a client and the server, by a schedule that is generated from a seed.
//!
//! The fault of a request is a function of the seed, of the request, and of the number of its earlier tries. So it does
//! not depend on the order in which requests arrive.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use hyper::Method;

/// The fault of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Status 500, and nothing is done.
    InternalError,
    /// Status 503, and nothing is done.
    SlowDown,
    /// Status 409 for a conditional write, and nothing is done.
    Conflict,
    /// Status 200, and an error in the body, as S3 may answer when an upload is completed. Nothing is done.
    ErrorWithin,
    /// The connection breaks before anything is done.
    Reset,
    /// The request is done, and the connection breaks before the answer.
    Lost,
    /// The answer ends in the middle of its body.
    CutShort,
    /// Nothing is done, and no answer comes.
    Stall,
    /// The request is done, and no answer comes.
    StallAfter,
    /// The request is done, and the answer comes after a while.
    Late,
    /// The request is done after a while, when the client no longer waits, and no answer comes.
    Delayed,
}

/// A schedule of faults.
pub(crate) struct Schedule {
    seed: u64,
    /// The number of requests in a thousand that fail, among those that can fail.
    share: u64,
    /// The maximum number of times that a request fails.
    most: u32,
    reads: bool,
    writes: bool,
    kinds: Vec<Fault>,
    seen: Mutex<HashMap<(Method, String, String), u32>>,
}

impl Schedule {
    pub(crate) fn new(seed: u64) -> Self {
        use Fault::{Conflict, CutShort, ErrorWithin, InternalError, Late, Lost, Reset, SlowDown, Stall, StallAfter};
        let dice = |what: &str| hashed(&(seed, what));
        let all = [InternalError, SlowDown, Reset, Lost, CutShort, Conflict, ErrorWithin, Late, Stall, StallAfter];
        let chosen = |kind: &Fault| dice(&format!("{kind:?}")).is_multiple_of(2);
        let mut kinds: Vec<Fault> = all.iter().copied().filter(chosen).collect();
        if kinds.is_empty() {
            kinds.push(Reset);
        }
        // Requests fail rarely, often, or very often; or each request fails a few times and then succeeds; or each
        // always fails.
        let (share, most) = [(50, u32::MAX), (200, u32::MAX), (400, u32::MAX), (1000, 1), (1000, 3), (1000, u32::MAX)]
            [usize::try_from(dice("share") % 6).unwrap_or_default()];
        let (reads, writes) = [(true, true), (true, true), (true, false), (false, true)]
            [usize::try_from(dice("which") % 4).unwrap_or_default()];
        Self { seed, share, most, reads, writes, kinds, seen: Mutex::default() }
    }

    /// Returns the fault of a request, or `None` if it is answered normally.
    pub(crate) fn of(&self, method: &Method, target: &str, range: &str, is_conditional: bool) -> Option<Fault> {
        let is_read = [Method::GET, Method::HEAD].contains(method);
        if !(if is_read { self.reads } else { self.writes }) {
            return None;
        }
        // The ids of uploads differ in each run.
        let name = target.split("uploadId=").next().unwrap_or_default().to_owned();
        let request = (method.clone(), name, range.to_owned());
        let hash = |times: u32, what: &str| hashed(&(self.seed, request.1.as_str(), &request.2, is_read, times, what));
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let times = seen.entry(request.clone()).or_default();
        *times += 1;
        let times = *times;
        drop(seen);
        if times > self.most || hash(times, "whether") % 1000 >= self.share {
            return None;
        }
        let completes = *method == Method::POST && target.contains("uploadId=");
        let can_be = |kind: &&Fault| match kind {
            Fault::Conflict => is_conditional && *method == Method::PUT,
            Fault::ErrorWithin => completes,
            Fault::CutShort => *method == Method::GET,
            _ => true,
        };
        let kinds: Vec<&Fault> = self.kinds.iter().filter(can_be).collect();
        let chosen = usize::try_from(hash(times, "how") % kinds.len().max(1) as u64).unwrap_or_default();
        kinds.get(chosen).copied().copied()
    }
}

fn hashed(what: &impl Hash) -> u64 {
    // The hashes are the same in every run, unlike those of a `HashMap`.
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
