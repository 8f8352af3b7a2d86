//! The half-width of the 95 % interval of the mean of correlated values, without a trend.
//!
//! Neighbouring seconds are correlated, so n seconds hold less information than n independent
//! values. The spectrum of the seconds near frequency zero determines the variance of their mean;
//! it is seen in the lowest cosine coefficients (Müller and Watson 2008; Müller 2014; Lazarus, Lewis,
//! Stock and Watson 2018). A Bayesian mixture over first-order autoregressions with and without white
//! noise, weighted by the Whittle likelihood of these coefficients, says how far to extrapolate to
//! frequency zero; given a model, the mean has a t distribution. The combination, the grid and the
//! priors were chosen by simulation; `docs/explanation/intervals.md` has the coverage.

use crate::student;
use std::f64::consts::PI;

/// The cosine coefficients used. More of them mix in frequencies that the mean does not see. Chosen.
const COEFFICIENTS: usize = 24;
/// The prior probability of independent seconds. Chosen.
const PRIOR_WHITE: f64 = 0.4;
/// The slowest decay of the correlation on the grid, in 1 ÷ length of the series, and the ratio of
/// neighbouring ones. Chosen.
const GRID: (f64, f64) = (1.12, 1.25);
/// The smallest autocorrelation on the grid that is not zero. Chosen.
const LEAST_CORRELATION: f64 = 0.05;
/// The shares of correlated noise in all noise. Chosen.
const SHARES: [f64; 3] = [0.2, 0.5, 1.0];
/// A sum of squared differences below this share of the sum of squares is rounding.
const EQUAL: f64 = 1e-24;

/// The quantile of the normal distribution that turns a half-width into a standard error.
const NORMAL: f64 = 1.96;

/// Returns half of the width of the 95 % interval of the mean of `values`, which are stationary.
pub fn half(values: &[f64]) -> f64 {
    let (m, q) = (values.len() as f64, COEFFICIENTS.min(values.len().saturating_sub(1)));
    let powers = powers(values, q);
    let size: f64 = values.iter().map(|value| value * value).sum();
    if powers.iter().sum::<f64>() <= EQUAL * size {
        return 0.0;
    }
    let cosines: Vec<f64> = (1..=q).map(|j| (PI * j as f64 / m).cos()).collect();
    let mut models = vec![weigh(0.0, 1.0, &powers, &cosines, m)];
    // Time constants from about the length of the series downwards, in equal ratios: each moves the
    // spectrum by the same distance on a logarithmic axis.
    let steps = (0..).map(|step| (-GRID.0 * GRID.1.powi(step) / m).exp());
    for phi in steps.take_while(|phi| *phi > LEAST_CORRELATION) {
        models.extend(SHARES.map(|share| weigh(phi, share, &powers, &cosines, m)));
    }
    let prior = ((1.0 - PRIOR_WHITE) / (models.len() - 1).max(1) as f64).ln();
    models.iter_mut().skip(1).for_each(|model| model.0 += prior);
    models[0].0 += PRIOR_WHITE.ln();
    let best = models.iter().map(|model| model.0).fold(f64::MIN, f64::max);
    // As multiples of the best one: the likelihoods themselves depend on the unit of the values, and can
    // be beyond the range of a number.
    models.iter_mut().for_each(|model| model.0 = (model.0 - best).exp());
    let weights: f64 = models.iter().map(|model| model.0).sum();
    // A lighter model moves the result by less than its accuracy.
    models.retain(|model| model.0 > 1e-10 * weights);
    // The quantile of a mixture lies between those of its narrowest and its widest model.
    let quantile = student::quantile(q as u32);
    let widest = models.iter().map(|model| model.1).fold(0.0, f64::max);
    let narrowest = models.iter().map(|model| model.1).fold(widest, f64::min);
    student::crossing(quantile * narrowest, quantile * widest, |half| {
        let tail =
            |(weight, scale): &(f64, f64)| weight * student::two_sided_tail(half / scale, q as u32);
        models.iter().map(tail).sum::<f64>() / weights
    })
}

/// Returns the standard error of the mean of the stationary series `values`: half of its 95 % interval
/// divided by the quantile of the normal distribution.
pub fn standard_error(values: &[f64]) -> f64 {
    half(values) / NORMAL
}

/// Returns the squares of the cosine coefficients 1 to `q` of `values`.
fn powers(values: &[f64], q: usize) -> Vec<f64> {
    /// The values that are taken side by side, so that a processor calculates several at once.
    const SIDE: usize = 8;
    let m = values.len() as f64;
    let mean = values.iter().sum::<f64>() / m;
    let mut sums = vec![[0.0; SIDE]; q];
    for (chunk, part) in values.chunks(SIDE).enumerate() {
        // cos(jx) = 2 cos(x) cos((j − 1)x) − cos((j − 2)x), from cos(0) and cos(x).
        let mut first = [0.0; SIDE];
        let mut value = [0.0; SIDE];
        for (at, one) in part.iter().enumerate() {
            // From the middle of each second (DCT-II): only these cosines are orthogonal to each other and to
            // a constant.
            first[at] = (PI * ((chunk * SIDE + at) as f64 + 0.5) / m).cos();
            value[at] = one - mean;
        }
        let (mut before, mut cosine) = ([1.0; SIDE], first);
        for sum in &mut sums {
            for at in 0..SIDE {
                sum[at] += value[at] * cosine[at];
                let next = 2.0 * first[at] * cosine[at] - before[at];
                (before[at], cosine[at]) = (cosine[at], next);
            }
        }
    }
    // 2 ÷ m: independent values then have the power of their variance in every coefficient.
    sums.iter().map(|sums| sums.iter().sum::<f64>()).map(|sum| 2.0 / m * sum * sum).collect()
}

/// Returns the logarithm of the likelihood of `powers` where `share` of the variance is first-order
/// autoregressive with `phi` and the rest white, and the scale of the t distribution of the mean.
///
/// The scale of the noise is integrated out with its reference prior. The variance of the mean is
/// that of a finite series.
fn weigh(phi: f64, share: f64, powers: &[f64], cosines: &[f64], m: f64) -> (f64, f64) {
    let q = powers.len() as f64;
    let (mut product, mut scaled) = (1.0, 0.0);
    for (power, cosine) in powers.iter().zip(cosines) {
        // The spectrum of an autoregression with variance 1, so that `share` divides a variance of 1.
        let red = (1.0 - phi * phi) / (1.0 - 2.0 * phi * cosine + phi * phi);
        let density = share * red + 1.0 - share;
        // 24 factors, each between 1/m and 2m: no overflow below 10¹² seconds.
        product *= density;
        scaled += power / density;
    }
    // m times the variance of the mean of m such values, exactly: with slow decays the limit for long
    // series, the first term, would be too large.
    let red = (1.0 + phi) / (1.0 - phi)
        - 2.0 * phi * (1.0 - phi.powf(m)) / (m * (1.0 - phi) * (1.0 - phi));
    let of_mean = share * red + 1.0 - share;
    (-0.5 * product.ln() - 0.5 * q * scaled.ln(), (of_mean * scaled / (q * m)).sqrt())
}
