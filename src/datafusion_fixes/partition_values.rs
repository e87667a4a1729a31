//! DF-23226 (in 55) fixes a part; no upstream issue found for leading zeros: an equality on a Hive partition column becomes a
//! prefix of directory names, so that `month = 1` misses `month=01`. Remove when partitions are pruned by value; test
//! folders_are_looked_for_by_name fails then.

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Prunes Hive partitions by their parsed values instead of the names of directories.
#[derive(Debug)]
pub(crate) struct PartitionValues;

impl OptimizerRule for PartitionValues {
    fn name(&self) -> &'static str {
        "partition_values"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::TableScan(mut scan) = plan else { return Ok(Transformed::no(plan)) };
        let provider = source_as_provider(&scan.source).ok();
        let listing = provider.as_ref().and_then(|table| table.downcast_ref::<ListingTable>());
        if listing.is_none_or(|table| table.options().table_partition_cols.is_empty()) {
            return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
        }
        scan.filters = scan.filters.into_iter().map(as_list).collect();
        Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
    }
}

/// Rewrites `x = 1` to a list, of which DataFusion makes no directory name.
fn as_list(filter: Expr) -> Expr {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => match (*left, *right) {
            (column @ Expr::Column(_), value @ Expr::Literal(..))
            | (value @ Expr::Literal(..), column @ Expr::Column(_)) => column.in_list(vec![value], false),
            (left, right) => left.eq(right),
        },
        filter => filter,
    }
}

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn folders_are_looked_for_by_name() {
        assert_wrong(
            &[
                "COPY (SELECT 1 AS n) TO '{folder}/m/month=1/x.csv' OPTIONS ('format.has_header' 'true')",
                "COPY (SELECT 1 AS n) TO '{folder}/m/month=01/x.csv' OPTIONS ('format.has_header' 'true')",
                "COPY (SELECT 1 AS n) TO '{folder}/m/month=2/x.csv' OPTIONS ('format.has_header' 'true')",
                "CREATE EXTERNAL TABLE t (n INT, month INT) STORED AS CSV PARTITIONED BY (month) LOCATION '{folder}/m/' OPTIONS ('format.has_header' 'true')",
                "SELECT count(*) FROM t WHERE month = 1",
            ],
            &["1"],
        );
    }
}
