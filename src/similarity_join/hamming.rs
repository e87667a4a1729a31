//! A condition on the distance of two codes as one on the similarity of two sets.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, lit};
use ibid_udfs::similarity::expr_fn::{hamming_bands, overlap};
use ibid_udfs::similarity::is_hamming;

/// What follows from `hamming(a, b) <= k`: `overlap(hamming_bands(a, k), hamming_bands(b, k)) >= 1`.
pub(super) fn shared_band(conjunct: &Expr) -> Option<Expr> {
    let (function, k) = at_most(conjunct)?;
    let [a, b] = function.args.as_slice() else { return None };
    let is_distance = is_hamming(&function.func) && k >= 0;
    is_distance.then(|| overlap(hamming_bands(a.clone(), k), hamming_bands(b.clone(), k)).gt_eq(lit(1_i64)))
}

/// Reads `f <= k`, `k >= f`, `f < k`, `k > f` and `f = k` as a function and the most it may be.
fn at_most(expr: &Expr) -> Option<(&ScalarFunction, i64)> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else { return None };
    let (function, op, most) = match (left.as_ref(), right.as_ref()) {
        (Expr::ScalarFunction(function), Expr::Literal(ScalarValue::Int64(Some(k)), _)) => (function, *op, *k),
        (Expr::Literal(ScalarValue::Int64(Some(k)), _), Expr::ScalarFunction(function)) => (function, op.swap()?, *k),
        _ => return None,
    };
    match op {
        Operator::LtEq | Operator::Eq => Some((function, most)),
        Operator::Lt => Some((function, most.checked_sub(1)?)),
        _ => None,
    }
}
