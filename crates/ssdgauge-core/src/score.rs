//! Scores: the rules that compute the headline of a test from its points.

pub(crate) mod headline;
pub(crate) mod point;
pub(crate) mod ratio;

use crate::sample::Direction;
use crate::totals::Totals;
use crate::totals::metric::Metric;
use crate::totals::scope::Scope;
use crate::totals::seconds::FullSeconds;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// The rule of the headline of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// The arithmetic mean of a metric over all points (definition D5).
    MeanOf(Metric),
    /// The arithmetic mean of a metric over the points at these swept values, such as the queue
    /// depths 1, 2 and 4.
    MeanAt {
        /// The metric.
        metric: Metric,
        /// The swept values.
        positions: Vec<f64>,
    },
    /// The best value of a metric among the points.
    BestOf(Metric),
    /// The metric at the point whose swept value is `position`.
    At {
        /// The metric.
        metric: Metric,
        /// The swept value, such as 70 for 70 % reads.
        position: f64,
    },
    /// The metric of one stream, where several run at the same time, at the point whose swept value is
    /// `position`.
    OfStream {
        /// The metric; one that is split by direction.
        metric: Metric,
        /// The swept value.
        position: f64,
        /// The number of the stream in its workload, from 0.
        stream: u16,
        /// Its name.
        name: String,
        /// The direction of the requests that count; `None` for all of the stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
    },
    /// The metric of the requests of one direction, of all streams together, at the point whose swept
    /// value is `position`.
    OfDirection {
        /// The metric; one that is split by direction.
        metric: Metric,
        /// The swept value.
        position: f64,
        /// The direction of the requests that count.
        direction: Direction,
    },
    /// The metric at the lowest queue depth that reaches 95 % of the best (definition D7).
    Knee(Metric),
    /// The metric over the last part of each point, averaged over the points.
    MeanOfLast {
        /// The metric; one that adds up over seconds.
        metric: Metric,
        /// The last part.
        window: Window,
    },
    /// Mean ÷ standard deviation of the full seconds in the last part of each point, averaged
    /// over the points (definition D4).
    MeanOverSigmaOfLast {
        /// The metric of each second.
        metric: Metric,
        /// The last part.
        window: Window,
    },
    /// The highest load of a search that passes in full length by response latency, which counts
    /// from the due time: the position of that point.
    #[serde(rename = "highest-borne")]
    HighestPassing,
    /// The highest load run in full length that passes by service latency, which counts from the
    /// submission: the rule of Aerospike ACT since 6.0. The search follows the response latency, so
    /// a higher load may never have been run.
    #[serde(rename = "highest-borne-from-sending")]
    HighestPassingByServiceLatency,
    /// The metric at the knee of an open loop's loads: where request rate ÷ mean latency is
    /// largest (the power of L. Kleinrock, 1979).
    KneeOfLoad(Metric),
}

/// The families of scores, by the part of the samples that the headline is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreFamily {
    /// The mean over several points.
    Mean,
    /// The value of one point.
    Point,
    /// The last part of each point.
    LastPart,
    /// The value of the point at the knee of a sweep.
    Knee,
    /// The highest passing load of a search.
    HighestLoad,
}

/// The quantity of the reading that is 1 where a load passed by response latency, otherwise 0.
pub const PASSED: &str = "borne";

/// The quantity of the reading with the number of the first slice, from 1, in which a load of several slices
/// failed.
pub const FIRST_FAILED_SLICE: &str = "first_failed_slice";

/// The quantity of the reading that is 1 where a load passed by service latency, otherwise 0.
pub const PASSED_BY_SERVICE_LATENCY: &str = "borne_from_sending";

/// The last part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// This duration, in full seconds.
    Time(Nanos),
    /// The minimum number of full seconds that transferred this number of bytes.
    Bytes(Bytes),
}

