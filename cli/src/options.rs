//! The options that several commands share.

use std::io::IsTerminal;
use std::path::{Path, PathBuf, absolute};
use std::sync::{Arc, OnceLock};

use anyhow::{Result, anyhow, bail};
use clap::builder::{EnumValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::outbox;
use ibid::bytes;
use ibid::program::corpus::{
    self, Boilerplate, Encoding, Fields, Format as InputFormat, LanguageChoice, PageFilter, encoding_of, refuse_result,
};
use ibid::program::export::{Form, Format, is_within, names_folder, resolved, resolved_input};
use ibid::program::methods::{format_of, sign_of};
use ibid::program::store::Settings;
use ibid::program::store::Stores;
use ibid::program::{check_folder, check_place};

/// The options of reading.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(super) struct InputOptions {
    /// The column that holds the text in JSON lines, CSV and Parquet, or a path within columns: content.body,
    /// messages[].content, title+body. Several texts are joined, with blank lines between them [default: text]
    #[arg(long, value_name = "NAME")]
    text_column: Option<String>,
    /// The column that holds the id; '' numbers the records instead [default: doc_id or id if there is one, title of MediaWiki
    /// dumps, url of web archives, xml:id of TEI]
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// The format of the input, if the file names do not tell it: text, lines (one document per line), html, markdown, jsonl,
    /// csv, tsv, parquet, mediawiki, tei, warc
    #[arg(long, value_name = "FORMAT", value_parser = format_of)]
    input_format: Option<InputFormat>,
    /// The encoding of text, such as windows-1252, utf-16le or shift_jis [default: utf-8, or the encoding that HTML and TEI
    /// declare]
    #[arg(long, value_name = "LABEL", value_parser = encoding_of)]
    encoding: Option<&'static Encoding>,
    /// The language whose rules tell where sentences end, such as de; en uses only the rules that hold for all languages
    /// [default: auto, the language of each text]
    #[arg(long, value_name = "CODE", value_parser = LanguageChoice::of)]
    sentence_language: Option<LanguageChoice>,
    /// The character between two fields of CSV, or `tab` [default: a comma; in .tsv a tab]
    #[arg(long, value_name = "SIGN", value_parser = sign_of)]
    delimiter: Option<u8>,
    /// The character before a quote within quotes in CSV [default: another quote]
    #[arg(long, value_name = "SIGN", value_parser = sign_of)]
    escape: Option<u8>,
    /// Treatment of bad records
    #[arg(long, value_enum, default_value_t = OnError::Fail)]
    on_error: OnError,
    /// Where to put bad records, as JSON lines, with --on-error quarantine
    #[arg(long, value_name = "FILE", required_if_eq("on_error", "quarantine"))]
    quarantine: Option<PathBuf>,
    #[arg(skip)]
    begun: OnceLock<corpus::Quarantine>,
    #[arg(skip)]
    results: OnceLock<Places>,
    #[command(flatten)]
    limits: LimitOptions,
    /// Read only the pages of this namespace of MediaWiki dumps, such as 0 for articles; may be repeated
    #[arg(long, value_name = "N")]
    namespace: Vec<i64>,
    /// Leave out the redirects of MediaWiki dumps
    #[arg(long)]
    skip_redirects: bool,
    /// Leave out the disambiguation pages of MediaWiki dumps
    #[arg(long)]
    skip_disambiguation: bool,
    /// Treatment of text beside the main content of HTML pages: navigation, side bars, banners, footers
    #[arg(long, value_enum, default_value_t = BoilerplateChoice::Keep)]
    boilerplate: BoilerplateChoice,
}

