//! Code that the commands share: an engine, progress, results, a summary.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{ErrorKind, IsTerminal, Write};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Once, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use datafusion::dataframe::DataFrame;
use indicatif::{ProgressBar, ProgressStyle};

use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions};
use super::signals;
use crate::{extension, outbox};
use ibid::Engine;
use ibid::methods::Addition;
use ibid::methods::Found;
use ibid::program::Parameters;
use ibid::program::export::{StagedFile, write_rows};
use ibid::program::methods::Builder;
use ibid::program::methods::Delivery;
use ibid::program::methods::FolderPlace;
use ibid::program::store::Stores;
use ibid::program::watch::{self, MOST};
use ibid::program::{Screen, visible};
use ibid::program::{Settings, grouped, mebibytes};
use ibid::{Event, Summary};

/// The environment variable that limits only operators to `--memory`, not the process, if it is `off`.
const WATCH: &str = "IBID_MEMORY_WATCH";

/// Prints a message for the user to standard error.
pub fn say(text: &str) {
    let text = in_flags(text);
    let shown = if std::io::stderr().is_terminal() { visible(&text) } else { Cow::Borrowed(text.as_ref()) };
    // There is nowhere left to complain if standard error is gone.
    let _ = writeln!(std::io::stderr(), "ibid: {shown}");
}

/// Rewrites a message of the library for the command line: options such as `` `max_pairs` `` or `` `on_error = skip` ``
/// become `--max-pairs` and `--on-error skip`.
pub(super) fn in_flags(text: &str) -> Cow<'_, str> {
    if !text.contains('`') {
        return Cow::Borrowed(text);
    }
    let (mut said, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once('`') {
        said.push_str(before);
        match behind.split_once('`').and_then(|(option, after)| Some((flag(option)?, after))) {
            Some((flag, after)) => {
                said.push_str(&flag);
                rest = after;
            }
            None => {
                said.push('`');
                rest = behind;
            }
        }
    }
    said.push_str(rest);
    Cow::Owned(said)
}

/// Returns the flag of an option, with its value.
fn flag(option: &str) -> Option<String> {
    let (name, value) = option.split_once(" = ").map_or((option, None), |(name, value)| (name, Some(value)));
    let name = name.replace('_', "-");
    let value = value.map(|value| format!(" {value}")).unwrap_or_default();
    OPTIONS.contains(&name).then(|| format!("--{name}{value}"))
}

/// The options of all commands.
static OPTIONS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let mut names = HashSet::new();
    let mut commands = vec![extension::command()];
    while let Some(command) = commands.pop() {
        names.extend(command.get_arguments().filter_map(|argument| argument.get_long().map(str::to_owned)));
        commands.extend(command.get_subcommands().cloned());
    }
    names
});

/// The terminal at standard output, if there is one. Control characters are escaped on it.
static SCREEN: LazyLock<Option<Mutex<Screen>>> = LazyLock::new(|| std::io::stdout().is_terminal().then(Mutex::default));

/// Standard output, with control characters escaped if it is a terminal.
pub(super) struct Out;

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &*SCREEN {
            Some(screen) => {
                let mut screen = screen.lock().unwrap_or_else(PoisonError::into_inner);
                screen.write_to(bytes, &mut std::io::stdout()).map(|()| bytes.len())
            }
            None => std::io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().flush()
    }
}

/// True once nobody reads standard output any more.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// The text of the error for a closed standard output. Writers of formats pass on only the text of an error.
const NOBODY_READS: &str = "nobody reads standard output any more";

/// Standard output, which remembers that it was closed.
pub(super) struct Stdout;

impl Stdout {
    fn noting<T>(outcome: std::io::Result<T>) -> std::io::Result<T> {
        outcome.map_err(|error| {
            if error.kind() != ErrorKind::BrokenPipe {
                return error;
            }
            CLOSED.store(true, Ordering::Relaxed);
            std::io::Error::new(ErrorKind::BrokenPipe, NOBODY_READS)
        })
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Self::noting(Out.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Self::noting(Out.flush())
    }
}

/// Returns true if standard output was closed while it was written.
pub(super) fn stdout_is_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Returns true if an error says no more than that standard output was closed.
pub(super) fn is_of_closed_stdout(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.to_string().contains(NOBODY_READS))
}

