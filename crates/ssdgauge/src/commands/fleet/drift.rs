//! `ssdgauge fleet drift`: the change of each drive over its runs, and the drives slower than their peers.

use crate::arguments::DriftArguments;
use crate::failure::{Failure, FailureKind};
use crate::{process, run_files};
use ssdgauge_analysis::Run;
use ssdgauge_core::rounded::count_of;
use ssdgauge_fleet::drift_document::{document, labels};
use ssdgauge_fleet::{
    Drift, DriveRun, FleetDrift, HeldBack, NotJudged, Suspect, Trouble, Unjudged, drive_run,
    trouble,
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
    let mut troubles: Vec<Trouble> = Vec::new();
    let read = |_: &Path, run: &Run| Ok((drive_run(run), trouble(run)));
    let count = run_files::for_each_run(&inputs, &read, &mut |(result, trouble)| {
        troubles.extend(trouble);
        match result {
            Ok(run) => runs.push(run),
            Err(reason) => *left_out.entry(reason).or_default() += 1,
        }
    });
    // The order of the files does not count.
    runs.sort_by(|a, b| a.run_id.cmp(&b.run_id));
    troubles.sort_by(|a, b| (a.kind, &a.drive, &a.run_id).cmp(&(b.kind, &b.drive, &b.run_id)));
    let found = ssdgauge_fleet::drift(&runs);
    match arguments.json {
        true => terminal::print_document(&document(
            &runs,
            &troubles,
            &found,
            &left_out,
            &process::iso_time,
        )),
        false => terminal::print_text(&text(&runs, &troubles, &found, &left_out)),
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

fn text(
    runs: &[DriveRun],
    troubles: &[Trouble],
    found: &FleetDrift,
    left_out: &BTreeMap<&str, usize>,
) -> String {
    let drives: BTreeSet<&str> = runs.iter().map(|run| run.serial.as_str()).collect();
    let counts = [count_of(runs.len(), "run"), count_of(drives.len(), "drive")];
    let mut lines = vec![format!("{}{}", counts.join(" of "), mark(runs))];
    lines.extend(left_out.iter().map(|(reason, count)| format!("{count} left out: {reason}")));

    if !troubles.is_empty() {
        lines.push("\nFaults and failed runs, before any speed:".to_owned());
    }
    lines.extend(troubles.iter().flat_map(trouble_lines));

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

    if !found.held_back.is_empty() {
        lines.push("\nHeld back by heat or the link:".to_owned());
    }
    for HeldBack { serial, is_model, fault, with, of, .. } in &found.held_back {
        let drive = drive_text(serial, *is_model, &labels);
        lines.push(format!("  {drive}: {}; the same on {with} of {of} drives", fault.text));
    }

    lines.push("\nCompared:".to_owned());
    for group in &found.groups {
        let (drives, runs, bounds) = (group.drives, group.runs, group.bounds);
        let rest = found.unjudged.iter().find(|one| one.kind == group.kind);
        let rest = rest.map_or(String::new(), |one| format!("; {}", of_a_part(&one.reason)));
        lines
            .push(format!("  {}: {drives} drives, {runs} runs, {bounds} bounds{rest}", group.kind));
    }
    // A group of which some loads were judged has its line already.
    let is_judged = |one: &&Unjudged| found.groups.iter().any(|group| group.kind == one.kind);
    let unjudged = |one: &Unjudged| format!("  {}: not judged, {}", one.kind, one.reason);
    lines.extend(found.unjudged.iter().filter(|one| !is_judged(one)).map(unjudged));
    lines.join("\n") + "\n"
}

/// Returns the loads of a judged group that were not judged, with the reason.
fn of_a_part(reason: &NotJudged) -> String {
    match reason {
        NotJudged::Outliers { loads, .. } => {
            format!("{} not judged, {reason}", count_of(*loads, "further load"))
        }
        NotJudged::FewDrives { .. } => format!("the rest not judged, {reason}"),
    }
}

fn mark(runs: &[DriveRun]) -> &'static str {
    if runs.iter().any(|run| run.is_model) { " (MODEL: with virtual drives)" } else { "" }
}

/// Returns the words for a drive: its label and serial, with the mark of a virtual one.
fn drive_text(serial: &str, is_model: bool, labels: &BTreeMap<&str, &str>) -> String {
    let mark = if is_model { "MODEL " } else { "" };
    match labels.get(serial) {
        Some(label) => format!("{mark}{label} ({serial})"),
        None => format!("{mark}{serial}"),
    }
}

fn trouble_lines(trouble: &Trouble) -> Vec<String> {
    let Trouble { drive, label, model, run_id, is_model, kind, words, .. } = trouble;
    let labels = label.iter().map(|label| (drive.as_str(), label.as_str())).collect();
    let drive = drive_text(drive, *is_model, &labels);
    let mut lines = vec![format!("  {drive}, {model}, run {run_id}: {}", kind.name())];
    lines.extend(words.iter().map(|words| format!("    {words}")));
    lines
}

fn suspect_lines(suspect: &Suspect, labels: &BTreeMap<&str, &str>) -> Vec<String> {
    let Suspect { serial, kind, is_model, slow, judged, .. } = suspect;
    let drive = drive_text(serial, *is_model, labels);
    let mut lines = vec![format!("  {drive}, {kind}: {slow} of {judged} steps beyond the bound")];
    let reasons = suspect.reasons.iter().take(SHOWN_REASONS);
    lines.extend(reasons.map(|reason| format!("    {}/{reason}", reason.test.suite)));
    lines
}
