//! Suites on virtual drives: parsing, planning, execution, and results that agree with the profile
//! of the drive.

#![allow(clippy::unwrap_used, unreachable_pub, reason = "tests panic on failure")]

mod act;
mod bad_files;
mod consistency;
mod costs;
mod every;
mod fall_causes;
mod full;
mod hostile;
mod idle;
mod ladders;
mod loads;
mod loads_in_full;
mod open_loop;
mod outlook;
mod own_intervals;
mod planned;
mod pts;
mod repetitions;
mod resumed;
mod rounds;
mod runs;
mod searches;
mod shown_values;
mod states;
mod streams;
mod support;
mod tasks;
mod traces;
mod until;
mod vocabulary;
mod write_cache;
