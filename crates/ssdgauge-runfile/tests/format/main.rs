//! The run file under everything that can happen to a file.

// A test ends at the first thing that does not work.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod damage;
mod foreign;
mod golden;
mod support;
mod writing;
