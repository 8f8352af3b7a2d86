//! The program as people use it: real commands on real files and devices.

// A test ends at the first thing that does not work.
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
mod quick;
mod review;
mod shortened;
mod support;
