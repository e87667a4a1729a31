//! The planned similarity join, compared with the nested loop.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::arrow::array::{Array, Int64Array, ListArray, RecordBatch, StringArray};
use datafusion::arrow::datatypes::UInt64Type;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::common::{Result, ScalarValue, resources_err};
use datafusion::execution::memory_pool::{MemoryLimit, MemoryPool, MemoryReservation};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::bytes::{
    logical_plan_from_bytes_with_extension_codec, logical_plan_to_bytes_with_extension_codec,
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use ibid::IbidCodec;
use proptest::prelude::*;

use crate::program::times;

/// `(id, lang, set)`
type Row = (i64, Option<&'static str>, Option<Vec<u64>>);

#[derive(Debug, Clone)]
struct Rows(Vec<Row>);

impl Rows {
    fn batch(&self) -> RecordBatch {
        let id: Int64Array = self.0.iter().map(|row| Some(row.0)).collect();
        let lang: StringArray = self.0.iter().map(|row| row.1).collect();
        let set = ListArray::from_iter_primitive::<UInt64Type, _, _>(
            self.0.iter().map(|row| row.2.as_ref().map(|set| set.iter().map(|&x| Some(x)).collect::<Vec<_>>())),
        );
        let columns: [(&str, Arc<dyn Array>, bool); 3] =
            [("id", Arc::new(id), true), ("lang", Arc::new(lang), true), ("set", Arc::new(set), true)];
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }
}

fn rows() -> impl Strategy<Value = Rows> {
    let set = prop_oneof![
        1 => Just(None),
        9 => prop::collection::btree_set(0..24_u64, 0..14).prop_map(|set| Some(set.into_iter().collect())),
    ];
    let lang = prop_oneof![Just(None), Just(Some("en")), Just(Some("zh"))];
    // Few ids, so that rows repeat.
    prop::collection::vec((0..30_i64, lang, set), 0..40).prop_map(Rows)
}

fn predicate() -> impl Strategy<Value = String> {
    let threshold = prop_oneof![
        Just(0.1),
        Just(0.28),
        Just(0.5),
        Just(0.56),
        Just(2.0 / 3.0),
        Just(0.75),
        Just(0.8),
        Just(0.9),
        Just(1.0)
    ];
    let ratio = (prop::sample::select(vec!["jaccard", "containment", "dice", "cosine"]), threshold)
        .prop_map(|(f, t)| (f, format!("{t:?}")));
    let count = (0..6_i64).prop_map(|c| ("overlap", c.to_string()));
    let arguments = prop::sample::select(vec!["a.set, b.set", "b.set, a.set"]);
    let similarity = (prop_oneof![ratio, count], arguments, prop::sample::select(vec![">=", ">", "<=", "<"])).prop_map(
        |((function, threshold), arguments, operator)| match operator {
            ">=" | ">" => format!("{function}({arguments}) {operator} {threshold}"),
            _ => format!("{threshold} {operator} {function}({arguments})"),
        },
    );
    // Ids become codes in which few bits differ, and codes of one byte, in which all bits may differ.
    let codes = prop::sample::select(vec![
        "hamming(a.id, b.id) <= {k}",
        "{k} > hamming(b.id * 129, a.id * 129)",
        "jaccard(b.set, a.set) >= 0.3 AND hamming(a.id, b.id) <= {k}",
        "hamming(arrow_cast(a.id, 'Int8'), arrow_cast(b.id, 'Int8')) = {k}",
    ]);
    let distance = (codes, 0..10_i64).prop_map(|(condition, k): (&str, i64)| condition.replace("{k}", &k.to_string()));
    let residual = prop::sample::select(vec!["", " AND a.id < b.id", " AND a.lang = b.lang", " AND a.lang <> b.lang"]);
    // Conditions on other sets of the same rows.
    let firsts = prop::sample::select(vec![1_u64, 2, 3])
        .prop_map(|n| format!("overlap(array_slice(a.set, 1, 3), array_slice(b.set, 1, 3)) >= {n}"));
    let one = prop_oneof![5 => similarity, 1 => distance, 1 => firsts];
    let one = (one, residual.clone()).prop_map(|(condition, residual)| condition + residual);
    let any = prop::collection::vec(one.clone(), 2..4).prop_map(|any| format!("({})", any.join(" OR ")));
    let any = (any, residual).prop_map(|(condition, residual)| condition + residual);
    prop_oneof![2 => one, 1 => any]
}

/// A memory pool that refuses the `nth` reservation of the join.
#[derive(Debug)]
struct Reluctant {
    nth: usize,
    asked: AtomicUsize,
    refused: AtomicUsize,
    /// Refuses all reservations of what can spill, too.
    has_all_spilled: bool,
    /// The limit that the pool reports.
    limit: usize,
}

impl fmt::Display for Reluctant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reluctant")
    }
}

impl MemoryPool for Reluctant {
    fn name(&self) -> &str {
        "reluctant"
    }

    fn grow(&self, _: &MemoryReservation, _: usize) {}

    fn shrink(&self, _: &MemoryReservation, _: usize) {}

    fn try_grow(&self, reservation: &MemoryReservation, _: usize) -> Result<()> {
        if reservation.consumer().name() != "SimilarityJoin" {
            return Ok(());
        }
        let is_nth = self.asked.fetch_add(1, Ordering::Relaxed) == self.nth;
        let spills = self.has_all_spilled && reservation.consumer().can_spill();
        if is_nth || spills {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return resources_err!("refused");
        }
        Ok(())
    }

    fn reserved(&self) -> usize {
        0
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.limit)
    }
}

async fn session(strategy: &str, partitions: usize, batch_size: usize, a: &Rows, b: &Rows) -> SessionContext {
    session_in(Default::default(), strategy, partitions, batch_size, a, b).await
}

async fn session_in(
    runtime: Arc<RuntimeEnv>,
    strategy: &str,
    partitions: usize,
    batch_size: usize,
    a: &Rows,
    b: &Rows,
) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(batch_size);
    let session = ibid::session(config, runtime).unwrap();
    session.sql(&format!("SET ibid.similarity_join.strategy = {strategy}")).await.unwrap();
    for (name, rows) in [("a", a), ("b", b)] {
        session.register_batch(name, rows.batch()).unwrap();
    }
    session
}