impl Window {
    /// Returns the last of `seconds` that the window contains; `None` where there are too few.
    pub fn select<'a>(&self, seconds: FullSeconds<'a>) -> Option<FullSeconds<'a>> {
        let start = match self {
            Window::Time(time) => {
                let wanted = time.0.div_ceil(Nanos::SECOND.0).max(1) as usize;
                seconds.len().checked_sub(wanted)?
            }
            Window::Bytes(bytes) => {
                let mut moved = 0;
                seconds.totals().rposition(|second| {
                    moved += second.directions.iter().map(|totals| totals.bytes).sum::<u64>();
                    moved >= bytes.0
                })?
            }
        };
        Some(seconds.starting_at(start))
    }
}

impl std::fmt::Display for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Window::Time(time) => write!(f, "last {}", time.about()),
            // A size that was divided by a shortening is not a whole number of a unit.
            Window::Bytes(bytes) => write!(f, "last {}", bytes.about().replacen(".0 ", " ", 1)),
        }
    }
}

impl Score {
    /// Returns the metric that the headline is in.
    pub fn metric(&self) -> Metric {
        match *self {
            Score::MeanOf(metric)
            | Score::MeanAt { metric, .. }
            | Score::BestOf(metric)
            | Score::At { metric, .. }
            | Score::OfStream { metric, .. }
            | Score::OfDirection { metric, .. }
            | Score::Knee(metric)
            | Score::KneeOfLoad(metric)
            | Score::MeanOfLast { metric, .. } => metric,
            Score::MeanOverSigmaOfLast { .. } => Metric::MeanOverSigma,
            Score::HighestPassing | Score::HighestPassingByServiceLatency => Metric::LoadMultiple,
        }
    }

    /// Returns the family of the rule.
    pub fn family(&self) -> ScoreFamily {
        match self {
            Score::MeanOf(_) | Score::MeanAt { .. } => ScoreFamily::Mean,
            Score::BestOf(_)
            | Score::At { .. }
            | Score::OfStream { .. }
            | Score::OfDirection { .. } => ScoreFamily::Point,
            Score::MeanOfLast { .. } | Score::MeanOverSigmaOfLast { .. } => ScoreFamily::LastPart,
            Score::Knee(_) | Score::KneeOfLoad(_) => ScoreFamily::Knee,
            Score::HighestPassing | Score::HighestPassingByServiceLatency => {
                ScoreFamily::HighestLoad
            }
        }
    }

    /// Returns the metric of the seconds and the last part of a step that the headline counts;
    /// `None` where it counts whole steps.
    pub fn last_part(&self) -> Option<(Metric, Window)> {
        match *self {
            Score::MeanOfLast { metric, window }
            | Score::MeanOverSigmaOfLast { metric, window } => Some((metric, window)),
            Score::MeanOf(_)
            | Score::MeanAt { .. }
            | Score::BestOf(_)
            | Score::At { .. }
            | Score::OfStream { .. }
            | Score::OfDirection { .. }
            | Score::Knee(_)
            | Score::KneeOfLoad(_)
            | Score::HighestPassing
            | Score::HighestPassingByServiceLatency => None,
        }
    }

    /// Returns the metric and the last part of a step where the headline is their mean; `None` for
    /// mean ÷ σ and for rules that count whole steps.
    pub fn mean_of_last(&self) -> Option<(Metric, Window)> {
        self.last_part().filter(|(metric, _)| *metric == self.metric())
    }

    /// Returns the metric whose knee over the queue depth is the headline (definition D7).
    pub fn depth_knee(&self) -> Option<Metric> {
        match *self {
            Score::Knee(metric) => Some(metric),
            Score::KneeOfLoad(_)
            | Score::MeanOf(_)
            | Score::MeanAt { .. }
            | Score::BestOf(_)
            | Score::At { .. }
            | Score::OfStream { .. }
            | Score::OfDirection { .. }
            | Score::MeanOfLast { .. }
            | Score::MeanOverSigmaOfLast { .. }
            | Score::HighestPassing
            | Score::HighestPassingByServiceLatency => None,
        }
    }

