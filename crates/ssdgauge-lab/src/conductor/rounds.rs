//! Steady state of a step or of rounds, by the rule of the SNIA Performance Test Specification: in
//! five rounds a range of at most 20 % and a slope of at most 10 % of the mean.

use ssdgauge_core::statistics::steady::{self, Verdict, WINDOW};
use ssdgauge_core::{
    Finding, FindingKind, Interval, Metric, Nanos, Scope, Severity, SteadyRule, Totals,
};

/// The seconds of a step, summed up in rounds.
#[derive(Debug)]
pub(super) struct Rounds {
    round: Nanos,
    second: u32,
    current: Totals,
    values: RoundValues,
}

impl Rounds {
    pub(super) fn new(rule: SteadyRule) -> Rounds {
        debug_assert!(
            rule.round >= Nanos::SECOND && rule.round.0.is_multiple_of(Nanos::SECOND.0),
            "a round of {} is not a whole number of seconds",
            rule.round
        );
        let values = RoundValues::new(rule.metric);
        Rounds { round: rule.round, second: 0, current: Totals::over(rule.round), values }
    }

    /// Adds a second of one stream and direction.
    ///
    /// A round is complete when the next second arrives, because a second has one interval for each
    /// stream and direction. The last round of a step is therefore never counted: it may be short.
    pub(super) fn interval(&mut self, interval: &Interval) {
        if interval.second > self.second {
            self.second = interval.second;
            let seconds = self.round.0 / Nanos::SECOND.0;
            if u64::from(interval.second).is_multiple_of(seconds) {
                self.values.push(&self.current);
                self.current = Totals::over(self.round);
            }
        }
        // The tracked metrics are sums and means: merging buckets every second is not needed.
        let latency = interval.latency.without_buckets();
        self.current.add(&Interval { latency, ..interval.clone() });
    }

    /// Returns the verdict on the first steady window; `None` before there is one.
    pub(super) fn steady(&self) -> Option<Verdict> {
        self.values.steady()
    }

    /// Returns the finding on the steady state, with the figures of the window.
    pub(super) fn finding(&self) -> Finding {
        self.values.finding(&format!("rounds of {}", self.round))
    }
}

/// The tracked value of each round so far, and the first steady window.
#[derive(Debug)]
pub(super) struct RoundValues {
    metric: Metric,
    values: Vec<f64>,
    found: Option<Verdict>,
}

impl RoundValues {
    pub(super) fn new(metric: Metric) -> RoundValues {
        RoundValues { metric, values: Vec::new(), found: None }
    }

    /// Adds the round of `totals`. A round without requests counts as 0.
    pub(super) fn push(&mut self, totals: &Totals) {
        self.values.push(totals.value(self.metric, Scope::All).unwrap_or(0.0));
        if self.found.is_none() {
            self.found = self.last_window().filter(|verdict| verdict.steady);
        }
    }

    /// Judges the last five rounds; `None` before five rounds, or where their mean is 0.
    fn last_window(&self) -> Option<Verdict> {
        let start = self.values.len().checked_sub(WINDOW)?;
        steady::judge(&self.values[start..])
    }

    /// Returns the verdict on the first steady window; `None` before there is one.
    pub(super) fn steady(&self) -> Option<Verdict> {
        self.found
    }

    /// Returns the finding on the steady state, with the figures of the window.
    pub(super) fn finding(&self, rounds: &str) -> Finding {
        let n = self.values.len();
        let unit = match self.metric.unit() {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let figures = |verdict: &Verdict| {
            format!(
                "mean {:.1}{unit}, range {:.1} % of 20 % allowed, slope {:.1} % of 10 % allowed, \
                 correlation {:.2}",
                verdict.mean,
                verdict.range * 100.0,
                verdict.slope * 100.0,
                verdict.correlation
            )
        };
        match (&self.found, self.last_window()) {
            (Some(verdict), _) => Finding::new(
                FindingKind::SteadyState,
                Severity::Note,
                format!("steady after {n} {rounds}: {}", figures(verdict)),
                "",
            ),
            (None, Some(verdict)) => Finding::new(
                FindingKind::NotSteady,
                Severity::Warning,
                format!("not steady within {n} {rounds}; the last five: {}", figures(&verdict)),
                "extend the limit, or interpret the results as those of a transient state",
            ),
            (None, None) => Finding::new(
                FindingKind::NotSteady,
                Severity::Warning,
                format!("{n} {rounds}: too few for the steady-state rule, or without requests"),
                "extend the limit: the rule needs five rounds",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{Direction, Histogram};

    fn feed(rounds: &mut Rounds, each_second: &[u64]) {
        for (second, ios) in each_second.iter().enumerate() {
            rounds.interval(&Interval {
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
    }

    #[test]
    fn a_step_is_steady_at_the_first_steady_window_of_five_rounds() {
        let rule = SteadyRule { round: Nanos::from_secs(2), metric: Metric::Iops };
        let falling = [900, 900, 500, 500, 300, 300, 200, 200, 100, 100];
        let mut rounds = Rounds::new(rule);
        feed(&mut rounds, &falling);
        assert_eq!(rounds.steady(), None);
        assert_eq!(rounds.finding().kind, FindingKind::NotSteady);
        let mut rounds = Rounds::new(rule);
        feed(&mut rounds, &[&falling[..], &[100; 9]].concat());
        assert_eq!(rounds.steady().map(|verdict| verdict.mean), Some(100.0));
        assert_eq!(rounds.finding().kind, FindingKind::SteadyState);
    }
}