/// Describes an error and what led to it, in the words of the command line.
pub(super) fn describe(error: &anyhow::Error) -> String {
    in_flags(&ibid::program::describe(error)).into_owned()
}

/// Puts further results into the outbox if the rows were written, or if standard output was closed.
pub(super) fn place_further(further: Vec<StagedFile>, written: Result<u64>) -> Result<u64> {
    if written.is_ok() || stdout_is_closed() {
        further.into_iter().for_each(outbox::keep);
    }
    written
}

/// The run of the shell, with its messages to the user.
pub(super) struct Run {
    run: ibid::program::Run,
    talk: Talk,
}

impl Deref for Run {
    type Target = ibid::program::Run;

    fn deref(&self) -> &Self::Target {
        &self.run
    }
}

impl DerefMut for Run {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.run
    }
}

/// The messages of a command to the user: progress, notes, the summary.
#[derive(Clone)]
pub(super) struct Talk {
    progress: ProgressBar,
    is_quiet: bool,
    /// The number of notes that were printed.
    said: Arc<AtomicUsize>,
}

impl Talk {
    fn begin(options: &RunOptions) -> Result<Self> {
        let progress = if options.quiet || !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            let spinner =
                ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}")?);
            spinner.enable_steady_tick(Duration::from_millis(200));
            spinner
        };
        Ok(Self { progress, is_quiet: options.quiet, said: Arc::default() })
    }

    pub(super) fn settings(&self, options: &RunOptions) -> Settings {
        let talk = self.clone();
        let on_event = move |event: Event<'_>| match event {
            Event::Stage(stage) => talk.progress.set_message(stage.to_owned()),
            Event::Note(note) => {
                talk.said.fetch_add(1, Ordering::Relaxed);
                talk.say(note);
            }
            _ => {}
        };
        Settings { resume: options.resume.clone(), on_event: Arc::new(on_event) }
    }

    /// Ends the progress display.
    pub(super) fn clear(&self) {
        self.progress.finish_and_clear();
    }

    /// Prints a message, unless `--quiet` is set.
    pub(super) fn say(&self, text: &str) {
        if !self.is_quiet {
            self.progress.suspend(|| say(text));
        }
    }

    /// Prints the counts and the time, the traffic, the notes that were not printed yet, and the input that was left
    /// out.
    pub(super) fn summarise(&self, summary: &Summary) {
        self.clear();
        let left_out =
            summary.capped.map(|capped| ("capped", capped)).into_iter().chain([("skipped", summary.skipped)]);
        let parts = summary.counts.iter().copied().chain(left_out);
        let parts: Vec<_> = parts.map(|(name, n)| format!("{name} {}", grouped(n))).collect();
        self.say(&format!("{} ({:.1} s)", parts.join(", "), summary.seconds));
        say_traffic(summary, self.is_quiet);
        summary.notes.iter().skip(self.said.load(Ordering::Relaxed)).for_each(|note| self.say(note));
        self.say_left_out(summary);
    }

    /// Prints the input that was left out.
    pub(super) fn say_left_out(&self, summary: &Summary) {
        summary.left_out.iter().for_each(|line| self.say(line));
    }
}

/// Builds the engine of a command, and limits the memory of the process unless `IBID_MEMORY_WATCH` is `off`.
pub(super) fn engine(options: &RunOptions, stores: &Arc<Stores>) -> Result<Engine> {
    let is_watched = std::env::var_os(WATCH).is_none_or(|watch| watch != "off");
    let mut builder = Engine::builder().all_of_process(is_watched).stores(stores);
    if let Some(memory) = options.memory {
        builder = builder.memory(memory);
    }
    if let Some(threads) = options.threads {
        builder = builder.threads(usize::from(threads));
    }
    let engine = extension::get().engine(builder)?;
    if let Some(memory) = engine.memory().filter(|_| is_watched) {
        hold_to(memory, &engine)?;
    }
    Ok(engine)
}

