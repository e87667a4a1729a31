//! Results as a page of HTML for people: what was found, where it is, and what differs.

mod choice;
mod content;
mod edits;
mod kinds;
mod links;
mod overview;
mod page;
mod plots;
mod result;
mod rows;
mod texts;

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use self::content::Candidates;
use self::kinds::{Groups, Pairs, Span};
use self::links::LinkTemplate;
use self::overview::Overview;
use self::page::{Head, PageLink, page};
use self::result::{About, Tables};
use super::options::{Given, NamedOptions};
use super::times::{note_times, seconds};
use super::{Base, Found, Input, common_options};
use crate::corpus::ingest::Needed;
use crate::engine::Engine;
use crate::error::{Error, OverLimit, misuse};
use crate::export::{Manifest, StagedFile, StagedFolder, names_folder, write_text};
use crate::index::stored::check_place;
use crate::pipeline::query::{self, Literal};
use crate::run::{Event, Run, Summary, grouped};

/// The largest numbers of matches, of groups, and of places of a group that a report chooses from.
const MOST_MATCHES: i64 = 100_000;
const MOST_GROUPS: i64 = 5_000;
const MOST_MEMBERS: i64 = 200;

/// The default size of a report, in bytes.
const MAX_SIZE: usize = 10 << 20;

/// The least size that may be asked for, and the approximate size of a page without rows: its script, style and sums.
const LEAST: usize = 256 << 10;
const EMPTY: i64 = 128 << 10;

/// The first page of a folder, and the folder of the others.
const FIRST: &str = "index.html";
const PAGES: &str = "pages/";

/// The largest number of times that a page is made to get it as small as it has to be.
const ATTEMPTS: usize = 8;

impl Engine {
    /// Makes a page of HTML of a result that a method has written: a Parquet file, or the folder of all its tables. The
    /// texts come from [`Report::corpus`], and with [`Report::against`] from the other collection, too. They must be
    /// the texts from which the result was made.
    ///
    /// The page is one file that needs nothing else: sums of the whole result, the matches with both texts side by side
    /// and their differences marked, families and clusters, a dot plot of two documents. It shows as many rows as
    /// [`Report::max_size`] has room for, the best first, and says what it leaves out. It shows `passages`, `families`,
    /// `pairs`, the pairs of `threads`, `containment`, `clusters`, `dedup` and the hits of `decontaminate`.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let (notes, pairs, page) = (folder.path().join("notes.jsonl"), folder.path().join("pairs.parquet"), folder.path().join("pairs.html"));
    /// std::fs::write(&notes, "{\"id\": 1, \"text\": \"To be or not to be.\"}\n{\"id\": 2, \"text\": \"To be, or not to be?\"}\n")?;
    /// let engine = ibid::Engine::new()?;
    /// engine.pairs(&notes).await?.write(&pairs).await?;
    /// let summary = engine.report(&pairs).corpus(&notes).write(&page).await?;
    /// assert_eq!((summary.count("matches"), summary.count("shown")), (Some(1), Some(1)));
    /// assert!(std::fs::read_to_string(&page)?.starts_with("<!DOCTYPE html>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn report(&self, result: impl Into<PathBuf>) -> Report<'static> {
        Report::new(self, Of::Path(result.into()))
    }
}

impl Found {
    /// Makes a page of HTML of the result, as [`Engine::report`] does for a written result. The texts need not be
    /// named.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let page = folder.path().join("pairs.html");
    /// let engine = ibid::Engine::new()?;
    /// let notes = engine.sql("SELECT * FROM (VALUES (1, 'To be or not to be.'), (2, 'To be, or not to be?')) AS t(id, text)").await?;
    /// engine.pairs(notes).await?.report().title("Two notes").write(&page).await?;
    /// assert!(std::fs::read_to_string(&page)?.contains("<title>Two notes</title>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn report(&self) -> Report<'_> {
        Report::new(&self.run.engine, Of::Found(self))
    }
}

/// The result that a report shows.
enum Of<'a> {
    Path(PathBuf),
    Found(&'a Found),
}

/// A page of HTML of a result; see [`Engine::report`].
#[must_use = "it is made when it is written"]
pub struct Report<'a> {
    base: Base,
    of: Of<'a>,
    title: Option<String>,
    max_size: usize,
    link_template: Option<String>,
    time_column: Option<String>,
}

common_options!(Report<'_>);

impl NamedOptions for Report<'_> {
    const NAMES: &'static [&'static str] = &["link_template", "max_size", "time_column", "title"];

    fn set_own(&mut self, given: Given<'_>) -> Result<()> {
        match given.name {
            "link_template" => self.link_template = Some(given.text()?),
            "max_size" => self.max_size = given.bytes()?,
            "time_column" => self.time_column = Some(given.text()?),
            _ => self.title = Some(given.text()?),
        }
        Ok(())
    }
}

