//! DF-15812 (open): the minimum and maximum in Parquet leave out NaN, which SQL orders above all numbers, so that `f > 5` and
//! `max(f)` miss NaN. Remove when pruning of floats respects NaN; test nan_is_passed_over fails then.

use std::sync::Arc;

use arrow::datatypes::Schema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result, Statistics};
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{PhysicalExpr, conjunction, split_conjunction};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;

/// Ignores the minimum and maximum of floats in the statistics of Parquet files, row groups and pages.
///
/// The rule runs twice. The first run removes the statistics of files, from which `max(f)` would be answered without a scan; the
/// last one removes predicates on floats from the pruning of row groups.
#[derive(Debug)]
pub(crate) struct IgnoreFloatStatistics;

impl PhysicalOptimizerRule for IgnoreFloatStatistics {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, options: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        // With filter pushdown into Parquet, only the scan filters the rows, so its predicate must stay.
        let is_filter = options.execution.parquet.pushdown_filters;
        plan.transform_up(|plan| {
            let scan = plan.downcast_ref::<DataSourceExec>().and_then(|scan| scan.data_source().downcast_ref());
            Ok(match scan.and_then(|scan| distrusting(scan, is_filter)) {
                Some(scan) => Transformed::yes(DataSourceExec::from_data_source(scan) as _),
                None => Transformed::no(plan),
            })
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "float_statistics"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Returns the scan without the statistics of floats, if it is a Parquet scan with columns of floats.
fn distrusting(scan: &FileScanConfig, is_filter: bool) -> Option<FileScanConfig> {
    let source = scan.file_source().downcast_ref::<ParquetSource>()?;
    let schema = scan.file_source().table_schema().table_schema();
    if !schema.fields().iter().any(|field| field.data_type().is_floating()) {
        return None;
    }
    let of_groups = scan.file_groups.iter().map(|group| {
        let files = group.iter().cloned().map(|mut file| {
            file.statistics = file.statistics.map(|said| Arc::new(without_floats(&said, schema)));
            file
        });
        let said = group.file_statistics(None).map(|said| Arc::new(without_floats(said, schema)));
        let group = FileGroup::new(files.collect());
        said.into_iter().fold(group, FileGroup::with_statistics)
    });
    let mut builder = FileScanConfigBuilder::from(scan.clone())
        .with_file_groups(of_groups.collect())
        .with_statistics(without_floats(&scan.statistics(), schema));
    if let Some(predicate) = scan.file_source().filter().filter(|_| !is_filter) {
        let is_float = |name: &str| schema.field_with_name(name).is_ok_and(|field| field.data_type().is_floating());
        let has_none =
            |part: &&Arc<dyn PhysicalExpr>| collect_columns(part).iter().all(|column| !is_float(column.name()));
        let kept = conjunction(split_conjunction(&predicate).into_iter().filter(has_none).cloned());
        builder = builder.with_source(Arc::new(source.with_predicate(kept)));
    }
    Some(builder.build())
}

fn without_floats(said: &Statistics, schema: &Schema) -> Statistics {
    let mut said = said.clone();
    for (column, field) in said.column_statistics.iter_mut().zip(schema.fields()) {
        if field.data_type().is_floating() {
            (column.min_value, column.max_value) = (Precision::Absent, Precision::Absent);
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn nan_is_passed_over() {
        assert_wrong(
            &[
                "COPY (SELECT column1 AS id, CAST(column2 AS DOUBLE) AS f FROM (VALUES (1, '1.0'), (2, 'NaN'), (3, '2.0'))) TO '{folder}/n.parquet'",
                "CREATE EXTERNAL TABLE n STORED AS PARQUET LOCATION '{folder}/n.parquet'",
                "SELECT id FROM n WHERE f > 5",
            ],
            &[],
        );
    }
}
