use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, StructArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Fields, Int32Type, UInt64Type};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, ScalarValue, exec_datafusion_err, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use hashbrown::{HashMap, HashSet};

use super::fingerprints::fingerprints_type;
use super::word_sequence::PART;
use crate::arguments::{as_index, constant, constant_count, constant_size, item, keep_constants};
use crate::text::Lists;

/// `common_runs(fingerprints, clusters, k, max_gap)`: the parts of a text that belong to a cluster of fingerprints.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "The parts of a text that clusters of fingerprints cover, such as a side bar that many pages have. \
                   Fingerprints of one cluster with at most `max_gap` words between them form a run. Fingerprints that \
                   are in no cluster are skipped. Runs of two clusters may overlap.\n\n\
                   Returns a list of structs in the order of the text: `cluster_id` (UInt64), `word_start`, `word_end` \
                   (Int32, half open, from the first word of its first fingerprint to the last word of its last), \
                   `fingerprints` (Int32, the number of different fingerprints in the run) and `within` (UInt64, the \
                   cluster of the first run of another cluster that contains the whole run, NULL if there is none). \
                   NULL if the argument `fingerprints` is NULL.",
    syntax_example = "common_runs(fingerprints, clusters, k, max_gap)",
    sql_example = r#"```sql
> SELECT unnest(common_runs(fingerprints(word_sequence('one two three four five'), 2, 1), (
    SELECT connected_components(f.fingerprint, f.fingerprint)
    FROM (SELECT unnest(fingerprints(word_sequence('two three'), 2, 1)) AS f)
  ), 2, 15))['word_start'] AS word_start;
