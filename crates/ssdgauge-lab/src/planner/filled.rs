//! Reads of a scratch file beyond what the run has filled: the file system returns zeros for them without
//! a request to the drive, and a rig refuses them.

use super::PlanError;
use ssdgauge_core::{Action, Bytes, Preparation, Test};

/// Checks that every step of `tests` reads only what a fill of an earlier step covers. Measured writes
/// count for nothing: how much they cover is known after them.
pub(super) fn check_reads(tests: &[Test]) -> Result<(), PlanError> {
    let mut filled_to = Bytes(0);
    for test in tests {
        for step in test.phases.iter().flat_map(|phase| &phase.steps) {
            match &step.action {
                Action::Prepare(Preparation::Fill { offset, span, .. }) => {
                    if *offset <= filled_to {
                        filled_to = filled_to.max(*offset + *span);
                    }
                }
                Action::Run { workload, .. } => {
                    let trims = workload.streams.iter().filter(|stream| stream.trims());
                    let first = trims.map(|stream| stream.offset).min();
                    filled_to = first.map_or(filled_to, |first| filled_to.min(first));
                    let beyond = workload
                        .streams
                        .iter()
                        .find(|one| one.reads() && one.offset + one.span > filled_to);
                    if let Some(stream) = beyond {
                        return Err(PlanError::Unfilled {
                            test: test.id.clone(),
                            step: step.label.clone(),
                            end: stream.offset + stream.span,
                            filled_to,
                        });
                    }
                }
                Action::Prepare(_) | Action::Replay(_) | Action::Rest(_) | Action::Idle(_) => {}
            }
        }
    }
    Ok(())
}
