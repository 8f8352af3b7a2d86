//! The latency of a drive compared with that of the other drives of its model and firmware.

use super::drive_run::{DriveModel, DriveRun, Latency, TestKey};
use ssdgauge_core::rounded::{self, count_of};
use ssdgauge_core::{Direction, Metric};
use ssdgauge_statistics::prediction_bound::{NoBound, PredictionBound};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The drives without which nothing is judged: a bound at 0.1 % of fewer than seven drives is more than five
/// standard deviations away. Six of them have to be near each other, so that one may be an outlier.
pub const LEAST_DRIVES: usize = 7;

/// A spread between drives below 1 % is taken as 1 %: no drive is suspect for less than some 4 %.
const LEAST_SIGMA: f64 = 0.01;

/// The degree of the polynomial of ln latency on ln throughput.
const DEGREE: usize = 2;

/// The slow steps that make a drive suspect.
const LEAST_SLOW: usize = 2;

/// One step makes a drive suspect where its mean latency is beyond the bound by this factor, in logarithms: more than nine
/// standard deviations. Chosen: a whole-drive fill, in which heat shows, is one step. The 99th percentile of a short burst
/// does not count: of ten healthy virtual drives it was as far beyond on two.
const FAR: f64 = 3.0;

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

/// A group, or some loads of it, that were not judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Unjudged {
    /// Model and firmware.
    pub kind: DriveModel,
    /// The reason.
    pub reason: NotJudged,
}

/// The reason why drives were not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotJudged {
    /// No load is one of [`LEAST_DRIVES`] drives.
    FewDrives {
        /// The maximum number of drives that have a load in common.
        most: usize,
    },
    /// Too few latencies are near each other, so that they are not a measure for the others.
    Outliers {
        /// The loads.
        loads: usize,
        /// The load with the fewest latencies near each other.
        worst: NoBound,
    },
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
    /// The steps of the latest run that are beyond their bound.
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

/// One latency of all drives of a kind, each against what is expected of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// Model and firmware.
    pub kind: DriveModel,
    /// The test.
    pub test: TestKey,
    /// The label of the step.
    pub step: String,
    /// The direction.
    pub direction: Direction,
    /// The metric.
    pub metric: Metric,
    /// The drives, from the fastest to the slowest.
    pub places: Vec<Place>,
}

impl Strip {
    /// Returns how far the slowest drive is beyond its bound, as a multiple of the bound; 0 without a drive.
    pub fn farthest(&self) -> f64 {
        self.places.iter().map(Place::of_bound).fold(0.0, f64::max)
    }
}

/// One drive of a strip.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The drive.
    pub serial: String,
    /// Its latency, in microseconds.
    pub latency_us: f64,
    /// How much longer that is than expected, as a share: 0.1 is a tenth longer.
    pub excess: f64,
    /// The excess that one healthy drive of a thousand has.
    pub bound: f64,
}

impl Place {
    /// Returns the logarithm of the latency against what is expected, in units of that of the bound: above 1 is beyond.
    pub fn of_bound(&self) -> f64 {
        self.excess.ln_1p() / self.bound.ln_1p()
    }
}

impl Reason {
    /// Returns whether this one step makes its drive suspect.
    fn is_far(&self) -> bool {
        self.metric == Metric::LatMeanUs
            && (self.latency_us / self.expected_us).ln()
                > FAR * (self.bound_us / self.expected_us).ln()
    }
}

impl fmt::Display for NotJudged {
    /// Writes the reason as a clause, such as `2 drives with the same load; 7 are needed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotJudged::FewDrives { most: 0 } => {
                write!(f, "no latencies; {LEAST_DRIVES} drives are needed")
            }
            NotJudged::FewDrives { most } => {
                let most = count_of(*most, "drive");
                write!(f, "{most} with the same load; {LEAST_DRIVES} are needed")
            }
            NotJudged::Outliers { worst: NoBound { points, near, needed }, .. } => write!(
                f,
                "too many outliers: {near} of {points} latencies are near each other; {needed} are needed"
            ),
        }
    }
}

