//! The program ibid: arguments in, exit code out, and an SQL shell.
//!
//! The library [`ibid`] does the work; this package parses the arguments and prints the results. Other packages can
//! offer the same program with [`run`].

mod clusters;
mod codes;
mod compare;
mod containment;
mod decontaminate;
mod dedup;
mod explain;
mod extension;
mod gc;
mod gpu;
mod ingest;
mod kept;
mod options;
mod outbox;
mod pairs;
mod passages;
mod report;
mod review;
mod run;
mod search;
mod signals;
mod sql;
mod stream;
mod threads;
mod verify;
mod warnings;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::num::NonZero;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use clap::{Arg, ArgMatches, FromArgMatches, Parser, Subcommand};

pub use self::extension::{Extension, NoExtension};
use self::options::StoreOptions;
pub use self::run::{engine_of_server, say};
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use self::sql::fuzz;
use ibid::program::export::cleanup;

use ibid::program::store;
use ibid::program::store::Stores;
use ibid::program::visible;
use ibid::program::watch;

/// Finds text reuse exactly, says where it is, and does it in SQL.
#[derive(Debug, Parser)]
#[command(name = "ibid", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    stores: StoreOptions,
}

#[derive(Debug, Subcommand)]
enum Command {
    Ingest(ingest::Ingest),
    Passages(passages::Passages),
    Pairs(pairs::Pairs),
    Threads(threads::Threads),
    Clusters(clusters::Clusters),
    Containment(containment::Containment),
    Dedup(dedup::Dedup),
    Decontaminate(decontaminate::Decontaminate),
    Compare(compare::Compare),
    Search(search::Search),
    Report(report::Report),
    Review(review::Review),
    Codes(codes::Codes),
    Explain(explain::Explain),
    Sql(sql::Sql),
    Verify(verify::Verify),
    Gc(gc::Gc),
    Gpu(gpu::Gpu),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// The stack of each thread, in bytes.
pub const STACK: usize = 64 << 20;

/// The outcome of a command.
enum Ending {
    Done,
    /// With `--strict`: something was capped or skipped.
    NotStrict,
    /// A failure that counts even if standard output was closed.
    Failed(anyhow::Error),
}

/// Runs the program with these arguments and returns the exit code. The first argument is the name of the program.
///
/// `give_back` makes the allocator of the program return freed memory to the operating system.
///
/// Exit codes: 0 done, 1 failed, 2 wrong usage, 4 something was capped or skipped under `--strict`; 129, 130 and 143 ended
/// by a hangup, an interrupt, a request to terminate.
#[must_use]
pub fn run(arguments: &[OsString], give_back: fn()) -> u8 {
    run_extended(arguments, give_back, Box::new(NoExtension))
}

/// Runs the program like [`run`], with the additions of another program. It can be called once in a process.
#[must_use]
pub fn run_extended(arguments: &[OsString], give_back: fn(), extension: Box<dyn Extension>) -> u8 {
    let extension = extension::of_program(extension);
    let matches = match matches(arguments) {
        Ok(matches) => matches,
        Err(error) => return misused(&error, arguments),
    };
    warnings::listen();
    if let Some(ended) = extension.run(&matches) {
        return match ended {
            Ok(()) => 0,
            Err(error) => {
                run::say(&run::describe(&error));
                1
            }
        };
    }
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return misused(&error, arguments),
    };
    watch::configure(give_back);
    let stores = cli.stores.made();
    let of_run = Arc::clone(&stores);
    // The threads have large stacks, because statements can be nested deeply. A stack takes memory only as far as it is
    // used.
    let run = std::thread::Builder::new().name("main".to_owned()).stack_size(STACK).spawn(move || {
        end_on_signal(Arc::clone(&of_run))?;
        check_threads()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().thread_stack_size(STACK).enable_all().build()?;
        let outcome = runtime.block_on(outbox::with_outbox(delivered(cli.command, &of_run)));
        // Work that still runs on other threads is no longer needed and ends with the process. Shutting the runtime
        // down would detach threads that are about to end, and glibc may then look for a large stack that is already
        // gone.
        std::mem::forget(runtime);
        outcome
    });
    let outcome = match run {
        Ok(run) => run.join(),
        Err(error) => Ok(Err(error.into())),
    };
    // After a panic this removes the temporary files. Otherwise it waits here if a signal is ending the program, so
    // that errors about the removed temporary files are not printed.
    let _last_word = if outcome.is_err() { cleanup::remove_all(&stores) } else { cleanup::hold() };
    match outcome {
        Ok(Ok(Ending::Done)) => 0,
        Ok(Ok(Ending::NotStrict)) => 4,
        // The reader of standard output closed it and has seen enough.
        Ok(Err(_)) if run::stdout_is_closed() => 0,
        Ok(Ok(Ending::Failed(error)) | Err(error)) => {
            run::say(&run::describe(&error));
            1
        }
        Err(_) => {
            run::say("internal error: the program panicked, see above; please report it with the command that did it");
            1
        }
    }
}

/// Returns the stores that the options of a command line describe.
///
/// # Errors
///
/// Fails if the command line has no such options.
pub fn stores_of(matches: &ArgMatches) -> anyhow::Result<Arc<Stores>> {
    Ok(StoreOptions::from_arg_matches(matches)?.made())
}

