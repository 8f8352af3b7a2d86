//! The numbers of a load that are fitted and predicted.

use serde::{Deserialize, Serialize};
use ssdgauge_core::{Direction, Histogram, Metric, Scope, Totals};

/// A number of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Number {
    /// Completed requests per second.
    Rate,
    /// Median latency of the reads, in microseconds.
    ReadP50,
    /// 99th percentile of the latency of the reads, in microseconds.
    ReadP99,
    /// Median latency of the writes, in microseconds.
    WriteP50,
    /// 99th percentile of the latency of the writes, in microseconds.
    WriteP99,
}

/// Requests below which a median is left out, and those below which a 99th percentile is.
const FEWEST: [u64; 2] = [100, 2_000];

impl Number {
    /// Every number.
    pub const ALL: [Number; 5] =
        [Number::Rate, Number::ReadP50, Number::ReadP99, Number::WriteP50, Number::WriteP99];

    /// Returns the direction, and whether the number is the 99th percentile; `None` for the rate.
    fn latency(self) -> Option<(Direction, bool)> {
        match self {
            Number::Rate => None,
            Number::ReadP50 => Some((Direction::Read, false)),
            Number::ReadP99 => Some((Direction::Read, true)),
            Number::WriteP50 => Some((Direction::Write, false)),
            Number::WriteP99 => Some((Direction::Write, true)),
        }
    }

    /// Returns whether it is a 99th percentile.
    pub(crate) fn is_tail(self) -> bool {
        matches!(self, Number::ReadP99 | Number::WriteP99)
    }

    /// Returns what the number is in words, such as `reads p99`.
    pub fn words(self) -> &'static str {
        match self {
            Number::Rate => "requests a second",
            Number::ReadP50 => "reads p50",
            Number::ReadP99 => "reads p99",
            Number::WriteP50 => "writes p50",
            Number::WriteP99 => "writes p99",
        }
    }

    /// Returns the ratio of two values that counts as one unit of error, as a share: percentiles of tails
    /// rest on a hundredth of the requests.
    pub(crate) fn unit(self) -> f64 {
        match self.latency() {
            None | Some((_, false)) => 0.03,
            Some((_, true)) => 0.08,
        }
    }

    /// Returns the number of `totals`; `None` where too few requests have it.
    pub(crate) fn of_totals(self, totals: &Totals) -> Option<f64> {
        let Some((direction, is_tail)) = self.latency() else {
            return totals.value(Metric::Iops, Scope::All).filter(|rate| *rate > 0.0);
        };
        let requests = totals.directions[direction as usize].ios;
        let metric = if is_tail { Metric::LatP99Us } else { Metric::LatP50Us };
        let is_enough = requests >= FEWEST[usize::from(is_tail)];
        let value = totals.value(metric, Scope::from(direction));
        value.filter(|us| is_enough && *us > 0.0)
    }

    /// Returns the number of latencies `read` and `write` over `seconds`.
    pub(crate) fn of_latencies(
        self,
        read: &Histogram,
        write: &Histogram,
        seconds: f64,
    ) -> Option<f64> {
        let Some((direction, is_tail)) = self.latency() else {
            let rate = (read.count() + write.count()) as f64 / seconds;
            return Some(rate).filter(|rate| rate.is_finite() && *rate > 0.0);
        };
        let latency = if direction == Direction::Read { read } else { write };
        let share = if is_tail { 0.99 } else { 0.5 };
        latency.percentile(share).map(|ns| ns as f64 / 1e3).filter(|us| *us > 0.0)
    }
}
