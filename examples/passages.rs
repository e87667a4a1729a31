//! The passages that the documents of a folder share, and how much of each document stands elsewhere.
//!
//! `cargo run --example passages -- data/licenses/texts.jsonl.gz`

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks")]

use ibid::{Engine, Event};

#[tokio::main]
async fn main() -> Result<(), ibid::Error> {
    let corpus = std::env::args().nth(1).unwrap_or_else(|| "data/licenses/texts.jsonl.gz".to_owned());
    let engine = Engine::builder().memory(1 << 30).build()?;
    let found = engine
        .passages(corpus)
        .min_words(20)
        .coverage(true)
        .on_event(|event| {
            if let Event::Note(note) = event {
                eprintln!("{note}");
            }
        })
        .await?;
    let longest = found.dataframe("passages")?.select_columns(&["doc_a", "doc_b", "char_a_start", "char_a_end"])?;
    longest.limit(0, Some(10))?.show().await?;
    found.dataframe("coverage")?.limit(0, Some(10))?.show().await?;
    for (name, count) in &found.summary().counts {
        println!("{name}: {count}");
    }
    Ok(())
}
