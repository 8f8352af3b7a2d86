//! Statistics of samples: pure functions, each with the source of its rule.

pub mod cache;
pub mod change_point;
pub mod consistency;
pub mod difference;
pub mod fit;
pub mod histogram;
pub mod interference;
pub mod knee;
pub mod low_frequency;
pub mod mean_interval;
pub mod mean_over_sigma;
pub mod percentile_interval;
pub mod prediction_bound;
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
