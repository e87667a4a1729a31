//! The one integration binary: SQL logic tests, the join against its oracle, documentation, and the program itself.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, reason = "tests that try much say how it went, with --nocapture")]

#[cfg(target_os = "linux")]
mod bad_input;
mod cli;
mod cluster;
mod clusters;
mod codes;
mod compare;
mod containment;
mod decontaminate;
mod dedup;
mod determinism;
mod documentation;
mod engine;
#[cfg(unix)]
mod failpoints;
mod index;
mod input;
mod kills;
#[cfg(target_os = "linux")]
mod memory;
mod passages;
mod places;
mod program;
mod reference;
mod report;
mod s3;
mod s3_faults;
mod s3_server;
mod scene;
mod search;
mod similarity_join;
mod slt;
#[cfg(target_os = "linux")]
mod sql;
mod sql_oracle;
mod stream;
mod threads;
mod whole_or_absent;
mod wiki;
