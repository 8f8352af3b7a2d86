//! One second of a step, with the values that figures use.

use crate::model::run::PointRun;
use ssdgauge_core::{Direction, Metric, Nanos, SHORTEST_RATE, Scope, SecondMark, Totals};

/// One second of a step, all streams together. It is computed where it is used: a run of a week has
/// 600,000 of them.
#[derive(Clone, Debug)]
pub struct Second {
    /// The number of the second in its step, from 0.
    pub second: u32,
    /// 99th percentile of latency in microseconds; `None` where there were too few requests.
    pub lat_p99_us: Option<f64>,
    totals: Totals,
}

impl Second {
    /// Returns the completed requests per second, reads and writes.
    pub fn iops(&self) -> f64 {
        self.totals.value(Metric::Iops, Scope::All).unwrap_or(0.0)
    }

    /// Returns the 10^6 bytes per second, reads and writes.
    pub fn throughput_mb_s(&self) -> f64 {
        self.totals.value(Metric::ThroughputMbS, Scope::All).unwrap_or(0.0)
    }

    /// Returns the completed requests per second in `direction`; `None` where nothing of it completed.
    pub fn iops_of(&self, direction: Direction) -> Option<f64> {
        self.totals.value(Metric::Iops, Scope::from(direction)).filter(|rate| *rate > 0.0)
    }

    /// Returns the 10^6 bytes per second in `direction`; `None` where nothing of it completed.
    pub fn throughput_mb_s_of(&self, direction: Direction) -> Option<f64> {
        let rate = self.totals.value(Metric::ThroughputMbS, Scope::from(direction));
        rate.filter(|rate| *rate > 0.0)
    }

    /// Returns the mean latency in microseconds; `None` where nothing completed.
    pub fn lat_mean_us(&self) -> Option<f64> {
        self.totals.value(Metric::LatMeanUs, Scope::All)
    }

    /// Returns the longest latency in microseconds; `None` where nothing completed.
    pub fn lat_max_us(&self) -> Option<f64> {
        self.totals.value(Metric::LatMaxUs, Scope::All)
    }

    /// Returns the mean of the readings of `quantity` in this second, such as `temperature_c`.
    pub fn reading(&self, quantity: &str) -> Option<f64> {
        self.totals.reading(quantity)
    }
}

impl PointRun {
    /// Returns the requests whose latency its numbers without a direction state, such as `flushes`; `None`
    /// for a step without requests.
    pub fn latency_of(&self) -> Option<String> {
        let requests = self.workload.latency_of().requests(&self.workload.directions());
        (!requests.is_empty()).then_some(requests)
    }

    /// Returns the seconds that figures use, in order.
    pub fn seconds(&self) -> impl DoubleEndedIterator<Item = Second> + ExactSizeIterator {
        let second = |(mark, totals): (SecondMark, Totals)| Second {
            second: mark.number,
            lat_p99_us: lat_p99_us(mark),
            totals,
        };
        self.point.seconds.iter().take(self.seconds_shown()).map(second)
    }

    /// Returns the rate of each of these seconds with its number: 10^6 bytes per second where `bytes`, else
    /// requests per second, as [`Second::throughput_mb_s`] and [`Second::iops`].
    pub fn rates(&self, bytes: bool) -> impl Iterator<Item = (u32, f64)> {
        let metric = if bytes { Metric::ThroughputMbS } else { Metric::Iops };
        let seconds = self.point.seconds.all_counts().take(self.seconds_shown());
        seconds.map(move |(mark, second)| {
            (mark.number, second.value(metric, Scope::All).unwrap_or(0.0))
        })
    }

    /// Returns the number of the seconds that figures use.
    pub fn seconds_shown(&self) -> usize {
        let all = &self.point.seconds;
        // What was in flight at the end completes in a last bin of microseconds. It counts in the
        // totals; as a rate it would be a spike that the drive never had.
        let is_short =
            |last: Nanos| last < SHORTEST_RATE || (all.len() > 1 && last < Nanos::SECOND);
        all.len() - usize::from(all.last_elapsed().is_some_and(is_short))
    }

    /// Returns the 99th percentile of latency in microseconds of the seconds that figures use, with the
    /// number of each second, where there were enough requests.
    pub fn lat_p99s_us(&self) -> impl Iterator<Item = (u32, f64)> {
        let marks = self.point.seconds.marks().take(self.seconds_shown());
        marks.filter_map(|mark| Some((mark.number, lat_p99_us(mark)?)))
    }

    /// Returns the mean of the readings of `quantity` in the seconds that figures use, with the number of
    /// each second, where there are any.
    pub fn readings(&self, quantity: &str) -> impl Iterator<Item = (u32, f64)> {
        let cut = self.point.seconds.marks().nth(self.seconds_shown());
        let is_shown = move |(number, _): &(u32, f64)| cut.is_none_or(|cut| *number < cut.number);
        self.point.seconds.readings(quantity).take_while(is_shown)
    }
}

fn lat_p99_us(mark: SecondMark) -> Option<f64> {
    mark.lat_p99.map(|nanos| nanos.0 as f64 / 1e3)
}
