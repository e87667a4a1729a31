//! The shell at a terminal.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::helper::Helper;
use super::history;
use super::script::is_whole;
use super::secrets::has_secret;
use super::shell::Shell;
use crate::run::say;
use crate::{Ending, signals};
use ibid::program::export::cleanup;

const PROMPT: &str = "ibid> ";
const PROMPT_TO_GO_ON: &str = "  ...> ";

/// The time that an interrupted statement has to end by itself.
const TIME_TO_END: Duration = Duration::from_millis(300);

/// Reads statements and runs them until there are no more.
pub(super) async fn run(shell: Shell) -> Result<Ending> {
    let mut repl = Repl {
        shell: Arc::new(shell),
        runtime: new_runtime()?,
        interrupts: signals::interrupts(),
        editor: new_editor()?,
        history: None,
        leaves_behind: false,
    };
    repl.open_history();
    tell(concat!("ibid ", env!("CARGO_PKG_VERSION"), ", \\? for help"));
    let outcome = repl.read_all().await;
    let Repl { shell, runtime, leaves_behind, .. } = repl;
    let (ending, stores) = (shell.ending(), Arc::clone(shell.stores()));
    runtime.shutdown_background();
    drop(shell);
    if leaves_behind {
        // An interrupted statement that still runs keeps its temporary files, so this removes them.
        drop(cleanup::remove_all(&stores));
    }
    outcome.map(|()| ending)
}

struct Repl {
    shell: Arc<Shell>,
    runtime: Runtime,
    interrupts: watch::Receiver<u64>,
    editor: Editor<Helper, FileHistory>,
    history: Option<PathBuf>,
    leaves_behind: bool,
}

impl Repl {
    async fn read_all(&mut self) -> Result<()> {
        let mut typed = String::new();
        while !self.shell.has_ended() {
            if typed.is_empty() {
                self.refresh_names().await;
            }
            let prompt = if typed.is_empty() { PROMPT } else { PROMPT_TO_GO_ON };
            match self.editor.readline(prompt) {
                Ok(line) if typed.is_empty() && is_end(&line) => break,
                Ok(line) => typed.push_str(&line),
                // An interrupt discards the line, and the lines of the statement before it.
                Err(ReadlineError::Interrupted) => {
                    self.go_on_after("");
                    typed.clear();
                    continue;
                }
                Err(ReadlineError::Eof) => break,
                Err(error) => return Err(error).context("cannot read from the terminal"),
            }
            if !is_whole(&typed) {
                typed.push('\n');
                self.go_on_after(&typed);
                continue;
            }
            self.go_on_after("");
            let typed = std::mem::take(&mut typed);
            if !typed.trim().is_empty() {
                self.remember(typed.trim());
                self.run(typed).await?;
            }
        }
        Ok(())
    }

    /// Runs the typed text until it ends or is interrupted.
    async fn run(&mut self, typed: String) -> Result<()> {
        self.interrupts.mark_unchanged();
        let shell = Arc::clone(&self.shell);
        let mut task = self.runtime.spawn(async move {
            if let Err(error) = shell.run_script("", &typed, 0).await {
                shell.say_error(&error);
            }
        });
        tokio::select! {
            ended = &mut task => {
                if ended.is_err() {
                    say("internal error: the statement panicked, see above; please report it with the statement");
                }
                return Ok(());
            }
            // `changed` fails only without a sender: then nobody listens to signals, and they end the program.
            Ok(()) = self.interrupts.changed() => {}
        }
        task.abort();
        if tokio::time::timeout(TIME_TO_END, task).await.is_err() {
            self.leaves_behind = true;
        }
        // Threads that do not yield are left running, and the next statement gets new ones.
        std::mem::replace(&mut self.runtime, new_runtime()?).shutdown_background();
        say("interrupted");
        Ok(())
    }

    /// Tells the completion which lines of the statement were typed so far.
    fn go_on_after(&mut self, typed: &str) {
        if let Some(helper) = self.editor.helper_mut() {
            helper.typed.clear();
            helper.typed.push_str(typed);
        }
    }

    async fn refresh_names(&mut self) {
        let names = self.shell.names().await;
        if let Some(helper) = self.editor.helper_mut() {
            helper.names = names;
        }
    }

    fn open_history(&mut self) {
        match history::file() {
            Ok(file) => {
                // There is no file before the first statement. If it cannot be read, the history starts empty.
                let _ = self.editor.load_history(&file);
                self.history = Some(file);
            }
            Err(error) => say(&format!("there is no history: {error:#}")),
        }
    }

    /// Adds the typed text to the history, unless it has a secret.
    fn remember(&mut self, typed: &str) {
        if has_secret(typed) || !matches!(self.editor.add_history_entry(typed), Ok(true)) {
            return;
        }
        if let Some(file) = &self.history
            && let Err(error) = self.editor.append_history(file)
        {
            say(&format!("cannot write {}: {error}", file.display()));
            self.history = None;
        }
    }
}

/// Returns true if a line is `quit` or `exit`, which end other shells.
fn is_end(line: &str) -> bool {
    let word = line.trim().trim_end_matches(';').trim_end();
    ["quit", "exit"].iter().any(|end| word.eq_ignore_ascii_case(end))
}

fn new_editor() -> Result<Editor<Helper, FileHistory>> {
    let config = Config::builder()
        .max_history_size(history::LONGEST)
        .and_then(|config| config.history_ignore_dups(true))
        .context("cannot set up the history")?
        .completion_type(CompletionType::List)
        .auto_add_history(false)
        .build();
    let mut editor = Editor::with_config(config).context("cannot read from the terminal")?;
    editor.set_helper(Some(Helper::default()));
    Ok(editor)
}

/// Starts the threads for statements.
fn new_runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")
}

/// Prints a message that is no error.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
