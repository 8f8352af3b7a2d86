//! Values that were tracked from round to round by the rule of the SNIA Performance Test
//! Specification.

use ssdgauge_core::Metric;
use ssdgauge_statistics::steady::{self, Steadiness, WINDOW};

/// A value that was tracked from round to round, to see whether it is steady.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracked {
    /// The label of the step whose value it is.
    pub step: String,
    /// The tracked metric.
    pub metric: Metric,
    /// The definition of a round, in words.
    pub round: String,
    /// The value in each round.
    pub values: Vec<f64>,
    /// The number of rounds after which a window may end, from 1.
    pub least: usize,
}

impl Tracked {
    /// Returns the place of the first round of the measurement window with its verdict: the first
    /// five rounds that are steady, or the last five where none are. `None` of fewer, or of
    /// silence.
    pub fn window(&self) -> Option<(usize, Steadiness)> {
        let begin = |last: usize| last + 1 - WINDOW;
        if let Some((last, verdict)) = steady::find_from(&self.values, self.least) {
            return Some((begin(last), verdict));
        }
        let start = self.values.len().checked_sub(WINDOW)?;
        steady::judge(&self.values[start..]).map(|verdict| (start, verdict))
    }
}
