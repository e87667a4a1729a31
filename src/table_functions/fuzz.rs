//! The fuzz target of calls in FROM.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use std::ops::ControlFlow;
use std::sync::LazyLock;
use std::thread::{self, Builder};

use datafusion::sql::parser::{DFParser, Statement};
use datafusion::sql::sqlparser::ast::{TableFactor, VisitMut, VisitorMut};

use super::arguments::Arguments;
use super::call::{Call, NAMES};
use crate::engine::Engine;

/// The stack of a thread, in bytes: a sum is nested as deep as it is long.
const STACK: usize = 64 << 20;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new().unwrap());

/// Checks that calls are read or refused with an error, and have columns.
pub(crate) fn calls(data: &[u8]) {
    let script = String::from_utf8_lossy(data);
    let run = || DFParser::parse_sql(&script).into_iter().flatten().for_each(check);
    thread::scope(|scope| Builder::new().stack_size(STACK).spawn_scoped(scope, run).unwrap().join().unwrap());
}

fn check(statement: Statement) {
    if let Statement::Statement(mut statement) = statement {
        let _ = statement.visit(&mut Calls);
    }
}

struct Calls;

impl VisitorMut for Calls {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: Some(arguments), .. } = factor {
            let name = name.to_string().to_lowercase();
            let arguments = Arguments::of(&arguments.args);
            if let (true, Ok(arguments)) = (NAMES.contains(&name.as_str()), arguments) {
                match Call::of(&ENGINE, &name, arguments) {
                    Ok(call) => assert!(!call.schema.fields().is_empty()),
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
        }
        ControlFlow::Continue(())
    }
}
