//! How much a result changes from run to run where nothing was changed.

/// The changes without which no limit is given: quartiles of fewer are single changes.
pub const LEAST_CHANGES: usize = 7;

/// Returns the change between two runs that is larger than those among `values`, in the order of their
/// time: Q3 + 3 IQR of |ln(vᵢ₊₁ ÷ vᵢ)|, the outer fence of Tukey (1977), by which rustc-perf judges its
/// benchmarks. `None` for fewer than eight values, and where one is not above zero.
///
/// Of normal values, 3 % of the changes are beyond it where the history has eight values, 0.05 % where it
/// has 200 (a test of this file), and 0.03 % where it has no end (2 Φ(−3.645)).
pub fn limit(values: &[f64]) -> Option<f64> {
    if values.len() <= LEAST_CHANGES || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let mut changes: Vec<f64> =
        values.windows(2).map(|pair| (pair[1] / pair[0]).ln().abs()).collect();
    changes.sort_by(f64::total_cmp);
    let (first, third) = (quartile(&changes, 0.25), quartile(&changes, 0.75));
    Some(third + 3.0 * (third - first))
}

/// Returns the quantile of sorted values by linear interpolation (Hyndman and Fan 1996, definition 7).
fn quartile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (place - place.floor()) * (sorted[above] - sorted[below])
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
        assert!((limit(&values).unwrap() - 0.145).abs() < 1e-12);
        assert_eq!(limit(&values[..7]), None);
        assert_eq!(limit(&[0.0; 8]), None);
        assert_eq!(limit(&[5.0; 8]), Some(0.0));
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
                let limit = limit(&values).unwrap();
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
