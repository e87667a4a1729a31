use anyhow::Result;

use super::Dedup;
use crate::error::misuse;
use crate::methods::clusters::{check_minhashes, describe_buckets};
use crate::methods::{check_ranges, refuse_without_effect};
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::run::{Run, describe_recall, grouped};

/// The way in which matches are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matching {
    /// All matches, by a similarity join.
    #[default]
    Exact,
    /// The matches of texts that share a signature of minhashes, each verified. A sample tells how many were not found.
    Lsh,
    /// [`Matching::Exact`], or [`Matching::Lsh`] if a sample shows that there are more matches than
    /// [`Dedup::max_pairs`]. A note says which one ran.
    Auto,
}

impl Matching {
    pub(super) const NAMES: [(&str, Self); 3] = [("exact", Self::Exact), ("lsh", Self::Lsh), ("auto", Self::Auto)];
}

/// The options of [`Matching::Lsh`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hashing {
    pub(super) bands: Option<u16>,
    pub(super) rows: Option<u16>,
    pub(super) seed: Option<u32>,
    pub(super) max_bucket: Option<u32>,
    pub(super) sample: Option<u64>,
}

/// The default number of minhashes of a text.
const MINHASHES: u16 = 128;

/// The least probability that two texts that are as similar as the threshold share a signature, if the rows are not
/// given.
const CHANCE: f64 = 0.999;

/// The stages that link texts by their signatures.
const LINKS: [Query; 4] = [query::CLUSTERS_BANDS, query::CLUSTERS_BUCKETS, query::CLUSTERS_USED, query::CLUSTERS_LINKS];

impl Hashing {
    pub(super) fn check(self, matching: Matching, threshold: f64) -> Result<()> {
        let hashes = matching != Matching::Exact;
        refuse_without_effect(&[
            ("bands", self.bands.is_some(), hashes),
            ("rows", self.rows.is_some(), hashes),
            ("seed", self.seed.is_some(), hashes),
            ("max_bucket", self.max_bucket.is_some(), hashes),
            ("sample", self.sample.is_some(), hashes),
        ])?;
        check_ranges(&[
            ("bands", self.bands.map(u64::from), 1, 1000),
            ("rows", self.rows.map(u64::from), 1, 64),
            ("max_bucket", self.max_bucket.map(u64::from), 2, u64::MAX),
            ("sample", self.sample, 1, u64::MAX),
        ])?;
        let (bands, rows) = self.shape(threshold);
        check_minhashes(bands, rows)
    }

    /// Returns the number of signatures, and how many minhashes each has.
    fn shape(self, threshold: f64) -> (u16, u16) {
        let bands = |rows: u16| self.bands.unwrap_or((MINHASHES / rows).max(1));
        let shares =
            |rows: &u16| 1.0 - (1.0 - threshold.powi(i32::from(*rows))).powi(i32::from(bands(*rows))) >= CHANCE;
        let rows = self.rows.unwrap_or_else(|| (1..=64).rev().find(shares).unwrap_or(1));
        (bands(rows), rows)
    }

    fn sample(self) -> u64 {
        self.sample.unwrap_or(1000)
    }

    fn largest_bucket(self) -> u32 {
        self.max_bucket.unwrap_or(100)
    }

    pub(super) fn set(self, parameters: &mut Parameters, threshold: f64) {
        let (bands, rows) = self.shape(threshold);
        parameters.set("bands", i64::from(bands));
        parameters.set("rows", i64::from(rows));
        parameters.set("minhashes", i64::from(bands) * i64::from(rows));
        parameters.set("seed", i64::from(self.seed.unwrap_or(0)));
        parameters.set("with_all", true);
        parameters.set("compared", Literal::column("banded"));
        parameters.set("max_bucket", i64::from(self.largest_bucket()));
        parameters.set("sample", i64::try_from(self.sample()).unwrap_or(i64::MAX));
        parameters.set("is_lsh", true);
        parameters.set("links", Literal::column("links"));
    }
}

