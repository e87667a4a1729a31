//! Runs the fuzz target that `IBID_FUZZ` names, by libFuzzer.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

static TARGET: OnceLock<fn(&[u8])> = OnceLock::new();

fuzz_target!(
    init: {
        // A panic that the library catches is no crash, but libFuzzer's hook would turn it into one.
        drop(std::panic::take_hook());
        let name = std::env::var("IBID_FUZZ").unwrap_or_default();
        let mut targets = ibid::fuzz::TARGETS.into_iter().chain(ibid_cli::fuzz::TARGETS);
        let found = targets.find(|(target, _)| *target == name);
        let Some((_, run)) = found else { panic!("there is no target {name:?}; the folders in fuzz/corpus have one for each") };
        TARGET.get_or_init(|| run);
    },
    |data: &[u8]| {
        if let Some(run) = TARGET.get() {
            run(data);
        }
    }
);
