//! Additions of another program to this one: options, commands, and what its engines run on.

use std::sync::OnceLock;

use anyhow::Result;
use clap::{ArgMatches, Command, CommandFactory};
use futures::future::BoxFuture;
use ibid::{Engine, EngineBuilder};

use super::Cli;

/// The additions of a program that has the commands of this one.
pub trait Extension: Send + Sync + 'static {
    /// Adds options and commands.
    fn command(&self, command: Command) -> Command;

    /// Runs the command if it is one of the added ones. Otherwise it notes the added options.
    fn run(&self, matches: &ArgMatches) -> Option<Result<()>>;

    /// Makes the engine of a command, with what is added to it.
    ///
    /// # Errors
    ///
    /// Where the added options do not fit the command, and as [`EngineBuilder::build`].
    fn engine(&self, builder: EngineBuilder) -> Result<Engine> {
        Ok(builder.build()?)
    }

    /// Ends what the engine of a command has begun, once the command has done what it was to do.
    fn end(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Gives up, within a second, what the engine of a command has begun elsewhere, as the program is interrupted.
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

/// Notes the additions of the program.
pub(super) fn of_program(extension: Box<dyn Extension>) -> &'static dyn Extension {
    EXTENSION.get_or_init(|| extension).as_ref()
}

/// Returns the additions of the program.
pub(super) fn get() -> &'static dyn Extension {
    of_program(Box::new(NoExtension))
}

/// Returns the command line with them.
pub(super) fn command() -> Command {
    get().command(Cli::command())
}
