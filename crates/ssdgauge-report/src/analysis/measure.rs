//! The measures of a test: its headline, and what it cost at the same steps.

use crate::analysis::group::{Group, Member};
use crate::analysis::headline_points;
use crate::analysis::headline_reasons::missing_reason;
use crate::analysis::power;
use crate::model::PointRun;
use crate::model::metrics;
use ssdgauge_core::{Family, Metric, Scope, Test};

/// One number of a test for each drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The headline.
    Speed,
    /// Work per watt at the steps of the headline.
    Efficiency,
    /// Mean power at the steps of the headline.
    Power,
    /// The largest 99th percentile of latency among the steps of the headline.
    P99,
    /// The largest 99.99th percentile of latency among the steps of the headline.
    P9999,
}

impl Measure {
    /// Every measure, in the order of the tabs.
    pub(crate) const ALL: [Measure; 5] =
        [Measure::Speed, Measure::Efficiency, Measure::Power, Measure::P99, Measure::P9999];

    /// Returns its key in the page.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Measure::Speed => "speed",
            Measure::Efficiency => "eff",
            Measure::Power => "power",
            Measure::P99 => "p99",
            Measure::P9999 => "p9999",
        }
    }

    /// Returns the name of its tab.
    pub(crate) fn name(self, test: &Test) -> &'static str {
        let metric = test.score.metric();
        match self {
            Measure::Speed => match metric.family() {
                Family::Rate => "Speed",
                Family::Latency
                | Family::Stall
                | Family::Power
                | Family::Efficiency
                | Family::Queue
                | Family::Cost
                | Family::Spare
                | Family::Duration
                | Family::Trim
                | Family::Judgement => metric.title(),
            },
            Measure::Efficiency => "Efficiency",
            Measure::Power => "Power",
            Measure::P99 => "Latency p99",
            Measure::P9999 => "Latency p99.99",
        }
    }

    /// Returns the metric of its values in `test`.
    pub(crate) fn metric(self, test: &Test) -> Metric {
        match self {
            Measure::Speed => test.score.metric(),
            Measure::Efficiency => test.score.metric().efficiency(),
            Measure::Power => Metric::PowerW,
            Measure::P99 => Metric::LatP99Us,
            Measure::P9999 => Metric::LatP9999Us,
        }
    }

    /// Returns the metric of a single step or second: the headline itself may not be one.
    pub(crate) fn metric_of_steps(self, test: &Test) -> Metric {
        let metric = self.metric(test);
        if metric.family() == Family::Judgement { metric.rate() } else { metric }
    }

    /// Returns the value of `member`, or the reason why there is none.
    ///
    /// # Errors
    /// The reason in a few words, such as `no power meter`.
    pub(crate) fn value(self, group: &Group<'_>, member: &Member<'_>) -> Result<f64, String> {
        let metric = self.metric(&member.test.test);
        match self {
            Measure::Speed if metric.needs_power() && power::is_elsewhere(group, member) => {
                Err(power::other_scope(&metrics::power_scopes(member.test)))
            }
            Measure::Speed => member.test.headline.value.ok_or_else(|| missing_reason(member)),
            Measure::Efficiency | Measure::Power => power::at_headline(group, member, metric),
            Measure::P99 | Measure::P9999 => {
                let points = headline_points::points(member.test);
                let values: Option<Vec<f64>> = points.iter().map(|p| latency(p, metric)).collect();
                match values.as_deref() {
                    Some([]) => Err(missing_reason(member)),
                    None => Err("too few requests".to_owned()),
                    Some(values) => Ok(values.iter().copied().fold(0.0, f64::max)),
                }
            }
        }
    }

    /// Returns whether any member of `group` has a value beside the headline: power that is the
    /// headline has no tab of its own, and single requests have no efficiency.
    pub(crate) fn is_measured(self, group: &Group<'_>) -> bool {
        let headline = group.first().test.headline.metric;
        let applies = match self {
            Measure::Speed => true,
            Measure::Efficiency | Measure::Power => {
                !headline.needs_power() && !headline.is_latency()
            }
            Measure::P99 | Measure::P9999 => {
                headline != self.metric(&group.first().test.test) && !headline.needs_power()
            }
        };
        applies && group.members.iter().any(|member| self.value(group, member).is_ok())
    }
}

fn latency(point: &PointRun, metric: Metric) -> Option<f64> {
    metrics::value(point, metric, Scope::All)
}
