//! When a preconditioning counts as steady.

use crate::totals::metric::Metric;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// The rule of the SNIA Performance Test Specification for a steady state, see
/// [`ssdgauge_statistics::steady`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteadyRule {
    /// The minimum length of a round, in whole seconds.
    pub round: Nanos,
    /// The metric that is tracked from round to round; one that adds up over seconds.
    pub metric: Metric,
    /// The minimum amount of data that a round transfers: a round that is short against the capacity
    /// of a drive shows no change, however far the drive is from its steady state.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub round_bytes: Bytes,
    /// The minimum amount of data before a window may end (SNIA: twice the capacity for
    /// workload-independent preconditioning).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub least_bytes: Bytes,
}

fn is_zero(bytes: &Bytes) -> bool {
    *bytes == Bytes(0)
}

impl SteadyRule {
    /// Returns the definition of a round in words, such as `60 s and 12.0 GB`.
    pub fn describe_round(&self) -> String {
        match self.round_bytes {
            Bytes(0) => self.round.about(),
            bytes => format!("{} and {}", self.round.about(), bytes.about()),
        }
    }
}
