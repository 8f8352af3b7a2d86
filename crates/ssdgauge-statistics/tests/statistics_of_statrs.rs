//! The statistics against those of the crate statrs, which computes them by other formulas: Student's t by
//! the incomplete beta function, where this crate has the finite series for whole degrees.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use ssdgauge_statistics::Random;
use ssdgauge_statistics::{fit, student, summary};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::statistics::Statistics;

#[track_caller]
fn near(ours: f64, theirs: f64, tolerance: f64, what: &str) {
    let difference = (ours - theirs).abs();
    assert!(
        difference <= tolerance * theirs.abs().max(1.0),
        "{what}: ours {ours}, theirs {theirs}"
    );
}

#[test]
fn tails_and_quantiles_of_students_t_equal_those_of_statrs() {
    let mut compared = 0;
    for degrees in (1..=30).chain([40, 59, 60, 100, 399, 1_000]) {
        let theirs = StudentsT::new(0.0, 1.0, f64::from(degrees)).unwrap();
        for tenth in 0..100 {
            let t = f64::from(tenth) / 10.0;
            let tail = 2.0 * theirs.sf(t);
            near(
                student::two_sided_tail(t, degrees),
                tail,
                1e-9,
                &format!("tail of {t}, {degrees}"),
            );
            compared += 1;
        }
        for outside in [0.001, 0.002, 0.01, 0.05, 0.1, 0.32, 0.5] {
            let ours = student::quantile_beyond(outside, degrees);
            let what = format!("quantile of {outside}, {degrees}");
            near(ours, theirs.inverse_cdf(1.0 - outside / 2.0), 1e-6, &what);
            compared += 1;
        }
    }
    println!("compared {compared} tails and quantiles with statrs");
    assert_eq!(compared, 36 * 107);
}

#[test]
fn means_deviations_and_lines_of_random_series_equal_those_of_statrs() {
    let mut random = Random::new(1, 0);
    let mut compared = 0;
    for length in 2..200 {
        // Seconds of a drive: a level, and noise of a tenth of it.
        let level = 1.0 + random.below(1_000_000) as f64;
        let mut value = || level * (1.0 + random.below(1_000) as f64 / 10_000.0);
        let (y, x): (Vec<f64>, Vec<f64>) = (0..length).map(|at| (value(), f64::from(at))).unzip();
        near(summary::mean(&y).unwrap(), y.iter().mean(), 1e-12, "mean");
        near(summary::harmonic_mean(&y).unwrap(), y.iter().harmonic_mean(), 1e-12, "harmonic mean");
        near(summary::sigma(&y).unwrap(), y.iter().std_dev(), 1e-9, "standard deviation");
        // Slope = covariance ÷ variance of x.
        let points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
        let line = fit::line(&points).unwrap();
        let covariance = x.iter().covariance(y.iter());
        near(line.slope, covariance / x.iter().variance(), 1e-9, "slope");
        let correlation = covariance / (x.iter().std_dev() * y.iter().std_dev());
        near(line.correlation, correlation, 1e-9, "correlation");
        compared += 5;
    }
    println!("compared {compared} figures of 198 series with statrs");
    assert_eq!(compared, 5 * 198);
}
