use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DFSchemaRef, NullEquality, Result, internal_err};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, UserDefinedLogicalNodeCore, build_join_schema};

use super::predicate::SimilarityPredicate;

/// A join on a similarity, or on any of several, in a logical plan, to be run by
/// [`SimilarityJoinExec`](super::operator::SimilarityJoinExec).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SimilarityJoin {
    pub(super) left: LogicalPlan,
    pub(super) right: LogicalPlan,
    /// Inner, left, right, full, left semi or left anti.
    pub(super) join_type: JoinType,
    pub(super) on_any: OnAny,
    /// Equalities of an expression of the left and one of the right input.
    pub(super) on: Vec<(Expr, Expr)>,
    /// The rest of the join's condition.
    pub(super) filter: Option<Expr>,
    pub(super) null_equality: NullEquality,
    schema: DFSchemaRef,
}

/// The conditions of a join; a pair must meet at least one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Hash)]
pub(super) struct OnAny {
    pub(super) first: Disjunct,
    pub(super) others: Vec<Disjunct>,
}

/// A similarity and the further conditions on a pair.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Hash)]
pub(super) struct Disjunct {
    pub(super) predicate: SimilarityPredicate,
    pub(super) rest: Option<Expr>,
}

impl OnAny {
    /// Returns all conditions, in the order in which they are written.
    pub(super) fn all(&self) -> impl Iterator<Item = &Disjunct> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Maps the conditions one by one.
    fn try_map(&self, mut f: impl FnMut(&Disjunct) -> Result<Disjunct>) -> Result<Self> {
        Ok(Self { first: f(&self.first)?, others: self.others.iter().map(f).collect::<Result<_>>()? })
    }
}

impl From<SimilarityPredicate> for OnAny {
    fn from(predicate: SimilarityPredicate) -> Self {
        Self { first: Disjunct { predicate, rest: None }, others: Vec::new() }
    }
}

impl Disjunct {
    pub(super) fn to_expr(&self) -> Expr {
        self.rest.iter().cloned().fold(self.predicate.to_expr(), Expr::and)
    }
}

impl fmt::Display for OnAny {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Disjunct { predicate, rest }) in self.all().enumerate() {
            let or = if i == 0 { "" } else { " OR " };
            write!(f, "{or}{predicate}")?;
            if let Some(rest) = rest {
                write!(f, " AND {rest}")?;
            }
        }
        Ok(())
    }
}

impl SimilarityJoin {
    /// Returns the node that replaces `join`, whose condition is `on_any` and `filter`.
    pub(super) fn of(join: Join, on_any: OnAny, filter: Option<Expr>) -> Result<Self> {
        let (left, right) = (Arc::unwrap_or_clone(join.left), Arc::unwrap_or_clone(join.right));
        let swapped = match join.join_type {
            JoinType::RightSemi => JoinType::LeftSemi,
            JoinType::RightAnti => JoinType::LeftAnti,
            kept => return Self::try_new((left, right), kept, on_any, join.on, filter, join.null_equality),
        };
        let on = join.on.into_iter().map(|(left, right)| (right, left)).collect();
        let on_any = on_any.try_map(|Disjunct { predicate, rest }| {
            Ok(Disjunct { predicate: predicate.clone().swapped(), rest: rest.clone() })
        })?;
        Self::try_new((right, left), swapped, on_any, on, filter, join.null_equality)
    }

    /// Makes the join of a left and a right input.
    pub(super) fn try_new(
        (left, right): (LogicalPlan, LogicalPlan),
        join_type: JoinType,
        on_any: OnAny,
        on: Vec<(Expr, Expr)>,
        filter: Option<Expr>,
        null_equality: NullEquality,
    ) -> Result<Self> {
        let schema = Arc::new(build_join_schema(left.schema(), right.schema(), &join_type)?);
        Ok(Self { left, right, join_type, on_any, on, filter, null_equality, schema })
    }

    /// Returns true if both inputs are the same plan, read under two names.
    fn is_self_join(&self) -> Result<bool> {
        fn without_name(plan: &LogicalPlan) -> &LogicalPlan {
            match plan {
                LogicalPlan::SubqueryAlias(alias) => without_name(&alias.input),
                plan => plan,
            }
        }
        let (left, right) = (without_name(&self.left), without_name(&self.right));
        if left != right || tables(left)? != tables(right)? {
            return Ok(false);
        }
        let is_volatile = left.exists(|plan| Ok(plan.expressions().iter().any(Expr::is_volatile)))?;
        Ok(!is_volatile)
    }

