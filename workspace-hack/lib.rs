//! An empty crate. `Cargo.toml` says what this package is for.
