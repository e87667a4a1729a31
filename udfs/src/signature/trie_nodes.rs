use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, Float64Array, StructArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Fields};
use datafusion_common::{Result, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use xxhash_rust::xxh3::xxh3_64;

use super::frequencies::{Frequencies, Ranked, coerce_frequencies};
use crate::arguments::{TokenRow, Tokens, coerce_tokens, constant_count, constant_flag, keep_constants};
use crate::text::Lists;

/// `trie_nodes(tokens, frequencies, depth [, suffixes [, sorted]])`: the nodes of a sentence in CoDet's corpus tree.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The nodes that a sentence visits in the corpus tree of CoDet (CODET section 3). The tree is a trie \
                   over all sentences, with the words of each sorted by descending inverse document frequency; equally \
                   frequent words are in code point order. A node is the hash of its path, so the tree is a relation, \
                   and a join finds what two documents share of it:\n\n\
                   * CS(A, C) = Σ countₐ(node) · count꜀(node) · weight(node) over the nodes that both documents have, \
                   where count is the number of sentences of the document that visit the node. This equals the paper's \
                   sum over all pairs of sentences, in which the k-th word of their common beginning adds k · idf.\n\
                   * The self-containment is SCS(A) = CS(A, A). C contains A if CS(A, C) / SCS(A) reaches a threshold. \
                   This ratio is not symmetric, and it is above 1 if C repeats what A says once.\n\n\
                   The paper leaves some details open, which are decided as follows. The idf is the natural logarithm \
                   log(N/df), with df = 1 for a word that is in no document, and idf = 1 if there is only one \
                   document. A word that occurs twice in a sentence takes two nodes, one below the other. Suffixes, \
                   each of which begins one word later than the one before, are cut before sorting. A sentence has a \
                   node once, however many of its suffixes visit it, so that a sentence does not weigh more for a rare \
                   word late in it. Empty suffixes are left out.\n\n\
                   Returns `List<Struct<node UInt64, weight Float64>>`, with one entry for each node below the root. \
                   `node` is the XXH3 hash of the parent node (0 for the root) and of the word, the same from release \
                   to release. `weight` is the depth of the node, from 1, times the idf of the word. The nodes of the \
                   sentence come first, downwards, then those that its suffixes add. The idf is rounded to a multiple \
                   of 2⁻²⁰, so that sums of weights below 2³³ are exact and the same in any order. NULL for NULL; the \
                   empty list for an empty list; NULL tokens are left out.",
    syntax_example = "trie_nodes(tokens, frequencies, depth [, suffixes [, sorted]])",
    sql_example = r#"```sql
> WITH sentences AS (
    SELECT column1 AS doc, words(column2) AS words FROM (VALUES
      ('early', 'shares gain two percent'), ('late', 'nasdaq starts the day'), ('late', 'two percent gain shares'))
  ), nodes AS (
    SELECT doc, n['node'] AS node, n['weight'] AS weight, count(*) AS times FROM (
      SELECT doc, unnest(trie_nodes(words, (SELECT document_frequencies(words) FROM sentences), 5)) AS n FROM sentences)
    GROUP BY doc, n
  )
  SELECT a.doc AS contained, c.doc AS container, sum(a.times * c.times * a.weight)
    / (SELECT sum(s.times * s.times * s.weight) FROM nodes AS s WHERE s.doc = a.doc) AS containment
  FROM nodes AS a JOIN nodes AS c ON a.node = c.node AND a.doc <> c.doc GROUP BY a.doc, c.doc ORDER BY contained;
+-----------+-----------+---------------------+
| contained | container | containment         |
+-----------+-----------+---------------------+
| early     | late      | 1.0                 |
| late      | early     | 0.26957738030699896 |
+-----------+-----------+---------------------+
```"#,
    argument(name = "tokens", description = "The words of one sentence in order, `List<Utf8>`."),
    argument(
        name = "frequencies",
        description = "The result of `document_frequencies` for a reference collection; a constant."
    ),
    argument(
        name = "depth",
        description = "The greatest depth of a node (DT; the paper found 5 best), from 1 to 1000; a constant."
    ),
    argument(
        name = "suffixes",
        description = "The number of suffixes to take (PSC), the whole sentence being the first, from 1 to 100; 1 if \
                       left out; a constant."
    ),
    argument(
        name = "sorted",
        description = "With `true`, words are sorted by idf; with `false`, they keep their order in the sentence. \
                       `true` if left out; a constant."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct TrieNodes {
    signature: Signature,
}

impl Default for TrieNodes {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    vec![Field::new("node", DataType::UInt64, false), Field::new("weight", DataType::Float64, false)].into()
});

impl ScalarUDFImpl for TrieNodes {
    fn name(&self) -> &str {
        "trie_nodes"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let ([tokens, frequencies, rest @ ..], 3..=5) = (given, given.len()) else {
            return plan_err!(
                "trie_nodes expects (tokens, frequencies, depth [, suffixes [, sorted]]), got {} arguments",
                given.len()
            );
        };
        let parameters = [DataType::Int64, DataType::Int64, DataType::Boolean].into_iter().take(rest.len());
        Ok([coerce_tokens(self.name(), tokens)?, coerce_frequencies(self.name(), frequencies)?]
            .into_iter()
            .chain(parameters)
            .collect())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Struct(FIELDS.clone()), true))))
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 1)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [tokens, frequencies, depth, rest @ ..] = args.args.as_slice() else {
            return exec_err!("trie_nodes expects three arguments or more, got {}", args.args.len());
        };
        let frequencies = Frequencies::try_new(self.name(), frequencies)?;
        let paths = Paths {
            frequencies: &frequencies,
            depth: constant_count(self.name(), "depth", depth, 1000)?,
            suffixes: rest.first().map_or(Ok(1), |count| constant_count(self.name(), "suffixes", count, 100))?,
            sorted: rest.get(1).map_or(Ok(true), |sorted| constant_flag(self.name(), "sorted", sorted))?,
        };
        let tokens = tokens.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(paths.of_column(&tokens)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// The rules by which sentences become paths in the tree.
struct Paths<'f> {
    frequencies: &'f Frequencies,
    depth: usize,
    suffixes: usize,
    sorted: bool,
}

/// A word of a sentence. Words are in the order of the path: the rarest come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Word<'a> {
    ranked: Ranked<'a>,
    place: usize,
}

impl Paths<'_> {
    /// Returns the lists of nodes of a column of sentences.
    fn of_column(&self, tokens: &ArrayRef) -> Result<ArrayRef> {
        let sentences = Tokens::try_new(tokens)?;
        let (mut nodes, mut weights) = (Vec::new(), Vec::new());
        let mut lists = Lists::with_nulls("trie_nodes", tokens.len(), sentences.nulls().cloned());
        let (mut words, mut visited) = (Vec::new(), HashSet::new());
        for i in 0..tokens.len() {
            if let Some(row) = sentences.row(i) {
                self.visit(row, &mut words, &mut visited, |node, weight| {
                    nodes.push(node);
                    weights.push(weight);
                });
            }
            lists.end_row(nodes.len())?;
        }
        let columns: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from(nodes)), Arc::new(Float64Array::from(weights))];
        let nodes = StructArray::try_new(FIELDS.clone(), columns, None)?;
        Ok(Arc::new(lists.finish(Arc::new(nodes))?))
    }

    /// Calls `found` with each node that a sentence visits and with its weight; `words` and `visited` are reusable
    /// buffers.
    fn visit<'a>(
        &self,
        sentence: TokenRow<'a>,
        words: &mut Vec<Word<'a>>,
        visited: &mut HashSet<u64>,
        mut found: impl FnMut(u64, f64),
    ) {
        // A suffix lacks fewer words of the sentence than there are suffixes, so its path can have no other words.
        let most = self.depth + self.suffixes - 1;
        let word = |(place, term)| Word { ranked: Ranked::new(term, self.frequencies), place };
        words.clear();
        if self.sorted {
            words.extend(sentence.enumerate().map(word));
            if words.len() > most {
                words.select_nth_unstable(most);
                words.truncate(most);
            }
            words.sort_unstable();
        } else {
            words.extend(sentence.take(most).enumerate().map(word));
        }
        visited.clear();
        for start in 0..self.suffixes.min(words.len()) {
            let path = words.iter().filter(|word| word.place >= start).take(self.depth);
            let mut node = 0;
            let mut depth = 0.0;
            for Word { ranked, .. } in path {
                node = child(node, ranked.hash);
                depth += 1.0;
                // The nodes of a single path are all different.
                if self.suffixes == 1 || visited.insert(node) {
                    found(node, depth * rounded(self.frequencies.idf(ranked.frequency)));
                }
            }
        }
    }
}

/// Returns a weight as a multiple of 2⁻²⁰.
fn rounded(weight: f64) -> f64 {
    (weight * 1_048_576.0).round() / 1_048_576.0
}

/// Returns the node below `parent` for a word, given by its hash.
fn child(parent: u64, word: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&parent.to_le_bytes());
    bytes[8..].copy_from_slice(&word.to_le_bytes());
    xxh3_64(&bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};
    use std::time::{Duration, Instant};

    use arrow::array::{AsArray, ListBuilder, StringViewBuilder};
    use arrow::datatypes::{Float64Type, UInt64Type};
    use proptest::prelude::*;

    use super::super::hash_token;
    use super::*;

    type Document = Vec<Vec<&'static str>>;

    fn column<'a>(sentences: impl IntoIterator<Item = &'a Vec<&'a str>>) -> ArrayRef {
        let mut lists = ListBuilder::new(StringViewBuilder::new());
        sentences.into_iter().for_each(|words| lists.append_value(words.iter().map(Some)));
        Arc::new(lists.finish())
    }

    /// Returns the nodes of one sentence.
    fn nodes(paths: &Paths<'_>, words: &[&str]) -> Vec<(u64, f64)> {
        let lists = paths.of_column(&column([&words.to_vec()])).unwrap();
        let nodes = lists.as_list::<i32>().values().as_struct().clone();
        let weights = nodes.column(1).as_primitive::<Float64Type>().values().to_vec();
        nodes.column(0).as_primitive::<UInt64Type>().values().iter().copied().zip(weights).collect()
    }

    fn weights(paths: &Paths<'_>, words: &[&str]) -> Vec<f64> {
        nodes(paths, words).into_iter().map(|(_, weight)| weight).collect()
    }

    /// Computes the similarities of the documents by number, from a join of their nodes and a sum.
    fn joined(documents: &[Document], paths: &Paths<'_>) -> BTreeMap<(usize, usize), f64> {
        let mut rows: HashMap<u64, (f64, BTreeMap<usize, f64>)> = HashMap::new();
        for (number, document) in documents.iter().enumerate() {
            for (node, weight) in document.iter().flat_map(|words| nodes(paths, words)) {
                let (known, counts) = rows.entry(node).or_insert((weight, BTreeMap::new()));
                assert_eq!(*known, weight);
                *counts.entry(number).or_default() += 1.0;
            }
        }
        let mut sums = BTreeMap::new();
        for (weight, counts) in rows.values() {
            for (a, count_a) in counts {
                for (c, count_c) in counts {
                    *sums.entry((*a, *c)).or_default() += count_a * count_c * weight;
                }
            }
        }
        sums
    }

    /// A node of the corpus tree as the paper defines it.
    #[derive(Default)]
    struct Tree {
        children: BTreeMap<&'static str, Tree>,
        /// The number of sentences of each document that visited the node. `last` is the last of them.
        visits: BTreeMap<usize, f64>,
        last: Option<(usize, usize)>,
    }

    impl Tree {
        fn insert(&mut self, sentence: (usize, usize), path: &[&'static str]) {
            if let Some((word, rest)) = path.split_first() {
                let child = self.children.entry(word).or_default();
                if child.last.replace(sentence) != Some(sentence) {
                    *child.visits.entry(sentence.0).or_default() += 1.0;
                }
                child.insert(sentence, rest);
            }
        }

        fn add(&self, depth: f64, idf: &impl Fn(&str) -> f64, sums: &mut BTreeMap<(usize, usize), f64>) {
            for (word, child) in &self.children {
                for (a, count_a) in &child.visits {
                    for (c, count_c) in &child.visits {
                        *sums.entry((*a, *c)).or_default() += count_a * count_c * depth * idf(word);
                    }
                }
                child.add(depth + 1.0, idf, sums);
            }
        }
    }

    fn idf_in<'a>(reference: &'a [Vec<&'a str>]) -> impl Fn(&str) -> f64 + 'a {
        |word| {
            let df = reference.iter().filter(|words| words.contains(&word)).count().max(1);
            if reference.len() < 2 { 1.0 } else { (reference.len() as f64 / df as f64).ln() }
        }
    }

    /// Returns the words of a sentence in the order of the tree.
    fn path(words: &[&'static str], idf: &impl Fn(&str) -> f64, depth: usize, sorted: bool) -> Vec<&'static str> {
        let mut path = words.to_vec();
        if sorted {
            path.sort_by(|x, y| idf(y).total_cmp(&idf(x)).then(x.cmp(y)));
        }
        path.truncate(depth);
        path
    }

    fn in_a_tree(
        documents: &[Document],
        idf: &impl Fn(&str) -> f64,
        depth: usize,
        suffixes: usize,
        sorted: bool,
    ) -> BTreeMap<(usize, usize), f64> {
        let mut root = Tree::default();
        for (number, document) in documents.iter().enumerate() {
            for (ordinal, words) in document.iter().enumerate() {
                for start in 0..suffixes.min(words.len()) {
                    root.insert((number, ordinal), &path(&words[start..], idf, depth, sorted));
                }
            }
        }
        let mut sums = BTreeMap::new();
        root.add(1.0, idf, &mut sums);
        sums
    }

    /// Computes the paper's definition: over all pairs of sentences, Σ k · idf over their common beginning.
    fn by_pairs_of_sentences(a: &Document, c: &Document, idf: &impl Fn(&str) -> f64, depth: usize) -> f64 {
        let pairs = a.iter().flat_map(|x| c.iter().map(move |y| (x, y)));
        pairs
            .map(|(x, y)| {
                let (x, y) = (path(x, idf, depth, true), path(y, idf, depth, true));
                let common = x.iter().zip(&y).take_while(|(x, y)| x == y);
                common.enumerate().map(|(k, (word, _))| (k + 1) as f64 * idf(word)).sum::<f64>()
            })
            .sum()
    }

    fn assert_close(found: &BTreeMap<(usize, usize), f64>, expected: &BTreeMap<(usize, usize), f64>) {
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (pair, expected) in expected {
            assert!((found[pair] - expected).abs() < 1e-5 * (100.0 + expected), "{pair:?}: {found:?} {expected:?}");
        }
    }

    #[test]
    fn nodes_go_down_from_the_rarest_word() {
        let reference = [vec!["the", "old", "cat"], vec!["the", "cat"], vec!["the", "dog"], vec!["the"]];
        let frequencies = Frequencies::of_words(&reference);
        let paths = Paths { frequencies: &frequencies, depth: 5, suffixes: 1, sorted: true };
        let (four, two) = (rounded(4.0_f64.ln()), rounded(2.0_f64.ln()));
        assert_eq!(weights(&paths, &["the", "old", "cat"]), [four, 2.0 * two, 0.0]);
        assert_eq!(nodes(&paths, &["the", "old", "cat"]), nodes(&paths, &["cat", "the", "old"]));
        // A word that no document has is as rare as can be; equally rare words are in code point order.
        assert_eq!(weights(&paths, &["cat", "new"]), [four, 2.0 * two]);
        assert_eq!(nodes(&paths, &["old", "dog"])[0], nodes(&paths, &["dog"])[0]);
        // A word that occurs twice takes two nodes.
        assert_eq!(weights(&paths, &["cat", "cat"]), [two, 2.0 * two]);
        assert_eq!(weights(&Paths { depth: 1, ..paths }, &["the", "old", "cat"]), [four]);
    }

    #[test]
    fn a_sentence_has_a_node_once() {
        let frequencies = Frequencies::of_words(&[vec!["a"], vec!["b"], vec!["c"]]);
        let paths = Paths { frequencies: &frequencies, depth: 2, suffixes: 9, sorted: true };
        // The paths of the suffixes are a, b; a, c; and a.
        assert_eq!(nodes(&paths, &["b", "c", "a"]).len(), 3);
        assert_eq!(nodes(&Paths { suffixes: 1, ..paths }, &["b", "c", "a"]).len(), 2);
    }

    #[test]
    fn nodes_are_always_the_same() {
        let frequencies = Frequencies::of_words(&[]);
        let paths = Paths { frequencies: &frequencies, depth: 5, suffixes: 1, sorted: false };
        assert_eq!(nodes(&paths, &["b", "a"]), [(5_807_994_850_583_796_178, 1.0), (14_121_060_092_745_020_463, 2.0)]);
        assert_eq!(nodes(&paths, &["b", "a"])[0].0, child(0, hash_token("b")));
    }

    #[test]
    fn a_long_sentence_takes_linear_time() {
        let frequencies = Frequencies::of_words(&[vec!["x"], vec!["y"]]);
        let started = Instant::now();
        for long in ["x".to_string(), "\u{301}".to_string(), String::new(), "a long word".repeat(10)] {
            let words: Vec<String> = (0..1_000_000).map(|i| format!("{long}{}", i % 1000)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            for sorted in [true, false] {
                let paths = Paths { frequencies: &frequencies, depth: 1000, suffixes: 100, sorted };
                assert!(nodes(&paths, &words).len() >= 1000);
            }
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    }

    fn sentences(most: usize) -> impl Strategy<Value = Document> {
        let word = prop::sample::select(vec!["a", "b", "c", "d", "e", "\u{301}", "我", ""]);
        prop::collection::vec(prop::collection::vec(word, 0..8), 0..most)
    }

    proptest! {
        #[test]
        fn the_join_is_the_tree(
            documents in prop::collection::vec(sentences(5), 1..5),
            reference in sentences(9),
            depth in 1_usize..7,
            suffixes in 1_usize..5,
            sorted: bool,
        ) {
            let frequencies = Frequencies::of_words(&reference);
            let paths = Paths { frequencies: &frequencies, depth, suffixes, sorted };
            let expected = in_a_tree(&documents, &idf_in(&reference), depth, suffixes, sorted);
            assert_close(&joined(&documents, &paths), &expected);
        }

        #[test]
        fn the_join_is_the_sum_over_pairs_of_sentences(
            a in sentences(5),
            c in sentences(5),
            reference in sentences(9),
            depth in 1_usize..7,
        ) {
            let frequencies = Frequencies::of_words(&reference);
            let paths = Paths { frequencies: &frequencies, depth, suffixes: 1, sorted: true };
            let expected = by_pairs_of_sentences(&a, &c, &idf_in(&reference), depth);
            let found = joined(&[a, c], &paths).get(&(0, 1)).copied().unwrap_or_default();
            prop_assert!((found - expected).abs() < 1e-5 * (100.0 + expected), "{found} {expected}");
        }
    }
}
