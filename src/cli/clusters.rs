//! `ibid clusters`: similar sentences across a collection (WIKI-LSH; Ayhan, Bradley, Weissman 2013).

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use arrow::datatypes::DataType;
use clap::{Args, ValueEnum};

use super::Ending;
use super::options::{InputOptions, RunOptions, refuse_without_effect};
use super::pairs::Unit;
use super::run::{Compared, FEWER_PLACES, Run, Stdout, corpus_folder, grouped, ratio};
use super::signature::Signature;
use crate::corpus::ingest::Needed;
use crate::export::{Manifest, StagedFolder};
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::recall::Recall;

/// Find clusters of similar sentences, and the documents that share them
///
/// Writes a folder of tables: clusters, pairs (of distinct texts, with their kind), article_pairs, histogram, capped, buckets,
/// and with --certify certificate. Prints the histogram, the largest clusters and the documents that share most.
#[derive(Debug, Args)]
pub(super) struct Clusters {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The folder to write
    #[arg(short, long, value_name = "FOLDER", required_unless_present = "show_sql")]
    output: Option<PathBuf>,
    /// What is compared
    #[arg(long, value_enum, default_value_t = Unit::Sentence)]
    unit: Unit,
    /// How a text becomes a set
    #[arg(long, value_name = "NAME:PARAMS", default_value = "characters:10", long_help = format!(
        "How a text becomes a set; parameters left out have the values shown: {}", Signature::help()
    ))]
    signature: Signature,
    /// How similar texts are found
    #[arg(long, value_enum, default_value_t = Way::Lsh)]
    method: Way,
    /// The least Jaccard similarity of a pair, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.7, value_parser = ratio)]
    threshold: f64,
    /// How many signatures a text has, for the method lsh; texts that share one are compared [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    bands: Option<u16>,
    /// How many minhashes make a signature, for the method lsh [default: 8]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=64))]
    rows: Option<u16>,
    /// The seed of the minhashes, for the method lsh [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// How many of the texts that share a signature are compared with each other, for the method lsh; the first ones are
    /// [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    max_bucket: Option<u32>,
    /// The largest normalised edit distance of a pair, from 0 up to 1
    #[arg(long, value_name = "E", value_parser = share)]
    max_edit: Option<f64>,
    /// Split clusters so that each text has at least this similarity with the representative of its cluster
    #[arg(long, value_name = "S", value_parser = ratio)]
    cohesion: Option<f64>,
    /// Join about this many distinct texts exactly with all others, and say what the method lsh did not find
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "10000", value_parser = clap::value_parser!(u64).range(1..))]
    certify: Option<u64>,
    /// The shortest text to compare, in characters
    #[arg(long, value_name = "N", default_value_t = 20)]
    min_characters: u32,
    /// The longest text to compare, in characters [default: 5000 for sentences, any length for documents]
    #[arg(long, value_name = "N")]
    max_characters: Option<u32>,
    /// A text that stands in more places than this makes no pairs of documents: it is counted, and listed as capped
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    max_frequency: u32,
    /// The most pairs of places to count for pairs of documents; more are refused beforehand
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_pairs: u64,
    /// How many of the largest clusters and of the pairs of documents to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: u16,
    /// Print the SQL that would run, and do not run it
    #[arg(long)]
    show_sql: bool,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

/// How similar texts are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// By locality-sensitive hashing: finds most pairs, the more similar the likelier
    Lsh,
    /// By a similarity join: finds all pairs
    Exact,
}

/// From the links to how many pairs of places there would be, which have a limit.
const PAIRS_COUNTED: [Query; 3] = [query::TEXTS_MATCHES, query::TEXTS_PAIRS, query::TEXTS_CAPPED];

/// The tables of the folder that are always there, and those of the method lsh and of a certificate.
const TABLES: [(&str, Query); 5] = [
    ("clusters", query::CLUSTERS),
    ("pairs", query::CLUSTERS_PAIRS),
    ("article_pairs", query::CLUSTERS_ARTICLE_PAIRS),
    ("histogram", query::CLUSTERS_HISTOGRAM),
    ("capped", query::CLUSTERS_CAPPED),
];
const BUCKETS: (&str, Query) = ("buckets", query::CLUSTERS_FULL_BUCKETS);
const CERTIFICATE: (&str, Query) = ("certificate", query::CLUSTERS_RECALL);

