//! How much memory a command takes for a collection that is ten times as large as what it may take.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::time::{Duration, Instant};

use crate::program::{Place, collection, jsonl, times, watch};

/// No command takes longer.
const LONGEST: Duration = Duration::from_secs(1800);

#[test]
fn ingest_of_ten_times_the_memory() {
    let memory = times("IBID_MEMORY", 256) as u64;
    let place = Place::new();
    let mut file = BufWriter::new(File::create(place.path("texts.jsonl")).unwrap());
    let documents = collection(20_000, 1);
    let wanted = (10 * memory) << 20;
    let (mut bytes, mut copies) = (0, 0);
    while bytes < wanted {
        let copy = documents.iter().map(|(id, sentences)| (format!("{copies}-{id}"), sentences.join(" ")));
        let lines = jsonl(copy);
        file.write_all(lines.as_bytes()).unwrap();
        bytes += lines.len() as u64;
        copies += 1;
    }
    file.into_inner().unwrap();

    let line = format!("ingest texts.jsonl -o corpus --memory {memory}MiB");
    let began = Instant::now();
    let (ended, peak) = watch(place.command(line.split(' ')), LONGEST);
    assert_eq!(ended.code, Some(0), "{line}: {}", ended.err);
    eprintln!("{line}, of {} MiB: {peak} MiB, {:.0} s", bytes >> 20, began.elapsed().as_secs_f64());
    assert!(peak <= memory * 5 / 4, "{line}: {peak} MiB");
    let counted = place.sql("SELECT count(*) AS n, count(DISTINCT doc_id) AS d FROM 'corpus/documents.parquet'");
    assert_eq!(counted[0]["n"], copies * 20_000);
    assert_eq!(counted[0]["d"], copies * 20_000);
}
