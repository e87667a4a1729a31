//! `ibid containment INDEX --add -`: documents come as JSON lines, and a line is written for each as soon as it is judged.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use hdrhistogram::Histogram;
use ibid::methods::{Containment, Judged};
use ibid::program::corpus::{STDIN_FILE, refuse_result};
use ibid::program::export::Format;
use ibid::program::grouped;
use ibid::program::methods::Builder;
use serde_json::{Value, json};

use super::options::{InputOptions, OutputOptions, RunOptions, index_of};
use super::run::{Out, ending, prepared, with_given};
use super::{Ending, signals};

/// The options of a stream, in addition to those of the method.
#[derive(Clone, Copy)]
pub(super) struct Streamed<'a> {
    /// The inputs: the index alone.
    pub(super) inputs: &'a [String],
    pub(super) commit_every: Option<Duration>,
    pub(super) writing: &'a OutputOptions,
    pub(super) reading: &'a InputOptions,
    pub(super) running: &'a RunOptions,
}

/// Judges documents of standard input, and adds them to the index.
pub(super) async fn run(mut containment: Containment, streamed: &Streamed<'_>) -> Result<Ending> {
    if streamed.writing.output.is_some() || streamed.writing.format.is_some_and(|format| format != Format::Ndjson) {
        bail!("a stream writes JSON lines to standard output: leave out -o, and a --format other than ndjson");
    }
    streamed.reading.begin_live(containment.shared().engine.stores())?;
    let folder = index_of(streamed.inputs)?;
    streamed.reading.refuse(folder)?;
    streamed.reading.refuse_in(folder, streamed.running)?;
    refuse_result(Path::new(STDIN_FILE), &streamed.reading.reading())?;
    let talk = prepared(&mut containment, streamed.reading.reading(), streamed.running)?;
    // In microseconds.
    let latencies = Arc::new(Mutex::new(Histogram::<u64>::new(3).context("cannot count latencies")?));
    let counted = Arc::clone(&latencies);
    let on_document = move |judged: &Judged<'_>| {
        let goes_on = write_line(judged)?;
        let latency = u64::try_from(judged.read_at.elapsed().as_micros()).unwrap_or(u64::MAX);
        let mut latencies = counted.lock().unwrap_or_else(PoisonError::into_inner);
        latencies.record(latency).map_err(io::Error::other)?;
        Ok(goes_on)
    };
    let mut asked = signals::end_when_asked();
    let until = async move {
        if asked.changed().await.is_err() {
            std::future::pending().await
        }
    };
    let lines = stdin().context("standard input: cannot open it")?;
    let judging = containment.judging(lines).named("standard input").on_document(on_document).until(until);
    let stream = with_given!(judging, commit_every: streamed.commit_every).await?;
    let mut summary = stream.summary;
    let left_out = std::mem::take(&mut summary.left_out);
    talk.summarise(&summary);
    if let Some(documents) = summary.count("documents").filter(|documents| *documents > 0) {
        let latencies = latencies.lock().unwrap_or_else(PoisonError::into_inner);
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let milliseconds = |quantile| latencies.value_at_quantile(quantile) as f64 / 1000.0;
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let speed = documents as f64 / stream.seconds;
        talk.say(&format!(
            "{speed:.0} documents/s; from line to line p50 {:.1} ms, p99 {:.1} ms, at most {:.1} ms; {} documents in memory, {} MiB",
            milliseconds(0.5),
            milliseconds(0.99),
            milliseconds(1.0),
            grouped(stream.documents_in_memory as u64),
            stream.bytes_in_memory >> 20
        ));
    }
    summary.left_out = left_out;
    talk.say_left_out(&summary);
    Ok(ending(&summary, streamed.running))
}

/// Returns standard input as a file, which is read without a lock and without a shared buffer.
fn stdin() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned();
    owned.map(File::from)
}

/// Writes the result of a document as a JSON line. Returns false if standard output was closed.
fn write_line(judged: &Judged<'_>) -> io::Result<bool> {
    let rows: Vec<Value> = judged
        .rows
        .iter()
        .map(|row| {
            json!({
                "contained": row.contained,
                "container": row.container,
                "score": row.score,
                "score_back": row.score_back,
                "sentences": row.sentences,
            })
        })
        .collect();
    let line = format!("{}\n", json!({ "doc_id": judged.doc_id, "added": judged.is_new, "rows": rows }));
    let mut stdout = Out;
    match stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(io::Error::new(error.kind(), format!("cannot write to standard output: {error}"))),
    }
}
