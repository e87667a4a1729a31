//! `ibid threads`: near-duplicate threads over several fields (QA-THREADS; Wu, Zhang, Huang 2011).

mod columns;
mod field;
mod labels;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

pub(super) use self::columns::Readable;
pub(super) use self::field::seconds;
use self::field::{Canonical, Field, FieldOption, SignatureOption};
use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions, refuse_without_effect};
use super::run::{Compared, Run, grouped, place_further, ratio};
use super::signature::Signature;
use crate::corpus::ingest::Needed;
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::recall::Recall;

/// Find near-duplicate threads, by the weighted mean of the similarities of several fields
///
/// Records are JSON lines, CSV or Parquet with an id and the fields as columns; or a corpus made of them.
#[derive(Debug, Args)]
pub(super) struct Threads {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// A field and its weight; may be repeated. Weights are divided by their sum; without weights the fields are equal.
    /// title+body is one field of two columns
    #[arg(long, value_name = "NAME=WEIGHT", required = true)]
    field: Vec<FieldOption>,
    /// How a text becomes a set, for all fields, or for one with FIELD=NAME:PARAMS [default: shingles:3]
    #[arg(long, value_name = "[FIELD=]NAME:PARAMS", long_help = format!(
        "How a text becomes a set, for all fields, or for one with FIELD=NAME:PARAMS; may be repeated; parameters left out \
         have the values shown: {} [default: shingles:3]", Signature::help()
    ))]
    signature: Vec<SignatureOption>,
    /// The least score, above 0 and up to 1 [default: 0.5, or what --weights fit finds]
    #[arg(long, value_name = "T", value_parser = ratio)]
    threshold: Option<f64>,
    /// How similar fields are found
    #[arg(long, value_enum, default_value_t = Strategy::Doc)]
    strategy: Strategy,
    /// The longest list of postings that makes pairs, in distinct texts, for --strategy term; longer ones are listed as
    /// capped [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    max_postings: Option<u32>,
    /// Of how many threads to look at all pairs, to say what --strategy term did not find; 0 does not look [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    certify: Option<i64>,
    /// Take the weights that are best for the pairs of --labels, and the best threshold if none is given
    #[arg(long, value_enum, requires = "labels")]
    weights: Option<Weights>,
    /// Labelled pairs to judge by: id_a, id_b and whether they are duplicates, as JSON lines, CSV, TSV or Parquet
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// The column of --labels that says whether a pair is a duplicate
    #[arg(long, value_name = "NAME", default_value = "label", requires = "labels")]
    label: String,
    /// Judge the fields and weights by the labels, and do not look for pairs
    #[arg(long, requires = "labels", conflicts_with_all = ["groups", "capped", "output"])]
    evaluate_only: bool,
    /// How many random weights to climb from
    #[arg(long, value_name = "N", default_value_t = 100, requires = "weights")]
    starts: u16,
    /// The seed of the random weights
    #[arg(long, value_name = "N", default_value_t = 0, requires = "weights")]
    seed: u64,
    /// Write how well each field and the score tell the labelled pairs apart to this file: what, weight, threshold,
    /// precision, recall, f1, auc
    #[arg(long, value_name = "FILE", requires = "labels")]
    evaluation: Option<PathBuf>,
    /// Write the groups of threads that the pairs connect to this file: canonical, id, score (of the two); with --against
    /// also canonical_collection and collection, which are input or against
    #[arg(long, value_name = "FILE")]
    groups: Option<PathBuf>,
    /// The thread of a group to keep: that with most votes, the oldest or the longest; votes=COLUMN and oldest=COLUMN name
    /// the column [default columns: votes, created_at]
    #[arg(long, value_name = "RULE", requires = "groups", default_value = "longest")]
    canonical: Canonical,
    /// Compare with this collection instead of with itself; the first of each pair is then from the input, the second
    /// from here
    #[arg(long, value_name = "INPUT")]
    against: Option<String>,
    /// The most pairs of threads to compare in all fields; more are refused beforehand, since each takes some 200 bytes of
    /// memory
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_pairs: u64,
    /// Write the lists of postings that --strategy term capped to this file: field, element, texts, pairs_not_made, example
    #[arg(long, value_name = "FILE")]
    capped: Option<PathBuf>,
    /// Print the SQL that would run, and do not run it
    #[arg(long)]
    show_sql: bool,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

/// How similar fields are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Strategy {
    /// By a similarity join: exact
    Doc,
    /// By lists of postings, with a cap: approximate
    Term,
}

/// Where the weights come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Weights {
    /// From labelled pairs
    Fit,
}

/// Statements with their parameters.
type Part = (Parameters, Vec<Query>);

