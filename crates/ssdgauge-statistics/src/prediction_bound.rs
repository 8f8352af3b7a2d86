//! A polynomial through most of the points, and the bound below which a further point lies.
//!
//! Outliers shall not move the line that they are judged by, so it is fitted twice: by least absolute
//! residuals first, and by ordinary least squares through the points that are near the first line.

use crate::student;
use crate::summary::percentile;

/// The probability that a further point of the same kind lies above the bound: 0.1 %.
pub const BEYOND: f64 = 0.001;

/// Points farther from the first line than so many standard deviations are left out of the second. In a
/// simulation with ten normal points the bound of 0.1 % is exceeded by 0.6 % with 3, by 0.3 % with 4 (by
/// 0.1 % of 30 points), because what is left out makes s smaller.
const NEAR: f64 = 4.0;

/// The standard deviation of normal residuals, by their median absolute value (Rousseeuw and Croux
/// 1993, section 1).
const SIGMA_BY_MEDIAN: f64 = 1.4826;

/// Rounds of reweighting; the line moves by less than a thousandth of the residuals before that.
const ROUNDS: usize = 30;

/// The degrees of freedom without which no bound is given: Student's quantile is still below 6.
const LEAST_FREEDOM: usize = 5;

/// The maximum number of coefficients: a parabola.
const MOST: usize = 3;

/// A polynomial with its prediction bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionBound {
    /// The coefficients of the powers of x − `centre`; unused ones are 0.
    coefficients: [f64; MOST],
    /// The number of coefficients.
    terms: usize,
    centre: f64,
    /// The inverse of X'X.
    inverse: [[f64; MOST]; MOST],
    /// The standard deviation of the residuals.
    sigma: f64,
    /// The quantile of Student's distribution.
    quantile: f64,
    /// The points of the second fit.
    pub used: usize,
}

/// The reason why points have no bound: fewer are left than a fit needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoBound {
    /// The points.
    pub points: usize,
    /// Those that are near the first line; all of them where they are too few for it.
    pub near: usize,
    /// The points near the first line without which no bound is given.
    pub needed: usize,
}

impl PredictionBound {
    /// Fits a polynomial of at most `degree` (0 to 2) to `points` at `settings` intended values of x; of a
    /// lower degree where these are too few. Measured x of one setting differ by chance, and a curve through
    /// those would follow single points. `least_sigma` is the standard deviation of residuals that is
    /// assumed at least.
    ///
    /// # Errors
    /// Returns [`NoBound`] where fewer than five degrees of freedom are left.
    pub fn fit(
        points: &[(f64, f64)],
        degree: usize,
        settings: usize,
        least_sigma: f64,
    ) -> Result<PredictionBound, NoBound> {
        let mut different: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
        different.sort_by(f64::total_cmp);
        different.dedup();
        let centre = different.iter().sum::<f64>() / different.len().max(1) as f64;
        // Powers of large x are nearly proportional to each other, and X'X then has no accurate inverse.
        let centred: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x - centre, *y)).collect();
        let most = (degree + 1).min(settings).min(different.len()).clamp(1, MOST);
        let mut lower = (1..=most).rev();
        let fit = lower.find_map(|terms| with_terms(&centred, centre, terms, least_sigma));
        fit.unwrap_or(Err(NoBound { points: points.len(), near: 0, needed: 1 + LEAST_FREEDOM }))
    }

    /// Returns the y that is expected at `x`.
    pub fn expected(&self, x: f64) -> f64 {
        let powers = powers(x - self.centre);
        self.coefficients.iter().zip(powers).map(|(coefficient, power)| coefficient * power).sum()
    }

    /// Returns the y that a further point at `x` exceeds with a probability of 0.1 %:
    /// ŷ + t·s·√(1 + x'(X'X)⁻¹x), the prediction interval of a regression.
    pub fn upper(&self, x: f64) -> f64 {
        let powers = powers(x - self.centre);
        let mut leverage = 0.0;
        for row in 0..self.terms {
            for column in 0..self.terms {
                leverage += powers[row] * self.inverse[row][column] * powers[column];
            }
        }
        self.expected(x) + self.quantile * self.sigma * (1.0 + leverage).sqrt()
    }
}

