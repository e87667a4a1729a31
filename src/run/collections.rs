//! Collections that a method reads. Stored collections are opened in place, others are read into the workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use arrow::datatypes::{Schema, SchemaRef};

use super::{Event, Run};
use crate::cluster::SharedFolder;
use crate::corpus::ingest::{self, Ingested, Needed, about_corpus};
use crate::corpus::{self, Boilerplate, Content, Documents, PageFilter, Selection};
use crate::error::misuse;
use crate::export::layout::{FILES, ORIGINS};
use crate::export::{Manifest, StagedFolder};
use crate::index::stored::Stored;
use crate::pipeline::StageCache;
use crate::store::{Location, Object, Stores};

impl Run {
    /// Opens the collection of a method and the collection to compare it with, and registers `documents`, `sentences`,
    /// `against_documents` and `against_sentences`. A corpus folder is opened in place, anything else is read into the
    /// workspace first. Without another collection, its tables exist, but have no rows. Returns the collections.
    pub(crate) async fn open_both(&mut self, compared: &Compared<'_>) -> Result<Vec<Stored>> {
        self.open_checked(compared, |_, _| Ok(())).await
    }

    /// Opens as [`Self::open_both`], once `check` has found nothing wrong with the columns of each table of documents.
    /// The columns are known before any document is read.
    pub(crate) async fn open_checked(
        &mut self,
        compared: &Compared<'_>,
        check: impl Fn(&str, &Schema) -> Result<()>,
    ) -> Result<Vec<Stored>> {
        let other = compared.against.map(|inputs| ("against_", inputs));
        let all = [Some(compared.inputs), compared.against, compared.ignored];
        if all.iter().flatten().filter(|inputs| inputs.iter().any(|input| input == "-")).count() > 1 {
            bail!("- (standard input) can be read only once; name a file for one of the two collections");
        }
        let mut collections = Vec::new();
        for (prefix, inputs) in std::iter::once(("", compared.inputs)).chain(other) {
            let collection = self.open(prefix, inputs, compared).await?;
            check(&format!("{prefix}documents"), &collection.columns())?;
            collections.push((prefix, collection));
        }
        if collections.iter().all(|(_, collection)| matches!(collection, Collection::Stored(..))) {
            check_read(&compared.reading)?;
        }
        let mut stored = Vec::new();
        for (prefix, collection) in collections {
            stored.push(match collection {
                Collection::Stored(collection, _) => {
                    self.note_contents(prefix, &collection, compared.needed).await?;
                    collection
                }
                Collection::Read(documents) => {
                    let notes_origins = compared.against.is_some();
                    let folder = self.take_in(prefix, *documents, compared.needed, notes_origins).await?;
                    self.taken_in(folder)?
                }
            });
        }
        if compared.against.is_none() {
            for statement in compared.no_other_collection() {
                self.workspace.run(&statement).await?;
            }
        } else {
            for statement in compared.origins(&stored, self.engine.stores())? {
                self.workspace.run(&statement).await?;
            }
        }
        if let Some(ignored) = compared.ignored {
            self.open_ignored(ignored, &compared.reading).await?;
        }
        Ok(stored)
    }

    /// Opens the documents whose text is to be ignored, and registers them as `ignored_documents`.
    pub(crate) async fn open_ignored(&mut self, inputs: &[String], reading: &corpus::Options) -> Result<()> {
        let (prefix, needed, failed) = ("ignored_", Needed::Documents, "cannot read the documents to ignore");
        let Some(stored) = corpus_folder(inputs, self.engine.stores())? else {
            let documents = self.read(inputs, reading, false).context(failed)?;
            return self.take_in(prefix, documents, needed, false).await.map(drop).context(failed);
        };
        stored.refuse_results(reading)?;
        stored.register(&self.workspace.session, prefix, needed).await?;
        self.note_contents(prefix, &stored, needed).await
    }

    /// Opens inputs, and registers a collection that is stored.
    async fn open(&self, prefix: &str, inputs: &[String], compared: &Compared<'_>) -> Result<Collection> {
        // With another collection, it is enough if one of the two is a dump.
        let alone = compared.against.is_none();
        let reading = compared.reading_of(prefix);
        let Some(stored) = corpus_folder(inputs, self.engine.stores())? else {
            return Ok(Collection::Read(Box::new(self.read(inputs, reading, alone)?)));
        };
        check_pages(&reading.pages, !alone)?;
        check_boilerplate(reading.boilerplate, !alone)?;
        stored.refuse_results(reading)?;
        let session = &self.workspace.session;
        stored.register(session, prefix, compared.needed).await?;
        let columns = Arc::clone(session.table(format!("{prefix}documents")).await?.schema().inner());
        Ok(Collection::Stored(stored, columns))
    }

