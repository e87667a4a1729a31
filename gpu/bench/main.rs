//! Measures the search by Hamming distance on the processor and on a GPU, and compares it with their upper limits.

mod ceilings;
mod data;

use std::io::{Write, stdout};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ibid_gpu::{
    Backend, Bound, Choice, Codes, Cpu, Engine, Error, Gpu, Task, UseBands, Width, adapters, jaccard_bounds,
};

use crate::ceilings::Ceilings;
use crate::data::{bitmaps, near, random};

const USAGE: &str = "\
Usage: ibid-gpu-bench [--quick] [--no-gpu] [--adapter NAME] [--threads N] [--dump DIR]

Prints pairs a second for codes of 32, 64, 128 and 256 bits, 1,000,000 rows and 2,000 queries, on the processor and on the
GPU, with the share of what each can do at most; 10,000,000 rows and 2,000 queries with all transfers; and a self-join of
1,000,000 sets by bitmaps of 256 bits.

  --quick         a tenth of the rows
  --no-gpu        the processor alone
  --adapter NAME  the GPU with this in its name, of software too (also: IBID_GPU_ADAPTER)
  --threads N     threads on the processor (default: all cores)
  --dump DIR      writes the codes of 64 bits to DIR/rows.bin and DIR/queries.bin, little-endian, and measures these alone
";

struct Arguments {
    rows: usize,
    gpu: bool,
    adapter: Option<String>,
    threads: NonZero<usize>,
    dump: Option<String>,
}

type AnyResult<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let done = arguments().and_then(|arguments| match arguments {
        Some(arguments) => run(&arguments),
        None => say(USAGE),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "ibid-gpu-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn say(text: impl AsRef<str>) -> AnyResult<()> {
    writeln!(stdout(), "{}", text.as_ref().trim_end())?;
    Ok(())
}

fn arguments() -> AnyResult<Option<Arguments>> {
    let threads = std::thread::available_parallelism()?;
    let mut arguments = Arguments { rows: 1_000_000, gpu: true, adapter: None, threads, dump: None };
    let mut given = std::env::args().skip(1);
    while let Some(option) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{option} needs a value"));
        match option.as_str() {
            "--quick" => arguments.rows = 100_000,
            "--no-gpu" => arguments.gpu = false,
            "--adapter" => arguments.adapter = Some(value()?),
            "--threads" => arguments.threads = value()?.parse()?,
            "--dump" => arguments.dump = Some(value()?),
            "--help" | "-h" => return Ok(None),
            _ => return Err(format!("unknown option {option}\n{USAGE}").into()),
        }
    }
    Ok(Some(arguments))
}

fn run(arguments: &Arguments) -> AnyResult<()> {
    let cpu = Cpu::default().with_threads(arguments.threads);
    let scan: Arc<dyn Backend> = Arc::new(cpu.clone().with_bands(UseBands::Never));
    let cpu: Arc<dyn Backend> = Arc::new(cpu);
    if let Some(folder) = &arguments.dump {
        return dump(folder, arguments, &cpu, &scan);
    }
    let gpu = if arguments.gpu { open(arguments)? } else { None };
    let mut ceilings = Ceilings::measure(arguments.threads, gpu.as_ref())?;
    say(ceilings.to_string())?;
    let gpu = gpu.map(|gpu| Arc::new(gpu) as Arc<dyn Backend>);

    say(format!("\n{} rows, 2000 queries: billions of pairs a second (share of the binding ceiling)", arguments.rows))?;
    say(format!("{:>5} {:>3} {:>10} {:>17} {:>14} {:>17}", "bits", "d", "hits", "cpu", "cpu, by choice", "gpu"))?;
    for width in Width::ALL {
        let distance = if width == Width::W32 { 1 } else { 3 };
        let (rows, queries) = codes(width, arguments.rows);
        let task =
            Task::range(Codes::try_new(width, &queries)?, Codes::try_new(width, &rows)?, Bound::Constant(distance))?;
        let pairs = arguments.rows as f64 * 2000.0;
        let (on_cpu, hits) = measure(&scan, &task, || ceilings.measure_again())?;
        let (by_choice, again) = measure(&cpu, &task, || {})?;
        same(hits, again)?;
        let on_gpu = match &gpu {
            None => "none".to_owned(),
            Some(gpu) => {
                let (time, again) = measure(gpu, &task, || {})?;
                same(hits, again)?;
                let ceiling = ceilings.of_gpu(width, arguments.rows);
                share(pairs / time.as_secs_f64(), ceiling)
            }
        };
        let on_cpu = share(pairs / on_cpu.as_secs_f64(), ceilings.of_cpu(width));
        let by_choice = pairs / by_choice.as_secs_f64() / 1e9;
        let bits = width.bits();
        say(format!("{bits:>5} {distance:>3} {hits:>10} {on_cpu:>17} {by_choice:>14.2} {on_gpu:>17}"))?;
    }

    let backends: Vec<_> =
        [(&scan, "cpu"), (&cpu, "cpu, by choice")].into_iter().chain(gpu.iter().map(|gpu| (gpu, "gpu"))).collect();
    let (rows, queries) = codes(Width::W64, arguments.rows * 10);
    let (rows, queries) = (Codes::try_new(Width::W64, &rows)?, Codes::try_new(Width::W64, &queries)?);
    let task = Task::range(queries, rows, Bound::Constant(3))?;
    say(format!("\n{} rows, 2000 queries, 64 bits, d = 3, all transfers included, once", rows.len()))?;
    for (backend, name) in &backends {
        let (time, hits) = once(backend, &task)?;
        say(format!("{name:>14}: {:.3} s, {hits} hits", time.as_secs_f64()))?;
    }

    let (sets, sizes) = bitmaps(arguments.rows);
    let sets = Codes::try_new(Width::W256, &sets)?;
    let table = jaccard_bounds(0.5, 1, 2 * sizes.last().copied().unwrap_or(0))?;
    let task = Task::self_join(sets, &sizes, &table, 0.5)?;
    let pairs: u64 = (0..sets.len()).map(|row| task.rows_of(row).len() as u64).sum();
    say(format!(
        "\nself-join of {} sets at 0.5 by bitmaps of 256 bits, {pairs} pairs by their sizes, once",
        sets.len()
    ))?;
    for (backend, name) in &backends {
        let (time, hits) = once(backend, &task)?;
        let rate = pairs as f64 / time.as_secs_f64() / 1e9;
        say(format!("{name:>14}: {:.3} s, {rate:.2} billion pairs a second, {hits} hits", time.as_secs_f64()))?;
    }
    Ok(())
}