/// The files that the folder may have.
pub(super) const FILES: [&str; 7] = [
    "clusters.parquet",
    "pairs.parquet",
    "article_pairs.parquet",
    "histogram.parquet",
    "capped.parquet",
    "buckets.parquet",
    "certificate.parquet",
];

/// How many minhashes a text can have.
const MOST_MINHASHES: u32 = 4096;

/// A share from 0 up to 1.
fn share(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => bail!("write a number from 0 up to 1, such as 0.25"),
    }
}

/// Whether a column has the sections that the reader of wikis makes.
fn is_sections(column: &DataType) -> bool {
    let DataType::List(item) = column else { return false };
    let DataType::Struct(fields) = item.data_type() else { return false };
    ["kind", "char_start", "char_end"].iter().all(|name| fields.find(name).is_some())
}

impl Clusters {
    pub(super) async fn run(self) -> Result<Ending> {
        self.check()?;
        if self.show_sql {
            let mut run = Run::begin(&self.running)?;
            // What is no corpus yet is not read for that.
            let is_read = corpus_folder(&self.inputs)?.is_some();
            if is_read {
                run.open_both(&self.compared()).await?;
            }
            let mut queries = self.clustering(is_read && self.has_sections(&run).await?);
            drop(run);
            queries.extend(PAIRS_COUNTED.into_iter().chain([query::CLUSTERS_SHARED]));
            queries.extend(self.tables().map(|(_, query)| query));
            let mut parameters = self.parameters();
            let mut parts = vec![(parameters.clone(), queries)];
            parameters.set("links", Literal::column("sample_links"));
            if self.certify.is_some() {
                let certifying = self.certifying().into_iter().chain([CERTIFICATE.1]);
                parts.push((parameters, certifying.collect()));
            }
            return self.compared().show_sql(&parts);
        }
        self.write(true).await
    }

    /// Writes the folder without printing anything, and puts its clusters, which are a file, in the place of it.
    pub(super) async fn write_clusters(self) -> Result<Ending> {
        self.check()?;
        let folder = self.output.clone().context("a folder to write is required")?;
        let ending = self.write(false).await?;
        let failed = || format!("cannot move the clusters of {}", folder.display());
        let moved = tempfile::tempdir_in(folder.parent().with_context(failed)?).with_context(failed)?;
        let whole = moved.path().join("whole");
        fs::rename(&folder, &whole).with_context(failed)?;
        fs::rename(whole.join(FILES[0]), &folder).with_context(failed)?;
        Ok(ending)
    }

    /// Fails where options do not go together.
    fn check(&self) -> Result<()> {
        let is_lsh = self.method == Way::Lsh;
        refuse_without_effect(&[
            ("--bands", self.bands.is_some(), is_lsh),
            ("--rows", self.rows.is_some(), is_lsh),
            ("--seed", self.seed.is_some(), is_lsh),
            ("--max-bucket", self.max_bucket.is_some(), is_lsh),
            ("--certify", self.certify.is_some(), is_lsh),
        ])?;
        if u32::from(self.bands()) * u32::from(self.rows()) > MOST_MINHASHES {
            bail!("--bands times --rows are more than {MOST_MINHASHES} minhashes; lower one of them");
        }
        if i64::from(self.min_characters) > self.max_characters() {
            bail!("--min-characters is more than --max-characters, so that there would be nothing to compare");
        }
        Ok(())
    }

    async fn write(self, prints: bool) -> Result<Ending> {
        let output = self.output.as_deref().context("a folder to write is required")?;
        let mut run = Run::begin(&self.running)?;
        self.reading.begin_folder(output, &self.running)?;
        let staged = StagedFolder::create(output, &FILES)?;
        run.open_both(&self.compared()).await?;
        run.workspace.parameters = self.parameters();
        let has_sections = self.has_sections(&run).await?;
        run.workspace.run_all(&self.clustering(has_sections)).await?;
        run.workspace.run_all(&PAIRS_COUNTED).await?;
        run.refuse_more_pairs(query::TEXTS_ESTIMATE, self.max_pairs, FEWER_PLACES).await?;
        run.workspace.run_all(&[query::CLUSTERS_SHARED]).await?;
        for table in self.tables() {
            write(&mut run, &staged, table).await?;
        }
        let recall = self.certificate(&mut run, &staged).await?;
        let said = if prints { self.printout(&mut run).await? } else { String::new() };
        Manifest::write(staged.path(), &run.about())?;
        staged.commit()?;
        Stdout.write_all(said.as_bytes())?;
        self.summarise(run, recall).await
    }

