//! The measures of a test: its headline, and what it cost at the same steps.

use crate::findings::trust;
use crate::groups::group::{Group, Member};
use crate::groups::headline_reasons::missing_reason;
use crate::groups::power;
use crate::groups::workload_text;
use crate::model::PointRun;
use crate::model::TestRun;
use crate::model::metrics;
use crate::model::plan::measured_steps;
use crate::steps::headline_points;
use ssdgauge_core::{Family, Headline, Metric, Ratio, Scope, Score, Test};

/// Requests in flight of everyday work at most. Chosen: a desktop rarely has more.
pub(crate) const SHALLOW: u32 = 4;

/// One number of a test for each drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The headline.
    Speed,
    /// The mean rate over the steps with at most `SHALLOW` requests in flight, of a test whose headline
    /// counts others too. No tab of a figure shows it.
    Shallow,
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
    /// Every measure of a figure, in the order of the tabs.
    pub const ALL: [Measure; 5] =
        [Measure::Speed, Measure::Efficiency, Measure::Power, Measure::P99, Measure::P9999];

    /// Returns its key in the page.
    pub fn key(self) -> &'static str {
        match self {
            Measure::Speed => "speed",
            Measure::Shallow => "shallow",
            Measure::Efficiency => "eff",
            Measure::Power => "power",
            Measure::P99 => "p99",
            Measure::P9999 => "p9999",
        }
    }

    /// Returns the name of its tab.
    pub fn name(self, test: &Test) -> &'static str {
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
            Measure::Shallow => "Low queue depths",
            Measure::Efficiency => "Efficiency",
            Measure::Power => "Power",
            Measure::P99 if workload_text::is_of_flushes(test, Metric::LatP99Us) => {
                "Flush latency p99"
            }
            Measure::P9999 if workload_text::is_of_flushes(test, Metric::LatP9999Us) => {
                "Flush latency p99.99"
            }
            Measure::P99 => "Latency p99",
            Measure::P9999 => "Latency p99.99",
        }
    }

    /// Returns the metric of its values in `test`.
    pub fn metric(self, test: &Test) -> Metric {
        match self {
            Measure::Speed => test.score.metric(),
            Measure::Shallow => test.score.metric().rate(),
            Measure::Efficiency => test.score.metric().efficiency(),
            Measure::Power => Metric::PowerW,
            Measure::P99 => Metric::LatP99Us,
            Measure::P9999 => Metric::LatP9999Us,
        }
    }

    /// Returns the metric of a single step or second: the headline itself may not be one.
    pub fn metric_of_steps(self, test: &Test) -> Metric {
        let metric = self.metric(test);
        if metric.family() == Family::Judgement { metric.rate() } else { metric }
    }

    /// Returns the value of `member`, or the reason why there is none.
    ///
    /// # Errors
    /// The reason in a few words, such as `no power meter`.
    pub fn value(self, group: &Group<'_>, member: &Member<'_>) -> Result<f64, String> {
        let metric = self.metric(&member.test.test);
        if let Some(why) = trust::invalid(member.run, member.test) {
            return Err(format!("invalid: {why}"));
        }
        match self {
            Measure::Speed if metric.needs_power() && power::is_elsewhere(group, member) => {
                Err(power::other_scope(&metrics::power_scopes(member.test)))
            }
            Measure::Speed => member.test.headline.value.ok_or_else(|| missing_reason(member)),
            Measure::Shallow => {
                let points = shallow_points(member.test);
                let found =
                    points.and_then(|(score, points)| Headline::from_points(&score, &points).value);
                found.ok_or_else(|| missing_reason(member))
            }
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

    /// Returns how many times the value of `other` that of `member` is, with its 95 % interval where there is
    /// one; `None` where one of the two has no value.
    pub fn over(self, member: &Member<'_>, other: &Member<'_>) -> Option<Ratio> {
        let of_points = |score: &Score, a: &[&PointRun], b: &[&PointRun]| {
            let [a, b] =
                [a, b].map(|points| points.iter().map(|one| &one.point).collect::<Vec<_>>());
            Ratio::from_points(score, &b, &a)
        };
        match self {
            Measure::Speed => member.test.over(other.test),
            Measure::Shallow => {
                let (score, points) = shallow_points(member.test)?;
                let (_, others) = shallow_points(other.test)?;
                Ratio::from_points(&score, &others, &points)
            }
            Measure::Efficiency | Measure::Power => {
                let score = Score::MeanOf(self.metric(&member.test.test));
                let points = headline_points::points(member.test);
                of_points(&score, &points, &headline_points::points(other.test))
            }
            Measure::P99 | Measure::P9999 => {
                let metric = self.metric(&member.test.test);
                let [a, b] = [other, member].map(|one| highest(one.test, metric));
                Ratio::of_headlines(&a?, &b?)
            }
        }
    }

    /// Returns the value of `member` with its interval; `None` for what has no interval of its own.
    pub fn headline(self, member: &Member<'_>) -> Option<Headline> {
        match self {
            Measure::Speed => Some(member.test.headline.clone()),
            Measure::Shallow => {
                let (score, points) = shallow_points(member.test)?;
                Some(Headline::from_points(&score, &points))
            }
            Measure::Efficiency | Measure::Power | Measure::P99 | Measure::P9999 => None,
        }
    }

    /// Returns whether it is a percentile in addition to the headline, which has no interval.
    pub(crate) fn is_percentile(self) -> bool {
        match self {
            Measure::P99 | Measure::P9999 => true,
            Measure::Speed | Measure::Shallow | Measure::Efficiency | Measure::Power => false,
        }
    }

    /// Returns whether any member of `group` has a value in addition to the headline: power that is the
    /// headline has no tab of its own, and single requests have no efficiency.
    pub fn is_measured(self, group: &Group<'_>) -> bool {
        let headline = group.first().test.headline.metric;
        let applies = match self {
            Measure::Speed => true,
            Measure::Shallow => false,
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

/// Returns the largest percentile among the steps of the headline of `test`, with its interval.
fn highest(test: &TestRun, metric: Metric) -> Option<Headline> {
    let points = headline_points::points(test).into_iter();
    let valued = points.filter_map(|point| Some((latency(point, metric)?, point)));
    let (value, point) = valued.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let interval = point.interval(metric, Scope::All);
    Some(Headline { value: Some(value), interval, ..Headline::unmeasured(metric, 0) })
}

/// Returns the queue depths up to [`SHALLOW`] that measured steps of `test` have, ascending, with the
/// swept values of these steps.
pub(crate) fn shallow_steps(test: &Test) -> Vec<(u32, f64)> {
    let depth = |step: &ssdgauge_core::Step| {
        let streams = &step.action.workload()?.streams;
        let depths = streams.iter().map(ssdgauge_core::Stream::total_depth);
        depths.max().filter(|depth| *depth <= SHALLOW).map(|depth| (depth, step.position))
    };
    // A swept value that a deeper step has too does not tell them apart.
    let is_shared = |position: f64| {
        measured_steps(test).any(|step| step.position == position && depth(step).is_none())
    };
    let mut steps: Vec<(u32, f64)> = measured_steps(test).filter_map(depth).collect();
    steps.retain(|(_, position)| !is_shared(*position));
    steps.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    steps
}

/// Returns the points of the steps of [`shallow_steps`], and the rule of their mean; `None` where one is
/// missing, or the test has none.
pub(crate) fn shallow_points(test: &TestRun) -> Option<(Score, Vec<&ssdgauge_core::Point>)> {
    let positions: Vec<f64> = shallow_steps(&test.test).into_iter().map(|(_, at)| at).collect();
    let metric = test.test.score.metric().rate();
    let score = Score::MeanAt { metric, positions };
    let points = test.points_for(&score)?;
    (!points.is_empty()).then_some((score, points))
}