/// Builds the engine of a server that runs parts of plans, and limits the memory of the process.
///
/// # Errors
///
/// Fails like [`ibid::EngineBuilder::build`].
pub fn engine_of_server(memory: Option<usize>, folder: Option<&Path>, stores: &Arc<Stores>) -> Result<Engine> {
    let mut builder = Engine::builder().all_of_process(true).stores(stores);
    if let Some(memory) = memory {
        builder = builder.memory(memory);
    }
    if let Some(folder) = folder {
        builder = builder.temporary_folder(folder);
    }
    let engine = builder.build()?;
    if let Some(memory) = engine.memory() {
        hold_to(memory, &engine)?;
    }
    Ok(engine)
}

/// Calls the setters of a builder for the options that are given.
macro_rules! with_given {
    ($builder:expr, $($option:ident: $given:expr),+ $(,)?) => {{
        let mut builder = $builder;
        $(if let Some(value) = $given {
            builder = builder.$option(value);
        })+
        builder
    }};
}
pub(super) use with_given;

/// Sets how a builder reads and runs. Returns the [`Talk`] that prints its messages.
pub(super) fn prepared(
    builder: &mut impl Builder,
    reading: ibid::program::corpus::Options,
    options: &RunOptions,
) -> Result<Talk> {
    let talk = Talk::begin(options)?;
    let base = builder.shared();
    (base.reading, base.settings) = (reading, talk.settings(options));
    Ok(talk)
}

/// Returns the outcome of a command with this summary.
pub(super) fn ending(summary: &Summary, options: &RunOptions) -> Ending {
    if has_left_out(summary) && options.strict { Ending::NotStrict } else { Ending::Done }
}

/// Returns true if something was capped or skipped.
pub(super) fn has_left_out(summary: &Summary) -> bool {
    summary.capped.unwrap_or(0) + summary.skipped > 0
}

impl Talk {
    /// Writes one table that a method found as the result, and further tables to files. Prints the summary.
    pub(super) async fn deliver(
        &self,
        found: Found,
        name: &'static str,
        writing: &OutputOptions,
        further: &[(&str, &Path)],
        options: &RunOptions,
    ) -> Result<Ending> {
        self.deliver_as(found, (name, name), writing, further, options).await
    }

    /// Delivers a table like [`deliver`](Self::deliver), with another name for its rows in the summary.
    pub(super) async fn deliver_as(
        &self,
        mut found: Found,
        (name, rows_are): (&'static str, &'static str),
        writing: &OutputOptions,
        further: &[(&str, &Path)],
        options: &RunOptions,
    ) -> Result<Ending> {
        let mut staged = Vec::new();
        for (table, path) in further {
            staged.push(found.stage_as(table, path, writing.beside(path).form()?).await?.into_file());
        }
        let run = &found.run;
        let written = self.write(run, found.dataframe(name)?, writing, &run.workspace.parameters).await;
        let rows = place_further(staged, written)?;
        Ok(self.end(&mut found, (rows_are, rows), options))
    }

    /// Writes further tables when there is no result.
    pub(super) async fn place(&self, found: &Found, tables: &[(&str, &Path)], writing: &OutputOptions) -> Result<()> {
        for (table, path) in tables {
            found.stage_as(table, path, writing.beside(path).form()?).await?.commit().await?;
        }
        Ok(())
    }

    /// Writes a folder of all tables. Prints the summary.
    pub(super) async fn deliver_folder(
        &self,
        mut found: Found,
        name: &'static str,
        place: FolderPlace,
        options: &RunOptions,
    ) -> Result<Ending> {
        let rows = found.write_staged_folder(place).await?;
        let rows = rows.iter().find(|(table, _)| *table == name).map_or(0, |(_, rows)| *rows);
        Ok(self.end(&mut found, (name, rows), options))
    }

