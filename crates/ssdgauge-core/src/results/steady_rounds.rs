//! The rounds of a step that ends at a steady state: its seconds, summed up by a [`SteadyRule`].
//!
//! The lab ends a step by these rounds and the report shows them, so both see the same windows.

use crate::plan::SteadyRule;
use crate::sample::Interval;
use crate::totals::Totals;
use crate::totals::scope::Scope;
use crate::units::{Bytes, Nanos};
use crate::workload::Workload;
use ssdgauge_statistics::steady::{self, Steadiness};

/// The complete rounds of a step.
#[derive(Clone, Debug)]
pub struct SteadyRounds {
    rule: SteadyRule,
    /// The second that intervals belong to.
    second: u32,
    current: Totals,
    moved: Bytes,
    values: Vec<f64>,
    /// The number of rounds when the minimum amount of data was transferred.
    rounds_before_least: Option<usize>,
    found: Option<Steadiness>,
}

impl SteadyRounds {
    /// Returns the rounds of a step with `workload` before its first second.
    pub fn new(rule: SteadyRule, workload: &Workload) -> SteadyRounds {
        debug_assert!(
            rule.round >= Nanos::SECOND && rule.round.0.is_multiple_of(Nanos::SECOND.0),
            "a round of {} is not a whole number of seconds",
            rule.round.about()
        );
        SteadyRounds {
            rule,
            second: 0,
            current: Totals::of_workload(workload),
            moved: Bytes(0),
            values: Vec::new(),
            rounds_before_least: None,
            found: None,
        }
    }

    /// Adds a second of one stream and direction; seconds arrive in ascending order.
    ///
    /// A second is complete when the next one arrives, because it has one interval for each stream
    /// and direction. The last round of a step is therefore never counted: it may be short.
    pub fn add(&mut self, interval: &Interval) {
        if interval.second > self.second {
            self.current.elapsed += Nanos::SECOND * u64::from(interval.second - self.second);
            self.second = interval.second;
            self.end_round();
        }
        // The tracked metrics are sums and means: merging buckets every second is not needed.
        let latency = interval.latency.without_buckets();
        self.current.add(&Interval { latency, ..interval.clone() });
    }

    /// Ends the current round where it is long enough in time and in bytes.
    fn end_round(&mut self) {
        let bytes = Bytes(self.current.directions.iter().map(|totals| totals.bytes).sum());
        if self.current.elapsed < self.rule.round || bytes < self.rule.round_bytes {
            return;
        }
        self.moved += bytes;
        // A round without requests counts as 0.
        self.values.push(self.current.value(self.rule.metric, Scope::All).unwrap_or(0.0));
        let latency_of = self.current.latency_of;
        self.current = Totals { latency_of, ..Totals::default() };
        if self.moved >= self.rule.least_bytes {
            self.rounds_before_least.get_or_insert(self.values.len());
        }
        if self.found.is_none() {
            self.found = self.window().map(|(_, verdict)| verdict);
        }
    }

    /// Returns the value of each complete round.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the number of rounds after which a steady window may end; `None` before the minimum
    /// amount of data was transferred.
    pub fn rounds_before_least(&self) -> Option<usize> {
        self.rounds_before_least
    }

    /// Returns the verdict on the first steady window; `None` before there is one.
    pub fn steady(&self) -> Option<Steadiness> {
        self.found
    }

    /// Returns the first steady window that ends where one may end.
    fn window(&self) -> Option<(usize, Steadiness)> {
        steady::find_from(&self.values, self.rounds_before_least?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::sample::Direction;
    use crate::totals::metric::Metric;
    use ssdgauge_statistics::histogram::Histogram;

    fn feed(rule: SteadyRule, each_second: &[u64]) -> SteadyRounds {
        let mut rounds = SteadyRounds::new(rule, Workload::no_load());
        for (second, ios) in each_second.iter().enumerate() {
            rounds.add(&Interval {
                second: second as u32,
                stream: 0,
                direction: Direction::Write,
                length: Nanos::SECOND,
                ios: *ios,
                bytes: ios * 4_096,
                errors: 0,
                latency: Histogram::default(),
            });
        }
        rounds
    }

    fn rule(seconds: u64) -> SteadyRule {
        SteadyRule {
            round: Nanos::from_secs(seconds),
            metric: Metric::Iops,
            round_bytes: Bytes(0),
            least_bytes: Bytes(0),
        }
    }

    #[test]
    fn a_step_is_steady_at_the_first_steady_window_of_five_rounds() {
        let falling = [900, 900, 500, 500, 300, 300, 200, 200, 100, 100];
        let rounds = feed(rule(2), &falling);
        assert_eq!(rounds.steady(), None);
        // The last round is complete with the second after it.
        assert_eq!(rounds.values(), [900.0, 500.0, 300.0, 200.0]);
        let rounds = feed(rule(2), &[&falling[..], &[100; 9]].concat());
        assert_eq!(rounds.steady().unwrap().mean, 100.0);
    }

    #[test]
    fn a_round_lasts_until_its_time_and_its_bytes_are_reached() {
        let by_bytes = SteadyRule { round_bytes: Bytes(1_000 * 4_096), ..rule(2) };
        // 1,000 requests take one second, then two, then five: the round lasts two, two and five.
        let seconds = [1_000, 1_000, 500, 500, 200, 200, 200, 200, 200, 1];
        assert_eq!(feed(by_bytes, &seconds).values(), [1_000.0, 500.0, 200.0]);
    }

    #[test]
    fn no_window_ends_before_the_minimum_amount_of_data() {
        let least = SteadyRule { least_bytes: Bytes(7 * 100 * 4_096), ..rule(1) };
        let rounds = feed(least, &[100; 7]);
        assert_eq!((rounds.steady(), rounds.rounds_before_least()), (None, None));
        let rounds = feed(least, &[100; 8]);
        assert_eq!(rounds.rounds_before_least(), Some(7));
        assert_eq!(rounds.steady().unwrap().mean, 100.0);
    }
}
