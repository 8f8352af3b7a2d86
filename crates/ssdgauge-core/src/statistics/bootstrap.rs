//! Confidence intervals by the bootstrap, without an assumption about the distribution.
//!
//! Consecutive seconds are correlated, so blocks of ∛n consecutive samples are drawn instead of
//! single ones (moving-block bootstrap, Künsch 1989; the order n^(1/3) of the block length is that
//! of Hall, Horowitz and Jing 1995). Blocks wrap at the end of the series, so that each sample is
//! equally likely (circular version, Politis and Romano 1992). The interval is the percentile
//! interval of Efron and Tibshirani 1993.

use crate::random::Random;

/// The number of resamples. Efron and Tibshirani (1993) recommend 1,000 for percentile intervals.
pub const RESAMPLES: usize = 1_000;

/// The fewest samples of a series with an interval. Chosen.
pub const FEWEST: usize = 5;

/// Returns the 95 % interval of `statistic` over several series of samples.
///
/// `statistic` receives the drawn indices of each series. `None` where a series has fewer than
/// [`FEWEST`] samples, or where the statistic of any resample is `None`. Equal seeds give equal
/// intervals.
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
    // The percentile interval: the central 95 % of the resampled values.
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[(share * (RESAMPLES - 1) as f64).round() as usize];
    Some((at(0.025), at(0.975)))
}

/// Fills `indices` with blocks of consecutive indices until there are `length`, wrapping at the end.
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
    fn about_nineteen_of_twenty_intervals_contain_the_true_mean() {
        let mut random = Random::new(2, 0);
        let trials = 300;
        let held = (0..trials)
            .filter(|trial| {
                let values: Vec<f64> = (0..100).map(|_| random.unit()).collect();
                let (low, high) = interval(&[100], *trial, mean_of(&values)).unwrap();
                low <= 0.5 && 0.5 <= high
            })
            .count();
        // 95 %, less the known bias of short blocks to narrow intervals; a wrong formula is far
        // outside.
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
