//! The integration tests of this crate, in one program.

mod act_forms;
mod coverage;
mod names;
mod statistics_of_statrs;
