//! Captions that all kinds of charts share: legends, marks of a title, the definition of latency.

use crate::analysis::group::{Group, Member};
use crate::analysis::headline_reasons::missing_reason;
use crate::analysis::report_drives::ReportDrives;

/// Returns how `member` is called in a legend; a drive without data says why.
pub(super) fn legend(member: &Member<'_>, drives: &ReportDrives, has_data: bool) -> String {
    let name = &drives.names[member.index];
    match has_data {
        true => name.clone(),
        false => format!("{name} ({})", missing_reason(member)),
    }
}

/// Returns the marks that all members of `group` share; every title and caption has them.
pub(crate) fn marks(group: &Group<'_>) -> Vec<String> {
    let mut marks = group.first().run_marks();
    for member in &group.members {
        let own = member.run_marks();
        marks.retain(|mark| own.contains(mark));
    }
    marks
}

/// The definition of latency, for the notes of every figure of a latency.
pub(crate) const LATENCY: &str =
    "Latency is measured from before the submission of a request to after its completion.";