/// Joins of two inputs and of one with itself: inner, outer, semi and anti joins, also of only some rows, or of no
/// columns.
const FROM: [&str; 14] = [
    "SELECT * FROM a JOIN b ON {condition}",
    "SELECT * FROM a JOIN a AS b ON {condition}",
    "SELECT count(*) FROM a JOIN b ON {condition}",
    "SELECT b.id + a.id FROM (SELECT * FROM a WHERE id > 3) AS a JOIN a AS b ON {condition}",
    "SELECT * FROM a LEFT SEMI JOIN b ON {condition}",
    "SELECT id, lang FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE {condition})",
    "SELECT a.id FROM a LEFT ANTI JOIN a AS b ON {condition}",
    "SELECT id FROM a WHERE lang NOT IN (SELECT lang FROM b WHERE {condition})",
    "SELECT * FROM a LEFT JOIN b ON {condition}",
    "SELECT b.set, a.id FROM a RIGHT JOIN b ON a.id > 9 AND b.lang = 'en' AND {condition}",
    "SELECT a.id, b.lang FROM a FULL JOIN a AS b ON {condition}",
    "SELECT count(b.id), count(*) FROM a FULL JOIN b ON {condition}",
    "SELECT * FROM a RIGHT SEMI JOIN b ON {condition}",
    "SELECT id FROM a RIGHT ANTI JOIN b ON {condition}",
];

async fn answer(session: &SessionContext, sql: &str) -> String {
    lines(&session.sql(sql).await.unwrap().collect().await.unwrap())
}

/// Returns the answer of a session without ibid that gets the serialized plan.
async fn answer_elsewhere(session: &SessionContext, sql: &str) -> String {
    let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let (sent, elsewhere) = sent(session, &plan);
    assert_eq!(
        displayable(sent.as_ref()).indent(true).to_string(),
        displayable(plan.as_ref()).indent(true).to_string()
    );
    lines(&collect(sent, elsewhere.task_ctx()).await.unwrap())
}

/// Sends a plan to a session without ibid.
fn sent(session: &SessionContext, plan: &Arc<dyn ExecutionPlan>) -> (Arc<dyn ExecutionPlan>, SessionContext) {
    let bytes = physical_plan_to_bytes_with_extension_codec(Arc::clone(plan), &IbidCodec::default()).unwrap();
    let elsewhere = SessionContext::new_with_config(session.copied_config());
    let sent = physical_plan_from_bytes_with_extension_codec(&bytes, &elsewhere.task_ctx(), &IbidCodec::default());
    (sent.unwrap(), elsewhere)
}

/// Returns the rows, sorted.
fn lines(batches: &[RecordBatch]) -> String {
    let text = pretty_format_batches(batches).unwrap().to_string();
    // Removes the frame and the names, which an answer without batches does not have.
    let mut lines: Vec<_> = text.lines().filter(|line| !line.starts_with('+')).skip(1).collect();
    lines.sort_unstable();
    lines.join("\n")
}

async fn plan(session: &SessionContext, condition: &str) -> String {
    let sql = format!("SELECT a.id, b.id FROM a JOIN b ON {condition}");
    session.sql(&sql).await.unwrap().into_optimized_plan().unwrap().display_indent().to_string()
}

#[test]
fn every_strategy_gives_the_rows_of_the_nested_loop() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let shape = (prop::sample::select(vec![1, 3, 16]), prop::sample::select(vec![1, 7, 8192]));
    let cases = u32::try_from(times("IBID_CASES", 20)).unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..Default::default()
    });
    runner
        .run(&(rows(), rows(), predicate(), shape), |(a, b, condition, (partitions, batch_size))| {
            for from in FROM {
                let sql = from.replace("{condition}", &condition);
                let run = |strategy, partitions, batch_size| {
                    runtime.block_on(async {
                        answer(&session(strategy, partitions, batch_size, &a, &b).await, &sql).await
                    })
                };
                let slow = run("nested_loop", 1, 8192);
                for strategy in ["lowered", "operator", "distributed", "bitmap", "auto"] {
                    let fast = run(strategy, partitions, batch_size);
                    prop_assert_eq!(&fast, &slow, "{} {}", strategy, sql);
                }
                for rows in [1, 2] {
                    let split = runtime.block_on(async {
                        let session = session("distributed", partitions, batch_size, &a, &b).await;
                        session.sql(&format!("SET ibid.similarity_join.split_rows = {rows}")).await.unwrap();
                        answer(&session, &sql).await
                    });
                    prop_assert_eq!(&split, &slow, "blocks of {} {}", rows, sql);
                }
                for filter in ["prefix", "count", "position", "bitmap"] {
                    let unfiltered = runtime.block_on(async {
                        let session = session("operator", partitions, batch_size, &a, &b).await;
                        let off = format!("SET ibid.similarity_join.filters.{filter} = false");
                        session.sql(&off).await.unwrap();
                        answer(&session, &sql).await
                    });
                    prop_assert_eq!(&unfiltered, &slow, "without {} {}", filter, sql);
                }
                let sent = runtime.block_on(async {
                    answer_elsewhere(&session("operator", partitions, batch_size, &a, &b).await, &sql).await
                });
                prop_assert_eq!(&sent, &slow, "sent {}", sql);
            }
            Ok(())
        })
        .unwrap();
}

