//! Conductor on a scripted rig: order of execution, records and resume.

// A test fails at its first unexpected error.
#![allow(clippy::unwrap_used)]

mod carrying_out;
mod proof;
mod resuming;
mod support;
mod verification;