    /// The tables of the folder, but for the certificate.
    fn tables(&self) -> impl Iterator<Item = (&'static str, Query)> {
        TABLES.into_iter().chain((self.method == Way::Lsh).then_some(BUCKETS))
    }

    fn compared(&self) -> Compared<'_> {
        let needed = if self.unit == Unit::Document { Needed::Documents } else { Needed::DocumentsAndSentences };
        Compared { inputs: &self.inputs, against: None, reading: self.reading.reading(), needed }
    }

    fn bands(&self) -> u16 {
        self.bands.unwrap_or(10)
    }

    fn rows(&self) -> u16 {
        self.rows.unwrap_or(8)
    }

    fn max_bucket(&self) -> u32 {
        self.max_bucket.unwrap_or(1000)
    }

    fn max_characters(&self) -> i64 {
        let default = if self.unit == Unit::Document { i64::from(i32::MAX) } else { 5000 };
        self.max_characters.map_or(default, i64::from)
    }

    fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::default();
        self.signature.set(&mut parameters);
        parameters.set("links", Literal::column("links"));
        parameters.set("sample", i64::try_from(self.certify.unwrap_or(0)).unwrap_or(i64::MAX));
        parameters.set("is_lsh", self.method == Way::Lsh);
        parameters.set("top", i64::from(self.top));
        parameters.set("against", false);
        parameters.set("add", false);
        parameters.set("within_documents", false);
        parameters.set("threshold", self.threshold);
        parameters.set("bands", i64::from(self.bands()));
        parameters.set("rows", i64::from(self.rows()));
        parameters.set("minhashes", i64::from(self.bands()) * i64::from(self.rows()));
        parameters.set("seed", i64::from(self.seed.unwrap_or(0)));
        parameters.set("max_bucket", i64::from(self.max_bucket()));
        parameters.set("least_edit_similarity", 1.0 - self.max_edit.unwrap_or(1.0));
        parameters.set("cohesion", self.cohesion.unwrap_or(0.0));
        parameters.set("min_characters", i64::from(self.min_characters));
        parameters.set("max_characters", self.max_characters());
        parameters.set("max_frequency", i64::from(self.max_frequency));
        parameters
    }

    /// Whether it is known of the sentences in which kind of section they stand.
    async fn has_sections(&self, run: &Run<'_>) -> Result<bool> {
        let documents = run.workspace.session.table("documents").await?;
        let sections = documents.schema().field_with_unqualified_name("sections").ok();
        Ok(self.unit == Unit::Sentence && sections.is_some_and(|field| is_sections(field.data_type())))
    }

    /// From the collection to the members of clusters.
    fn clustering(&self, has_sections: bool) -> Vec<Query> {
        let units = if self.unit == Unit::Document { query::UNITS_DOCUMENTS } else { query::UNITS_SENTENCES };
        let mut stages = vec![query::UNITS_DOCS, query::UNITS_TWINS, units, query::UNITS_LENGTHS];
        stages.extend([self.signature.query, query::TEXTS, query::TEXTS_OCCURRENCES]);
        match self.method {
            Way::Exact => stages.push(query::TEXTS_LINKS),
            Way::Lsh => stages.extend([
                query::CLUSTERS_BANDS,
                query::CLUSTERS_BUCKETS,
                query::CLUSTERS_USED,
                query::CLUSTERS_LINKS,
            ]),
        }
        stages.extend(self.max_edit.map(|_| query::CLUSTERS_EDITS));
        stages.extend([query::CLUSTERS_COMPONENTS, query::CLUSTERS_REPRESENTATIVES, query::CLUSTERS_MEMBERS]);
        stages.extend(self.cohesion.map(|_| query::CLUSTERS_STARS));
        stages.push(if has_sections { query::CLUSTERS_CITED } else { query::CLUSTERS_NONE_CITED });
        stages.extend([query::CLUSTERS_CLUSTERED, query::CLUSTERS_LINKED, query::CLUSTERS_TEXT_LINKS]);
        stages
    }

    /// Joins a sample exactly, and writes by similarity what was found of it and what theory expects.
    async fn certificate(&self, run: &mut Run<'_>, staged: &StagedFolder) -> Result<Option<Recall>> {
        let Some(sample) = self.certify else { return Ok(None) };
        run.workspace.parameters.set("links", Literal::column("sample_links"));
        run.workspace.run_all(&self.certifying()).await?;
        write(run, staged, CERTIFICATE).await?;
        Ok(Some(run.recall(sample >= run.workspace.rows_of(query::TEXTS)).await?))
    }

    /// From the links to what is known of them by a sample.
    fn certifying(&self) -> Vec<Query> {
        let mut stages = vec![query::CLUSTERS_SAMPLE, query::CLUSTERS_SAMPLE_LINKS];
        stages.extend(self.max_edit.map(|_| query::CLUSTERS_EDITS));
        stages.extend([query::CLUSTERS_CERTIFICATE, query::CLUSTERS_SAMPLED]);
        stages
    }

    /// What is printed.
    async fn printout(&self, run: &mut Run<'_>) -> Result<String> {
        let mut said = String::new();
        for (title, query) in self.printed() {
            let _ = write!(said, "{title}:\n{}\n\n", run.shown(query).await?);
        }
        Ok(said)
    }

    /// What is printed, and under which titles.
    fn printed(&self) -> impl Iterator<Item = (&'static str, Query)> {
        let texts = match self.unit {
            Unit::Sentence => "The documents that share most sentences",
            Unit::Document => "The documents that are similar",
        };
        let certificate = self.certify.map(|_| ("What an exact join of a sample finds", query::PRINT_CERTIFICATE));
        [
            ("Clusters by size", query::PRINT_HISTOGRAM),
            ("Pairs by kind", query::PRINT_KINDS),
            ("The largest clusters", query::PRINT_CLUSTERS),
            (texts, query::PRINT_ARTICLE_PAIRS),
        ]
        .into_iter()
        .chain(certificate)
    }

    async fn summarise(&self, mut run: Run<'_>, certificate: Option<Recall>) -> Result<Ending> {
        let [clusters, places] = run.numbers(query::CLUSTERS_COUNTS).await?;
        let units = run.workspace.rows_of(self.signature.query);
        let of_any_length = run.count(if self.unit == Unit::Document { "documents" } else { "sentences" }).await?[0];
        let (capped, full) =
            (run.workspace.rows_of(query::TEXTS_CAPPED), run.workspace.rows_of(query::CLUSTERS_BUCKETS));
        run.summarise(
            &[
                ("documents", run.workspace.rows_of(query::UNITS_DOCS)),
                ("texts", units),
                ("distinct", run.workspace.rows_of(query::TEXTS)),
                ("pairs", run.workspace.rows_of(query::CLUSTERS_TEXT_LINKS)),
                ("clusters", clusters),
                ("in clusters", places),
            ],
            Some(capped + full),
        );
        if of_any_length > units {
            run.say(&format!(
                "{} texts have fewer than {} or more than {} characters and were not compared (--min-characters, \
                 --max-characters)",
                grouped(of_any_length - units),
                self.min_characters,
                self.max_characters()
            ));
        }
        if full > 0 {
            run.say(&format!(
                "{} signatures are those of more than --max-bucket {} texts, of which the first were compared; \
                 buckets.parquet lists them",
                grouped(full),
                self.max_bucket()
            ));
        }
        if capped > 0 {
            run.say(&format!(
                "{} texts stand in more than --max-frequency {} places and made no pairs of documents; capped.parquet lists \
                 them",
                grouped(capped),
                self.max_frequency
            ));
        }
        if let Some(recall) = certificate {
            run.say_recall("texts", recall);
        }
        Ok(run.ending(capped + full))
    }
}

/// Writes a table of the folder.
async fn write(run: &mut Run<'_>, staged: &StagedFolder, (name, query): (&str, Query)) -> Result<()> {
    let rows = run.workspace.run_all(&[query]).await?.context("a table is a query")?;
    run.write_into(staged, name, rows).await.with_context(|| format!("in queries/{}", query.file)).map(drop)
}
