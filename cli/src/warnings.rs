//! What libraries want the user to know.

use log::{Level, Log, Metadata, Record};

use super::run::say;

/// Says warnings of ibid itself.
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

/// From here on warnings are said.
pub(super) fn listen() {
    static WARNINGS: Warnings = Warnings;
    // Where somebody listens already, nothing is lost.
    if log::set_logger(&WARNINGS).is_ok() {
        log::set_max_level(log::LevelFilter::Warn);
    }
}
