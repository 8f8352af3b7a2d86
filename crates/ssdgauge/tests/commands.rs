//! The commands of the program, on files and virtual drives.

// A test ends at the first error.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod bench;
mod claims;
mod cohort;
mod colours;
mod config;
mod digests;
mod distribution;
mod engine;
mod export;
mod failing_calls;
mod fio_page;
mod fleet_runs;
mod forms;
mod full_disk;
mod house_form;
mod import;
mod import_act;
mod import_act_verdicts;
mod import_jobs;
mod import_percentiles;
mod import_unstated;
mod large_files;
mod library;
mod meters;
mod missing_targets;
mod notes;
mod notify;
mod outputs;
mod power_cuts;
mod python;
mod quick_for;
mod recorded;
mod reference;
mod review;
mod review_with_xray;
mod samples;
mod serve;
mod site;
mod stored_drives;
mod submissions;
mod tables;
mod traces;
mod twin;
mod until;
pub(crate) mod watch;
mod watch_metrics;
mod widths;
mod wrong_words;