impl fmt::Display for Reason {
    /// Writes the latency with its bound in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [is, expected, bound] =
            [self.latency_us, self.expected_us, self.bound_us].map(rounded::latency);
        let (test, step) = (&self.test.test, &self.step);
        let (direction, metric) = (self.direction.name(), self.metric.title().to_lowercase());
        let drives = count_of(self.drives, "drive");
        write!(
            f,
            "{test}, {step}: {metric} of {direction}s {is}, where {expected} is expected from {drives} and \
             {bound} is the bound"
        )
    }
}

/// What the comparison of the drives shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Peers {
    pub(super) suspects: Vec<Suspect>,
    pub(super) steps: BTreeMap<String, (usize, usize)>,
    pub(super) groups: Vec<Group>,
    pub(super) unjudged: Vec<Unjudged>,
    pub(super) strips: Vec<Strip>,
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
        let Judged { drives, most, bounds, none } = judge_kind(&runs, &mut peers);
        if bounds > 0 {
            peers.groups.push(Group { kind: kind.clone(), drives, runs: runs.len(), bounds });
        }
        let worst = none.iter().copied().min_by_key(|load| load.near);
        let outliers = worst.map(|worst| NotJudged::Outliers { loads: none.len(), worst });
        let few = (bounds == 0).then_some(NotJudged::FewDrives { most });
        let reason = outliers.or(few);
        peers.unjudged.extend(reason.map(|reason| Unjudged { kind: kind.clone(), reason }));
    }
    let ratio = |suspect: &Suspect| {
        suspect.reasons.first().map_or(0.0, |reason| reason.latency_us / reason.expected_us)
    };
    peers.suspects.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    peers
}

/// What was judged of the drives of one kind.
struct Judged {
    drives: usize,
    /// The maximum number of drives with a load in common.
    most: usize,
    /// The regressions.
    bounds: usize,
    /// The loads of enough drives without a regression.
    none: Vec<NoBound>,
}