+------------+
| word_start |
+------------+
| 1          |
+------------+
```"#,
    argument(name = "fingerprints", description = "Fingerprints of the text in order, as `fingerprints` gives them."),
    argument(
        name = "clusters",
        description = "The cluster of each fingerprint, `List<Struct<member UInt64, cluster_id UInt64>>`, as `connected_components` gives it; a constant."
    ),
    argument(name = "k", description = "The number of words in a fingerprint, from 1 to 1000; a constant."),
    argument(name = "max_gap", description = "The most words between two fingerprints of a run, from 0; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct CommonRuns {
    signature: Signature,
}

impl Default for CommonRuns {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

static RUN_FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    let words = PART.into_iter().chain(["fingerprints"]).map(|name| Field::new(name, DataType::Int32, true));
    let cluster = |name| std::iter::once(Field::new(name, DataType::UInt64, true));
    cluster("cluster_id").chain(words).chain(cluster("within")).collect()
});

/// Returns the type of a table of clusters.
fn clusters_type() -> DataType {
    let fields = ["member", "cluster_id"].map(|name| Field::new(name, DataType::UInt64, true)).to_vec();
    DataType::List(Arc::new(Field::new_list_field(DataType::Struct(fields.into()), true)))
}

impl ScalarUDFImpl for CommonRuns {
    fn name(&self) -> &str {
        "common_runs"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [fingerprints, clusters, _, _] = take_function_args(self.name(), given)?;
        let expected = [("fingerprints", fingerprints, fingerprints_type()), ("clusters", clusters, clusters_type())];
        let mut types = Vec::new();
        for (name, given, expected) in expected {
            let names = |list: &DataType| match item(list) {
                Some(DataType::Struct(fields)) => fields.iter().map(|field| field.name().clone()).collect(),
                _ => Vec::new(),
            };
            if !given.is_null() && names(given) != names(&expected) {
                return plan_err!(
                    "common_runs expects {expected} for {name}, got {given}; write fingerprints(sequence, …) and connected_components(a, b)"
                );
            }
            types.push(expected);
        }
        types.extend([DataType::Int64, DataType::Int64]);
        Ok(types)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Struct(RUN_FIELDS.clone()), true))))
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 1)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [fingerprints, clusters, k, max_gap] = take_function_args(self.name(), args.args)?;
        let most = i64::from(i32::MAX);
        let rules = Rules {
            k: constant_count(self.name(), "k", &k, 1000)?,
            max_gap: constant_size(self.name(), "max_gap", &max_gap, 0..=most)?,
        };
        let clusters = read_clusters(&clusters)?;
        let fingerprints = fingerprints.into_array(rows)?;
        Ok(ColumnarValue::Array(common_runs(&fingerprints, &clusters, rules)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Reads the cluster of each fingerprint.
fn read_clusters(clusters: &ColumnarValue) -> Result<HashMap<u64, u64>> {
    let ScalarValue::List(list) = constant("common_runs", "clusters", clusters)? else {
        return exec_err!("common_runs expects clusters as a constant");
    };
    let items = list.value(0);
    let [members, clusters] = [0, 1].map(|i| items.as_struct().column(i).as_primitive::<UInt64Type>());
    Ok(members.iter().zip(clusters).filter_map(|(member, cluster)| Some((member?, cluster?))).collect())
}

#[derive(Debug, Clone, Copy)]
struct Rules {
    k: usize,
    max_gap: usize,
}

/// The place of a fingerprint, and its cluster.
#[derive(Debug, Clone, Copy)]
struct Place {
    word: usize,
    hash: u64,
    cluster: u64,
}

/// A part of a text that a cluster covers.
#[derive(Debug)]
struct Run {
    cluster: u64,
    words: Range<usize>,
    fingerprints: HashSet<u64>,
    within: Option<u64>,
}

fn common_runs(fingerprints: &ArrayRef, clusters: &HashMap<u64, u64>, rules: Rules) -> Result<ArrayRef> {
    let given = fingerprints.as_list::<i32>();
    let items = given.values().as_struct();
    let (hashes, words) = (items.column(0).as_primitive::<UInt64Type>(), items.column(1).as_primitive::<Int32Type>());
    let mut lists = Lists::with_nulls("common_runs", given.len(), given.nulls().cloned());
    let (mut runs, mut places) = (Vec::new(), Vec::new());
    for row in 0..given.len() {
        if given.is_valid(row) {
            let offsets = given.value_offsets();
            places.clear();
            for k in as_index(offsets[row])..as_index(offsets[row + 1]) {
                let cluster = clusters.get(&hashes.value(k)).filter(|_| items.is_valid(k));
                let place =
                    |cluster: &u64| Place { word: as_index(words.value(k)), hash: hashes.value(k), cluster: *cluster };
                places.extend(cluster.map(place));
            }
            if !places.is_sorted_by_key(|place: &Place| place.word) {
                return exec_err!(
                    "common_runs: the fingerprints are not in the order of their words; give them as fingerprints(sequence, …) does"
                );
            }
            find_runs(&places, rules, &mut runs);
        }
        lists.end_row(runs.len())?;
    }
    let of = |number: fn(&Run) -> usize| -> Result<ArrayRef> {
        let numbers = runs.iter().map(|run| i32::try_from(number(run)).map(Some));
        let numbers = numbers.collect::<Result<Int32Array, _>>();
        Ok(Arc::new(numbers.map_err(|_| exec_datafusion_err!("common_runs: a text has more than {} words", i32::MAX))?))
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(runs.iter().map(|run| Some(run.cluster)).collect::<UInt64Array>()),
        of(|run| run.words.start)?,
        of(|run| run.words.end)?,
        of(|run| run.fingerprints.len())?,
        Arc::new(runs.iter().map(|run| run.within).collect::<UInt64Array>()),
    ];
    Ok(Arc::new(lists.finish(Arc::new(StructArray::try_new(RUN_FIELDS.clone(), columns, None)?))?))
}

/// Adds the runs of fingerprints to `runs`. The fingerprints are in order.
fn find_runs(places: &[Place], rules: Rules, runs: &mut Vec<Run>) {
    let begun = runs.len();
    // The last run of each cluster.
    let mut open = HashMap::<u64, usize>::new();
    for place in places {
        let words = place.word..place.word + rules.k;
        let near = open.get(&place.cluster).copied().filter(|&i| place.word <= runs[i].words.end + rules.max_gap);
        let i = near.unwrap_or(runs.len());
        if near.is_none() {
            open.insert(place.cluster, i);
            let (cluster, fingerprints) = (place.cluster, HashSet::new());
            runs.push(Run { cluster, words: words.clone(), fingerprints, within: None });
        }
        runs[i].words.end = words.end;
        runs[i].fingerprints.insert(place.hash);
    }
    find_outer(&mut runs[begun..]);
}

/// Sets `within` of each run to the cluster of the first run of another cluster that contains it. The runs are in the
/// order of their first words.
fn find_outer(runs: &mut [Run]) {
    // The runs that reach farther than all before them, so that their ends rise.
    let mut outer = Vec::<usize>::new();
    for i in 0..runs.len() {
        let Run { cluster, words, .. } = &runs[i];
        let from = outer.partition_point(|&k| runs[k].words.end < words.end);
        let first = outer[from..].iter().find(|&&k| runs[k].cluster != *cluster).map(|&k| runs[k].cluster);
        if from == outer.len() {
            outer.push(i);
        }
        runs[i].within = first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(places: &[(usize, u64)]) -> Vec<(u64, Range<usize>, usize)> {
        let place = |&(word, cluster): &(usize, u64)| Place { word, hash: (word % 20) as u64, cluster };
        let mut runs = Vec::new();
        let places: Vec<_> = places.iter().map(place).collect();
        find_runs(&places, Rules { k: 5, max_gap: 10 }, &mut runs);
        runs.into_iter().map(|run| (run.cluster, run.words, run.fingerprints.len())).collect()
    }

    #[test]
    fn runs_of_clusters_overlap() {
        let places = [(0, 7), (4, 7), (16, 8), (18, 7), (60, 8), (80, 8)];
        assert_eq!(find(&places), [(7, 0..23, 3), (8, 16..21, 1), (8, 60..65, 1), (8, 80..85, 1)]);
        assert_eq!(find(&[]), []);
    }

    #[test]
    fn a_run_knows_the_first_that_it_lies_in() {
        let within = |places: &[(usize, u64)]| {
            let places: Vec<_> = places.iter().map(|&(word, cluster)| Place { word, hash: 0, cluster }).collect();
            let mut runs = Vec::new();
            find_runs(&places, Rules { k: 5, max_gap: 10 }, &mut runs);
            runs.into_iter().map(|run| (run.cluster, run.within)).collect::<Vec<_>>()
        };
        let nested = [(0, 7), (2, 8), (4, 9), (10, 8), (14, 7), (20, 6), (22, 7), (24, 6)];
        assert_eq!(within(&nested), [(7, None), (8, Some(7)), (9, Some(7)), (6, None)]);
        assert_eq!(within(&[(0, 7), (2, 8), (40, 8)]), [(7, None), (8, None), (8, None)]);
    }

    #[test]
    fn a_run_ends_where_its_cluster_is_too_far() {
        let places = [(0, 7), (6, 8), (12, 8), (18, 8), (24, 7)];
        assert_eq!(find(&places), [(7, 0..5, 1), (8, 6..23, 3), (7, 24..29, 1)]);
    }
}
