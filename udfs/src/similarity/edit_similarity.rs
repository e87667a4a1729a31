use std::sync::Arc;

use arrow::array::{Array, Float64Array};
use arrow::datatypes::DataType;
use datafusion_common::{Result, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use rapidfuzz::distance::levenshtein::{Args, BatchComparator, distance_with_args};

use crate::arguments::{coerce_text, constant_number, text_array};

/// The most characters of a text that is aligned. An alignment takes up to 64 bytes of memory for each character.
const MAX_CHARACTERS: usize = 1_000_000;

/// The most steps that the alignment of a pair may take. A step is 64 cells of the table of prefixes in one word, so
/// this limit takes 2 to 5 seconds.
const MAX_STEPS: usize = 1 << 30;

/// `edit_similarity(a, b [, at_least])`: the share of two texts that no edit touches.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The similarity of two texts, character by character: (n − d) / n. Here d is the Levenshtein \
                   distance, the least number of characters (Unicode code points) to insert, delete and replace that \
                   turns one text into the other, and n is the number of characters of the longer text. 1 − \
                   `edit_similarity` is the normalised edit distance by which WIKI-LSH filters its pairs, at most .25. \
                   The distance is computed by the bit-parallel algorithms of Myers and Hyyrö (Hyyrö 2003), from the \
                   library rapidfuzz.\n\n\
                   Returns Float64 from 0 to 1, the result of one rounded division; 1 for two empty texts; NULL if \
                   either text is NULL. With `at_least`, it is also NULL if the similarity is lower, which is found \
                   without computing the whole distance: texts whose lengths differ too much cost nothing, other texts \
                   take time in proportion to n · (1 − `at_least`) · n.\n\n\
                   The work for a pair is limited to a few seconds. A text of more than 1,000,000 characters is an \
                   error, unless the texts are equal or their lengths differ too much for `at_least`. Two texts for \
                   which n · (d / 64 + 1) exceeds 2³⁰ are also an error, such as two of 400,000 characters that have \
                   less than half in common, unless `at_least` excludes that.",
    syntax_example = "edit_similarity(a, b [, at_least])",
    sql_example = r#"```sql
> SELECT edit_similarity('kitten', 'sitting') AS similarity, edit_similarity('kitten', 'sitting', 0.75) AS if_at_least;
+--------------------+-------------+
| similarity         | if_at_least |
+--------------------+-------------+
| 0.5714285714285714 |             |
+--------------------+-------------+
```"#,
    argument(name = "a", description = "The first text, of any width of Utf8."),
    argument(name = "b", description = "The second text."),
    argument(
        name = "at_least",
        description = "The least similarity that is returned, from 0 to 1; the result is NULL if it is lower; a \
                       constant. If left out, every similarity is returned."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct EditSimilarity {
    signature: Signature,
}

impl Default for EditSimilarity {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for EditSimilarity {
    fn name(&self) -> &str {
        "edit_similarity"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let (a, b, at_least) = match given {
            [a, b] => (a, b, None),
            [a, b, _] => (a, b, Some(DataType::Float64)),
            _ => return plan_err!("edit_similarity expects (a, b [, at_least]), got {} arguments", given.len()),
        };
        let texts = [coerce_text(self.name(), a)?, coerce_text(self.name(), b)?];
        Ok(texts.into_iter().chain(at_least).collect())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let (a, b, at_least) = match args.args.as_slice() {
            [a, b] => (a, b, 0.0),
            [a, b, at_least] => (a, b, constant_number(self.name(), "at_least", at_least, 0.0..=1.0)?),
            other => return exec_err!("edit_similarity expects (a, b [, at_least]), got {} arguments", other.len()),
        };
        let (a, b) = (a.to_array(rows)?, b.to_array(rows)?);
        let (a, b) = (text_array(&a)?, text_array(&b)?);
        let mut pairs = Pairs::new(MAX_STEPS);
        let similarities = (0..rows).map(|row| {
            if a.is_null(row) || b.is_null(row) {
                return Ok(None);
            }
            pairs.similarity(a.value(row), b.value(row), at_least)
        });
        Ok(ColumnarValue::Array(Arc::new(similarities.collect::<Result<Float64Array>>()?)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Texts that are compared pair after pair.
struct Pairs<'a> {
    max_steps: usize,
    previous: Option<(&'a str, &'a str)>,
    /// A text that stood in two pairs, prepared for comparing it with others, which is several times as fast.
    prepared: Option<(&'a str, BatchComparator<char>)>,
}

impl<'a> Pairs<'a> {
    fn new(max_steps: usize) -> Self {
        Self { max_steps, previous: None, prepared: None }
    }

    /// Returns the similarity of two texts; `None` where it is lower than `at_least`.
    fn similarity(&mut self, a: &'a str, b: &'a str, at_least: f64) -> Result<Option<f64>> {
        self.prepare(a, b);
        if a == b {
            return Ok(Some(1.0));
        }
        let (characters_a, characters_b) = (a.chars().count(), b.chars().count());
        let n = characters_a.max(characters_b);
        let limit = most_edits(n, at_least);
        if characters_a.abs_diff(characters_b) > limit {
            return Ok(None);
        }
        if n > MAX_CHARACTERS {
            return exec_err!(
                "edit_similarity: a text of {n} characters is too long, the most are {MAX_CHARACTERS}; compare sentences"
            );
        }
        let distance = self.distance(a, b, n, limit)?;
        Ok(distance.map(|d| share_unedited(d, n)).filter(|similarity| *similarity >= at_least))
    }

    /// Prepares the text that is the same as in the pair before.
    fn prepare(&mut self, a: &'a str, b: &'a str) {
        let is_prepared = self.prepared.as_ref().is_some_and(|(text, _)| *text == a || *text == b);
        if let Some((previous_a, previous_b)) = self.previous.filter(|_| !is_prepared) {
            let same = if a == previous_a { Some(a) } else { Some(b).filter(|b| *b == previous_b) };
            let same = same.filter(|text| text.len() <= MAX_CHARACTERS);
            self.prepared = same.map(|text| (text, BatchComparator::new(text.chars())));
        }
        self.previous = Some((a, b));
    }

    /// Returns the distance of two texts, the longer one of `n` characters; `None` where it is greater than `limit`.
    ///
    /// The closer two texts are, the narrower a band of the table of their prefixes has to be computed. So narrow bands
    /// are tried first, each eight times as wide as the one before, as long as they are less than half of the widest.
    fn distance(&self, a: &str, b: &str, n: usize, limit: usize) -> Result<Option<usize>> {
        // The number of edits that one word holds, on either side of the diagonal.
        let mut edits = 31;
        // The widest band for which n · (edits / 64 + 1) is within the steps.
        let affordable = (self.max_steps / n).saturating_sub(1).saturating_mul(64).max(64);
        loop {
            let widest = n <= 64 || 2 * edits >= limit;
            let within = if widest { limit } else { edits }.min(affordable);
            let distance = self.distance_within(a, b, within);
            if distance.is_some() || within == limit {
                return Ok(distance);
            }
            if within == affordable {
                return exec_err!(
                    "edit_similarity: two texts of up to {n} characters differ in more than {within}, which takes too \
                     long to count; compare sentences, or texts that are at least {} similar",
                    share_unedited(within, n)
                );
            }
            edits *= 8;
        }
    }

    /// Returns the distance of two texts if it is at most `limit`.
    ///
    /// The library's hint of where to begin (`score_hint`) stays unused: with it version 0.5 gives wrong distances.
    fn distance_within(&self, a: &str, b: &str, limit: usize) -> Option<usize> {
        let args = Args::default().score_cutoff(limit);
        match &self.prepared {
            Some((text, comparator)) if *text == a => comparator.distance_with_args(b.chars(), &args),
            Some((text, comparator)) if *text == b => comparator.distance_with_args(a.chars(), &args),
            _ if a.is_ascii() && b.is_ascii() => distance_with_args(a.bytes(), b.bytes(), &args),
            _ => distance_with_args(a.chars(), b.chars(), &args),
        }
    }
}

/// Returns the similarity of two texts, the longer one of `n` > 0 characters, that `d` edits make equal.
#[expect(clippy::cast_precision_loss, reason = "a text has fewer than 2^53 characters")]
fn share_unedited(d: usize, n: usize) -> f64 {
    (n - d) as f64 / n as f64
}

/// Returns the most edits with which two texts, the longer one of `n` > 0 characters, have a similarity of at least
/// `at_least`.
fn most_edits(n: usize, at_least: f64) -> usize {
    // The similarity falls with every edit, rounding included.
    let (mut enough, mut too_many) = (0, n + 1);
    while enough + 1 < too_many {
        let edits = enough.midpoint(too_many);
        if share_unedited(edits, n) >= at_least {
            enough = edits;
        } else {
            too_many = edits;
        }
    }
    enough
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Computes the distance by the table of all prefixes.
    fn levenshtein(a: &str, b: &str) -> usize {
        let b: Vec<char> = b.chars().collect();
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.chars().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], i + 1);
            for (j, y) in b.iter().enumerate() {
                let replaced = diagonal + usize::from(x != *y);
                diagonal = row[j + 1];
                row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
            }
        }
        row[b.len()]
    }

    fn by_definition(a: &str, b: &str, at_least: f64) -> Option<f64> {
        let n = a.chars().count().max(b.chars().count());
        let similarity = if n == 0 { 1.0 } else { (n - levenshtein(a, b)) as f64 / n as f64 };
        (similarity >= at_least).then_some(similarity)
    }

    fn similarity(a: &str, b: &str, at_least: f64) -> Option<f64> {
        Pairs::new(MAX_STEPS).similarity(a, b, at_least).unwrap()
    }

    #[test]
    fn counts_characters() {
        assert_eq!(similarity("", "", 1.0), Some(1.0));
        assert_eq!(similarity("", "abc", 0.0), Some(0.0));
        assert_eq!(similarity("abc", "xyz", 0.0), Some(0.0));
        assert_eq!(similarity("他走了", "她走了", 0.0), Some(2.0 / 3.0));
        assert_eq!(similarity("flaw", "lawn", 0.0), Some(0.5));
    }

    #[test]
    fn a_similarity_of_exactly_at_least_is_enough() {
        // Written as 1 - 9 / 10 it would be less than 0.1.
        assert_eq!(similarity("abcdefghij", "axxxxxxxxx", 0.1), Some(0.1));
        for n in 1..200_u32 {
            for d in 0..=n {
                let at_least = f64::from(n - d) / f64::from(n);
                assert_eq!(most_edits(n as usize, at_least), d as usize);
            }
        }
    }

    #[test]
    fn long_texts_are_refused_unless_that_costs_nothing() {
        let long = "a".repeat(MAX_CHARACTERS + 1);
        let compare = |a: &str, b: &str, at_least| Pairs::new(MAX_STEPS).similarity(a, b, at_least);
        assert_eq!(compare(&long, &long.clone(), 0.0).unwrap(), Some(1.0));
        assert_eq!(compare(&long, "b", 0.5).unwrap(), None);
        assert!(compare(&long, "b", 0.0).unwrap_err().to_string().contains("too long"));
    }

    #[test]
    fn a_pair_takes_no_more_steps_than_it_may() {
        let (a, b) = ("a".repeat(5000), "b".repeat(5000));
        // 5000 · (3840 / 64 + 1).
        let mut few = Pairs::new(5000 * 61);
        let error = few.similarity(&a, &b, 0.0).unwrap_err().to_string();
        assert!(error.contains("differ in more than 3840"), "{error}");
        assert_eq!(few.similarity(&a, &b, 0.3).unwrap(), None);
        assert_eq!(Pairs::new(5000 * 80).similarity(&a, &b, 0.0).unwrap(), Some(0.0));
        let mut one_line = Pairs::new(1);
        let c = format!("{}b{}", &a[..2000], &a[2000..]);
        assert_eq!(one_line.similarity(&a, &c, 0.0).unwrap(), Some(5000.0 / 5001.0));
    }

    #[test]
    fn lengths_that_differ_by_more_than_a_band_are_counted() {
        let middle: String = ('a'..='z').cycle().step_by(7).take(70).collect();
        let long = format!("{}{middle}{}", "1".repeat(31), "2".repeat(50));
        assert_eq!(similarity(&long, &middle, 0.0), Some(70.0 / 151.0));
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ab]{0,100}",
            "[a-z ]{0,200}",
            "[aé我😀\u{301}]{0,150}",
            "\\PC{0,40}",
            // Structure at the scale of the words that the algorithm works in.
            prop::collection::vec(prop::sample::select(vec!["abcabd", "0123456789", "我们在北京", "z"]), 0..60)
                .prop_map(|parts| parts.concat()),
        ]
    }

    /// Generates a text, and a copy of it with edits.
    fn edited() -> impl Strategy<Value = (String, String)> {
        let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8, "[ab我]{1,3}"), 0..12);
        (text(), edits).prop_map(|(text, edits)| {
            let mut characters: Vec<char> = text.chars().collect();
            for (at, kind, new) in edits {
                let at = at.index(characters.len() + 1);
                let removed = if kind == 0 { at } else { (at + usize::from(kind)).min(characters.len()) };
                characters.splice(at..removed, new.chars().filter(|_| kind < 2));
            }
            (text, characters.into_iter().collect())
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn it_is_the_definition(
            (a, b) in prop_oneof![(text(), text()), edited()],
            at_least in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64],
        ) {
            prop_assert_eq!(similarity(&a, &b, at_least), by_definition(&a, &b, at_least));
            prop_assert_eq!(similarity(&b, &a, at_least), by_definition(&a, &b, at_least));
        }

        #[test]
        fn texts_that_repeat_make_no_difference(
            texts in prop::collection::vec(edited(), 1..4),
            pairs in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..12),
            at_least in prop_oneof![Just(0.0), Just(0.75), 0.0..1.0_f64],
        ) {
            let texts: Vec<String> = texts.into_iter().flat_map(|(a, b)| [a, b]).collect();
            let mut compared = Pairs::new(MAX_STEPS);
            for (a, b) in pairs {
                let (a, b) = (a.get(&texts), b.get(&texts));
                prop_assert_eq!(compared.similarity(a, b, at_least).unwrap(), by_definition(a, b, at_least));
            }
        }

        #[test]
        fn bands_of_all_widths_give_the_distance((a, b) in prop_oneof![(text(), text()), edited()]) {
            let (n, d) = (a.chars().count().max(b.chars().count()), levenshtein(&a, &b));
            for limit in [d.saturating_sub(1), d, d + 1, n / 2, n] {
                let within = Pairs::new(MAX_STEPS).distance_within(&a, &b, limit);
                prop_assert_eq!(within, Some(d).filter(|d| *d <= limit));
            }
        }
    }
}
