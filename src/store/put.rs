//! Writes of objects, each whole or not at all.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::TryStreamExt;
use futures::stream::FuturesUnordered;
use object_store::{
    Attribute, AttributeValue, Attributes, Error, GetOptions, GetRange, ObjectStore, PutMode, PutMultipartOptions,
    PutOptions, PutPayload,
};

use super::blocking::wait;
use super::explain::{Explained, Kind};
use super::given_up::{GivenUp, Uploading, write_unless_dropped};
use super::location::Location;
use super::object::{Object, failed, io_error};
use crate::store::failpoint::step;

/// Largest object that is written in one request, and smallest part of larger ones. Conditional writes and web servers
/// always take one request.
const PART: u64 = 16 << 20;

/// Upper bound of the number of parts of an object, with some to spare.
const PARTS: u64 = 9000;

/// Number of parts that are sent at the same time.
const AT_ONCE: usize = 2;

/// Number of tries of a request that is known to have had no effect.
const ATTEMPTS: usize = 3;

/// Time limit for finding out the outcome of a request, and time after which no request is retried.
const PATIENCE: Duration = Duration::from_secs(40);

/// First pause while another request writes the same object.
const PAUSE: Duration = Duration::from_millis(250);

/// Upper bound of that pause, which doubles each time.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// Name of the metadata entry that tells which request wrote an object. It has letters only, since not all stores take
/// others.
const MARK: &str = "ibidput";

/// The condition for writing an object.
#[derive(Debug, Clone)]
pub(crate) enum When {
    Always,
    /// Only if there is no object yet.
    New,
    /// Only if the object is still this one.
    Still(Box<Object>),
}

/// Fails if an object can certainly not be written: there is no such bucket, or the credentials are not valid.
pub(crate) fn check_writable(location: &Location) -> Result<()> {
    let store = location.store().with_context(|| format!("cannot write {location}"))?;
    let key = location.key().clone();
    if location.is_web() {
        return Ok(());
    }
    let options = GetOptions { range: Some(GetRange::Bounded(0..1)), ..GetOptions::default() };
    match wait(async move { store.get_opts(&key, options).await.map(drop) })? {
        Ok(()) => Ok(()),
        Err(error) => match Explained::of(&error).map(Explained::kind) {
            // The object does not exist, or may be writable although it is not readable.
            Some(Kind::Unsure) => Ok(()),
            Some(Kind::Other) if matches!(error, Error::NotFound { .. }) => Ok(()),
            _ => Err(failed("cannot write", location, io_error(error).into())),
        },
    }
}

/// Writes a file as an object, in one step. Returns `false` if another object is in its place than expected, which then
/// stays. After an error it is unknown if the object was written, or still will be.
///
/// If the answer is lost, a mark in the metadata tells if the object was written. Once the write is `given_up`, it is
/// not begun, or its upload is aborted, and that is an error.
pub(crate) fn put(file: &Path, location: &Location, when: When, given_up: &GivenUp) -> Result<bool> {
    let written = wait(Put::new(file, location, when, given_up)?.run())?;
    written.map_err(|error| failed("cannot write", location, io_error(error).into()))
}

/// Writes a file as a new object with [`put`], on a thread that may block. If the future is dropped before the write
/// has ended, the upload is aborted. `kept` keeps the file, and is dropped when the write ends.
pub(crate) async fn put_new_unless_dropped<T: Send + 'static>(
    file: PathBuf,
    location: Location,
    kept: T,
) -> Result<()> {
    let (stores, given_up) = (Arc::clone(location.stores()), GivenUp::default());
    let told = given_up.clone();
    let write = move || {
        put(&file, &location, When::New, &told)?;
        drop(kept);
        Ok(())
    };
    write_unless_dropped(&stores, &given_up, write).await
}

struct Put {
    store: Arc<dyn ObjectStore>,
    location: Location,
    file: PathBuf,
    size: u64,
    mode: PutMode,
    mark: String,
    uploading: Uploading,
}

