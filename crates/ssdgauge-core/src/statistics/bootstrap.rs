//! Confidence intervals by resampling, without assuming a distribution.
//!
//! Seconds that follow each other are alike, so whole blocks of about ∛n neighbours are drawn
//! (moving-block bootstrap, Künsch 1989); the interval is that of the percentiles.

use crate::random::Random;

/// How often the series are drawn anew.
pub const RESAMPLES: usize = 1_000;

/// The fewest samples of a series that an interval is given for.
pub const FEWEST: usize = 5;

/// Returns the 95 % interval of `statistic` over several series of samples.
///
/// `statistic` is given, for each series, the indices that were drawn from it. `None` where a
/// series has fewer than [`FEWEST`] samples, or where the statistic cannot be said.
pub fn interval(
    lengths: &[usize],
    seed: u64,
    mut statistic: impl FnMut(&[Vec<usize>]) -> Option<f64>,
) -> Option<(f64, f64)> {
    if lengths.is_empty() || lengths.iter().any(|length| *length < FEWEST) {
        return None;
    }
    let mut random = Random::new(seed, 0);
    let mut drawn: Vec<Vec<usize>> = lengths.iter().map(|n| Vec::with_capacity(*n)).collect();
    let mut values = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        for (indices, length) in drawn.iter_mut().zip(lengths) {
            draw(indices, *length, &mut random);
        }
        values.push(statistic(&drawn)?);
    }
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[(share * (RESAMPLES - 1) as f64).round() as usize];
    Some((at(0.025), at(0.975)))
}

/// Fills `indices` with blocks of neighbours until there are `length`, going round at the end.
fn draw(indices: &mut Vec<usize>, length: usize, random: &mut Random) {
    let block = (length as f64).cbrt().round().max(1.0) as usize;
    indices.clear();
    while indices.len() < length {
        let start = random.below(length as u64) as usize;
        let take = block.min(length - indices.len());
        indices.extend((start..start + take).map(|index| index % length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_of(values: &[f64]) -> impl FnMut(&[Vec<usize>]) -> Option<f64> + '_ {
        |drawn| Some(drawn[0].iter().map(|index| values[*index]).sum::<f64>() / values.len() as f64)
    }

    #[test]
    fn about_nineteen_of_twenty_intervals_hold_the_true_mean() {
        let mut random = Random::new(2, 0);
        let trials = 300;
        let held = (0..trials)
            .filter(|trial| {
                let values: Vec<f64> = (0..100).map(|_| random.unit()).collect();
                let (low, high) = interval(&[100], *trial, mean_of(&values)).unwrap();
                low <= 0.5 && 0.5 <= high
            })
            .count();
        // 95 % less the known narrowness of short blocks; a wrong formula lands far outside.
        assert!((255..=297).contains(&held), "{held} of {trials}");
    }

    #[test]
    fn too_few_samples_give_no_interval() {
        assert_eq!(interval(&[4], 0, |_| Some(1.0)), None);
        assert_eq!(interval(&[], 0, |_| Some(1.0)), None);
        assert_eq!(interval(&[9], 0, |_| None), None);
    }

    #[test]
    fn equal_seeds_give_equal_intervals() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        assert_eq!(interval(&[50], 7, mean_of(&values)), interval(&[50], 7, mean_of(&values)));
    }
}
