//! `ibid compare`: a comparison of the methods of a command, judged by labels.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use clap::error::ErrorKind;
use clap::{Args, Command, FromArgMatches, Subcommand, ValueEnum};
use ibid::Engine;
use ibid::methods;
use ibid::program::export::Format;
use ibid::program::store::Stores;

use super::Ending;
use super::containment::Containment;
use super::options::{InputOptions, OutputOptions, RunOptions, ratio};
use super::run::{engine, prepared, with_given};

/// Compare methods on a labelled collection: their recall, precision and cost
#[derive(Debug, Args)]
pub(super) struct Compare {
    #[command(subcommand)]
    methods: Methods,
}

#[derive(Debug, Subcommand)]
enum Methods {
    Containment(CompareContainment),
}

impl Compare {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        match self.methods {
            Methods::Containment(compare) => compare.run(stores).await,
        }
    }
}

/// Compare the methods of `ibid containment`, and CoDet's depth, suffixes and sorting of words
///
/// One row for each method. Columns: method, options (of ibid containment), precision, recall, f1, found (pairs), unlabelled
/// (found pairs without a label), score_error, back_error and direction_right (if labels are shares), compared and steps (pairs
/// of documents compared and additions made, per document), seconds, cpu_seconds.
#[derive(Debug, Args)]
struct CompareContainment {
    /// A folder with the documents, docs.*, and the labels, gold.* or labels.*: JSON lines, CSV, TSV or Parquet with contained and
    /// container, and share or label if not all of them are containments; or with id_a, id_b, a_in_b and b_in_a
    labelled: PathBuf,
    /// The least score of a method, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.6, value_parser = ratio)]
    threshold: f64,
    /// The least share that counts as a containment, if labels are shares [default: --threshold]
    #[arg(long, value_name = "T", value_parser = ratio)]
    label_threshold: Option<f64>,
    /// Count a found pair without a label as wrong [default: yes; no if labels are shares both ways]
    #[arg(long, value_name = "ANSWER", value_enum)]
    labels_complete: Option<Answer>,
    /// Add a row with these options of ibid containment, such as '--signature lines'; may be repeated
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    also: Vec<String>,
    /// A file with a column text, whose words give the document frequencies (idf) [default: the documents]
    #[arg(long, value_name = "FILE")]
    reference: Option<String>,
    /// The language of the texts, such as tr, for lower case and stop words
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// Leave out the most frequent words of --language
    #[arg(long, requires = "language")]
    without_stop_words: bool,
    /// Cut words to this many letters; the paper uses 5
    #[arg(long, value_name = "N")]
    truncate: Option<String>,
    /// The column with the time of a document; only earlier documents are then containers
    #[arg(long, value_name = "NAME")]
    time_column: Option<String>,
    /// The most time that a container may be older than a document, such as 72h or 30days
    #[arg(long, value_name = "DURATION", requires = "time_column")]
    window: Option<String>,
    /// The most pairs of places that a method may make; one that would make more is refused before it makes them
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_pairs: u64,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Answer {
    Yes,
    No,
}

/// The methods of the paper. The first joins the sets of documents. The second uses postings and must find the same
/// pairs.
const METHODS: [(&str, &str); 7] = [
    ("FFP, join", "--signature shingles:4"),
    (POSTINGS, "--signature shingles:4"),
    ("sentences", "--unit sentence --signature shingles:4"),
    ("DSC", "--signature sampled_shingles:4,3"),
    ("I-Match", "--signature i_match_ranked:2,10"),
    ("SimHash", "--method simhash"),
    (CODET, "--method codet"),
];
const POSTINGS: &str = "FFP, postings";
const CODET: &str = "CoDet";

/// The default parameters of CoDet.
const DEPTH: u8 = 5;
const SUFFIXES: u8 = 1;

/// The options that say how documents are compared. Input, output and the preparation of words are the same for all
/// rows.
const OF_METHODS: [&str; 10] = [
    "--method",
    "--unit",
    "--signature",
    "--threshold",
    "--sentence-threshold",
    "--depth",
    "--suffixes",
    "--unsorted",
    "--distance",
    "--reference",
];

impl CompareContainment {
    async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let engine = engine(&self.running, stores)?;
        let mut compare = engine.compare_containment(&self.labelled);
        let mut references = Vec::new();
        for (name, options) in self.all() {
            let containment = self
                .containment(&engine, &options)
                .with_context(|| format!("as options of ibid containment, {options}"))?;
            references.extend(containment.reference_file().map(Path::to_path_buf));
            compare = match name {
                POSTINGS => compare.by_postings(name, options, containment),
                _ => compare.method(name, options, containment),
            };
        }
        self.reading.begin(self.writing.check(&[], stores)?, stores)?;
        references.iter().try_for_each(|reference| self.reading.refuse(reference))?;
        let mut compare = with_given!(
            compare,
            label_threshold: self.label_threshold,
            labels_complete: self.labels_complete.map(|answer| answer == Answer::Yes),
        );
        let talk = prepared(&mut compare, self.reading.reading(), &self.running)?;
        let found = compare.await?;
        let table = if self.writing.form()?.format == Format::Table { "printed" } else { "comparison" };
        talk.deliver_as(found, (table, "methods and settings"), &self.writing, &[], &self.running).await
    }

