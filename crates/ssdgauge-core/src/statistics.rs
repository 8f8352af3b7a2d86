//! Statistics of samples: pure functions, each with the source of its rule.

pub mod bootstrap;
pub mod cache;
pub mod change_point;
pub mod consistency;
pub mod fit;
pub mod histogram;
pub mod knee;
pub mod repetition;
pub mod spare_area;
pub mod steady;
pub mod summary;
