//! Seconds of a step that is in progress: put together from intervals, and as surfaces show them.
//!
//! Every surface takes its seconds from here: the report, the progress of a run, the screen of `watch`, its
//! lines and its metrics.

use crate::sample::latency_of::LatencyOf;
use crate::sample::{Direction, Interval};
use crate::totals::Totals;
use crate::totals::metric::Metric;
use crate::totals::scope::Scope;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The shortest time of which a rate is stated. What was in flight at the end of a step completes in a
/// last part of microseconds, which would be a spike that the drive never had. Chosen.
pub const SHORTEST_RATE: Nanos = Nanos(Nanos::SECOND.0 / 2);

/// Returns `count` within `time` as a rate per second; `None` for a time below [`SHORTEST_RATE`].
///
/// Every surface that shows a second or a step in progress takes its rates from here. The results of a
/// step that ends by its bytes are rates over its exact time (definition D23), which may be shorter.
pub fn rate(count: u64, time: Nanos) -> Option<f64> {
    (time >= SHORTEST_RATE).then(|| count as f64 / time.as_secs_f64())
}

/// The seconds of one step that may still receive intervals, with their buckets.
#[derive(Debug, Default)]
pub struct OpenSeconds {
    latency_of: LatencyOf,
    open: BTreeMap<u32, Totals>,
    /// Whether intervals of a direction have come, also empty ones.
    has: [bool; Direction::COUNT],
}

impl OpenSeconds {
    /// Returns the seconds of a step, before its first interval.
    pub fn new(latency_of: LatencyOf) -> OpenSeconds {
        OpenSeconds { latency_of, ..OpenSeconds::default() }
    }

    /// Takes one interval; those of one second may come in any order.
    pub fn add(&mut self, interval: Interval) {
        self.has[interval.direction as usize] = true;
        let empty = || Totals { latency_of: self.latency_of, ..Totals::default() };
        let second = self.open.entry(interval.second).or_insert_with(empty);
        second.elapsed = second.elapsed.max(interval.length);
        second.add_owned(interval);
    }

    /// Removes the first second where more than `kept` are open, and returns it with its number.
    pub fn take_first(&mut self, kept: usize) -> Option<(u32, Totals)> {
        if self.open.len() > kept { self.open.pop_first() } else { None }
    }

    /// Removes the first second as [`OpenSeconds::take_first`] does, and returns it as it is shown.
    pub fn take_shown(&mut self, kept: usize) -> Option<Second> {
        let (number, totals) = self.take_first(kept)?;
        let directions = Direction::ALL.into_iter().filter(|one| self.has[*one as usize]);
        Some(Second::new(number, &totals, &directions.collect::<Vec<_>>()))
    }
}

/// One second of a step, all streams together, as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Its number in the step, from 0.
    pub number: u32,
    /// Its length: a second, or less at the end of a step.
    pub length: Nanos,
    /// Completed requests: reads and writes, or where the step has neither, flushes and trims.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The requests whose latency stands for that of the second.
    pub latency_of: LatencyOf,
    /// Their 99th percentile in microseconds; `None` where there are too few.
    pub lat_p99_us: Option<f64>,
    /// Each direction of the load; none without load.
    pub sides: Vec<Side>,
}

/// One direction of a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The direction.
    pub direction: Direction,
    /// Completed requests.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Failed requests.
    pub errors: u64,
    /// Mean latency in microseconds; `None` where nothing completed.
    pub lat_mean_us: Option<f64>,
    /// 99th percentile of latency in microseconds; `None` for too few requests.
    pub lat_p99_us: Option<f64>,
    /// Longest latency in microseconds; `None` where nothing completed.
    pub lat_max_us: Option<f64>,
}

impl Second {
    /// Returns second `number` of a step with requests in `directions` from its `totals`.
    fn new(number: u32, totals: &Totals, directions: &[Direction]) -> Second {
        let side = |direction: &Direction| {
            let sums = &totals.directions[*direction as usize];
            let latency = |metric| totals.value(metric, Scope::from(*direction));
            Side {
                direction: *direction,
                ios: sums.ios,
                bytes: sums.bytes,
                errors: sums.errors,
                lat_mean_us: latency(Metric::LatMeanUs),
                lat_p99_us: latency(Metric::LatP99Us),
                lat_max_us: latency(Metric::LatMaxUs),
            }
        };
        let counted = totals.counted().iter();
        let (ios, bytes) = counted.fold((0, 0), |sum, one| (sum.0 + one.ios, sum.1 + one.bytes));
        Second {
            number,
            length: totals.elapsed,
            ios,
            bytes,
            latency_of: totals.latency_of,
            lat_p99_us: totals.value(Metric::LatP99Us, Scope::All),
            sides: directions.iter().map(side).collect(),
        }
    }

