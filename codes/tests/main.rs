//! Codebooks of all methods, on generated text.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::num::NonZero;

use ibid_codes::{Code, Frequencies, Learned, Learner, Method, Options, Width, bitmap, learn};
use proptest::prelude::*;

const METHODS: [Method; 5] =
    [Method::Md5, Method::NER, Method::Ner { least: 0.1 }, Method::OPT, Method::Opt { spread: 1.0 }];

type Sentences = Vec<Vec<String>>;

fn learn_from(sentences: &Sentences, options: &Options) -> Learned {
    learn(sentences, &Frequencies::count(sentences), options).unwrap()
}

/// Returns sentences of `topics` topics: most words of a sentence belong to its topic, and a few are common to all.
fn text(sentences: u64, topics: u64, seed: u64) -> Sentences {
    let mut state = seed;
    let mut below = move |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let sentence = |_| {
        let topic = below(topics);
        (0..4 + below(12))
            .map(|_| {
                // Low numbers are more frequent.
                let most = 1 + below(20);
                if below(4) == 0 {
                    format!("common{}", below(most))
                } else {
                    format!("topic{topic}word{}", below(most))
                }
            })
            .collect()
    };
    (0..sentences).map(sentence).collect()
}

fn options(method: Method, width: Width, per_word: u32) -> Options {
    Options { method, width, per_word, top: 100, sample: 2000, seed: 5, ..Options::default() }
}

#[test]
fn codes_do_not_depend_on_threads_or_on_the_order_of_sentences() {
    let sentences = text(3000, 12, 1);
    let mut turned = sentences.clone();
    turned.reverse();
    turned.extend(sentences[..500].to_vec());
    let frequencies = Frequencies::count(&sentences);
    for method in METHODS {
        // There are more words than a thread takes at once.
        let options = Options { top: 250, ..options(method, Width::W64, 3) };
        let one = learn(&sentences, &frequencies, &options).unwrap();
        for threads in [2, 7] {
            let options = Options { threads: NonZero::new(threads).unwrap(), ..options.clone() };
            let many = learn(&turned, &frequencies, &options).unwrap();
            assert_eq!(many.codebook.rows(), one.codebook.rows());
            let same = |learned: Learned| (learned.report.objective, learned.report.loads, learned.report.steps);
            assert_eq!(same(many), same(one.clone()));
        }
    }
}

/// Checks that the reported memory is the peak, however many threads there are: with a byte less it is refused.
#[test]
fn codes_are_learned_in_the_memory_that_is_said_or_not_at_all() {
    let sentences = text(3000, 12, 1);
    let frequencies = Frequencies::count(&sentences);
    for method in METHODS {
        let options = Options { top: 250, ..options(method, Width::W64, 3) };
        let free = learn(&sentences, &frequencies, &options).unwrap();
        for threads in [1, 7] {
            let options = Options { threads: NonZero::new(threads).unwrap(), ..options.clone() };
            let within = |most: usize| {
                let mut learner = Learner::try_new(&frequencies, options.clone()).unwrap();
                sentences.iter().for_each(|sentence| learner.add(sentence));
                let refused = || ibid_codes::Error::Invalid(format!("more than {most}"));
                learner.finish_within(|bytes| if bytes <= most { Ok(()) } else { Err(refused()) })
            };
            let most = within(usize::MAX).unwrap().report.bytes;
            assert_eq!(within(most).unwrap().codebook.rows(), free.codebook.rows());
            assert_eq!(within(most - 1).unwrap_err().to_string(), format!("more than {}", most - 1));
        }
    }
}

#[test]
fn seeds_give_other_codes_of_the_same_quality() {
    let sentences = text(3000, 12, 1);
    let options = options(Method::OPT, Width::W32, 2);
    let one = learn_from(&sentences, &options);
    let other = learn_from(&sentences, &Options { seed: 6, ..options });
    assert_ne!(one.codebook.rows(), other.codebook.rows());
    let after = |learned: &Learned| learned.report.objective.unwrap().after;
    assert!((after(&one) / after(&other) - 1.0).abs() < 0.1);
}

#[test]
fn rows_are_the_most_frequent_words() {
    let sentences = text(500, 4, 2);
    let frequencies = Frequencies::count(&sentences);
    for method in METHODS {
        let codebook = learn_from(&sentences, &Options { top: 7, ..options(method, Width::W64, 4) }).codebook;
        let rows: Vec<(&str, u64)> = codebook.rows().iter().map(|row| (&*row.word, row.frequency)).collect();
        assert_eq!(rows, frequencies.top(7));
        assert!(codebook.rows().iter().all(|row| row.code.count() == 4));
    }
}

#[test]
fn learned_codes_have_bits_in_common_where_words_occur_together() {
    for (width, per_word, share) in [(Width::W32, 2, 0.85), (Width::W64, 3, 0.85), (Width::W128, 2, 0.95)] {
        for spread in [0.25, 1.0] {
            let sentences = text(5000, 16, 3);
            let options = options(Method::Opt { spread }, width, per_word);
            let report = learn_from(&sentences, &Options { top: 300, ..options }).report;
            let objective = report.objective.unwrap();
            assert!(objective.after < share * objective.before, "{objective:?} for {width:?}, {spread}");
            // Rounding takes away little.
            let relaxed = objective.relaxed.unwrap();
            assert!(objective.after < 1.1 * relaxed, "{objective:?} for {width:?}, {spread}");
        }
    }
}

