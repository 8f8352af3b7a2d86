//! Steady state by the two-part rule of the SNIA Performance Test Specification (2.0.2, 2.1.24).
//!
//! Over a window of five rounds: the range of the values is at most 20 % of their mean, and the
//! least-squares line rises or falls by at most 10 % of the mean within the window (definition
//! D20).

use crate::{fit, summary};
use serde::{Deserialize, Serialize};

/// The rounds of a measurement window (PTS 2.1.24).
pub const WINDOW: usize = 5;
/// The largest range of the values, as a share of their mean (PTS 2.1.24).
pub const RANGE: f64 = 0.20;
/// The largest excursion of the line, as a share of the mean (PTS 2.1.24).
pub const SLOPE: f64 = 0.10;

/// The result of the rule for one window, with its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steadiness {
    /// Whether both parts of the rule are met.
    pub steady: bool,
    /// The mean of the window.
    pub mean: f64,
    /// Largest minus smallest value, as a share of the mean.
    pub range: f64,
    /// The excursion of the line inside the window, as a share of the mean.
    pub slope: f64,
    /// The correlation coefficient of the line.
    pub correlation: f64,
}

/// Applies the rule to one window of [`WINDOW`] rounds; `None` for another number of rounds, or a mean
/// that is not positive.
pub fn judge(window: &[f64]) -> Option<Steadiness> {
    let mean = summary::mean(window)?;
    if window.len() != WINDOW || mean <= 0.0 || !mean.is_finite() {
        return None;
    }
    let points: Vec<(f64, f64)> = window.iter().enumerate().map(|(x, y)| (x as f64, *y)).collect();
    let line = fit::line(&points)?;
    let max = window.iter().copied().fold(f64::MIN, f64::max);
    let min = window.iter().copied().fold(f64::MAX, f64::min);
    let range = (max - min) / mean;
    // Five rounds span four intervals between the first and the last one.
    let slope = line.slope.abs() * (WINDOW - 1) as f64 / mean;
    let steady = range <= RANGE && slope <= SLOPE;
    Some(Steadiness { steady, mean, range, slope, correlation: line.correlation })
}

/// Returns the index of the first round that ends a steady window, with the verdict on that window.
pub fn find(rounds: &[f64]) -> Option<(usize, Steadiness)> {
    find_from(rounds, 0)
}

/// As [`find`], for windows that end with round number `least` or later, counted from 1.
pub fn find_from(rounds: &[f64], least: usize) -> Option<(usize, Steadiness)> {
    // The window that ends with round `least` starts this many rounds after the first.
    let skipped = least.saturating_sub(WINDOW);
    rounds.windows(WINDOW).enumerate().skip(skipped).find_map(|(start, window)| {
        judge(window).filter(|verdict| verdict.steady).map(|verdict| (start + WINDOW - 1, verdict))
    })
}

/// Returns the index of the first round after `steady` (the round that [`find`] returned) whose window
/// of the last five rounds does not meet the rule, with the verdict on that window.
pub fn first_unsteady(rounds: &[f64], steady: usize) -> Option<(usize, Steadiness)> {
    (steady + 1..rounds.len()).find_map(|round| {
        let window = rounds.get((round + 1).checked_sub(WINDOW)?..=round)?;
        judge(window).filter(|verdict| !verdict.steady).map(|verdict| (round, verdict))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(window: [f64; 5], steady: bool) {
        assert_eq!(judge(&window).unwrap().steady, steady, "{window:?}");
    }

    #[test]
    fn both_parts_of_the_rule_count_and_values_at_the_limits_meet_it() {
        check([100.0; 5], true);
        check([110.0, 90.0, 100.0, 90.0, 110.0], true);
        check([111.0, 90.0, 99.0, 90.0, 110.0], false);
        // The line rises by exactly 10 % of the mean.
        check([95.0, 97.5, 100.0, 102.5, 105.0], true);
        check([94.0, 97.0, 100.0, 103.0, 106.0], false);
    }

    #[test]
    fn a_falling_series_is_steady_at_its_first_window_within_the_limits() {
        let series = [400.0, 200.0, 120.0, 102.0, 99.0, 101.0, 100.0, 100.0];
        assert_eq!(find(&series).unwrap().0, 7);
        assert_eq!(find(&series[..7]), None);
    }

    #[test]
    fn the_end_of_a_steady_state_is_its_first_round_outside_the_limits() {
        let series = [100.0, 101.0, 99.0, 100.0, 101.0, 100.0, 99.0, 100.0, 70.0, 60.0];
        let (steady, _) = find(&series).unwrap();
        assert_eq!(steady, 4);
        assert_eq!(first_unsteady(&series, steady).map(|(round, _)| round), Some(8));
        assert_eq!(first_unsteady(&series[..8], steady), None);
        assert_eq!(first_unsteady(&series, 9), None);
    }

    #[test]
    fn noise_of_two_percent_changes_at_most_one_verdict_in_a_hundred() {
        // Drives that fall from fresh to steady along an exponential: the rule on noisy rounds
        // against the rule on the same rounds without noise.
        let mut random = crate::random::Random::new(11, 0);
        let (mut changed, mut steady, mut not) = (0, 0, 0);
        let drives = if std::env::var_os("SSDGAUGE_LONG").is_some() { 10_000 } else { 1_000 };
        for _ in 0..drives {
            let (fall, tau) = (9.0 * random.unit(), 1.0 + 9.0 * random.unit());
            let start = 25.0 * random.unit();
            let truth: [f64; WINDOW] =
                std::array::from_fn(|x| 1.0 + fall * (-(start + x as f64) / tau).exp());
            let noisy = truth.map(|value| value * (0.99 + 0.02 * random.unit()));
            let verdict = judge(&truth).unwrap();
            // Near the limits any noise decides; those windows do not test the rule.
            let near = |value: f64, limit: f64| (value / limit - 1.0).abs() < 0.2;
            if near(verdict.range, RANGE) || near(verdict.slope, SLOPE) {
                continue;
            }
            *if verdict.steady { &mut steady } else { &mut not } += 1;
            changed += u32::from(judge(&noisy).unwrap().steady != verdict.steady);
        }
        assert!(steady > drives / 5 && not > drives / 5, "both kinds occur: {steady} {not}");
        assert!(changed * 100 <= steady + not, "{changed} of {} verdicts changed", steady + not);
    }

    #[test]
    fn too_few_rounds_and_zeros_have_no_verdict() {
        assert_eq!(judge(&[1.0; 4]), None);
        assert_eq!(judge(&[0.0; 5]), None);
    }
}
