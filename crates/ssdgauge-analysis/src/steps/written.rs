//! What a step wrote, second by second.

use crate::model::{PointRun, SpeedFall};
use ssdgauge_core::{Direction, Nanos};

/// The sequential writes of one drive, in one step.
#[derive(Clone, Debug)]
pub struct Writes {
    /// The falls of the speed, in their order.
    pub falls: Vec<SpeedFall>,
    /// Each full second: the gigabytes written before it and after it, and its rate in MB/s.
    pub seconds: Vec<(f64, f64, f64)>,
    /// The gigabytes written.
    pub total: f64,
    /// The duration in seconds.
    pub elapsed: f64,
}

/// Returns the sequential writes of `point`.
pub fn writes(point: &PointRun) -> Writes {
    let mut written = 0.0;
    let mut seconds = Vec::new();
    for (_, second) in point.point.seconds.all_counts() {
        let bytes = second.directions[Direction::Write as usize].bytes as f64;
        let after = written + bytes / 1e9;
        if second.elapsed == Nanos::SECOND {
            seconds.push((written, after, bytes / 1e6));
        }
        written = after;
    }
    let elapsed = point.point.totals.elapsed.as_secs_f64();
    Writes { falls: point.falls.clone(), seconds, total: written, elapsed }
}

impl Writes {
    /// Returns the first fall of the speed.
    pub fn fall(&self) -> Option<&SpeedFall> {
        self.falls.first()
    }
}
