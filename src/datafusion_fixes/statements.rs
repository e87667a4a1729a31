use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast;

/// Returns the statement that can have tables in FROM, also within EXPLAIN.
pub fn in_sql(statement: &mut Statement) -> Option<&mut ast::Statement> {
    match statement {
        Statement::Statement(statement) => Some(statement),
        Statement::Explain(explain) => in_sql(&mut explain.statement),
        Statement::CopyTo(_) | Statement::CreateExternalTable(_) | Statement::Reset(_) => None,
    }
}
