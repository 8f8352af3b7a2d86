//! Writing and reading run files, damaged and foreign files, and files of each published format.

// A test fails at its first unexpected error.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod chain;
mod damage;
mod digests;
mod following;
mod foreign;
mod golden;
mod hostile;
mod neighbours;
mod support;
mod writing;