/// The limits of files.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Input")]
pub(super) struct LimitOptions {
    /// The largest size of a record: a line of JSON, a row of CSV, a text file, a page of a wiki
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = bytes)]
    pub(super) max_record_bytes: usize,
    /// The most bytes that one compressed byte may expand to, beyond the first 64 MiB of a file; more is an error
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_ratio: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BoilerplateChoice {
    /// Keep it
    Keep,
    /// Drop it where it can be recognised, and count it
    Drop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnError {
    /// Stop with an error
    Fail,
    /// Leave it out, count it and list it
    Skip,
    /// Leave it out and write it to the file of --quarantine
    Quarantine,
}

impl InputOptions {
    pub(super) fn reading(&self) -> corpus::Options {
        corpus::Options {
            text_column: self.text_column.clone(),
            text_is_optional: false,
            id_column: self.id_column.clone(),
            format: self.input_format,
            max_record_bytes: self.limits.max_record_bytes,
            max_ratio: self.limits.max_ratio,
            encoding: self.encoding,
            fields: Fields { delimiter: self.delimiter, escape: self.escape },
            sentence_language: self.sentence_language.unwrap_or(LanguageChoice::Detected),
            memory: None,
            on_error: match (self.on_error, self.begun.get()) {
                (OnError::Quarantine, Some(quarantine)) => corpus::OnError::Quarantine(quarantine.clone()),
                (OnError::Fail, _) => corpus::OnError::Fail,
                _ => corpus::OnError::Skip,
            },
            pages: self.pages(),
            boilerplate: match self.boilerplate {
                BoilerplateChoice::Keep => Boilerplate::Keep,
                BoilerplateChoice::Drop => Boilerplate::Drop,
            },
            reads_stdin: true,
            results: self.results.get().map(|places| places.results.clone()).unwrap_or_default(),
        }
    }

    /// Fails if a result would overwrite `path`, which is read or kept.
    pub(super) fn refuse(&self, path: &Path) -> Result<()> {
        Ok(refuse_result(path, &self.reading())?)
    }

    /// Fails if a result, or the folder of `--resume`, would be in a folder that is an index, or becomes one.
    pub(super) fn refuse_in(&self, folder: &Path, running: &RunOptions) -> Result<()> {
        let Some(index) = resolved(folder)? else { return Ok(()) };
        let kept = running.resume.as_deref().map(resolved).transpose()?.flatten();
        match self.reading().results.iter().chain(&kept).find(|place| is_within(place, &index)) {
            Some(place) => bail!(
                "{} is in {}, to which nothing but the index belongs; name a place elsewhere",
                place.display(),
                folder.display()
            ),
            None => Ok(()),
        }
    }

    fn pages(&self) -> PageFilter {
        PageFilter {
            namespaces: self.namespace.clone(),
            skip_redirects: self.skip_redirects,
            skip_disambiguation: self.skip_disambiguation,
        }
    }

    /// Notes the paths of the results, which must not be inputs. Fails, before anything is read, if the quarantine
    /// cannot be written or would overwrite a result.
    pub(super) fn begin(&self, results: Places, stores: &Arc<Stores>) -> Result<()> {
        self.begin_with(results, stores, outbox::collected)
    }

    /// Begins like [`begin`](Self::begin), for a command whose result is a folder and which may keep its tables in the
    /// folder of `--resume`.
    pub(super) fn begin_folder(&self, result: &Path, running: &RunOptions, stores: &Arc<Stores>) -> Result<()> {
        self.begin(Places::of_folder(result, stores)?, stores)?;
        let Some(folder) = &running.resume else { return Ok(()) };
        self.refuse(folder)?;
        // Compares absolute paths, because the folders need not exist yet.
        if absolute(folder)?.starts_with(absolute(result)?) {
            bail!(
                "{} is one of the inputs, and is named for a result, which would replace it; name another place for \
                 the result",
                folder.display()
            );
        }
        Ok(())
    }

    /// Begins like [`begin`](Self::begin), for a command that adds to an index. Returns the folder of the index.
    pub(super) fn begin_index<'a>(
        &self,
        inputs: &'a [String],
        results: Places,
        running: &RunOptions,
        stores: &Arc<Stores>,
    ) -> Result<&'a Path> {
        let index = index_of(inputs)?;
        self.begin(results, stores)?;
        self.refuse(index)?;
        self.refuse_in(index, running)?;
        Ok(index)
    }

    /// Begins like [`begin`](Self::begin), for a command that runs without an end: the quarantine can be read while it
    /// runs.
    pub(super) fn begin_live(&self, stores: &Arc<Stores>) -> Result<()> {
        self.begin_with(Places::default(), stores, outbox::live)
    }

    fn begin_with(
        &self,
        mut results: Places,
        stores: &Arc<Stores>,
        file: impl Fn(&Path, &Arc<Stores>) -> Result<PathBuf>,
    ) -> Result<()> {
        if let Some(path) = self.quarantine.as_deref() {
            if self.on_error != OnError::Quarantine {
                bail!("--quarantine is for --on-error quarantine; say that, too, or leave it out");
            }
            check_place(path, stores)?;
            results.take(path)?;
            corpus::Quarantine::check(path, stores)?;
            let quarantine = corpus::Quarantine::new(path.to_path_buf()).collected_in(file(path, stores)?);
            self.begun.get_or_init(|| quarantine);
        }
        self.results.get_or_init(|| results);
        Ok(())
    }
}