impl Dedup {
    /// Links the texts of a run that match, and chooses the way for [`Matching::Auto`]. Returns true if not all texts
    /// were compared.
    pub(super) async fn link(&self, run: &mut Run) -> Result<bool> {
        let hashes = match self.matching {
            Matching::Exact => false,
            Matching::Lsh => true,
            Matching::Auto => self.has_too_many_pairs(run).await?,
        };
        run.workspace.run_all(if hashes { &LINKS } else { &[query::TEXTS_LINKS] }).await?;
        Ok(hashes)
    }

    /// Estimates the number of pairs from a sample. Returns true if there are more than [`Dedup::max_pairs`] allows.
    async fn has_too_many_pairs(&self, run: &mut Run) -> Result<bool> {
        run.workspace.run_all(&[query::CLUSTERS_SAMPLE, query::CLUSTERS_SAMPLE_LINKS]).await?;
        let (texts, found) = (run.workspace.rows_of(query::TEXTS), run.workspace.rows_of(query::CLUSTERS_SAMPLE_LINKS));
        let sample = self.hashing.sample().min(texts);
        // A pair is found from either of its texts.
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let (found_of_all, share) = (found as f64, sample as f64 / texts.max(1) as f64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
        let pairs = if found == 0 { 0 } else { (found_of_all / (2.0 * share - share * share)) as u64 };
        let hashes = pairs > self.max_pairs;
        let (method, why) = if hashes { ("lsh", "more than") } else { ("exact", "no more than") };
        run.note(format!(
            "method {method}: by a sample of {} texts some {} pairs match, {why} `max_pairs` {}",
            grouped(sample),
            grouped(pairs),
            grouped(self.max_pairs)
        ));
        Ok(hashes)
    }

    /// Notes what was not compared, and what a sample shows was not found. Returns the tables with the details.
    pub(super) async fn certify(&self, run: &mut Run) -> Result<[(&'static str, Query); 2]> {
        if self.matching == Matching::Lsh {
            run.workspace.run_all(&[query::CLUSTERS_SAMPLE, query::CLUSTERS_SAMPLE_LINKS]).await?;
        }
        run.workspace.run_all(&[query::CLUSTERS_CERTIFICATE, query::CLUSTERS_SAMPLED]).await?;
        let full = run.workspace.rows_of(query::CLUSTERS_BUCKETS);
        if let Some(note) =
            describe_buckets(full, self.hashing.largest_bucket(), "which were all compared with the first")
        {
            run.note(note);
        }
        let recall = run.recall(self.hashing.sample() >= run.workspace.rows_of(query::TEXTS)).await?;
        run.note(describe_recall("texts", recall));
        Ok([("buckets", query::CLUSTERS_FULL_BUCKETS), ("certificate", query::CLUSTERS_RECALL)])
    }

    /// Returns the stages by which a script links texts. A script does not know what [`Matching::Auto`] would choose,
    /// and takes [`Matching::Exact`] for it.
    pub(super) fn links(&self) -> &'static [Query] {
        if self.matching == Matching::Lsh { &LINKS } else { &[query::TEXTS_LINKS] }
    }

    pub(super) fn check_matching(&self) -> Result<()> {
        if self.matching == Matching::Lsh && self.measure() != super::Measure::Jaccard {
            return Err(misuse!("minhashes only estimate Jaccard similarities; `method = lsh` needs `by = jaccard`"));
        }
        self.hashing.check(self.matching, self.least())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_as_long_as_the_threshold_allows() {
        for (threshold, shape) in [(0.8, (25, 5)), (0.5, (64, 2)), (0.1, (128, 1)), (1.0, (2, 64))] {
            assert_eq!(Hashing::default().shape(threshold), shape, "{threshold}");
        }
        let given = Hashing { bands: Some(10), rows: Some(8), ..Hashing::default() };
        assert_eq!(given.shape(0.8), (10, 8));
    }
}
