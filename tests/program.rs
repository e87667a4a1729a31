//! Helpers of the tests that run the program, each in a folder of its own.

use std::fmt::{Debug, Write as _};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The outcome of a run of the program.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit code; `None` if a signal ended the run.
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Ended {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }
}

/// A folder that is removed after the test. Commands run in it, and have their folder for temporary files in it.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tmp")).unwrap();
        Self(folder)
    }

    /// Makes a place with files.
    pub(crate) fn with<const N: usize>(files: [(&str, &str); N]) -> Self {
        let place = Self::new();
        for (name, contents) in files {
            place.write(name, contents);
        }
        place
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }

    pub(crate) fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Returns the names in the folder, including hidden ones.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names.retain(|name| name != "tmp");
        names
    }

    pub(crate) fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ibid"));
        command.current_dir(self.0.path()).env("TMPDIR", self.path("tmp")).args(arguments).stdin(Stdio::null());
        command
    }

    /// Starts the program with the arguments of a line, which are separated by spaces.
    pub(crate) fn start(&self, line: &str) -> Child {
        self.command(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Runs the program with the arguments of a line, which are separated by spaces.
    pub(crate) fn run(&self, line: &str) -> Ended {
        self.run_with(line.split(' '), "")
    }

    /// Runs the program with these arguments and this standard input.
    pub(crate) fn run_with<'a>(&self, arguments: impl IntoIterator<Item = &'a str>, input: &str) -> Ended {
        run_command(self.command(arguments), input)
    }

    /// Runs a command that must succeed, and returns its output.
    #[track_caller]
    pub(crate) fn ok(&self, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, Some(0), "{line}\n{}", ended.err);
        String::from_utf8(ended.out).unwrap()
    }

    /// Runs a command that must fail with this exit code, and returns its standard error.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, Some(code), "{line}\n{}", ended.err);
        ended.err
    }

    /// Returns the rows that a command prints.
    #[track_caller]
    pub(crate) fn rows(&self, line: &str) -> Vec<Value> {
        json_lines(&self.ok(&format!("{line} --format ndjson")))
    }

    /// Returns the rows of a query.
    #[track_caller]
    pub(crate) fn sql(&self, sql: &str) -> Vec<Value> {
        let ended = self.run_with(["sql", sql, "--format", "ndjson"], "");
        assert_eq!(ended.code, Some(0), "{sql}\n{}", ended.err);
        json_lines(ended.text())
    }
}

/// Runs a command with this standard input.
pub(crate) fn run_command(mut command: Command, input: &str) -> Ended {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_owned());
    // The command may end before it has read all of its input.
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).ok());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ended { code: output.status.code(), out: output.stdout, err: String::from_utf8(output.stderr).unwrap() }
}

/// Runs a command to its end, and fails if it takes longer than `longest`. Returns its peak memory in MiB, too.
#[track_caller]
pub(crate) fn watch(mut command: Command, longest: Duration) -> (Ended, u64) {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    watch_child(child, longest, &command)
}

/// Watches a running process like [`watch`]. Its output must go to pipes; `what` names it in errors.
#[track_caller]
pub(crate) fn watch_child(mut child: Child, longest: Duration, what: impl Debug) -> (Ended, u64) {
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let out = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        out.read_to_end(&mut bytes).map(|_| bytes).unwrap()
    });
    let err = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        err.read_to_end(&mut bytes).map(|_| bytes).unwrap()
    });
    let (began, status_file) = (Instant::now(), format!("/proc/{}/status", child.id()));
    let mut peak = 0;
    let status = loop {
        // A process that has ended still has a status file, but without its memory.
        let status = std::fs::read_to_string(&status_file).unwrap_or_default();
        if let Some(line) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
            peak = line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10;
        }
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > longest {
            child.kill().unwrap();
            panic!("{what:?} hangs, and has said: {}", String::from_utf8_lossy(&err.join().unwrap()));
        }
        std::thread::sleep(Duration::from_millis(3));
    };
    let err = String::from_utf8(err.join().unwrap()).unwrap();
    (Ended { code: status.code(), out: out.join().unwrap(), err }, peak)
}