    /// Returns the quantity of the reading that says whether a load passed, where the headline is
    /// the highest passing load: [`PASSED`] or [`PASSED_BY_SERVICE_LATENCY`].
    pub fn passing_reading(&self) -> Option<&'static str> {
        match self {
            Score::HighestPassing => Some(PASSED),
            Score::HighestPassingByServiceLatency => Some(PASSED_BY_SERVICE_LATENCY),
            Score::MeanOf(_)
            | Score::MeanAt { .. }
            | Score::BestOf(_)
            | Score::At { .. }
            | Score::OfStream { .. }
            | Score::OfDirection { .. }
            | Score::Knee(_)
            | Score::KneeOfLoad(_)
            | Score::MeanOfLast { .. }
            | Score::MeanOverSigmaOfLast { .. } => None,
        }
    }

    /// Returns the metric of the `whole` of a point, or of the part of it that the rule names: one of its
    /// `streams`, one direction, or both.
    pub fn value(&self, whole: &Totals, streams: &[Totals]) -> Option<f64> {
        let totals = match self.stream() {
            Some(stream) => streams.get(usize::from(stream))?,
            None => whole,
        };
        totals.value(self.metric(), self.scope())
    }

    /// Returns the number of the one stream whose requests count; `None` for all streams.
    pub fn stream(&self) -> Option<u16> {
        self.part().0
    }

    /// Returns the requests that count.
    pub fn scope(&self) -> Scope {
        self.part().1.map_or(Scope::All, Scope::from)
    }

    /// Returns the one stream and the one direction whose requests count.
    fn part(&self) -> (Option<u16>, Option<Direction>) {
        match self {
            Score::OfStream { stream, direction, .. } => (Some(*stream), *direction),
            Score::OfDirection { direction, .. } => (None, Some(*direction)),
            Score::MeanOf(_)
            | Score::MeanAt { .. }
            | Score::BestOf(_)
            | Score::At { .. }
            | Score::Knee(_)
            | Score::KneeOfLoad(_)
            | Score::MeanOfLast { .. }
            | Score::MeanOverSigmaOfLast { .. }
            | Score::HighestPassing
            | Score::HighestPassingByServiceLatency => (None, None),
        }
    }

    /// Returns the swept values that the rule names; `None` where it uses all points.
    pub fn positions(&self) -> Option<&[f64]> {
        match self {
            Score::At { position, .. }
            | Score::OfStream { position, .. }
            | Score::OfDirection { position, .. } => Some(std::slice::from_ref(position)),
            Score::MeanAt { positions, .. } => Some(positions),
            Score::MeanOf(_)
            | Score::BestOf(_)
            | Score::Knee(_)
            | Score::KneeOfLoad(_)
            | Score::MeanOfLast { .. }
            | Score::MeanOverSigmaOfLast { .. }
            | Score::HighestPassing
            | Score::HighestPassingByServiceLatency => None,
        }
    }

    /// Returns the swept value of the one point that the rule names; `None` for other rules.
    pub fn position(&self) -> Option<f64> {
        match (self.family(), self.positions()) {
            (ScoreFamily::Point, Some([position])) => Some(*position),
            (
                ScoreFamily::Mean
                | ScoreFamily::Point
                | ScoreFamily::LastPart
                | ScoreFamily::Knee
                | ScoreFamily::HighestLoad,
                _,
            ) => None,
        }
    }

    /// Returns whether the headline needs the point at `position`.
    pub fn needs(&self, position: f64) -> bool {
        self.positions().is_none_or(|positions| positions.contains(&position))
    }

    /// Returns the same rule with its last part changed by `change`.
    pub fn with_last_part(&self, change: impl FnOnce(Window) -> Window) -> Score {
        match (self.clone(), self.last_part()) {
            (Score::MeanOfLast { metric, .. }, Some((_, window))) => {
                Score::MeanOfLast { metric, window: change(window) }
            }
            (Score::MeanOverSigmaOfLast { metric, .. }, Some((_, window))) => {
                Score::MeanOverSigmaOfLast { metric, window: change(window) }
            }
            (other, last) => {
                debug_assert!(last.is_none(), "the last part of {other:?} is not changed");
                other
            }
        }
    }

    /// Returns the rule in words, with swept values as numbers.
    pub fn words(&self) -> String {
        self.describe(|position| position.to_string())
    }

    /// Returns the rule in words; `label` gives the label of the point at a swept value.
    pub fn describe(&self, label: impl Fn(f64) -> String) -> String {
        match self {
            Score::MeanOf(_) => "arithmetic mean over the points".into(),
            Score::MeanAt { positions, .. } => {
                let labels: Vec<String> = positions.iter().copied().map(label).collect();
                format!("arithmetic mean over the points at {}", labels.join(", "))
            }
            Score::BestOf(_) => "best point".into(),
            Score::At { position, .. } => format!("the point at {}", label(*position)),
            Score::OfStream { position, name, direction, .. } => {
                let requests = direction.map_or(String::new(), |one| format!("{} of ", one.requests()));
                format!("{requests}stream {name} at {}", label(*position))
            }
            Score::OfDirection { position, direction, .. } => {
                format!("{} at {}", direction.requests(), label(*position))
            }
            Score::Knee(_) => "lowest queue depth with at least 95 % of the best".into(),
            Score::MeanOfLast { window, .. } => format!("mean of the {window}"),
            Score::MeanOverSigmaOfLast { metric, window } => {
                format!("mean ÷ σ of {} in each second of the {window}", metric.title())
            }
            Score::HighestPassing => "highest load that meets the latency limits".into(),
            Score::HighestPassingByServiceLatency => {
                "highest load that meets the latency limits by service latency (from the submission)"
                    .into()
            }
            Score::KneeOfLoad(_) => "load with the highest ratio of request rate to mean latency".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [Score; 13] {
        let (metric, window) = (Metric::Iops, Window::Time(Nanos::from_secs(400)));
        let of_stream = |direction| Score::OfStream {
            metric,
            position: 2.0,
            stream: 1,
            name: "tenant".into(),
            direction,
        };
        [
            Score::MeanOf(metric),
            Score::MeanAt { metric, positions: vec![1.0, 4.0] },
            Score::BestOf(metric),
            Score::At { metric, position: 70.0 },
            Score::Knee(metric),
            Score::MeanOfLast { metric, window },
            Score::MeanOverSigmaOfLast { metric, window },
            Score::HighestPassing,
            Score::HighestPassingByServiceLatency,
            Score::KneeOfLoad(metric),
            of_stream(None),
            of_stream(Some(Direction::Write)),
            Score::OfDirection { metric, position: 2.0, direction: Direction::Flush },
        ]
    }

    #[test]
    fn each_property_belongs_to_its_own_rules() {
        let those_with = |has: &dyn Fn(&Score) -> bool| -> Vec<usize> {
            all().iter().enumerate().filter(|(_, score)| has(score)).map(|(n, _)| n).collect()
        };
        assert_eq!(those_with(&|score| score.positions().is_some()), [1, 3, 10, 11, 12]);
        assert_eq!(those_with(&|score| score.position() == Some(70.0)), [3]);
        assert_eq!(those_with(&|score| score.position().is_some()), [3, 10, 11, 12]);
        assert_eq!(those_with(&|score| !score.needs(2.0)), [1, 3]);
        assert_eq!(those_with(&|score| score.stream() == Some(1)), [10, 11]);
        assert_eq!(those_with(&|score| score.scope() != Scope::All), [11, 12]);
        assert_eq!(those_with(&|score| score.last_part().is_some()), [5, 6]);
        assert_eq!(those_with(&|score| score.mean_of_last().is_some()), [5]);
        assert_eq!(those_with(&|score| score.depth_knee().is_some()), [4]);
        assert_eq!(those_with(&|score| score.passing_reading().is_some()), [7, 8]);
        assert_eq!(those_with(&|score| score.family() == ScoreFamily::Knee), [4, 9]);
    }

    #[test]
    fn a_description_uses_the_labels_of_the_points() {
        let described = all().map(|score| score.describe(|position| format!("QD{position}")));
        assert_eq!(described[1], "arithmetic mean over the points at QD1, QD4");
        assert_eq!(described[3], "the point at QD70");
        assert_eq!(all()[3].words(), "the point at 70");
        assert_eq!(described[10], "stream tenant at QD2");
        assert_eq!(described[11], "writes of stream tenant at QD2");
        assert_eq!(described[12], "flushes at QD2");
    }
}
