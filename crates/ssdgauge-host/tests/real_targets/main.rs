//! Tests of the host crate on real files and real block devices.
//!
//! What needs root or a loop device probes for it and prints why it skips.

// A test ends at the first thing that does not work.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod engines;
mod faults;
mod guard;
mod open_loop;
mod preparation;
mod support;
