//! One scale: whether a number differs from a reference, is equal within a margin, or that is not decided.
//!
//! Numbers in, [`Outcome`] out; no run file is needed. The reference is
//!
//! - another number, by the interval of their ratio: [`judge`] (`compare`, the leads of reports);
//! - earlier runs of the same, by the changes between them: [`earlier`] (`compare --history`);
//! - the time, by the line through all runs: [`over_runs`] (`fleet drift`);
//! - peers, by the outer fence of their values: [`peers`] (pages of many drives);
//! - a class, by the range that most of it has: [`class`] (the bands of quick).
//!
//! The interval of a ratio says whether a difference is there, the margin whether it matters. A
//! difference is claimed where the interval excludes equality and the ratio lies beyond the margin;
//! equality where the whole interval lies within the margin (two one-sided tests, Schuirmann 1987).
//! Everything else is not known. `docs/explanation/intervals.md` has false alarms and power.

pub mod class;
pub mod earlier;
pub mod over_runs;
pub mod peers;

use crate::estimate::Verdict;

/// The noise assumed between two runs, as a share, where nothing else is known of it. Chosen, because two
/// runs cannot show it; repeated runs of one drive can.
pub const NOISE: f64 = 0.03;

/// How a number compares with its reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is larger, beyond the margin.
    Higher,
    /// It is smaller, beyond the margin.
    Lower,
    /// Both are equal within the margin.
    Equal,
    /// The interval is too wide for either.
    NotDecided,
}

impl Outcome {
    /// Returns the outcome in quality, where higher is better: turned where a smaller number is.
    pub fn in_quality(self, more_is_better: bool) -> Outcome {
        match (self, more_is_better) {
            (Outcome::Higher, false) => Outcome::Lower,
            (Outcome::Lower, false) => Outcome::Higher,
            (Outcome::Higher | Outcome::Lower, true)
            | (Outcome::Equal | Outcome::NotDecided, _) => self,
        }
    }
}

/// Judges a ratio with its 95 % `interval` by a `margin`, a share: 0.03 is 3 %. Without an interval nothing
/// is decided. The inverse ratio has the inverse outcome, so the order of two runs decides nothing.
pub fn judge(ratio: f64, interval: Option<(f64, f64)>, margin: f64) -> Outcome {
    let Some((low, high)) = interval else { return Outcome::NotDecided };
    // Reciprocal, not 1 − margin: otherwise A to B and B to A could have different outcomes.
    let (least, most) = ((1.0 + margin).recip(), 1.0 + margin);
    match (low > 1.0 && ratio > most, high < 1.0 && ratio < least) {
        (true, _) => Outcome::Higher,
        (_, true) => Outcome::Lower,
        (false, false) if least <= low && high <= most => Outcome::Equal,
        (false, false) => Outcome::NotDecided,
    }
}

/// Returns whether two values without intervals are apart by more than a `margin`, a share of the smaller one:
/// less is noise, and more is not yet a difference ([`judge`]).
pub fn are_apart(a: f64, b: f64, margin: f64) -> bool {
    a.max(b) > a.min(b) * (1.0 + margin)
}

/// Judges a `value` above zero by the `range` of its reference: it is outside where it is beyond an end of it
/// by more than the `margin`, a share.
pub fn judge_by_range(value: f64, (low, high): (f64, f64), margin: f64) -> Outcome {
    match value {
        value if value > high * (1.0 + margin) => Outcome::Higher,
        value if value < low / (1.0 + margin) => Outcome::Lower,
        _ => Outcome::Equal,
    }
}

/// Returns whether a ratio with its 95 % `interval` keeps to the largest loss that is `allowed`, as a share.
/// It holds where the whole interval is better than that, and fails where the ratio is worse and the interval
/// excludes equality.
pub fn keeps_to(ratio: f64, interval: (f64, f64), more_is_better: bool, allowed: f64) -> Verdict {
    let (low, high) = interval;
    let (is_kept, is_exceeded) = match more_is_better {
        // Not reciprocal, unlike `judge`: a threshold of 5 % is a share of the result compared with.
        true => (low >= 1.0 - allowed, high < 1.0 && ratio < 1.0 - allowed),
        false => (high <= 1.0 + allowed, low > 1.0 && ratio > 1.0 + allowed),
    };
    match (is_exceeded, is_kept) {
        (true, _) => Verdict::Fails,
        (false, true) => Verdict::Holds,
        (false, false) => Verdict::NotDecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_difference_needs_its_interval_and_equality_needs_all_of_it() {
        for (ratio, interval, outcome) in [
            (1.08, (1.02, 1.14), Outcome::Higher),
            (0.92, (0.86, 0.98), Outcome::Lower),
            (1.08, (0.99, 1.17), Outcome::NotDecided),
            (1.02, (1.01, 1.03), Outcome::Equal),
            (1.02, (1.01, 1.04), Outcome::NotDecided),
            (1.0, (0.353, 1.922), Outcome::NotDecided),
            (1.0, (1.0, 1.0), Outcome::Equal),
        ] {
            assert_eq!(judge(ratio, Some(interval), 0.03), outcome, "{ratio} {interval:?}");
        }
        assert_eq!(judge(10.0, None, 0.03), Outcome::NotDecided);
    }

    #[test]
    fn the_order_of_two_results_decides_nothing() {
        let mut random = Random::new(5, 0);
        for _ in 0..10_000 {
            let ratio = 0.9 + 0.2 * random.unit();
            let interval = (ratio - 0.1 * random.unit(), ratio + 0.1 * random.unit());
            let swapped = (interval.1.recip(), interval.0.recip());
            let inverse = judge(ratio, Some(interval), NOISE).in_quality(false);
            let found = judge(ratio.recip(), Some(swapped), NOISE);
            assert_eq!(found, inverse, "{ratio} {interval:?}");
        }
    }

    #[test]
    fn a_gain_is_not_a_loss_however_wide_its_interval_is() {
        for (ratio, interval, at_more) in [
            (0.92, (0.88, 0.96), Verdict::Fails),
            (0.92, (0.82, 1.02), Verdict::NotDecided),
            (0.97, (0.93, 1.01), Verdict::NotDecided),
            (0.97, (0.96, 0.98), Verdict::Holds),
            (1.30, (0.96, 1.70), Verdict::Holds),
        ] {
            assert_eq!(keeps_to(ratio, interval, true, 0.05), at_more, "{ratio} {interval:?}");
        }
        assert_eq!(keeps_to(1.08, (1.04, 1.12), false, 0.05), Verdict::Fails);
        assert_eq!(keeps_to(0.70, (0.50, 1.04), false, 0.05), Verdict::Holds);
    }

    #[test]
    fn values_are_apart_in_either_order() {
        for (a, b, apart) in [(1.0, 1.03, false), (1.0, 1.031, true), (0.0, 1.0, true)] {
            assert_eq!((are_apart(a, b, NOISE), are_apart(b, a, NOISE)), (apart, apart));
        }
        assert!(!are_apart(0.0, 0.0, NOISE));
    }

    #[test]
    fn a_value_is_outside_of_a_range_beyond_the_margin() {
        for (value, outcome) in [
            (10.0, Outcome::Equal),
            (9.71, Outcome::Equal),
            (9.70, Outcome::Lower),
            (20.6, Outcome::Equal),
            (20.7, Outcome::Higher),
        ] {
            assert_eq!(judge_by_range(value, (10.0, 20.0), NOISE), outcome, "{value}");
        }
    }
}
