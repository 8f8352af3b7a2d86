//! Values of a metric in words.

use crate::totals::metric::Metric;
use crate::units::rounded::{grouped, latency, number};

impl Metric {
    /// Returns `value` with its unit: latencies in µs, ms or s, a load multiple in all of its digits.
    pub fn about(self, value: f64) -> String {
        match (self, self.unit()) {
            _ if !value.is_finite() => number(value),
            (Metric::LoadMultiple, unit) => {
                let digits = format!("{value:.6}");
                format!("{}{unit}", grouped(digits.trim_end_matches('0').trim_end_matches('.')))
            }
            (metric, _) if metric.is_latency() => latency(value),
            (_, "") => number(value),
            (_, unit) => format!("{} {unit}", number(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_the_unit_of_its_metric_and_a_latency_the_unit_of_its_size() {
        for (metric, value, words) in [
            (Metric::Iops, 47_590.6, "47,591 IOPS"),
            (Metric::ThroughputMbS, 726.4, "726 MB/s"),
            (Metric::LatP99Us, 8_070.2, "8.07 ms"),
            (Metric::LatP99Us, 65.24, "65.2 µs"),
            (Metric::LatMaxUs, 2.5e6, "2.50 s"),
            (Metric::LoadMultiple, 12.0, "12×"),
            (Metric::LoadMultiple, 0.3125, "0.3125×"),
            (Metric::WriteAmplification, 5.8, "5.80"),
            (Metric::TimeS, 0.053_42, "0.0534 s"),
            (Metric::PowerW, 0.005_004, "0.00500 W"),
            (Metric::TimeS, 0.0, "0 s"),
            (Metric::PowerW, f64::INFINITY, "–"),
        ] {
            assert_eq!(metric.about(value), words);
        }
    }
}
