//! What a run took: the numbers that an estimate is compared with.

use ssdgauge_core::{Bytes, Nanos};
use ssdgauge_runfile::{RunFile, RunFileError};

/// Time and bytes of a test of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Duration of all its steps, every attempt included, with their rests.
    pub time: Nanos,
    /// Bytes that the host wrote, preparations included.
    pub written: Bytes,
}

impl Spent {
    /// Returns both together.
    pub fn plus(self, other: Spent) -> Spent {
        Spent { time: self.time + other.time, written: self.written + other.written }
    }
}

/// Returns time and bytes of each test of `run`, in the order of its plan.
///
/// # Errors
///
/// Fails where the run file cannot be read.
pub fn spent(run: &RunFile) -> Result<Vec<Spent>, RunFileError> {
    let plan = &run.head().plan;
    let mut sums = vec![Spent::default(); plan.tests.len()];
    for record in run.steps()? {
        let place = record.place;
        let step = &plan.tests[place.test].phases[place.phase].steps[place.step];
        let elapsed = record.elapsed.unwrap_or_default();
        let written = run.written(&record)?;
        let time = elapsed + step.rest.after(elapsed);
        sums[place.test] = sums[place.test].plus(Spent { time, written });
    }
    Ok(sums)
}
