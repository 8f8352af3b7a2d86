//! Two levels in one series: the change point between them, with its interval.
//!
//! A step that begins in the cache of a drive and ends beyond it has no mean of its own: its two
//! levels are the result.

use crate::{fit, summary, two_levels};

/// The smallest difference of the two levels, as a share of the larger one. Chosen, as the smallest
/// fall that shows a cache ([`crate::cache::FALL`]).
pub const DIFFERENCE: f64 = 0.2;

/// The smallest share of the variance that the two levels explain. Chosen: periodic collection, which
/// splits anywhere, explains less.
pub const EXPLAINED: f64 = 0.7;

/// The minimum number of values of the second level, and of a first level that is the lower one. Chosen, so that
/// a single slow second at either end is not a level. A first level that is the higher one may have one
/// value: a small cache is full within the first second.
pub const FEWEST: usize = 2;

/// The 95 % quantile of the likelihood ratio of a change point (Hansen, Econometrica 68, 2000,
/// table I).
const RATIO_95: f64 = 7.35;

/// Two levels of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// The number of values of the first level.
    pub at: usize,
    /// The smallest and the largest number of values of the first level, at 95 % confidence.
    pub interval: (usize, usize),
    /// The mean of the first level, without its last value where it has others: that may contain the change.
    pub before: f64,
    /// The mean of the second level, without its first value where it has two others.
    pub after: f64,
}

/// Returns the two levels of `values`; `None` where one level, or a trend, describes them as well.
///
/// The change point is the split with the smallest sum of squares around two means (Hinkley,
/// Biometrika 57, 1970). Its interval inverts the likelihood ratio: every split whose sum of squares
/// exceeds the smallest one by no more than its share 7.35 ÷ n (Hansen 2000), at least one value to
/// either side, because a change within a second belongs to neither level.
pub fn levels(values: &[f64]) -> Option<Levels> {
    let n = values.len();
    if n < 1 + FEWEST || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let around = squares_of_splits(values);
    let (place, least) =
        around.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).expect("not empty");
    let at = 1 + place;
    let (before, after) = (summary::mean(&values[..at])?, summary::mean(&values[at..])?);
    let larger = before.abs().max(after.abs());
    let is_single = at < FEWEST && before < after;
    let is_small = (before - after).abs() < DIFFERENCE * larger;
    if is_single || is_small || least > (1.0 - EXPLAINED) * squares(values) {
        return None;
    }
    // A steady trend splits in its middle, and a line describes it better. Noise splits anywhere.
    if around_line(values)? <= least || !two_levels::differ(values, at) {
        return None;
    }
    let allowed = least * (1.0 + RATIO_95 / n as f64);
    let inside = |index: &usize| around[*index] <= allowed;
    let first = 1 + (0..around.len()).find(inside)?;
    let last = 1 + (0..around.len()).rfind(inside)?;
    let interval = (first.min(at - 1), last.max(at + 1).min(n));
    let (before, after) = two_levels::clear_of_the_change(values, at);
    let (before, after) = (summary::mean(before)?, summary::mean(after)?);
    Some(Levels { at, interval, before, after })
}

/// Returns the sum of squares around the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = summary::mean(values).unwrap_or(0.0);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Returns the sum of squares around two means for every split, from one value before it to
/// [`FEWEST`] values after it.
fn squares_of_splits(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    // Around the mean of all values, so that the differences of large sums stay exact.
    let mean = summary::mean(values).unwrap_or(0.0);
    let total: f64 = values.iter().map(|value| value - mean).sum();
    let all = squares(values);
    let mut sum = 0.0;
    let mut splits = Vec::with_capacity(n);
    for (index, value) in values.iter().enumerate().take(n - FEWEST) {
        sum += value - mean;
        let (left, right) = ((index + 1) as f64, (n - index - 1) as f64);
        let between = sum * sum / left + (total - sum) * (total - sum) / right;
        splits.push((all - between).max(0.0));
    }
    splits
}

