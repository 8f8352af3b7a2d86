//! The drift of drives as JSON.

use crate::{
    Drift, DriveModel, DriveRun, FleetDrift, LEAST_DRIVES, NotJudged, Reason, TestKey, Trouble,
    Unjudged,
};
use serde::Serialize;
use ssdgauge_core::{FindingKind, RequestPath};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the label of the latest run of each serial that has one.
pub fn labels(runs: &[DriveRun]) -> BTreeMap<&str, &str> {
    let mut latest: BTreeMap<&str, (i64, &str)> = BTreeMap::new();
    for run in runs {
        let Some(label) = &run.label else { continue };
        let known = latest.entry(&run.serial).or_insert((run.started_unix_ms, label));
        *known = (*known).max((run.started_unix_ms, label));
    }
    latest.into_iter().map(|(serial, (_, label))| (serial, label)).collect()
}

/// `fleet drift --json`.
#[derive(Serialize)]
pub struct Document<'a> {
    schema_version: u32,
    /// `MODEL` where a run is one of a virtual drive.
    marks: Vec<&'static str>,
    /// The runs that were judged.
    runs: usize,
    /// Their drives.
    drives: usize,
    /// The runs that were not.
    left_out: Vec<LeftOut<'a>>,
    /// Runs to look at before any speed: faults of the drive, failed, invalid and disturbed runs.
    troubles: Vec<TroubleRow<'a>>,
    /// The change of each number of each drive.
    drift: Vec<DriftRow<'a>>,
    /// The drives slower than their peers.
    suspects: Vec<SuspectRow<'a>>,
    /// What held drives back: heat or their link.
    held_back: Vec<HeldBackRow<'a>>,
    /// The groups that were judged.
    groups: Vec<GroupRow<'a>>,
    /// Groups, or loads of them, that were not.
    not_judged: Vec<UnjudgedRow<'a>>,
}

/// Runs that were left out.
#[derive(Serialize)]
struct LeftOut<'a> {
    reason: &'a str,
    runs: usize,
}

/// A run to look at before any speed.
#[derive(Serialize)]
struct TroubleRow<'a> {
    /// The serial; the id of the run of a drive without one.
    serial: &'a str,
    label: Option<&'a str>,
    model: &'a str,
    /// `MODEL` for a virtual drive.
    model_data: Option<&'static str>,
    run: &'a str,
    started: String,
    /// `failed`, `faults`, `invalid` or `disturbed`.
    kind: &'static str,
    /// What the run observed of the drive, the gravest first.
    faults: Vec<FaultRow<'a>>,
    /// The same and the end of the run in words.
    words: &'a [String],
}

/// What a run observed of its drive.
#[derive(Serialize)]
struct FaultRow<'a> {
    /// The key of the findings; null for a capacity that was not proved.
    finding: Option<&'static str>,
    text: &'a str,
    findings: usize,
}

/// The drives of one model and firmware.
#[derive(Serialize)]
struct Model<'a> {
    model: &'a str,
    firmware: &'a str,
    capacity_bytes: u64,
    /// That of a virtual drive.
    model_revision: &'a str,
}

/// The change of one number from the first run of a drive to the last one.
#[derive(Serialize)]
struct DriftRow<'a> {
    serial: &'a str,
    label: Option<&'a str>,
    drive: Model<'a>,
    suite: &'a str,
    test: &'a str,
    conditions: Conditions,
    /// The key of the metric.
    metric: &'static str,
    /// The power meters that it comes from.
    meters: &'a [String],
    /// The runs of the test.
    runs: usize,
    /// The days from the first to the last one.
    days: f64,
    first: f64,
    last: f64,
    /// Last ÷ first - 1; null where it is not known.
    change: Option<f64>,
    /// The lower end of its 95 % interval.
    low: Option<f64>,
    /// The upper end.
    high: Option<f64>,
    /// Whether the whole interval is a loss.
    worse: bool,
}