/// Returns the folder of the index, which must be the only input.
pub(super) fn index_of(inputs: &[String]) -> Result<&Path> {
    match inputs {
        [index] => Ok(Path::new(index)),
        _ => bail!("--add takes one input, the folder of the index, and the documents to add after --add"),
    }
}

/// The name of the form of a result.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum FormatName {
    /// A table for people to read.
    Table,
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object per line.
    Ndjson,
    /// Apache Parquet.
    Parquet,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Table => Self::Table,
            FormatName::Csv => Self::Csv,
            FormatName::Ndjson => Self::Ndjson,
            FormatName::Parquet => Self::Parquet,
        }
    }
}

/// Where the result goes.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputOptions {
    /// The file to write, a path or a URL such as s3://bucket/key.parquet; without this option the result goes to standard
    /// output
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// The format of the result [default: by the file name; table on standard output]
    #[arg(long, value_parser = EnumValueParser::<FormatName>::new().map(Format::from))]
    pub(super) format: Option<Format>,
    /// In CSV, put a quote mark before text that a spreadsheet would take for a formula: text that begins with = + - @ (also
    /// full-width, or after blanks), a tab or a line break
    #[arg(long)]
    pub(super) csv_safe: bool,
    /// The writer counts the rows itself.
    #[arg(skip)]
    pub(super) counts_itself: bool,
}

impl OutputOptions {
    /// Returns the options for a further table, whose file name says its format.
    pub(super) fn beside(&self, path: &Path) -> Self {
        Self {
            output: Some(path.to_path_buf()),
            format: None,
            csv_safe: self.csv_safe,
            counts_itself: self.counts_itself,
        }
    }

    /// Returns the folder that the result goes to, if the output path ends with a slash.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.output.as_deref().filter(|output| names_folder(output))
    }

    /// Returns the form of the result.
    pub(super) fn form(&self) -> Result<Form> {
        let format = match (self.format, &self.output) {
            (Some(format), _) => format,
            (None, None) => Format::Table,
            (None, Some(path)) => Format::of_file(path).map_err(|error| anyhow!("{error}, or say --format"))?,
        };
        let on_screen = self.output.is_none() && std::io::stdout().is_terminal();
        Ok(Form { format, on_screen, is_csv_safe: self.csv_safe, counts_rows: !self.counts_itself })
    }

    /// Fails if the result or a further table cannot be written, or if one would overwrite another, so that the user
    /// does not learn it at the end of a long run. Returns the paths of the results.
    pub(super) fn check(&self, tables: &[&Path], stores: &Arc<Stores>) -> Result<Places> {
        self.form()?;
        for table in tables {
            Format::of_file(table)?;
        }
        let mut places = Places::default();
        for file in tables.iter().copied().chain(self.output.as_deref()) {
            check_place(file, stores)?;
            places.take(file)?;
        }
        if self.output.is_none() {
            // The user's shell may have redirected standard output to a file.
            places.take(Path::new("/dev/stdout"))?;
        }
        Ok(places)
    }
}

