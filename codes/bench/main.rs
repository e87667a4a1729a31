//! Measures how many candidates codes of sentences leave, for all ways to make them, on a text of one sentence a line.

mod candidates;
mod corpus;

use std::collections::BTreeSet;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::time::Instant;

use ibid_codes::{Bound, Code, Frequencies, Measure, Method, Options, Report, Width, bitmap, learn};

use crate::candidates::{Codes, count, recall, similar};
use crate::corpus::{Corpus, Reading};

const USAGE: &str = "\
Usage: ibid-codes-bench FILE [options]

Reads sentences, one a line, takes some as queries, and prints the candidates a query, of all other sentences: those within
the fewest bits that reach a recall of 1, .999 and .99, and those that the exact filter leaves.

  --other FILE     learns codes by OPT from this text, too
  --characters     the words are characters
  --distinct       of sentences with the same words, the first alone
  --min-words N    sentences of at least so many different words
  --limit N        the first N sentences
  --queries N      how many queries (2000)
  --threshold T    the similarity sought (0.8)
  --bits N         bits of learned codes (32)
  --per-word N     bits that a word sets (2)
  --top N          words whose codes are learned (3000)
  --sample N       different sentences that they are learned from (300000)
  --spread X       power of the frequencies in the loads (0.25)
  --least X        similarity of words that share a code (0.5)
  --seed N         for the queries and the codes (0)
  --threads N      (all cores)
";

type AnyResult<T> = Result<T, Box<dyn std::error::Error>>;

struct Arguments {
    file: String,
    other: Option<String>,
    reading: Reading,
    queries: usize,
    threshold: f64,
    least: f64,
    spread: f64,
    options: Options,
}

