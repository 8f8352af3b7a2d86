//! Why the numbers of one drive are in doubt, in one sentence.

use crate::findings::drive_faults;
use crate::findings::run_outcome;
use crate::findings::trust::{self, Grade};
use crate::model::Run;
use crate::text::case::capital;

/// Returns why the numbers of a single drive are in doubt, from all of its `runs`, faults of the drive first; `None`
/// where nothing puts them in doubt, and for a run that is not quoted: it has no numbers.
pub fn of_drive(runs: &[Run]) -> Option<String> {
    if !runs.iter().all(run_outcome::is_quoted) {
        return None;
    }
    let mut parts: Vec<String> = Vec::new();
    for fault in runs.iter().flat_map(drive_faults::of) {
        let words = format!("the drive {}", fault.did);
        if !parts.contains(&words) {
            parts.push(words);
        }
    }
    let trust = trust::of_runs(runs.iter().filter(|run| run_outcome::has_grade(run)));
    if let Some(trust) = trust.filter(|trust| trust.grade != Grade::A) {
        parts.push(match trust.grade {
            Grade::D => format!("{}: {}", trust.grade.meaning(), trust.in_words()),
            Grade::A | Grade::B | Grade::C => trust.in_words(),
        });
    }
    (!parts.is_empty()).then(|| capital(&parts.join("; ")))
}
