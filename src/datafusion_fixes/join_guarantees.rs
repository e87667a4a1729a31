//! DF-25052 (open) for orderings; no upstream issue found for constants: a join claims orderings and constants that its rows do
//! not have, so that sorts are dropped and groups are closed early. Remove when both are fixed; test
//! a_constant_of_the_side_with_null_is_taken_for_one_of_all_rows fails then.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{JoinType, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::equivalence::{
    EquivalenceClass, EquivalenceGroup, ProjectionMapping, join_equivalence_properties,
};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr, PhysicalExprRef};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::{CardinalityEffect, ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::filter_pushdown::{FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::joins::utils::build_join_schema;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec, SymmetricHashJoinExec};
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{
    ChildStats, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, StatisticsArgs,
    replace_children_if_necessary,
};

use super::only_child::only_child;

/// Drops output orderings and constants that a join does not guarantee.
///
/// An outer join passes on the constants of the side that it fills with NULL. A join that keeps the order of one side claims the
/// order of the other side after it, although each row of the first may be joined to all rows of the other.
///
/// The rule runs before sorts are planned.
#[derive(Debug)]
pub(crate) struct JoinGuarantees;

impl PhysicalOptimizerRule for JoinGuarantees {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let has_orders = plan.exists(|plan| Ok(asks_for_order(plan)))?;
        plan.transform_up(|plan| {
            if let Some(known) = plan.downcast_ref::<JoinOrderExec>()
                && known.join.is::<JoinOrderExec>()
            {
                return Ok(Transformed::yes(Arc::clone(&known.join)));
            }
            let claims = Join::of(&plan).map(|join| join.may_claim_too_much(has_orders)).transpose()?;
            if claims == Some(true) {
                JoinOrderExec::above(plan).map(Transformed::yes)
            } else {
                Ok(Transformed::no(plan))
            }
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "join_guarantees"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Returns true if an operator asks for an order other than the order of the one key of a join.
fn asks_for_order(plan: &Arc<dyn ExecutionPlan>) -> bool {
    match plan.downcast_ref::<SortMergeJoinExec>() {
        Some(join) => join.on().len() > 1,
        None => plan.is::<SortExec>() || sorts_input(plan),
    }
}

/// Returns true if the input of an operator is sorted for it unless it is in order already.
fn sorts_input(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.required_input_ordering().iter().any(Option::is_some)
}

fn properties(plan: &Arc<dyn ExecutionPlan>) -> &EquivalenceProperties {
    plan.properties().equivalence_properties()
}

/// A join that may claim too much.
struct Join<'a> {
    plan: &'a Arc<dyn ExecutionPlan>,
    left: &'a Arc<dyn ExecutionPlan>,
    right: &'a Arc<dyn ExecutionPlan>,
    join_type: JoinType,
    on: &'a [(PhysicalExprRef, PhysicalExprRef)],
    projection: Option<&'a [usize]>,
}

impl<'a> Join<'a> {
    fn of(plan: &'a Arc<dyn ExecutionPlan>) -> Option<Self> {
        let (left, right, join_type, on, projection) = if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
            (join.left(), join.right(), *join.join_type(), join.on(), join.projection.as_deref())
        } else if let Some(join) = plan.downcast_ref::<SortMergeJoinExec>() {
            (join.left(), join.right(), join.join_type(), join.on(), None)
        } else if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
            (join.left(), join.right(), *join.join_type(), Default::default(), join.projection().as_deref())
        } else {
            let join = plan.downcast_ref::<SymmetricHashJoinExec>()?;
            (join.left(), join.right(), *join.join_type(), join.on(), None)
        };
        Some(Self { plan, left, right, join_type, on, projection })
    }

    /// Returns the sides, each with true if NULL may replace its rows.
    fn sides(&self) -> [(&'a Arc<dyn ExecutionPlan>, bool); 2] {
        let [left, right] = match self.join_type {
            JoinType::Left => [false, true],
            JoinType::Right => [true, false],
            JoinType::Full => [true, true],
            _ => [false, false],
        };
        [(self.left, left), (self.right, right)]
    }

    /// Returns true if the join claims too much, or would once more of the plan is sorted. `has_orders` is true if the
    /// plan asks for orders.
    fn may_claim_too_much(&self, has_orders: bool) -> Result<bool> {
        let is_broken_by_nulls = |side: &Arc<dyn ExecutionPlan>| {
            let classes = properties(side).eq_group();
            !properties(side).constants().is_empty()
                || classes.iter().any(|class| class.iter().any(|expr| !expr.is::<Column>()))
        };
        if self.sides().into_iter().any(|(side, may_be_null)| may_be_null && is_broken_by_nulls(side)) {
            return Ok(true);
        }
        // The side whose order DataFusion claims to hold among equal rows of the other side.
        let second = match (self.join_type, self.plan.maintains_input_order().as_slice()) {
            (JoinType::Inner | JoinType::Left, [true, false]) => self.right,
            (JoinType::Inner | JoinType::Right, [false, true]) => self.left,
            _ => return Ok(false),
        };
        if second.properties().output_ordering().is_some() || second.exists(|plan| Ok(sorts_input(plan)))? {
            return Ok(true);
        }
        // Both sides of a sort-merge join are sorted, by its keys and by the order that is required of it.
        let is_merge = self.plan.is::<SortMergeJoinExec>();
        Ok(is_merge && (has_orders || !properties(second).constants().is_empty()))
    }

    /// Returns the properties that hold for the rows of the join.
    fn known(&self) -> Result<EquivalenceProperties> {
        let of_side = |(side, may_be_null)| if may_be_null { or_null(side) } else { Ok(properties(side).clone()) };
        let [left, right] = self.sides().map(of_side);
        let (schema, _) = build_join_schema(&self.left.schema(), &self.right.schema(), &self.join_type);
        let schema = Arc::new(schema);
        let order = self.plan.maintains_input_order();
        // Without a probe side, the order is the order of one side alone.
        let known =
            join_equivalence_properties(left?, right?, &self.join_type, Arc::clone(&schema), &order, None, self.on)?;
        let Some(columns) = self.projection else { return Ok(known) };
        Ok(known.project(&ProjectionMapping::from_indices(columns, &schema)?, self.plan.schema()))
    }
}

/// Returns the properties that also hold if all columns of a row are NULL: columns are equal to each other, but not to
/// anything else.
fn or_null(side: &Arc<dyn ExecutionPlan>) -> Result<EquivalenceProperties> {
    let columns =
        |class: &EquivalenceClass| EquivalenceClass::new(class.iter().filter(|expr| expr.is::<Column>()).cloned());
    let mut known = EquivalenceProperties::new(side.schema());
    known.add_equivalence_group(EquivalenceGroup::new(properties(side).eq_group().iter().map(columns)))?;
    Ok(known)
}

/// Returns the properties that hold for the rows of a join, or of an operator that passes on the rows of a join.
fn known_of(plan: &Arc<dyn ExecutionPlan>) -> Result<EquivalenceProperties> {
    if let Some(join) = Join::of(plan) {
        return join.known();
    }
    if plan.is::<JoinOrderExec>() {
        return Ok(properties(plan).clone());
    }
    if let &[child] = plan.children().as_slice() {
        let is_same = Arc::ptr_eq(plan.properties(), child.properties());
        if is_same || plan.is::<GlobalLimitExec>() || plan.is::<LocalLimitExec>() {
            return known_of(child);
        }
        if plan.is::<RepartitionExec>() {
            let mut known = known_of(child)?;
            if plan.maintains_input_order() != [true] {
                known.clear_orderings();
            }
            if child.properties().output_partitioning().partition_count() > 1 {
                known.clear_per_partition_constants();
            }
            return Ok(known);
        }
    }
    Ok(EquivalenceProperties::new(plan.schema()))
}

/// An operator above a join, which claims only what the join guarantees.
///
/// The operator stays in the plan, because operators check the order of their input again whenever the input is
/// replaced.
#[derive(Debug)]
pub(crate) struct JoinOrderExec {
    join: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl JoinOrderExec {
    pub(crate) fn above(join: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let properties = PlanProperties::clone(join.properties()).with_eq_properties(known_of(&join)?);
        Ok(Arc::new(Self { join, properties: Arc::new(properties) }))
    }
}

impl DisplayAs for JoinOrderExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self.properties.output_ordering() {
            Some(order) => write!(f, ": [{order}]"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for JoinOrderExec {
    fn name(&self) -> &'static str {
        "JoinOrderExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.join]
    }

    /// Returns false although the order is kept: a sort that is pushed below this operator would be required of the
    /// join, which may claim that it does not need the sort.
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let join = only_child(self.name(), children)?;
        match options.children_properties {
            ChildrenPropertiesMode::Keep => Ok(Arc::new(Self { join, properties: Arc::clone(&self.properties) })),
            ChildrenPropertiesMode::Recompute => Self::above(join),
        }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.join.execute(partition, context)
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, of_child: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        Ok(Arc::clone(&of_child[0]))
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn try_swapping_with_projection(&self, projection: &ProjectionExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(swapped) = self.join.try_swapping_with_projection(projection)? else { return Ok(None) };
        // A projection that the join cannot apply itself stays above it.
        let Some(above) = swapped.downcast_ref::<ProjectionExec>() else { return Self::above(swapped).map(Some) };
        let join = Self::above(Arc::clone(above.input()))?;
        replace_children_if_necessary(swapped, vec![join]).map(Some)
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        FilterDescription::from_children(filters, &self.children())
    }
}

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn a_constant_of_the_side_with_null_is_taken_for_one_of_all_rows() {
        assert_wrong(
            &[
                "CREATE TABLE t(a INT) AS VALUES (1), (2), (3), (4), (5)",
                "CREATE TABLE u(a INT) AS VALUES (2), (4), (5)",
                "SELECT t.a, x.tag FROM t LEFT JOIN (SELECT a, 'seen' AS tag FROM u) x ON t.a = x.a ORDER BY x.tag, t.a LIMIT 3",
            ],
            &["1 NULL", "2 seen", "3 NULL"],
        );
    }
}
