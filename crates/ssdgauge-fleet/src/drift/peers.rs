//! The latency of a drive beside that of the other drives of its model and firmware.

use super::drive_run::{DriveModel, DriveRun, Latency, TestKey};
use ssdgauge_core::statistics::prediction_bound::PredictionBound;
use ssdgauge_core::statistics::summary::percentile;
use ssdgauge_core::{Direction, Metric};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The drives without which nothing is judged: half of them has to be in order, and a bound at 0.1 % of
/// fewer than seven drives is more than five standard deviations away.
pub const LEAST_DRIVES: usize = 7;

/// A spread between drives below 1 % is taken as 1 %: no drive is suspect for less than some 4 %.
const LEAST_SIGMA: f64 = 0.01;

/// The degree of the polynomial of ln latency on ln throughput.
const DEGREE: usize = 2;

/// The slow steps that make a drive suspect.
const LEAST_SLOW: usize = 2;

/// The drives of one model and firmware.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Model and firmware.
    pub kind: DriveModel,
    /// The drives.
    pub drives: usize,
    /// Their runs.
    pub runs: usize,
    /// The regressions.
    pub bounds: usize,
}

/// A group, or one load of it, that was not judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Unjudged {
    /// Model and firmware.
    pub kind: DriveModel,
    /// The most drives that have a load in common.
    pub drives: usize,
}

/// A drive that is slower than its peers.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The drive.
    pub serial: String,
    /// Its model and firmware.
    pub kind: DriveModel,
    /// Whether it is a virtual drive.
    pub is_model: bool,
    /// The steps that are beyond their bound in the latest run, and the steps that were judged.
    pub slow: usize,
    /// The steps of the latest run that have a bound.
    pub judged: usize,
    /// Each of them, the farthest from what is expected first.
    pub reasons: Vec<Reason>,
}

/// A latency beyond its bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The run.
    pub run_id: String,
    /// Its start, in milliseconds since 1970.
    pub started_unix_ms: i64,
    /// The test.
    pub test: TestKey,
    /// The label of the step.
    pub step: String,
    /// The direction.
    pub direction: Direction,
    /// The metric.
    pub metric: Metric,
    /// Requests per second of the drive.
    pub iops: f64,
    /// The latency, in microseconds.
    pub latency_us: f64,
    /// The latency of its peers at this load, in microseconds.
    pub expected_us: f64,
    /// The latency that one healthy drive of a thousand exceeds, in microseconds.
    pub bound_us: f64,
    /// The drives of the regression.
    pub drives: usize,
}

/// What the comparison of the drives shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Peers {
    pub(super) suspects: Vec<Suspect>,
    pub(super) groups: Vec<Group>,
    pub(super) unjudged: Vec<Unjudged>,
}

/// One latency with the run that it is of.
type Observed<'a> = (&'a DriveRun, &'a Latency);

/// The step that a latency is of, whatever its metric.
type Step<'a> = (&'a TestKey, &'a str, Direction);

/// Judges each drive by the others of its model and firmware.
pub(super) fn judge(runs: &[DriveRun]) -> Peers {
    let mut kinds: BTreeMap<&DriveModel, Vec<&DriveRun>> = BTreeMap::new();
    for run in runs {
        kinds.entry(&run.kind).or_default().push(run);
    }
    let mut peers = Peers::default();
    for (kind, runs) in kinds {
        let (drives, most, bounds) = judge_kind(&runs, &mut peers.suspects);
        match bounds {
            0 => peers.unjudged.push(Unjudged { kind: kind.clone(), drives: most }),
            _ => peers.groups.push(Group { kind: kind.clone(), drives, runs: runs.len(), bounds }),
        }
    }
    let ratio = |suspect: &Suspect| {
        suspect.reasons.first().map_or(0.0, |reason| reason.latency_us / reason.expected_us)
    };
    peers.suspects.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    peers
}

