//! Student's t distribution for whole degrees of freedom.

use std::f64::consts::FRAC_2_PI;

/// The share of intervals that do not contain the truth: intervals are 95 % ones.
const ALPHA: f64 = 0.05;

/// The relative accuracy of a quantile, and more steps than reach it.
const ACCURACY: (f64, usize) = (1e-10, 60);

/// Returns the probability that |T| exceeds `t`, which is at least 0, with `degrees` of freedom, at
/// least 1.
///
/// The finite series of Abramowitz and Stegun, *Handbook of Mathematical Functions*, 26.7.3 (odd
/// degrees) and 26.7.4 (even degrees).
pub fn two_sided_tail(t: f64, degrees: u32) -> f64 {
    debug_assert!(t >= 0.0 && degrees >= 1, "t = {t} with {degrees} degrees of freedom");
    let nu = f64::from(degrees);
    let cos_squared = nu / (nu + t * t);
    let sin = t / (nu + t * t).sqrt();
    let is_odd = degrees % 2 == 1;
    let (mut term, first) = if is_odd { (cos_squared.sqrt(), 3) } else { (1.0, 2) };
    let mut sum = if degrees == 1 { 0.0 } else { term };
    // The terms end with the power ν − 2 of the cosine.
    for k in (first..degrees.saturating_sub(1)).step_by(2) {
        term *= cos_squared * f64::from(k - 1) / f64::from(k);
        sum += term;
    }
    let inside = match is_odd {
        true => FRAC_2_PI * (t.atan2(nu.sqrt()) + sin * sum),
        false => sin * sum,
    };
    (1.0 - inside).clamp(0.0, 1.0)
}

/// Returns the t that |T| exceeds with a probability of 5 %: the two-sided 95 % quantile.
pub fn quantile(degrees: u32) -> f64 {
    quantile_beyond(ALPHA, degrees)
}

/// Returns the t that |T| exceeds with the probability `outside`, from 0.001 to 1; from four degrees of
/// freedom on from 0.00001 to 1.
pub fn quantile_beyond(outside: f64, degrees: u32) -> f64 {
    debug_assert!((0.00001..=1.0).contains(&outside), "{outside}");
    // The quantile of one degree of freedom is the largest of all: 63.66 for 1 %, 636.6 for 0.1 %. That
    // of four is 27.77 for 0.001 %.
    let most = if outside < 0.01 { 640.0 } else { 64.0 };
    crossing_of(outside, 0.0, most, |t| two_sided_tail(t, degrees))
}

/// Returns the t from `low` to `high` at which the falling function `tail` crosses 5 %.
pub fn crossing(low: f64, high: f64, tail: impl Fn(f64) -> f64) -> f64 {
    crossing_of(ALPHA, low, high, tail)
}

/// Finds a crossing by false position with the Illinois modification (Dowell and Jarratt 1971): an end
/// that stays twice counts half, so that both ends close in.
fn crossing_of(outside: f64, mut low: f64, mut high: f64, tail: impl Fn(f64) -> f64) -> f64 {
    let above = |t: f64| tail(t) - outside;
    let (mut at_low, mut at_high) = (above(low), above(high));
    let mut has_raised_low = None;
    for _ in 0..ACCURACY.1 {
        if high - low <= ACCURACY.0 * high {
            break;
        }
        let line = low + (high - low) * at_low / (at_low - at_high);
        let middle = if low < line && line < high { line } else { 0.5 * (low + high) };
        let value = above(middle);
        let raises_low = value > 0.0;
        let is_again = has_raised_low.replace(raises_low) == Some(raises_low);
        let weight = if is_again { 0.5 } else { 1.0 };
        if raises_low {
            (low, at_low, at_high) = (middle, value, at_high * weight);
        } else {
            (high, at_high, at_low) = (middle, value, at_low * weight);
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_equal_the_published_table() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, column 0.975.
        let table = [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (8, 2.306),
            (9, 2.262),
            (15, 2.131),
            (24, 2.064),
            (30, 2.042),
            (31, 2.040),
            (60, 2.000),
            (100, 1.984),
        ];
        for (degrees, expected) in table {
            let found = quantile(degrees);
            assert!((found - expected).abs() < 6e-4, "{degrees}: {found}");
        }
        // The same table, column 0.99.
        for (degrees, expected) in [(1, 31.821), (4, 3.747), (9, 2.821), (19, 2.539)] {
            let found = quantile_beyond(0.02, degrees);
            assert!((found - expected).abs() < 6e-4, "{degrees}: {found}");
        }
    }

    #[test]
    fn a_crossing_is_that_of_a_bisection() {
        for degrees in 1..60 {
            for outside in [0.001, 0.002, 0.005, 0.01, 0.05, 0.3, 1.0 - 1e-9] {
                let found = quantile_beyond(outside, degrees);
                let (mut low, mut high) = (0.0, 640.0);
                while high - low > 1e-13 * high {
                    let middle = 0.5 * (low + high);
                    match two_sided_tail(middle, degrees) > outside {
                        true => low = middle,
                        false => high = middle,
                    }
                }
                assert!(
                    (found - high).abs() <= 2e-10 * high,
                    "{degrees} {outside}: {found} {high}"
                );
            }
        }
    }

    #[test]
    fn tails_equal_their_closed_forms() {
        for t in [0.0, 0.3, 1.0, 2.5, 12.0] {
            let one = 1.0 - FRAC_2_PI * f64::atan(t);
            assert!((two_sided_tail(t, 1) - one).abs() < 1e-14, "{t}");
            let two = 1.0 - t / (2.0 + t * t).sqrt();
            assert!((two_sided_tail(t, 2) - two).abs() < 1e-14, "{t}");
            let three =
                1.0 - FRAC_2_PI * (f64::atan(t / 3f64.sqrt()) + t * 3f64.sqrt() / (3.0 + t * t));
            assert!((two_sided_tail(t, 3) - three).abs() < 1e-14, "{t}");
        }
    }
}
