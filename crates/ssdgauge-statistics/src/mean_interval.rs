//! The 95 % interval of the mean of correlated seconds.
//!
//! Its width is that of [`crate::low_frequency`]. Before it, a start that flatters is
//! cut: by MSER-5 (White 1997), else by a comparison of start and end (Geweke 1992) over growing cuts
//! (Heidelberger and Welch 1983). A start that does not flatter stays, because a stall is a property
//! of the drive. The thresholds were chosen by simulation; `docs/explanation/intervals.md` has the
//! coverage.

use crate::low_frequency::half;

/// The minimum number of seconds with an interval: fewer say nothing about their correlation. Chosen.
pub const FEWEST: usize = 10;
/// The standard errors by which a start has to differ from the rest to be cut. Chosen.
const SIGNIFICANT: f64 = 3.0;
/// The quantile of the normal distribution that turns a half-width into a standard error.
const NORMAL: f64 = 1.96;
/// The cuts that are tried in turn: seconds, then shares of the series. Chosen.
const CUTS: ([usize; 3], [f64; 8]) = ([0, 1, 2], [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5]);
/// Differences of means below this share of the mean are rounding.
const ROUNDING: f64 = 1e-9;

/// The interval of a mean over seconds, or the reason why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeanInterval {
    /// The mean of the seconds behind the cut with its 95 % interval.
    Found(MeanEstimate),
    /// The first seconds are better than the last ones, and no cut of up to half of them ends that.
    StillSettling,
    /// Fewer than [`FEWEST`] seconds.
    TooFewSeconds,
}

/// A mean over seconds with its 95 % interval, mean ± half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanEstimate {
    /// The mean of the seconds behind the cut, in the unit of the values.
    pub mean: f64,
    /// Half of the width of the interval, in the same unit.
    pub half: f64,
    /// The seconds cut at the start.
    pub cut: usize,
    /// The seconds behind the cut.
    pub n: usize,
}

/// Returns the interval of the mean of `values`, one for each full second.
pub fn of_mean(values: &[f64], more_is_better: bool) -> MeanInterval {
    estimate(values.len(), more_is_better, |cut| values[cut..].to_vec())
}

/// Returns the interval of Σ `numerators` ÷ Σ `denominators`, both with one value for each full
/// second, such as the sum and the number of latencies.
///
/// The ratio is replaced by a mean with the same value and, to the first order, the same variance
/// (delta method; Cochran, *Sampling Techniques*, 1977, 6.4). The sum of the denominators must be
/// above zero from every second of the first half on.
pub fn of_ratio(numerators: &[f64], denominators: &[f64], more_is_better: bool) -> MeanInterval {
    debug_assert_eq!(numerators.len(), denominators.len(), "one of each for each second");
    estimate(numerators.len(), more_is_better, |cut| {
        let (above, below) = (&numerators[cut..], &denominators[cut..]);
        let ratio = above.iter().sum::<f64>() / below.iter().sum::<f64>();
        // One value a second: the ratio, plus the influence of that second on it.
        let scale = mean(below);
        above.iter().zip(below).map(|(a, b)| ratio + (a - ratio * b) / scale).collect()
    })
}

/// Returns the interval of `n` seconds; `rest` returns those after a cut.
fn estimate(n: usize, more_is_better: bool, rest: impl Fn(usize) -> Vec<f64>) -> MeanInterval {
    if n < FEWEST {
        return MeanInterval::TooFewSeconds;
    }
    let sign = if more_is_better { 1.0 } else { -1.0 };
    let merits: Vec<f64> = rest(0).iter().map(|value| sign * value).collect();
    let Some(cut) = flattering_start(&merits) else { return MeanInterval::StillSettling };
    // Computed again: the ratio of the seconds that are kept is not that of all.
    let kept = rest(cut);
    MeanInterval::Found(MeanEstimate { mean: mean(&kept), half: half(&kept), cut, n: n - cut })
}

/// Returns how many seconds at the start of `merits` (higher is better) flatter; `None` where the
/// series still falls.
fn flattering_start(merits: &[f64]) -> Option<usize> {
    let n = merits.len();
    // Whether the mean of `start` exceeds that of `end` beyond doubt.
    let exceeds = |start: &[f64], end: &[f64]| {
        let difference = mean(start) - mean(end) - ROUNDING * mean(end).abs();
        // The start is taken to be as noisy as the end: its own spread contains the change in question.
        let relative = (1.0 + end.len() as f64 / start.len() as f64).sqrt();
        difference > 0.0 && difference > SIGNIFICANT * relative * half(end) / NORMAL
    };
    let cut = mser(merits);
    // MSER by itself would also cut noise and slow starts.
    if 0 < cut && cut < n / 2 && exceeds(&merits[..cut], &merits[cut..]) {
        return Some(cut);
    }
    let shares = CUTS.1.iter().map(|share| (share * n as f64) as usize);
    let mut cuts: Vec<usize> = CUTS.0.into_iter().chain(shares).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts.into_iter().find(|cut| {
        let rest = &merits[*cut..];
        // The two do not touch, so that they are nearly independent of each other (Geweke 1992).
        !exceeds(&rest[..rest.len().div_ceil(5)], &rest[rest.len() / 2..])
    })
}

