use anyhow::{Context, Result, bail};

use super::options::{Given, NamedOptions};
use super::threads::of_labels;
use super::{Base, Found, Input, check_ratio, common_options, runs, texts};
use crate::corpus;
use crate::corpus::ingest::{Needed, register_file};
use crate::engine::Engine;
use crate::error::{Error, misuse};
use crate::export::layout::ORIGINS;
use crate::pipeline::query::{self, Literal};
use crate::run::Run;

impl Engine {
    /// Reads verdicts that people gave in a [report](Engine::report) and saved: JSON lines with `result`, `key`, `verdict` (`same`, `quotation`,
    /// `boilerplate`, `false` or `unsure`), and where known `note`, `method`, `similarity` and `at`, the time.
    ///
    /// The table `verdicts` has the last verdict of each row of a result, with `verdicts`, the number of different
    /// verdicts that were given. The table `scores` says how good the rows at each similarity and above are:
    /// `threshold`, `judged` (without `unsure`), `right` (`same` and `quotation`, unless [`Review::right`] says
    /// otherwise), `precision`, and `low` and `high`, between which the precision lies with 95 % certainty if what was
    /// judged is a random sample of the rows (Wilson, *Probable inference, the law of succession, and statistical
    /// inference*, 1927). Verdicts without a similarity are not in it.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("verdicts.ndjson");
    /// std::fs::write(
    ///     &file,
    ///     r#"{"result":"9f2c","key":"01","verdict":"same","similarity":0.95}
    /// {"result":"9f2c","key":"02","verdict":"false","similarity":0.81}
    /// "#,
    /// )?;
    /// let found = ibid::Engine::new()?.review(&file).precision(0.9).await?;
    /// let scores = found.dataframe("scores")?.select_columns(&["threshold", "judged", "precision"])?.collect().await?;
    /// datafusion::assert_batches_eq!(
    ///     [
    ///         "+-----------+--------+-----------+",
    ///         "| threshold | judged | precision |",
    ///         "+-----------+--------+-----------+",
    ///         "| 0.95      | 1      | 1.0       |",
    ///         "| 0.81      | 2      | 0.5       |",
    ///         "+-----------+--------+-----------+",
    ///     ],
    ///     &scores
    /// );
    /// assert_eq!(found.summary().notes[0], "what was judged has precision 0.9 from threshold 0.95 on; that of all rows is not certain");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn review(&self, verdicts: impl Into<Input>) -> Review {
        Review {
            base: Base::new(self, verdicts.into()),
            precision: None,
            right: vec![Verdict::Same, Verdict::Quotation],
        }
    }
}

/// Verdicts that people gave; see [`Engine::review`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct Review {
    base: Base,
    precision: Option<f64>,
    right: Vec<Verdict>,
}

common_options!(Review);
runs!(Review => Found);

/// A verdict on a row of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The two places are the same text.
    Same,
    /// One of them quotes the other.
    Quotation,
    /// The text occurs everywhere.
    Boilerplate,
    /// The two have nothing to do with each other.
    False,
    /// The reader could not tell.
    Unsure,
}

impl Verdict {
    const NAMES: [(&'static str, Self); 5] = [
        ("same", Self::Same),
        ("quotation", Self::Quotation),
        ("boilerplate", Self::Boilerplate),
        ("false", Self::False),
        ("unsure", Self::Unsure),
    ];

    fn name(self) -> &'static str {
        super::name_of(&Self::NAMES, self).unwrap_or_default()
    }
}

impl std::str::FromStr for Verdict {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, verdict)| *verdict).ok_or_else(|| {
            let names = Self::NAMES.map(|(name, _)| name).join(", ");
            misuse!("{name:?} is no verdict; the verdicts are {names}").into()
        })
    }
}

impl NamedOptions for Review {
    const NAMES: &'static [&'static str] = &["precision", "right"];

    fn set_own(&mut self, given: Given<'_>) -> Result<()> {
        match given.name {
            "precision" => self.precision = Some(given.number()?),
            _ => self.right = given.values.iter().map(|name| name.parse()).collect::<Result<_, _>>()?,
        }
        Ok(())
    }
}