/// Fits a polynomial of so many `terms`; `None` where the x do not determine it.
fn with_terms(
    centred: &[(f64, f64)],
    centre: f64,
    terms: usize,
    least_sigma: f64,
) -> Option<Result<PredictionBound, NoBound>> {
    let needed = terms + LEAST_FREEDOM;
    let too_few = |near: usize| Some(Err(NoBound { points: centred.len(), near, needed }));
    if centred.len() < needed {
        return too_few(centred.len());
    }
    let near = near_points(centred, terms, least_sigma)?;
    if near.len() < needed {
        return too_few(near.len());
    }
    let (coefficients, inverse) = solve(&near, &vec![1.0; near.len()], terms)?;
    let squares: f64 = near.iter().map(|point| residual(&coefficients, *point).powi(2)).sum();
    let freedom = near.len() - terms;
    Some(Ok(PredictionBound {
        coefficients,
        terms,
        centre,
        inverse,
        // Few points can lie on a line by chance; a bound without room would flag the next one.
        sigma: (squares / freedom as f64).sqrt().max(least_sigma),
        // Twice: the quantile counts both tails, the bound one.
        quantile: student::quantile_beyond(2.0 * BEYOND, freedom as u32),
        used: near.len(),
    }))
}

/// Returns the points that are not outliers: those near the line of least absolute residuals. `None` where
/// there is no such line.
fn near_points(centred: &[(f64, f64)], terms: usize, least_sigma: f64) -> Option<Vec<(f64, f64)>> {
    let mut weights = vec![1.0; centred.len()];
    let mut line = solve(centred, &weights, terms)?.0;
    for _ in 0..ROUNDS {
        // A point on the line would have an infinite weight, and hold the line there.
        let floor = least_sigma.max(f64::EPSILON) * 1e-3;
        for (weight, point) in weights.iter_mut().zip(centred) {
            // Squares of residuals divided by residuals: the minimum sum is that of the absolute values.
            *weight = 1.0 / residual(&line, *point).abs().max(floor);
        }
        line = solve(centred, &weights, terms)?.0;
    }
    let sizes: Vec<f64> = centred.iter().map(|point| residual(&line, *point).abs()).collect();
    let sigma = (SIGMA_BY_MEDIAN * percentile(&sizes, 0.5)?).max(least_sigma);
    let is_near = |point: &&(f64, f64)| residual(&line, **point).abs() <= NEAR * sigma;
    Some(centred.iter().filter(is_near).copied().collect())
}

fn powers(x: f64) -> [f64; MOST] {
    [1.0, x, x * x]
}

fn residual(line: &[f64; MOST], (x, y): (f64, f64)) -> f64 {
    y - line.iter().zip(powers(x)).map(|(coefficient, power)| coefficient * power).sum::<f64>()
}

