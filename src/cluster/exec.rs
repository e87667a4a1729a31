use std::any::Any;
use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, internal_err};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::physical_plan::{FileScanConfig, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::analyze::AnalyzeExec;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::scalar_subquery::ScalarSubqueryExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, replace_children_if_necessary,
};
use datafusion::prelude::SessionConfig;
use futures::TryStreamExt;
use url::Url;

use super::{Cluster, cluster_of};
use crate::plan_properties::plan_properties;
use crate::store::has_key;

/// An operator that runs its plan on a cluster, and returns the rows in one partition.
#[derive(Debug)]
pub(crate) struct ClusterExec {
    plan: Arc<dyn ExecutionPlan>,
    cluster: Arc<dyn Cluster>,
    properties: Arc<PlanProperties>,
}

impl ClusterExec {
    pub(crate) fn new(plan: Arc<dyn ExecutionPlan>, cluster: Arc<dyn Cluster>) -> Self {
        let properties = plan_properties(plan.schema(), 1, EmissionType::Incremental);
        Self { plan, cluster, properties }
    }
}

impl DisplayAs for ClusterExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClusterExec")
    }
}

impl ExecutionPlan for ClusterExec {
    fn name(&self) -> &'static str {
        "ClusterExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a plan of a cluster has no children") }
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (plan, cluster) = (Arc::clone(&self.plan), Arc::clone(&self.cluster));
        let rows = async move { cluster.run(plan, context).await };
        let rows = futures::stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.plan.schema(), rows)))
    }
}

/// Wraps a plan for the cluster of the session, if it has one and all inputs of the plan can be read there: Parquet
/// files, at least one, and a few rows in the plan. Other plans run here.
pub(crate) fn sent(plan: Arc<dyn ExecutionPlan>, config: &SessionConfig) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(cluster) = cluster_of(config) else { return Ok(plan) };
    // AnalyzeExec measures the plan below it. ScalarSubqueryExec has values ready before the plan that reads them is
    // sent.
    if plan.is::<AnalyzeExec>() || plan.is::<ScalarSubqueryExec>() {
        let children = plan.children().into_iter().map(|child| sent(Arc::clone(child), config));
        let children = children.collect::<Result<_>>()?;
        return replace_children_if_necessary(plan, children);
    }
    let mut reads = Reads::default();
    reads.note(&plan);
    if let Some(others) = &reads.others {
        cluster.planned(plan.as_ref(), Some(others));
        return Ok(plan);
    }
    if !reads.files {
        return Ok(plan);
    }
    cluster.planned(plan.as_ref(), None);
    Ok(Arc::new(ClusterExec::new(as_all_know_it(plan)?, cluster)))
}

/// Replaces the plan that the cluster runs for its rows. If that plan runs here, replaces the plan itself.
pub(crate) fn map_sent(
    plan: Arc<dyn ExecutionPlan>,
    map: &mut dyn FnMut(Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(sent) = plan.downcast_ref::<ClusterExec>() {
        return Ok(Arc::new(ClusterExec::new(map(Arc::clone(&sent.plan)), Arc::clone(&sent.cluster))));
    }
    if !plan.is::<ScalarSubqueryExec>() {
        return Ok(map(plan));
    }
    let mut children: Vec<_> = plan.children().into_iter().map(Arc::clone).collect();
    let rows = map_sent(children.remove(0), map)?;
    children.insert(0, rows);
    replace_children_if_necessary(plan, children)
}

/// The kinds of inputs at the leaves of a plan.
#[derive(Default)]
struct Reads {
    files: bool,
    /// The first input of another kind, as users know it.
    others: Option<String>,
}

impl Reads {
    fn note(&mut self, plan: &Arc<dyn ExecutionPlan>) {
        if plan.is::<ScalarSubqueryExec>() {
            self.note_other("the value of a subquery within the plan");
        }
        if !plan.children().is_empty() {
            return plan.children().into_iter().for_each(|child| self.note(child));
        }
        if let Some(scan) = plan.downcast_ref::<DataSourceExec>() {
            let source: &dyn Any = scan.data_source().as_ref();
            match source.downcast_ref::<FileScanConfig>() {
                Some(scan) => self.note_files(scan),
                None if source.is::<MemorySourceConfig>() => {}
                None => self.note_other(plan.name()),
            }
        } else if !plan.is::<EmptyExec>() && !plan.is::<PlaceholderRowExec>() {
            self.note_other(plan.name());
        }
    }

    fn note_files(&mut self, scan: &FileScanConfig) {
        let (source, url): (&dyn Any, &Url) = (scan.file_source().as_ref(), scan.object_store_url.as_ref());
        if !source.is::<ParquetSource>() {
            return self.note_other(&format!("files of {}", scan.file_source().file_type()));
        }
        // An address that contains a key is not sent.
        if has_key(url) {
            return self.note_other("an address with a key in it");
        }
        self.files = true;
    }

    fn note_other(&mut self, what: &str) {
        self.others.get_or_insert_with(|| what.to_owned());
    }
}

/// Replaces the URLs of stores by URLs that are the same everywhere: the stores of listed objects are known only here.
/// Replaces `EmptyExec` by a source without rows: a branch of a union without a source never ends on executors.
fn as_all_know_it(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let renamed = |plan: Arc<dyn ExecutionPlan>| {
        if plan.is::<EmptyExec>() {
            let parts = vec![Vec::new(); plan.output_partitioning().partition_count()];
            let nothing = MemorySourceConfig::try_new(&parts, plan.schema(), None)?;
            return Ok(Transformed::yes(DataSourceExec::from_data_source(nothing) as _));
        }
        let Some(scan) = plan.downcast_ref::<DataSourceExec>() else { return Ok(Transformed::no(plan)) };
        let source: &dyn Any = scan.data_source().as_ref();
        let Some(scan) = source.downcast_ref::<FileScanConfig>() else { return Ok(Transformed::no(plan)) };
        let url = scan.object_store_url.as_str();
        let Some((scheme, rest)) = url.split_once("://") else { return Ok(Transformed::no(plan)) };
        let Some((scheme, _)) = scheme.split_once('+') else { return Ok(Transformed::no(plan)) };
        let url = ObjectStoreUrl::parse(format!("{scheme}://{rest}"))?;
        let mut scan = scan.clone();
        scan.object_store_url = url;
        Ok(Transformed::yes(DataSourceExec::from_data_source(scan) as _))
    };
    plan.transform_up(renamed).data()
}