/// The columns of verdicts. Each verdict has the first three.
const COLUMNS: [&str; 7] = ["result", "key", "verdict", "note", "method", "similarity", "at"];
const REQUIRED: usize = 3;

impl Review {
    /// Asks for the threshold from which on this precision, above 0 and up to 1, is reached. A note of the summary
    /// tells it. Default: does not ask.
    pub fn precision(mut self, precision: f64) -> Self {
        self.precision = Some(precision);
        self
    }

    /// Sets the verdicts by which a row is right. Default: same and quotation.
    pub fn right(mut self, verdicts: impl IntoIterator<Item = Verdict>) -> Self {
        self.right = verdicts.into_iter().collect();
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

    async fn run(&self) -> Result<Found> {
        self.precision.map_or(Ok(()), |precision| check_ratio("precision", precision))?;
        let (mut run, collections) = self.base.begin().await?;
        let reading = of_labels("", &collections.reading);
        let rows = corpus::open(&collections.inputs, &reading, run.engine.stores())?;
        for column in &COLUMNS[..REQUIRED] {
            if rows.schema().column_with_name(column).is_none() {
                bail!(
                    "there is no column {column:?} in {}; verdicts have {}",
                    collections.inputs.join(", "),
                    COLUMNS.join(", ")
                );
            }
        }
        for column in COLUMNS {
            let literal = match rows.schema().column_with_name(column) {
                Some(_) => Literal::column(column),
                None => Literal::of_sql("NULL"),
            };
            run.workspace.parameters.set(column, literal);
        }
        let folder = run.take_in("verdicts_", rows, Needed::Documents, true).await?;
        register_file(&run.workspace.session, "verdicts_origins", &folder.join(ORIGINS)).await?;
        let right = self.right.iter().map(|verdict| Literal::from(verdict.name()));
        run.workspace.parameters.set("right", Literal::joined(right, ", "));
        run.workspace.run_all(&[query::REVIEW_LINES]).await?;
        let unread = run.rows(query::REVIEW_UNREAD).await?;
        if let Some([file, record, reason]) =
            texts(unread).await?.pop().and_then(|row| <[String; 3]>::try_from(row).ok())
        {
            let names = Verdict::NAMES.map(|(name, _)| name).join(", ");
            bail!("{file}, record {record}: {reason}; a verdict has a result, a key, and one of {names}");
        }
        run.workspace.run_all(&[query::REVIEW_VERDICTS, query::REVIEW_SCORES]).await?;
        let names = ["rows", "same", "quotation", "boilerplate", "false", "unsure", "contradicted", "results"];
        let counts: [u64; 8] = run.numbers(query::REVIEW_COUNTS).await?;
        self.note_reached(&mut run).await?;
        let verdicts = run.rows(query::REVIEW_ORDERED).await?;
        let scores = run.workspace.session.table("scores").await.context("it was made")?;
        let summary = run.summary_of(names.into_iter().zip(counts).skip(1).collect(), None);
        Ok(Found::new(run, "review", vec![("verdicts", verdicts), ("scores", scores)], summary, 0))
    }

    /// Notes the threshold from which on the wanted precision is reached.
    async fn note_reached(&self, run: &mut Run) -> Result<()> {
        let Some(precision) = self.precision else { return Ok(()) };
        run.workspace.parameters.set("precision", precision);
        let rows = texts(run.rows(query::REVIEW_REACHED).await?).await?;
        let [reached, certain] =
            rows.into_iter().next().and_then(|row| <[String; 2]>::try_from(row).ok()).unwrap_or_default();
        let judged = match reached.as_str() {
            "" => format!("what was judged has precision {precision} from no threshold on"),
            threshold => format!("what was judged has precision {precision} from threshold {threshold} on"),
        };
        run.note(match certain.as_str() {
            "" => format!("{judged}; that of all rows is not certain"),
            threshold => {
                format!("{judged}; that of all rows is certain from {threshold} on, if these are a random sample")
            }
        });
        Ok(())
    }
}
