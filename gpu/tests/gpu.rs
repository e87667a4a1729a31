//! The real shaders, on Mesa's lavapipe: the script `lavapipe` beside this file finds or gets it. Its libraries must be known
//! when a program starts, so each test runs itself again with them.

use std::ops::ControlFlow;
use std::process::Command;
use std::sync::{Arc, Mutex};

use ibid_gpu::{Bound, Choice, Codes, Cpu, Engine, Error, Gpu, Hit, Task, UseBands, Width, adapters};
use proptest::test_runner::{Config, TestRunner};
use proptest::{prelude::*, prop_oneof};

use crate::cases::{Case, CaseBound, cases, codes, found, tries};

const INSIDE: &str = "IBID_GPU_TEST_INSIDE";

/// Runs a test in a process that finds lavapipe.
fn on_lavapipe(name: &str, test: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return test();
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args([&format!("gpu::{name}"), "--exact", "--nocapture"]).env(INSIDE, "1");
    if cfg!(target_os = "linux") {
        // Cargo runs tests in the folder of the package; another clone may have built this one.
        let environment = Command::new("tests/lavapipe").output().unwrap();
        assert!(environment.status.success(), "{}", String::from_utf8_lossy(&environment.stderr));
        for line in String::from_utf8(environment.stdout).unwrap().lines() {
            let (variable, value) = line.split_once('=').unwrap();
            again.env(variable, value);
        }
    }
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complete = output.status.success() && said.contains("1 passed");
    assert!(complete, "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}

macro_rules! on_lavapipe {
    ($(fn $name:ident() $body:block)*) => {
        $(#[test]
        fn $name() {
            on_lavapipe(stringify!($name), || $body);
        })*
    };
}

fn gpu() -> Gpu {
    Gpu::open(Choice::On, None).unwrap().unwrap()
}

fn engine(gpu: Gpu) -> Engine {
    Engine::new(vec![Arc::new(gpu)])
}

/// Generates sizes of tiles, chunks and buffers so small that there are many of each.
fn tunings() -> impl Strategy<Value = (u32, u64, u64)> {
    let hits = prop_oneof![1..40_u32, Just(1 << 20)];
    let chunk_bytes = prop_oneof![32..4000_u64, Just(1 << 20)];
    let resident_bytes = prop_oneof![0..20_000_u64, Just(1 << 20)];
    (hits, chunk_bytes, resident_bytes)
}

on_lavapipe! {
    fn finds_what_a_plain_loop_and_the_processor_find() {
        let gpu = gpu();
        let cpu = Engine::new(vec![Arc::new(Cpu::default())]);
        let given = (cases(50, 400), tunings(), prop_oneof![1..50_usize, Just(1 << 20)]);
        let run = |(case, (hits, chunk, resident), held): (Case, (u32, u64, u64), usize)| {
            let gpu = gpu.clone().with_hits_per_tile(hits).with_chunk_bytes(chunk).with_resident_bytes(resident);
            let engine = engine(gpu).with_held_hits(held);
            case.check(&engine);
            prop_assert_eq!(found(&engine, &case.task()), found(&cpu, &case.task()));
            Ok(())
        };
        TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(tries(16)) }).run(&given, run).unwrap();
    }

    fn answers_for_given_pairs() {
        let gpu = gpu();
        let given = (cases(60, 200), 32..4000_u64, 0..1000_usize, any::<u64>());
        let run = |(case, chunk, count, seed): (Case, u64, usize, u64)| {
            case.check_mask(&engine(gpu.clone().with_chunk_bytes(chunk)), count, seed);
            Ok(())
        };
        TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(64) }).run(&given, run).unwrap();
    }

    fn many_workgroups_queries_and_chunks_do_not_show() {
        let gpu = gpu();
        let cpu = Engine::new(vec![Arc::new(Cpu::default().with_bands(UseBands::Never))]);
        let sizes = |count: usize| -> Vec<u32> { (0..count).map(|at| (at * 7 % 23) as u32).collect() };
        for width in Width::ALL {
            let (queries, rows) = (4_200, 3_000 + 16_000 / width.words());
            let table = ibid_gpu::jaccard_bounds(0.7, width.bits() / 32, 46).unwrap();
            let mut ascending = sizes(rows);
            ascending.sort_unstable();
            for bound in [
                CaseBound::Constant(width.bits() / 20),
                CaseBound::BySizes { table: table.clone(), query_sizes: sizes(queries), row_sizes: sizes(rows) },
                CaseBound::SelfJoin { table, sizes: ascending, threshold: 0.9 },
            ] {
                let (queries, rows) = (codes(width, queries, 60, 1), codes(width, rows, 60, 2));
                let case = Case { width, queries, rows, bound };
                let gpu = gpu.clone().with_chunk_bytes(40_000).with_resident_bytes(200_000);
                let (hits, expected) = (found(&engine(gpu), &case.task()), found(&cpu, &case.task()));
                assert!(expected.len() > 100, "{} hits", expected.len());
                assert!(hits == expected, "{width:?}");
            }
        }
    }

    fn a_result_buffer_of_one_entry_loses_nothing() {
        let (queries, rows) = (codes(Width::W64, 30, 2, 1), codes(Width::W64, 100, 2, 2));
        let case = Case { width: Width::W64, queries, rows, bound: CaseBound::Constant(40) };
        let expected = case.expected();
        assert!(expected.len() > 1000, "{} hits", expected.len());
        assert_eq!(found(&engine(gpu().with_hits_per_tile(1)), &case.task()), expected);
    }

    fn a_lost_device_is_an_error_and_the_processor_goes_on() {
        let words = codes(Width::W64, 9000, 50, 1);
        let codes = Codes::try_new(Width::W64, &words).unwrap();
        let task = Task::range(codes, codes, Bound::Constant(6)).unwrap();
        let expected = found(&Engine::new(vec![Arc::new(Cpu::default())]), &task);
        // Before a search, and in the middle of one.
        for after in [0, 1, 2, 3, 7] {
            let gpu = gpu().with_chunk_bytes(20_000).with_hits_per_tile(1 << 16);
            let said = Arc::new(Mutex::new(Vec::new()));
            let saying = Arc::clone(&said);
            let engine = Engine::new(vec![Arc::new(gpu.clone()), Arc::new(Cpu::default())])
                .on_fall_back(move |_, error| saying.lock().unwrap().push(error.clone()));
            let (mut hits, mut batches) = (Vec::<Hit>::new(), 0);
            if after == 0 {
                gpu.device().destroy();
            }
            engine
                .search(&task, |batch| {
                    hits.extend_from_slice(batch);
                    batches += 1;
                    if batches == after {
                        gpu.device().destroy();
                    }
                    ControlFlow::Continue(())
                })
                .unwrap();
            assert!(hits == expected, "after {after} batches");
            let said = said.lock().unwrap();
            assert!(matches!(said[..], [Error::DeviceLost(_)]), "{said:?} after {after} batches");
            assert!(matches!(gpu.finish(), Err(Error::DeviceLost(_))));
        }
    }

    fn a_buffer_that_no_device_has_room_for_is_an_error() {
        let table = vec![1; (gpu().adapter().max_storage_buffer_binding_size / 8 + 1) as usize];
        let codes = Codes::try_new(Width::W32, &[1, 2]).unwrap();
        let bound = Bound::BySizes { table: &table, query_sizes: &[1, 2], row_sizes: &[1, 2] };
        let task = Task::range(codes, codes, bound).unwrap();
        let error = engine(gpu()).search(&task, |_| ControlFlow::Continue(())).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory(_)), "{error}");
    }

    fn software_is_taken_where_it_is_asked_for() {
        let adapter = gpu().adapter().clone();
        assert_eq!(adapters().first(), Some(&adapter));
        let named = |choice, name: &str| Gpu::open(choice, Some(name)).map(|gpu| gpu.is_some());
        assert_eq!(named(Choice::Auto, &adapter.name.to_uppercase()), Ok(true));
        assert_eq!(named(Choice::Auto, "no such adapter"), Ok(false));
        assert!(named(Choice::On, "no such adapter").unwrap_err().to_string().contains(&adapter.name));
        assert_eq!(named(Choice::Off, &adapter.name), Ok(false));
        assert_eq!(Gpu::open(Choice::Auto, None).unwrap().is_some(), !adapter.is_software);
    }
}