    /// Reads documents into the workspace, and registers them. Returns their folder.
    pub(crate) async fn take_in(
        &mut self,
        prefix: &str,
        documents: Documents,
        needed: Needed,
        notes_origins: bool,
    ) -> Result<PathBuf> {
        if prefix.is_empty() {
            self.user_columns = documents.user_columns().to_vec();
        }
        let (ingested, folder) = match self.shared_place(prefix, &documents) {
            Some(folder) => (self.share(documents, &folder).await?, folder),
            None => {
                let folder = self.workspace.folder().join(format!("{prefix}corpus"));
                std::fs::create_dir(&folder).context("cannot make a temporary folder")?;
                self.ingest(documents, None, &folder, needed, notes_origins).await?
            }
        };
        self.read.push(ingested.summary);
        let stored = self.taken_in(folder.clone())?;
        stored.register(&self.workspace.session, prefix, needed).await?;
        self.note_contents(prefix, &stored, needed).await?;
        Ok(folder)
    }

    /// Returns the collection that documents were read into.
    fn taken_in(&self, folder: PathBuf) -> Result<Stored> {
        if self.shared_tables().is_none() {
            return Ok(Stored::Corpus(folder));
        }
        Stored::at(&folder, self.engine.stores())?.with_context(|| format!("{} is gone", folder.display()))
    }

    /// Returns the folder that all machines of a cluster reach, if there is a cluster.
    fn shared_tables(&self) -> Option<&SharedFolder> {
        self.workspace.finished.as_ref().and_then(StageCache::shared_folder)
    }

    /// Returns the place of a corpus of documents that all machines of a cluster read, if there is a cluster.
    fn shared_place(&self, prefix: &str, documents: &Documents) -> Option<PathBuf> {
        let inputs = documents.inputs();
        let origins = inputs.origins(self.workspace.folder());
        let key = self.workspace.finished.as_ref()?.key([format!("{:?} {origins:?}", inputs.options).as_str()], &[])?;
        Some(self.shared_tables()?.place(&format!("{prefix}corpus-{key:032x}")))
    }

    /// Writes a corpus of documents to a place that all machines of a cluster read.
    async fn share(&self, documents: Documents, place: &Path) -> Result<Ingested> {
        let stores = self.engine.stores();
        let staged = StagedFolder::create(place, &[FILES.as_slice(), &[ORIGINS]].concat(), stores)?;
        let needed = Needed::DocumentsAndSentences;
        let (ingested, _) = self.ingest(documents, None, staged.path(), needed, true).await?;
        Manifest::write(staged.path(), &about_corpus(), stores)?;
        staged.commit_unless_dropped().await?;
        Ok(ingested)
    }

    /// Notes the contents of the tables of a registered collection, from which results will be made.
    pub(crate) async fn note_contents(&mut self, prefix: &str, collection: &Stored, needed: Needed) -> Result<()> {
        let contents = collection.contents(prefix, needed, self.engine.stores())?;
        if let Some(finished) = &self.workspace.finished {
            for table in needed.tables() {
                let name = format!("{prefix}{table}");
                let seals: Option<String> = contents
                    .iter()
                    .filter(|content| content["table"] == *name)
                    .map(|content| content["seal"].as_str())
                    .collect();
                if let Some(key) = seals.and_then(|seals| finished.key([seals.as_str()], &[])) {
                    finished.note(self.workspace.session.table_provider(name).await?, key);
                }
            }
        }
        self.contents.retain(|noted| contents.iter().all(|content| content["table"] != noted["table"]));
        self.contents.extend(contents);
        Ok(())
    }

    /// Copies a corpus of an object store into the workspace.
    pub(crate) fn fetch(&self, corpus: &Stored) -> Result<PathBuf> {
        let folder = self.workspace.folder().join("fetched");
        std::fs::create_dir(&folder).context("cannot make a temporary folder")?;
        for table in Needed::DocumentsAndSentences.tables() {
            for file in corpus.files(table) {
                let failed = || format!("cannot read {}", file.display());
                let location = Location::of_path(&file, self.engine.stores())?.with_context(failed)?;
                let object = Object::find(&location)?.with_context(failed)?;
                let copy = folder.join(format!("{table}.parquet"));
                let mut to =
                    std::fs::File::create(&copy).with_context(|| format!("cannot write {}", copy.display()))?;
                std::io::copy(&mut object.reader()?, &mut to).with_context(failed)?;
            }
        }
        Ok(folder)
    }