fn main() -> ExitCode {
    let done = arguments().and_then(|arguments| match arguments {
        Some(arguments) => run(&arguments),
        None => say(USAGE),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "ibid-codes-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn say(text: impl AsRef<str>) -> AnyResult<()> {
    writeln!(stdout(), "{}", text.as_ref().trim_end())?;
    Ok(())
}

fn arguments() -> AnyResult<Option<Arguments>> {
    let mut arguments = Arguments {
        file: String::new(),
        other: None,
        reading: Reading { characters: false, distinct: false, min_words: 1, limit: usize::MAX },
        queries: 2000,
        threshold: 0.8,
        least: 0.5,
        spread: 0.25,
        options: Options { threads: std::thread::available_parallelism()?, ..Options::default() },
    };
    let mut given = std::env::args().skip(1);
    while let Some(option) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{option} needs a value"));
        match option.as_str() {
            "--other" => arguments.other = Some(value()?),
            "--characters" => arguments.reading.characters = true,
            "--distinct" => arguments.reading.distinct = true,
            "--min-words" => arguments.reading.min_words = value()?.parse()?,
            "--limit" => arguments.reading.limit = value()?.parse()?,
            "--queries" => arguments.queries = value()?.parse()?,
            "--threshold" => arguments.threshold = value()?.parse()?,
            "--bits" => {
                let width = Width::of_bits(value()?.parse()?);
                arguments.options.width = width.ok_or("codes have 32, 64, 128 or 256 bits")?;
            }
            "--per-word" => arguments.options.per_word = value()?.parse()?,
            "--top" => arguments.options.top = value()?.parse()?,
            "--sample" => arguments.options.sample = value()?.parse()?,
            "--spread" => arguments.spread = value()?.parse()?,
            "--least" => arguments.least = value()?.parse()?,
            "--seed" => arguments.options.seed = value()?.parse()?,
            "--threads" => arguments.options.threads = value()?.parse()?,
            "--help" | "-h" => return Ok(None),
            file if !file.starts_with('-') && arguments.file.is_empty() => file.clone_into(&mut arguments.file),
            _ => return Err(format!("unknown option {option}\n{USAGE}").into()),
        }
    }
    Ok((!arguments.file.is_empty()).then_some(arguments))
}

fn run(arguments: &Arguments) -> AnyResult<()> {
    let Arguments { options, threshold, .. } = arguments;
    let threads = options.threads.get();
    let corpus = Corpus::read(&arguments.file, &arguments.reading)?;
    let queries = choose(&corpus, arguments.queries, options.seed);
    let found = similar(&corpus, &queries, *threshold, threads);
    say(format!(
        "{} sentences of {:.1} different words on average, {} words; {} queries, similarity {threshold}",
        corpus.len(),
        corpus.mean_size(),
        corpus.words.len(),
        queries.len()
    ))?;

    let Options { width, per_word, .. } = *options;
    let opt = Method::Opt { spread: arguments.spread };
    let mut all = Vec::new();
    for (name, method) in [("md5", Method::Md5), ("ner", Method::Ner { least: arguments.least }), ("opt", opt)] {
        let of_words = learn_codes(&corpus, &corpus, name, &Options { method, ..options.clone() })?;
        all.push(Codes::new(name.to_owned(), width, per_word, &corpus, &of_words));
    }
    if let Some(other) = &arguments.other {
        let other = Corpus::read(other, &arguments.reading)?;
        let of_words = learn_codes(&corpus, &other, "opt, other text", &Options { method: opt, ..options.clone() })?;
        all.push(Codes::new("opt, other text".to_owned(), width, per_word, &corpus, &of_words));
    }
    for width in Width::ALL {
        let of_words: Vec<Code> = (0..corpus.words.len() as u64).map(|word| bitmap([word], width)).collect();
        all.push(Codes::new(format!("bitmap of {}", width.bits()), width, 1, &corpus, &of_words));
    }

    let mut counts = Vec::new();
    for codes in &all {
        let bound = |measure| Bound::try_new(measure, *threshold, codes.per_word);
        let bounds = [bound(Measure::Jaccard)?, bound(Measure::Cosine)?];
        counts.push((count(&corpus, codes, &queries, bounds, threads), bounds));
    }
    for (place, measure) in [Measure::Jaccard, Measure::Cosine].into_iter().enumerate() {
        let name = if measure == Measure::Jaccard { "Jaccard" } else { "cosine" };
        say(format!("\n{name}: candidates a query (within so many bits)"))?;
        say(format!(
            "{:<15} {:>8} {:>17} {:>17} {:>17} {:>12}",
            "codes", "bits set", "recall 1", "recall .999", "recall .99", "exact filter"
        ))?;
        for (codes, (counts, bounds)) in all.iter().zip(&counts) {
            let (similar, lost) = recall(&corpus, codes, &found, measure, *threshold, bounds[place]);
            if lost > 0 {
                return Err(format!("the exact filter of {} loses {lost} of the similar sentences", codes.name).into());
            }
            say(row(codes, &similar, &counts.by_distance, counts.exact[place], queries.len()))?;
        }
        let similar = found.iter().filter(|similar| similar.is(&corpus, measure, *threshold)).count();
        say(format!("similar indeed: {:.1}", similar as f64 / queries.len() as f64))?;
    }
    Ok(())
}

/// Some sentences that have a word.
fn choose(corpus: &Corpus, count: usize, seed: u64) -> Vec<usize> {
    let with_words = (0..corpus.len()).filter(|sentence| corpus.size(*sentence) > 0);
    // Each sentence has a key, and those with the lowest are taken.
    let mut keys: Vec<_> = with_words.map(|sentence| (key(seed, sentence as u64), sentence)).collect();
    keys.sort_unstable();
    let chosen: BTreeSet<usize> = keys.into_iter().take(count).map(|(_, sentence)| sentence).collect();
    chosen.into_iter().collect()
}

/// A number that looks random.
fn key(seed: u64, number: u64) -> u64 {
    let z = (number ^ seed.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The codes of all words of a text, learned from a text.
fn learn_codes(corpus: &Corpus, from: &Corpus, name: &str, options: &Options) -> AnyResult<Vec<Code>> {
    let start = Instant::now();
    let frequencies = Frequencies::count(from.sentences());
    let counted = start.elapsed();
    let learned = learn(from.sentences(), &frequencies, options)?;
    let Report { sentences, sampled, pairs, changed, objective, steps, loads, time, bytes } = learned.report;
    let mean = loads.iter().sum::<u64>() as f64 / loads.len() as f64;
    let share = |load: Option<&u64>| load.map_or(0.0, |load| *load as f64 / mean);
    say(format!(
        "{name}: {changed} codes from {pairs} pairs of words in {sampled} of {sentences} sentences, {steps} steps, \
         {:.2} s (words counted in {:.2} s), {:.0} MiB; loads of bits {:.2} to {:.2} of their mean{}",
        time.as_secs_f64(),
        counted.as_secs_f64(),
        bytes as f64 / f64::from(1 << 20),
        share(loads.iter().min()),
        share(loads.iter().max()),
        objective.map_or_else(String::new, |objective| format!(
            "; objective {:.0} → {}{:.0}",
            objective.before,
            objective.relaxed.map_or_else(String::new, |relaxed| format!("{relaxed:.0} → ")),
            objective.after
        ))
    ))?;
    Ok(corpus.words.iter().map(|word| learned.codebook.code(word)).collect())
}

/// A row of the table, from the numbers of similar sentences and of all sentences by their distance.
fn row(codes: &Codes, similar: &[u64], all: &[u64], exact: u64, queries: usize) -> String {
    let total: u64 = similar.iter().sum();
    let a_query = |count: u64| count as f64 / queries as f64;
    let at = |level: f64| {
        let (mut reached, mut candidates) = (0, 0);
        for (distance, (similar, count)) in similar.iter().zip(all).enumerate() {
            reached += similar;
            candidates += count;
            if reached as f64 >= level * total as f64 {
                return format!("{:.1} ({distance:>2})", a_query(candidates));
            }
        }
        String::new()
    };
    format!(
        "{:<15} {:>8.2} {:>17} {:>17} {:>17} {:>12.1}",
        codes.name,
        codes.set(),
        at(1.0),
        at(0.999),
        at(0.99),
        a_query(exact)
    )
}