/// Returns the sum of squares around the least-squares line.
fn around_line(values: &[f64]) -> Option<f64> {
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(x, y)| (x as f64, *y)).collect();
    let line = fit::line(&points)?;
    let residual = |(x, y): &(f64, f64)| (y - line.intercept - line.slope * x).powi(2);
    Some(points.iter().map(residual).sum())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::random::Random;

    /// Returns a series of `n` values around `level`, whose noise of `share` has the autocorrelation
    /// `phi`.
    fn noisy(
        random: &mut Random,
        n: usize,
        phi: f64,
        share: f64,
        level: impl Fn(usize) -> f64,
    ) -> Vec<f64> {
        let mut last = 0.0;
        let normal = |random: &mut Random| (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let mut value = |at: usize| {
            last = phi * last + (1.0 - phi * phi).sqrt() * normal(random);
            level(at) * (1.0 + share * last)
        };
        (0..n).map(&mut value).collect()
    }

    #[test]
    fn the_end_of_a_cache_is_within_its_interval_in_95_of_100_steps() {
        let (mut found, mut inside) = (0, 0);
        for seed in 0..400 {
            let mut random = Random::new(seed, 0);
            let n = 10 + random.below(110) as usize;
            let edge = 2 + random.below(n as u64 - 4) as usize;
            let ratio = 0.2 + 0.5 * random.unit();
            let share = 0.06 * random.unit();
            // The second of the change has a part of either level.
            let part = random.unit();
            let level = |at: usize| match at.cmp(&edge) {
                std::cmp::Ordering::Less => 2_000.0,
                std::cmp::Ordering::Equal => 2_000.0 * (part + (1.0 - part) * ratio),
                std::cmp::Ordering::Greater => 2_000.0 * ratio,
            };
            let values = noisy(&mut random, n, 0.3, share, level);
            let Some(levels) = levels(&values) else { continue };
            found += 1;
            let (low, high) = levels.interval;
            inside += u32::from(low <= edge + 1 && edge <= high);
            assert!((levels.after / levels.before - ratio).abs() < 0.3, "{seed}: {levels:?}");
        }
        assert!(found >= 380 && inside * 100 >= found * 95, "{inside} of {found}");
    }

    #[test]
    fn constant_trending_periodic_and_correlated_series_have_one_level() {
        for seed in 0..200 {
            let mut random = Random::new(seed, 1);
            let n = 10 + random.below(290) as usize;
            let constant = noisy(&mut random, n, 0.9, 0.1, |_| 500.0);
            let trend = noisy(&mut random, n, 0.0, 0.03, |at| 900.0 - 600.0 * at as f64 / n as f64);
            let drops =
                noisy(&mut random, n, 0.0, 0.05, |at| if at % 7 < 2 { 100.0 } else { 900.0 });
            for values in [constant, trend, drops] {
                assert_eq!(levels(&values), None, "{seed}: {values:?}");
            }
        }
        assert_eq!(levels(&[500.0; 100]), None);
        assert_eq!(levels(&[0.0; 10]), None);
        assert_eq!(levels(&[1.0, f64::NAN, 3.0, 4.0, 5.0]), None);
        assert_eq!(levels(&[9.0, 1.0]), None);
        assert_eq!(levels(&[1.0, 9.0, 9.0, 9.0]), None, "a slow first second is no level");
    }

    #[test]
    fn two_exact_levels_are_found_to_the_second() {
        let levels = levels(&[2_200.0, 2_200.0, 2_200.0, 726.0, 726.0, 726.0]).unwrap();
        assert_eq!((levels.at, levels.interval), (3, (2, 4)));
        assert_eq!((levels.before, levels.after), (2_200.0, 726.0));
        let small = super::levels(&[2_200.0, 726.0, 726.0]).unwrap();
        assert_eq!((small.at, small.interval), (1, (0, 2)));
    }
}