    /// Opens inputs. `alone` means that nothing else is read.
    pub(crate) fn read(&self, inputs: &[String], reading: &corpus::Options, alone: bool) -> Result<Documents> {
        self.open_selection(self.select(inputs, reading, alone)?, reading)
    }

    /// Finds the files to read. `alone` means that nothing else is read.
    pub(crate) fn select(&self, inputs: &[String], reading: &corpus::Options, alone: bool) -> Result<Selection> {
        self.tell(Event::Stage("reading"));
        let selection = corpus::select(inputs, &self.within_memory(reading), self.engine.stores())?;
        check_pages(&reading.pages, !alone || selection.has_dumps())?;
        check_boilerplate(reading.boilerplate, !alone || selection.has_html())?;
        Ok(selection)
    }

    /// Opens files that were found.
    pub(crate) fn open_selection(&self, selection: Selection, reading: &corpus::Options) -> Result<Documents> {
        Ok(corpus::open_selection(selection, &self.within_memory(reading))?)
    }

    fn within_memory(&self, reading: &corpus::Options) -> corpus::Options {
        corpus::Options { memory: self.engine.given_memory(), ..reading.clone() }
    }

    /// Reads documents into a folder, or finds the folder into which an earlier run has read the same. Returns the
    /// folder of the documents. The content of their files, where it is known, must not change meanwhile.
    pub async fn ingest(
        &self,
        mut documents: Documents,
        content: Option<Content>,
        folder: &Path,
        needed: Needed,
        notes_origins: bool,
    ) -> Result<(Ingested, PathBuf)> {
        let inputs = documents.inputs();
        // A corpus that machines of a cluster share is read each time.
        let is_kept_here = |finished: &&StageCache| finished.shared_folder().is_none() && inputs.are_whole();
        let finished = self.workspace.finished.as_ref().filter(is_kept_here);
        // Tables that are kept serve all methods.
        if notes_origins || finished.is_some() {
            documents.note_origins(self.workspace.folder().to_path_buf());
        }
        let content = match content {
            None if finished.is_some() => Some(inputs.content()?),
            known => known,
        };
        let summary = documents.summary();
        let read = async |folder: &Path| {
            let ingested = ingest::ingest(&self.workspace.session, documents, folder, needed).await?;
            content.map_or(Ok(()), |content| inputs.check(content))?;
            anyhow::Ok(ingested)
        };
        let Some((finished, content)) = finished.zip(content) else {
            return Ok((read(folder).await?, folder.to_path_buf()));
        };
        // The places of results do not change rows.
        let options = corpus::Options { results: Vec::new(), reads_stdin: false, ..inputs.options.clone() };
        let origins = inputs.origins(self.workspace.folder());
        let reading = format!("{} {options:?} {needed:?} {origins:?}", content.to_json());
        let key = finished.key([reading.as_str()], &[]).context("it is made of no table")?;
        if let Some((folder, noted)) = finished.take(key)? {
            let mut ingested = Ingested::none(summary);
            ingested.add(&noted["noted"]);
            return Ok((ingested, folder));
        }
        let staged = finished.begin(key)?;
        let ingested = read(staged.path()).await?;
        let folder = finished.keep(key, staged, &ingested.to_json())?;
        Ok((ingested, folder))
    }
}

/// A collection that was opened.
enum Collection {
    /// A corpus or an index, with the columns of its documents.
    Stored(Stored, SchemaRef),
    /// Documents that are to be read.
    Read(Box<Documents>),
}

impl Collection {
    /// Returns the columns of the documents.
    fn columns(&self) -> SchemaRef {
        match self {
            Self::Stored(_, columns) => Arc::clone(columns),
            Self::Read(documents) => documents.schema(),
        }
    }
}

/// The collections that a method compares.
pub(crate) struct Compared<'a> {
    pub(crate) inputs: &'a [String],
    /// The other collection; `None` where the first is compared with itself.
    pub(crate) against: Option<&'a [String]>,
    /// The documents whose text is to be ignored.
    pub(crate) ignored: Option<&'a [String]>,
    pub(crate) reading: corpus::Options,
    /// The options for reading the other collection, if they differ.
    pub(crate) against_reading: Option<corpus::Options>,
    pub(crate) needed: Needed,
    /// True if documents of equal ids and texts are the same, wherever they come from.
    pub(crate) same_ids: bool,
}

