//! The change of the headlines of a drive over its runs.

use super::drive_run::{DriveModel, DriveRun, TestKey};
use ssdgauge_core::Metric;
use ssdgauge_core::statistics::difference::{self, Outcome};
use ssdgauge_core::statistics::fit;
use ssdgauge_core::statistics::student;
use std::collections::BTreeMap;

/// The runs without which no change is stated: two points are always on a line.
const LEAST_RUNS: usize = 3;

/// The change of one headline of one drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// The drive.
    pub serial: String,
    /// Its model and firmware.
    pub kind: DriveModel,
    /// Whether it is a virtual drive.
    pub is_model: bool,
    /// The test.
    pub test: TestKey,
    /// The metric of the headline.
    pub metric: Metric,
    /// The runs.
    pub runs: usize,
    /// The days from the first run to the last one.
    pub days: f64,
    /// The value of the first run and of the last one.
    pub values: [f64; 2],
    /// The change along the fitted line from the first run to the last one, as a share; `None` where there
    /// are fewer than three runs, or all began at one time.
    pub change: Option<Change>,
}

/// A relative change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The change: −0.1 is a tenth less.
    pub value: f64,
    /// The ends of its 95 % interval.
    pub interval: (f64, f64),
}

impl Drift {
    /// Returns whether the change is one for the worse, by the rule of `compare`: its interval excludes 0,
    /// and it is beyond the noise between runs.
    pub fn is_worse(&self) -> bool {
        let worse = match self.metric.more_is_better() {
            true => Outcome::Lower,
            false => Outcome::Higher,
        };
        self.change.is_some_and(|Change { value, interval: (low, high) }| {
            difference::judge(1.0 + value, Some((1.0 + low, 1.0 + high)), difference::NOISE)
                == worse
        })
    }
}

/// Returns the change of each headline of each drive that has at least two runs of a test.
pub(super) fn drifts(runs: &[DriveRun]) -> Vec<Drift> {
    type Key<'a> = (&'a str, &'a DriveModel, &'a TestKey, Metric);
    let mut series: BTreeMap<Key<'_>, Vec<(i64, f64)>> = BTreeMap::new();
    let mut models: BTreeMap<&str, bool> = BTreeMap::new();
    for run in runs {
        models.insert(&run.serial, run.is_model);
        for headline in &run.headlines {
            let key = (run.serial.as_str(), &run.kind, &headline.test, headline.metric);
            series.entry(key).or_default().push((run.started_unix_ms, headline.value));
        }
    }
    let several = series.into_iter().filter(|(_, points)| points.len() > 1);
    several
        .map(|((serial, kind, test, metric), mut points)| {
            points.sort_by_key(|(at, _)| *at);
            let (first, last) = (points[0], points[points.len() - 1]);
            let days = |at: i64| (at - first.0) as f64 / 86_400e3;
            let logarithms: Vec<(f64, f64)> =
                points.iter().map(|(at, value)| (days(*at), value.ln())).collect();
            Drift {
                serial: serial.to_owned(),
                kind: kind.clone(),
                is_model: models.get(serial).copied().unwrap_or_default(),
                test: test.clone(),
                metric,
                runs: points.len(),
                days: days(last.0),
                values: [first.1, last.1],
                change: change(&logarithms),
            }
        })
        .collect()
}

/// Returns the change along the least-squares line through the logarithms of the values, with the interval
/// of its slope: b ± t·s ÷ √Σ(x − x̄)², t of n − 2 degrees of freedom.
fn change(points: &[(f64, f64)]) -> Option<Change> {
    let line = fit::line(points).filter(|_| points.len() >= LEAST_RUNS)?;
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
    Some(Change {
        value: share(line.slope),
        interval: (share(line.slope - half), share(line.slope + half)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_loss_is_found_with_its_interval() {
        // 1 % less each ten days, and 0.1 % of noise.
        let noise = [0.001, -0.001, 0.0005, -0.0005, 0.001, -0.001];
        let points: Vec<(f64, f64)> = (0..6)
            .map(|n| (10.0 * f64::from(n), -0.01 * f64::from(n) + noise[n as usize]))
            .collect();
        let change = change(&points).unwrap();
        let truth = (-0.05f64).exp_m1();
        assert!((change.value - truth).abs() < 0.002, "{change:?}");
        assert!(change.interval.0 < truth && truth < change.interval.1, "{change:?}");
        assert!(change.interval.1 < -0.04, "{change:?}");
    }

    #[test]
    fn two_runs_and_runs_of_one_moment_have_no_change() {
        assert_eq!(change(&[(0.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(change(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }
}