/// The state of a key in the store after a failed write.
enum There {
    /// The object that this write has written.
    Ours,
    /// Another object, which a conditional write does not replace.
    Other,
    /// Nothing, or still the object to replace.
    Nothing,
}

impl Put {
    fn new(file: &Path, location: &Location, when: When, given_up: &GivenUp) -> Result<Self> {
        let size = file.metadata().with_context(|| format!("cannot read {}", file.display()))?.len();
        let mode = match when {
            When::Always => PutMode::Overwrite,
            When::New => PutMode::Create,
            When::Still(object) => PutMode::Update(object.version()),
        };
        let mark = format!("{:016x}{:016x}", RandomState::new().hash_one(size), RandomState::new().hash_one(file));
        let uploading = Uploading::begin(location.stores(), given_up);
        Ok(Self {
            store: location.store()?,
            location: location.clone(),
            file: file.to_owned(),
            size,
            mode,
            mark,
            uploading,
        })
    }

    async fn run(self) -> object_store::Result<bool> {
        let (mut attempt, mut pause, began) = (1, PAUSE, Instant::now());
        loop {
            // A multipart upload replaces any object that is there.
            let is_one = self.size <= PART || self.mode != PutMode::Overwrite || self.location.is_web();
            let outcome = if is_one { self.at_once().await } else { self.in_parts().await };
            let Err(error) = outcome else { return Ok(true) };
            if self.uploading.is_given_up() {
                return Err(error);
            }
            let is_refused = matches!(error, Error::AlreadyExists { .. } | Error::Precondition { .. });
            let is_late = began.elapsed() >= PATIENCE;
            let error = match self.look().await {
                Ok(There::Ours) => return Ok(true),
                Ok(There::Other) if is_refused && self.mode != PutMode::Overwrite => return Ok(false),
                // Another request, perhaps an earlier one of ours, is writing the object, or has just removed it.
                Ok(_) if is_refused && !is_late => {
                    tokio::time::sleep(pause).await;
                    pause = LONGEST_PAUSE.min(pause * 2);
                    continue;
                }
                Err(unknown) if is_refused => {
                    tokio::time::sleep(pause).await;
                    unknown
                }
                _ => error,
            };
            // object_store does not retry a conditional request, since it might have had an effect. It is retried here.
            let may_be_done = is_refused || matches!(error, Error::Generic { .. }) && self.mode != PutMode::Overwrite;
            if !may_be_done || is_late || attempt == ATTEMPTS {
                return Err(error);
            }
            attempt += 1;
        }
    }

