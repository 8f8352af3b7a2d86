//! The kinds of consistency under sustained random writes that the review of 2016 tells apart:
//! steady; deep periodic drops; constantly wide.

use crate::statistics::summary;
use serde::{Deserialize, Serialize};

/// Up to this σ ÷ mean a series is steady: four σ then span twice the range that the SNIA rule
/// allows five rounds of a minute. Chosen; the review draws no line.
pub const STEADY: f64 = 0.10;

/// Below this share of the median a sample belongs to a drop. Chosen.
pub const DROP: f64 = 0.6;

/// Drops are periodic while σ ÷ mean of the times between their beginnings is at most this.
/// Chosen: drops at random moments have about 1.
pub const REGULAR: f64 = 0.35;

/// The fewest drops that can be called periodic.
pub const FEWEST_DROPS: usize = 3;

/// How a series of equal time steps varies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consistency {
    /// Close to its mean all the time.
    Steady,
    /// On a level that is left for deep drops at regular times.
    Periodic {
        /// From the beginning of a drop to that of the next, in samples.
        period: f64,
        /// How far the drops go down, as a share of the level.
        depth: f64,
    },
    /// Spread over a wide range all the time, or with drops at irregular times.
    Wide,
}

/// Classifies `samples`; `None` below ten of them, or where the mean is not positive.
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

/// Returns the period and the depth of the drops, where they are deep and regular.
fn periodic(samples: &[f64]) -> Option<Consistency> {
    let median = summary::percentile(samples, 0.5)?;
    let is_drop = |sample: &f64| *sample < DROP * median;
    let mut beginnings: Vec<f64> = Vec::new();
    let mut depths: Vec<f64> = Vec::new();
    let mut lowest = None;
    for (at, sample) in samples.iter().enumerate() {
        match (is_drop(sample), lowest) {
            (true, None) => {
                beginnings.push(at as f64);
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
    depths.extend(lowest);
    if beginnings.len() < FEWEST_DROPS {
        return None;
    }
    let level: Vec<f64> = samples.iter().copied().filter(|sample| !is_drop(sample)).collect();
    let gaps: Vec<f64> = beginnings.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let period = summary::mean(&gaps)?;
    let level_mean = summary::mean(&level)?;
    // A wide cloud also dips below the line now and then; what makes a drop is the level that
    // it leaves.
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
    fn a_narrow_series_is_steady_and_a_cloud_is_wide() {
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
    fn drops_at_random_moments_are_not_periodic() {
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
    fn nothing_is_said_of_silence_or_of_a_few_samples() {
        assert_eq!(classify(&[0.0; 400]), None);
        assert_eq!(classify(&[5.0; 9]), None);
        assert_eq!(classify(&[5.0; 10]), Some(Consistency::Steady));
    }
}
