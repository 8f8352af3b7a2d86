//! The rule by which the points of a test become its headline.

use crate::metric::{Metric, Totals};
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// How the headline of a test is made.
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
    /// The highest load of a search that was borne in full: the position of that point.
    HighestBorne,
    /// The highest load that was tried in full and borne by the clock that starts when a request
    /// is sent, the rule of Aerospike ACT since 6.0. The search goes by the due times, so a
    /// higher load may never have been tried.
    HighestBorneFromSending,
    /// The metric at the knee of an open loop's loads: where requests a second ÷ mean latency is
    /// largest (the power of Kleinrock, 1979).
    KneeOfLoad(Metric),
}

/// The quantity of the reading that says whether a load was borne: 1, or 0.
pub const BORNE: &str = "borne";

/// The quantity of the reading that says the same by the clock that starts with the sending.
pub const BORNE_FROM_SENDING: &str = "borne_from_sending";

/// The last part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// So much time, in full seconds.
    Time(Nanos),
    /// The fewest full seconds that moved so many bytes.
    Bytes(Bytes),
}

impl Window {
    /// Returns the last of `seconds` that the window holds; `None` where there are too few.
    pub fn of<'a, 'b>(&self, seconds: &'a [&'b Totals]) -> Option<&'a [&'b Totals]> {
        let start = match self {
            Window::Time(time) => {
                let wanted = time.0.div_ceil(Nanos::SECOND.0).max(1) as usize;
                seconds.len().checked_sub(wanted)?
            }
            Window::Bytes(bytes) => {
                let mut moved = 0;
                seconds.iter().rposition(|second| {
                    moved += second.directions.iter().map(|totals| totals.bytes).sum::<u64>();
                    moved >= bytes.0
                })?
            }
        };
        Some(&seconds[start..])
    }
}

impl std::fmt::Display for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Window::Time(time) => write!(f, "last {time}"),
            Window::Bytes(bytes) => write!(f, "last {bytes}"),
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
            | Score::Knee(metric)
            | Score::KneeOfLoad(metric)
            | Score::MeanOfLast { metric, .. } => metric,
            Score::MeanOverSigmaOfLast { .. } => Metric::MeanOverSigma,
            Score::HighestBorne | Score::HighestBorneFromSending => Metric::LoadMultiple,
        }
    }

    /// Returns the metric of the seconds and the last part of a step that the headline counts; `None`
    /// where it counts whole steps.
    pub fn last_part(&self) -> Option<(Metric, Window)> {
        match *self {
            Score::MeanOfLast { metric, window }
            | Score::MeanOverSigmaOfLast { metric, window } => Some((metric, window)),
            Score::MeanOf(_)
            | Score::MeanAt { .. }
            | Score::BestOf(_)
            | Score::At { .. }
            | Score::Knee(_)
            | Score::KneeOfLoad(_)
            | Score::HighestBorne
            | Score::HighestBorneFromSending => None,
        }
    }

    /// Returns the same rule with its last part as `change` makes it.
    pub fn with_last_part(&self, change: impl FnOnce(Window) -> Window) -> Score {
        match (self.clone(), self.last_part()) {
            (Score::MeanOfLast { metric, .. }, Some((_, window))) => {
                Score::MeanOfLast { metric, window: change(window) }
            }
            (Score::MeanOverSigmaOfLast { metric, .. }, Some((_, window))) => {
                Score::MeanOverSigmaOfLast { metric, window: change(window) }
            }
            (other, last) => {
                debug_assert!(last.is_none(), "{other:?} keeps the last part of its full length");
                other
            }
        }
    }

    /// Returns whether the headline needs the point at `position`.
    pub fn rests_on(&self, position: f64) -> bool {
        match self {
            Score::At { position: at, .. } => *at == position,
            Score::MeanAt { positions, .. } => positions.contains(&position),
            Score::MeanOf(_)
            | Score::BestOf(_)
            | Score::Knee(_)
            | Score::KneeOfLoad(_)
            | Score::MeanOfLast { .. }
            | Score::MeanOverSigmaOfLast { .. }
            | Score::HighestBorne
            | Score::HighestBorneFromSending => true,
        }
    }

    /// Returns the rule in words.
    pub fn words(&self) -> String {
        match self {
            Score::MeanOf(_) => "arithmetic mean over the points".into(),
            Score::MeanAt { positions, .. } => {
                let positions: Vec<String> = positions.iter().map(f64::to_string).collect();
                format!("arithmetic mean over the points at {}", positions.join(", "))
            }
            Score::BestOf(_) => "best point".into(),
            Score::At { position, .. } => format!("the point at {position}"),
            Score::Knee(_) => "lowest queue depth with at least 95 % of the best".into(),
            Score::MeanOfLast { window, .. } => format!("mean of the {window}"),
            Score::MeanOverSigmaOfLast { metric, window } => {
                format!("mean ÷ σ of {} in each second of the {window}", metric.title())
            }
            Score::HighestBorne => "highest load that was borne in full".into(),
            Score::HighestBorneFromSending => {
                "highest load tried in full that was borne by the clock from the sending".into()
            }
            Score::KneeOfLoad(_) => "load with the most requests a second ÷ mean latency".into(),
        }
    }
}
