//! `ssdgauge fleet drift`: the change of each drive over its runs, and the drives slower than their peers.

use crate::arguments::DriftArguments;
use crate::failure::{Failure, FailureKind};
use crate::{process, run_files};
use serde::Serialize;
use ssdgauge_analysis::Run;
use ssdgauge_core::RequestPath;
use ssdgauge_core::rounded::count_of;
use ssdgauge_fleet::{
    Drift, DriveModel, DriveRun, FleetDrift, LEAST_DRIVES, NotJudged, Reason, Suspect, TestKey,
    Unjudged,
};
use ssdgauge_watch::terminal;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The reasons that are printed for a drive; JSON has all of them.
const SHOWN_REASONS: usize = 3;

/// Prints the drift of the drives of run files.
///
/// # Errors
///
/// Fails where there is no run file, and at the end where one could not be read.
pub(super) fn execute(arguments: &DriftArguments) -> Result<(), Failure> {
    let inputs = run_files::one_for_each_run(run_files::find(&arguments.sources)?);
    let mut runs: Vec<DriveRun> = Vec::new();
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    let read = |_: &Path, run: &Run| Ok(ssdgauge_fleet::drive_run(run));
    let count = run_files::for_each_run(&inputs, &read, &mut |result| match result {
        Ok(run) => runs.push(run),
        Err(reason) => *left_out.entry(reason).or_default() += 1,
    });
    // The order of the files does not count.
    runs.sort_by(|a, b| a.run_id.cmp(&b.run_id));
    let found = ssdgauge_fleet::drift(&runs);
    match arguments.json {
        true => terminal::print_document(&document(&runs, &found, &left_out)),
        false => terminal::print_text(&text(&runs, &found, &left_out)),
    }
    match inputs.len() - count {
        0 => Ok(()),
        unread => Err(Failure::new(
            FailureKind::Failed,
            format!("{unread} of {} run files could not be read", inputs.len()),
            "the messages above state why; the others were judged",
        )),
    }
}

fn text(runs: &[DriveRun], found: &FleetDrift, left_out: &BTreeMap<&str, usize>) -> String {
    let drives: BTreeSet<&str> = runs.iter().map(|run| run.serial.as_str()).collect();
    let counts = [count_of(runs.len(), "run"), count_of(drives.len(), "drive")];
    let mut lines = vec![format!("{}{}", counts.join(" of "), mark(runs))];
    lines.extend(left_out.iter().map(|(reason, count)| format!("{count} left out: {reason}")));

    lines.push("\nDrift, from the first run to the last one:".to_owned());
    if found.drifts.is_empty() {
        lines.push("  no drive has two runs of a test".to_owned());
    }
    let is_of_one_drive = |a: &Drift, b: &Drift| (&a.serial, &a.kind) == (&b.serial, &b.kind);
    let labels = labels(runs);
    for drifts in found.drifts.chunk_by(is_of_one_drive) {
        let Drift { serial, kind, is_model, .. } = &drifts[0];
        let drive = drive_text(serial, *is_model, &labels);
        lines.push(format!("  {drive}, {kind}:"));
        lines.extend(
            drifts.iter().map(|drift| format!("    {}", ssdgauge_fleet::drift_line(drift))),
        );
    }

    lines.push("\nDrives slower than their peers:".to_owned());
    if found.suspects.is_empty() {
        let word = if found.groups.is_empty() { "not judged" } else { "none" };
        lines.push(format!("  {word}"));
    }
    lines.extend(found.suspects.iter().flat_map(|suspect| suspect_lines(suspect, &labels)));

    lines.push("\nCompared:".to_owned());
    for group in &found.groups {
        let (drives, runs, bounds) = (group.drives, group.runs, group.bounds);
        lines.push(format!("  {}: {drives} drives, {runs} runs, {bounds} bounds", group.kind));
    }
    let unjudged = |one: &Unjudged| format!("  {}: not judged, {}", one.kind, one.reason);
    lines.extend(found.unjudged.iter().map(unjudged));
    lines.join("\n") + "\n"
}

fn mark(runs: &[DriveRun]) -> &'static str {
    if runs.iter().any(|run| run.is_model) { " (MODEL: with virtual drives)" } else { "" }
}

/// Returns the label of the latest run of each serial that has one.
fn labels(runs: &[DriveRun]) -> BTreeMap<&str, &str> {
    let mut latest: BTreeMap<&str, (i64, &str)> = BTreeMap::new();
    for run in runs {
        let Some(label) = &run.label else { continue };
        let known = latest.entry(&run.serial).or_insert((run.started_unix_ms, label));
        *known = (*known).max((run.started_unix_ms, label));
    }
    latest.into_iter().map(|(serial, (_, label))| (serial, label)).collect()
}

/// Returns the words for a drive: its label and serial, with the mark of a virtual one.
fn drive_text(serial: &str, is_model: bool, labels: &BTreeMap<&str, &str>) -> String {
    let mark = if is_model { "MODEL " } else { "" };
    match labels.get(serial) {
        Some(label) => format!("{mark}{label} ({serial})"),
        None => format!("{mark}{serial}"),
    }
}

fn suspect_lines(suspect: &Suspect, labels: &BTreeMap<&str, &str>) -> Vec<String> {
    let Suspect { serial, kind, is_model, slow, judged, .. } = suspect;
    let drive = drive_text(serial, *is_model, labels);
    let mut lines = vec![format!("  {drive}, {kind}: {slow} of {judged} steps beyond the bound")];
    let reasons = suspect.reasons.iter().take(SHOWN_REASONS);
    lines.extend(reasons.map(|reason| format!("    {}/{reason}", reason.test.suite)));
    lines
}

/// `fleet drift --json`.
#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    /// `MODEL` where a run is one of a virtual drive.
    marks: Vec<&'static str>,
    /// The runs that were judged.
    runs: usize,
    /// Their drives.
    drives: usize,
    /// The runs that were not.
    left_out: Vec<LeftOut<'a>>,
    /// The change of each number of each drive.
    drift: Vec<DriftRow<'a>>,
    /// The drives slower than their peers.
    suspects: Vec<SuspectRow<'a>>,
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

fn document<'a>(
    runs: &'a [DriveRun],
    found: &'a FleetDrift,
    left_out: &BTreeMap<&'a str, usize>,
) -> Document<'a> {
    let drives: BTreeSet<&str> = runs.iter().map(|run| run.serial.as_str()).collect();
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
        reasons: suspect.reasons.iter().map(reason).collect(),
    });
    let groups = found.groups.iter().map(|group| GroupRow {
        drive: model(&group.kind),
        drives: group.drives,
        runs: group.runs,
        bounds: group.bounds,
    });
    Document {
        schema_version: 1,
        marks: runs.iter().any(|run| run.is_model).then_some("MODEL").into_iter().collect(),
        runs: runs.len(),
        drives: drives.len(),
        left_out: left_out.collect(),
        drift: found.drifts.iter().map(|drift| drift_row(drift, label(&drift.serial))).collect(),
        suspects: suspects.collect(),
        groups: groups.collect(),
        not_judged: found.unjudged.iter().map(unjudged).collect(),
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

fn reason(reason: &Reason) -> ReasonRow<'_> {
    ReasonRow {
        run: &reason.run_id,
        started: process::iso_time(reason.started_unix_ms),
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
