//! Shapes of curves: pure functions, each with the limits that it chooses.
//!
//! A curve is the values of a sweep in the order of the suite, such as eleven mixes from pure reads to
//! pure writes. Every threshold is chosen, because the reviews describe shapes in words.

use ssdgauge_statistics::summary;

/// The share of the points of a curve after which something happens late. Chosen: the last two
/// fifths, which are the four mixes of eleven with the most writes.
pub(crate) const LATE: f64 = 0.6;

/// The difference of neighbours that is a change and no noise, as a share. Chosen.
pub(crate) const NOISE: f64 = 0.02;

/// The largest fall that is called small, as a share. Chosen: the upper end of "slightly".
pub(crate) const SMALL: f64 = 0.15;

/// The largest difference from the last value of a curve that is level, as a share. Chosen: that of "tied".
pub(crate) const LEVEL: f64 = 0.05;

/// The factor by which a spike exceeds its neighbour. Chosen: the one of "significantly".
pub(crate) const SPIKE: f64 = 1.2;

/// Returns whether `first` leads at the start, `second` at the end, and they cross exactly once, after
/// [`LATE`] of the points. Points within [`NOISE`] of each other lead for neither.
pub(crate) fn crosses_once_late(first: &[f64], second: &[f64]) -> bool {
    let n = first.len().min(second.len());
    let leads: Vec<(usize, bool)> = (0..n)
        .filter(|at| (first[*at] / second[*at] - 1.0).abs() > NOISE)
        .map(|at| (at, second[at] > first[at]))
        .collect();
    let turns: Vec<usize> =
        leads.windows(2).filter(|pair| pair[0].1 != pair[1].1).map(|pair| pair[1].0).collect();
    let is_late = |at: &usize| *at as f64 >= LATE * (n - 1) as f64;
    matches!(turns.as_slice(), [at] if is_late(at)) && leads.last().is_some_and(|last| last.1)
}

/// Returns whether the lead of `second` over `first` begins after [`LATE`] of the points: before, it is
/// at most [`SMALL`], at the last point it is larger.
pub(crate) fn pulls_ahead_late(first: &[f64], second: &[f64]) -> bool {
    let n = first.len().min(second.len());
    let lead = |at: usize| second[at] / first[at] - 1.0;
    let late = (LATE * n.saturating_sub(1) as f64).ceil() as usize;
    n > 1 && (0..late).all(|at| lead(at) <= SMALL) && lead(n - 1) > SMALL
}

/// Returns whether `curve` falls by at most [`SMALL`] at its second point, ends higher than it was
/// there, and rises faster in its second half than in its first.
pub(crate) fn accelerates(curve: &[f64]) -> bool {
    let [first, second, ..] = curve else { return false };
    let (rest, last) = (&curve[1..], curve[curve.len() - 1]);
    let middle = rest[rest.len() / 2];
    rest.len() >= 4
        && *second >= first * (1.0 - SMALL)
        && last > second * (1.0 + NOISE)
        && last - middle > middle - second
}

/// Returns whether `curve` stays within [`SMALL`] of its start up to [`LATE`] of its points and ends
/// above that by the factor [`SPIKE`] or more.
pub(crate) fn flat_until_late(curve: &[f64]) -> bool {
    let late = (LATE * curve.len().saturating_sub(1) as f64).ceil() as usize;
    let (Some(first), Some(last)) = (curve.first(), curve.last()) else { return false };
    let is_flat = curve[..late].iter().all(|value| (value / first - 1.0).abs() <= SMALL);
    late >= 3 && is_flat && *last >= first * SPIKE
}

/// Returns whether the last point exceeds the one before it by the factor [`SPIKE`] or more.
pub(crate) fn ends_in_spike(curve: &[f64]) -> bool {
    matches!(curve, [.., before, last] if *last >= before * SPIKE)
}

/// Returns whether the last point is above the one before it by more than [`NOISE`].
pub(crate) fn rises_at_the_end(curve: &[f64]) -> bool {
    matches!(curve, [.., before, last] if *last > before * (1.0 + NOISE))
}