    /// Returns all rows of the comparison: the methods, CoDet with other parameters, and the options of `--also`.
    fn all(&self) -> impl Iterator<Item = (&'static str, String)> {
        let codet = |options: String| (CODET, format!("--method codet {options}"));
        let depths = (1..=10).filter(|depth| *depth != DEPTH).map(move |depth| codet(format!("--depth {depth}")));
        let suffixes = (1..=5).filter(|n| *n != SUFFIXES).map(move |n| codet(format!("--suffixes {n}")));
        let unsorted = (1..=10).map(move |depth| codet(format!("--depth {depth} --unsorted")));
        let methods = METHODS.into_iter().map(|(name, options)| (name, options.to_string()));
        let also = self.also.iter().map(|options| ("also", options.clone()));
        methods.chain(depths).chain(suffixes).chain(unsorted).chain(also)
    }

    /// Returns the method of `ibid containment` with these options, and those that all methods share.
    fn containment(&self, engine: &Engine, options: &str) -> Result<methods::Containment> {
        let own: Vec<&str> = options.split_whitespace().collect();
        let is_other = |word: &&&str| {
            let name = word.split('=').next().unwrap_or_default();
            word.starts_with('-') && !OF_METHODS.contains(&name)
        };
        if let Some(other) = own.iter().find(is_other) {
            bail!("{other} is not among those that say how documents are compared: {}", OF_METHODS.join(", "));
        }
        let has_idf = parsed(engine, &own)?.has_idf();
        let (threshold, max_pairs) = (self.threshold.to_string(), self.max_pairs.to_string());
        let mut all = vec!["--threshold", &threshold, "--max-pairs", &max_pairs];
        for (name, value) in [
            ("--reference", self.reference.as_ref().filter(|_| has_idf)),
            ("--language", self.language.as_ref()),
            ("--truncate", self.truncate.as_ref()),
            ("--time-column", self.time_column.as_ref()),
            ("--window", self.window.as_ref()),
        ] {
            all.extend(value.into_iter().flat_map(|value| [name, value.as_str()]));
        }
        all.extend(self.without_stop_words.then_some("--without-stop-words"));
        // The options of a method come last, so they override the shared ones.
        all.extend(own);
        let containment = parsed(engine, &all)?;
        containment.check()?;
        Ok(containment)
    }
}

/// Parses options as `ibid containment` would.
fn parsed(engine: &Engine, options: &[&str]) -> Result<methods::Containment> {
    let command = Command::new("containment").no_binary_name(true).args_override_self(true);
    // A placeholder for the input, which the command requires.
    let arguments = std::iter::once(&"documents").chain(options);
    let matches = Containment::augment_args(command).try_get_matches_from(arguments);
    let parsed =
        matches.and_then(|matches| match matches.get_many::<String>("inputs").and_then(|mut inputs| inputs.nth(1)) {
            Some(more) => {
                Err(clap::Error::raw(ErrorKind::UnknownArgument, format!("unexpected argument '{more}' found")))
            }
            None => Containment::from_arg_matches(&matches),
        });
    parsed.map(|containment| containment.builder(engine)).map_err(|error| {
        let text = error.to_string();
        // The usage follows after an empty line.
        let said: Vec<_> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        anyhow!("{}", said.join(" ").trim_start_matches("error: "))
    })
}