impl Threads {
    pub(super) async fn run(self) -> Result<Ending> {
        let fields = Field::all(&self.field, &self.signature)?;
        self.check_strategy()?;
        if self.show_sql {
            if self.weights.is_some() {
                bail!("weights are not fitted in SQL; fit them first, and write --show-sql with the weights found");
            }
            return self.compared().show_sql(&self.script(&fields));
        }
        let mut run = Run::begin(&self.running)?;
        let places = [&self.evaluation, &self.groups, &self.capped];
        let places = self.writing.check(&places.into_iter().flatten().map(PathBuf::as_path).collect::<Vec<_>>())?;
        self.reading.begin(places)?;
        self.read_labels(&mut run).await?;
        run.open_checked(&self.compared(), |table, schema| self.check_columns(table, schema)).await?;
        self.find(&mut run, fields).await
    }

    async fn find(&self, run: &mut Run<'_>, mut fields: Vec<Field>) -> Result<Ending> {
        run_parts(run, self.sets(&fields)).await?;
        let threshold = match &self.labels {
            Some(labels) => self.judge(run, &mut fields, labels).await?,
            None => self.given_threshold(),
        };
        if self.evaluate_only {
            return Ok(run.ending(0));
        }
        let parameters = self.parameters(&fields, threshold);
        run_parts(run, vec![(parameters.clone(), self.links())]).await?;
        let remedy = "give a higher --threshold, or less weight to a field that many threads share";
        run.refuse_more_pairs(query::THREADS_ESTIMATE, self.max_pairs, remedy).await?;
        run_parts(run, self.pairs(&parameters, &fields)).await?;
        let [with_duplicates] = run.numbers(query::THREADS_COUNTS).await?;
        let rows = run.workspace.run_all(&[query::THREADS]).await?.context("the last statement is a query")?;
        let noted = run.workspace.parameters.clone();
        let mut further = Vec::new();
        let capped = run.workspace.rows_of(query::TERM_CAPPED);
        if let Some(path) = &self.capped {
            let columns = "field, element, texts, pairs_not_made, example";
            let sql = format!("SELECT {columns} FROM capped ORDER BY pairs_not_made DESC, field, element");
            let rows = run.workspace.session.sql(&sql).await?;
            further.push(run.stage_further(rows, path, &self.writing).await?);
        }
        let candidates = run.workspace.rows_of(query::THREADS_CANDIDATES);
        let pruned = self.pruned(run).await?;
        if let Some(path) = &self.groups {
            let rows = run_parts(run, self.groups(&parameters, &fields)).await?.context("groups are a query")?;
            further.push(run.stage_further(rows, path, &self.writing).await?);
            self.say_unranked(run, &parameters).await?;
        }
        let found = place_further(further, run.write_with(rows, &self.writing, &noted).await)?;
        let recall = self.recall(run, &parameters, &fields).await?;
        let counts = [
            ("threads", run.workspace.rows_of(query::UNITS_DOCS)),
            ("distinct texts", run.workspace.rows_of(query::THREADS_TEXTS)),
            ("candidates", candidates),
            ("pairs", found),
            ("threads with a duplicate", with_duplicates),
        ];
        run.summarise(&counts, Some(capped));
        run.say(&pruned);
        if capped > 0 {
            run.say(&format!(
                "{} lists of postings are longer than --max-postings {} and made no pairs; --capped FILE lists them all",
                grouped(capped),
                self.max_postings()
            ));
        }
        if let Some(recall) = recall {
            run.say_recall("threads", recall);
        }
        Ok(run.ending(capped))
    }

    fn given_threshold(&self) -> f64 {
        self.threshold.unwrap_or(0.5)
    }

    fn max_postings(&self) -> u32 {
        self.max_postings.unwrap_or(1000)
    }

    /// How many threads to look at all pairs of.
    fn sample(&self) -> i64 {
        self.certify.unwrap_or(1000)
    }

    /// Fails where an option would have no effect.
    fn check_strategy(&self) -> Result<()> {
        let is_term = self.strategy == Strategy::Term;
        refuse_without_effect(&[
            ("--max-postings", self.max_postings.is_some(), is_term),
            ("--certify", self.certify.is_some(), is_term),
            ("--capped", self.capped.is_some(), is_term),
        ])
    }

