//! Statistics of samples: pure functions, each with the source of its rule.
//!
//! Numbers in, numbers out: nothing here knows what a drive, a step or a unit is. This crate never opens a
//! file, reads a clock or starts a thread. Equal input gives equal output on every machine.

pub mod cache;
pub mod change_point;
pub mod consistency;
pub mod difference;
mod estimate;
pub mod fit;
pub mod histogram;
pub mod interference;
pub mod knee;
pub mod low_frequency;
pub mod mean_interval;
pub mod mean_over_sigma;
pub mod percentile_interval;
pub mod prediction_bound;
mod random;
mod repeat_until;
pub mod repetition;
pub mod separation;
pub mod spare_area;
pub mod sparse_histogram;
pub mod steady;
pub mod student;
pub mod summary;
pub mod time_weighted;
pub mod trend;
mod two_levels;

pub use estimate::{Estimate, Verdict};
pub use histogram::{Histogram, Recorder};
pub use random::Random;
pub use repeat_until::RepeatUntil;
