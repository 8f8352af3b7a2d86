//! The guard through the whole program: drives that are in use, in every way that can be made on
//! this machine, are refused with exit code 3 and not one byte is written.

// A test ends at the first thing that does not work, and prints its table.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod bench;
mod contents;
mod in_use;
mod names;
mod privileges;
mod resume;
mod table;
