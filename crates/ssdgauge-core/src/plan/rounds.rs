//! Rounds to a steady state.

use crate::totals::metric::Metric;
use serde::{Deserialize, Serialize};

/// A phase that is repeated until five rounds are steady by the rule of the SNIA Performance Test
/// Specification; the samples of those five rounds are the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    /// The index of the phase.
    pub phase: usize,
    /// The largest number of rounds; where none of them ends a steady window, the last five are
    /// the result.
    pub at_most: u32,
    /// The index of the step whose value is tracked.
    pub tracking: usize,
    /// The metric that is tracked.
    pub metric: Metric,
}