impl<'a> Report<'a> {
    fn new(engine: &Engine, of: Of<'a>) -> Self {
        let base = Base::new(engine, Input::places::<PathBuf>([]));
        Self { base, of, title: None, max_size: MAX_SIZE, link_template: None, time_column: None }
    }

    /// Sets the collection from which the result was made, as the method read it. A result in memory knows its
    /// collection.
    pub fn corpus(mut self, corpus: impl Into<Input>) -> Self {
        self.base.input = corpus.into();
        self
    }

    /// Sets the other collection, if the result was made from two.
    pub fn against(mut self, other: impl Into<Input>) -> Self {
        self.base.against = Some(other.into());
        self
    }

    /// Sets the title. Default: a title for the method.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Limits the file to this many bytes, at least 256 KiB. Default: 10 MiB.
    pub fn max_size(mut self, bytes: usize) -> Self {
        self.max_size = bytes;
        self
    }

    /// Sets the template of the address of a document, with the id and columns in braces: `https://example.org/{id}`. A
    /// single column may hold whole addresses: `{url}`. Default: no links.
    pub fn link_template(mut self, template: impl Into<String>) -> Self {
        self.link_template = Some(template.into());
        self
    }

    /// Names the column of the time of each document, in any form that [`time_of`](crate::Engine::sql) reads: places of
    /// families and clusters are then in the order of time, with a timeline. Default: none.
    pub fn time_column(mut self, column: impl Into<String>) -> Self {
        self.time_column = Some(column.into());
        self
    }

    /// Sets options by their names, each to a value or to a list of them, as text.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for an unknown name, and for a value that the option cannot have.
    pub fn options(self, options: impl IntoIterator<Item = (String, Vec<String>)>) -> Result<Self, Error> {
        Ok(self.with_options(options)?)
    }

    /// Writes the page to a local file or a URL. If the path ends with a slash, writes as many pages as the rows need
    /// to a folder. Whatever was there before stays until everything is complete. Returns how many `matches` and
    /// `groups` the result has, how many of them are shown (`shown` and `groups shown`), and how many `pages` and
    /// `bytes` were written.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for a result that has no texts or nothing to show, [`Error::Input`] if the collection is not
    /// the one from which the result was made, [`Error::Limit`] if no page is as small as it has to be, and errors of
    /// reading and writing.
    pub async fn write(self, path: impl AsRef<Path>) -> Result<Summary, Error> {
        Ok(self.written(path.as_ref()).await?)
    }