    /// Returns second `number` of a step without load.
    pub fn idle(number: u32) -> Second {
        Second { number, length: Nanos::SECOND, ..Second::default() }
    }

    /// Returns the throughput in MB/s; `None` for a part of a second below [`SHORTEST_RATE`].
    pub fn mb_s(&self) -> Option<f64> {
        self.rate(self.bytes).map(|rate| rate / 1e6)
    }

    /// Returns the completed requests per second; `None` as for [`Second::mb_s`].
    pub fn iops(&self) -> Option<f64> {
        self.rate(self.ios)
    }

    /// Returns `count` of its requests, or of their bytes, as a rate per second.
    pub fn rate(&self, count: u64) -> Option<f64> {
        rate(count, self.length)
    }

    /// Returns whether rates of it are stated.
    pub fn has_rates(&self) -> bool {
        self.length >= SHORTEST_RATE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_statistics::Random;
    use ssdgauge_statistics::histogram::Histogram;

    #[test]
    fn no_part_of_a_second_below_a_half_has_a_rate_and_no_request_is_left_out() {
        let mut random = Random::new(43, 1);
        for _ in 0..200 {
            let mut open = OpenSeconds::new(LatencyOf::Requests);
            let seconds = 1 + random.below(6) as u32;
            let mut sent = Vec::new();
            for second in 0..seconds {
                let is_last = second + 1 == seconds;
                let length =
                    if is_last { 1 + random.below(Nanos::SECOND.0) } else { Nanos::SECOND.0 };
                let ios = random.below(1_000);
                for direction in Direction::TRANSFERS {
                    open.add(Interval {
                        second,
                        stream: 0,
                        direction,
                        length: Nanos(length),
                        ios,
                        bytes: ios * 4_096,
                        errors: 0,
                        latency: Histogram::default(),
                    });
                }
                sent.push((second, length, 2 * ios));
            }
            let shown: Vec<Second> = std::iter::from_fn(|| open.take_shown(0)).collect();
            let counts = shown.iter().map(|one| (one.number, one.length.0, one.ios));
            assert_eq!(counts.collect::<Vec<_>>(), sent);
            for one in &shown {
                let expected = (one.length.0 >= 500_000_000)
                    .then(|| one.ios as f64 * 1e9 / one.length.0 as f64);
                assert_eq!(one.iops().is_some(), expected.is_some(), "{one:?}");
                let (iops, mb_s) = (one.iops().unwrap_or(0.0), one.mb_s().unwrap_or(0.0));
                assert!((iops - expected.unwrap_or(0.0)).abs() < 1e-6 * iops.max(1.0), "{one:?}");
                assert!((mb_s - iops * 4_096.0 / 1e6).abs() < 1e-6 * mb_s.max(1.0), "{one:?}");
            }
        }
    }

    #[test]
    fn the_latency_of_streams_is_that_of_flushes_only_where_all_of_them_commit() {
        use LatencyOf::{Flushes, FlushesOfCommits, Requests};
        let all = |each: &[LatencyOf]| LatencyOf::all(each.iter().copied());
        assert_eq!(all(&[]), Requests);
        assert_eq!(all(&[FlushesOfCommits, FlushesOfCommits]), FlushesOfCommits);
        assert_eq!(all(&[FlushesOfCommits, Flushes]), Flushes);
        assert_eq!(all(&[FlushesOfCommits, Requests, Flushes]), Requests);
        let [read, write, flush] = [Direction::Read, Direction::Write, Direction::Flush];
        assert_eq!(Requests.requests(&[read, write, flush]), "reads and writes");
        assert_eq!(Requests.requests(&[flush]), "flushes");
        assert_eq!(Flushes.requests(&[write, flush]), "flushes");
    }
}
