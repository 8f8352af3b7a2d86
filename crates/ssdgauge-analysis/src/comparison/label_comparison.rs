//! Runs of one drive that differ by their labels, such as bare and with a heatsink.

use crate::model::Run;
use crate::text::labels;
use ssdgauge_core::{Detail, DriveInfo};
use thiserror::Error;

/// Why runs cannot be compared by their labels.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LabelError {
    /// A run has no label.
    #[error("the run {id} has no label")]
    Missing {
        /// The id of the run.
        id: String,
    },
    /// All runs have one label.
    #[error("all runs have the label '{label}'")]
    One {
        /// The label.
        label: String,
    },
    /// The runs are of several drives.
    #[error("the runs are of several drives: {first} and {other}")]
    SeveralDrives {
        /// The name of one drive.
        first: String,
        /// The name of another one.
        other: String,
    },
}

/// Returns the labels of `runs`, each once, in the order of their first appearance.
///
/// # Errors
///
/// Returns an error where a run has no label, all have one, or the runs are of several drives.
pub fn compared_labels(runs: &[Run]) -> Result<Vec<String>, LabelError> {
    let mut seen: Vec<String> = Vec::new();
    for run in runs {
        let Some(label) = labels::label(&run.head) else {
            return Err(LabelError::Missing { id: labels::short_id(&run.head.id) });
        };
        if !seen.contains(&label) {
            seen.push(label);
        }
        let name = |run: &Run| labels::drive_name(&run.head.drive);
        if !is_same_drive(&runs[0], run) {
            return Err(LabelError::SeveralDrives { first: name(&runs[0]), other: name(run) });
        }
    }
    match seen.as_slice() {
        [label] => Err(LabelError::One { label: label.clone() }),
        [] | [_, _, ..] => Ok(seen),
    }
}

/// Returns whether two runs are of one drive; its firmware may differ. A model is one drive whatever
/// its seed and its cooling, which its serial depends on.
fn is_same_drive(a: &Run, b: &Run) -> bool {
    let (a, b) = (&a.head.drive, &b.head.drive);
    let is_same_place = a.serial.is_some() || a.target == b.target || a.is_model();
    let uncooled = |drive: &DriveInfo| {
        drive.detail(Detail::UncooledDigest).filter(|_| drive.is_model()).map(str::to_owned)
    };
    let is_same_model = uncooled(a).is_some() && uncooled(a) == uncooled(b);
    (a.kind, &a.model, a.capacity) == (b.kind, &b.model, b.capacity)
        && (a.serial == b.serial || is_same_model)
        && is_same_place
}