/// What separates tests of one id.
#[derive(Serialize)]
struct Conditions {
    suite_revision: u32,
    test_revision: u32,
    shortened: u32,
    span_scaled: bool,
    polled: bool,
    pass_through: bool,
}

/// A drive slower than its peers.
#[derive(Serialize)]
struct SuspectRow<'a> {
    serial: &'a str,
    label: Option<&'a str>,
    drive: Model<'a>,
    /// `MODEL` for a virtual drive.
    model_data: Option<&'static str>,
    slow_steps: usize,
    judged_steps: usize,
    reasons: Vec<ReasonRow<'a>>,
}

/// What held a drive back.
#[derive(Serialize)]
struct HeldBackRow<'a> {
    serial: &'a str,
    label: Option<&'a str>,
    drive: Model<'a>,
    /// `MODEL` for a virtual drive.
    model_data: Option<&'static str>,
    run: &'a str,
    /// The key of the finding.
    finding: Option<&'static str>,
    text: &'a str,
    /// The drives of its kind with the same finding in the same suite, itself included.
    drives_with: usize,
    /// The drives of its kind that ran this suite.
    drives: usize,
    /// Whether fewer than half of them have it.
    unlike_peers: bool,
}

/// A step in which a drive was slow.
#[derive(Serialize)]
struct ReasonRow<'a> {
    run: &'a str,
    started: String,
    suite: &'a str,
    test: &'a str,
    step: &'a str,
    direction: &'static str,
    metric: &'static str,
    iops: f64,
    latency_us: f64,
    /// The latency of its peers at these IOPS.
    expected_us: f64,
    /// The latency above which a drive is slow.
    bound_us: f64,
    /// The peers.
    drives: usize,
}

/// Drives of one model that were judged.
#[derive(Serialize)]
struct GroupRow<'a> {
    drive: Model<'a>,
    drives: usize,
    runs: usize,
    /// The regressions.
    bounds: usize,
}

/// Drives of one model, or loads of them, that were not judged.
#[derive(Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum UnjudgedRow<'a> {
    /// Too few drives ran the test.
    FewDrives { drive: Model<'a>, drives: usize, needed: usize },
    /// Too few drives are near each other.
    Outliers { drive: Model<'a>, loads: usize, latencies: usize, near: usize, needed: usize },
}

/// Returns the document about `runs`, their `troubles` and what was `found` about them. `left_out` has the runs without a verdict by their
/// reason, `time` writes milliseconds since 1970 (UTC).
pub fn document<'a>(
    runs: &'a [DriveRun],
    troubles: &'a [Trouble],
    found: &'a FleetDrift,
    left_out: &BTreeMap<&'a str, usize>,
    time: &dyn Fn(i64) -> String,
) -> Document<'a> {
    let drives: BTreeSet<&str> = runs.iter().map(|run| run.serial.as_str()).collect();
    let mut of_model = runs.iter().map(|run| run.is_model);
    let is_model = of_model.any(|is_model| is_model) || troubles.iter().any(|one| one.is_model);
    let labels = labels(runs);
    let label = |serial: &String| labels.get(serial.as_str()).copied();
    let left_out = left_out.iter().map(|(reason, runs)| LeftOut { reason, runs: *runs });
    let suspects = found.suspects.iter().map(|suspect| SuspectRow {
        serial: &suspect.serial,
        label: label(&suspect.serial),
        drive: model(&suspect.kind),
        model_data: suspect.is_model.then_some("MODEL"),
        slow_steps: suspect.slow,
        judged_steps: suspect.judged,
        reasons: suspect.reasons.iter().map(|one| reason(one, time)).collect(),
    });
    let held_back = found.held_back.iter().map(|one| HeldBackRow {
        serial: &one.serial,
        label: label(&one.serial),
        drive: model(&one.kind),
        model_data: one.is_model.then_some("MODEL"),
        run: &one.run_id,
        finding: one.fault.kind.map(FindingKind::key),
        text: &one.fault.text,
        drives_with: one.with,
        drives: one.of,
        unlike_peers: one.is_unlike_peers(),
    });
    let groups = found.groups.iter().map(|group| GroupRow {
        drive: model(&group.kind),
        drives: group.drives,
        runs: group.runs,
        bounds: group.bounds,
    });
    Document {
        schema_version: 1,
        marks: is_model.then_some("MODEL").into_iter().collect(),
        runs: runs.len(),
        drives: drives.len(),
        left_out: left_out.collect(),
        troubles: troubles.iter().map(|one| trouble_row(one, time)).collect(),
        drift: found.drifts.iter().map(|drift| drift_row(drift, label(&drift.serial))).collect(),
        suspects: suspects.collect(),
        held_back: held_back.collect(),
        groups: groups.collect(),
        not_judged: found.unjudged.iter().map(unjudged).collect(),
    }
}