    async fn written(self, path: &Path) -> Result<Summary> {
        let links = self.link_template.as_deref().map(LinkTemplate::parse).transpose()?;
        check_least(self.max_size)?;
        let stores = Arc::clone(self.base.engine.stores());
        let folder = if names_folder(path) {
            Some(StagedFolder::create(path, &[FIRST, PAGES], &stores)?)
        } else {
            check_place(path, &stores)?;
            None
        };
        let (mut run, tables) = self.opened().await?;
        run.tell(Event::Stage("report"));
        let mut book = self.begin(&mut run, &tables, links).await?;
        let counts = match folder {
            Some(folder) => book.write_folder(&mut run, folder).await?,
            None => {
                let (html, _) = book.page(&mut run, None).await?;
                run.tell(Event::Stage("writing"));
                let mut file = StagedFile::create(path, &stores)?;
                file.write_all(html.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
                file.commit_unless_dropped(&stores).await?;
                book.counts
            }
        };
        Ok(run.summary_of(counts.named(), None))
    }

    /// Begins a run, and registers the tables of the result and of its collections.
    async fn opened(&self) -> Result<(Run, Tables)> {
        match &self.of {
            Of::Found(found) => {
                let run = Run::begin(&self.base.engine, self.base.settings.clone())?;
                let tables = Tables::of_found(found, &run).await?;
                Ok((run, tables))
            }
            Of::Path(path) => {
                let (mut run, collections) = self.base.begin().await?;
                let tables = Tables::of_path(path, &mut run, collections.compared(Needed::Documents)).await?;
                Ok((run, tables))
            }
        }
    }

    /// Reads the sums of a result, and its rows, best first.
    async fn begin(&self, run: &mut Run, tables: &Tables, links: Option<LinkTemplate>) -> Result<Book> {
        let times = self.prepare(run, tables, links.as_ref()).await?;
        let mut fields = Vec::new();
        if let Some(pairs) = tables.matches {
            let schema = Arc::clone(run.workspace.session.table("result").await?.schema().inner());
            let span = pairs.span.of(tables.about.has_sentences());
            fields = pairs.set(span, &schema, &mut run.workspace.parameters);
            run.workspace.run_all(&Pairs::queries(span)).await?;
        }
        if let Some(groups) = tables.groups {
            let schema = Arc::clone(run.workspace.session.table("result_groups").await?.schema().inner());
            groups.set(&schema, &mut run.workspace.parameters);
            run.workspace.run_all(&Groups::queries(groups.span.of(tables.about.has_sentences()))).await?;
        }
        let overview = Overview::read(run, tables).await?;
        let candidates = Candidates::read(run, tables, fields.len()).await?;
        let plots = if tables.matches.is_some() { plots::candidates(run).await? } else { Vec::new() };
        let counts = Counts { matches: overview.matches, groups: overview.groups, ..Counts::default() };
        let head = self.head(tables, fields);
        Ok(Book {
            head,
            overview,
            candidates,
            plots,
            times,
            side_b: tables.about.side_b(),
            links,
            max_size: self.max_size,
            shown: HashSet::new(),
            counts,
        })
    }

    /// Registers the documents of both collections with their times. Returns the SQL of the times of each.
    async fn prepare(&self, run: &mut Run, tables: &Tables, links: Option<&LinkTemplate>) -> Result<[Literal; 2]> {
        let mut known = Vec::new();
        for table in ["documents", "against_documents"] {
            let table = run.workspace.session.table(table).await?;
            known.push(table.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>());
        }
        links.map_or(Ok(()), |links| links.check(&known))?;
        let none = || Literal::of_sql("NULL");
        let mut times = [none(), none()];
        if let Some(column) = &self.time_column {
            let has = |columns: &Vec<String>| columns.contains(column);
            for (_, time) in known.iter().zip(&mut times).filter(|(columns, _)| has(columns)) {
                *time = seconds(column);
            }
            if !known.iter().any(has) {
                return Err(misuse!(
                    "`time_column` is {column:?}, and the documents have no such column; they have {}",
                    known[0].join(", ")
                ));
            }
            if known.iter().all(has) {
                note_times(run, column).await?;
            }
        }
        let parameters = &mut run.workspace.parameters;
        let fields = tables.about.fields().into_iter().filter(|name| known[0].contains(name));
        let fields: Vec<_> = fields.map(|name| Literal::column(&name).within("CAST(", " AS VARCHAR)")).collect();
        parameters.set(
            "text",
            match fields.as_slice() {
                [] => Literal::column("text"),
                _ => Literal::joined(fields, ", ").within("concat_ws(chr(10) || chr(10), ", ")"),
            },
        );
        for (name, most) in [("most", MOST_MATCHES), ("most_groups", MOST_GROUPS), ("most_members", MOST_MEMBERS)] {
            parameters.set(name, most);
        }
        parameters.set("side_b", tables.about.side_b());
        parameters.set("seconds", times[0].clone());
        parameters.set("against_seconds", times[1].clone());
        run.workspace.run_all(&[query::REPORT_SIDES]).await?;
        if tables.about.has_sentences() {
            run.workspace.run_all(&[query::REPORT_SENTENCES]).await?;
        }
        Ok(times)
    }

    fn head(&self, tables: &Tables, fields: Vec<String>) -> Head {
        let About(about) = &tables.about;
        let named = |value: &Value| -> Vec<(String, String)> {
            let entries = value.as_object().into_iter().flatten();
            let plain = |value: &Value| match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.as_u64().map_or_else(|| number.to_string(), grouped),
                other => other.to_string(),
            };
            entries.map(|(name, value)| (name.clone(), plain(value))).collect()
        };
        let made_of = about["inputs"].as_array().into_iter().flatten().map(|input| {
            let table = input["table"].as_str().unwrap_or_default().replace('_', " ");
            format!(
                "{} {table}, seal {}",
                grouped(input["rows"].as_u64().unwrap_or(0)),
                input["seal"].as_str().unwrap_or("none")
            )
        });
        let is_of_sentences = tables.matches.is_some_and(|pairs| pairs.span == Span::Sentence);
        let title = match tables.about.method() {
            "passages" if tables.matches.is_none() => "Text that many documents have",
            "passages" => "Passages that documents share",
            "pairs" if is_of_sentences => "Similar sentences",
            "pairs" => "Similar documents",
            "threads" => "Threads that ask the same",
            "containment" => "Documents within others",
            "clusters" => "Similar sentences in groups",
            "dedup" => "Duplicates, and what stays for them",
            "decontaminate" => "Items of an evaluation in documents",
            _ => "Text reuse",
        };
        Head {
            title: self.title.clone().filter(|title| !title.is_empty()).unwrap_or_else(|| title.to_owned()),
            method: tables.about.method().to_owned(),
            digest: tables.about.digest(),
            made_of: made_of.collect(),
            counts: named(&about["counts"]),
            parameters: named(&about["parameters"]),
            nouns: tables.groups.map_or(["group", "groups"], |groups| groups.nouns),
            fields,
            time_column: self.time_column.clone(),
            pages: Vec::new(),
        }
    }
}

