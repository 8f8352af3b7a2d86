//! The counters of wear in a run: what a drive reports about its whole life, before and after.

use ssdgauge_core::{Bytes, Nanos};

/// The counters of wear of a drive, and its rating; `None` for what was not stated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wear {
    /// The rated endurance in bytes that hosts may write, as given by the user.
    pub rated: Option<Bytes>,
    /// The last percentage of the endurance that the drive reports as used.
    pub used_percent: Option<f64>,
    /// What hosts wrote to the drive.
    pub host: Option<LifeCounter>,
    /// The bytes that the run wrote by its own count, where the drive has no counter of hosts, or one that may have
    /// only 32 bits.
    pub sent: Option<Bytes>,
    /// The last count of bytes that the drive has written to its media.
    pub media: Option<f64>,
    /// The bytes written to the media in all steps of the run; `None` where no step counted them.
    pub media_in_run: Option<f64>,
}

/// A counter over the life of a drive, at its first and at its last reading in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifeCounter {
    /// The bytes at the first reading.
    pub first: f64,
    /// The bytes at the last reading.
    pub last: f64,
    /// The time between both.
    pub elapsed: Nanos,
    /// Whether it may have only the low 32 bits of the sectors: nothing has shown that it has more.
    pub may_wrap: bool,
}

impl LifeCounter {
    /// Returns the bytes over the life of the drive; `None` where only a part of them may be counted.
    pub fn life(&self) -> Option<f64> {
        (!self.may_wrap).then_some(self.last)
    }
}