/// Replaces a folder by a copy of another one, including subfolders.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    if to.exists() {
        std::fs::remove_dir_all(to).unwrap();
    }
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns the number of random trials: the value of the environment variable, or `fallback`.
pub(crate) fn times(variable: &str, fallback: usize) -> usize {
    std::env::var(variable).map_or(fallback, |times| times.parse().unwrap())
}

/// Returns the commands that are tried on randomly split collections, each with the number of its round: every
/// `every`-th command, or all of them in as many rounds as `IBID_SPLITS` says.
pub(crate) fn splits<'a>(commands: &'a [&'a str], every: usize) -> impl Iterator<Item = (usize, &'a str)> {
    let rounds = times("IBID_SPLITS", 0);
    let step = if rounds == 0 { every } else { 1 };
    (0..rounds.max(1)).flat_map(move |round| commands.iter().step_by(step).map(move |command| (round, *command)))
}

pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Compresses `data` with gzip.
pub(crate) fn gzip(data: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// Compresses `data` with bzip2.
pub(crate) fn bzip2(data: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(data.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// Returns documents as JSON lines.
pub(crate) fn jsonl<I: AsRef<str>, T: AsRef<str>>(documents: impl IntoIterator<Item = (I, T)>) -> String {
    documents.into_iter().fold(String::new(), |mut lines, (id, text)| {
        writeln!(lines, "{}", serde_json::json!({ "id": id.as_ref(), "text": text.as_ref() })).unwrap();
        lines
    })
}

/// A generator of numbers that look random and are the same in every run (SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % n as u64).unwrap()
    }

    /// Makes a sentence of four to `longest` words from a vocabulary of `vocabulary` words.
    pub(crate) fn sentence(&mut self, longest: usize, vocabulary: usize) -> String {
        let length = 4 + self.below(longest - 3);
        let words: Vec<String> = (0..length).map(|_| word(self.below(vocabulary))).collect();
        format!("So {}.", words.join(" "))
    }
}

/// Returns the `n`-th word.
fn word(n: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va"];
    [n % 16, n / 16 % 16, n / 256 % 16, n / 4096 % 16].map(|i| SYLLABLES[i]).concat()
}

/// Makes a collection of `documents` documents. About one in three holds two to six sentences of an earlier one, some
/// of them with a word changed, some left out. A few sentences occur in many documents.
pub(crate) fn collection(documents: usize, seed: u64) -> Vec<(String, Vec<String>)> {
    let mut dice = Dice(seed);
    let banners: Vec<String> = (0..3).map(|_| dice.sentence(9, 3000)).collect();
    let mut made: Vec<(String, Vec<String>)> = Vec::new();
    for number in 0..documents {
        let mut sentences: Vec<String> = (0..5 + dice.below(8)).map(|_| dice.sentence(12, 3000)).collect();
        if number > 0 && dice.below(3) == 0 {
            let source = made[dice.below(number)].1.clone();
            let from = dice.below(source.len() - 2);
            let mut copy = source[from..source.len().min(from + 2 + dice.below(5))].to_vec();
            for sentence in &mut copy {
                if dice.below(3) == 0 {
                    *sentence = sentence.replacen(' ', " indeed ", 1);
                }
            }
            if dice.below(3) == 0 {
                copy.remove(dice.below(copy.len()));
            }
            let at = dice.below(sentences.len());
            sentences.splice(at..at, copy);
        }
        if dice.below(2) == 0 {
            sentences.push(banners[dice.below(banners.len())].clone());
        }
        made.push((format!("d{number:05}"), sentences));
    }
    made
}

/// Makes the same collection as JSON lines.
pub(crate) fn collection_jsonl(documents: usize, seed: u64) -> String {
    jsonl(collection(documents, seed).into_iter().map(|(id, sentences)| (id, sentences.join(" "))))
}
