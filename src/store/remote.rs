//! A store with errors that are explained, and without secrets in its `Debug`.

use std::fmt::{self, Display};
use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::blocking::runtime;
use super::explain::{Asked, explain};
use super::object::PIECE;

/// The store of a bucket. Large ranges are requested in pieces, so that no request takes long, and only a piece that
/// fails is requested again.
#[derive(Clone)]
pub(super) struct Remote {
    pub(super) inner: Arc<dyn ObjectStore>,
    pub(super) about: Arc<About>,
}

/// Facts about a store.
#[derive(Debug)]
pub(super) struct About {
    pub(super) root: String,
    pub(super) endpoint: Option<String>,
    pub(super) region: Option<String>,
    pub(super) is_anonymous: bool,
    pub(super) is_key_given: bool,
    /// True if the last bytes of an object can be requested without knowing its size.
    pub(super) has_suffixes: bool,
    /// A hash seed that no other store has.
    pub(super) seed: u64,
}

impl About {
    fn explained(&self, key: &Key, error: object_store::Error) -> object_store::Error {
        let Self { root, endpoint, region, is_anonymous, is_key_given, .. } = self;
        let place = if key.as_ref().is_empty() { root.clone() } else { format!("{root}/{key}") };
        let asked = Asked {
            place: &place,
            root,
            endpoint: endpoint.as_deref(),
            region: region.as_deref(),
            is_anonymous: *is_anonymous,
            is_key_given: *is_key_given,
        };
        explain(error, &asked)
    }

    /// Gives an object a modification time that distinguishes it from others. DataFusion caches footers and statistics
    /// of the objects of all stores by key, size and time, but the times of stores are whole seconds. The fraction of
    /// the second becomes a hash of the store and the ETag. Lists may have the ETag without quotes.
    fn told_apart(&self, mut meta: ObjectMeta) -> ObjectMeta {
        let tag = meta.e_tag.as_deref().unwrap_or_default().trim_start_matches("W/").trim_matches('"');
        meta.last_modified -= Duration::from_nanos(meta.last_modified.timestamp_subsec_nanos().into());
        meta.last_modified += Duration::from_nanos(xxh3_64_with_seed(tag.as_bytes(), self.seed) % 1_000_000_000);
        meta
    }
}

impl Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.about.root)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl Remote {
    async fn get(&self, key: &Key, options: GetOptions) -> Result<GetResult> {
        let is_head = options.head;
        match self.inner.get_opts(key, options).await {
            Ok(mut got) => {
                got.meta = self.about.told_apart(got.meta);
                if let GetResultPayload::Stream(stream) = got.payload {
                    let (about, key) = (Arc::clone(&self.about), key.clone());
                    let stream = stream.map_err(move |error| about.explained(&key, error)).boxed();
                    got.payload = GetResultPayload::Stream(stream);
                }
                Ok(got)
            }
            Err(error) => {
                let error = if is_head { self.said_of(key, error).await } else { error };
                Err(self.about.explained(key, error))
            }
        }
    }

    /// Reads a range of a known object in pieces. The next piece is fetched while another is read.
    fn pieces(
        &self,
        key: &Key,
        options: GetOptions,
        known: ObjectMeta,
        range: Range<u64>,
    ) -> BoxStream<'static, Result<Bytes>> {
        // A weak ETag never matches in `If-Match`.
        let tag = known.e_tag.clone().filter(|tag| !tag.starts_with("W/"));
        let options = GetOptions { if_match: options.if_match.clone().or(tag), ..options };
        let (remote, key, end) = (self.clone(), key.clone(), range.end);
        let piece = move |start| {
            let (remote, key, known) = (remote.clone(), key.clone(), known.clone());
            let range = Some(GetRange::Bounded(start..end.min(start + PIECE)));
            let options = GetOptions { range, ..options.clone() };
            let piece = async move {
                let got = remote.get(&key, options).await?;
                if got.meta == known {
                    return got.bytes().await;
                }
                let changed = Error::Precondition { path: key.to_string(), source: "it was changed".into() };
                Err(remote.about.explained(&key, changed))
            };
            // The piece is fetched even if its reader is busy.
            async {
                let failed = |error| Error::Generic { store: "runtime", source: Box::new(error) };
                runtime().map_err(failed)?.spawn(piece).await?
            }
        };
        let step = usize::try_from(PIECE).unwrap_or(usize::MAX);
        stream::iter(range.step_by(step)).map(piece).buffered(2).boxed()
    }

    /// Returns the error of a GET request instead of a HEAD request: the answer to HEAD has no body that explains it.
    async fn said_of(&self, key: &Key, error: object_store::Error) -> object_store::Error {
        use object_store::Error as E;
        if !matches!(error, E::PermissionDenied { .. } | E::Unauthenticated { .. } | E::Generic { .. }) {
            return error;
        }
        let options = GetOptions { range: Some(GetRange::Bounded(0..1)), ..GetOptions::default() };
        match self.inner.get_opts(key, options).await {
            Ok(_) => error,
            Err(error) => error,
        }
    }
}