    /// Returns true if both sides are the same rows with the same sets and keys, so that reading them once is enough.
    pub(super) fn is_read_once(&self) -> bool {
        let columns = |expr: &Expr, schema: &DFSchema| {
            let expr = expr.clone().transform(|part| {
                Ok(match &part {
                    Expr::Column(column) => match schema.maybe_index_of_column(column) {
                        Some(i) => Transformed::yes(Expr::Column(Column::new_unqualified(i.to_string()))),
                        None => Transformed::no(part),
                    },
                    _ => Transformed::no(part),
                })
            });
            expr.map(|expr| expr.data).ok()
        };
        let equal = |left: &Expr, right: &Expr| {
            let left = columns(left, self.left.schema());
            left.is_some() && left == columns(right, self.right.schema())
        };
        self.on_any.all().all(|Disjunct { predicate, .. }| equal(&predicate.left, &predicate.right))
            && self.on.iter().all(|(left, right)| equal(left, right))
            && self.is_self_join().unwrap_or(false)
    }

    /// Returns the columns of each input that the node itself needs.
    fn columns_needed(&self) -> (Vec<usize>, Vec<usize>) {
        let mut needed = (Vec::new(), Vec::new());
        for column in self.expressions().iter().flat_map(Expr::column_refs) {
            needed.0.extend(self.left.schema().maybe_index_of_column(column));
            needed.1.extend(self.right.schema().maybe_index_of_column(column));
        }
        needed
    }
}

/// Returns the memory addresses of the tables that a plan reads. Names do not identify tables: two tables of a table
/// function have the same name.
fn tables(plan: &LogicalPlan) -> Result<Vec<usize>> {
    let mut tables = Vec::new();
    plan.apply_with_subqueries(|plan| {
        if let LogicalPlan::TableScan(scan) = plan {
            tables.push(match source_as_provider(&scan.source) {
                Ok(provider) => Arc::as_ptr(&provider).addr(),
                Err(_) => Arc::as_ptr(&scan.source).addr(),
            });
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(tables)
}

impl UserDefinedLogicalNodeCore for SimilarityJoin {
    fn name(&self) -> &str {
        "SimilarityJoin"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.left, &self.right]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        let any = self.on_any.all().flat_map(|Disjunct { predicate, rest }| {
            [predicate.left.clone(), predicate.right.clone()].into_iter().chain(rest.clone())
        });
        let keys = self.on.iter().flat_map(|(left, right)| [left.clone(), right.clone()]);
        any.chain(keys).chain(self.filter.clone()).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} SimilarityJoin: {}", self.join_type, self.on_any)?;
        for (left, right) in &self.on {
            write!(f, ", {left} = {right}")?;
        }
        match &self.filter {
            Some(filter) => write!(f, " Filter: {filter}"),
            None => Ok(()),
        }
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        // Rewritten expressions may be aliased to their old names, which are not needed here.
        let (mut exprs, mut inputs) = (exprs.into_iter().map(Expr::unalias), inputs.into_iter());
        let mut next = || match exprs.next() {
            Some(expr) => Ok(expr),
            None => internal_err!("a similarity join lacks an expression; please report it to ibid"),
        };
        let on_any = self.on_any.try_map(|Disjunct { predicate, rest }| {
            let predicate = predicate.with_sets(next()?, next()?);
            Ok(Disjunct { predicate, rest: rest.as_ref().map(|_| next()).transpose()? })
        })?;
        let on = self.on.iter().map(|_| Ok((next()?, next()?))).collect::<Result<_>>()?;
        let filter = self.filter.as_ref().map(|_| next()).transpose()?;
        let (Some(left), Some(right)) = (inputs.next(), inputs.next()) else {
            return internal_err!("a similarity join has two inputs; please report it to ibid");
        };
        Self::try_new((left, right), self.join_type, on_any, on, filter, self.null_equality)
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let (mut left, mut right) = self.columns_needed();
        let split = self.left.schema().fields().len();
        for &column in output_columns {
            if column < split { left.push(column) } else { right.push(column - split) }
        }
        if self.is_read_once() {
            left.append(&mut right);
            right.clone_from(&left);
        }
        for columns in [&mut left, &mut right] {
            columns.sort_unstable();
            columns.dedup();
        }
        Some(vec![left, right])
    }
}

/// The schema follows from the other fields and has no order, so it is not compared.
impl PartialOrd for SimilarityJoin {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let key = |node: &Self| (node.join_type, node.on.clone(), node.filter.clone());
        let order = [
            self.left.partial_cmp(&other.left),
            self.right.partial_cmp(&other.right),
            self.on_any.partial_cmp(&other.on_any),
            key(self).partial_cmp(&key(other)),
        ];
        match order.into_iter().find(|order| *order != Some(Ordering::Equal)) {
            Some(order) => order,
            None => (self == other).then_some(Ordering::Equal),
        }
    }
}

impl Hash for SimilarityJoin {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.left, &self.right, self.join_type, &self.on_any, &self.on, &self.filter).hash(state);
    }
}
