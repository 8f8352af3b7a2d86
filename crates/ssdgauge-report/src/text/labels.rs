//! How runs are called and marked wherever they appear: one name, one colour, the same marks.

use crate::clean;
use crate::number;
use crate::run::Run;
use ssdgauge_core::TargetKind;

/// Returns a name for each run, unique among them: model, then what tells equal ones apart.
pub(crate) fn of(runs: &[&Run]) -> Vec<String> {
    let plain: Vec<String> = runs.iter().map(|run| drive(run)).collect();
    let ids: Vec<String> = runs.iter().map(|run| short_id(&run.head.id)).collect();
    let unique = |names: &[String], name: &String| names.iter().filter(|n| *n == name).count() == 1;
    let by_id: Vec<String> = (0..runs.len())
        .map(|index| match unique(&plain, &plain[index]) {
            true => plain[index].clone(),
            false => format!("{} ({})", plain[index], ids[index]),
        })
        .collect();
    // The same file given twice, or ids that begin alike: the place in the list decides.
    (0..runs.len())
        .map(|index| match unique(&by_id, &by_id[index]) {
            true => by_id[index].clone(),
            false => format!("{} #{}", by_id[index], index + 1),
        })
        .collect()
}

/// Returns the number of the run that `words` name: its id, or a drive whose name holds them.
///
/// `None` where no run, or runs of different drives, are meant.
pub fn find_run(runs: &[Run], words: &str) -> Option<usize> {
    if let Some(run) = runs.iter().position(|run| run.head.id == words) {
        return Some(run);
    }
    let wanted = words.to_lowercase();
    let holds = |run: &Run| !wanted.is_empty() && drive(run).to_lowercase().contains(&wanted);
    let cast = crate::cast::Cast::of(runs, None);
    let mut found = (0..runs.len()).filter(|run| holds(&runs[*run]));
    let first = found.next()?;
    found.all(|run| cast.drive(run) == cast.drive(first)).then_some(first)
}

/// Returns the name of the drive of `run`, safe to show, with MODEL where it is one.
pub(crate) fn drive(run: &Run) -> String {
    let drive = &run.head.drive;
    let name = clean::device(drive.name());
    match drive.kind {
        TargetKind::Virtual if !name.contains("MODEL") => format!("{name} [MODEL]"),
        TargetKind::Virtual => name,
        TargetKind::Null => format!("{name} [no drive]"),
        TargetKind::File | TargetKind::Block => name,
    }
}

/// Returns the marks of `run` that stand beside each of its numbers, such as `MODEL`.
pub(crate) fn marks(run: &Run) -> Vec<String> {
    let plan = &run.head.plan;
    let mut marks = Vec::new();
    if run.is_model() {
        marks.push("MODEL".to_owned());
    }
    if run.is_shortened() {
        marks.push(format!("SHORTENED to 1/{}", number::count(u64::from(plan.shortened))));
    }
    if plan.span_scaled {
        marks.push("SPAN SCALED".to_owned());
    }
    if !run.complete {
        marks.push("UNFINISHED".to_owned());
    }
    marks
}

/// Returns the end of a run id, which tells runs apart in a chart; ids may begin with the time.
pub(crate) fn short_id(id: &str) -> String {
    let id = clean::device(id);
    let length = id.chars().count();
    id.chars().skip(length.saturating_sub(8)).collect()
}

/// Returns the suite of `run` with its revision.
pub(crate) fn suite(run: &Run) -> String {
    let suite = &run.head.plan.suite;
    format!("{} r{}", clean::prose(&suite.id), suite.revision)
}
