//! Names and marks of runs, equal in all outputs.

use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{Detail, DriveInfo, TargetKind};
use ssdgauge_runfile::Head;

/// Returns a unique name for each entry of a report, which has one or several runs: the model, with the
/// ids of all of its runs, or its place, where models are equal.
pub fn unique_names(entries: &[Vec<&Head>]) -> Vec<String> {
    let plain: Vec<String> = entries
        .iter()
        .map(|heads| heads.first().map_or_else(String::new, |h| run_name(h)))
        .collect();
    let unique = |names: &[String], name: &String| names.iter().filter(|n| *n == name).count() == 1;
    let by_id: Vec<String> = (0..entries.len())
        .map(|index| match unique(&plain, &plain[index]) {
            true => plain[index].clone(),
            false => format!("{} ({})", plain[index], ids(&entries[index])),
        })
        .collect();
    // The same file given twice, or ids that begin alike: the place in the list decides.
    (0..entries.len())
        .map(|index| match unique(&by_id, &by_id[index]) {
            true => by_id[index].clone(),
            false => format!("{} #{}", by_id[index], index + 1),
        })
        .collect()
}

/// Returns the ids of `runs`: of more than two the first, and how many follow.
fn ids(runs: &[&Head]) -> String {
    match runs {
        [first, second] => format!("{}, {}", short_id(&first.id), short_id(&second.id)),
        [first, others @ ..] if !others.is_empty() => {
            format!("{} and {} more runs", short_id(&first.id), others.len())
        }
        [] | [_, ..] => runs.first().map_or_else(String::new, |head| short_id(&head.id)),
    }
}

/// Returns the name of the drive of `run`, safe to show, with MODEL where it is one.
pub fn drive_name(drive: &DriveInfo) -> String {
    let name = sanitize::device(drive.name());
    match drive.kind.mark() {
        // The name of a virtual drive may say so itself.
        Some(mark) if drive.is_model() && name.contains(mark) => name,
        Some(mark) => format!("{name} [{mark}]"),
        None => name,
    }
}

/// The key of the label in the environment of a run.
pub const LABEL: &str = "label";

/// Returns the label that the user gave to a run, such as `heatsink`.
pub fn label(head: &Head) -> Option<String> {
    head.environment.get(LABEL).map(|label| sanitize::short_prose(label))
}

/// Returns the mark of a result that another program measured, such as `IMPORTED from fio-3.33`.
pub fn imported_mark(head: &Head) -> Option<String> {
    head.imported_from().map(|program| format!("IMPORTED from {}", sanitize::device(program)))
}

/// Returns the origin of the data of `head` in the labels of metrics: `MODEL` for a virtual drive, the mark of an
/// imported result, `measured` otherwise.
pub fn data_origin(head: &Head) -> String {
    match head.drive.is_model() {
        true => "MODEL".to_owned(),
        false => imported_mark(head).unwrap_or_else(|| "measured".to_owned()),
    }
}

/// Returns the name of the drive of `head` as [`drive_name`] does, with the mark of an imported result
/// and the label of the run.
pub fn run_name(head: &Head) -> String {
    let mut name = drive_name(&head.drive);
    if let Some(mark) = imported_mark(head) {
        name = format!("{name} [{mark}]");
    }
    match label(head) {
        Some(label) => format!("{name} · {label}"),
        None => name,
    }
}

/// Returns the name of the size that requests may address: for a scratch file that is not a property of
/// the drive.
pub fn size_name(drive: &DriveInfo) -> &'static str {
    match drive.kind {
        TargetKind::File => "Scratch file",
        TargetKind::Block | TargetKind::Virtual | TargetKind::Null => "Tested capacity",
    }
}

/// Returns the size in running text: `1.00 TB`, `scratch file of 4.29 GB`, or `4.29 GB of 1.00 TB`
/// where a part of a drive was tested.
pub fn size_in_words(drive: &DriveInfo) -> String {
    in_words(drive, number::capacity)
}

/// Returns the size as [`size_in_words`] does, without digits that are zero.
pub fn plain_size(drive: &DriveInfo) -> String {
    in_words(drive, number::plain_capacity)
}

fn in_words(drive: &DriveInfo, capacity: fn(u64) -> String) -> String {
    let Some(tested) = drive.known_capacity() else { return "capacity not known".to_owned() };
    let tested = capacity(tested.0);
    match (drive.kind, drive.whole_capacity().filter(|_| drive.is_limited())) {
        (TargetKind::File, _) => format!("scratch file of {tested}"),
        (TargetKind::Block | TargetKind::Virtual | TargetKind::Null, Some(whole)) => {
            format!("{tested} of {}", capacity(whole.0))
        }
        (TargetKind::Block | TargetKind::Virtual | TargetKind::Null, None) => tested,
    }
}

/// Returns the marks of the run with `head` that follow from its plan, such as `MODEL`.
pub fn marks(head: &Head) -> Vec<String> {
    let plan = &head.plan;
    let mut marks = Vec::new();
    if head.drive.is_model() {
        marks.push("MODEL".to_owned());
    }
    let twin = head.drive.detail(Detail::Twin);
    marks.extend(twin.map(|twin| format!("PREDICTED ({})", sanitize::short_prose(twin))));
    marks.extend(imported_mark(head));
    if plan.shortened > 1 {
        marks.push(format!("SHORTENED to 1/{}", number::count(u64::from(plan.shortened))));
    }
    if plan.span_scaled {
        marks.push("SPAN SCALED".to_owned());
    }
    if plan.polled {
        marks.push("POLLED".to_owned());
    }
    if plan.pass_through {
        marks.push("PASS-THROUGH".to_owned());
    }
    marks
}

/// Returns the last characters of a run id, which differ even where ids begin with the time.
pub fn short_id(id: &str) -> String {
    let id = sanitize::device(id);
    let length = id.chars().count();
    id.chars().skip(length.saturating_sub(8)).collect()
}

/// Returns the suite of `run` with its revision.
pub fn suite(head: &Head) -> String {
    let suite = &head.plan.suite;
    format!("{} r{}", sanitize::prose(&suite.id), suite.revision)
}
