//! The commands of the program, on files, loop devices and virtual drives.

// A test ends at the first error.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod bench;
mod drive_description;
mod engine;
mod errors;
mod fio;
mod hostile_files;
mod interruption;
mod meters;
mod outputs;
mod plan;
mod quick;
mod review;
mod shortened;
mod support;
mod until;