/// Returns the cut in the first half with the least squared standard error of the rest, computed as
/// if its batches were independent (MSER-5: batches of 5 seconds, of 1 below 50 seconds).
fn mser(values: &[f64]) -> usize {
    let batch = if values.len() >= 50 { 5 } else { 1 };
    let batches: Vec<f64> = values.chunks_exact(batch).map(mean).collect();
    let centre = mean(&batches);
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut errors = vec![0.0; batches.len()];
    for (place, value) in batches.iter().enumerate().rev() {
        let kept = (batches.len() - place) as f64;
        sum += value - centre;
        squares += (value - centre).powi(2);
        errors[place] = (squares - sum * sum / kept).max(0.0) / (kept * kept);
    }
    // Beyond the half few batches are left, whose error is small by chance.
    let searched = 0..=batches.len() / 2;
    searched.min_by(|a, b| errors[*a].total_cmp(&errors[*b])).unwrap_or(0) * batch
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn found(values: &[f64]) -> MeanEstimate {
        match of_mean(values, true) {
            MeanInterval::Found(found) => found,
            MeanInterval::StillSettling => panic!("still settling: {values:?}"),
            MeanInterval::TooFewSeconds => panic!("too few: {values:?}"),
        }
    }

    #[test]
    fn the_interval_scales_with_the_unit_and_moves_with_the_level() {
        let values: Vec<f64> = (0..40).map(|t| f64::from(t * 37 % 11)).collect();
        let scaled: Vec<f64> = values.iter().map(|value| 1e3 * value + 5e4).collect();
        let (one, other) = (found(&values), found(&scaled));
        assert!((other.mean - 1e3 * one.mean - 5e4).abs() < 1e-6);
        assert!((other.half / one.half / 1e3 - 1.0).abs() < 1e-9);
        assert_eq!(of_mean(&values, true), of_mean(&values, true));
    }

    #[test]
    fn equal_seconds_have_an_interval_without_width() {
        let third = 1.0 / 3.0;
        assert_eq!(found(&[third; 400]).half, 0.0);
        assert_eq!(of_mean(&[third; 9], true), MeanInterval::TooFewSeconds);
        let falling: Vec<f64> = (0..80).map(|t| third * f64::from(80 - t)).collect();
        assert_eq!(of_mean(&falling, true), MeanInterval::StillSettling);
        // A step from one level to another without noise is cut to the second.
        let found = found(&[vec![9.0; 20], vec![third; 60]].concat());
        assert_eq!((found.cut, found.n, found.half), (20, 60, 0.0));
    }

    #[test]
    fn the_direction_decides_which_start_flatters() {
        let mut random = Random::new(31, 0);
        let mut values: Vec<f64> = (0..60).map(|_| 1.0 + 0.1 * random.unit()).collect();
        values[..6].fill(3.0);
        let cut = |more_is_better| match of_mean(&values, more_is_better) {
            MeanInterval::Found(found) => found.cut,
            MeanInterval::StillSettling | MeanInterval::TooFewSeconds => usize::MAX,
        };
        assert!((6..=15).contains(&cut(true)), "a fast start: {}", cut(true));
        assert_eq!(cut(false), 0, "a slow start");
    }

    #[test]
    fn correlation_widens_the_interval() {
        // A slow and a fast sine of equal variance.
        let wave = |period: f64| -> Vec<f64> {
            (0..400).map(|t| 10.0 + (f64::from(t) * std::f64::consts::TAU / period).sin()).collect()
        };
        assert!(found(&wave(150.0)).half > 5.0 * found(&wave(3.0)).half);
    }

    #[test]
    fn a_ratio_equals_its_mean_where_the_denominators_are_equal() {
        let values: Vec<f64> = (0..40).map(|t| f64::from(t * 37 % 11)).collect();
        let doubled: Vec<f64> = values.iter().map(|value| 2.0 * value).collect();
        let (MeanInterval::Found(ratio), mean) =
            (of_ratio(&doubled, &[2.0; 40], true), found(&values))
        else {
            panic!("a stationary series has an interval")
        };
        assert!((ratio.mean - mean.mean).abs() < 1e-12);
        assert!((ratio.half - mean.half).abs() < 1e-9);
    }
}