impl Compared<'_> {
    /// Returns the options for reading the collection with this prefix.
    pub(super) fn reading_of(&self, prefix: &str) -> &corpus::Options {
        self.against_reading.as_ref().filter(|_| !prefix.is_empty()).unwrap_or(&self.reading)
    }

    /// Returns the statements that create empty views in place of the tables of another collection.
    pub(super) fn no_other_collection(&self) -> impl Iterator<Item = String> {
        self.needed
            .tables()
            .iter()
            .map(|table| format!("CREATE VIEW against_{table} AS SELECT * FROM {table} WHERE false"))
    }

    /// Returns the statements that create `origins` and `against_origins`, which say where the documents of two
    /// collections come from. If the user says so, documents of equal ids come from the same place. Otherwise, if both
    /// corpora have a table of origins, the statements use these. If neither has one, documents of equal ids come from
    /// the same place if the two are the same collection, by its seals. In all other cases, the origins are not known.
    fn origins(&self, collections: &[Stored], stores: &Arc<Stores>) -> Result<Vec<String>> {
        let files = collections.iter().map(|collection| collection.origins(stores)).collect::<Result<Vec<_>>>()?;
        self.origins_in(&files, || {
            let seals = |collection: &Stored| -> Result<Vec<_>> {
                let contents = collection.contents("", Needed::Documents, stores)?;
                Ok(contents.iter().map(|content| content["seal"].as_str().map(str::to_owned)).collect())
            };
            let all = collections.iter().map(seals).collect::<Result<Vec<_>>>()?;
            Ok(all.iter().all(|seals| *seals == all[0] && seals.iter().all(Option::is_some)))
        })
    }

    /// Returns these statements for the files with origins. `are_same` tells if both collections are the same, and is
    /// called if neither has a file.
    pub(super) fn origins_in(
        &self,
        files: &[Option<PathBuf>],
        are_same: impl FnOnce() -> Result<bool>,
    ) -> Result<Vec<String>> {
        let prefixes = ["", "against_"].into_iter().zip(files);
        if !self.same_ids && files.iter().all(Option::is_some) {
            let statement =
                |(prefix, file): (_, &Option<PathBuf>)| Some(ingest::statement(prefix, file.as_ref()?, "origins"));
            return Ok(prefixes.filter_map(statement).collect());
        }
        let has_all = self.same_ids || files.iter().all(Option::is_none) && are_same()?;
        let rows = if has_all { "" } else { " WHERE false" };
        let place = "doc_id AS file, CAST(0 AS BIGINT) AS record";
        let view =
            |(prefix, _)| format!("CREATE VIEW {prefix}origins AS SELECT doc_id, {place} FROM {prefix}documents{rows}");
        Ok(prefixes.map(view).collect())
    }
}

/// Opens the corpus folder or the index that `inputs` name, if they name one.
pub(crate) fn corpus_folder(inputs: &[String], stores: &Arc<Stores>) -> Result<Option<Stored>> {
    if let [one] = inputs {
        return Stored::at(Path::new(one), stores);
    }
    for path in inputs {
        if let Some(stored) = Stored::at(Path::new(path), stores)? {
            bail!("{path} is {}; give it alone, or ingest everything into one corpus first", stored.kind());
        }
    }
    Ok(None)
}

/// Fails if `reading` names columns of raw input, since stored collections were ingested before.
fn check_read(reading: &corpus::Options) -> Result<()> {
    let text_column = reading.text_column.is_some() && !reading.text_is_optional;
    if text_column || reading.id_column.is_some() {
        return Err(misuse!(
            "`text_column` and `id_column` are for raw input, and the input is a corpus or an index; give them to ibid \
             ingest"
        ));
    }
    Ok(())
}

/// Fails if boilerplate of pages is to be dropped and no pages are read.
pub(crate) fn check_boilerplate(boilerplate: Boilerplate, reads_html: bool) -> Result<()> {
    if reads_html || boilerplate == Boilerplate::Keep {
        return Ok(());
    }
    Err(misuse!(
        "`boilerplate = drop` is for reading pages of HTML (.html, .warc), and the input has none; leave it out, or \
         say `input_format = html`"
    ))
}

/// Fails if pages are to be left out and no pages are read.
pub(crate) fn check_pages(pages: &PageFilter, reads_dumps: bool) -> Result<()> {
    if reads_dumps || pages.is_empty() {
        return Ok(());
    }
    Err(misuse!(
        "`namespace`, `skip_redirects` and `skip_disambiguation` are for reading MediaWiki dumps (.xml), and the input \
         has none; leave them out, or say `input_format = mediawiki`"
    ))
}