/// Memory runs out at any moment: while the inputs are read, or before the index is built. The rows spill into any
/// number of shares or blocks.
#[test]
fn the_operator_gives_the_same_rows_from_disk() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let shape = (prop::sample::select(vec![1, 3]), prop::sample::select(vec![1, 7, 8192]));
    let memory = (0..12_usize, prop::sample::select(vec![1 << 11, 1 << 14, 1 << 17, 1 << 30]));
    let cases = u32::try_from(times("IBID_CASES", 4)).unwrap();
    let config = ProptestConfig { cases, failure_persistence: None, ..Default::default() };
    let spilled = [AtomicUsize::new(0), AtomicUsize::new(0)];
    proptest::test_runner::TestRunner::new(config)
        .run(
            &(rows(), rows(), predicate(), shape, memory),
            |(a, b, condition, (partitions, batch_size), (nth, limit))| {
                for from in FROM {
                    let sql = from.replace("{condition}", &condition);
                    let slow =
                        runtime.block_on(async { answer(&session("nested_loop", 1, 8192, &a, &b).await, &sql).await });
                    // Shares are joined one after the other, so that what is asked for later may be needed in memory.
                    for (strategy, nth) in [("operator", nth), ("distributed", usize::MAX)] {
                        let has_all_spilled = nth == usize::MAX;
                        let fast = runtime.block_on(async {
                            let (asked, refused) = Default::default();
                            let pool = Arc::new(Reluctant { nth, asked, refused, has_all_spilled, limit });
                            let shared: Arc<dyn MemoryPool> = Arc::<Reluctant>::clone(&pool);
                            let memory = RuntimeEnvBuilder::new().with_memory_pool(shared).build_arc().unwrap();
                            let session = session_in(memory, strategy, partitions, batch_size, &a, &b).await;
                            session.sql("SET ibid.similarity_join.split_rows = 2").await.unwrap();
                            let fast = answer(&session, &sql).await;
                            let is_spilled = pool.refused.load(Ordering::Relaxed) > 0;
                            spilled[usize::from(has_all_spilled)].fetch_add(usize::from(is_spilled), Ordering::Relaxed);
                            fast
                        });
                        prop_assert_eq!(&fast, &slow, "{} {}", strategy, sql);
                    }
                }
                Ok(())
            },
        )
        .unwrap();
    let least = if cases < 60 { cases as usize / 2 } else { 60 };
    assert!(spilled.iter().all(|spilled| spilled.load(Ordering::Relaxed) > least), "{spilled:?}");
}

/// One task once compared all of them, whatever the number of shares.
#[tokio::test]
async fn the_rows_of_one_element_are_compared_in_several_shares() {
    // All rows show the element 1, and nothing else that another row has.
    let rows = Rows((0..2000_i64).map(|id| (id, None, Some(vec![1, 2 + id.unsigned_abs()]))).collect());
    let most = async |split_rows: usize, join: &str| {
        let session = session("distributed", 8, 512, &rows, &rows).await;
        session.sql(&format!("SET ibid.similarity_join.split_rows = {split_rows}")).await.unwrap();
        let sql = format!("SELECT a.id FROM {join} ON overlap(a.set, b.set) >= 1 AND abs(a.id - b.id) < 10");
        let plan = session.sql(&sql).await.unwrap().create_physical_plan().await.unwrap();
        let (plan, elsewhere) = sent(&session, &plan);
        let found = collect(Arc::clone(&plan), elsewhere.task_ctx()).await.unwrap();
        assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 2000 * 19 - 90);
        let metrics = plan.metrics().unwrap();
        let candidates: Vec<_> = metrics.iter().map(|metric| metric.value()).collect();
        let candidates = candidates.iter().filter(|value| value.name() == "candidates").map(|value| value.as_usize());
        let candidates: Vec<_> = candidates.collect();
        (candidates.iter().sum::<usize>(), candidates.into_iter().max().unwrap())
    };
    for join in ["a JOIN a AS b", "a JOIN b"] {
        let (all, largest) = most(0, join).await;
        assert!(largest > all / 10 * 9, "{join}: {largest} of {all}");
        let (split, largest) = most(100, join).await;
        assert_eq!(split, all);
        assert!(largest < all / 2, "{join}: {largest} of {all}");
    }
}

/// Sets whose rare elements are in no other set show no element. Regression: all of them were in one share.
#[tokio::test]
async fn sets_that_show_nothing_are_spread_over_the_shares() {
    let rows = Rows(
        (0..20_000_i64).map(|id| (id, None, Some(vec![id.unsigned_abs(), 1 << 40 | id.unsigned_abs()]))).collect(),
    );
    let memory = RuntimeEnvBuilder::new().with_memory_limit(2 << 20, 1.0).build_arc().unwrap();
    let session = session_in(memory, "operator", 1, 1024, &rows, &rows).await;
    let any = "overlap(a.set, b.set) > 2 OR jaccard(a.set, b.set) >= 0.8 OR dice(a.set, b.set) > 0.9 AND a.id < b.id";
    for join in ["a JOIN a AS b ON jaccard(a.set, b.set) >= 0.8", &format!("a FULL JOIN a AS b ON {any}")] {
        let sql = format!("SELECT a.id FROM {join}");
        let plan = session.sql(&sql).await.unwrap().create_physical_plan().await.unwrap();
        let found = collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
        assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 20_000);
        assert!(plan.metrics().unwrap().spilled_rows().unwrap() > 20_000);
    }
}

/// Runs a query with `memory` bytes. Returns the number of rows, and the value of a metric of the join.
async fn count_within(memory: usize, rows: &Rows, sql: &str, metric: &str) -> (usize, usize) {
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(memory, 1.0).build_arc().unwrap();
    let session = session_in(runtime, "operator", 2, 512, rows, rows).await;
    let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let found = collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
    let metric = plan.metrics().unwrap().sum_by_name(metric).map_or(0, |metric| metric.as_usize());
    (found.iter().map(RecordBatch::num_rows).sum(), metric)
}

/// Regression: all rows had to be in memory at once, because they are in one share.
#[tokio::test]
async fn the_rows_of_one_element_are_joined_in_blocks() {
    let rows = Rows((0..2000_i64).map(|id| (id, None, Some(vec![1, 2, 3 + id.unsigned_abs()]))).collect());
    let sql = "SELECT a.id FROM a JOIN b ON overlap(a.set, b.set) >= 1 AND a.id % 100 = b.id % 100";
    let (found, blocks) = count_within(128 << 10, &rows, sql, "blocks").await;
    assert_eq!(found, 2000 * 20);
    assert!(blocks > 4, "{blocks}");
}