    fn compared(&self) -> Compared<'_> {
        Compared {
            inputs: &self.inputs,
            against: self.against.as_ref(),
            reading: self.reading(),
            needed: Needed::Documents,
        }
    }

    /// All statements in order, without those that judge by labels.
    fn script(&self, fields: &[Field]) -> Vec<Part> {
        let parameters = self.parameters(fields, self.given_threshold());
        let mut script = self.sets(fields);
        script.push((parameters.clone(), self.links()));
        script.extend(self.pairs(&parameters, fields));
        script.push((parameters.clone(), vec![query::THREADS]));
        if self.groups.is_some() {
            script.extend(self.groups(&parameters, fields));
        }
        if self.certify.is_some() && self.is_certified() {
            script.push((parameters.clone(), self.links_of_sample()));
            script.extend(self.pairs_of_sample(&parameters, fields));
            script.push((parameters, vec![query::CERTIFICATE_RECALL]));
        }
        script
    }

    /// What the statements after the sets of the fields need.
    fn parameters(&self, fields: &[Field], threshold: f64) -> Parameters {
        let mut parameters = Parameters::default();
        let names = || fields.iter().map(|field| Literal::column(&field.name));
        let term = |field: &Field| Literal::column(&field.name).within(&format!("{:?} * ", field.weight), "");
        let (founding, least) = founding(fields, threshold);
        parameters.set("against", self.against.is_some());
        parameters.set("founding", Literal::joined(founding.into_iter().map(Literal::from), ", "));
        parameters.set("fields", Literal::joined(fields.iter().map(|f| f.name.as_str().into()), ", ").within("[", "]"));
        parameters.set("names", Literal::joined(names(), ", "));
        parameters.set("score", Literal::joined(fields.iter().map(term), " + ").within("(", ")"));
        parameters.set("threshold", below(threshold, fields.len()));
        parameters.set("least", below(least, fields.len()));
        parameters.set("max_postings", i64::from(self.max_postings()));
        parameters.set("sample", self.sample());
        parameters.set("rank", self.canonical.rank(fields));
        parameters.set("ranked_by", self.canonical.ranked_by());
        let sides = self.against.iter().flat_map(|_| ["canonical_collection", "collection"]);
        let columns = ["canonical", "id", "score"].into_iter().chain(sides).map(Literal::column);
        parameters.set("group_columns", Literal::joined(columns, ", "));
        parameters
    }

    /// The sets of all fields.
    fn sets(&self, fields: &[Field]) -> Vec<Part> {
        let mut parameters = Parameters::default();
        parameters.set("against", self.against.is_some());
        let mut parts = vec![(parameters, vec![query::UNITS_DOCS, query::THREADS_NO_SETS])];
        for (field, number) in fields.iter().zip(0_i64..) {
            let mut parameters = Parameters::default();
            parameters.set("columns", field.texts());
            parameters.set("field", number);
            field.signature.set(&mut parameters);
            parts.push((parameters, vec![query::UNITS_FIELD, field.signature.query, query::THREADS_SETS]));
        }
        parts
    }

    /// The links between texts.
    fn links(&self) -> Vec<Query> {
        let mut links = vec![query::THREADS_TEXTS, query::THREADS_OCCURRENCES];
        match self.strategy {
            Strategy::Doc => links.push(query::THREADS_LINKS),
            Strategy::Term => {
                links.extend([query::TERM_POSTINGS, query::TERM_CAPPED, query::TERM_CANDIDATES, query::TERM_LINKS])
            }
        }
        links
    }

    /// From the links to the pairs.
    fn pairs(&self, parameters: &Parameters, fields: &[Field]) -> Vec<Part> {
        let mut parts = vec![(parameters.clone(), vec![query::THREADS_CANDIDATES])];
        parts.extend(similarities(fields));
        parts.push((parameters.clone(), vec![query::THREADS_PAIRS]));
        parts
    }

    /// From the pairs to the groups.
    fn groups(&self, parameters: &Parameters, fields: &[Field]) -> Vec<Part> {
        let canonical = vec![query::GROUPS, query::GROUPS_CANONICAL, query::GROUPS_CANDIDATES];
        let mut parts = vec![(parameters.clone(), canonical)];
        parts.extend(similarities(fields));
        parts.push((parameters.clone(), vec![query::GROUPS_RESULT]));
        parts
    }

    /// Says which threads of groups could not be ranked, and come last.
    async fn say_unranked(&self, run: &mut Run<'_>, parameters: &Parameters) -> Result<()> {
        let Some(column) = self.canonical.column() else { return Ok(()) };
        run.workspace.parameters = parameters.clone();
        let what = format!("threads of groups cannot be ranked by {column:?}, and are kept only where no other can be");
        run.list(query::GROUPS_UNRANKED, &what).await.map(drop)
    }

    /// What each bound spared.
    async fn pruned(&self, run: &mut Run<'_>) -> Result<String> {
        if self.strategy == Strategy::Term {
            let [met, of_like_length, compared] = run.numbers(query::TERM_PRUNED).await?;
            return Ok(format!(
                "of {} pairs of postings {} had lengths too different (eq. 2); {} pairs of texts were compared",
                grouped(met),
                grouped(met.saturating_sub(of_like_length)),
                grouped(compared)
            ));
        }
        if !run.workspace.has_counted(query::THREADS_LINKS) {
            return Ok("there are so few texts that all pairs of a field were compared".to_string());
        }
        let counted = |name| grouped(run.workspace.counted(query::THREADS_LINKS, name));
        Ok(format!(
            "pairs of texts that met: {} had lengths too different (eq. 2), {} too few elements left (eq. 3), {} bitmaps too \
             different; {} were compared, {} of them not to the end (eq. 3)",
            counted("pruned_length"),
            counted("pruned_position"),
            counted("pruned_bitmap"),
            counted("verified"),
            counted("ended_early")
        ))
    }

    /// Whether the pairs of a sample are counted.
    fn is_certified(&self) -> bool {
        self.strategy == Strategy::Term && self.sample() > 0
    }

    /// Joins a sample exactly, and says how many of its pairs were found.
    async fn recall(&self, run: &mut Run<'_>, parameters: &Parameters, fields: &[Field]) -> Result<Option<Recall>> {
        if !self.is_certified() {
            return Ok(None);
        }
        run_parts(run, vec![(parameters.clone(), self.links_of_sample())]).await?;
        let [pairs] = run.numbers(query::THREADS_ESTIMATE).await?;
        if pairs > self.max_pairs {
            run.say(&format!(
                "the recall was not measured: the sample has {} pairs to compare, more than --max-pairs {}; lower --certify",
                grouped(pairs),
                self.max_pairs
            ));
            return Ok(None);
        }
        run_parts(run, self.pairs_of_sample(parameters, fields)).await?;
        let is_all = run.workspace.rows_of(query::CERTIFICATE_SAMPLE) == run.workspace.rows_of(query::UNITS_DOCS);
        Ok(Some(run.recall(is_all).await?))
    }

    fn links_of_sample(&self) -> Vec<Query> {
        vec![query::CERTIFICATE_SAMPLE, query::CERTIFICATE_LINKS]
    }

    fn pairs_of_sample(&self, parameters: &Parameters, fields: &[Field]) -> Vec<Part> {
        let mut parts = vec![(parameters.clone(), vec![query::THREADS_CANDIDATES])];
        parts.extend(similarities(fields));
        parts.push((parameters.clone(), vec![query::CERTIFICATE_SAMPLED]));
        parts
    }
}

