//! Additions of another program to this one: options, commands, and changes to its engines.

use std::sync::OnceLock;

use anyhow::Result;
use clap::{ArgMatches, Command, CommandFactory};
use futures::future::BoxFuture;
use ibid::{Engine, EngineBuilder};

use super::Cli;

/// The additions of a program that includes the commands of this one.
pub trait Extension: Send + Sync + 'static {
    /// Adds options and commands.
    fn command(&self, command: Command) -> Command;

    /// Runs the command if it is one of the added ones. Otherwise notes the added options and returns `None`.
    fn run(&self, matches: &ArgMatches) -> Option<Result<()>>;

    /// Builds the engine of a command, with the additions.
    ///
    /// # Errors
    ///
    /// Fails if the added options do not fit the command, and like [`EngineBuilder::build`].
    fn engine(&self, builder: EngineBuilder) -> Result<Engine> {
        Ok(builder.build()?)
    }

    /// Ends the work that the engine of a command has started, after the command has succeeded.
    fn end(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Aborts, within a second, the work that the engine of a command has started elsewhere, because the program is
    /// interrupted.
    fn give_up(&self) {}
}

/// No additions.
#[derive(Debug)]
pub struct NoExtension;

impl Extension for NoExtension {
    fn command(&self, command: Command) -> Command {
        command
    }

    fn run(&self, _: &ArgMatches) -> Option<Result<()>> {
        None
    }
}

static EXTENSION: OnceLock<Box<dyn Extension>> = OnceLock::new();

/// Sets the additions of the program, unless they are already set, and returns them.
pub(super) fn of_program(extension: Box<dyn Extension>) -> &'static dyn Extension {
    EXTENSION.get_or_init(|| extension).as_ref()
}

/// Returns the additions of the program.
pub(super) fn get() -> &'static dyn Extension {
    of_program(Box::new(NoExtension))
}

/// Returns the command line with the additions.
pub(super) fn command() -> Command {
    get().command(Cli::command())
}
