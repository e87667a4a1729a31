//! `diagonals(a, b, …)`: an aggregate, and so a window function, over the matching sentence pairs of two documents.

use std::cmp::Ordering;
use std::mem::{size_of, size_of_val};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int32Array, ListArray, RecordBatch, StructArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Float64Type, Int32Type};
use datafusion_common::{Result, ScalarValue, exec_datafusion_err, exec_err, plan_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator, Signature, Volatility};
use datafusion_macros::user_doc;

use crate::arguments::{constant_integer, one_list};

/// `diagonals(a, b [, similarity [, seed [, weight]]], min_sentences, max_gap)`: the runs among the matching sentence pairs of two
/// documents.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "The runs of matching sentences of two documents, from the pairs (a, b) of the ordinals of matching \
                   sentences: PDC-MR's sequence matching, with gaps. A run goes forward in both documents and skips at \
                   most `max_gap` sentences on either side between two of its pairs. It has at least `min_sentences` \
                   pairs and at least one seed. Each pair belongs to at most one run. The run with the highest sum of \
                   similarities is taken first; of runs with equal sums, the one with fewer skipped sentences, then \
                   the first. With `max_gap` 0 the runs are the maximal diagonals of the paper.\n\n\
                   Returns a list of structs, ordered by place, empty if there is no run: `sent_a_start`, \
                   `sent_a_end`, `sent_b_start`, `sent_b_end` (Int32, ordinals, half open), `sentences` (Int32, the \
                   number of pairs in the run), `gaps` (Int32, the number of sentences skipped, on both sides \
                   together), `similarity` (Float64, the mean over the pairs), `weight` (Float64, the sum over the \
                   pairs). Rows with a NULL ordinal are left out; a repeated pair counts once, with its highest \
                   similarity and weight. As a window function, it returns the runs of the rows in the frame.",
    syntax_example = "diagonals(a, b [, similarity [, seed [, weight]]], min_sentences, max_gap)",
    sql_example = r#"```sql
> SELECT r['sent_a_start'] AS a_start, r['sent_a_end'] AS a_end, r['sent_b_start'] AS b_start, r['sent_b_end'] AS b_end,
    r['sentences'] AS sentences, r['gaps'] AS gaps
  FROM (SELECT unnest(diagonals(a, b, 3, 1)) AS r FROM (VALUES (4, 1), (5, 2), (7, 3), (9, 9)) AS t(a, b));
