//! Settings of a drive that a run changes and restores: power saving and the write cache.

pub(crate) mod power_saving;
pub(crate) mod write_cache;
