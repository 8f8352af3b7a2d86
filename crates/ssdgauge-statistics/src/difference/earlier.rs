//! Earlier runs as the reference: how much a number changes from run to run where nothing was changed.

use crate::difference::{Outcome, judge_by_range};
use crate::summary::quantile;

/// The changes without which no limit is given: quartiles of fewer are single changes.
const LEAST_CHANGES: usize = 7;

/// What earlier runs of equal drives show about one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Earlier {
    /// The earlier runs that have it.
    pub runs: usize,
    /// The change that is larger than those between them, as a share; `None` where there are too few.
    pub limit: Option<f64>,
}

impl Earlier {
    /// The runs without which nothing is judged.
    pub const LEAST_RUNS: usize = LEAST_CHANGES + 1;

    /// Returns what the `series` show, one for each drive or group of equal drives, with its numbers in the order
    /// of their time. Changes below the `resolution` of the number, a share, do not count.
    pub fn new(series: &[&[f64]], resolution: f64) -> Earlier {
        let limit = limit(series).map(|limit| limit.exp_m1().max(resolution));
        Earlier { runs: series.iter().map(|values| values.len()).sum(), limit }
    }

    /// Judges the `ratio` of two further runs.
    pub fn judge(&self, ratio: f64) -> Outcome {
        let by = |limit| judge_by_range(ratio, (1.0, 1.0), limit);
        self.limit.map_or(Outcome::NotDecided, by)
    }
}

/// Returns the change between two runs that is larger than those within the `series`: Q3 + 3 IQR of
/// |ln(vᵢ₊₁ ÷ vᵢ)|, the outer fence of Tukey (1977), by which rustc-perf judges its
/// benchmarks. `None` for fewer than seven changes, and where a value is not above zero.
///
/// Of normal values, 3 % of the changes are beyond it where the history has eight values, 0.05 % where it
/// has 200 (a test of this file), and 0.03 % where it has no end (2 Φ(−3.645)).
fn limit(series: &[&[f64]]) -> Option<f64> {
    let pairs = series.iter().flat_map(|values| values.windows(2));
    // The logarithm, so that a rise and the fall back to where it came from are of one size.
    let mut changes: Vec<f64> = pairs.map(|pair| (pair[1] / pair[0]).ln().abs()).collect();
    let are_positive = series.iter().all(|values| values.iter().all(|value| *value > 0.0));
    if changes.len() < LEAST_CHANGES || !are_positive {
        return None;
    }
    changes.sort_by(f64::total_cmp);
    let (first, third) = (quantile(&changes, 0.25)?, quantile(&changes, 0.75)?);
    Some(third + 3.0 * (third - first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn the_limit_is_the_outer_fence_of_the_changes() {
        // Changes of 1, 2, … 7 %: quartiles 2.5 and 5.5 %, so 5.5 + 3 × 3 %.
        let mut values = vec![100.0f64];
        for percent in 1..=7 {
            values.push(values[values.len() - 1] * (f64::from(percent) / 100.0).exp());
        }
        assert!((limit(&[&values]).unwrap() - 0.145).abs() < 1e-12);
        assert_eq!(limit(&[&values[..7]]), None);
        // Two drives with the same changes, of which none is from one to the other.
        let other: Vec<f64> = values[4..].iter().map(|value| 9.0 * value).collect();
        let pooled = limit(&[&values[..5], &other]).unwrap();
        assert!((pooled - 0.145).abs() < 1e-12);
        assert_eq!(limit(&[&[0.0; 8]]), None);
        assert_eq!(limit(&[&[5.0; 8]]), Some(0.0));
    }

    #[test]
    fn a_change_is_judged_by_the_limit_in_both_directions() {
        let earlier = Earlier::new(&[&[5.0; 8]], 0.01);
        assert_eq!(earlier, Earlier { runs: 8, limit: Some(0.01) });
        for (ratio, outcome) in
            [(1.02, Outcome::Higher), (1.02f64.recip(), Outcome::Lower), (1.005, Outcome::Equal)]
        {
            assert_eq!(earlier.judge(ratio), outcome, "{ratio}");
        }
        assert_eq!(Earlier::new(&[&[5.0; 7]], 0.01).judge(2.0), Outcome::NotDecided);
    }

    #[test]
    fn changes_between_equal_runs_are_beyond_it_as_rarely_as_stated() {
        let mut random = Random::new(11, 1);
        let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let mut beyond = |history: usize, repetitions: u32| {
            const CHANGES: u32 = 20;
            let mut count = 0;
            for _ in 0..repetitions {
                let values: Vec<f64> = (0..history).map(|_| (0.01 * normal()).exp()).collect();
                let limit = limit(&[&values]).unwrap();
                for _ in 0..CHANGES {
                    let change = (0.01 * (normal() - normal())).abs();
                    count += u32::from(change > limit);
                }
            }
            f64::from(count) / f64::from(repetitions * CHANGES)
        };
        let (short, long) = (beyond(8, 5_000), beyond(200, 3_000));
        // By integration over the changes: 3.3 % and 0.05 %.
        assert!((0.025..0.04).contains(&short), "{short}");
        assert!((0.0001..0.001).contains(&long), "{long}");
    }
}
