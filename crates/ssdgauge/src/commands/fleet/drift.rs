//! `ssdgauge fleet drift`: the change of each drive over its runs, and the drives slower than their peers.

use crate::arguments::DriftArguments;
use crate::failure::{Failure, FailureKind};
use crate::{process, run_files, terminal};
use serde_json::{Value, json};
use ssdgauge_analysis::Run;
use ssdgauge_core::rounded::count_of;
use ssdgauge_core::{Estimate, RequestPath};
use ssdgauge_fleet::{
    Drift, DriveModel, DriveRun, FleetDrift, LEAST_DRIVES, NotJudged, Reason, Suspect, TestKey,
    Unjudged,
};
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
        true => terminal::print_json(&as_json(&runs, &found, &left_out)),
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
        lines.extend(drifts.iter().map(|drift| format!("    {}", drift_line(drift))));
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

pub(super) fn drift_line(drift: &Drift) -> String {
    let percent = |share: f64| format!("{:+.1} %", 100.0 * share);
    let change = match drift.change {
        None => "no interval below 3 runs at different times".to_owned(),
        Some(Estimate { value, low, high }) => {
            let word = if drift.is_worse() { ", worse" } else { "" };
            format!("{} ({} to {}){word}", percent(value), percent(low), percent(high))
        }
    };
    let Drift { test, metric, runs, days, values: [first, last], .. } = drift;
    let by = match drift.meters.as_slice() {
        [] => String::new(),
        meters => format!(" by {}", meters.join(", ")),
    };
    format!(
        "{test} {}{by}: {} to {}, {runs} runs in {days:.1} days, {change}",
        metric.key(),
        metric.about(*first),
        metric.about(*last),
    )
}

fn suspect_lines(suspect: &Suspect, labels: &BTreeMap<&str, &str>) -> Vec<String> {
    let Suspect { serial, kind, is_model, slow, judged, .. } = suspect;
    let drive = drive_text(serial, *is_model, labels);
    let mut lines = vec![format!("  {drive}, {kind}: {slow} of {judged} steps beyond the bound")];
    let reasons = suspect.reasons.iter().take(SHOWN_REASONS);
    lines.extend(reasons.map(|reason| format!("    {}/{reason}", reason.test.suite)));
    lines
}

fn as_json(runs: &[DriveRun], found: &FleetDrift, left_out: &BTreeMap<&str, usize>) -> Value {
    let kind = |kind: &DriveModel| {
        json!({ "model": kind.model, "firmware": kind.firmware, "capacity_bytes": kind.capacity,
                "model_revision": kind.model_revision })
    };
    let drives: BTreeSet<&str> = runs.iter().map(|run| run.serial.as_str()).collect();
    let labels = labels(runs);
    json!({
        "schema_version": 1,
        "marks": runs.iter().any(|run| run.is_model).then_some("MODEL").into_iter().collect::<Vec<_>>(),
        "runs": runs.len(),
        "drives": drives.len(),
        "left_out": left_out.iter().map(|(reason, count)| json!({ "reason": reason, "runs": count }))
            .collect::<Vec<_>>(),
        "drift": found.drifts.iter().map(|drift| json!({
            "serial": drift.serial,
            "label": labels.get(drift.serial.as_str()),
            "drive": kind(&drift.kind),
            "suite": drift.test.suite,
            "test": drift.test.test,
            "conditions": conditions_json(&drift.test),
            "metric": drift.metric.key(),
            "meters": drift.meters,
            "runs": drift.runs,
            "days": drift.days,
            "first": drift.values[0],
            "last": drift.values[1],
            "change": drift.change.map(|change| change.value),
            "low": drift.change.map(|change| change.low),
            "high": drift.change.map(|change| change.high),
            "worse": drift.is_worse(),
        })).collect::<Vec<_>>(),
        "suspects": found.suspects.iter().map(|suspect| json!({
            "serial": suspect.serial,
            "label": labels.get(suspect.serial.as_str()),
            "drive": kind(&suspect.kind),
            "model_data": suspect.is_model.then_some("MODEL"),
            "slow_steps": suspect.slow,
            "judged_steps": suspect.judged,
            "reasons": suspect.reasons.iter().map(reason_json).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "groups": found.groups.iter().map(|group| json!({
            "drive": kind(&group.kind),
            "drives": group.drives,
            "runs": group.runs,
            "bounds": group.bounds,
        })).collect::<Vec<_>>(),
        "not_judged": found.unjudged.iter().map(|group| match &group.reason {
            NotJudged::FewDrives { most } => json!({
                "drive": kind(&group.kind),
                "reason": "few-drives",
                "drives": most,
                "needed": LEAST_DRIVES,
            }),
            NotJudged::Outliers { loads, worst } => json!({
                "drive": kind(&group.kind),
                "reason": "outliers",
                "loads": loads,
                "latencies": worst.points,
                "near": worst.near,
                "needed": worst.needed,
            }),
        }).collect::<Vec<_>>(),
    })
}

/// What separates tests of one id.
fn conditions_json(test: &TestKey) -> Value {
    json!({
        "suite_revision": test.suite_revision,
        "test_revision": test.test_revision,
        "shortened": test.shortened,
        "span_scaled": test.is_span_scaled,
        "polled": test.path == RequestPath::Polled,
        "pass_through": test.path == RequestPath::PassThrough,
    })
}

fn reason_json(reason: &Reason) -> Value {
    json!({
        "run": reason.run_id,
        "started": process::iso_time(reason.started_unix_ms),
        "suite": reason.test.suite,
        "test": reason.test.test,
        "step": reason.step,
        "direction": reason.direction.name(),
        "metric": reason.metric.key(),
        "iops": reason.iops,
        "latency_us": reason.latency_us,
        "expected_us": reason.expected_us,
        "bound_us": reason.bound_us,
        "drives": reason.drives,
    })
}
