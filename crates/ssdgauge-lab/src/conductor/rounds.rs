//! Steady state of a step or of rounds, by the rule of the SNIA Performance Test Specification: in
//! five rounds a range of at most 20 % and a slope of at most 10 % of the mean.

use ssdgauge_core::{
    Finding, FindingKind, Metric, Scope, Severity, SteadyRounds, SteadyRule, Totals,
};
use ssdgauge_statistics::steady::{self, Steadiness, WINDOW};

/// The tracked value of each round so far, and the first steady window.
#[derive(Debug)]
pub(super) struct RoundValues {
    metric: Metric,
    values: Vec<f64>,
    found: Option<Steadiness>,
}

impl RoundValues {
    pub(super) fn new(metric: Metric) -> RoundValues {
        RoundValues { metric, values: Vec::new(), found: None }
    }

    /// Returns the values of the rounds of a step, with the first steady window.
    pub(super) fn from_step(rule: SteadyRule, rounds: &SteadyRounds) -> RoundValues {
        let values = rounds.values().to_vec();
        RoundValues { metric: rule.metric, values, found: rounds.steady() }
    }

    /// Adds the round of `totals`. A round without requests counts as 0.
    pub(super) fn push(&mut self, totals: &Totals) {
        self.values.push(totals.value(self.metric, Scope::All).unwrap_or(0.0));
        if self.found.is_none() {
            self.found = self.last_window().filter(|verdict| verdict.steady);
        }
    }

    /// Judges the last five rounds; `None` before five rounds, or where their mean is 0.
    fn last_window(&self) -> Option<Steadiness> {
        let start = self.values.len().checked_sub(WINDOW)?;
        steady::judge(&self.values[start..])
    }

    /// Returns the verdict on the first steady window; `None` before there is one.
    pub(super) fn steady(&self) -> Option<Steadiness> {
        self.found
    }

    /// Returns the finding on the steady state, with the figures of the window.
    pub(super) fn finding(&self, rounds: &str) -> Finding {
        let n = self.values.len();
        let figures = |verdict: &Steadiness| {
            format!(
                "mean {}, range {:.1} % of 20 % allowed, slope {:.1} % of 10 % allowed, \
                 correlation {:.2}",
                self.metric.about(verdict.mean),
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
