use std::fmt;
use std::hash::{Hash, Hasher};

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, cast, lit};
use ibid_udfs::similarity::{Measure, Side, is_first_common_token};

use super::operator::Condition;
use crate::config::FilterOptions;

/// A condition on the similarity of a set of each input of a join: `measure(left, right) >= threshold`.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub(super) struct SimilarityPredicate {
    pub(super) measure: Measure,
    /// The set of the join's left input.
    pub(super) left: Expr,
    /// The set of the join's right input.
    pub(super) right: Expr,
    /// The argument of the measure that the left input's set is: the first or the second.
    pub(super) left_is: Side,
    /// The least value that matches, above 0 and not NaN.
    pub(super) threshold: f64,
    /// The number that the measure must exceed, if the condition was written so.
    pub(super) above: Option<f64>,
    /// The measure as it is called in the condition.
    pub(super) similarity: ScalarFunction,
}

impl Eq for SimilarityPredicate {}

impl Hash for SimilarityPredicate {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.similarity.hash(state);
        self.threshold.to_bits().hash(state);
    }
}

impl fmt::Display for SimilarityPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let similarity = Expr::ScalarFunction(self.similarity.clone());
        match self.above {
            Some(above) => write!(f, "{similarity} > {above}"),
            None => write!(f, "{similarity} >= {}", self.threshold),
        }
    }
}

impl SimilarityPredicate {
    /// Recognises a conjunct of a join condition, whichever way round it is written.
    pub(super) fn recognise(conjunct: &Expr, left: &DFSchema, right: &DFSchema) -> Option<Self> {
        let (function, threshold, above) = at_least(conjunct)?;
        Self::of_call(function, threshold, above, left, right)
    }

    /// Returns the condition `call >= threshold`. If it was written as `call > above`, `threshold` is the next number
    /// after `above`.
    pub(super) fn of_call(
        call: &ScalarFunction,
        threshold: f64,
        above: Option<f64>,
        left: &DFSchema,
        right: &DFSchema,
    ) -> Option<Self> {
        let measure = Measure::of(&call.func)?;
        let [first, second] = call.args.as_slice() else { return None };
        if threshold.is_nan() || threshold <= 0.0 || first.is_volatile() || second.is_volatile() {
            return None;
        }
        let is_over = |expr: &Expr, schema: &DFSchema| {
            let columns = expr.column_refs();
            !columns.is_empty() && columns.iter().all(|column| schema.has_column(column))
        };
        let (left, right, left_is) = if is_over(first, left) && is_over(second, right) {
            (first.clone(), second.clone(), Side::Left)
        } else if is_over(first, right) && is_over(second, left) {
            (second.clone(), first.clone(), Side::Right)
        } else {
            return None;
        };
        Some(Self { measure, left, right, left_is, threshold, above, similarity: call.clone() })
    }

    /// Returns the condition on the two sets, without the expressions that compute them.
    pub(super) fn condition(&self, filters: FilterOptions) -> Condition {
        let Self { measure, threshold, left_is, .. } = *self;
        Condition { measure, threshold, left_is, text: self.to_string(), filters, scan: None, split_rows: 0 }
    }

    /// Returns the measure and threshold that determine the prefix of a set of the left input.
    pub(super) fn left_prefix(&self) -> (Measure, f64) {
        self.prefix(self.left_is)
    }

    /// Returns the measure and threshold that determine the prefix of a set of the right input.
    pub(super) fn right_prefix(&self) -> (Measure, f64) {
        self.prefix(self.left_is.other())
    }

    fn prefix(&self, side: Side) -> (Measure, f64) {
        match (self.measure, side) {
            // A set that contains another one may be of any size, so it shows all of its elements.
            (Measure::Containment, Side::Right) => (Measure::Overlap, 1.0),
            (measure, _) => (measure, self.threshold),
        }
    }

    /// Returns the predicate as an expression.
    pub(super) fn to_expr(&self) -> Expr {
        // `overlap` is a whole number.
        cast(Expr::ScalarFunction(self.similarity.clone()), DataType::Float64).gt_eq(lit(self.threshold))
    }

    /// Returns the same condition for inputs that change places.
    pub(super) fn swapped(self) -> Self {
        Self { left: self.right, right: self.left, left_is: self.left_is.other(), ..self }
    }

    /// Returns the same condition on other sets of the left and of the right input.
    pub(super) fn with_sets(&self, left: Expr, right: Expr) -> Self {
        let similarity = self.similarity_of(left.clone(), right.clone());
        Self { left, right, similarity, ..*self }
    }

    /// Returns the call of the measure with other sets of the left and of the right input.
    pub(super) fn similarity_of(&self, left: Expr, right: Expr) -> ScalarFunction {
        let args = match self.left_is {
            Side::Left => vec![left, right],
            Side::Right => vec![right, left],
        };
        ScalarFunction { args, ..self.similarity.clone() }
    }
}

/// Returns true if a join condition shows that its join is lowered already.
pub(super) fn is_lowered(condition: &Expr) -> Result<bool> {
    condition.exists(|expr| Ok(matches!(expr, Expr::ScalarFunction(function) if is_first_common_token(&function.func))))
}

/// Reads `f >= t`, `t <= f`, `f > t` and `t < f` as a function, the least value allowed, and `t` if `f` must exceed it.
fn at_least(expr: &Expr) -> Option<(&ScalarFunction, f64, Option<f64>)> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else { return None };
    let (function, threshold, strict) = match (left.as_ref(), op, right.as_ref()) {
        (Expr::ScalarFunction(f), Operator::GtEq, Expr::Literal(t, _))
        | (Expr::Literal(t, _), Operator::LtEq, Expr::ScalarFunction(f)) => (f, t, false),
        (Expr::ScalarFunction(f), Operator::Gt, Expr::Literal(t, _))
        | (Expr::Literal(t, _), Operator::Lt, Expr::ScalarFunction(f)) => (f, t, true),
        _ => return None,
    };
    // `f > t` means that `f` is at least the next number after `t`.
    let (threshold, next) = match threshold {
        ScalarValue::Float64(Some(t)) => (*t, t.next_up()),
        ScalarValue::Int64(Some(t)) => {
            (f64::from(i32::try_from(*t).ok()?), f64::from(i32::try_from(t.checked_add(1)?).ok()?))
        }
        _ => return None,
    };
    Some(if strict { (function, next, Some(threshold)) } else { (function, threshold, None) })
}
