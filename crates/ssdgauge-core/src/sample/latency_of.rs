//! Whose latency a number without a direction is.

use crate::sample::Direction;
use serde::{Deserialize, Serialize};

/// The requests whose latency stands for that of a step.
///
/// Where a flush follows the writes of a thread, the application waits for the flush: the data is durable when
/// the flush has completed. Write and flush are recorded as two distributions, whose percentiles do not
/// add up, so that the percentiles are those of the flush: the minimum that a commit takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyOf {
    /// Reads and writes; where a step has neither, its flushes and trims.
    #[default]
    Requests,
    /// The flushes that the writes of every stream wait for.
    Flushes,
    /// The same, of threads with one request in flight each: the mean time of a commit is known too.
    FlushesOfCommits,
}

impl LatencyOf {
    /// Returns what stands for streams of `each` together: flushes only where every stream has them.
    pub(crate) fn all(each: impl Iterator<Item = LatencyOf>) -> LatencyOf {
        let both = |a: LatencyOf, b: LatencyOf| match (a, b) {
            (LatencyOf::Requests, _) | (_, LatencyOf::Requests) => LatencyOf::Requests,
            (LatencyOf::FlushesOfCommits, LatencyOf::FlushesOfCommits) => a,
            (LatencyOf::Flushes, _) | (_, LatencyOf::Flushes) => LatencyOf::Flushes,
        };
        each.reduce(both).unwrap_or_default()
    }

    /// Returns whether the latency is that of flushes.
    pub fn is_of_flushes(self) -> bool {
        match self {
            LatencyOf::Requests => false,
            LatencyOf::Flushes | LatencyOf::FlushesOfCommits => true,
        }
    }

    /// Returns the word before a latency, with a space: `flush ` or nothing.
    pub fn prefix(self) -> &'static str {
        if self.is_of_flushes() { "flush " } else { "" }
    }

    /// Returns the requests whose latency it is, of a step with requests in `directions`, such as
    /// `reads and writes`; empty without any.
    pub fn requests(self, directions: &[Direction]) -> String {
        let has_transfers = directions.iter().any(|direction| direction.is_transfer());
        let is_counted = |direction: &&Direction| match self.is_of_flushes() {
            true => **direction == Direction::Flush,
            false => direction.is_transfer() == has_transfers,
        };
        let counted = directions.iter().filter(is_counted);
        counted.map(|direction| direction.requests()).collect::<Vec<_>>().join(" and ")
    }
}