/// The paths of the results.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Files and folders; a folder covers everything in it.
    results: Vec<PathBuf>,
    scripts: Vec<PathBuf>,
}

impl Places {
    /// Returns the place of a result that is a file, but no table.
    pub(super) fn of_file(file: &Path, stores: &Arc<Stores>) -> Result<Self> {
        check_place(file, stores)?;
        let mut places = Self::default();
        places.take(file)?;
        Ok(places)
    }

    /// Returns the place of a folder, which is replaced with everything in it.
    fn of_folder(folder: &Path, stores: &Arc<Stores>) -> Result<Self> {
        let folder = resolved(folder)?;
        if let Some(parent) = folder.as_deref().and_then(Path::parent) {
            check_folder(parent, stores)?;
        }
        Ok(Self { results: folder.into_iter().collect(), ..Self::default() })
    }

    /// Notes a running script, which no later result may overwrite.
    pub(super) fn keep(&mut self, script: &Path) -> Result<()> {
        self.scripts.extend(resolved_input(script)?);
        Ok(())
    }

    /// Notes that another result goes to a file. Fails if the file is in the place of an earlier result, or if the
    /// result would overwrite a running script.
    pub(super) fn take(&mut self, file: &Path) -> Result<()> {
        let Some(place) = resolved(file)? else { return Ok(()) };
        if self.results.iter().any(|result| is_within(&place, result)) {
            bail!("{} is named for two results; give each a file of its own", file.display());
        }
        if self.scripts.iter().any(|script| is_within(script, &place)) {
            bail!("{} is a script that runs; name another file for the result", file.display());
        }
        self.results.push(place);
        Ok(())
    }

    /// Fails if a result would overwrite an input.
    pub(super) fn refuse(&self, input: &Path) -> Result<()> {
        Ok(refuse_result(input, &corpus::Options { results: self.results.clone(), ..corpus::Options::default() })?)
    }
}

/// The options of object stores.
#[derive(Debug, Args)]
#[command(next_help_heading = "Object stores")]
pub(super) struct StoreOptions {
    /// The address of an S3-compatible server, such as https://minio.example.org:9000 [default: AWS_ENDPOINT_URL, else Amazon]
    #[arg(long, value_name = "URL", global = true)]
    endpoint_url: Option<String>,
    /// Do not sign requests, for public data
    #[arg(long, global = true)]
    no_sign_request: bool,
    /// The region of the bucket [default: AWS_REGION, else the region of the profile, else us-east-1]
    #[arg(long, value_name = "NAME", global = true)]
    region: Option<String>,
    /// Allow connections without encryption
    #[arg(long, global = true)]
    allow_http: bool,
}

impl StoreOptions {
    /// Makes the stores of the program.
    pub(super) fn made(self) -> Arc<Stores> {
        let Self { endpoint_url, no_sign_request, region, allow_http } = self;
        let settings =
            Settings { endpoint: endpoint_url, anonymous: no_sign_request, region, allow_http, ..Settings::default() };
        Arc::new(Stores::new(settings))
    }
}

/// The options of a run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Running")]
pub(super) struct RunOptions {
    /// The memory limit of the command, such as 512MiB or 4GiB. Data that exceeds it spills to disk; a run that uses a quarter
    /// more ends with an error [default: 60 % of the memory of the machine or its control group]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(super) memory: Option<usize>,
    /// The number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) threads: Option<u16>,
    /// Keep the intermediate tables of the run in this folder, and reuse those that an earlier run, such as one that was
    /// killed, made from the same rows in the same way; ibid gc empties the folder
    #[arg(long, value_name = "FOLDER")]
    pub(super) resume: Option<PathBuf>,
    /// End with exit code 4 if anything was capped or skipped
    #[arg(long)]
    pub(super) strict: bool,
    /// Print no summary and no progress
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// Parses a share above 0 and up to 1.
pub(super) fn ratio(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(t) if t > 0.0 && t <= 1.0 => Ok(t),
        _ => bail!("write a number above 0 and up to 1, such as 0.8"),
    }
}
