//! The time as the reference: how much a number has changed over all runs.

use crate::difference::{NOISE, Outcome, judge};
use crate::estimate::Estimate;
use crate::{fit, student};

/// The runs without which no change is stated: two points are always on a line.
const LEAST_RUNS: usize = 3;

/// Returns the change of the values above zero at `points`, (time, value) in the order of time, along the
/// least-squares line through their logarithms, from the first one to the last one as a share: −0.1 is a tenth
/// less. The interval is that of the slope: b ± t·s ÷ √Σ(x − x̄)², t of n − 2 degrees of freedom. `None` for
/// fewer than three points, or where all are of one time.
pub fn change(points: &[(f64, f64)]) -> Option<Estimate> {
    let points: Vec<(f64, f64)> = points.iter().map(|(at, value)| (*at, value.ln())).collect();
    let line = fit::line(&points).filter(|_| points.len() >= LEAST_RUNS)?;
    let n = points.len() as f64;
    let centre = points.iter().map(|(x, _)| x).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|(x, _)| (x - centre).powi(2)).sum();
    let squares: f64 =
        points.iter().map(|(x, y)| (y - line.intercept - line.slope * x).powi(2)).sum();
    let freedom = points.len() - 2;
    let error = (squares / freedom as f64 / spread).sqrt();
    let half = student::quantile(freedom as u32) * error;
    let length = points[points.len() - 1].0 - points[0].0;
    let share = |slope: f64| (slope * length).exp_m1();
    Some(Estimate {
        value: share(line.slope),
        low: share(line.slope - half),
        high: share(line.slope + half),
    })
}

/// Judges a `change`: by its interval, and by the noise between runs.
pub fn judge_change(change: Estimate) -> Outcome {
    let Estimate { value, low, high } = change;
    judge(1.0 + value, Some((1.0 + low, 1.0 + high)), NOISE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_loss_is_found_with_its_interval() {
        // 1 % less each ten days, and 0.1 % of noise.
        let noise = [0.001, -0.001, 0.0005, -0.0005, 0.001, -0.001];
        let points: Vec<(f64, f64)> = (0..6)
            .map(|n| (10.0 * f64::from(n), (-0.01 * f64::from(n) + noise[n as usize]).exp()))
            .collect();
        let change = change(&points).unwrap();
        let truth = (-0.05f64).exp_m1();
        assert!((change.value - truth).abs() < 0.002, "{change:?}");
        assert!(change.low < truth && truth < change.high, "{change:?}");
        assert!(change.high < -0.04, "{change:?}");
    }

    #[test]
    fn two_runs_and_runs_of_one_moment_have_no_change() {
        assert_eq!(change(&[(0.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(change(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }
}