/// A row shows dozens of elements, so it would be in nearly all shares.
#[tokio::test]
async fn long_sets_are_joined_in_blocks_of_about_one_size() {
    // From 20 to 299 elements; each family of three has 90 % in common.
    let set = |id: u64| {
        let (family, size) = (id / 3, 20 + id / 3 * 7 % 280);
        let own = 1_000_000 * (id + 1)..1_000_000 * (id + 1) + size / 20;
        (family * 1000..family * 1000 + size - size / 20).chain(own).collect::<Vec<_>>()
    };
    let rows = Rows((0..1500_u32).map(|id| (i64::from(id), None, Some(set(u64::from(id))))).collect());
    for (from, pairs) in [
        ("a JOIN a AS b ON jaccard(a.set, b.set) >= 0.8", 4500),
        ("a JOIN b ON jaccard(a.set, b.set) >= 0.8 AND a.id <> b.id", 3000),
        ("a JOIN a AS b ON containment(a.set, b.set) >= 0.9", 4500),
        ("a LEFT SEMI JOIN b ON jaccard(a.set, b.set) >= 0.8 AND a.id < b.id", 1000),
    ] {
        let sql = format!("SELECT a.id FROM {from}");
        assert_eq!(count_within(1 << 30, &rows, &sql, "blocks").await, (pairs, 0), "{sql}");
        let (found, joined) = count_within(2 << 20, &rows, &sql, "pairs_of_blocks").await;
        let (_, blocks) = count_within(2 << 20, &rows, &sql, "blocks").await;
        assert_eq!(found, pairs, "{sql}");
        assert!(blocks > 4, "{blocks} {sql}");
        if sql.contains("jaccard") {
            assert!(3 * joined < 2 * blocks * blocks, "{joined} pairs of {blocks} blocks: {sql}");
        }
    }
}

/// Sets of all sizes may match, so blocks would be read too often.
#[tokio::test]
async fn sets_that_share_much_are_joined_in_many_shares() {
    // Any two sets at a distance of up to eight have one element in common, which no other set has.
    let set = |id: u64| {
        (1..=8)
            .flat_map(move |d| [10 * (id + 8) + d, 10 * (id + 8 - d) + d])
            .chain(1_000_000 * (id + 1)..1_000_000 * (id + 1) + id % 20)
    };
    let rows = (0..12_000_u32).map(|id| {
        let set: std::collections::BTreeSet<_> = set(u64::from(id)).map(|element| element * 0x1_0001).collect();
        (i64::from(id), None, Some(set.into_iter().collect()))
    });
    let rows = Rows(rows.collect());
    for (from, pairs) in [
        ("a JOIN a AS b ON overlap(a.set, b.set) >= 1", 12_000 + 2 * (8 * 12_000 - 36)),
        ("a LEFT ANTI JOIN b ON overlap(a.set, b.set) >= 1 AND a.id < b.id", 1),
    ] {
        let sql = format!("SELECT a.id FROM {from}");
        let (found, shares) = count_within(1 << 20, &rows, &sql, "shares").await;
        assert_eq!(found, pairs, "{sql}");
        assert!(shares > 100, "{shares} {sql}");
    }
}

/// A row would be in as many shares as it shows elements, but no other row shows most of them.
#[tokio::test]
async fn sets_that_share_little_are_joined_in_few_shares() {
    // Any two consecutive sets have one element in common.
    let set = |id: u64| {
        let own = 100 * id + 10..100 * id + 10 + 5 + id % 20;
        [100 * id, 100 * (id + 1)].into_iter().chain(own).collect::<std::collections::BTreeSet<_>>()
    };
    let rows = (0..12_000_u32).map(|id| (i64::from(id), None, Some(set(u64::from(id)).into_iter().collect())));
    let rows = Rows(rows.collect());
    let sql = "SELECT a.id FROM a JOIN a AS b ON overlap(a.set, b.set) >= 1";
    let (found, shares) = count_within(1 << 20, &rows, sql, "shares").await;
    assert_eq!(found, 12_000 + 2 * 11_999);
    assert!((2..100).contains(&shares), "{shares}");
}

/// Returns the number of rows that the similarity joins of a plan have spilled.
fn spilled_rows(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let own = plan.metrics().filter(|_| plan.name() == "SimilarityJoinExec");
    own.and_then(|metrics| metrics.spilled_rows()).unwrap_or(0)
        + plan.children().into_iter().map(spilled_rows).sum::<usize>()
}

/// The rows are distributed into shares, and joined from disk there.
#[tokio::test]
async fn the_shares_of_a_distributed_join_go_to_disk() {
    let set = |id: u64| {
        let (family, own) = (id / 3, 1_000_000 * (id + 1));
        (100 * family..100 * family + 38).chain(own..own + 2).collect::<Vec<_>>()
    };
    let rows = Rows((0..9000_u32).map(|id| (i64::from(id), None, Some(set(u64::from(id))))).collect());
    for (from, pairs) in [
        ("a JOIN a AS b ON jaccard(a.set, b.set) >= 0.8", 27_000),
        ("a JOIN b ON jaccard(a.set, b.set) >= 0.8 AND a.id < b.id", 9000),
        ("a JOIN a AS b ON containment(a.set, b.set) >= 0.9 AND a.id % 7 = b.id % 7", 9000),
    ] {
        let sql = format!("SELECT a.id FROM {from}");
        for (memory, is_spilled) in [(1 << 30, false), (6 << 20, true)] {
            let runtime = RuntimeEnvBuilder::new().with_memory_limit(memory, 1.0).build_arc().unwrap();
            let session = session_in(runtime, "distributed", 4, 512, &rows, &rows).await;
            let plan = session.sql(&sql).await.unwrap().create_physical_plan().await.unwrap();
            let found = collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
            assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), pairs, "{sql} {memory}");
            assert_eq!(spilled_rows(&plan) > 0, is_spilled, "{sql} {memory}");
        }
    }
}

#[tokio::test]
async fn too_little_memory_for_two_sets_is_said() {
    let rows = Rows((0..4_i64).map(|id| (id, None, Some((0..50_000).collect()))).collect());
    let memory = RuntimeEnvBuilder::new().with_memory_limit(100_000, 1.0).build_arc().unwrap();
    let session = session_in(memory, "operator", 1, 512, &rows, &rows).await;
    let sql = "SELECT count(*) FROM a JOIN b ON overlap(a.set, b.set) >= 1";
    let error = session.sql(sql).await.unwrap().collect().await.unwrap_err().to_string();
    assert!(error.contains("a similarity join needs a part of the rows in memory"), "{error}");
    assert!(error.contains("`memory`"), "{error}");
}

