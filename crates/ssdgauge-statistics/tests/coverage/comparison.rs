//! Comparisons of two series: false alarms and power.

use super::series;
use ssdgauge_statistics::Random;
use ssdgauge_statistics::mean_interval::{self, MeanInterval};

/// The standard deviation of a second as a share of the mean.
const NOISE: f64 = 0.05;

/// Returns the share of `pairs` pairs of series of `n` seconds that are found to differ, where the
/// second one has `shift` times more in truth and both are autoregressive with `phi`.
///
/// The pairs are compared as by `Ratio::from_points`, which `headline::tests` holds to this formula:
/// ln(b/a) ± √((h_a/a)² + (h_b/b)²).
pub(crate) fn share_apart(phi: f64, n: usize, shift: f64, pairs: usize) -> f64 {
    let mut random = Random::new(n as u64, (100.0 * phi) as u64);
    let mut side = |level: f64| -> Option<(f64, f64)> {
        let noise = series::autoregression(phi, n, &mut random);
        let values: Vec<f64> = noise.iter().map(|z| level * (1.0 + NOISE * z)).collect();
        match mean_interval::of_mean(&values, true) {
            MeanInterval::Found(found) => Some((found.mean, found.half)),
            MeanInterval::StillSettling | MeanInterval::TooFewSeconds => None,
        }
    };
    let mut apart = 0;
    for _ in 0..pairs {
        let (a, b) = (side(1.0), side(1.0 + shift));
        // A pair that is not compared is not found to differ.
        let Some(((a, of_a), (b, of_b))) = a.zip(b) else { continue };
        apart += usize::from((b / a).ln().abs() > (of_a / a).hypot(of_b / b));
    }
    apart as f64 / pairs as f64
}
