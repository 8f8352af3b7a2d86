//! The words of 95 % intervals: what they come from, and why there is none.

use crate::text::number;
use ssdgauge_core::ConfidenceInterval;

/// What the intervals of a report with several runs come from.
pub(crate) const BASIS: &str =
    "over the seconds of its run, or between repetitions where a run has them";

/// Returns the heading of a column of intervals.
pub(crate) fn heading(is_repeated: bool) -> &'static str {
    if is_repeated { "95 %, repetitions" } else { "95 %, one run" }
}

/// Returns both ends or `still settling`; `None` where there is no interval for another reason.
pub(crate) fn words(interval: &ConfidenceInterval) -> Option<String> {
    match interval {
        ConfidenceInterval::StillSettling => Some("still settling".to_owned()),
        ConfidenceInterval::WithinRun(_)
        | ConfidenceInterval::BetweenRepetitions { .. }
        | ConfidenceInterval::OfCounters { .. }
        | ConfidenceInterval::TooFewSeconds
        | ConfidenceInterval::Undefined => {
            let (low, high) = interval.ends()?;
            Some(format!("{} to {}", number::text(low), number::text(high)))
        }
    }
}

/// Returns the lower end, `still settling` or a dash, for a column of its own.
pub(crate) fn low(interval: &ConfidenceInterval) -> String {
    match interval.ends() {
        Some((low, _)) => number::text(low),
        None => words(interval).unwrap_or_else(|| number::NOTHING.to_owned()),
    }
}

/// Returns the reason why a number with this interval is not compared with others.
pub(crate) fn reason(interval: &ConfidenceInterval) -> Option<&'static str> {
    match interval {
        ConfidenceInterval::StillSettling => {
            Some("still settling: the start is faster than the end")
        }
        ConfidenceInterval::TooFewSeconds => Some("too few full seconds for a 95 % interval"),
        ConfidenceInterval::Undefined => {
            Some("no 95 % interval: the number is not a mean or percentile of seconds")
        }
        ConfidenceInterval::WithinRun(within) if within.high.is_infinite() => {
            Some("no upper end of the 95 % interval: too few requests beyond it")
        }
        ConfidenceInterval::WithinRun(_)
        | ConfidenceInterval::BetweenRepetitions { .. }
        | ConfidenceInterval::OfCounters { .. } => None,
    }
}
