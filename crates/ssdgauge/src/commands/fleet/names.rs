//! The names of drives: the label of a run, or the serial.

use ssdgauge_report::{Run, sanitize_device, sanitize_prose};

/// The name of the drive of each run.
pub(super) struct Names(Vec<String>);

impl Names {
    /// Returns the names of the drives of `runs`.
    pub(super) fn new(runs: &[Run]) -> Names {
        Names(runs.iter().map(name).collect())
    }

    /// Returns the name of the drive of the run at `place`.
    pub(super) fn of(&self, place: usize) -> &str {
        &self.0[place]
    }
}

fn name(run: &Run) -> String {
    let label = run.head.environment.get("label").map(|label| sanitize_prose(label));
    let serial = run.head.drive.serial.as_deref().map(sanitize_device);
    let own = label.or(serial).filter(|own| !own.is_empty());
    own.unwrap_or_else(|| sanitize_prose(&run.head.id))
}
