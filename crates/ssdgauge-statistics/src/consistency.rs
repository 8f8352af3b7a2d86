//! Consistency under sustained random writes, in the three classes of the 2016 review: steady, deep
//! periodic drops, wide spread.

use crate::summary;
use serde::{Deserialize, Serialize};

/// The largest σ ÷ mean of a steady series. Chosen, because the review gives no threshold: four σ
/// are then 40 % of the mean, twice the range that the SNIA rule allows for five rounds of a minute.
pub const STEADY: f64 = 0.10;

/// The share of the median below which a sample belongs to a drop. Chosen.
pub const DROP: f64 = 0.6;

/// The largest σ ÷ mean of the times between the starts of periodic drops. Chosen: for drops at
/// random times the ratio is about 1, that of the exponential distribution.
pub const REGULAR: f64 = 0.35;

/// The minimum number of periodic drops: fewer than two gaps have no spread.
pub const FEWEST_DROPS: usize = 3;

/// The variation of a series of equal time steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consistency {
    /// Close to its mean.
    Steady,
    /// A narrow level with deep drops at regular times.
    Periodic {
        /// The mean time from the start of a drop to the start of the next one, in samples.
        period: f64,
        /// The mean depth of the drops, as a share of the level.
        depth: f64,
    },
    /// A wide spread, or drops at irregular times.
    Wide,
}

/// Returns the class of `samples`; `None` for fewer than ten of them, or where the mean is not
/// positive.
pub fn classify(samples: &[f64]) -> Option<Consistency> {
    let mean = summary::mean(samples).filter(|mean| *mean > 0.0 && mean.is_finite())?;
    if samples.len() < 10 {
        return None;
    }
    if summary::sigma(samples)? / mean <= STEADY {
        return Some(Consistency::Steady);
    }
    Some(periodic(samples).unwrap_or(Consistency::Wide))
}

/// Returns period and depth of the drops, where they are deep and regular.
fn periodic(samples: &[f64]) -> Option<Consistency> {
    // The median, because drops lower the mean that they would be compared with.
    let median = summary::percentile(samples, 0.5)?;
    let is_drop = |sample: &f64| *sample < DROP * median;
    let mut starts: Vec<f64> = Vec::new();
    let mut depths: Vec<f64> = Vec::new();
    let mut lowest = None;
    for (at, sample) in samples.iter().enumerate() {
        match (is_drop(sample), lowest) {
            (true, None) => {
                starts.push(at as f64);
                lowest = Some(*sample);
            }
            (true, Some(low)) => lowest = Some(sample.min(low)),
            (false, Some(low)) => {
                depths.push(low);
                lowest = None;
            }
            (false, None) => {}
        }
    }
    // A drop at the end of the series counts too.
    depths.extend(lowest);
    if starts.len() < FEWEST_DROPS {
        return None;
    }
    let level: Vec<f64> = samples.iter().copied().filter(|sample| !is_drop(sample)).collect();
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let period = summary::mean(&gaps)?;
    let level_mean = summary::mean(&level)?;
    // A wide spread also falls below the threshold at times. Drops are told from it by the narrow
    // level between them.
    let is_level = summary::sigma(&level)? / level_mean <= 2.0 * STEADY;
    let is_regular = summary::sigma(&gaps).unwrap_or(0.0) / period <= REGULAR;
    let depth = 1.0 - summary::mean(&depths)? / level_mean;
    (is_level && is_regular).then_some(Consistency::Periodic { period, depth })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// 400 seconds around 10,000 with the given relative spread.
    fn noisy(spread: f64, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed, 0);
        (0..400).map(|_| 1e4 * (1.0 + spread * (2.0 * random.unit() - 1.0))).collect()
    }

    #[test]
    fn a_narrow_series_is_steady_and_a_spread_one_is_wide() {
        for seed in 0..50 {
            assert_eq!(classify(&noisy(0.10, seed)), Some(Consistency::Steady), "{seed}");
            assert_eq!(classify(&noisy(0.9, seed)), Some(Consistency::Wide), "{seed}");
        }
    }

    #[test]
    fn regular_drops_have_a_period_and_a_depth() {
        for seed in 0..50 {
            let mut series = noisy(0.05, seed);
            for at in (7..400).step_by(20) {
                series[at] *= 0.1;
                series[at + 1] *= 0.3;
            }
            let Some(Consistency::Periodic { period, depth }) = classify(&series) else {
                panic!("seed {seed} is not periodic");
            };
            assert!((period - 20.0).abs() < 0.01 && (depth - 0.9).abs() < 0.02, "{period} {depth}");
        }
    }

    #[test]
    fn drops_at_random_times_are_not_periodic() {
        for seed in 0..50 {
            let mut random = Random::new(seed, 1);
            let mut series = noisy(0.05, seed);
            for _ in 0..25 {
                series[random.below(400) as usize] *= 0.1;
            }
            assert_eq!(classify(&series), Some(Consistency::Wide), "{seed}");
        }
    }

    #[test]
    fn zeros_and_few_samples_have_no_class() {
        assert_eq!(classify(&[0.0; 400]), None);
        assert_eq!(classify(&[5.0; 9]), None);
        assert_eq!(classify(&[5.0; 10]), Some(Consistency::Steady));
    }
}
