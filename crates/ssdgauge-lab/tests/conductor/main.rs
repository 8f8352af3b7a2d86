//! The conductor on a scripted rig: what is done, what is recorded, what is done again.

// A test ends at the first thing that does not work.
#![allow(clippy::unwrap_used)]

mod carrying_out;
mod resuming;
mod support;