    fn end(&self, found: &mut Found, rows: (&'static str, u64), options: &RunOptions) -> Ending {
        found.summary.counts.insert(found.counted_at, rows);
        self.summarise(&found.summary);
        ending(&found.summary, options)
    }

    /// Writes a result to its file, or to standard output. Returns the number of rows.
    async fn write(
        &self,
        run: &ibid::program::Run,
        rows: DataFrame,
        output: &OutputOptions,
        parameters: &Parameters,
    ) -> Result<u64> {
        let form = output.form()?;
        if let Some(path) = &output.output {
            let (staged, count) = run.stage(rows, path, form, parameters).await?;
            staged.commit()?;
            return Ok(count);
        }
        self.progress.set_message("writing");
        let rows = rows.execute_stream().await?;
        self.clear();
        write_rows(rows, form, &run.about_with(parameters), &mut std::io::BufWriter::new(Stdout)).await
    }
}

impl Run {
    pub(super) fn begin(options: &RunOptions, stores: &Arc<Stores>) -> Result<Self> {
        let talk = Talk::begin(options)?;
        let run = ibid::program::Run::begin(&engine(options, stores)?, talk.settings(options))?;
        Ok(Self { run, talk })
    }

    /// Writes a result with these parameters in its metadata. Returns the number of rows.
    pub(super) async fn write_with(
        &self,
        rows: DataFrame,
        output: &OutputOptions,
        parameters: &Parameters,
    ) -> Result<u64> {
        self.talk.write(&self.run, rows, output, parameters).await
    }

    /// Returns the [`Talk`] of the command.
    pub(super) fn talk(&self) -> Talk {
        self.talk.clone()
    }

    /// Ends the progress display.
    pub(super) fn clear(&self) {
        self.talk.clear();
    }
}

/// Prints the bytes read from and written to object stores, and the number of requests.
pub(super) fn say_traffic(summary: &Summary, is_quiet: bool) {
    for traffic in summary.traffic.iter().filter(|_| !is_quiet) {
        let [read, written] = [traffic.read, traffic.written].map(bytes_for_people);
        let wrote = if traffic.written > 0 { format!(", wrote {written}") } else { String::new() };
        say(&format!("{}: read {read}{wrote} in {} requests", traffic.store, grouped(traffic.requests)));
    }
}

/// Formats a number of bytes.
fn bytes_for_people(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let of = |unit: u32| bytes as f64 / f64::from(unit);
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", of(1_000)),
        1_000_000..1_000_000_000 => format!("{:.1} MB", of(1_000_000)),
        _ => format!("{:.1} GB", of(1_000_000_000)),
    }
}

/// A command that adds documents to an index.
pub(super) struct Adding<'a> {
    /// The inputs: the index alone.
    pub(super) inputs: &'a [String],
    pub(super) further: &'a [(&'a str, &'a Path)],
    /// A file that is read in addition to the documents.
    pub(super) reference: Option<&'a Path>,
    pub(super) show_sql: bool,
    pub(super) writing: &'a OutputOptions,
    pub(super) reading: &'a InputOptions,
    pub(super) running: &'a RunOptions,
}

impl Adding<'_> {
    /// Writes the rows that involve the new documents, then adds the documents. With `--show-sql`, prints the SQL
    /// instead.
    pub(super) async fn run(&self, mut addition: Addition) -> Result<Ending> {
        if self.show_sql {
            return print(&addition.show_sql()?);
        }
        let stores = Arc::clone(addition.shared().engine.stores());
        let places = self.writing.check(&self.further.iter().map(|(_, path)| *path).collect::<Vec<_>>(), &stores)?;
        self.reading.begin_index(self.inputs, places, self.running, &stores)?;
        self.reference.map_or(Ok(()), |reference| self.reading.refuse(reference))?;
        let talk = prepared(&mut addition, self.reading.reading(), self.running)?;
        for (table, path) in self.further {
            addition = addition.also_as(table, path.to_path_buf(), self.writing.beside(path).form()?)?;
        }
        // Unlike elsewhere, a closed standard output is an error: documents whose rows nobody has read must not be
        // added.
        let printed = |path: &Path| -> Result<()> {
            let printed = std::fs::File::open(path).and_then(|mut file| std::io::copy(&mut file, &mut Out));
            printed.and_then(|_| Out.flush()).context("cannot write to standard output")
        };
        let form = self.writing.form()?;
        let delivery = match &self.writing.output {
            Some(path) => Delivery::File(path, form),
            None => Delivery::Print(form, &printed),
        };
        let summary = addition.run(delivery).await?;
        talk.summarise(&summary);
        Ok(ending(&summary, self.running))
    }
}