fn trouble_row<'a>(trouble: &'a Trouble, time: &dyn Fn(i64) -> String) -> TroubleRow<'a> {
    let faults = trouble.faults.iter().map(|fault| FaultRow {
        finding: fault.kind.map(FindingKind::key),
        text: &fault.text,
        findings: fault.findings,
    });
    TroubleRow {
        serial: &trouble.drive,
        label: trouble.label.as_deref(),
        model: &trouble.model,
        model_data: trouble.is_model.then_some("MODEL"),
        run: &trouble.run_id,
        started: time(trouble.started_unix_ms),
        kind: trouble.kind.name(),
        faults: faults.collect(),
        words: &trouble.words,
    }
}

fn model(kind: &DriveModel) -> Model<'_> {
    Model {
        model: &kind.model,
        firmware: &kind.firmware,
        capacity_bytes: kind.capacity,
        model_revision: &kind.model_revision,
    }
}

fn drift_row<'a>(drift: &'a Drift, label: Option<&'a str>) -> DriftRow<'a> {
    DriftRow {
        serial: &drift.serial,
        label,
        drive: model(&drift.kind),
        suite: &drift.test.suite,
        test: &drift.test.test,
        conditions: conditions(&drift.test),
        metric: drift.metric.key(),
        meters: &drift.meters,
        runs: drift.runs,
        days: drift.days,
        first: drift.values[0],
        last: drift.values[1],
        change: drift.change.map(|change| change.value),
        low: drift.change.map(|change| change.low),
        high: drift.change.map(|change| change.high),
        worse: drift.is_worse(),
    }
}

fn unjudged(group: &Unjudged) -> UnjudgedRow<'_> {
    let drive = model(&group.kind);
    match &group.reason {
        NotJudged::FewDrives { most } => {
            UnjudgedRow::FewDrives { drive, drives: *most, needed: LEAST_DRIVES }
        }
        NotJudged::Outliers { loads, worst } => UnjudgedRow::Outliers {
            drive,
            loads: *loads,
            latencies: worst.points,
            near: worst.near,
            needed: worst.needed,
        },
    }
}

fn conditions(test: &TestKey) -> Conditions {
    Conditions {
        suite_revision: test.suite_revision,
        test_revision: test.test_revision,
        shortened: test.shortened,
        span_scaled: test.is_span_scaled,
        polled: test.path == RequestPath::Polled,
        pass_through: test.path == RequestPath::PassThrough,
    }
}

fn reason<'a>(reason: &'a Reason, time: &dyn Fn(i64) -> String) -> ReasonRow<'a> {
    ReasonRow {
        run: &reason.run_id,
        started: time(reason.started_unix_ms),
        suite: &reason.test.suite,
        test: &reason.test.test,
        step: &reason.step,
        direction: reason.direction.name(),
        metric: reason.metric.key(),
        iops: reason.iops,
        latency_us: reason.latency_us,
        expected_us: reason.expected_us,
        bound_us: reason.bound_us,
        drives: reason.drives,
    }
}
