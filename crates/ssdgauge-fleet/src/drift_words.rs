//! Drift in words.

use crate::Drift;
use ssdgauge_statistics::Estimate;

/// Returns a line about `drift`: its test, the first and last value, and the change with its interval in percent.
pub fn drift_line(drift: &Drift) -> String {
    let percent = |share: f64| format!("{:+.1} %", 100.0 * share);
    let change = match drift.change {
        None => "no interval below 3 runs at different times".to_owned(),
        Some(Estimate { value, low, high }) => {
            let word = if drift.is_worse() { ", worse" } else { "" };
            format!("{} ({} to {}){word}", percent(value), percent(low), percent(high))
        }
    };
    let Drift { test, metric, runs, days, values: [first, last], .. } = drift;
    let by = match drift.meters.as_slice() {
        [] => String::new(),
        meters => format!(" by {}", meters.join(", ")),
    };
    format!(
        "{test} {}{by}: {} to {}, {runs} runs in {days:.1} days, {change}",
        metric.key(),
        metric.about(*first),
        metric.about(*last),
    )
}