/// Returns the weighted least-squares coefficients and the inverse of X'WX, by Gauss-Jordan elimination
/// with the largest pivot; `None` where it is singular.
fn solve(
    points: &[(f64, f64)],
    weights: &[f64],
    terms: usize,
) -> Option<([f64; MOST], [[f64; MOST]; MOST])> {
    let mut left = [[0.0; MOST]; MOST];
    let mut right = [0.0; MOST];
    for ((x, y), weight) in points.iter().zip(weights) {
        let powers = powers(*x);
        for row in 0..terms {
            right[row] += weight * powers[row] * y;
            for column in 0..terms {
                left[row][column] += weight * powers[row] * powers[column];
            }
        }
    }
    let mut inverse = [[0.0; MOST]; MOST];
    for (place, row) in inverse.iter_mut().enumerate().take(terms) {
        row[place] = 1.0;
    }
    for step in 0..terms {
        let size = |row: &usize| left[*row][step].abs();
        let pivot = (step..terms).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        left.swap(step, pivot);
        inverse.swap(step, pivot);
        let divisor = left[step][step];
        if divisor.abs() < f64::MIN_POSITIVE || !divisor.is_finite() {
            return None;
        }
        for column in 0..terms {
            left[step][column] /= divisor;
            inverse[step][column] /= divisor;
        }
        for row in (0..terms).filter(|row| *row != step) {
            let factor = left[row][step];
            for column in 0..terms {
                left[row][column] -= factor * left[step][column];
                inverse[row][column] -= factor * inverse[step][column];
            }
        }
    }
    let mut coefficients = [0.0; MOST];
    for row in 0..terms {
        coefficients[row] = (0..terms).map(|column| inverse[row][column] * right[column]).sum();
    }
    Some((coefficients, inverse))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::summary::{mean, sigma};

    /// A normal number, from the sum of twelve uniform ones.
    fn normal(random: &mut Random) -> f64 {
        (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
    }

    #[test]
    fn a_parabola_is_found_below_outliers() {
        let truth = |x: f64| 2.0 + 0.5 * x + 0.1 * x * x;
        let points: Vec<(f64, f64)> = (0..60)
            .map(|number| {
                let x = f64::from(number % 6);
                // A fifth of the points is far above, most of them at one end.
                let far = if number % 5 == 0 && x > 2.0 || number % 10 == 0 { 5.0 } else { 0.0 };
                (x, truth(x) + far)
            })
            .collect();
        let fit = PredictionBound::fit(&points, 2, 6, 1e-3).unwrap();
        for x in [0.0, 2.5, 5.0] {
            assert!((fit.expected(x) - truth(x)).abs() < 1e-3, "{x}: {}", fit.expected(x));
            assert!(fit.upper(x) < truth(x) + 0.02);
        }
        assert!(fit.used < points.len());
    }

    #[test]
    fn the_bound_of_equal_loads_is_that_of_the_textbook() {
        let values = [9.0, 10.0, 11.0, 10.5, 9.5, 10.2, 9.8, 10.1];
        let points = values.map(|value| (3.0, value));
        let fit = PredictionBound::fit(&points, 2, 1, 0.0).unwrap();
        // Montgomery and Runger, 8-6: mean + t·s·√(1 + 1/n); t of 7 degrees at 99.9 % is 4.785.
        let expected = mean(&values).unwrap() + 4.785 * sigma(&values).unwrap() * 1.125f64.sqrt();
        assert!((fit.upper(3.0) - expected).abs() < 1e-3, "{} {expected}", fit.upper(3.0));
    }

    #[test]
    fn a_further_point_lies_beyond_the_bound_as_often_as_stated() {
        let mut random = Random::new(7, 1);
        let (mut beyond, repetitions) = (0, 20_000);
        for _ in 0..repetitions {
            let points: Vec<(f64, f64)> =
                (0..40).map(|n| (f64::from(n % 4), normal(&mut random))).collect();
            let fit = PredictionBound::fit(&points, 1, 4, 0.0).unwrap();
            beyond += usize::from(normal(&mut random) > fit.upper(1.5));
        }
        // Leaving out what is far makes s smaller, so a little more than 0.1 %.
        let share = f64::from(u32::try_from(beyond).unwrap()) / f64::from(repetitions);
        assert!((0.0005..0.003).contains(&share), "{share}");
    }

    #[test]
    fn measured_rates_of_one_setting_get_no_curve() {
        // One setting, reached to 0.01 %; the eighth point falls behind and is far above the others.
        let mut points: Vec<(f64, f64)> =
            (0..7).map(|n| (9.0 + 1e-4 * f64::from(n), 0.01 * f64::from(n % 3))).collect();
        let fit = PredictionBound::fit(&points, 2, 1, 0.01).unwrap();
        assert_eq!((fit.terms, fit.used), (1, 7));
        points.push((8.7, 1.0));
        let fit = PredictionBound::fit(&points, 2, 1, 0.01).unwrap();
        assert_eq!(fit.used, 7, "the eighth one is left out");
        assert!(fit.upper(8.7) < 0.1, "{}", fit.upper(8.7));
    }

    #[test]
    fn too_few_points_have_no_bound_and_the_reason_counts_them() {
        let none = NoBound { points: 0, near: 0, needed: 6 };
        assert_eq!(PredictionBound::fit(&[], 2, 3, 0.1), Err(none));
        let five = [1.0, 2.0, 3.0, 4.0, 5.0].map(|x| (x, x));
        let few = NoBound { points: 5, near: 5, needed: 7 };
        assert_eq!(PredictionBound::fit(&five, 1, 5, 0.1), Err(few));
        // Of seven equal settings one may be far away, and no second one.
        let mut seven = [0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 9.0].map(|y| (0.0, y));
        assert_eq!(PredictionBound::fit(&seven, 2, 1, 0.01).unwrap().used, 6);
        seven[5].1 = 8.0;
        let scattered = NoBound { points: 7, near: 5, needed: 6 };
        assert_eq!(PredictionBound::fit(&seven, 2, 1, 0.01), Err(scattered));
    }
}
