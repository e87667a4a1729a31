//! Runs that are killed at random moments leave the old state or the new one. `tests/failpoints.rs` ends them at each step of a
//! commit instead.

use std::time::Instant;

use crate::program::{Dice, collection_jsonl, times};
use crate::scene::{ROOTS, Scene, Trial, tables_kept};

#[test]
#[ignore = "long: make test-long PART=kills"]
fn a_killed_run_leaves_the_old_file_or_the_new_one() {
    ROOTS.iter().for_each(|root| kill_often(&Trial::passages(root, [60, 300])));
}

#[test]
#[ignore = "long: make test-long PART=kills"]
fn a_killed_ingest_leaves_the_old_corpus_or_the_new_one() {
    ROOTS.iter().for_each(|root| kill_often(&Trial::ingest(root, [60, 1500])));
}

#[test]
#[ignore = "long: make test-long PART=kills"]
fn a_killed_addition_adds_all_or_nothing_and_loses_no_row() {
    for root in ROOTS {
        kill_often(&Trial::addition(root, "containment", [100, 100]));
        // With an existing index, and without one.
        for documents in [[100, 100], [0, 100]] {
            kill_often(&Trial::addition(root, "pairs --unit sentence --threshold 0.5", documents));
        }
    }
}

/// Kills a command at random moments, half of them around the moment at which the result appears.
fn kill_often(trial: &Trial) {
    let (mut dice, mut kept) = (Dice(3), 0);
    // The moment changes on a busy machine.
    let mut appears = trial.whole_run;
    let kills = times("IBID_KILLS", 12);
    let mut killed = 0;
    while killed < kills || kept == 0 || kept == killed {
        assert!(killed < 5 * kills, "{}: of {killed} kills {kept} came before the result was there", trial.line);
        trial.restore();
        let is_near = killed % 2 == 0;
        let share = if is_near { 900 + dice.below(200) } else { dice.below(1100) };
        let time = appears * u32::try_from(share).unwrap() / 1000;
        trial.scene.kill(&trial.line, time);
        let is_kept = trial.is_kept(&format!("killed after {time:?} of {:?}", trial.whole_run));
        kept += usize::from(is_kept);
        killed += 1;
        let percent = if kept > 0 && kept < killed { 5 } else { 25 };
        if is_near {
            appears = appears * if is_kept { 100 + percent } else { 100 - percent } / 100;
        }
    }
    trial.check_temporary_folder();
    eprintln!("{}, in {}: {kept} of {killed} kills came before the result was there", trial.line, trial.scene.root);
}

#[test]
#[ignore = "long: make test-long PART=kills"]
fn a_run_takes_up_the_tables_of_one_that_was_killed() {
    let mut dice = Dice(4);
    for (root, command) in [("here", "passages"), ("s3://box", "pairs --unit sentence --threshold 0.5")] {
        let scene = Scene::new(root);
        scene.write("a.jsonl", collection_jsonl(400, 2));
        scene.ok("ingest @/a.jsonl -o @/corpus");
        scene.ok(&format!("{command} @/corpus -o @/whole.parquet"));
        let line = |kept: &str| format!("{command} @/corpus -o @/out.parquet --resume {kept}");
        let began = Instant::now();
        scene.ok(&line("first"));
        let whole_run = began.elapsed();
        let whole = scene.read("whole.parquet");
        assert!(whole == scene.read("out.parquet"), "{command}");
        let (line, stages) = (line("stages"), scene.server.place.path("stages"));
        let (mut killed, mut taken_up) = (0, 0);
        let kills = times("IBID_RESUMES", 10).div_ceil(2);
        while killed < kills || taken_up == 0 {
            assert!(killed < 5 * kills, "{command}: all were killed before they had made a table");
            std::fs::remove_file(scene.path("out.parquet")).unwrap();
            scene.kill(&line, whole_run * u32::try_from(dice.below(1000)).unwrap() / 1000);
            killed += 1;
            taken_up += usize::from(tables_kept(&stages) > 0);
            scene.ok(&line);
            assert!(whole == scene.read("out.parquet"), "{command}: another result");
            std::fs::remove_dir_all(&stages).unwrap();
        }
    }
}
