//! Repeated questions among records in memory.
//!
//! `cargo run --example pairs`

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks")]

use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchIterator, StringArray};
use ibid::{Engine, Input};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let questions = RecordBatch::try_from_iter([
        ("id", Arc::new(StringArray::from(vec!["q1", "q2", "q3"])) as _),
        (
            "text",
            Arc::new(StringArray::from(vec![
                "How do I undo the last commit in Git?",
                "How do I undo the last commit in git",
                "How do I centre a table in LaTeX?",
            ])) as _,
        ),
    ])?;
    let reader = RecordBatchIterator::new([Ok(questions.clone())], questions.schema());
    let engine = Engine::new()?;
    let found = engine.pairs(Input::batches(reader)).signature("shingles:2".parse()?).threshold(0.7).await?;
    found.dataframe("pairs")?.show().await?;
    println!("{} questions, {} skipped", found.summary().count("documents").unwrap_or(0), found.summary().skipped);
    Ok(())
}