#[test]
fn all_bits_bear_about_the_same_load() {
    // Words of nearly the same frequency, so that nothing stands in the way.
    let sentences: Sentences = (0..6000_u32)
        .map(|i| (0..8).map(|j| format!("topic{}word{}", i % 16, (i / 16).wrapping_mul(7 + j) % 20)).collect())
        .collect();
    let options = options(Method::Opt { spread: 1.0 }, Width::W32, 2);
    let Learned { codebook, report } = learn_from(&sentences, &Options { top: 400, sample: 6000, ..options });
    assert_eq!(report.loads.iter().sum::<u64>(), 2 * 8 * 6000);
    let mean = report.loads.iter().sum::<u64>() / 32;
    assert!(report.loads.iter().all(|load| (mean * 2 / 3..mean * 3 / 2).contains(load)), "{:?}", report.loads);
    assert_eq!(codebook.loads(&Frequencies::count(&sentences)), report.loads);
}

#[test]
fn little_text_is_no_trouble() {
    let words = |sentences: &[&[&str]]| -> Sentences {
        sentences.iter().map(|sentence| sentence.iter().map(|word| (*word).to_owned()).collect()).collect()
    };
    let texts = [
        words(&[]),
        words(&[&[]]),
        words(&[&["one"]]),
        words(&[&[""]]),
        words(&[&["one", "one"]]),
        words(&[&["one", "two"]]),
        words(&[&["one"], &["two"]]),
        words(&[&["the", "same", "sentence"][..]; 1000]),
        words(&[&["the", "same", "sentence"], &["the", "same"], &["another", "one"]]),
    ];
    for sentences in &texts {
        for method in METHODS {
            for (width, per_word) in [
                (Width::W32, 1),
                (Width::W32, 2),
                (Width::W32, 31),
                (Width::W32, 32),
                (Width::W256, 2),
                (Width::W256, 256),
            ] {
                for (top, sample) in [(3000, 300_000), (1, 1), (0, 10), (10, 0)] {
                    let options = Options { top, sample, ..options(method, width, per_word) };
                    let Learned { codebook, report } = learn_from(sentences, &options);
                    let frequencies = Frequencies::count(sentences);
                    assert_eq!(codebook.rows().len(), top.min(frequencies.len()));
                    assert!(codebook.rows().iter().all(|row| row.code.count() == per_word));
                    assert!(report.objective.is_none_or(|objective| objective.after <= objective.before));
                    let occurrences: u64 = sentences.iter().map(|sentence| sentence.len() as u64).sum();
                    assert_eq!(report.loads.iter().sum::<u64>(), u64::from(per_word) * occurrences);
                }
            }
        }
    }
}

#[test]
fn frequencies_may_be_of_another_text() {
    let sentences = text(500, 4, 2);
    let frequencies: Frequencies = [("topic0word0", u64::MAX), ("elsewhere", 9), ("nowhere", 0)].into_iter().collect();
    for method in METHODS {
        let learned = learn(&sentences, &frequencies, &options(method, Width::W32, 2)).unwrap();
        assert_eq!(learned.codebook.rows().len(), 3);
        let none = learn(Sentences::new(), &frequencies, &options(method, Width::W32, 2)).unwrap();
        assert_eq!(none.report.changed, 0);
    }
}

#[test]
fn wrong_options_are_errors() {
    let wrong = |method, per_word| {
        learn(Sentences::new(), &Frequencies::default(), &options(method, Width::W32, per_word))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(wrong(Method::Md5, 0), "a word sets from 1 to 32 bits of a code of 32 bits, not 0");
    assert_eq!(wrong(Method::Md5, 33), "a word sets from 1 to 32 bits of a code of 32 bits, not 33");
    assert_eq!(wrong(Method::Opt { spread: 1.5 }, 2), "the power of a frequency in a load is from 0 to 1, not 1.5");
    assert_eq!(
        wrong(Method::Ner { least: f64::NAN }, 2),
        "the least similarity of words that share a code is from 0 to 1, not NaN"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Checks all pairs of sets by brute force for the property that the exact filter relies on.
    #[test]
    fn codes_differ_in_no_more_bits_than_words_that_are_in_one_sentence_alone_set(
        sets in prop::collection::vec(prop::collection::btree_set(0..14_u64, 0..12), 2..25),
        per_word in 1..6_u32,
        width in prop::sample::select(&Width::ALL[..]),
    ) {
        let sentences: Sentences = sets.iter().map(|set| set.iter().map(|word| format!("w{word}")).collect()).collect();
        let check = |codes: &[Code], per_element: u32| {
            for (a, code_a) in sets.iter().zip(codes) {
                for (b, code_b) in sets.iter().zip(codes) {
                    let alone = u32::try_from(a.symmetric_difference(b).count()).unwrap();
                    prop_assert!(code_a.hamming(code_b) <= per_element * alone);
                }
            }
            Ok(())
        };
        for method in METHODS {
            // Some words are in the codebook and some are not.
            let codebook = learn_from(&sentences, &Options { top: 9, ..options(method, width, per_word) }).codebook;
            let codes: Vec<Code> = sentences.iter().map(|sentence| codebook.bit_code(sentence)).collect();
            check(&codes, per_word)?;
            // A word that comes twice counts once.
            for (sentence, code) in sentences.iter().zip(&codes) {
                prop_assert_eq!(codebook.bit_code(sentence.iter().chain(sentence)), *code);
            }
        }
        let bitmaps: Vec<Code> = sets.iter().map(|set| bitmap(set.iter().copied(), width)).collect();
        check(&bitmaps, 1)?;
    }
}
