//! What several parts of the JSON of a run have.

use crate::documents::parts::{self, Interval};
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{ConfidenceInterval, Finding, Nanos};

pub(super) fn finding(finding: &Finding) -> parts::Finding {
    parts::Finding {
        kind: finding.kind.key(),
        severity: finding.severity.name(),
        text: sanitize::prose(&finding.text),
        advice: sanitize::prose(&finding.advice),
    }
}

pub(super) fn micros(time: Nanos) -> f64 {
    time.0 as f64 / 1e3
}

/// Returns what an interval comes from, with its ends; a percentile may have only a lower end.
pub(super) fn interval(interval: &ConfidenceInterval) -> Interval {
    let nothing = Interval {
        kind: interval.key(),
        low: None,
        high: None,
        mean: None,
        cut_seconds: None,
        seconds: None,
    };
    match interval {
        ConfidenceInterval::WithinRun(within) => Interval {
            low: Some(within.low),
            high: Some(Some(within.high).filter(|high| high.is_finite())),
            mean: Some(within.mean),
            cut_seconds: Some(within.cut),
            seconds: Some(within.n),
            ..nothing
        },
        ConfidenceInterval::BetweenRepetitions { low, high }
        | ConfidenceInterval::OfCounters { low, high }
        | ConfidenceInterval::OfTrials { low, high } => {
            Interval { low: Some(*low), high: Some(Some(*high)), ..nothing }
        }
        ConfidenceInterval::StillSettling
        | ConfidenceInterval::TooFewSeconds
        | ConfidenceInterval::RestsOnFewSeconds
        | ConfidenceInterval::Undefined => nothing,
    }
}
