//! Methods that statements call: their messages, the input that they leave out, and the further files that they write.

use std::mem;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

use crate::options::{Places, RunOptions};
use crate::run::{Talk, has_left_out};
use ibid::Summary;
use ibid::program::Settings;
use ibid::program::check_place;
use ibid::program::export::StagedFile;
use ibid::program::store::Stores;
use ibid::program::table_functions::Hooks;

pub(super) struct Called {
    talk: Talk,
    options: &'static RunOptions,
    is_interactive: bool,
    /// The paths of the results of the script, or of the typed statement.
    places: Mutex<Places>,
    /// The further tables of the statement that runs.
    files: Mutex<Vec<StagedFile>>,
    /// True if a method left something out under `--strict`.
    has_left_out: AtomicBool,
}

impl Called {
    pub(super) fn new(talk: Talk, options: &'static RunOptions, places: Places, is_interactive: bool) -> Self {
        Self {
            talk,
            options,
            is_interactive,
            places: Mutex::new(places),
            files: Mutex::default(),
            has_left_out: AtomicBool::new(false),
        }
    }

    /// Begins a statement. The methods of a typed statement may overwrite files of earlier statements, but not the file
    /// of its own result.
    pub(super) fn begin_statement(&self, output: Option<&Path>) -> Result<()> {
        self.files();
        if self.is_interactive {
            let mut places = Places::default();
            output.map_or(Ok(()), |file| places.take(file))?;
            *self.places.lock().unwrap_or_else(PoisonError::into_inner) = places;
        }
        Ok(())
    }

    /// Takes the further tables of the statement.
    pub(super) fn files(&self) -> Vec<StagedFile> {
        mem::take(&mut *self.files.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes that a result goes to a file.
    pub(super) fn take(&self, file: &Path) -> Result<()> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).take(file)
    }

    /// Notes a running script, which no later result may overwrite.
    pub(super) fn keep(&self, script: &Path) -> Result<()> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).keep(script)
    }

    pub(super) fn has_left_out(&self) -> bool {
        self.has_left_out.load(Ordering::Relaxed)
    }
}

impl Hooks for Called {
    fn settings(&self) -> Settings {
        self.talk.settings(self.options)
    }

    fn take_place(&self, file: &Path, stores: &Arc<Stores>) -> Result<()> {
        check_place(file, stores)?;
        self.take(file)
    }

    fn take(&self, summary: &Summary, files: Vec<StagedFile>) -> Result<Vec<StagedFile>> {
        self.talk.summarise(summary);
        if self.options.strict && has_left_out(summary) {
            self.has_left_out.store(true, Ordering::Relaxed);
        }
        self.files.lock().unwrap_or_else(PoisonError::into_inner).extend(files);
        Ok(Vec::new())
    }
}