/// Runs a command, then commits the outputs that it left in the outbox.
async fn delivered(command: Command, stores: &Arc<Stores>) -> anyhow::Result<Ending> {
    let outcome = dispatch(command, stores).await;
    if let Ok(Ending::Done | Ending::NotStrict) = outcome {
        outbox::send()?;
        return extension::get().end().await.and(outcome);
    }
    match outbox::send_found() {
        Err(error) if run::stdout_is_closed() => Ok(Ending::Failed(error)),
        Err(error) => {
            run::say(&run::describe(&error));
            outcome
        }
        Ok(()) => outcome,
    }
}

/// Parses the command line. Every option accepts a negative number as its value, so that the option's own parser
/// reports a wrong value.
fn matches(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> clap::error::Result<ArgMatches> {
    fn with_negative_numbers(command: clap::Command) -> clap::Command {
        let of_option = |argument: Arg| {
            let takes_values = argument.get_action().takes_values() && !argument.is_positional();
            if takes_values { argument.allow_negative_numbers(true) } else { argument }
        };
        command.mut_args(of_option).mut_subcommands(with_negative_numbers)
    }
    with_negative_numbers(extension::command()).try_get_matches_from(arguments)
}

/// Parses the command line like [`matches`], into a [`Cli`].
#[cfg(any(test, fuzzing))]
fn parse(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> clap::error::Result<Cli> {
    Cli::from_arg_matches(&matches(arguments)?)
}

/// Prints what is wrong with the command line, or the help that it asks for, and returns the exit code. The command
/// line may contain file names that anybody chose, so their control characters are escaped on a terminal.
fn misused(error: &clap::Error, arguments: &[OsString]) -> u8 {
    if error.kind() == clap::error::ErrorKind::InvalidUtf8 {
        for argument in arguments.iter().filter(|argument| argument.to_str().is_none()) {
            let written = String::from_utf8_lossy(argument.as_encoded_bytes());
            run::say(&format!(
                "the argument {written:?} is not UTF-8; rename the file, or name the folder that it is in"
            ));
        }
        return 2;
    }
    let written_out = |argument: &OsString| visible(&argument.to_string_lossy()).into_owned();
    let shown = if io::stderr().is_terminal() { matches(arguments.iter().map(written_out)).err() } else { None };
    let printed = shown.as_ref().unwrap_or(error).print();
    match printed {
        // There is nowhere left to complain if standard error is gone.
        _ if error.use_stderr() => 2,
        Err(why) if why.kind() != io::ErrorKind::BrokenPipe => {
            run::say(&format!("cannot write to standard output: {why}"));
            1
        }
        _ => 0,
    }
}

/// Fails if the system does not allow as many threads as the runtime starts; the runtime would panic.
fn check_threads() -> anyhow::Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let gate = Mutex::new(());
    let started: io::Result<()> = std::thread::scope(|scope| {
        let _closed = gate.lock();
        (0..threads).try_for_each(|_| {
            let thread = std::thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(scope, || drop(gate.lock())).map(drop)
        })
    });
    started.with_context(|| {
        format!(
            "cannot start {threads} threads; raise what the system allows of processes or memory (ulimit -u, ulimit -v)"
        )
    })
}

/// Ends the program when a signal asks for it, and removes its temporary files.
///
/// It listens on a thread and a runtime of its own: a query that does not yield can keep all threads of the other
/// runtime busy, and then none of them would see the signal.
fn end_on_signal(stores: Arc<Stores>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        // From here on signals are recorded, even before the thread waits for them.
        let _entered = runtime.enter();
        signals::Signals::listen()?
    };
    std::thread::Builder::new().name("signals".to_string()).spawn(move || {
        let (code, said) = loop {
            let heard = runtime.block_on(signals.next());
            if !signals::is_for_shell(heard.0) && !signals::ask_to_end() {
                break heard;
            }
        };
        signals::end(code, said, &stores);
    })?;
    Ok(())
}

async fn dispatch(command: Command, stores: &Arc<Stores>) -> anyhow::Result<Ending> {
    match command {
        Command::Ingest(command) => command.run(stores).await,
        Command::Passages(command) => command.run(stores).await,
        Command::Pairs(command) => command.run(stores).await,
        Command::Threads(command) => command.run(stores).await,
        Command::Clusters(command) => command.run(stores).await,
        Command::Containment(command) => command.run(stores).await,
        Command::Dedup(command) => command.run(stores).await,
        Command::Decontaminate(command) => command.run(stores).await,
        Command::Compare(command) => command.run(stores).await,
        Command::Search(command) => command.run(stores).await,
        Command::Report(command) => command.run(stores).await,
        Command::Review(command) => command.run(stores).await,
        Command::Codes(command) => command.run(stores).await,
        Command::Explain(command) => command.run(stores).await,
        // Its statements handle a closed standard output themselves, so every error counts.
        Command::Sql(command) => command.run(stores).await.or_else(|error| Ok(Ending::Failed(error))),
        Command::Verify(command) => command.run(stores).await,
        Command::Gc(command) => command.run(stores).await,
        Command::Gpu(command) => command.run(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut extension::command(), "ibid", &mut script);
            run::Stdout.write_all(&script)?;
            Ok(Ending::Done)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
