//! `ssdgauge fleet`: what the runs of many drives show about each of them.

mod drift;
mod page;

use crate::arguments::{FleetAction, FleetArguments};
use crate::failure::Failure;

/// Executes an action on a fleet.
///
/// # Errors
///
/// Fails where there is no run, and at the end where a run file could not be read.
pub(crate) fn execute(arguments: &FleetArguments) -> Result<(), Failure> {
    match &arguments.action {
        FleetAction::Drift(arguments) => drift::execute(arguments),
        FleetAction::Page(arguments) => page::execute(arguments),
    }
}
