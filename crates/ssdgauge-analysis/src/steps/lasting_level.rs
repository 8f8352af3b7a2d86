//! The level of the write speed that lasts longest after a fall: what a step is quoted by.

use crate::model::{PointRun, SpeedFall, TestRun};
use crate::steps::slc_cache;
use ssdgauge_core::Direction;

/// The level of the write speed after a fall.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// The fall that it follows.
    pub(crate) fall: SpeedFall,
    /// The bytes written at its end, from the start of the step.
    pub(crate) until: u64,
}

impl Level {
    /// Returns how long it lasts.
    pub(crate) fn seconds(&self) -> f64 {
        let bytes = self.until.saturating_sub(self.fall.edge.bytes);
        bytes as f64 / self.fall.edge.after.max(1.0)
    }
}

/// Returns the fall before the level that lasts longest, of those after the first fall; of a step with too few seconds
/// for a fall that between its two levels.
pub(crate) fn fall(point: &PointRun) -> Option<SpeedFall> {
    longest(levels(point)).map(|level| level.fall).or_else(|| slc_cache::first_fall(point))
}

/// Returns the one that lasts longest.
pub(crate) fn longest(levels: impl Iterator<Item = Level>) -> Option<Level> {
    // Of equal ones the first, which begins at the end of the cache.
    levels.reduce(|one, other| if other.seconds() > one.seconds() { other } else { one })
}

/// Returns the levels after each fall of the speed of `point`.
pub(crate) fn levels(point: &PointRun) -> impl Iterator<Item = Level> {
    let all = point.point.totals.directions[Direction::Write as usize].bytes;
    let ends = point.falls.iter().skip(1).map(|next| next.edge.bytes).chain([all]);
    point.falls.iter().zip(ends).map(|(fall, until)| Level { fall: *fall, until })
}

/// Returns whether the result of `test` is the speed of one level, because its rule counts a fall.
pub(crate) fn is_of_one_level(test: &TestRun) -> bool {
    let Some(value) = test.headline.value.filter(|_| test.headline.protocol.is_some()) else {
        return false;
    };
    slc_cache::falls(test).iter().any(|fall| fall.edge.after / 1e6 == value)
}
