//! The guard, tested through the whole program: drives that are in use, in every way that this
//! machine can set up, are refused, and no byte is written.

// A test ends at the first error, and prints its table.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod bench;
mod busy;
mod contents;
mod hidden_uses;
mod in_use;
mod names;
mod privileges;
mod restricted;
mod resume;
mod table;
