//! Repetitions of one test: the interval of their mean, the ratio of two means, and a drift in the
//! order of execution.

use crate::{student, summary};

/// The minimum number of repetitions with a drift: two always rise or fall.
pub const FEWEST_FOR_DRIFT: usize = 3;

/// The smallest drift, as a share of the mean, where no intervals within the repetitions separate it
/// from noise. Chosen.
pub const SMALLEST_DRIFT: f64 = 0.05;

/// What decided the number of repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// It was fixed before the run.
    Fixed,
    /// The run ended when the intervals were narrow. It looks at the interval again and again, and
    /// ends preferably where the standard deviation is underestimated (Anscombe 1953; Chow and
    /// Robbins 1965), so the interval is wider.
    ByWidth,
}

impl Stopping {
    /// Returns the probability beyond the quantile of Student's t of a 95 % interval.
    ///
    /// 3 % where the width ends the run. Chosen by simulation: from five repetitions on, at least 95 %
    /// of the intervals of normal repetitions then contain the mean, whatever their spread; with 5 %
    /// it would be 92.4 % (`docs/explanation/intervals.md`).
    fn outside(self) -> f64 {
        match self {
            Stopping::Fixed => 0.05,
            Stopping::ByWidth => 0.03,
        }
    }
}

/// Returns the two-sided 95 % quantile of Student's t distribution. A fraction is rounded down, to the
/// wider interval.
fn quantile(degrees: f64) -> f64 {
    student::quantile(degrees.floor().max(1.0) as u32)
}

/// Returns the 95 % interval of the mean of `values`: mean ± t·s/√n (Student 1908). `None` for fewer
/// than two values.
pub fn interval(values: &[f64], stopping: Stopping) -> Option<(f64, f64)> {
    let (mean, half) = estimate(values, stopping)?;
    Some((mean - half, mean + half))
}

/// Returns the half-width of the 95 % interval of the mean of `values` as a share of the mean; 0 for
/// equal values, also where all are 0, and infinity where the mean alone is 0. `None` for fewer than
/// two values.
pub fn relative_half_width(values: &[f64], stopping: Stopping) -> Option<f64> {
    let (mean, half) = estimate(values, stopping)?;
    let is_equal = values.windows(2).all(|pair| pair[0] == pair[1]);
    Some(if is_equal { 0.0 } else { half / mean.abs() })
}

/// Returns the mean of `values` and the half-width of its 95 % interval.
fn estimate(values: &[f64], stopping: Stopping) -> Option<(f64, f64)> {
    let (mean, sigma) = (summary::mean(values)?, summary::sigma(values)?);
    let degrees = values.len() as u32 - 1;
    let quantile = student::quantile_beyond(stopping.outside(), degrees);
    Some((mean, quantile * sigma / (values.len() as f64).sqrt()))
}

/// Returns the mean of `b` divided by that of `a` with its 95 % interval; `None` for fewer than two
/// values of both, or where a mean is not positive.
///
/// The interval is that of the difference of the logarithms (delta method), with the degrees of
/// freedom of Welch and Satterthwaite, so that the variances may differ. A single value on one side is taken to
/// vary as those of the other side do, whose degrees of freedom are those of the interval then: nothing else is
/// known of how it would repeat. What is known of the value itself is left to the caller.
pub fn ratio(a: &[f64], b: &[f64]) -> Option<(f64, (f64, f64))> {
    let mean =
        |values: &[f64]| summary::mean(values).filter(|mean| *mean > 0.0 && mean.is_finite());
    let ([mean_a, mean_b], [n_a, n_b]) =
        ([mean(a)?, mean(b)?], [a, b].map(|values| values.len() as f64));
    // The variance of one value as a share of the square of its mean.
    let spread = |values: &[f64], mean: f64| Some((summary::sigma(values)? / mean).powi(2));
    let (spread_a, spread_b) = match (a, b) {
        ([_], [_]) => return None,
        ([_], _) => (spread(b, mean_b)?, spread(b, mean_b)?),
        (_, [_]) => (spread(a, mean_a)?, spread(a, mean_a)?),
        (_, _) => (spread(a, mean_a)?, spread(b, mean_b)?),
    };
    let (value, var_a, var_b) = (mean_b / mean_a, spread_a / n_a, spread_b / n_b);
    let variance = var_a + var_b;
    // Equal values on both sides: the formula below would divide zero by zero.
    if variance == 0.0 {
        return Some((value, (value, value)));
    }
    // A single value has no degrees of freedom of its own: the formula would divide by zero.
    let degrees = match a.len() == 1 || b.len() == 1 {
        true => n_a.max(n_b) - 1.0,
        false => variance.powi(2) / (var_a.powi(2) / (n_a - 1.0) + var_b.powi(2) / (n_b - 1.0)),
    };
    let half = quantile(degrees) * variance.sqrt();
    // By the logarithm: the interval of B to A is the reciprocal of that of A to B, and stays above zero.
    Some((value, (value * (-half).exp(), value * half.exp())))
}

