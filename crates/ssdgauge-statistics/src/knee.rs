//! The knee of a sweep: of queue depths by the 95 % rule of the 2019 reviews (definition D7), of
//! loads by Kleinrock's power.

use serde::{Deserialize, Serialize};

/// The share of the peak that the knee reaches, by the 2019 enterprise reviews.
pub const SHARE: f64 = 0.95;

/// A point of a sweep of queue depths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepPoint {
    /// The total queue depth.
    pub depth: u32,
    /// The throughput at this depth, in any unit.
    pub value: f64,
    /// Its interval, low and high; the value twice where there is none.
    pub interval: (f64, f64),
}

/// The knee of a sweep of queue depths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// The lowest depth whose value reaches [`SHARE`] of the best (definition D7).
    pub depth: u32,
    /// The lowest depth that can be the knee within the intervals of the values.
    pub depth_low: u32,
    /// The highest such depth.
    pub depth_high: u32,
    /// The depth at which the curve crosses the threshold, interpolated over the logarithm of the
    /// depth.
    pub interpolated: f64,
    /// The lowest such depth within the intervals of the values.
    pub interpolated_low: f64,
    /// The highest such depth; that of the last point where the curve may cross beyond it.
    pub interpolated_high: f64,
    /// The best value.
    pub peak: f64,
    /// The depth of the best value; if it is the last one, the peak may be beyond the sweep.
    pub peak_depth: u32,
}

/// Finds the knee of `sweep`, in ascending order of depth; `None` where no value is positive.
///
/// The lowest possible knee is the first depth whose upper end reaches the threshold of the lower
/// ends; the highest possible one is the first depth whose lower end reaches that of the upper ends.
pub fn find(sweep: &[SweepPoint]) -> Option<Knee> {
    let best = sweep.iter().max_by(|a, b| a.value.total_cmp(&b.value))?;
    // `total_cmp` places NaN above every number, so that it would be the best.
    if best.value.is_nan() || best.value <= 0.0 {
        return None;
    }
    let lowest = |reach: &dyn Fn(&SweepPoint) -> f64, threshold: f64| {
        sweep.iter().position(|point| reach(point) >= threshold)
    };
    let threshold = best.value * SHARE;
    let at = lowest(&|point| point.value, threshold)?;
    let easy = sweep.iter().map(|point| point.interval.0).fold(0.0, f64::max) * SHARE;
    let hard = sweep.iter().map(|point| point.interval.1).fold(0.0, f64::max) * SHARE;
    let low = lowest(&|point| point.interval.1, easy).unwrap_or(at).min(at);
    let high = lowest(&|point| point.interval.0, hard).unwrap_or(sweep.len() - 1).max(at);
    Some(Knee {
        depth: sweep[at].depth,
        depth_low: sweep[low].depth,
        depth_high: sweep[high].depth,
        interpolated: crossing(sweep, at, threshold, |point| point.value),
        interpolated_low: crossing(sweep, low, easy, |point| point.interval.1),
        interpolated_high: crossing(sweep, high, hard, |point| point.interval.0),
        peak: best.value,
        peak_depth: best.depth,
    })
}

/// Returns the index of the load with the largest request rate ÷ mean latency: the power of a
/// queueing system (L. Kleinrock, "Power and deterministic rules of thumb", 1979). Below it more
/// load adds little latency; above it latency grows faster than the load. Of equal loads the first
/// is the knee. `None` for empty slices, or where a latency is not positive.
pub fn of_load(rates: &[f64], latencies: &[f64]) -> Option<usize> {
    debug_assert_eq!(rates.len(), latencies.len(), "each load has a rate and a latency");
    let power: Option<Vec<f64>> = rates
        .iter()
        .zip(latencies)
        .map(|(rate, latency)| (*latency > 0.0).then(|| rate / latency))
        .collect();
    let power = power?;
    (0..power.len()).max_by(|a, b| power[*a].total_cmp(&power[*b]).then(b.cmp(a)))
}

/// Returns the depth at which the curve of `reach` crosses `threshold` before the point `at`; the
/// depth of that point where the curve does not reach it there.
///
/// Most sweeps double the depth, so the points are equidistant over its logarithm.
fn crossing(
    sweep: &[SweepPoint],
    at: usize,
    threshold: f64,
    reach: impl Fn(&SweepPoint) -> f64,
) -> f64 {
    let here = &sweep[at];
    let Some(before) = at.checked_sub(1).map(|index| &sweep[index]) else {
        return f64::from(here.depth);
    };
    let part = (threshold - reach(before)) / (reach(here) - reach(before));
    // Between equal values the curve crosses nothing; beyond either point it is not known.
    let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 1.0 };
    let (from, to) = (f64::from(before.depth).ln(), f64::from(here.depth).ln());
    (from + (to - from) * part).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(values: &[f64], spread: f64) -> Vec<SweepPoint> {
        let point = |(index, value): (usize, &f64)| SweepPoint {
            depth: 1 << index,
            value: *value,
            interval: (value * (1.0 - spread), value * (1.0 + spread)),
        };
        values.iter().enumerate().map(point).collect()
    }

    #[test]
    fn the_knee_is_the_lowest_depth_at_95_percent_of_the_best() {
        let knee = find(&sweep(&[10.0, 50.0, 95.0, 100.0, 100.0], 0.0)).unwrap();
        assert_eq!((knee.depth, knee.depth_low, knee.depth_high), (4, 4, 4));
        assert_eq!(knee.peak_depth, 16);
        assert_eq!(knee.interpolated_low, knee.interpolated);
        assert_eq!(knee.interpolated_high, knee.interpolated);
    }

    #[test]
    fn a_slowly_rising_curve_has_an_uncertain_knee() {
        // 16 dies with a fixed delay: QD128 exceeds the threshold by 0.3 %, and the curve still
        // rises.
        let curve =
            [12.9, 25.6, 48.6, 90.0, 146.0, 200.0, 233.0, 250.4, 259.0, 263.0].map(|v| v * 1e3);
        let knee = find(&sweep(&curve, 0.01)).unwrap();
        assert_eq!((knee.depth, knee.depth_low, knee.depth_high), (128, 128, 256));
        assert!(knee.interpolated > 64.0 && knee.interpolated < 128.0);
        assert!(64.0 < knee.interpolated_low && knee.interpolated_low < knee.interpolated);
        assert!(128.0 < knee.interpolated_high && knee.interpolated_high < 256.0);
    }

    #[test]
    fn the_knee_of_a_single_server_is_half_of_its_capacity() {
        // M/M/1: mean latency 1 ÷ (capacity − rate); rate × (capacity − rate) peaks at one half.
        let rates: Vec<f64> = (1..20).map(|step| f64::from(step) * 50.0).collect();
        let latencies: Vec<f64> = rates.iter().map(|rate| 1e6 / (1_000.0 - rate)).collect();
        assert_eq!(of_load(&rates, &latencies).map(|knee| rates[knee]), Some(500.0));
        assert_eq!(of_load(&[], &[]), None);
        assert_eq!(of_load(&[1.0], &[0.0]), None);
    }

    #[test]
    fn a_sweep_without_positive_values_has_no_knee() {
        assert_eq!(find(&sweep(&[0.0, 0.0], 0.0)), None);
        assert_eq!(find(&[]), None);
    }
}