/// Judges the drives of one kind.
fn judge_kind(runs: &[&DriveRun], peers: &mut Peers) -> Judged {
    let mut loads: BTreeMap<(&TestKey, Direction, &str, Metric), Vec<Observed<'_>>> =
        BTreeMap::new();
    for run in runs {
        for latency in &run.latencies {
            let load = (&latency.test, latency.direction, latency.load.as_str(), latency.metric);
            loads.entry(load).or_default().push((run, latency));
        }
    }
    let drives = latest_runs(runs.iter().copied());
    let mut found = Judged { drives: drives.len(), most: 0, bounds: 0, none: Vec::new() };
    let mut slow: BTreeMap<&str, Vec<(Step<'_>, Reason)>> = BTreeMap::new();
    let mut judged: BTreeMap<&str, BTreeSet<Step<'_>>> = BTreeMap::new();
    for observed in loads.values() {
        let observed = latest(observed);
        let serials: BTreeSet<&str> = observed.iter().map(|(run, _)| run.serial.as_str()).collect();
        found.most = found.most.max(serials.len());
        if serials.len() < LEAST_DRIVES {
            continue;
        }
        let bound = match bound(&observed) {
            Ok(bound) => bound,
            Err(none) => {
                found.none.push(none);
                continue;
            }
        };
        found.bounds += 1;
        peers.strips.extend(strips_of(&observed, &bound));
        let is_judged = |(run, _): &&Observed<'_>| drives[run.serial.as_str()].run_id == run.run_id;
        for (run, latency) in observed.iter().filter(is_judged) {
            let step = (&latency.test, latency.step.as_str(), latency.direction);
            judged.entry(&run.serial).or_default().insert(step);
            if latency.latency > bound.upper(latency.throughput) {
                let reason = reason(run, latency, &bound, serials.len());
                slow.entry(&run.serial).or_default().push((step, reason));
            }
        }
    }
    peers.steps.extend(judged.iter().map(|(serial, steps)| (serial.to_string(), (0, steps.len()))));
    for (serial, found) in slow {
        let steps: BTreeSet<&Step<'_>> = found.iter().map(|(step, _)| step).collect();
        let slow = steps.len();
        peers.steps.insert(serial.to_owned(), (slow, judged[serial].len()));
        if slow < LEAST_SLOW && !found.iter().any(|(_, reason)| reason.is_far()) {
            continue;
        }
        let mut reasons: Vec<Reason> = found.into_iter().map(|(_, reason)| reason).collect();
        let ratio = |reason: &Reason| reason.latency_us / reason.expected_us;
        reasons.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        peers.suspects.push(Suspect {
            serial: serial.to_owned(),
            kind: drives[serial].kind.clone(),
            is_model: drives[serial].is_model,
            slow,
            judged: judged[serial].len(),
            reasons,
        });
    }
    found
}

/// Returns the latencies of each step of one load against its bound.
fn strips_of(observed: &[Observed<'_>], bound: &PredictionBound) -> Vec<Strip> {
    let mut steps: BTreeMap<&str, Vec<Observed<'_>>> = BTreeMap::new();
    for one in observed {
        steps.entry(one.1.step.as_str()).or_default().push(*one);
    }
    let strip = |of_step: Vec<Observed<'_>>| {
        let place = |(run, latency): &Observed<'_>| {
            let [expected, upper] =
                [bound.expected(latency.throughput), bound.upper(latency.throughput)];
            Place {
                serial: run.serial.clone(),
                latency_us: latency.latency.exp(),
                excess: (latency.latency - expected).exp_m1(),
                bound: (upper - expected).exp_m1(),
            }
        };
        let mut places: Vec<Place> = of_step.iter().map(place).collect();
        places.sort_by(|a, b| a.excess.total_cmp(&b.excess));
        let (run, latency) = of_step.first()?;
        Some(Strip {
            kind: run.kind.clone(),
            test: latency.test.clone(),
            step: latency.step.clone(),
            direction: latency.direction,
            metric: latency.metric,
            places,
        })
    };
    steps.into_values().filter_map(strip).collect()
}

/// Returns the latest run of each drive; of runs that started at one time, the one with the last id.
pub(super) fn latest_runs<'a>(
    runs: impl Iterator<Item = &'a DriveRun>,
) -> BTreeMap<&'a str, &'a DriveRun> {
    let mut latest: BTreeMap<&str, &DriveRun> = BTreeMap::new();
    for run in runs {
        let order = |run: &'a DriveRun| (run.started_unix_ms, run.run_id.as_str());
        let of_drive = latest.entry(&run.serial).or_insert(run);
        if order(run) > order(of_drive) {
            *of_drive = run;
        }
    }
    latest
}

/// Returns what was measured in one run of each drive, the latest one that has this load.
///
/// The bound judges single runs, so it is fitted to single runs: their variance is that between drives and
/// that between the runs of one drive together, and medians of many runs have only the first one.
fn latest<'a>(observed: &[Observed<'a>]) -> Vec<Observed<'a>> {
    let runs = latest_runs(observed.iter().map(|(run, _)| *run));
    let mut latest: BTreeMap<(&str, &str), Observed<'a>> = BTreeMap::new();
    for one in observed {
        let (run, latency) = *one;
        if runs[run.serial.as_str()].run_id == run.run_id {
            latest.entry((&run.serial, &latency.step)).or_insert(*one);
        }
    }
    latest.into_values().collect()
}

/// Returns the bound of one load. The degree follows from its steps, because measured rates of one step
/// differ from drive to drive.
fn bound(observed: &[Observed<'_>]) -> Result<PredictionBound, NoBound> {
    let points: Vec<(f64, f64)> =
        observed.iter().map(|(_, latency)| (latency.throughput, latency.latency)).collect();
    let steps: BTreeSet<&str> = observed.iter().map(|(_, latency)| latency.step.as_str()).collect();
    PredictionBound::fit(&points, DEGREE, steps.len(), LEAST_SIGMA)
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

#[cfg(test)]
mod tests;
