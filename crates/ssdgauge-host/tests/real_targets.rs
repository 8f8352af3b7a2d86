//! Tests of the rig on real files and real block devices.
//!
//! A test that needs root or a loop device probes for it and prints why it skips.

// A test ends at the first failure.
#![allow(clippy::unwrap_used, clippy::print_stdout)]
// Tests freeze file systems and set up loop devices by calls that rustix does not have.
#![allow(unsafe_code)]

mod commands;
mod durability;
mod engines;
mod faults;
mod freeze;
mod guard;
mod log;
mod open_loop;
mod preparation;
mod queue;
mod races;
mod support;
mod verification;
mod write_data;
