//! Rewrites of conditions on the Hamming distance of two codes to conditions on the similarity of two sets.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, lit};
use ibid_udfs::similarity::expr_fn::{hamming_bands, overlap};
use ibid_udfs::similarity::{Side, is_hamming};

use super::node::SimilarityJoin;
use super::predicate::SimilarityPredicate;

/// Returns the condition that follows from `hamming(a, b) <= k`:
/// `overlap(hamming_bands(a, k), hamming_bands(b, k)) >= 1`.
pub(super) fn shared_band(conjunct: &Expr) -> Option<Expr> {
    let ([a, b], k) = distance(conjunct)?;
    Some(overlap(hamming_bands(a.clone(), k), hamming_bands(b.clone(), k)).gt_eq(lit(1_i64)))
}

/// The codes of a join whose predicate follows from a condition on their Hamming distance: the code of the left and of
/// the right input, their number of bits, and the largest distance that matches.
pub(super) struct NearCodes {
    pub(super) left: Expr,
    pub(super) right: Expr,
    pub(super) bits: u32,
    pub(super) distance: u32,
}

impl NearCodes {
    pub(super) fn of(join: &SimilarityJoin) -> Option<Self> {
        let (left, right) = (join.left.schema(), join.right.schema());
        let predicate = &join.on_any.first.predicate;
        if !join.on_any.others.is_empty() {
            return None;
        }
        split_conjunction(join.filter.as_ref()?).into_iter().find_map(|conjunct| {
            let ([a, b], k) = distance(conjunct)?;
            let implied = SimilarityPredicate::recognise(&shared_band(conjunct)?, left, right)?;
            if (&implied.left, &implied.right) != (&predicate.left, &predicate.right) {
                return None;
            }
            let (of_left, of_right) = if implied.left_is == Side::Left { (a, b) } else { (b, a) };
            let bytes = match of_left.get_type(left).ok()? {
                DataType::FixedSizeBinary(bytes) => usize::try_from(bytes).ok(),
                integer => integer.primitive_width(),
            };
            let bits = u32::try_from(8 * bytes?).ok()?;
            let distance = u32::try_from(k).unwrap_or(u32::MAX);
            Some(Self { left: of_left.clone(), right: of_right.clone(), bits, distance })
        })
    }
}

/// Reads a condition on the distance of two codes as the codes and the largest distance allowed.
fn distance(conjunct: &Expr) -> Option<([&Expr; 2], i64)> {
    let (function, k) = at_most(conjunct)?;
    let [a, b] = function.args.as_slice() else { return None };
    (is_hamming(&function.func) && k >= 0).then_some(([a, b], k))
}

/// Reads `f <= k`, `k >= f`, `f < k`, `k > f` and `f = k` as a function and its largest value allowed.
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
