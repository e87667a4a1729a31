use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ibid_gpu::{Backend, Bound, Codes, Collected, Cpu, Engine, Error, Hit, Outcome, Result, Task, Tile, Tiles, Width};
use proptest::prelude::*;

use crate::cases::{cases, codes};

/// A back end that compares as the documentation says, a few tiles ahead, and fails after `steps` steps.
#[derive(Debug)]
struct Failing {
    steps: AtomicUsize,
    queries: u32,
    rows: u32,
    depth: usize,
    hits: usize,
}

struct FailingTiles<'a> {
    backend: &'a Failing,
    task: &'a Task<'a>,
    tiles: Vec<Tile>,
}

impl Failing {
    fn step(&self) -> Result<()> {
        let left = self.steps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map(|_| ()).map_err(|_| Error::DeviceLost("as planned".to_owned()))
    }
}

impl Backend for Failing {
    fn name(&self) -> &str {
        "failing"
    }

    fn open<'a>(&'a self, task: &'a Task<'a>) -> Result<Box<dyn Tiles + 'a>> {
        self.step()?;
        Ok(Box::new(FailingTiles { backend: self, task, tiles: Vec::new() }))
    }

    fn mask(&self, _: &Task<'_>, _: &[u32], _: &[u32]) -> Result<Vec<u64>> {
        Err(Error::OutOfMemory("as planned".to_owned()))
    }
}

impl Tiles for FailingTiles<'_> {
    fn queries_per_tile(&self) -> u32 {
        self.backend.queries
    }

    fn end_of_tile(&self, _: Range<u32>, from: u32) -> u32 {
        from + self.backend.rows
    }

    fn depth(&self) -> usize {
        self.backend.depth
    }

    fn submit(&mut self, tile: Tile) -> Result<()> {
        self.backend.step()?;
        assert!(!tile.queries.is_empty() && !tile.rows.is_empty());
        self.tiles.push(tile);
        assert!(self.tiles.len() <= self.backend.depth);
        Ok(())
    }

    fn collect(&mut self, hits: &mut Vec<Hit>) -> Result<Collected> {
        self.backend.step()?;
        let tile = self.tiles.remove(0);
        let before = hits.len();
        for query in tile.queries {
            let own = self.task.rows_of(query);
            let rows = tile.rows.clone().filter(|row| own.contains(row) && self.task.matches(query, *row));
            hits.extend(rows.map(|row| Hit { query, row }));
        }
        if hits.len() - before > self.backend.hits {
            hits.truncate(before);
            return Ok(Collected::TooMany);
        }
        Ok(Collected::All)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_row_is_lost_or_doubled_when_a_back_end_fails(
        case in cases(40, 60),
        steps in 0..200_usize,
        (queries, rows, depth, hits) in (1..50_u32, 1..70_u32, 1..4_usize, 1..100_usize),
        held_hits in 1..200_usize,
    ) {
        let failing = Failing { steps: AtomicUsize::new(steps), queries, rows, depth, hits };
        let said = Arc::new(Mutex::new(Vec::new()));
        let saying = Arc::clone(&said);
        let engine = Engine::new(vec![Arc::new(failing), Arc::new(Cpu::default())])
            .with_held_hits(held_hits)
            .on_fall_back(move |name, error| saying.lock().unwrap().push(format!("{name}: {error}")));
        case.check(&engine);
        case.check_mask(&engine, 10, 1);
        case.check(&engine);
        prop_assert_eq!(engine.backend(), "cpu");
        prop_assert_eq!(said.lock().unwrap().len(), 1);
    }
}

#[test]
fn a_search_that_no_back_end_can_do_is_an_error() {
    let codes = Codes::try_new(Width::W32, &[1, 2]).unwrap();
    let task = Task::range(codes, codes, Bound::Constant(1)).unwrap();
    let failing = Failing { steps: AtomicUsize::new(2), queries: 1, rows: 1, depth: 1, hits: 1 };
    let engine = Engine::new(vec![Arc::new(failing)]);
    let error = engine.search(&task, |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(error.to_string(), "the GPU was lost: as planned");
    assert_eq!(engine.mask(&task, &[0], &[0]).unwrap_err(), Error::OutOfMemory("as planned".to_owned()));
    assert_eq!(Engine::new(Vec::new()).mask(&task, &[], &[]).unwrap_err().to_string(), "a search needs a back end");
    assert_eq!(engine.mask(&task, &[2], &[0]).unwrap_err().to_string(), "there is no query 2 among 2");
}

#[test]
fn a_sink_stops_a_search() {
    let rows = codes(Width::W64, 2000, 3, 1);
    let far: Vec<u32> = rows.iter().map(|word| !word).collect();
    let codes = |words| Codes::try_new(Width::W64, words).unwrap();
    let engine = Engine::new(vec![Arc::new(Cpu::default())]);
    for (queries, given) in [(&rows, 1 << 16), (&far, 0)] {
        let task = Task::range(codes(queries), codes(&rows), Bound::Constant(16)).unwrap();
        let mut batches = Vec::new();
        let outcome = engine.search(&task, |batch| {
            batches.push(batch.len());
            ControlFlow::Break(())
        });
        assert_eq!((outcome, batches), (Ok(Outcome::Stopped), vec![given]));
    }
}