/// The sums and rows from which pages are made.
struct Book {
    head: Head,
    overview: Overview,
    candidates: Candidates,
    plots: Vec<plots::Candidate>,
    /// The times of the documents of both collections, as SQL.
    times: [Literal; 2],
    side_b: i64,
    links: Option<LinkTemplate>,
    max_size: usize,
    /// The groups that pages show.
    shown: HashSet<String>,
    counts: Counts,
}

/// The numbers of rows of a result, and those that pages show.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    matches: u64,
    shown: u64,
    groups: u64,
    groups_shown: u64,
    bytes: u64,
    pages: u64,
}

impl Counts {
    fn named(self) -> Vec<(&'static str, u64)> {
        let Self { matches, shown, groups, groups_shown, bytes, pages } = self;
        let counts = [("matches", matches), ("shown", shown), ("groups", groups), ("groups shown", groups_shown)];
        counts.into_iter().chain([("pages", pages), ("bytes", bytes)]).collect()
    }
}

impl Book {
    /// Makes a page of the rows that no page shows yet, and removes them from the candidates. Returns the page, and
    /// true if rows are left. A page with a number is one of several, with links to the pages before and after it.
    async fn page(&mut self, run: &mut Run, number: Option<usize>) -> Result<(String, bool)> {
        let most = i64::try_from(self.max_size)?;
        let mut room = most - EMPTY;
        for _ in 0..ATTEMPTS {
            let mut content = self.candidates.content(run, room, [&self.times[0], &self.times[1]]).await?;
            content.plots = plots::plots(run, &mut self.plots, &content, self.max_size, self.side_b).await?;
            let is_more = self.candidates.are_more_than(&content);
            self.head.pages = number.map_or_else(Vec::new, |number| links_of(number, is_more));
            let html = page(&self.head, &self.overview, &content, self.links.as_ref())?;
            let bytes = i64::try_from(html.len())?;
            if bytes <= most {
                self.counts.shown += content.matches.len() as u64;
                self.shown.extend(content.groups.iter().map(|(group, _)| group.name.clone()));
                self.counts.groups_shown = self.shown.len() as u64;
                self.counts.bytes += html.len() as u64;
                self.counts.pages += 1;
                self.candidates.leave_out(&content);
                return Ok((html, is_more));
            }
            // The bytes of a row differ from text to text.
            room = room / 100 * ((most - EMPTY) * 95 / (bytes - EMPTY).max(1)).clamp(5, 95);
        }
        Err(anyhow::Error::new(OverLimit(format!(
            "`max_size` {} is too small for any page of the result: raise it",
            grouped(self.max_size as u64)
        ))))
    }

    /// Writes as many pages as the candidates need, each with links to the pages before and after it.
    async fn write_folder(&mut self, run: &mut Run, folder: StagedFolder) -> Result<Counts> {
        let path = folder.path().to_owned();
        fs::create_dir(path.join(PAGES)).with_context(|| format!("cannot write in {}", path.display()))?;
        let mut files = Vec::new();
        loop {
            let number = files.len() + 1;
            let (html, is_more) = self.page(run, Some(number)).await?;
            run.tell(Event::Stage("writing"));
            files.push(write_text(&path, &file_of(number), &html)?);
            if !is_more {
                break;
            }
        }
        Manifest::write_with(
            &path,
            &json!({ "ibid": env!("CARGO_PKG_VERSION"), "report": self.head.digest }),
            &files,
            run.engine.stores(),
        )?;
        folder.commit_unless_dropped().await?;
        Ok(self.counts)
    }
}

/// Returns the name of the file of one of several pages, which are numbered from 1.
fn file_of(number: usize) -> String {
    if number == 1 { FIRST.to_owned() } else { format!("{PAGES}{number:04}.html") }
}

/// Returns the links of one of several pages.
fn links_of(number: usize, is_more: bool) -> Vec<PageLink> {
    let up = if number == 1 { "" } else { "../" };
    let link =
        |label: &str, to: usize| PageLink { label: label.to_owned(), link: Some(format!("{up}{}", file_of(to))) };
    let mut links = Vec::new();
    if number > 1 {
        links.push(link("first page", 1));
        links.push(link("previous page", number - 1));
    }
    links.push(PageLink { label: format!("page {number}"), link: None });
    if is_more {
        links.push(link("next page", number + 1));
    }
    links
}

fn check_least(bytes: usize) -> Result<()> {
    if bytes >= LEAST {
        return Ok(());
    }
    Err(misuse!("`max_size` is {bytes} bytes, and no page has less than {LEAST}: raise it, such as to 10 MiB"))
}
