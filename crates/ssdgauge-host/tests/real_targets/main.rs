//! Tests of the host crate on real files and real block devices.
//!
//! What needs root or a loop device probes for it and prints why it skips.

mod engines;
mod guard;
mod support;