/// Prints a text to standard output.
pub(super) fn print(text: &str) -> Result<Ending> {
    Stdout.write_all(text.as_bytes())?;
    Ok(Ending::Done)
}

/// The collection that another is compared with.
#[derive(Debug, Args)]
pub(super) struct AgainstOptions {
    /// Compare the input with this collection instead of with itself. The first of each pair is then from the input, the second
    /// from this collection. A document in both (same file, same record, same text) is not compared with itself
    #[arg(long, value_name = "INPUT")]
    pub(super) against: Option<String>,
    /// Treat documents of the two collections with the same id and the same text as one document, wherever they come from
    #[arg(long, requires = "against")]
    pub(super) same_ids: bool,
}

/// The options of a method that compares texts.
#[derive(Debug, Args)]
pub(super) struct MethodOptions {
    #[command(flatten)]
    pub(super) other: AgainstOptions,
    /// Add these documents to the index that is the input, after the rows that involve them are written; creates the index if
    /// there is none
    #[arg(long, value_name = "NEW", num_args = 1.., conflicts_with = "against")]
    pub(super) add: Vec<String>,
    /// The column with the time of a document, for the first --add to an index: a date, a timestamp, a year, a number of
    /// seconds since 1970, or text that is one of them
    #[arg(long, value_name = "NAME", requires = "add")]
    pub(super) time_column: Option<String>,
    /// Also look for pairs within each document; with --against, also compare a document that is in both collections with
    /// itself
    #[arg(long)]
    pub(super) within_documents: bool,
    /// The most pairs of places to make. A run that would make more is refused before it makes them, because each takes some
    /// 200 bytes of memory
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_pairs: u64,
    /// Print the SQL that would run, and do not run it
    #[arg(long)]
    pub(super) show_sql: bool,
}

impl MethodOptions {
    /// Sets the column with the time of the documents, if `--time-column` names one.
    pub(super) fn timed(&self, addition: Addition) -> Addition {
        match &self.time_column {
            Some(column) => addition.time_column(column),
            None => addition,
        }
    }
}

/// Limits on texts that stand in very many places.
#[derive(Debug, Args)]
pub(super) struct CapOptions {
    /// A text in more places than this makes no pairs; it is counted, and listed as capped
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_frequency: u32,
    /// Write the table of capped texts to this file: text, df (documents), units (places), pairs_not_made, example
    #[arg(long, value_name = "FILE")]
    pub(super) capped: Option<PathBuf>,
}

impl CapOptions {
    /// Returns the table of capped texts and its file, where one is asked for.
    pub(super) fn further(&self) -> Vec<(&'static str, &Path)> {
        self.capped.iter().map(|path| ("capped", path.as_path())).collect()
    }
}

/// Ends the program, or the statement that the shell runs, when the process exceeds its memory by more than a quarter.
fn hold_to(memory: usize, engine: &Engine) -> Result<()> {
    let (engine, stores) = (engine.weak(), Arc::clone(engine.stores()));
    static HELD: Once = Once::new();
    let mut begun = Ok(());
    HELD.call_once(|| {
        begun = watch::begin(memory, move || {
            let reserved = match engine.upgrade().map(|engine| engine.largest_reservations()).unwrap_or_default() {
                none if none.is_empty() => {
                    "no operator has reserved any of it: a function or a reader uses it".to_owned()
                }
                operators => format!("of it operators have reserved\n{operators}"),
            };
            let said = format!(
                "the process takes more than a quarter above the {} that it may take; {reserved}\nraise --memory",
                mebibytes(memory as u64),
            );
            if !signals::interrupt_shell(&said) || watch::exceeds(memory, MOST) {
                signals::end(1, &said, &stores);
            }
        });
    });
    Ok(begun?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_flags_on_the_command_line() {
        for (text, said) in [
            ("raise `max_pairs`, or `on_error = skip`", "raise --max-pairs, or --on-error skip"),
            ("no `Option` and no `", "no `Option` and no `"),
            ("`resume` = `b c`", "--resume = `b c`"),
            ("`id_column = ''`", "--id-column ''"),
        ] {
            assert_eq!(in_flags(text), said);
        }
    }
}
