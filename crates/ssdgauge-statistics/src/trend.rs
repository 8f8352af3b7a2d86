//! A drift over a step or a shift within it that exceeds the interval of its mean.
//!
//! A line and two levels are fitted to the seconds, and the better one counts. It is a change where its
//! size exceeds several standard errors, which follow from the interval of what it leaves
//! (`low_frequency`), so that correlated seconds are not taken for one. The mean of such a step
//! depends on its length: no interval of it holds for a longer one. False alarms and power are in
//! `docs/explanation/intervals.md`.

use crate::difference::NOISE;
use crate::low_frequency::standard_error;

/// The minimum number of seconds in which a change is looked for. Chosen: the last and the first third have ten.
const FEWEST: usize = 30;

/// The standard errors that a drift and a shift have to exceed. Chosen by simulation; that of a shift is
/// larger, because the best of many places is taken.
const SIGNIFICANT: (f64, f64) = (3.0, 4.5);

/// The shares of a series that either level has at least.
const LEVEL: usize = 10;

/// A change within a step, as a share of its mean; above zero for a rise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trend {
    /// A steady change, from the first second to the last.
    Drift {
        /// The change.
        share: f64,
    },
    /// A change from one level to another.
    Shift {
        /// The seconds before it.
        at: usize,
        /// The change.
        share: f64,
    },
}

/// Returns the change within `values`, one for each full second; `None` where there is none.
pub fn find(values: &[f64]) -> Option<Trend> {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    if n < FEWEST || mean <= 0.0 || !mean.is_finite() {
        return None;
    }
    let centre = (n as f64 - 1.0) / 2.0;
    let place = |at: usize| at as f64 - centre;
    let squares: f64 = (0..n).map(|at| place(at).powi(2)).sum();
    let products = values.iter().enumerate().map(|(at, value)| place(at) * (value - mean));
    let slope = products.sum::<f64>() / squares;
    let (at, around_levels) = split(values, mean);
    let [before, after] =
        [&values[..at], &values[at..]].map(|level| level.iter().sum::<f64>() / level.len() as f64);
    // The error follows from what the model leaves: with the change in it, a step would hide itself.
    let left = |of_model: &dyn Fn(usize) -> f64| -> Vec<f64> {
        values.iter().enumerate().map(|(at, value)| value - of_model(at)).collect()
    };
    let of_line = left(&|at| mean + slope * place(at));
    let around_line: f64 = of_line.iter().map(|value| value * value).sum();
    let (trend, error, needed) = match around_levels < around_line {
        true => {
            let rest = left(&|one| if one < at { before } else { after });
            // The means of a and b values with the standard error e of their common mean differ with n e ÷ √(ab).
            let factor = n as f64 / ((at * (n - at)) as f64).sqrt();
            let shift = Trend::Shift { at, share: (after - before) / mean };
            (shift, factor * standard_error(&rest), SIGNIFICANT.1)
        }
        false => {
            // The slope of n values with the standard error e of their mean has that of √12 e ÷ n.
            let drift = Trend::Drift { share: slope * n as f64 / mean };
            (drift, 12f64.sqrt() * standard_error(&of_line), SIGNIFICANT.0)
        }
    };
    let size = trend.share().abs();
    (size >= NOISE && size * mean > needed * error).then_some(trend)
}

/// Returns the place of the split into two levels with the least sum of squares, and that sum.
fn split(values: &[f64], mean: f64) -> (usize, f64) {
    let n = values.len();
    let total: f64 = values.iter().map(|value| value - mean).sum();
    let all: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let (mut sum, mut best) = (0.0, (n / 2, f64::INFINITY));
    for (place, value) in values.iter().enumerate().take(n - n / LEVEL) {
        sum += value - mean;
        let at = place + 1;
        let (left, right) = (at as f64, (n - at) as f64);
        let around = all - sum * sum / left - (total - sum).powi(2) / right;
        if at >= n / LEVEL && around < best.1 {
            best = (at, around);
        }
    }
    best
}

impl Trend {
    /// Returns the change as a share of the mean.
    pub fn share(&self) -> f64 {
        match *self {
            Trend::Drift { share } | Trend::Shift { share, .. } => share,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Returns `n` seconds around 1 with a standard deviation of 5 % and the autocorrelation `phi`,
    /// plus `change`.
    fn series(n: usize, phi: f64, random: &mut Random, change: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let mut value = normal();
        let mut next = |at: usize| {
            value = phi * value + (1.0 - phi * phi).sqrt() * normal();
            1.0 + 0.05 * value + change(at)
        };
        (0..n).map(&mut next).collect()
    }

    #[test]
    fn drifts_and_shifts_are_found_and_correlated_seconds_are_not() {
        let trials = if std::env::var_os("SSDGAUGE_LONG").is_some() { 4_000 } else { 200 };
        let mut random = Random::new(61, 0);
        let mut found = |n: usize, phi: f64, change: &dyn Fn(usize) -> f64| {
            let one = |_: &i32| find(&series(n, phi, &mut random, change)).is_some();
            100 * (0..trials).filter(one).count() / trials as usize
        };
        for (n, phi, most) in
            [(30, 0.0, 2), (60, 0.5, 4), (60, 0.9, 12), (400, 0.5, 2), (400, 0.9, 4)]
        {
            let alarms = found(n, phi, &|_| 0.0);
            assert!(alarms <= most, "n = {n}, φ {phi}: {alarms} %");
        }
        let drift = found(400, 0.0, &|at| -0.1 * at as f64 / 400.0);
        let shift = found(400, 0.5, &|at| if at < 300 { 0.0 } else { -0.1 });
        assert!(drift >= 90 && shift >= 85, "{drift} % of drifts, {shift} % of shifts");
    }

    #[test]
    fn the_size_and_the_place_of_a_change_are_those_of_the_series() {
        let mut random = Random::new(62, 0);
        let drift = series(400, 0.0, &mut random, |at| 0.1 - 0.2 * at as f64 / 400.0);
        let Some(Trend::Drift { share }) = find(&drift) else { panic!("{:?}", find(&drift)) };
        assert!((share + 0.2).abs() < 0.03, "{share}");
        let shift = series(400, 0.0, &mut random, |at| if at < 300 { 0.0 } else { 0.2 });
        let Some(Trend::Shift { at, share }) = find(&shift) else { panic!("{:?}", find(&shift)) };
        assert!(at.abs_diff(300) <= 3 && (share - 0.19).abs() < 0.03, "{at} {share}");
        assert_eq!(find(&[7.0; 60]), None);
        assert_eq!(find(&[0.0; 60]), None);
        assert_eq!(find(&drift[..29]), None);
    }
}