+---------+-------+---------+-------+-----------+------+
| a_start | a_end | b_start | b_end | sentences | gaps |
+---------+-------+---------+-------+-----------+------+
| 4       | 8     | 1       | 4     | 3         | 1    |
+---------+-------+---------+-------+-----------+------+
```"#,
    argument(name = "a", description = "The ordinal of the sentence in the first document, Int32."),
    argument(name = "b", description = "The ordinal of the matching sentence in the second document, Int32."),
    argument(
        name = "similarity",
        description = "The similarity of the two sentences, Float64; 1 if left out or NULL."
    ),
    argument(
        name = "seed",
        description = "True if the pair is a seed, of which a run needs at least one; false or NULL if it can only \
                       extend a run. True if left out."
    ),
    argument(name = "weight", description = "The weight of the pair, Float64; 1 if left out or NULL."),
    argument(name = "min_sentences", description = "The least number of pairs in a run, from 1; a constant."),
    argument(
        name = "max_gap",
        description = "The most sentences skipped on either side between two pairs, from 0 to 1000; a constant."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Diagonals {
    signature: Signature,
}

impl Default for Diagonals {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

static RUN_FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    let mut fields: Vec<Field> = ["sent_a_start", "sent_a_end", "sent_b_start", "sent_b_end", "sentences", "gaps"]
        .map(|name| Field::new(name, DataType::Int32, false))
        .to_vec();
    fields.extend(["similarity", "weight"].map(|name| Field::new(name, DataType::Float64, false)));
    fields.into()
});

fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, true)))
}

/// A point in the accumulator's state.
const POINT: [(&str, DataType); 5] = [
    ("a", DataType::Int32),
    ("b", DataType::Int32),
    ("similarity", DataType::Float64),
    ("seed", DataType::Boolean),
    ("weight", DataType::Float64),
];

impl AggregateUDFImpl for Diagonals {
    fn name(&self) -> &str {
        "diagonals"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        use DataType::{Boolean, Float64, Int32, Int64};
        match given.len() {
            4 => Ok(vec![Int32, Int32, Int64, Int64]),
            5 => Ok(vec![Int32, Int32, Float64, Int64, Int64]),
            6 => Ok(vec![Int32, Int32, Float64, Boolean, Int64, Int64]),
            7 => Ok(vec![Int32, Int32, Float64, Boolean, Float64, Int64, Int64]),
            n => {
                plan_err!(
                    "diagonals expects (a, b [, similarity [, seed [, weight]]], min_sentences, max_gap), got {n} arguments"
                )
            }
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(list_of(DataType::Struct(RUN_FIELDS.clone())))
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Points { rules: Rules::of(&args)?, points: Vec::new() }))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs) -> bool {
        true
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(GroupedPoints { rules: Rules::of(&args)?, groups: Vec::new(), reserved: 0 }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(POINT
            .into_iter()
            .map(|(name, item)| Arc::new(Field::new(format!("{}[{name}]", args.name), list_of(item), true)))
            .collect())
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// The rules that a run has to meet.
#[derive(Debug, Clone, Copy)]
struct Rules {
    min_sentences: i32,
    max_gap: i32,
}

impl Rules {
    /// Reads the rules from the last two arguments.
    fn of(args: &AccumulatorArgs) -> Result<Self> {
        let parameter = |from_end: usize, name: &str, range: std::ops::RangeInclusive<i64>| {
            // A constant is evaluated without rows.
            let no_rows = RecordBatch::new_empty(Arc::new(args.schema.clone()));
            let value = args.exprs[args.exprs.len() - from_end].evaluate(&no_rows)?;
            let n = constant_integer("diagonals", name, &value, range)?;
            i32::try_from(n).map_err(|e| exec_datafusion_err!("diagonals: {name} = {n}: {e}"))
        };
        Ok(Self {
            min_sentences: parameter(2, "min_sentences", 1..=i64::from(i32::MAX))?,
            max_gap: parameter(1, "max_gap", 0..=1000)?,
        })
    }
}

/// A pair of matching sentences.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    a: i32,
    b: i32,
    similarity: f64,
    seed: bool,
    weight: f64,
}

/// A run of pairs; ordinals are half open.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    a: (i32, i32),
    b: (i32, i32),
    sentences: i32,
    gaps: i32,
    similarity: f64,
    weight: f64,
}

/// Returns the pairs of the rows of the arguments, each with the number of its row.
fn points_of(values: &[ArrayRef]) -> impl Iterator<Item = (usize, Point)> {
    let (a, b) = (values[0].as_primitive::<Int32Type>(), values[1].as_primitive::<Int32Type>());
    // The last two are the parameters.
    let optional = &values[2..values.len() - 2];
    let similarity = optional.first().map(|array| array.as_primitive::<Float64Type>());
    let seed = optional.get(1).map(|array| array.as_boolean());
    let weight = optional.get(2).map(|array| array.as_primitive::<Float64Type>());
    let number = |array: Option<&Float64Array>, i: usize| match array {
        Some(array) if array.is_valid(i) => array.value(i),
        _ => 1.0,
    };
    (0..a.len()).filter(move |&i| a.is_valid(i) && b.is_valid(i)).map(move |i| {
        let seed = seed.is_none_or(|s| s.is_valid(i) && s.value(i));
        let (similarity, weight) = (number(similarity, i), number(weight, i));
        (i, Point { a: a.value(i), b: b.value(i), similarity, seed, weight })
    })
}

/// Calls `each` with each pair of the states, and the number of its row.
fn points_of_states(states: &[ArrayRef], mut each: impl FnMut(usize, Point)) {
    let lists: Vec<&ListArray> = states.iter().map(|state| state.as_list::<i32>()).collect();
    for row in (0..lists[0].len()).filter(|&row| lists[0].is_valid(row)) {
        let columns: Vec<ArrayRef> = lists.iter().map(|list| list.value(row)).collect();
        let (a, b) = (columns[0].as_primitive::<Int32Type>(), columns[1].as_primitive::<Int32Type>());
        let (similarity, seed) = (columns[2].as_primitive::<Float64Type>(), columns[3].as_boolean());
        let weight = columns[4].as_primitive::<Float64Type>();
        for i in 0..a.len() {
            let (similarity, seed, weight) = (similarity.value(i), seed.value(i), weight.value(i));
            each(row, Point { a: a.value(i), b: b.value(i), similarity, seed, weight });
        }
    }
}

/// Returns the columns of pairs in the accumulator's state.
fn state_columns<'a>(points: impl Iterator<Item = &'a Point> + Clone) -> [ArrayRef; 5] {
    [
        Arc::new(Int32Array::from_iter_values(points.clone().map(|p| p.a))),
        Arc::new(Int32Array::from_iter_values(points.clone().map(|p| p.b))),
        Arc::new(Float64Array::from_iter_values(points.clone().map(|p| p.similarity))),
        Arc::new(points.clone().map(|p| Some(p.seed)).collect::<BooleanArray>()),
        Arc::new(Float64Array::from_iter_values(points.map(|p| p.weight))),
    ]
}

fn runs_column(runs: &[Run]) -> Result<ArrayRef> {
    let int = |of: fn(&Run) -> i32| -> ArrayRef { Arc::new(runs.iter().map(of).collect::<Int32Array>()) };
    let columns = vec![
        int(|run| run.a.0),
        int(|run| run.a.1),
        int(|run| run.b.0),
        int(|run| run.b.1),
        int(|run| run.sentences),
        int(|run| run.gaps),
        Arc::new(Float64Array::from_iter_values(runs.iter().map(|run| run.similarity))),
        Arc::new(Float64Array::from_iter_values(runs.iter().map(|run| run.weight))),
    ];
    Ok(Arc::new(StructArray::try_new(RUN_FIELDS.clone(), columns, None)?))
}

/// The pairs of one group, or of one window frame.
#[derive(Debug)]
struct Points {
    rules: Rules,
    points: Vec<Point>,
}

impl Accumulator for Points {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.points.extend(points_of(values).map(|(_, point)| point));
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    /// Removes the first pairs: rows leave a frame in the order in which they came.
    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let leaving = points_of(values).count();
        self.points.drain(..leaving.min(self.points.len()));
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        one_list(runs_column(&find_runs(&self.points, self.rules))?)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.points.capacity() * size_of::<Point>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        state_columns(self.points.iter()).into_iter().map(one_list).collect()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        points_of_states(states, |_, point| self.points.push(point));
        Ok(())
    }
}

/// The pairs of all groups. The results of all groups become one array, not one array for each group.
#[derive(Debug)]
struct GroupedPoints {
    rules: Rules,
    groups: Vec<Vec<Point>>,
    /// The number of pairs that the groups have room for.
    reserved: usize,
}

impl GroupedPoints {
    fn push(&mut self, group: usize, point: Point) {
        let points = &mut self.groups[group];
        let before = points.capacity();
        points.push(point);
        self.reserved += points.capacity() - before;
    }

    fn take(&mut self, emit_to: EmitTo) -> Vec<Vec<Point>> {
        let groups = emit_to.take_needed(&mut self.groups);
        self.reserved -= groups.iter().map(Vec::capacity).sum::<usize>();
        groups
    }
}

/// Returns `items` as lists of the given lengths.
fn lists(lengths: &[usize], items: ArrayRef) -> Result<ArrayRef> {
    if i32::try_from(items.len()).is_err() {
        return exec_err!("diagonals: {} pairs at once; raise the number of partitions", items.len());
    }
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    Ok(Arc::new(ListArray::try_new(field, OffsetBuffer::from_lengths(lengths.iter().copied()), items, None)?))
}

impl GroupsAccumulator for GroupedPoints {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.groups.resize_with(total_num_groups, Vec::new);
        for (row, point) in points_of(values) {
            if opt_filter.is_none_or(|wanted| wanted.is_valid(row) && wanted.value(row)) {
                self.push(group_indices[row], point);
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.groups.resize_with(total_num_groups, Vec::new);
        points_of_states(values, |row, point| self.push(group_indices[row], point));
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let (mut runs, mut lengths) = (Vec::new(), Vec::new());
        for points in self.take(emit_to) {
            let of_group = find_runs(&points, self.rules);
            lengths.push(of_group.len());
            runs.extend(of_group);
        }
        lists(&lengths, runs_column(&runs)?)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let groups = self.take(emit_to);
        let lengths: Vec<usize> = groups.iter().map(Vec::len).collect();
        state_columns(groups.iter().flatten()).into_iter().map(|column| lists(&lengths, column)).collect()
    }

    fn convert_to_state(&self, values: &[ArrayRef], opt_filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = values[0].len();
        let mut each = Self { rules: self.rules, groups: Vec::new(), reserved: 0 };
        each.update_batch(values, &(0..rows).collect::<Vec<_>>(), opt_filter, rows)?;
        each.state(EmitTo::All)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.groups.capacity() * size_of::<Vec<Point>>() + self.reserved * size_of::<Point>()
    }
}

/// The best way to reach a point: the total similarity on the way, the sentences skipped, and the point before.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Chain {
    similarity: f64,
    gaps: i64,
    previous: Option<usize>,
}

impl Chain {
    /// Returns the chain of a point that can continue no other.
    fn alone(first: &Point) -> Self {
        Self { similarity: first.similarity, gaps: 0, previous: None }
    }
}

/// Returns the runs among `points`, in order of place.
///
/// Each point looks back for the best chain that it can continue, which takes one pass over the ordered points. Chains
/// share their beginnings, like the branches of a tree, so they are taken best first, and a chain that meets one
/// already taken waits for the next round, which looks at the points that are left. A chain too short to be a run is
/// used up like any other: whatever could have been made of its points would be shorter still.
fn find_runs(points: &[Point], rules: Rules) -> Vec<Run> {
    let mut left = in_order_without_repeats(points);
    let mut runs = Vec::new();
    while !left.is_empty() {
        let chains = best_chains(&left, rules.max_gap);
        let mut ends: Vec<usize> = (0..left.len()).collect();
        // A stable sort, so that the first of equals stays first.
        ends.sort_by(|&x, &y| better(&chains[y], &chains[x]));
        let mut taken = vec![false; left.len()];
        let mut way = Vec::new();
        for end in ends {
            way.clear();
            way.extend(std::iter::successors(Some(end), |&k| chains[k].previous).take_while(|&k| !taken[k]));
            if way.last().is_none_or(|&first| chains[first].previous.is_some()) {
                continue;
            }
            way.iter().for_each(|&k| taken[k] = true);
            runs.extend(run_of(&left, &way, &chains[end], rules.min_sentences));
        }
        let mut taken = taken.into_iter();
        left.retain(|_| !taken.next().unwrap_or(true));
    }
    runs.sort_by_key(|run| (run.a.0, run.b.0, run.a.1, run.b.1));
    runs
}

fn in_order_without_repeats(points: &[Point]) -> Vec<Point> {
    let mut ordered = points.to_vec();
    ordered.sort_by(|x, y| (x.a, x.b).cmp(&(y.a, y.b)).then(y.similarity.total_cmp(&x.similarity)));
    ordered.dedup_by(|repeat, kept| {
        let same = (repeat.a, repeat.b) == (kept.a, kept.b);
        if same {
            kept.seed |= repeat.seed;
            kept.weight = kept.weight.max(repeat.weight);
        }
        same
    });
    ordered
}

/// Compares two chains: greater if `x` is the better one.
fn better(x: &Chain, y: &Chain) -> Ordering {
    x.similarity.total_cmp(&y.similarity).then(y.gaps.cmp(&x.gaps))
}

/// Returns the distance of a point along the diagonals. A step from one point to another skips the difference of their
/// distances, less two.
fn distance(point: &Point) -> i64 {
    i64::from(point.a) + i64::from(point.b)
}

/// The number of steps of a scan, for each point, that take about as long as the tree does.
const SCAN_STEPS: usize = 64;

/// Returns the best chain that ends in each of the ordered `points`.
///
/// Where points are few and far between, a scan of all points before a point is fastest. Where that would take too
/// long, as in a text that says one thing over and over, a tree gives the same answer in O(log n).
fn best_chains(points: &[Point], max_gap: i32) -> Vec<Chain> {
    let reach = i64::from(max_gap) + 1;
    // The tree assumes that two similarities keep their order when the same number is added to both. ∞ - ∞ breaks that.
    let finite = points.iter().all(|p| p.similarity.is_finite());
    let steps = if finite { points.len().saturating_mul(SCAN_STEPS) } else { usize::MAX };
    chains_by_scan(points, reach, steps).unwrap_or_else(|| chains_by_tree(points, reach))
}

/// Returns the best chains, from a scan of all points in reach before each; `None` where it takes more than `steps`.
fn chains_by_scan(points: &[Point], reach: i64, mut steps: usize) -> Option<Vec<Chain>> {
    let mut chains: Vec<Chain> = Vec::with_capacity(points.len());
    let mut rows: Vec<Range<usize>> = Vec::new();
    let mut first_row = 0;
    for (k, point) in points.iter().enumerate() {
        match rows.last_mut() {
            Some(row) if points[row.start].a == point.a => row.end = k + 1,
            _ => rows.push(k..k + 1),
        }
        while i64::from(points[rows[first_row].start].a) + reach < i64::from(point.a) {
            first_row += 1;
        }
        let mut best: Option<Chain> = None;
        // The nearest first, so that the nearest of equals is kept.
        for row in rows[first_row..rows.len() - 1].iter().rev() {
            let before = &points[row.clone()];
            let from = before.partition_point(|p| i64::from(p.b) + reach < i64::from(point.b));
            let to = before.partition_point(|p| p.b < point.b);
            steps = steps.checked_sub(1 + to - from)?;
            for i in (row.start + from..row.start + to).rev() {
                let chain = Chain {
                    similarity: chains[i].similarity + point.similarity,
                    gaps: chains[i].gaps + distance(point) - distance(&points[i]) - 2,
                    previous: Some(i),
                };
                if best.is_none_or(|best| better(&chain, &best) == Ordering::Greater) {
                    best = Some(chain);
                }
            }
        }
        chains.push(best.unwrap_or(Chain::alone(point)));
    }
    Some(chains)
}

/// The leaf of a point in the order of `b`, and the leaves of the points in reach before it.
#[derive(Debug, Clone, Default)]
struct Place {
    leaf: usize,
    before: Range<usize>,
}

/// Returns the best chains, from a tree over the points by `b` that holds the points in reach by `a`.
fn chains_by_tree(points: &[Point], reach: i64) -> Vec<Chain> {
    let places = places(points, reach);
    let mut tree = Tree { nodes: vec![None; 2 * points.len()] };
    let mut chains: Vec<Chain> = Vec::with_capacity(points.len());
    let (mut entered, mut left) = (0, 0);
    for (point, place) in points.iter().zip(&places) {
        while points[entered].a < point.a {
            let Chain { similarity, gaps, .. } = chains[entered];
            let gaps = gaps - distance(&points[entered]);
            tree.set(places[entered].leaf, Some(Leader { similarity, gaps, end: entered, rival: None }));
            entered += 1;
        }
        while i64::from(points[left].a) + reach < i64::from(point.a) {
            tree.set(places[left].leaf, None);
            left += 1;
        }
        chains.push(match tree.best(&place.before, point.similarity) {
            Some(Leader { similarity, gaps, end, .. }) => {
                Chain { similarity, gaps: gaps + distance(point) - 2, previous: Some(end) }
            }
            None => Chain::alone(point),
        });
    }
    chains
}

fn places(points: &[Point], reach: i64) -> Vec<Place> {
    let mut by_b: Vec<usize> = (0..points.len()).collect();
    by_b.sort_by_key(|&k| points[k].b);
    let mut places = vec![Place::default(); points.len()];
    let mut before = 0..0;
    for (leaf, &k) in by_b.iter().enumerate() {
        while i64::from(points[by_b[before.start]].b) + reach < i64::from(points[k].b) {
            before.start += 1;
        }
        while points[by_b[before.end]].b < points[k].b {
            before.end += 1;
        }
        places[k] = Place { leaf, before: before.clone() };
    }
    places
}

/// The best chain to continue, of several.
#[derive(Debug, Clone, Copy)]
struct Leader {
    similarity: f64,
    /// The gaps of the chain less the distance of its end. Two such numbers compare like the gaps of the two chains
    /// after both are continued to the same point.
    gaps: i64,
    end: usize,
    /// Upper bound of the similarities of the chains that would be better if similarities were equal; `None` where
    /// there is no such chain. Two similarities can become equal when the same number is added to both and the sums are
    /// rounded.
    rival: Option<f64>,
}

impl Leader {
    /// Compares two chains: greater if this is the better one to continue. Of equals it is the one with fewer gaps,
    /// then the nearest.
    fn order(&self, other: &Self) -> Ordering {
        self.similarity.total_cmp(&other.similarity).then(self.order_of_equals(other))
    }

    fn order_of_equals(&self, other: &Self) -> Ordering {
        other.gaps.cmp(&self.gaps).then(self.end.cmp(&other.end))
    }

    /// Returns the leader of the chains that `x` and `y` lead.
    fn of(x: Option<Self>, y: Option<Self>) -> Option<Self> {
        let (Some(x), Some(y)) = (x, y) else { return x.or(y) };
        let (winner, loser) = if x.order(&y) == Ordering::Greater { (x, y) } else { (y, x) };
        let would_win = loser.order_of_equals(&winner) == Ordering::Greater;
        let rival = match (winner.rival, if would_win { Some(loser.similarity) } else { loser.rival }) {
            (Some(x), Some(y)) => Some(x.max(y)),
            (x, y) => x.or(y),
        };
        Some(Self { rival, ..winner })
    }
}

/// A segment tree: node `i` leads the nodes `2 i` and `2 i + 1`, and the last half of the nodes are the leaves.
struct Tree {
    nodes: Vec<Option<Leader>>,
}

impl Tree {
    fn set(&mut self, leaf: usize, leader: Option<Leader>) {
        let mut node = self.nodes.len() / 2 + leaf;
        self.nodes[node] = leader;
        while node > 1 {
            node /= 2;
            self.nodes[node] = Leader::of(self.nodes[2 * node], self.nodes[2 * node + 1]);
        }
    }

    /// Returns the best one of the leaves when `more` is added to each similarity.
    fn best(&self, leaves: &Range<usize>, more: f64) -> Option<Leader> {
        let (mut from, mut to) = (self.nodes.len() / 2 + leaves.start, self.nodes.len() / 2 + leaves.end);
        let mut best = None;
        while from < to {
            if from % 2 == 1 {
                best = self.best_below(from, more, best);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                best = self.best_below(to, more, best);
            }
            (from, to) = (from / 2, to / 2);
        }
        best
    }

    /// Returns the better one of `best` and the leaves below a node. Visits the leaves only where rounding can decide.
    fn best_below(&self, node: usize, more: f64, best: Option<Leader>) -> Option<Leader> {
        let Some(leader) = self.nodes[node] else { return best };
        let sum = Leader { similarity: leader.similarity + more, ..leader };
        let best = best.filter(|best| best.order(&sum) == Ordering::Greater).unwrap_or(sum);
        if leader.rival.is_some_and(|rival| rival + more >= best.similarity) {
            let best = self.best_below(2 * node, more, Some(best));
            return self.best_below(2 * node + 1, more, best);
        }
        Some(best)
    }
}

/// Returns the run along `way`, last point first, if it meets the rules.
fn run_of(points: &[Point], way: &[usize], chain: &Chain, min_sentences: i32) -> Option<Run> {
    let sentences = i32::try_from(way.len()).ok()?;
    let (last, first) = (points[*way.first()?], points[*way.last()?]);
    (sentences >= min_sentences && way.iter().any(|&k| points[k].seed)).then(|| Run {
        a: (first.a, last.a.saturating_add(1)),
        b: (first.b, last.b.saturating_add(1)),
        sentences,
        gaps: i32::try_from(chain.gaps).unwrap_or(i32::MAX),
        similarity: chain.similarity / f64::from(sentences),
        weight: way.iter().rev().fold(0.0, |sum, &k| sum + points[k].weight),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use arrow::array::new_null_array;
    use proptest::prelude::*;

    use super::*;

    /// Computes PDC-MR, Algorithm 2: follows the diagonal from each pair in turn as long as it lasts, and uses up the
    /// pairs of each run found.
    fn paper(points: &[Point], min_sentences: i32) -> Vec<(i32, i32, i32)> {
        let mut p: BTreeSet<(i32, i32)> = points.iter().map(|p| (p.a, p.b)).collect();
        let mut found = Vec::new();
        for root in p.clone() {
            let (mut i, mut j) = root;
            let mut d = Vec::new();
            while p.contains(&(i, j)) {
                d.push((i, j));
                (i, j) = (i + 1, j + 1);
            }
            let length = i32::try_from(d.len()).unwrap();
            if length >= min_sentences {
                found.push((root.0, root.1, length));
                d.iter().for_each(|pair| assert!(p.remove(pair)));
            }
        }
        found
    }

    fn points(pairs: &[(i32, i32)]) -> Vec<Point> {
        pairs.iter().map(|&(a, b)| Point { a, b, similarity: 1.0, seed: true, weight: 1.0 }).collect()
    }

    fn runs(pairs: &[(i32, i32)], min_sentences: i32, max_gap: i32) -> Vec<(i32, i32, i32, i32, i32)> {
        find_runs(&points(pairs), Rules { min_sentences, max_gap })
            .iter()
            .map(|run| (run.a.0, run.a.1, run.b.0, run.b.1, run.sentences))
            .collect()
    }

    #[test]
    fn gaps_on_either_side_are_bridged_up_to_the_limit() {
        let pairs = [(0, 10), (1, 11), (3, 12), (4, 14)];
        assert_eq!(runs(&pairs, 2, 0), [(0, 2, 10, 12, 2)]);
        assert_eq!(runs(&pairs, 2, 1), [(0, 5, 10, 15, 4)]);
    }

    #[test]
    fn a_repeated_sentence_does_not_tear_a_run_apart() {
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)];
        assert_eq!(runs(&pairs, 3, 1), [(0, 3, 0, 3, 3)]);
    }

    #[test]
    fn what_only_extends_founds_no_run() {
        let mut extending = points(&[(0, 0), (1, 1), (2, 2)]);
        extending.iter_mut().for_each(|p| p.seed = false);
        let rules = Rules { min_sentences: 3, max_gap: 0 };
        assert!(find_runs(&extending, rules).is_empty());
        extending[1].seed = true;
        assert_eq!(find_runs(&extending, rules).len(), 1);
    }

    #[test]
    fn ordinals_at_the_ends_of_their_range_do_not_overflow() {
        assert_eq!(runs(&[(i32::MIN, i32::MIN), (i32::MAX, i32::MAX)], 2, 1000), []);
    }

    /// Returns the points of two documents of `side` sentences that are all the same.
    fn everywhere(side: i32) -> Vec<Point> {
        points(&(0..side * side).map(|v| (v / side, v % side)).collect::<Vec<_>>())
    }

    #[test]
    fn infinite_similarities_give_the_chains_of_the_scan_however_many_there_are() {
        let mut plot = everywhere(20);
        for (point, similarity) in plot.iter_mut().zip([f64::INFINITY, 1.0, f64::NEG_INFINITY].into_iter().cycle()) {
            point.similarity = similarity;
        }
        let previous = |chains: Vec<Chain>| chains.iter().map(|chain| chain.previous).collect::<Vec<_>>();
        let scanned = chains_by_scan(&plot, 1001, usize::MAX).unwrap();
        assert_eq!(previous(best_chains(&plot, 1000)), previous(scanned));
    }

    #[test]
    fn a_sentence_that_stands_everywhere_takes_no_longer_with_a_large_gap() {
        let side = 400;
        let found = find_runs(&everywhere(side), Rules { min_sentences: 3, max_gap: 1000 });
        // Every diagonal but the two in either corner that are too short.
        let starts = (0..side - 2).map(|b| (0, b)).chain((1..side - 2).map(|a| (a, 0)));
        let expected: Vec<_> = starts.map(|(a, b)| (a, b, side - a.max(b), 0)).collect();
        assert_eq!(found.iter().map(|run| (run.a.0, run.b.0, run.sentences, run.gaps)).collect::<Vec<_>>(), expected);
    }

    /// Generates points near to each other and far apart, with similarities whose sums are rounded.
    fn uneven_plot() -> impl Strategy<Value = Vec<Point>> {
        let similarity = prop::sample::select(vec![0.0_f64, 0.1, 0.2, 0.3, 0.7, 1.0, 1e16]);
        let stretch = prop::sample::select(vec![1_i32, 1, 300, 100_000_000]);
        let point = (-12..12_i32, -12..12_i32, similarity);
        (prop::collection::vec(point, 0..120), stretch.clone(), stretch).prop_map(|(points, by_a, by_b)| {
            points
                .into_iter()
                .map(|(a, b, similarity)| Point { a: a * by_a, b: b * by_b, similarity, seed: true, weight: 1.0 })
                .collect()
        })
    }

    fn dot_plot() -> impl Strategy<Value = Vec<Point>> {
        let point = (0..12, 0..12, 1..=4_u8, any::<bool>());
        prop::collection::vec(point, 0..60).prop_map(|points| {
            points
                .into_iter()
                .map(|(a, b, quarters, seed)| Point { a, b, similarity: f64::from(quarters) / 4.0, seed, weight: 1.0 })
                .collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn without_gaps_it_is_the_papers_algorithm(mut plot in dot_plot(), min_sentences in 1..4) {
            plot.iter_mut().for_each(|p| p.seed = true);
            let ours: Vec<_> = find_runs(&plot, Rules { min_sentences, max_gap: 0 })
                .iter()
                .map(|run| (run.a.0, run.b.0, run.sentences))
                .collect();
            prop_assert_eq!(ours, paper(&plot, min_sentences));
        }

        #[test]
        fn the_tree_finds_the_chains_of_the_scan(
            plot in uneven_plot(),
            max_gap in prop::sample::select(vec![0_i32, 1, 2, 5, 300, 1000, i32::MAX]),
        ) {
            let (points, reach) = (in_order_without_repeats(&plot), i64::from(max_gap) + 1);
            prop_assert_eq!(Some(chains_by_tree(&points, reach)), chains_by_scan(&points, reach, usize::MAX));
        }

        #[test]
        fn groups_give_what_each_gives_alone(plot in dot_plot(), of in prop::collection::vec(0..4_usize, 60), at in 0..60_usize) {
            let rules = Rules { min_sentences: 2, max_gap: 1 };
            let grouped = || GroupedPoints { rules, groups: Vec::new(), reserved: 0 };
            let mut values = state_columns(plot.iter()).to_vec();
            values.extend([(); 2].map(|()| new_null_array(&DataType::Int64, plot.len())));
            let (of, at) = (&of[..plot.len()], at.min(plot.len()));
            let part = |from: usize, to: usize| values.iter().map(|column| column.slice(from, to - from)).collect::<Vec<_>>();
            let (mut whole, mut merged, mut converted) = (grouped(), grouped(), grouped());
            whole.update_batch(&values, of, None, 4).unwrap();
            for (from, to) in [(0, at), (at, plot.len())] {
                let mut partial = grouped();
                partial.update_batch(&part(from, to), &of[from..to], None, 4).unwrap();
                for groups in [[0, 1], [2, 3]] {
                    merged.merge_batch(&partial.state(EmitTo::First(2)).unwrap(), &groups, 4).unwrap();
                }
            }
            converted.merge_batch(&whole.convert_to_state(&values, None).unwrap(), of, 4).unwrap();
            let alone = (0..4).map(|group| {
                let points: Vec<_> = plot.iter().zip(of).filter(|(_, of)| **of == group).map(|(point, _)| *point).collect();
                find_runs(&points, rules)
            });
            let alone: Vec<_> = alone.collect();
            let lengths: Vec<_> = alone.iter().map(Vec::len).collect();
            let expected = lists(&lengths, runs_column(&alone.concat()).unwrap()).unwrap();
            for mut grouped in [whole, merged, converted] {
                prop_assert_eq!(&grouped.evaluate(EmitTo::All).unwrap(), &expected);
                prop_assert_eq!(grouped.reserved, 0);
            }
        }

        #[test]
        fn runs_keep_the_rules_and_share_no_pair(plot in dot_plot(), min_sentences in 1..4, max_gap in 0..4) {
            let pairs: BTreeSet<_> = plot.iter().map(|p| (p.a, p.b)).collect();
            let found = find_runs(&plot, Rules { min_sentences, max_gap });
            let used: i32 = found.iter().map(|run| run.sentences).sum();
            prop_assert!(usize::try_from(used).unwrap() <= pairs.len());
            for run in &found {
                prop_assert!(run.sentences >= min_sentences);
                prop_assert!(pairs.contains(&(run.a.0, run.b.0)) && pairs.contains(&(run.a.1 - 1, run.b.1 - 1)));
                prop_assert_eq!(run.gaps, (run.a.1 - run.a.0) + (run.b.1 - run.b.0) - 2 * run.sentences);
                prop_assert!(run.gaps <= 2 * max_gap * (run.sentences - 1));
                prop_assert!(run.similarity > 0.0 && run.similarity <= 1.0);
            }
        }

        #[test]
        fn the_longest_run_is_found(plot in dot_plot(), max_gap in 0..4) {
            let plot: Vec<_> = plot.into_iter().map(|p| Point { similarity: 1.0, seed: true, ..p }).collect();
            let longest = find_runs(&plot, Rules { min_sentences: 1, max_gap }).iter().map(|run| run.sentences).max();
            prop_assert_eq!(longest.unwrap_or(0), longest_chain(&plot, max_gap));
        }

        #[test]
        fn the_order_of_rows_does_not_matter(plot in dot_plot().prop_shuffle(), max_gap in 0..4) {
            let rules = Rules { min_sentences: 1, max_gap };
            let mut backwards = plot.clone();
            backwards.reverse();
            prop_assert_eq!(find_runs(&plot, rules), find_runs(&backwards, rules));
        }
    }

    /// Returns the most pairs in any chain, by trying every step.
    fn longest_chain(plot: &[Point], max_gap: i32) -> i32 {
        let pairs: BTreeSet<_> = plot.iter().map(|p| (p.a, p.b)).collect();
        let mut longest = std::collections::BTreeMap::new();
        for &(a, b) in &pairs {
            let before = longest
                .iter()
                .filter(|((x, y), _)| (1..=max_gap + 1).contains(&(a - x)) && (1..=max_gap + 1).contains(&(b - y)));
            let best: i32 = before.map(|(_, &length)| length).max().unwrap_or(0);
            longest.insert((a, b), best + 1);
        }
        longest.into_values().max().unwrap_or(0)
    }
}