/// Returns whether both ends of `curve` exceed the mean of the points between them by the factor
/// [`SPIKE`] or more.
pub(crate) fn is_bathtub(curve: &[f64]) -> bool {
    let [first, middle @ .., last] = curve else { return false };
    summary::mean(middle).is_some_and(|mean| first.min(*last) >= mean * SPIKE)
}

/// Returns how often `curve` turns from rising to falling or back; changes within [`NOISE`] do not
/// count.
pub(crate) fn turns(curve: &[f64]) -> usize {
    let changes = curve.windows(2).map(|pair| pair[1] / pair[0] - 1.0);
    let rises: Vec<bool> =
        changes.filter(|change| change.abs() > NOISE).map(|change| change > 0.0).collect();
    rises.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// Returns whether `curve` never falls by more than [`NOISE`] and ends above its start.
pub(crate) fn climbs(curve: &[f64]) -> bool {
    let steps = curve.windows(2).all(|pair| pair[1] >= pair[0] * (1.0 - NOISE));
    matches!(curve, [first, .., last] if last > first) && steps
}

/// Returns whether `curve` rises by more than [`NOISE`] at first, and from [`LATE`] of its points on stays within
/// [`LEVEL`] of its last value.
pub(crate) fn levels_off(curve: &[f64]) -> bool {
    let late = (LATE * curve.len().saturating_sub(1) as f64).floor() as usize;
    let (Some(first), Some(last)) = (curve.first(), curve.last()) else { return false };
    let is_level = curve[late..].iter().all(|value| (value / last - 1.0).abs() <= LEVEL);
    late >= 1 && is_level && *last > first * (1.0 + NOISE)
}

/// Returns the number of leading points whose values differ by at most `tolerance`, as a share of the
/// larger one.
pub(crate) fn alike_for(first: &[f64], second: &[f64], tolerance: f64) -> usize {
    let is_alike = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * a.max(*b);
    first.iter().zip(second).take_while(|(a, b)| is_alike((a, b))).count()
}

/// Returns the share of `seconds` below `limit`; `None` for an empty series.
pub(crate) fn share_below(seconds: &[f64], limit: f64) -> Option<f64> {
    let below = seconds.iter().filter(|value| **value < limit).count();
    (!seconds.is_empty()).then(|| below as f64 / seconds.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mixes of a review: eleven points.
    const RISING: [f64; 11] =
        [200.0, 195.0, 198.0, 202.0, 208.0, 216.0, 228.0, 245.0, 270.0, 310.0, 380.0];
    const FLAT: [f64; 11] =
        [200.0, 196.0, 190.0, 186.0, 184.0, 185.0, 190.0, 205.0, 230.0, 280.0, 370.0];
    const FALLING: [f64; 11] =
        [200.0, 190.0, 180.0, 170.0, 160.0, 150.0, 140.0, 130.0, 120.0, 110.0, 100.0];
    const STRAIGHT: [f64; 11] =
        [200.0, 200.0, 220.0, 240.0, 260.0, 280.0, 300.0, 320.0, 340.0, 360.0, 380.0];
    const BATHTUB: [f64; 6] = [1_500.0, 700.0, 650.0, 640.0, 700.0, 1_400.0];

    #[test]
    fn a_late_crossing_is_told_from_an_early_one_from_two_and_from_none() {
        let with = |last: &[f64]| {
            let mut curve = RISING.map(|value| value * 0.9);
            curve[11 - last.len()..].copy_from_slice(last);
            curve
        };
        assert!(crosses_once_late(&RISING, &with(&[280.0, 330.0, 420.0])));
        assert!(crosses_once_late(&RISING, &with(&[450.0])));
        assert!(!crosses_once_late(&RISING, &with(&[])), "never");
        assert!(!crosses_once_late(&RISING, &with(&[280.0, 330.0, 300.0])), "twice");
        assert!(!crosses_once_late(&FALLING, &RISING), "early");
        assert!(!crosses_once_late(&RISING, &FALLING), "the other one ends ahead");
        assert!(!crosses_once_late(&RISING, &RISING));
    }

    #[test]
    fn a_lead_that_begins_late_is_told_from_one_from_the_start() {
        let mut ahead = RISING;
        ahead[9] *= 1.1;
        ahead[10] *= 1.3;
        assert!(pulls_ahead_late(&RISING, &ahead));
        assert!(!pulls_ahead_late(&RISING, &RISING));
        assert!(!pulls_ahead_late(&RISING, &RISING.map(|value| value * 1.3)));
        assert!(!pulls_ahead_late(&[], &[]));
    }

    #[test]
    fn an_accelerating_rise_is_told_from_a_straight_and_from_a_falling_curve() {
        assert!(accelerates(&RISING));
        assert!(!accelerates(&STRAIGHT), "no acceleration");
        assert!(!accelerates(&FALLING));
        let mut drops = RISING;
        drops[0] = 300.0;
        assert!(!accelerates(&drops), "it drops when writes enter");
        assert!(!accelerates(&[1.0, 1.0]));
    }

    #[test]
    fn a_curve_that_is_flat_until_late_is_told_from_one_that_rises_or_stays() {
        assert!(flat_until_late(&FLAT));
        assert!(!flat_until_late(&STRAIGHT), "it rises early");
        assert!(!flat_until_late(&[200.0; 11]), "it stays");
        assert!(!flat_until_late(&FALLING));
        assert!(!flat_until_late(&[]));
    }

    #[test]
    fn a_final_spike_and_a_final_rise_are_told_from_a_plateau() {
        assert!(ends_in_spike(&RISING) && rises_at_the_end(&RISING));
        assert!(!ends_in_spike(&STRAIGHT) && rises_at_the_end(&STRAIGHT));
        assert!(!ends_in_spike(&FALLING) && !rises_at_the_end(&FALLING));
        assert!(!rises_at_the_end(&[1.0]) && !ends_in_spike(&[]));
    }

    #[test]
    fn a_bathtub_has_two_high_ends() {
        assert!(is_bathtub(&BATHTUB));
        assert!(!is_bathtub(&BATHTUB[..5]));
        assert!(!is_bathtub(&RISING));
        assert!(!is_bathtub(&[1.0, 1.0]));
    }

    #[test]
    fn turns_count_changes_of_direction_beyond_noise() {
        assert_eq!(turns(&[10.0, 12.0, 9.0, 11.0, 8.0]), 3);
        assert_eq!(turns(&[10.0, 10.1, 10.0, 10.1]), 0);
        assert_eq!(turns(&FALLING), 0);
        assert_eq!(turns(&BATHTUB), 1);
    }

    #[test]
    fn a_climb_may_pause_and_not_fall() {
        assert!(climbs(&[3.0, 3.1, 3.08, 4.0, 5.0]));
        assert!(!climbs(&[3.0, 3.5, 3.1, 4.0]));
        assert!(!climbs(&[3.0, 3.0]) && !climbs(&FALLING));
    }

    #[test]
    fn a_curve_that_levels_off_rises_and_stays() {
        assert!(levels_off(&[2.0, 2.5, 2.9, 3.05, 3.1, 3.1]));
        assert!(!levels_off(&[2.0, 2.4, 2.8, 3.2, 3.6, 4.0]), "it climbs on");
        assert!(!levels_off(&[2.0, 2.5, 2.9, 3.1, 3.0, 2.8]), "it falls");
        assert!(!levels_off(&[3.0; 6]) && !levels_off(&[]));
    }

    #[test]
    fn alike_curves_are_counted_up_to_their_first_difference() {
        assert_eq!(alike_for(&[100.0, 96.0, 50.0, 100.0], &[98.0, 100.0, 100.0, 100.0], 0.05), 2);
        assert_eq!(alike_for(&RISING, &RISING, 0.0), 11);
        assert_eq!(alike_for(&RISING, &RISING.map(|value| value * 1.1), 0.05), 0);
    }

    #[test]
    fn slow_seconds_have_a_share() {
        assert_eq!(share_below(&[100.0, 300.0, 150.0, 9_000.0], 200.0), Some(0.5));
        assert_eq!(share_below(&[], 200.0), None);
    }
}
