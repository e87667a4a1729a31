//! Methods that statements call: what they say, what they leave out, and further files that they write.

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
    /// Where results of the script go, or of the statement that was typed.
    places: Mutex<Places>,
    /// The further tables of the statement that runs.
    files: Mutex<Vec<StagedFile>>,
    /// With `--strict`: a method left something out.
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

    /// Begins a statement. One that is typed may write where others wrote, but for the file of its own result.
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

    /// Notes a script that runs, of which no later result takes the place.
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