    /// Returns the state of the object's key in the store.
    async fn look(&self) -> object_store::Result<There> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        let looked = tokio::time::timeout(PATIENCE, self.store.get_opts(self.location.key(), options)).await;
        let found = match looked.unwrap_or_else(|_| Err(Self::failed(io::ErrorKind::TimedOut.into()))) {
            Err(Error::NotFound { .. }) => return Ok(There::Nothing),
            found => found?,
        };
        let mark = found.attributes.get(&Attribute::Metadata(MARK.into()));
        Ok(match &self.mode {
            _ if mark.is_some_and(|mark| **mark == *self.mark) && found.meta.size == self.size => There::Ours,
            PutMode::Update(expected)
                if expected.e_tag.is_some()
                    && expected.e_tag == found.meta.e_tag
                    && expected.version == found.meta.version =>
            {
                There::Nothing
            }
            _ => There::Other,
        })
    }

    fn attributes(&self) -> Attributes {
        // Web servers have no metadata.
        if self.location.is_web() {
            return Attributes::new();
        }
        let content = match self.location.key().extension() {
            Some("csv") => "text/csv",
            Some("json") => "application/json",
            Some("ndjson" | "jsonl") => "application/x-ndjson",
            Some("parquet") => "application/vnd.apache.parquet",
            _ => "application/octet-stream",
        };
        let mark = (Attribute::Metadata(MARK.into()), self.mark.clone().into());
        Attributes::from_iter([(Attribute::ContentType, AttributeValue::from(content)), mark])
    }

    fn failed(error: io::Error) -> Error {
        Error::Generic { store: "file", source: Box::new(error) }
    }

    async fn at_once(&self) -> object_store::Result<()> {
        let bytes = std::fs::read(&self.file).map_err(Self::failed)?;
        let options = PutOptions { mode: self.mode.clone(), attributes: self.attributes(), ..PutOptions::default() };
        let sent = async {
            step("an object is about to be sent");
            let sent = self.store.put_opts(self.location.key(), PutPayload::from(bytes), options).await;
            step("an object is sent");
            sent.map(drop)
        };
        self.unless_given_up(sent).await
    }

    /// Runs a request. Fails at once if the write is given up.
    async fn unless_given_up(&self, sent: impl Future<Output = object_store::Result<()>>) -> object_store::Result<()> {
        tokio::select! {
            biased;
            () = self.uploading.given_up() => Err(Self::failed(io::ErrorKind::Interrupted.into())),
            outcome = sent => outcome,
        }
    }

    async fn in_parts(&self) -> object_store::Result<()> {
        let options = PutMultipartOptions { attributes: self.attributes(), ..PutMultipartOptions::default() };
        if self.uploading.is_given_up() {
            return Err(Self::failed(io::ErrorKind::Interrupted.into()));
        }
        step("an upload is about to begin");
        let mut upload = self.store.put_multipart_opts(self.location.key(), options).await?;
        step("an upload is begun");
        let mut file = File::open(&self.file).map_err(Self::failed)?;
        let part = PART.max(self.size.div_ceil(PARTS));
        let sent = async {
            let mut coming = FuturesUnordered::new();
            loop {
                let mut bytes = Vec::new();
                file.by_ref().take(part).read_to_end(&mut bytes).map_err(Self::failed)?;
                if bytes.is_empty() {
                    break;
                }
                coming.push(upload.put_part(PutPayload::from(bytes)));
                if coming.len() == AT_ONCE {
                    coming.try_next().await?;
                    step("a part is sent");
                }
            }
            while coming.try_next().await?.is_some() {
                step("a part is sent");
            }
            step("all parts are sent");
            let completed = upload.complete().await;
            step("an upload is completed");
            completed.map(drop)
        };
        let outcome = self.unless_given_up(sent).await;
        if outcome.is_err() {
            // Parts that it cannot remove are left to a lifecycle rule of the bucket.
            let _ = upload.abort().await;
        }
        outcome
    }
}

/// Removes an object, if it is there.
pub(crate) fn remove(location: &Location) -> Result<()> {
    use object_store::ObjectStoreExt as _;
    let (store, key) = (location.store()?, location.key().clone());
    match wait(async move { store.delete(&key).await })? {
        Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
        Err(error) => Err(failed("cannot remove", location, io_error(error).into())),
    }
}

#[cfg(test)]
mod tests {
    use object_store::ObjectStoreExt;
    use object_store::memory::InMemory;

    use super::*;

    #[tokio::test]
    async fn what_is_large_and_new_takes_the_place_of_nothing() {
        let stores = Arc::default();
        let (store, location) = (Arc::new(InMemory::new()), Location::of("s3://box/x.json", &stores).unwrap().unwrap());
        store.put(location.key(), "theirs".into()).await.unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(PART + 1).unwrap();
        let put = Put {
            store: Arc::clone(&store) as _,
            location: location.clone(),
            file: file.path().to_owned(),
            size: PART + 1,
            mode: PutMode::Create,
            mark: String::new(),
            uploading: Uploading::begin(&stores, &GivenUp::default()),
        };
        assert!(!put.run().await.unwrap());
        assert_eq!(store.head(location.key()).await.unwrap().size, 6);
    }
}