/// 14 of 25 elements are exactly 0.56, but 0.56 · 25 is 14.000000000000002 in doubles.
#[tokio::test]
async fn a_pair_at_exactly_the_threshold_is_found() {
    let rows = |set: std::ops::Range<u64>| Rows(vec![(1, None, Some(set.collect()))]);
    for (a, b, threshold) in [(0..25, 11..25, "0.56"), (0..30, 2..35, "0.8"), (0..31, 3..35, "0.8")] {
        let condition = format!("jaccard(a.set, b.set) >= {threshold}");
        for strategy in ["nested_loop", "lowered", "operator", "distributed"] {
            let session = session(strategy, 1, 8192, &rows(a.clone()), &rows(b.clone())).await;
            let sql = format!("SELECT * FROM a JOIN b ON {condition}");
            assert!(answer(&session, &sql).await.contains("| 1 "), "{strategy} {condition}");
        }
    }
}

/// Covers all sizes of two small sets and of their intersection, at every threshold that is a fraction of small
/// numbers. The expected pairs are computed with whole numbers.
#[tokio::test]
async fn pairs_at_exactly_the_threshold_are_found_for_all_sizes_and_thresholds() {
    const LARGEST: u64 = 12;
    let sizes = (1..=LARGEST).flat_map(|a| (1..=LARGEST).flat_map(move |b| (0..=a.min(b)).map(move |o| (a, b, o))));
    let sizes: Vec<_> = sizes.collect();
    let rows = |set: fn((u64, u64, u64)) -> std::ops::Range<u64>| {
        Rows((0_i64..).zip(&sizes).map(|(id, sizes)| (id, None, Some(set(*sizes).collect()))).collect())
    };
    let (lefts, rights) = (rows(|(a, ..)| 0..a), rows(|(a, b, o)| a - o..a - o + b));
    // The square of each measure as a fraction.
    type Square = fn(u64, u64, u64) -> (u64, u64);
    let measures: [(&str, Square); 4] = [
        ("jaccard", |a, b, o| (o * o, (a + b - o) * (a + b - o))),
        ("containment", |a, _, o| (o * o, a * a)),
        ("dice", |a, b, o| (4 * o * o, (a + b) * (a + b))),
        ("cosine", |a, b, o| (o * o, a * b)),
    ];
    let fractions = (1..=LARGEST).flat_map(|d| (1..=d).map(move |n| (n, d)));
    let fractions: Vec<_> = fractions.filter(|(n, d)| (2..=*n).all(|k| n % k > 0 || d % k > 0)).collect();
    let joins = ["a.id = b.id AND a.id % 2 = 0", "a.id = b.id"];
    for (strategy, join) in
        [("lowered", joins[1]), ("distributed", joins[1]), ("operator", joins[0]), ("operator", joins[1])]
    {
        let session = session(strategy, 2, 8192, &lefts, &rights).await;
        for (measure, square) in measures {
            for &(n, d) in &fractions {
                let threshold = f64::from(u32::try_from(n).unwrap()) / f64::from(u32::try_from(d).unwrap());
                let sql = format!("SELECT * FROM a JOIN b ON {measure}(a.set, b.set) >= {threshold:?} AND {join}");
                let found: usize =
                    session.sql(&sql).await.unwrap().collect().await.unwrap().iter().map(RecordBatch::num_rows).sum();
                let reaches = |&(i, &(a, b, o)): &(usize, &(u64, u64, u64))| {
                    let (top, bottom) = square(a, b, o);
                    top * d * d >= n * n * bottom && (join == joins[1] || i % 2 == 0)
                };
                assert_eq!(found, sizes.iter().enumerate().filter(reaches).count(), "{strategy} {sql}");
            }
        }
    }
}

/// Many rows have the same set, and two such sets match. The workers share their rows in pieces.
#[tokio::test]
async fn sets_that_many_rows_have_are_joined_in_pieces() {
    let set = |id: i64| if id % 2 == 0 { vec![1, 2, 3, 4] } else { vec![1, 2, 3, 4, 5] };
    let rows = Rows((0..6000).map(|id| (id, None, Some(set(id)))).collect());
    let session = session("operator", 3, 8192, &rows, &rows).await;
    let count = async |from: &str| {
        let frame = session.sql(&format!("SELECT id FROM {from}")).await.unwrap();
        frame.count().await.unwrap()
    };
    assert_eq!(count("(SELECT a.id FROM a JOIN a AS b ON jaccard(a.set, b.set) >= 0.8)").await, 36_000_000);
    assert_eq!(count("(SELECT a.id FROM a JOIN a AS b ON jaccard(a.set, b.set) >= 0.9)").await, 18_000_000);
    assert_eq!(count("a LEFT SEMI JOIN b ON jaccard(a.set, b.set) >= 0.8 AND a.id > b.id + 5000").await, 999);
}