/// The fields by which pairs are found, and the similarity that one of them has in every pair whose score reaches `threshold`.
///
/// A mean reaches the threshold only if one of its parts does. Even if the fields of some small weights `w` were equal, the mean
/// of the others would have to reach `(threshold - w) / (1 - w)`: where that is hardly less, they are left out, since a short
/// field of little weight is often the same in many threads.
fn founding(fields: &[Field], threshold: f64) -> (Vec<i64>, f64) {
    let mut by_weight: Vec<(&Field, i64)> = fields.iter().zip(0..).collect();
    by_weight.sort_by(|a, b| a.0.weight.total_cmp(&b.0.weight));
    let (mut left_out, mut least, mut first) = (0.0, threshold, 0);
    for (field, _) in &by_weight[..by_weight.len() - 1] {
        left_out += field.weight;
        let of_others = (threshold - left_out) / (1.0 - left_out);
        if of_others < HARDLY_LESS * threshold {
            break;
        }
        (least, first) = (of_others, first + 1);
    }
    let mut founding: Vec<i64> = by_weight[first..].iter().map(|(_, number)| *number).collect();
    founding.sort_unstable();
    (founding, least)
}

/// How far the threshold of the fields that found pairs may fall for the others to be left out.
const HARDLY_LESS: f64 = 0.8;

/// As much below `threshold` as rounding may take a mean of equal similarities.
#[expect(clippy::cast_precision_loss, reason = "a few fields")]
fn below(threshold: f64, fields: usize) -> f64 {
    threshold * (1.0 - (4 * fields + 8) as f64 * f64::EPSILON)
}

/// Adds the similarity of each field to the candidates.
fn similarities(fields: &[Field]) -> Vec<Part> {
    let part = |(field, number): (&Field, i64)| {
        let mut parameters = Parameters::default();
        parameters.set("field", number);
        parameters.set("name", Literal::column(&field.name));
        (parameters, vec![query::THREADS_SIMILARITIES])
    };
    fields.iter().zip(0..).map(part).collect()
}

/// Runs statements with their parameters, and gives the rows of the last query among them.
async fn run_parts(run: &mut Run<'_>, parts: Vec<Part>) -> Result<Option<datafusion::dataframe::DataFrame>> {
    let mut last = None;
    for (parameters, queries) in parts {
        run.workspace.parameters = parameters;
        last = run.workspace.run_all(&queries).await?;
    }
    Ok(last)
}
