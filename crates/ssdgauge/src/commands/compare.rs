//! `ssdgauge compare`: the differences between two runs, with a gate.

use crate::arguments;
use crate::failure::{Failure, Kind};
use crate::terminal;
use ssdgauge_report::{CompareOptions, Gate};

/// Tells how a run differs from another.
pub(crate) fn compare(arguments: &arguments::Compare) -> Result<(), Failure> {
    let share = |percent: f64| percent / 100.0;
    let options = CompareOptions {
        any_firmware: arguments.any_firmware,
        noise: share(arguments.noise),
        threshold: arguments.threshold.map(share),
    };
    let first = ssdgauge_report::read(&arguments.first)?;
    let second = ssdgauge_report::read(&arguments.second)?;
    let comparison = ssdgauge_report::compare(&first, &second, &options)?;
    terminal::print(&match (arguments.json, arguments.markdown, arguments.junit) {
        (true, ..) => format!("{:#}\n", comparison.json()),
        (_, true, _) => comparison.markdown(),
        (_, _, true) => comparison.junit(),
        (false, false, false) => comparison.text(),
    });
    let failure = |words: &str| {
        let hint = "each test is judged above; --threshold and --noise set what is allowed";
        Err(Failure::new(Kind::Criterion, words, hint))
    };
    match comparison.gate {
        Some(Gate::Failed) => failure("a test is worse than the threshold allows"),
        Some(Gate::Undecided) => failure("a test could not be judged, so the gate stays shut"),
        Some(Gate::Passed) | None => Ok(()),
    }
}