#[tokio::test]
async fn the_plan_is_an_equality_join_over_prefixes() {
    let none = Rows(vec![]);
    let session = session("lowered", 1, 8192, &none, &none).await;
    insta::assert_snapshot!(plan(&session, "jaccard(a.set, b.set) >= 0.8 AND a.id < b.id").await, @r#"
    Projection: a.id, b.id
      Inner Join: left_token_2 = right_token_4 Filter: a.id < b.id AND length_filter(left_set_1, right_set_3, Utf8("jaccard"), Float64(0.8)) AND first_common_token(left_set_1, right_set_3) = left_token_2 AND jaccard(left_set_1, right_set_3) >= Float64(0.8)
        Unnest: lists[left_token_2|depth=1] structs[]
          Projection: a.id, left_set_1, prefix_filter(left_set_1, Utf8("jaccard"), Float64(0.8)) AS left_token_2
            Projection: a.id, pack_set(a.set) AS left_set_1
              TableScan: a projection=[id, set]
        Unnest: lists[right_token_4|depth=1] structs[]
          Projection: b.id, right_set_3, prefix_filter(right_set_3, Utf8("jaccard"), Float64(0.8)) AS right_token_4
            Projection: b.id, pack_set(b.set) AS right_set_3
              TableScan: b projection=[id, set]
    "#);
    insta::assert_snapshot!(plan(&session, "0.5 < containment(b.set, a.set) AND a.lang = b.lang").await, @r#"
    Projection: a.id, b.id
      Inner Join: left_token_2 = right_token_4, a.lang = b.lang Filter: length_filter(right_set_3, left_set_1, Utf8("containment"), Float64(0.5000000000000001)) AND first_common_token(right_set_3, left_set_1) = left_token_2 AND containment(right_set_3, left_set_1) > Float64(0.5)
        Unnest: lists[left_token_2|depth=1] structs[]
          Projection: a.id, a.lang, left_set_1, prefix_filter(left_set_1, Utf8("overlap"), Float64(1)) AS left_token_2
            Projection: a.id, a.lang, pack_set(a.set) AS left_set_1
              TableScan: a projection=[id, lang, set]
        Unnest: lists[right_token_4|depth=1] structs[]
          Projection: b.id, b.lang, right_set_3, prefix_filter(right_set_3, Utf8("containment"), Float64(0.5000000000000001)) AS right_token_4
            Projection: b.id, b.lang, pack_set(b.set) AS right_set_3
              TableScan: b projection=[id, lang, set]
    "#);
}

async fn physical_plan(session: &SessionContext, sql: &str) -> String {
    let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    displayable(plan.as_ref()).indent(false).to_string()
}

/// Columns are pruned, the operator takes in a projection and a limit, and a self-join has one input.
#[tokio::test]
async fn the_operator_reads_a_self_join_once_and_gives_only_what_is_asked_for() {
    let none = Rows(vec![]);
    let session = session("operator", 1, 8192, &none, &none).await;
    let plan = |sql| physical_plan(&session, sql);
    let plans = [
        plan("SELECT a.id, b.id FROM a JOIN a AS b ON jaccard(a.set, b.set) >= 0.8 LIMIT 5").await,
        plan("SELECT count(*) FROM a JOIN b ON 0.5 < containment(b.set, a.set) AND a.lang = b.lang").await,
        plan("SELECT lang FROM a WHERE EXISTS (SELECT 1 FROM b WHERE dice(a.set, b.set) >= 0.5 AND a.id <> b.id)")
            .await,
    ];
    insta::assert_snapshot!(plans.join("\n"), @r"
    SimilarityJoinExec: jaccard(a.set, b.set) >= 0.8, strategy=operator, join_type=Inner, self_join=true, projection=[id, id], fetch=5
      DataSourceExec: partitions=1, partition_sizes=[1]

    ProjectionExec: expr=[count(Int64(1))@0 as count(*)]
      AggregateExec: mode=Single, gby=[], aggr=[count(Int64(1))]
        SimilarityJoinExec: containment(b.set, a.set) > 0.5, strategy=operator, join_type=Inner, filter=lang@0 = lang@1, projection=[]
          DataSourceExec: partitions=1, partition_sizes=[1]
          DataSourceExec: partitions=1, partition_sizes=[1]

    SimilarityJoinExec: dice(a.set, __correlated_sq_1.set) >= 0.5, strategy=operator, join_type=LeftSemi, filter=id@0 != id@1, projection=[lang]
      DataSourceExec: partitions=1, partition_sizes=[1]
      DataSourceExec: partitions=1, partition_sizes=[1]
    ");
    // The same if only columns of one side are selected.
    for asked in ["a.id", "b.lang, a.id", "1"] {
        let sql = format!("SELECT {asked} FROM a JOIN a AS b ON jaccard(a.set, b.set) >= 0.8 AND a.lang = b.lang");
        let plan = physical_plan(&session, &sql).await;
        assert!(plan.contains("self_join=true") && plan.matches("DataSourceExec").count() == 1, "{plan}");
    }
    let random = "SELECT 1 FROM (SELECT * FROM a WHERE random() < 0.5) AS a JOIN (SELECT * FROM a WHERE random() < 0.5) AS b \
                  ON overlap(a.set, b.set) >= 2";
    assert_eq!(plan(random).await.matches("DataSourceExec").count(), 2);
}

/// Outer joins have the same columns as in DataFusion. Inputs are read once for several similarities, as they may be
/// expensive or give other rows each time.
#[tokio::test]
async fn outer_joins_and_any_of_several_similarities_are_similarity_joins() {
    let none = Rows(vec![]);
    let condition = "(jaccard(a.set, b.set) >= 0.8 OR overlap(array_slice(a.set, 1, 9), b.set) > 2 AND a.lang <> b.lang) AND a.id < b.id";
    let shown = async |strategy: &str, join: &str| {
        let session = session(strategy, 1, 8192, &none, &none).await;
        let sql = format!(
            "SELECT a.id, b.lang FROM (SELECT * FROM a WHERE id IS NOT NULL AND random() < 0.5) AS a {join} JOIN b ON {condition}"
        );
        let plan = session.sql(&sql).await.unwrap().create_physical_plan().await.unwrap();
        (plan.schema(), displayable(plan.as_ref()).indent(false).to_string())
    };
    for join in ["INNER", "LEFT", "RIGHT", "FULL"] {
        let ((schema, plan), (expected, nested)) = (shown("operator", join).await, shown("nested_loop", join).await);
        assert_eq!(schema, expected);
        assert!(nested.contains("NestedLoopJoinExec") && plan.contains("SimilarityJoinExec"), "{plan}");
        assert!(plan.matches("DataSourceExec").count() == 2 && plan.matches("random()").count() == 1, "{plan}");
    }
}

/// A serialized node is the same node when it is read, and gives the same rows.
#[tokio::test]
async fn a_logical_plan_can_be_sent() {
    let sets = (0..50).map(|id: i64| (id, Some("en"), Some((0..6).map(|k| id.unsigned_abs() / 3 + k * k).collect())));
    let here = session("operator", 2, 8192, &Rows(sets.collect()), &Rows(vec![])).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet").display().to_string();
    let options = datafusion::dataframe::DataFrameWriteOptions::new().with_single_file_output(true);
    here.table("a").await.unwrap().write_parquet(&file, options, None).await.unwrap();
    for condition in [
        "jaccard(a.set, b.set) >= 0.5",
        "0.25 < containment(b.set, a.set) AND a.lang = b.lang",
        "overlap(a.set, b.set) > 2 AND a.id < b.id AND a.lang IS NOT DISTINCT FROM b.lang",
        "hamming(a.id, b.id) <= 1",
        "(hamming(a.id, b.id) <= 1 OR jaccard(b.set, a.set) > 0.5 AND a.lang = b.lang) AND a.id <> b.id",
    ] {
        for from in FROM {
            let from = from.replace("FROM a ", &format!("FROM '{file}' AS a "));
            let from = from
                .replace("JOIN b ", &format!("JOIN '{file}' AS b "))
                .replace("JOIN a AS b", &format!("JOIN '{file}' AS b"));
            let sql = from.replace("FROM b ", &format!("FROM '{file}' AS b ")).replace("{condition}", condition);
            let plan = here.sql(&sql).await.unwrap().into_optimized_plan().unwrap();
            let bytes = logical_plan_to_bytes_with_extension_codec(&plan, &IbidCodec::default()).unwrap();
            let there = ibid::session(Default::default(), Default::default()).unwrap();
            let sent =
                logical_plan_from_bytes_with_extension_codec(&bytes, &there.task_ctx(), &IbidCodec::default()).unwrap();
            assert_eq!(sent.display_indent().to_string(), plan.display_indent().to_string());
            let rows = there.execute_logical_plan(sent).await.unwrap().collect().await.unwrap();
            assert_eq!(lines(&rows), answer(&here, &sql).await, "{sql}");
        }
    }
}

/// Regression: the other workers waited for one that had failed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_condition_that_fails_for_one_pair_ends_the_query() {
    let rows = Rows((0..3000).map(|id: i64| (id, None, Some(vec![1, 2, 3 + id.unsigned_abs() % 7]))).collect());
    let session = session("operator", 16, 64, &rows, &rows).await;
    for id in [0, 1499, 2999] {
        let sql = format!(
            "SELECT a.id FROM a JOIN b ON overlap(a.set, b.set) >= 2 AND 1 / (abs(a.id - {id}) + abs(b.id - {id})) >= 0"
        );
        let query = session.sql(&sql).await.unwrap().collect();
        let error = tokio::time::timeout(std::time::Duration::from_secs(60), query).await.unwrap().unwrap_err();
        assert!(error.to_string().contains("Divide by zero"), "{error}");
    }
}

/// The result of another query is not there yet when the join is planned.
#[tokio::test]
async fn sets_made_with_the_result_of_another_query_are_planned() {
    let rows = Rows((0..100).map(|id: i64| (id, None, Some(vec![1, 2, 3 + id.unsigned_abs() % 7]))).collect());
    let session = session("auto", 2, 64, &rows, &rows).await;
    let rare = "rare_elements({t}.set, (SELECT set_frequencies(set) FROM a), 20)";
    let join = format!("a JOIN b ON overlap({}, {}) >= 1", rare.replace("{t}", "a"), rare.replace("{t}", "b"));
    let subqueries = format!(
        "(SELECT id, {0} AS set FROM a) AS a JOIN (SELECT id, {0} AS set FROM b) AS b ON overlap(a.set, b.set) >= 1",
        "rare_elements(set, (SELECT set_frequencies(set) FROM a), 20)"
    );
    let pairs = (0..7_usize).map(|k| (100 - k).div_ceil(7).pow(2)).sum::<usize>();
    for from in [join, subqueries] {
        let frame = session.sql(&format!("SELECT a.id FROM {from}")).await.unwrap();
        assert_eq!(frame.count().await.unwrap(), pairs, "{from}");
    }
}

/// Rows that have a partner are not visited again for each further one, which would be 10⁹ steps here.
#[tokio::test]
async fn a_semi_join_marks_many_equal_rows_once() {
    let many = Rows((0..50_000).map(|id| (id, None, Some(vec![1, 2, 3]))).collect());
    let sets = Rows((0..20_000).map(|id: i64| (id, None, Some(vec![1, 2, 10 + id.unsigned_abs()]))).collect());
    let session = session("operator", 2, 8192, &many, &sets).await;
    let semi = session.sql("SELECT * FROM a LEFT SEMI JOIN b ON overlap(a.set, b.set) >= 2").await.unwrap();
    assert_eq!(semi.count().await.unwrap(), 50_000);
}

/// The codec refuses other operators, which are for another codec, and bytes that are no plan.
#[tokio::test]
async fn the_codec_refuses_what_it_does_not_know() {
    let none = Rows(vec![]);
    let session = session("operator", 1, 8192, &none, &none).await;
    let plan = session.sql("SELECT * FROM a").await.unwrap().create_physical_plan().await.unwrap();
    let converter = datafusion_proto::physical_plan::DefaultPhysicalProtoConverter {};
    let codec: &dyn PhysicalExtensionCodec = &IbidCodec::default();
    let error = codec.try_encode(Arc::clone(&plan), &mut Vec::new(), &converter).unwrap_err().to_string();
    assert!(error.contains("PhysicalExtensionCodec is not provided"), "{error}");
    let error = codec.try_decode(b"ibid:???", &[plan], &session.task_ctx(), &converter).unwrap_err().to_string();
    assert!(error.contains("the bytes of a similarity join"), "{error}");
}

/// Candidates are estimated by a sample, for inputs that are only scans. The estimate is not too low, and it is exact
/// if the sample has all rows.
#[tokio::test]
async fn candidates_are_estimated_by_a_sample() {
    let set = |id: u64| (0..8).map(|k| id * 7919 % 499 + k * k * 31).collect();
    let rows = Rows((0..4000).map(|id: i64| (id, None, Some(set(id.unsigned_abs())))).collect());
    let session = session("operator", 2, 8192, &rows, &rows).await;
    let counts = async |from: &str| {
        let sql = format!("SELECT a.id FROM {from} ON jaccard(a.set, b.set) >= 0.6");
        let plan = session.sql(&sql).await.unwrap().create_physical_plan().await.unwrap();
        let shown = displayable(plan.as_ref()).indent(false).to_string();
        let estimate = shown.split("estimated_candidates=").nth(1).map(|rest| rest.lines().next().unwrap().to_string());
        collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
        let metrics = plan.metrics().unwrap();
        let read = plan.children()[0].metrics().and_then(|metrics| metrics.output_rows());
        assert!(read.is_none_or(|rows| rows == 4000), "the sample is not counted: {read:?}");
        (estimate.map(|n| n.parse::<f64>().unwrap()), metrics.sum_by_name("candidates").unwrap().as_usize() as f64)
    };
    session.sql("SET ibid.similarity_join.sample_rows = 4000").await.unwrap();
    let (estimate, exact) = counts("a JOIN a AS b").await;
    assert_eq!(estimate, Some(exact));
    let (estimate, exact) = counts("a JOIN b").await;
    assert_eq!(estimate, Some(exact));
    let (estimate, _) = counts("(SELECT id, set FROM a GROUP BY id, set) AS a JOIN b").await;
    assert_eq!(estimate, None);
    session.sql("SET ibid.similarity_join.sample_rows = 1000").await.unwrap();
    let (estimate, exact) = counts("a JOIN b").await;
    assert!(exact <= estimate.unwrap() && estimate.unwrap() < 20.0 * exact, "{estimate:?} {exact}");
    session.sql("SET ibid.similarity_join.sample_rows = 0").await.unwrap();
    assert_eq!(counts("a JOIN b").await.0, None);
}

#[tokio::test]
async fn few_rows_are_compared_pair_by_pair_and_more_by_the_operator() {
    for (rows, operator) in [(40, "NestedLoopJoinExec"), (41, "SimilarityJoinExec")] {
        let rows = Rows((0..rows).map(|id| (id, None, Some(vec![1, 2]))).collect());
        let session = session("auto", 1, 8192, &rows, &rows).await;
        let sql = "SELECT a.id FROM a JOIN a AS b ON jaccard(a.set, b.set) >= 0.8 AND a.lang = b.lang";
        let plan = physical_plan(&session, sql).await;
        assert!(plan.contains(operator), "{plan}");
    }
}

/// An operator gives the same rows to each run.
#[tokio::test]
async fn a_plan_runs_again() {
    let rows = Rows((0..100).map(|id| (id, None, Some(vec![1, 2]))).collect());
    let session = session("operator", 3, 8192, &rows, &rows).await;
    let sql = "SELECT a.id FROM a JOIN a AS b ON jaccard(a.set, b.set) >= 0.8";
    let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    for _ in 0..3 {
        let rows = collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
        assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 100 * 100);
    }
}

/// Every count of `EXPLAIN ANALYZE` follows from the others, and from the rows.
#[tokio::test]
async fn the_metrics_of_the_operator_add_up() {
    // Twenty groups of three sets, which are shifted against each other by some elements.
    let set = |i: u64| (0..20).map(|k| i / 3 * 7 % 31 + i % 3 / 2 + k).collect();
    let rows = Rows((0..60).map(|i| (0, None, Some(set(i)))).collect());
    let session = session("operator", 3, 8192, &rows, &rows).await;
    let frame = session.sql("SELECT a.id FROM a JOIN a AS b ON jaccard(a.set, b.set) >= 0.7").await.unwrap();
    let plan = frame.create_physical_plan().await.unwrap();
    let found: usize =
        collect(Arc::clone(&plan), session.task_ctx()).await.unwrap().iter().map(RecordBatch::num_rows).sum();
    let metrics = plan.metrics().unwrap();
    let sum = |name| metrics.sum_by_name(name).unwrap().as_usize();
    assert_eq!(metrics.output_rows(), Some(found));
    assert!(sum("verified") > 0 && sum("repeated") > 0 && sum("pruned_position") > 0, "{metrics}");
    assert_eq!(
        sum("candidates"),
        sum("pruned_position") + sum("pruned_bitmap") + sum("repeated") + sum("verified"),
        "{metrics}"
    );
    // When overlaps are counted, every pair is a candidate once.
    let frame = session.sql("SELECT a.id FROM a JOIN a AS b ON containment(a.set, b.set) >= 0.9").await.unwrap();
    let plan = frame.create_physical_plan().await.unwrap();
    collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
    let metrics = plan.metrics().unwrap();
    let sum = |name| metrics.sum_by_name(name).unwrap().as_usize();
    assert!(sum("verified") > 0 && sum("pruned_count") > 0, "{metrics}");
    assert_eq!(sum("candidates"), sum("pruned_count") + sum("verified"), "{metrics}");
}

#[tokio::test]
async fn what_cannot_be_lowered_stays_a_nested_loop() {
    let none = Rows(vec![]);
    let session = session("lowered", 1, 8192, &none, &none).await;
    for condition in [
        "jaccard(a.set, b.set) <= 0.8",
        "jaccard(a.set, b.set) >= 0.0",
        "jaccard(a.set, a.set) >= 0.8",
        "jaccard(a.set, b.set) >= 0.8 OR a.id = b.id",
        "jaccard(a.set, b.set) >= 0.8 OR dice(a.set, b.set) >= 0.9",
        "jaccard(a.set, b.set) >= a.id",
        "hamming(a.id, b.id) >= 3",
        "hamming(a.id, b.id) <= -1",
        "hamming(a.id, a.id) <= 3",
    ] {
        assert!(!plan(&session, condition).await.contains("prefix_filter"), "{condition}");
    }
}

#[tokio::test]
async fn a_parameter_is_a_threshold_and_a_computed_set_is_computed_once_a_row() {
    let rows = Rows(vec![(1, None, Some(vec![1, 2, 3])), (2, None, Some(vec![2, 3, 4]))]);
    let session = session("lowered", 1, 8192, &rows, &rows).await;
    let sql = "SELECT a.id, b.id FROM a JOIN b ON jaccard(array_distinct(a.set), array_distinct(b.set)) >= $t";
    let frame = session.sql(sql).await.unwrap().with_param_values(vec![("t", ScalarValue::from(0.5))]).unwrap();
    let plan = frame.clone().into_optimized_plan().unwrap().display_indent().to_string();
    assert!(plan.matches("array_distinct").count() == 2, "{plan}");
    assert_eq!(frame.count().await.unwrap(), 4);
}

#[tokio::test]
async fn an_unknown_strategy_is_refused_with_the_known_ones() {
    let session = ibid::session(Default::default(), Default::default()).unwrap();
    let error = session.sql("SET ibid.similarity_join.strategy = fast").await.unwrap_err().to_string();
    assert!(error.contains("nested_loop, lowered, operator, distributed, bitmap, auto"), "{error}");
}
