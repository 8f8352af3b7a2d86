//! The integration tests of this crate, in one program.

mod coverage;
mod machines;
mod statistics_of_statrs;
