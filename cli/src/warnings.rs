//! The logger that prints warnings of ibid's own crates.

use log::{Level, Log, Metadata, Record};

use super::run::say;

/// The logger for warnings of ibid itself.
struct Warnings;

impl Log for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Warn && metadata.target().starts_with("ibid")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            say(&record.args().to_string());
        }
    }

    fn flush(&self) {}
}

/// Starts printing warnings.
pub(super) fn listen() {
    static WARNINGS: Warnings = Warnings;
    // If another logger is already set, it gets the warnings.
    if log::set_logger(&WARNINGS).is_ok() {
        log::set_max_level(log::LevelFilter::Warn);
    }
}
