//! Fill levels: which steps were measured on a drive that was so full, and ranking by one of them.
//!
//! Reviews order drives by an empty drive; most drives in use are 70 to 80 % full.

use crate::model::Run;
use crate::model::plan::measured_steps;
use ssdgauge_core::{Score, Step, Test};

/// Returns how full the drive was in percent, where a step is one of a ladder of fill levels.
///
/// The planner labels such a step by its level, and by nothing else.
pub(crate) fn from_label(label: &str, position: f64) -> Option<f64> {
    (label == format!("{position} % full")).then_some(position)
}

/// Returns whether every step of `test` that is measured is one of a ladder of fill levels.
fn is_sweep(test: &Test) -> bool {
    let level = |step: &Step| from_label(&step.label, step.position).is_some();
    measured_steps(test).count() > 1 && measured_steps(test).all(level)
}

impl Run {
    /// Returns the levels in percent at which this run measured, ascending.
    pub fn fill_levels(&self) -> Vec<f64> {
        let sweeps = self.tests.iter().map(|test| &test.test).filter(|test| is_sweep(test));
        let mut levels: Vec<f64> =
            sweeps.flat_map(measured_steps).map(|step| step.position).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        levels
    }

    /// Returns the run with every ladder of fill levels scored at `percent`; a ladder without
    /// that level has no headline then.
    pub fn at_fill_level(mut self, percent: f64) -> Run {
        for test in self.tests.iter_mut().filter(|test| is_sweep(&test.test)) {
            let metric = test.test.score.metric();
            test.test.score = Score::At { metric, position: percent };
            test.recompute();
        }
        self
    }
}
