//! Whether a series that was split where it fits best has two levels, or one with noise.

use crate::{student, summary};

/// The share of series of one level with independent noise that are taken for two levels, at most.
/// Chosen.
const FALSE_SHARE: f64 = 0.01;

/// The smallest share for which [`student::quantile_beyond`] has a value at every number of degrees.
const SMALLEST_SHARE: f64 = 0.001;

/// Returns the values before the split `at` and those from it on, both without the value next to the
/// split where one other remains before it, and two after it: the change lies within one of these two,
/// which is then a mixture.
pub(crate) fn clear_of_the_change(values: &[f64], at: usize) -> (&[f64], &[f64]) {
    let before = &values[..if at > 1 { at - 1 } else { at }];
    let after = &values[if at + 2 < values.len() { at + 1 } else { at }..];
    (before, after)
}

/// Returns whether the parts of `values` before and from the split `at` on differ by more than their
/// noise.
///
/// Student's t of the two means with a common variance, against the quantile of 1 % shared by all splits
/// (Bonferroni), because the split was chosen among them.
pub(crate) fn differ(values: &[f64], at: usize) -> bool {
    let (before, after) = clear_of_the_change(values, at);
    let (Some(high), Some(low)) = (summary::mean(before), summary::mean(after)) else {
        return false;
    };
    let squares =
        |part: &[f64], mean: f64| -> f64 { part.iter().map(|value| (value - mean).powi(2)).sum() };
    let degrees = (before.len() + after.len()).saturating_sub(2);
    let residual = squares(before, high) + squares(after, low);
    let difference = (high - low).abs();
    if degrees == 0 || residual == 0.0 {
        // Without a second value of either level there is no noise to compare with.
        return degrees > 0 && difference > 0.0;
    }
    let inverse = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
    let t = difference / (residual / degrees as f64 * inverse).sqrt();
    let outside = (FALSE_SHARE / values.len() as f64).max(SMALLEST_SHARE);
    t > student::quantile_beyond(outside, u32::try_from(degrees).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::{cache, change_point};

    fn noise(random: &mut Random, share: f64) -> f64 {
        1.0 + share * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0)
    }

    #[test]
    fn seconds_of_one_level_on_a_shared_disk_have_no_cache_and_no_levels() {
        let (mut edges, mut levels, mut tried) = (0, 0, 0);
        for seed in 0..4_000 {
            let mut random = Random::new(seed, 2);
            let n = 4 + random.below(12) as usize;
            let values: Vec<f64> =
                (0..n).map(|_| 1e9 * noise(&mut random, 0.25).max(0.0)).collect();
            let samples: Vec<u64> = values.iter().map(|value| *value as u64).collect();
            edges += usize::from(cache::edge(&samples).is_some());
            levels += usize::from(change_point::levels(&values).is_some());
            tried += 1;
        }
        assert!(edges * 50 < tried && levels * 50 < tried, "{edges} and {levels} of {tried}");
    }

    #[test]
    fn the_end_of_a_cache_is_found_in_short_series_with_little_noise() {
        let (mut edges, mut tried) = (0, 0);
        for seed in 0..1_000 {
            let mut random = Random::new(seed, 3);
            let n = 6 + random.below(10) as usize;
            let end = 2 + random.below(n as u64 - 5) as usize;
            let level = |at: usize| if at < end { 2_200e6 } else { 700e6 };
            let samples: Vec<u64> =
                (0..n).map(|at| (level(at) * noise(&mut random, 0.03)) as u64).collect();
            edges += usize::from(cache::edge(&samples).is_some());
            tried += 1;
        }
        assert!(edges * 100 >= tried * 95, "{edges} of {tried}");
    }

    #[test]
    fn the_value_of_the_change_counts_for_neither_level() {
        let values = [2_267.0, 2_267.0, 1_300.0, 600.0, 600.0, 600.0, 600.0];
        assert_eq!(clear_of_the_change(&values, 3), (&values[..2], &values[4..]));
        assert_eq!(clear_of_the_change(&values, 1), (&values[..1], &values[2..]));
        let samples = values.map(|value| value as u64);
        let edge = cache::edge(&samples).unwrap();
        assert_eq!((edge.before, edge.after), (2_267.0, 600.0));
    }
}
