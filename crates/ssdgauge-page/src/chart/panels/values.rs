//! The words of values on the axes of a panel.

use ssdgauge_analysis::text::number;
use ssdgauge_core::Metric;

/// Returns how a value on an axis of `metric` is written.
pub(crate) fn ticks(metric: Metric) -> fn(f64) -> String {
    if metric.is_latency() { number::latency_tick } else { number::short }
}

/// Returns the unit above an axis of `metric`; latencies have theirs at each tick.
pub(crate) fn unit(metric: Metric) -> &'static str {
    if metric.is_latency() { "" } else { metric.unit() }
}