#[async_trait]
impl ObjectStore for Remote {
    async fn put_opts(&self, key: &Key, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.inner.put_opts(key, payload, options).await.map_err(|error| self.about.explained(key, error))
    }

    async fn put_multipart_opts(&self, key: &Key, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        let upload = self.inner.put_multipart_opts(key, options).await;
        let upload = upload.map_err(|error| self.about.explained(key, error))?;
        Ok(Box::new(Upload { inner: upload, about: Arc::clone(&self.about), key: key.clone() }))
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> Result<GetResult> {
        let options = match options.range {
            // These stores do not support suffix ranges.
            Some(GetRange::Suffix(length)) if !self.about.has_suffixes => {
                let size = self.inner.head(key).await.map_err(|error| self.about.explained(key, error))?.size;
                GetOptions { range: Some(GetRange::Bounded(size.saturating_sub(length)..size)), ..options }
            }
            _ => options,
        };
        let Some(GetRange::Bounded(wanted)) = options.range.clone().filter(|_| !options.head) else {
            return self.get(key, options).await;
        };
        let first = wanted.start..wanted.end.min(wanted.start.saturating_add(PIECE));
        let mut got = self.get(key, GetOptions { range: Some(GetRange::Bounded(first)), ..options.clone() }).await?;
        let rest = got.range.end..wanted.end.min(got.meta.size);
        if let (GetResultPayload::Stream(first), false) = (&mut got.payload, rest.is_empty()) {
            got.range.end = rest.end;
            let rest = self.pieces(key, options, got.meta.clone(), rest);
            *first = mem::replace(first, stream::empty().boxed()).chain(rest).boxed();
        }
        Ok(got)
    }

    fn delete_stream(&self, keys: BoxStream<'static, Result<Key>>) -> BoxStream<'static, Result<Key>> {
        let about = Arc::clone(&self.about);
        self.inner.delete_stream(keys).map_err(move |error| about.explained(&Key::default(), error)).boxed()
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (about, key) = (Arc::clone(&self.about), prefix.cloned().unwrap_or_default());
        let told = move |listed: Result<_>| match listed {
            Ok(meta) => Ok(about.told_apart(meta)),
            Err(error) => Err(about.explained(&key, error)),
        };
        self.inner.list(prefix).map(told).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Result<ListResult> {
        let listed = self.inner.list_with_delimiter(prefix).await;
        let mut listed = listed.map_err(|error| self.about.explained(&prefix.cloned().unwrap_or_default(), error))?;
        listed.objects = listed.objects.into_iter().map(|meta| self.about.told_apart(meta)).collect();
        Ok(listed)
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await.map_err(|error| self.about.explained(to, error))
    }
}

/// An upload with errors that are explained.
struct Upload {
    inner: Box<dyn MultipartUpload>,
    about: Arc<About>,
    key: Key,
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "upload of {}/{}", self.about.root, self.key)
    }
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (part, about, key) = (self.inner.put_part(data), Arc::clone(&self.about), self.key.clone());
        Box::pin(async move { part.await.map_err(|error| about.explained(&key, error)) })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.inner.complete().await.map_err(|error| self.about.explained(&self.key, error))
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await.map_err(|error| self.about.explained(&self.key, error))
    }
}
