//! The commands of the program, on files, loop devices and virtual drives.

// A test ends at the first error.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod bench;
mod claims;
mod cohort;
mod colours;
mod crosscheck;
mod distribution;
mod drive_description;
mod durability;
mod engine;
mod errors;
mod export;
mod failing_calls;
mod fio;
mod fio_page;
mod hostile_files;
mod import;
mod import_act;
mod interruption;
mod lab;
mod large_files;
mod meters;
mod notes;
mod outputs;
mod plan;
mod power_cuts;
mod prove;
mod python;
mod quick;
mod quick_for;
mod replays;
mod review;
mod serve;
mod several;
mod shortened;
mod support;
mod tables;
mod traces;
mod until;
mod verify;
mod watch;
mod watch_metrics;
mod widths;
mod xray;
