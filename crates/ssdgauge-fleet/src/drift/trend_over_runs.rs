//! The change of the headlines of a drive over its runs.

use super::drive_run::{DriveModel, DriveRun, HeadlineOfRun, TestKey};
use ssdgauge_core::{Estimate, Metric};
use ssdgauge_statistics::difference::{Outcome, over_runs};
use std::collections::BTreeMap;

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
    /// What its power was read by; empty for metrics without power, and where that is not known.
    pub meters: Vec<String>,
    /// The runs.
    pub runs: usize,
    /// The days from the first run to the last one.
    pub days: f64,
    /// The value of the first run and of the last one.
    pub values: [f64; 2],
    /// The change along the fitted line from the first run to the last one, as a share: −0.1 is a tenth less;
    /// `None` where there are fewer than three runs, or all began at one time.
    pub change: Option<Estimate>,
}

impl Drift {
    /// Returns whether the change is one for the worse, by the rule of `compare`: its interval excludes 0,
    /// and it is beyond the noise between runs.
    pub fn is_worse(&self) -> bool {
        let in_quality =
            |change| over_runs::judge_change(change).in_quality(self.metric.more_is_better());
        self.change.map(in_quality) == Some(Outcome::Lower)
    }
}

/// Returns the change of each headline of each drive that has at least two runs of a test.
pub(super) fn drifts(runs: &[DriveRun]) -> Vec<Drift> {
    type Key<'a> = (&'a str, &'a DriveModel, &'a TestKey, Metric, &'a [String]);
    let mut series: BTreeMap<Key<'_>, Vec<(i64, f64)>> = BTreeMap::new();
    let mut models: BTreeMap<&str, bool> = BTreeMap::new();
    for run in runs {
        models.insert(&run.serial, run.is_model);
        for headline in &run.headlines {
            let HeadlineOfRun { test, metric, meters, value } = headline;
            let key = (run.serial.as_str(), &run.kind, test, *metric, meters.as_slice());
            series.entry(key).or_default().push((run.started_unix_ms, *value));
        }
    }
    let several = series.into_iter().filter(|(_, points)| points.len() > 1);
    several
        .map(|((serial, kind, test, metric, meters), mut points)| {
            points.sort_by_key(|(at, _)| *at);
            let (first, last) = (points[0], points[points.len() - 1]);
            let days = |at: i64| (at - first.0) as f64 / 86_400e3;
            let by_day: Vec<(f64, f64)> =
                points.iter().map(|(at, value)| (days(*at), *value)).collect();
            Drift {
                serial: serial.to_owned(),
                kind: kind.clone(),
                is_model: models.get(serial).copied().unwrap_or_default(),
                test: test.clone(),
                metric,
                meters: meters.to_vec(),
                runs: points.len(),
                days: days(last.0),
                values: [first.1, last.1],
                change: over_runs::change(&by_day),
            }
        })
        .collect()
}
