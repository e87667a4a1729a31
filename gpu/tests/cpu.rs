use std::num::NonZero;
use std::sync::Arc;

use ibid_gpu::{Cpu, Engine, UseBands, Width};
use proptest::prelude::*;

use crate::cases::{Case, CaseBound, cases, codes, found};

fn engine(threads: usize, bands: UseBands, hits_per_tile: usize) -> Engine {
    let threads = NonZero::new(threads).unwrap();
    let cpu = Cpu::default().with_threads(threads).with_bands(bands).with_hits_per_tile(hits_per_tile);
    Engine::new(vec![Arc::new(cpu)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn finds_what_a_plain_loop_finds(
        case in cases(60, 400),
        threads in 1..4_usize,
        bands in prop::sample::select(vec![UseBands::Auto, UseBands::Never, UseBands::Always]),
        hits_per_tile in prop_oneof![1..50_usize, Just(1 << 20)],
        held_hits in prop_oneof![1..50_usize, Just(1 << 20)],
    ) {
        case.check(&engine(threads, bands, hits_per_tile).with_held_hits(held_hits));
    }

    #[test]
    fn answers_for_given_pairs(case in cases(60, 200), threads in 1..4_usize, count in 0..300_usize, seed: u64) {
        case.check_mask(&engine(threads, UseBands::Auto, 1), count, seed);
    }
}

#[test]
fn blocks_and_threads_do_not_show() {
    for width in Width::ALL {
        let count = 10_000 * 8 / width.bytes();
        let sizes = |count: usize| (0..count).map(|at| (at * 7 % 23) as u32).collect();
        let table = ibid_gpu::jaccard_bounds(0.6, 1, 46).unwrap();
        for bound in [
            CaseBound::Constant(width.bits() / 5),
            CaseBound::BySizes { table, query_sizes: sizes(300), row_sizes: sizes(count) },
        ] {
            let case = Case { width, queries: codes(width, 300, 9, 1), rows: codes(width, count, 9, 2), bound };
            let expected = case.expected();
            assert!(!expected.is_empty());
            for (threads, bands) in [(1, UseBands::Never), (3, UseBands::Never), (3, UseBands::Always)] {
                assert_eq!(found(&engine(threads, bands, 1000), &case.task()), expected, "{width:?}");
            }
        }
    }
}
