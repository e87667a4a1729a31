//! Runs that end at a step of a commit, as by `kill -9`, leave the old state or the new one. The tests try each step:
//! the n-th one for n = 1, 2, …, until a run has fewer steps. The program has these failpoints in builds with debug
//! assertions.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use crate::program::{Place, collection_jsonl};
use crate::scene::{ROOTS, Scene, Trial};

#[test]
fn a_file_is_the_old_one_or_the_new_one_at_each_step() {
    ROOTS.iter().for_each(|root| end_at_each_step(&Trial::passages(root, [20, 60])));
}

#[test]
fn a_corpus_is_the_old_one_or_the_new_one_at_each_step() {
    ROOTS.iter().for_each(|root| end_at_each_step(&Trial::ingest(root, [20, 60])));
}

#[test]
fn an_index_has_the_whole_addition_or_nothing_of_it_at_each_step() {
    // An addition to an index that does not exist yet, and to one in a store.
    end_at_each_step(&Trial::addition(ROOTS[0], "pairs --unit sentence --threshold 0.5", [0, 60]));
    end_at_each_step(&Trial::addition(ROOTS[1], "containment", [40, 40]));
}

/// The object has 18 MiB, which are two parts.
#[test]
fn an_object_that_is_sent_in_parts_is_the_old_one_or_the_new_one_at_each_step() {
    // Words of a line are separated by spaces.
    let query = "SELECT\tsha256(CAST(value\tAS\tVARCHAR))\tAS\tnew\tFROM\tgenerate_series(1,600000)\tORDER\tBY\tvalue";
    let line = format!("sql {query} -o @/out.parquet");
    let state = |scene: &Scene| vec![scene.read("out.parquet")];
    end_at_each_step(&Trial::new("s3://box", &line, [1, 1], &["@"], state));
}

fn end_at_each_step(trial: &Trial) {
    let (mut steps, mut kept) = (Vec::new(), 0);
    loop {
        trial.restore();
        let Some(step) = ends_at(trial.scene.command(&trial.line), steps.len() + 1) else { break };
        if trial.is_kept(&step) {
            // Once the new state is there, no later step brings back the old one.
            assert_eq!(kept, steps.len(), "{}, in {}: old again at {step}", trial.line, trial.scene.root);
            kept += 1;
        }
        steps.push(step);
    }
    assert!(kept > 0 && kept < steps.len(), "{}, in {}: {kept} of {steps:?}", trial.line, trial.scene.root);
    trial.check_temporary_folder();
    eprintln!("{}, in {}: the new state is there after step {kept} of {steps:?}", trial.line, trial.scene.root);
}

/// Runs a command that ends at a step. Returns the step, or `None` if the command has fewer and ended by itself.
fn ends_at(mut command: Command, step: usize) -> Option<String> {
    let output = command.env("IBID_END_AT_STEP", step.to_string()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    if output.status.success() {
        return None;
    }
    assert_eq!(output.status.signal(), Some(9), "{said}");
    let (_, name) = said.trim_end().rsplit_once("ended at the step: ").unwrap();
    Some(format!("ended at step {step}: {name}"))
}

#[test]
fn tables_that_are_kept_are_whole_at_each_step() {
    let place = Place::new();
    place.write("a.jsonl", collection_jsonl(30, 2));
    let line = "pairs a.jsonl --threshold 0.1 --resume kept -o out.csv";
    place.ok(line);
    let whole = place.read("out.csv");
    for step in 1.. {
        std::fs::remove_file(place.path("out.csv")).unwrap();
        std::fs::remove_dir_all(place.path("kept")).unwrap();
        let ended = ends_at(place.command(line.split(' ')), step);
        place.ok(line);
        assert!(place.read("out.csv") == whole, "{ended:?}");
        if ended.is_none() {
            assert!(step > 20, "hardly a table is kept");
            break;
        }
    }
}
