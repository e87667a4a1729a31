use datafusion::common::{Result, plan_err};
use datafusion::sql::sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, UnaryOperator, Value};

/// The arguments of a call: values, and values by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments {
    pub(super) inputs: Vec<String>,
    pub(super) named: Vec<(String, Vec<String>)>,
}

impl Arguments {
    pub(super) fn of(arguments: &[FunctionArg]) -> Result<Self> {
        let mut read = Self::default();
        for argument in arguments {
            let (name, value) = match argument {
                FunctionArg::Unnamed(value) => (None, value),
                FunctionArg::Named { name, arg, .. } => (Some(name), arg),
                FunctionArg::ExprNamed { name: Expr::Identifier(name), arg, .. } => (Some(name), arg),
                FunctionArg::ExprNamed { .. } => return plan_err!("write name => value, not {argument}"),
            };
            let FunctionArgExpr::Expr(value) = value else { return plan_err!("{argument} is no value") };
            match name {
                None => read.inputs.extend(values(value)?),
                Some(name) => read.named.push((name.value.to_lowercase(), values(value)?)),
            }
        }
        Ok(read)
    }
}

/// Returns the values of an argument: one, or those of a list.
fn values(value: &Expr) -> Result<Vec<String>> {
    match value {
        Expr::Array(list) => Ok(list.elem.iter().map(values).collect::<Result<Vec<_>>>()?.concat()),
        Expr::Nested(value) => values(value),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
            Ok(values(expr)?.into_iter().map(|value| format!("-{value}")).collect())
        }
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => Ok(vec![number.clone()]),
            Value::Boolean(is_true) => Ok(vec![is_true.to_string()]),
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Ok(vec![text.clone()]),
            Value::DollarQuotedString(text) => Ok(vec![text.value.clone()]),
            other => no_argument(&other.to_string()),
        },
        other => no_argument(&other.to_string()),
    }
}

fn no_argument(value: &str) -> Result<Vec<String>> {
    plan_err!("{value} cannot be an argument; write a text, a number, true, false, or a list of them")
}