/// Opens the requested GPU, or the first one that is not software, and prints the adapters.
fn open(arguments: &Arguments) -> AnyResult<Option<Gpu>> {
    for adapter in adapters() {
        let (binding, buffer) = (adapter.max_storage_buffer_binding_size >> 20, adapter.max_buffer_size >> 20);
        say(format!("adapter: {adapter}, bindings up to {binding} MiB, buffers up to {buffer} MiB"))?;
    }
    let choice = if arguments.adapter.is_some() { Choice::On } else { Choice::Auto };
    let gpu = Gpu::open(choice, arguments.adapter.as_deref())?;
    match &gpu {
        Some(gpu) => say(format!("GPU: {}\n", gpu.adapter()))?,
        None => say("GPU: none\n")?,
    }
    Ok(gpu)
}

/// Returns rows set by chance, and 2,000 queries. Every other query is a row with some bits changed.
fn codes(width: Width, rows: usize) -> (Vec<u32>, Vec<u32>) {
    let rows = random(width, rows, 1);
    let queries = near(width, &rows, 2000, 2);
    (rows, queries)
}

fn share(rate: f64, ceiling: f64) -> String {
    format!("{:.2} ({:.2})", rate / 1e9, rate / ceiling)
}

fn same(expected: u64, found: u64) -> AnyResult<()> {
    if expected == found { Ok(()) } else { Err(format!("{found} hits where others found {expected}").into()) }
}

/// Searches once, and counts hits.
fn once(backend: &Arc<dyn Backend>, task: &Task<'_>) -> Result<(Duration, u64), Error> {
    let begin = Instant::now();
    let mut hits = 0;
    let engine = Engine::new(vec![Arc::clone(backend)]);
    engine.search(task, |batch| {
        hits += batch.len() as u64;
        ControlFlow::Continue(())
    })?;
    Ok((begin.elapsed(), hits))
}

/// Returns the best time of ten searches; calls `between` between two of them.
fn measure(backend: &Arc<dyn Backend>, task: &Task<'_>, mut between: impl FnMut()) -> Result<(Duration, u64), Error> {
    let (mut best, hits) = once(backend, task)?;
    for _ in 1..10 {
        between();
        best = best.min(once(backend, task)?.0);
    }
    Ok((best, hits))
}

/// Writes the codes of 64 bits for another program, and measures them here.
fn dump(folder: &str, arguments: &Arguments, cpu: &Arc<dyn Backend>, scan: &Arc<dyn Backend>) -> AnyResult<()> {
    let (rows, queries) = codes(Width::W64, arguments.rows);
    for (name, words) in [("rows.bin", &rows), ("queries.bin", &queries)] {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(std::path::Path::new(folder).join(name), bytes)?;
    }
    let task =
        Task::range(Codes::try_new(Width::W64, &queries)?, Codes::try_new(Width::W64, &rows)?, Bound::Constant(3))?;
    for (name, backend) in [("ibid, all pairs", scan), ("ibid, by choice", cpu)] {
        let (time, hits) = measure(backend, &task, || {})?;
        say(format!("{name}: {:.4} s, {hits} hits", time.as_secs_f64()))?;
    }
    Ok(())
}
