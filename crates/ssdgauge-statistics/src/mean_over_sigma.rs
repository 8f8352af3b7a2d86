//! The 95 % interval of mean ÷ σ over correlated seconds.
//!
//! The delta method: the logarithm of the number changes with one second as its influence function,
//! of which the interval is that of a mean (`low_frequency`). Four things that the delta method
//! does not see are added: a slow change whose spread the seconds do not show, the weight of a few
//! seconds in σ, the tail beyond the farthest second, and rare seconds that a short series misses. Where a few seconds make σ, there is
//! no interval. The constants were chosen by simulation; `docs/explanation/intervals.md` has the
//! coverage.

use crate::low_frequency::{half, standard_error};
use crate::{mean_interval, summary};

/// The minimum number of seconds that have to make σ: (Σ d²)² ÷ Σ d⁴ over the deviations d. Chosen.
const FEWEST_EFFECTIVE: f64 = 5.0;

/// The minimum number with an interval is 1 plus this many n-ths. Below it, rates that are not below zero
/// are so skewed that σ follows from their tail. Chosen.
const LEAST: f64 = 24.0;

/// The width that is added for each effective second. Chosen.
const FOR_EACH_EFFECTIVE: f64 = 2.0;

/// The multiple of the squared standard error of the mean by which σ² may be too small. Chosen.
const FOR_SLOW_CHANGES: f64 = 3.0;

/// The index of the tail that is assumed beyond the farthest second. Chosen by simulation: Student's t with 3 degrees
/// of freedom, whose index is 3, is covered in 92 % and more from 60 seconds on.
const TAIL_INDEX: f64 = 2.3;

/// From so many seconds on, what fills 2 % of the time has been seen in 19 of 20 series.
const SEEN: usize = 150;

/// The interval of a mean ÷ σ, or the reason why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeanOverSigma {
    /// The number with both ends.
    Found {
        /// The mean ÷ the sample standard deviation.
        value: f64,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// Fewer seconds than any interval needs.
    TooFewSeconds,
    /// A few seconds make most of σ.
    RestsOnFewSeconds,
    /// The number itself is not defined.
    Undefined,
}

/// Returns mean ÷ σ of `values`, one for each full second, with its interval.
pub fn interval(values: &[f64]) -> MeanOverSigma {
    if values.len() < mean_interval::FEWEST {
        return MeanOverSigma::TooFewSeconds;
    }
    let parts = || {
        let value = summary::mean_over_sigma(values)?;
        Some((summary::mean(values)?, summary::sigma(values)?, value))
    };
    let Some((mean, sigma, value)) = parts() else { return MeanOverSigma::Undefined };
    let deviations: Vec<f64> = values.iter().map(|one| (one - mean) / sigma).collect();
    let power = |exponent: i32| deviations.iter().map(|one| one.powi(exponent)).sum::<f64>();
    let effective = power(2).powi(2) / power(4);
    let least = 1.0 + LEAST / values.len() as f64;
    if effective < FEWEST_EFFECTIVE || value < least {
        return MeanOverSigma::RestsOnFewSeconds;
    }
    // What a second adds to ln mean, less what it adds to ln σ.
    let influence = |one: &f64| one / value - (one * one - 1.0) / 2.0;
    let influences: Vec<f64> = deviations.iter().map(influence).collect();
    let spread = (half(&influences) * (1.0 + FOR_EACH_EFFECTIVE / effective)).exp();
    let slow = FOR_SLOW_CHANGES * standard_error(&deviations).powi(2);
    // The lower end only: what was not seen makes σ larger, never smaller.
    let low = (value / spread / (1.0 + slow + beyond(&deviations)).sqrt()).min(with_unseen(
        mean,
        sigma,
        values.len(),
    ));
    MeanOverSigma::Found { value, low: low.min(value), high: value * spread }
}

/// Returns by how much σ² may be too small, as a share, because the seconds of a heavy tail beyond the farthest of
/// `deviations` were not seen: of a tail with the index α, about 1 ÷ n of all seconds are there, and their mean
/// squared deviation is α ÷ (α − 2) times that of the farthest. Seconds without a tail have none: the
/// squared deviation of the farthest of n normal ones is about 2 ln n.
fn beyond(deviations: &[f64]) -> f64 {
    let n = deviations.len() as f64;
    let farthest = deviations.iter().map(|one| one * one).fold(0.0, f64::max);
    let of_tail = (farthest - 2.0 * n.ln()).max(0.0);
    TAIL_INDEX / (TAIL_INDEX - 2.0) * of_tail / n
}

/// Returns the number where the longest stretch without a request that `n` seconds can have missed, 3 ÷ n
/// of the time, is added.
fn with_unseen(mean: f64, sigma: f64, n: usize) -> f64 {
    if n >= SEEN {
        return f64::INFINITY;
    }
    // With this share, n seconds show none of it with a probability of 5 %.
    let missed = 1.0 - 0.05f64.powf(1.0 / n as f64);
    let seen = 1.0 - missed;
    // Mean and variance of a mixture: σ and mean for the share `seen`, zero for the rest.
    mean * seen / (seen * sigma * sigma + seen * missed * mean * mean).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_rests_on_few_seconds_has_no_interval() {
        let mut values: Vec<f64> = (0..400).map(|t| 100.0 + f64::from(t * 37 % 11)).collect();
        assert!(matches!(interval(&values), MeanOverSigma::Found { .. }));
        values[57] = 1.0;
        values[200] = 1.0;
        assert_eq!(interval(&values), MeanOverSigma::RestsOnFewSeconds);
        assert_eq!(interval(&values[..9]), MeanOverSigma::TooFewSeconds);
        assert_eq!(interval(&[7.0; 60]), MeanOverSigma::Undefined);
    }

    #[test]
    fn a_short_series_may_have_missed_rare_seconds() {
        let of = |n: usize| {
            let values: Vec<f64> = (0..n).map(|t| 100.0 + (t * 37 % 11) as f64).collect();
            match interval(&values) {
                MeanOverSigma::Found { value, low, high } => (low / value, high / value),
                other => panic!("{other:?}"),
            }
        };
        let (short, long) = (of(100), of(400));
        assert!(short.0 < 0.3 && short.1 < 1.3, "{short:?}");
        assert!(long.0 > 0.8 && long.1 < 1.2, "{long:?}");
    }
}
