use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::{Context, Result, bail};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use clap::{Args, Subcommand};

use super::Ending;
use super::pairs::Pairs;
use super::passages::Passages;
use super::run::{Method, Run, Stdout, grouped};
use crate::pipeline::query::{self, Literal};
use crate::similarity_join::bytes_to_join;

/// Estimate, from a sample of the documents, what a command would do: pairs, memory, what is most frequent
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// About how many sentences to look at; all, and exactly, if there are no more
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..))]
    sample: u64,
    #[command(subcommand)]
    command: Explained,
}

/// What can be estimated.
#[derive(Debug, Subcommand)]
enum Explained {
    Passages(Passages),
    Pairs(Pairs),
}

/// How many bytes of memory the pairs of places take, each.
const BYTES_OF_PAIR: u64 = 200;

impl Explain {
    pub(super) async fn run(self) -> Result<Ending> {
        match &self.command {
            Explained::Passages(command) => self.estimate(command.method()?).await,
            Explained::Pairs(command) => self.estimate(command.method()).await,
        }
    }

    async fn estimate(&self, method: Method<'_>) -> Result<Ending> {
        if method.options.show_sql {
            bail!("explain runs other SQL than the command; write --show-sql without explain");
        }
        let mut run = Run::begin(method.running)?;
        let bytes = run.open_both(&method).await?;
        let [documents, sentences] = run.count(["documents", "sentences"]).await?;
        let every = sentences.div_ceil(self.sample).max(1);
        // What stands in so many places stands in fewer of the sample.
        let max_frequency = (u64::from(method.options.max_frequency) / every).max(1);
        let parameters = &mut run.workspace.parameters;
        *parameters = method.parameters.clone();
        parameters.set("every", i64::try_from(every)?);
        parameters.set("measure", Literal::of_text(&method.join.0.to_string()));
        parameters.set("least", method.join.1);
        parameters.set("max_frequency", i64::try_from(max_frequency)?);
        for &stage in &method.texts {
            let sample: &[_] = if stage == query::UNITS_DOCS { &[stage, query::EXPLAIN_SAMPLE] } else { &[stage] };
            if stage != query::TEXTS_CAPPED {
                run.workspace.run_all(sample).await?;
            }
        }
        let scale = run.workspace.run_all(&[query::EXPLAIN_SCALE]).await?.context("it is a query")?.collect().await?;
        let of_sample = |column: usize| {
            let value = scale.first().map_or(0, |row| row.column(column).as_primitive::<Int64Type>().value(0));
            u64::try_from(value).unwrap_or(0)
        };
        let [texts, elements, shown] = [0, 1, 2].map(|column| of_sample(column).saturating_mul(every));
        // Of a pair, both documents must be in the sample.
        let [all_pairs, pairs] = [3, 4].map(|column| of_sample(column).saturating_mul(every).saturating_mul(every));
        let about = if every == 1 { "" } else { "about " };
        let mut said = format!(
            "{} documents, {} sentences, {} to read.\n",
            grouped(documents),
            grouped(sentences),
            megabytes(bytes)
        );
        if every > 1 {
            let _ = writeln!(said, "Estimated from one document in {}; what is rare may be missed.", grouped(every));
        }
        let memory = bytes_to_join(texts, elements, shown);
        let mut line = |name: &str, what: String| writeln!(said, "{name:24}{what}");
        line("distinct texts", format!("{}{}", if every == 1 { "" } else { "at most " }, grouped(texts)))?;
        let most = method.options.max_pairs;
        let refused = if pairs > most { ": the command will refuse" } else { "" };
        line(
            "pairs of places",
            format!("{about}{}, of at most {} (--max-pairs){refused}", grouped(pairs), grouped(most)),
        )?;
        line(
            "left out",
            format!(
                "{about}{} pairs, of {} texts in more than {} places (--max-frequency)",
                grouped(all_pairs.saturating_sub(pairs)),
                grouped(of_sample(5)),
                grouped(u64::from(method.options.max_frequency))
            ),
        )?;
        let of_pairs = pairs.saturating_mul(BYTES_OF_PAIR);
        line(
            "memory",
            format!(
                "{about}{} for the similarity join, which goes to disk beyond --memory; {} for the pairs",
                megabytes(memory),
                megabytes(of_pairs)
            ),
        )?;
        for (title, table) in [
            ("The most frequent texts", query::EXPLAIN_FREQUENT_TEXTS),
            ("The most frequent words", query::EXPLAIN_FREQUENT_WORDS),
        ] {
            let rows = run.workspace.run_all(&[table]).await?.context("it is a query")?;
            let _ = write!(said, "\n{title}\n{}\n", rows.to_string().await?);
        }
        run.end_reading();
        Stdout.write_all(said.as_bytes())?;
        Ok(Ending::Done)
    }
}

/// A number of bytes for people.
fn megabytes(bytes: u64) -> String {
    if bytes < 1 << 20 {
        format!("{} KiB", grouped(bytes.div_ceil(1 << 10)))
    } else {
        format!("{} MiB", grouped(bytes >> 20))
    }
}
