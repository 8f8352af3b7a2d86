//! `ssdgauge compare`: the differences between two runs, with a pass or fail by threshold.

use crate::arguments;
use crate::failure::{Failure, FailureKind};
use crate::terminal;
use ssdgauge_report::{CompareOptions, Gate};

/// Prints the comparison of two runs.
///
/// # Errors
///
/// Fails where a file cannot be read or the runs have no test in common; with exit code 4 where the
/// threshold is exceeded or a test could not be compared.
pub(crate) fn execute(arguments: &arguments::CompareArguments) -> Result<(), Failure> {
    let share = |percent: f64| percent / 100.0;
    let options = CompareOptions {
        any_firmware: arguments.any_firmware,
        noise: share(arguments.noise),
        threshold: arguments.threshold.map(share),
    };
    let first = ssdgauge_report::read(&arguments.first)?;
    let second = ssdgauge_report::read(&arguments.second)?;
    let comparison = ssdgauge_report::compare(&first, &second, &options)?;
    match (arguments.json, arguments.markdown, arguments.junit) {
        (true, ..) => terminal::print(&format!("{:#}\n", comparison.json())),
        (_, true, _) => terminal::print(&comparison.markdown()),
        (_, _, true) => terminal::print(&comparison.junit()),
        (false, false, false) => {
            let width = terminal::width::columns();
            terminal::print(&comparison.text(width, terminal::has_colour()));
        }
    }
    let failure = |error: &str| {
        let hint = "the comparison above lists each test; --threshold and --noise set the limits";
        Err(Failure::new(FailureKind::Criterion, error, hint))
    };
    match comparison.gate {
        Some(Gate::Failed) => failure("a test is worse than the threshold allows"),
        Some(Gate::Undecided) => {
            failure("a test could not be compared, so the threshold is not met")
        }
        Some(Gate::Passed) | None => Ok(()),
    }
}
