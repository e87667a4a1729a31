//! A store with errors that are explained, and without secrets in its `Debug`.

use std::fmt::{self, Display};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::explain::{Asked, explain};

/// The store of a bucket.
pub(super) struct Remote {
    pub(super) inner: Arc<dyn ObjectStore>,
    pub(super) about: Arc<About>,
}

/// What is said of a store.
#[derive(Debug)]
pub(super) struct About {
    pub(super) root: String,
    pub(super) endpoint: Option<String>,
    pub(super) region: Option<String>,
    pub(super) is_anonymous: bool,
    /// Whether the last bytes of an object can be asked for without knowing its size.
    pub(super) has_suffixes: bool,
    /// What no other store has.
    pub(super) seed: u64,
}

impl About {
    fn explained(&self, key: &Key, error: object_store::Error) -> object_store::Error {
        let Self { root, endpoint, region, is_anonymous, .. } = self;
        let place = if key.as_ref().is_empty() { root.clone() } else { format!("{root}/{key}") };
        let asked = Asked {
            place: &place,
            root,
            endpoint: endpoint.as_deref(),
            region: region.as_deref(),
            is_anonymous: *is_anonymous,
        };
        explain(error, &asked)
    }

    /// What is known of an object, with a time that tells it from others. By key, size and time DataFusion knows objects of all
    /// stores of which it keeps footers and statistics, and times of stores are whole seconds: the fraction is made of the store
    /// and of the tag, which lists may have without quotes.
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
    /// What is wrong with an object, from an answer that has a body, unlike that to HEAD.
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
        let is_head = options.head;
        let options = match options.range {
            // Which they do not know.
            Some(GetRange::Suffix(length)) if !self.about.has_suffixes => {
                let size = self.inner.head(key).await.map_err(|error| self.about.explained(key, error))?.size;
                GetOptions { range: Some(GetRange::Bounded(size.saturating_sub(length)..size)), ..options }
            }
            _ => options,
        };
        match self.inner.get_opts(key, options).await {
            Ok(mut result) => {
                result.meta = self.about.told_apart(result.meta);
                if let object_store::GetResultPayload::Stream(stream) = result.payload {
                    let (about, key) = (Arc::clone(&self.about), key.clone());
                    let stream = stream.map_err(move |error| about.explained(&key, error)).boxed();
                    result.payload = object_store::GetResultPayload::Stream(stream);
                }
                Ok(result)
            }
            Err(error) => {
                let error = if is_head { self.said_of(key, error).await } else { error };
                Err(self.about.explained(key, error))
            }
        }
    }

    async fn get_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(key, ranges).await.map_err(|error| self.about.explained(key, error))
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