/// Judges the drives of one kind. Returns their number, the most of them with a load in common, and the
/// number of regressions.
fn judge_kind(runs: &[&DriveRun], suspects: &mut Vec<Suspect>) -> (usize, usize, usize) {
    let mut loads: BTreeMap<(&TestKey, Direction, &str, Metric), Vec<Observed<'_>>> =
        BTreeMap::new();
    for run in runs {
        for latency in &run.latencies {
            let load = (&latency.test, latency.direction, latency.load.as_str(), latency.metric);
            loads.entry(load).or_default().push((run, latency));
        }
    }
    let (mut most, mut bounds) = (0, 0);
    let mut slow: BTreeMap<&str, Vec<(Step<'_>, Reason)>> = BTreeMap::new();
    let mut judged: BTreeMap<&str, BTreeSet<Step<'_>>> = BTreeMap::new();
    for observed in loads.values() {
        let serials: BTreeSet<&str> = observed.iter().map(|(run, _)| run.serial.as_str()).collect();
        most = most.max(serials.len());
        if serials.len() < LEAST_DRIVES {
            continue;
        }
        let Some(bound) = PredictionBound::fit(&points(observed), DEGREE, LEAST_SIGMA) else {
            continue;
        };
        bounds += 1;
        for (run, latency) in latest(observed) {
            let step = (&latency.test, latency.step.as_str(), latency.direction);
            judged.entry(&run.serial).or_default().insert(step);
            if latency.latency > bound.upper(latency.throughput) {
                let reason = reason(run, latency, &bound, serials.len());
                slow.entry(&run.serial).or_default().push((step, reason));
            }
        }
    }
    let drives: BTreeMap<&str, &DriveRun> =
        runs.iter().map(|run| (run.serial.as_str(), *run)).collect();
    for (serial, found) in slow {
        let steps: BTreeSet<&Step<'_>> = found.iter().map(|(step, _)| step).collect();
        if steps.len() < LEAST_SLOW {
            continue;
        }
        let slow = steps.len();
        let mut reasons: Vec<Reason> = found.into_iter().map(|(_, reason)| reason).collect();
        let ratio = |reason: &Reason| reason.latency_us / reason.expected_us;
        reasons.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        suspects.push(Suspect {
            serial: serial.to_owned(),
            kind: drives[serial].kind.clone(),
            is_model: drives[serial].is_model,
            slow,
            judged: judged[serial].len(),
            reasons,
        });
    }
    (drives.len(), most, bounds)
}

/// Returns one point for each drive and step: the medians over its runs, because the runs of one drive are
/// not independent.
fn points(observed: &[Observed<'_>]) -> Vec<(f64, f64)> {
    let mut each: BTreeMap<(&str, &str), Vec<&Latency>> = BTreeMap::new();
    for (run, latency) in observed {
        each.entry((&run.serial, &latency.step)).or_default().push(latency);
    }
    let median = |of_drive: &[&Latency], value: fn(&Latency) -> f64| {
        let values: Vec<f64> = of_drive.iter().map(|latency| value(latency)).collect();
        percentile(&values, 0.5)
    };
    let point = |of_drive: &Vec<&Latency>| {
        Some((median(of_drive, |one| one.throughput)?, median(of_drive, |one| one.latency)?))
    };
    each.values().filter_map(point).collect()
}

/// Returns what was measured in the latest run of each drive.
fn latest<'a>(observed: &[Observed<'a>]) -> Vec<Observed<'a>> {
    let mut latest: BTreeMap<(&str, &str), Observed<'a>> = BTreeMap::new();
    let mut sorted = observed.to_vec();
    sorted.sort_by_key(|(run, _)| Reverse(run.started_unix_ms));
    for one in sorted {
        latest.entry((&one.0.serial, &one.1.step)).or_insert(one);
    }
    latest.into_values().collect()
}

fn reason(run: &DriveRun, latency: &Latency, bound: &PredictionBound, drives: usize) -> Reason {
    Reason {
        run_id: run.run_id.clone(),
        started_unix_ms: run.started_unix_ms,
        test: latency.test.clone(),
        step: latency.step.clone(),
        direction: latency.direction,
        metric: latency.metric,
        iops: latency.iops,
        latency_us: latency.latency.exp(),
        expected_us: bound.expected(latency.throughput).exp(),
        bound_us: bound.upper(latency.throughput).exp(),
        drives,
    }
}
