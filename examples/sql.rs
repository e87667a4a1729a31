//! A similarity join in SQL on a table in memory, and a method in FROM.
//!
//! `cargo run --example sql`

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks")]

use ibid::Engine;

#[tokio::main]
async fn main() -> Result<(), ibid::Error> {
    let engine = Engine::new()?;
    engine
        .sql(
            "CREATE TABLE letters AS SELECT column1 AS id, shingles(words(normalize(column2)), 2) AS set FROM (VALUES
                 (1, 'Dear all, the meeting is on Monday at nine.'),
                 (2, 'Dear all, the meeting is on Friday at nine.'),
                 (3, 'Lunch is at noon.'))",
        )
        .await?;
    let alike = engine
        .sql("SELECT a.id AS a, b.id AS b FROM letters AS a JOIN letters AS b ON jaccard(a.set, b.set) >= 0.5 AND a.id < b.id")
        .await?;
    alike.show().await?;
    let shared = engine
        .sql("SELECT doc_a, doc_b, count(*) AS passages FROM passages('data/licenses/texts.jsonl.gz', min_words => 50) GROUP BY doc_a, doc_b")
        .await?;
    shared.sort_by(vec![datafusion::prelude::col("doc_a")])?.limit(0, Some(5))?.show().await?;
    Ok(())
}
