//! Whether two results differ, are equal within a margin, or cannot be told apart.
//!
//! The interval of their ratio says whether a difference is there, the margin whether it matters. A
//! difference is claimed where the interval excludes equality and the ratio lies beyond the margin;
//! equality where the whole interval lies within the margin (two one-sided tests, Schuirmann 1987).
//! Everything else is not known. `docs/handbook/intervals.md` has false alarms and power.
//!
//! Every place that says that one result is better than another asks [`judge`]: `compare`, the leads of
//! reports, the bands of a cohort and the drift of a fleet.

/// The noise assumed between two runs, as a share, where nothing else is known of it. Chosen, because two
/// runs cannot show it; repeated runs of one drive can.
pub const NOISE: f64 = 0.03;

/// What a ratio with its 95 % interval says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The first is larger, beyond the margin.
    Higher,
    /// The first is smaller, beyond the margin.
    Lower,
    /// Both are equal within the margin.
    Equal,
    /// The interval is too wide for either.
    CannotTell,
}

/// Judges a ratio with its 95 % `interval` by a `margin`, a share: 0.03 is 3 %. Without an interval nothing
/// can be told. The inverse ratio has the inverse outcome, so the order of two runs decides nothing.
pub fn judge(ratio: f64, interval: Option<(f64, f64)>, margin: f64) -> Outcome {
    let Some((low, high)) = interval else { return Outcome::CannotTell };
    let (least, most) = ((1.0 + margin).recip(), 1.0 + margin);
    match (low > 1.0 && ratio > most, high < 1.0 && ratio < least) {
        (true, _) => Outcome::Higher,
        (_, true) => Outcome::Lower,
        (false, false) if least <= low && high <= most => Outcome::Equal,
        (false, false) => Outcome::CannotTell,
    }
}

/// Whether a result keeps to the loss that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The whole interval is better than the largest loss that is allowed.
    Allowed,
    /// The result is worse than allowed, and its interval excludes equality.
    Exceeded,
    /// The interval reaches beyond what is allowed, and no loss beyond it is shown.
    CannotTell,
}

/// Judges a ratio with its 95 % `interval` by the largest loss that is `allowed`, as a share.
pub fn loss(ratio: f64, interval: (f64, f64), more_is_better: bool, allowed: f64) -> Loss {
    let (low, high) = interval;
    let (is_kept, is_exceeded) = match more_is_better {
        true => (low >= 1.0 - allowed, high < 1.0 && ratio < 1.0 - allowed),
        false => (high <= 1.0 + allowed, low > 1.0 && ratio > 1.0 + allowed),
    };
    match (is_exceeded, is_kept) {
        (true, _) => Loss::Exceeded,
        (false, true) => Loss::Allowed,
        (false, false) => Loss::CannotTell,
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
            (1.08, (0.99, 1.17), Outcome::CannotTell),
            (1.02, (1.01, 1.03), Outcome::Equal),
            (1.02, (1.01, 1.04), Outcome::CannotTell),
            (1.0, (0.353, 1.922), Outcome::CannotTell),
            (1.0, (1.0, 1.0), Outcome::Equal),
        ] {
            assert_eq!(judge(ratio, Some(interval), 0.03), outcome, "{ratio} {interval:?}");
        }
        assert_eq!(judge(10.0, None, 0.03), Outcome::CannotTell);
    }

    #[test]
    fn the_order_of_two_results_decides_nothing() {
        let mut random = Random::new(5, 0);
        for _ in 0..10_000 {
            let ratio = 0.9 + 0.2 * random.unit();
            let interval = (ratio - 0.1 * random.unit(), ratio + 0.1 * random.unit());
            let swapped = (interval.1.recip(), interval.0.recip());
            let inverse = match judge(ratio, Some(interval), NOISE) {
                Outcome::Higher => Outcome::Lower,
                Outcome::Lower => Outcome::Higher,
                same @ (Outcome::Equal | Outcome::CannotTell) => same,
            };
            let found = judge(ratio.recip(), Some(swapped), NOISE);
            assert_eq!(found, inverse, "{ratio} {interval:?}");
        }
    }

    #[test]
    fn a_gain_is_no_loss_however_wide_its_interval_is() {
        for (ratio, interval, at_more) in [
            (0.92, (0.88, 0.96), Loss::Exceeded),
            (0.92, (0.82, 1.02), Loss::CannotTell),
            (0.97, (0.93, 1.01), Loss::CannotTell),
            (0.97, (0.96, 0.98), Loss::Allowed),
            (1.30, (0.96, 1.70), Loss::Allowed),
        ] {
            assert_eq!(loss(ratio, interval, true, 0.05), at_more, "{ratio} {interval:?}");
        }
        assert_eq!(loss(1.08, (1.04, 1.12), false, 0.05), Loss::Exceeded);
        assert_eq!(loss(0.70, (0.50, 1.04), false, 0.05), Loss::Allowed);
    }
}
