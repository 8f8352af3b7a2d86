//! Coverage of the intervals of latency percentiles.

use super::series;
use ssdgauge_statistics::percentile_interval::LatencySeries;
use ssdgauge_statistics::{Histogram, Random};

/// The standard deviation of the logarithm of the level of a second, and that of its requests.
const SPREAD: (f64, f64) = (0.2, 0.3);

/// Returns the share of `trials` steps of `n` seconds whose interval of the percentile `share`
/// contains the truth, where the logarithm of the level of a second is autoregressive with `phi`.
pub(crate) fn coverage(phi: f64, n: usize, share: f64, trials: usize) -> f64 {
    const REQUESTS: usize = 200;
    let mut random = Random::new(n as u64, (1_000.0 * phi) as u64 + 5);
    let truth = 1e5 * (normal_quantile(share) * SPREAD.0.hypot(SPREAD.1)).exp();
    let mut held = 0;
    for _ in 0..trials {
        let (mut series, mut all) = (LatencySeries::of_seconds(n), Histogram::default());
        for level in series::autoregression(phi, n, &mut random) {
            let mut second = Histogram::default();
            for _ in 0..REQUESTS {
                let own = SPREAD.1 * series::normal(&mut random);
                second.record((1e5 * (SPREAD.0 * level + own).exp()) as u64);
            }
            series.push(&second);
            all.merge(&second);
        }
        let ends = series.intervals(&all, &[share])[0];
        let contains = |(low, high): (u64, Option<u64>)| {
            // The buckets of a histogram are up to 0.1 % wide.
            low as f64 <= truth * 1.001 && high.is_none_or(|high| truth <= high as f64 * 1.001)
        };
        held += usize::from(ends.is_some_and(contains));
    }
    held as f64 / trials as f64
}

/// Returns the quantiles of the normal distribution that the tables use (any table).
fn normal_quantile(share: f64) -> f64 {
    if share < 0.75 { 0.0 } else { 2.326_348 }
}