/// Returns the drift of `values` from the first to the last as a share of their mean, above zero for
/// a rise, where they are strictly monotonic; `None` where they are not, or the drift is too small.
///
/// `within` has the 95 % interval within each repetition, where there is one. A drift counts where
/// the intervals of the first and the last repetition do not overlap; without intervals, where it
/// reaches [`SMALLEST_DRIFT`]. The size is needed because three independent values are monotonic
/// with a probability of one third (2 of 3! orders).
pub fn drift(values: &[f64], within: &[Option<(f64, f64)>]) -> Option<f64> {
    let (first, last) = (*values.first()?, *values.last()?);
    let mean = summary::mean(values).filter(|mean| *mean > 0.0)?;
    let rises = values.windows(2).all(|pair| pair[1] > pair[0]);
    let falls = values.windows(2).all(|pair| pair[1] < pair[0]);
    if values.len() < FEWEST_FOR_DRIFT || !(rises || falls) {
        return None;
    }
    let share = (last - first) / mean;
    let ends = within.first().copied().flatten().zip(within.last().copied().flatten());
    let beyond = match ends {
        Some((first, last)) => last.0 > first.1 || last.1 < first.0,
        None => share.abs() >= SMALLEST_DRIFT,
    };
    beyond.then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_single_value_differs_from_repetitions_as_rarely_as_the_interval_says() {
        let mut random = Random::new(5, 1);
        // The sum of twelve uniform numbers is normal enough; σ is 5 % of the mean.
        let mut value = || 100.0 + 5.0 * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0);
        for n in [2, 3, 5, 10] {
            let held = (0..2_000).filter(|_| {
                let (one, each) = ([value()], (0..n).map(|_| value()).collect::<Vec<_>>());
                let (ratio, (low, high)) = ratio(&each, &one).unwrap();
                let (inverse, (from, to)) = super::ratio(&one, &each).unwrap();
                assert!((ratio * inverse - 1.0).abs() < 1e-12);
                assert!((low * to - 1.0).abs() < 1e-9 && (high * from - 1.0).abs() < 1e-9);
                (low..=high).contains(&1.0)
            });
            // 95 %, and three standard errors of 2,000 trials.
            let share = held.count() as f64 / 2_000.0;
            assert!((0.935..=0.965).contains(&share), "n = {n}: {share}");
        }
        assert_eq!(ratio(&[1.0], &[2.0]), None);
    }

    #[test]
    fn nineteen_of_twenty_intervals_contain_the_true_mean() {
        for n in [2, 3, 5, 40] {
            let mut random = Random::new(3, n as u64);
            // The sum of twelve uniform numbers is close to normal.
            let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0 + 100.0;
            let held = (0..2_000)
                .filter(|_| {
                    let values: Vec<f64> = (0..n).map(|_| normal()).collect();
                    let (low, high) = interval(&values, Stopping::Fixed).unwrap();
                    low <= 100.0 && 100.0 <= high
                })
                .count();
            assert!((1_860..=1_940).contains(&held), "{held} of 2000 with n = {n}");
        }
        assert_eq!(interval(&[1.0], Stopping::Fixed), None);
    }

    #[test]
    fn the_relative_width_is_defined_for_equal_values_and_for_a_mean_of_zero() {
        let of = |values: &[f64]| relative_half_width(values, Stopping::ByWidth);
        assert_eq!(of(&[3.0]), None);
        assert_eq!((of(&[0.1; 5]), of(&[0.0; 5])), (Some(0.0), Some(0.0)));
        assert_eq!(of(&[-1.0, 1.0]), Some(f64::INFINITY));
        // s = 1, n = 4: t(3 degrees, 3 % outside) = 3.896, divided by √4 and by the mean.
        let half = of(&[99.0, 101.0, 99.0, 101.0]).unwrap();
        assert!((half - 3.896 * (4.0f64 / 3.0).sqrt() / 200.0).abs() < 1e-4, "{half}");
        assert_eq!(of(&[-99.0, -101.0, -99.0, -101.0]), Some(half));
    }

    #[test]
    fn the_interval_of_a_ratio_contains_the_truth() {
        let mut random = Random::new(4, 0);
        let mut around = |mean: f64| -> Vec<f64> {
            (0..5).map(|_| mean * (0.97 + 0.06 * random.unit())).collect()
        };
        let held = (0..1_000)
            .filter(|_| {
                let (_, (low, high)) = ratio(&around(100.0), &around(150.0)).unwrap();
                low <= 1.5 && 1.5 <= high
            })
            .count();
        assert!((925..=985).contains(&held), "{held} of 1000");
        assert_eq!(ratio(&[], &[1.0, 2.0]), None);
        assert_eq!(ratio(&[2.0, 2.0], &[3.0, 3.0]), Some((1.5, (1.5, 1.5))));
        assert_eq!(ratio(&[0.0, 0.0], &[3.0, 3.0]), None);
    }

    #[test]
    fn a_drift_is_monotonic_and_exceeds_the_noise() {
        let none = [None; 4];
        assert_eq!(drift(&[100.0, 103.0, 108.0], &none[..3]).map(|s| s > 0.07), Some(true));
        assert_eq!(drift(&[108.0, 103.0, 100.0], &none[..3]).map(|s| s < -0.07), Some(true));
        assert_eq!(drift(&[100.0, 101.0, 102.0], &none[..3]), None, "below the smallest drift");
        assert_eq!(drift(&[100.0, 120.0, 110.0], &none[..3]), None);
        assert_eq!(drift(&[100.0, 150.0], &none[..2]), None);
        let narrow = [Some((99.9, 100.1)), None, Some((101.9, 102.1))];
        assert!(drift(&[100.0, 101.0, 102.0], &narrow).is_some(), "small, but above the noise");
        let wide = [Some((80.0, 120.0)), None, Some((90.0, 130.0))];
        assert_eq!(drift(&[100.0, 105.0, 110.0], &wide), None);
    }
}
