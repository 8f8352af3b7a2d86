//! `ssdgauge compare`: the differences between two runs, with a pass or fail by threshold.

use crate::arguments;
use crate::commands::xray;
use crate::failure::{Failure, FailureKind};
use crate::run_files;
use ssdgauge_analysis::{CompareOptions, History, Run};
use ssdgauge_core::Verdict;
use ssdgauge_core::rounded::count_of;
use ssdgauge_watch::terminal;
use std::collections::BTreeMap;
use std::path::Path;

/// What to do where a disturbance leaves the gate undecided.
const AGAIN_UNDISTURBED: &str =
    "measure again what was disturbed, while nothing else uses drive or processor";

/// What to do where intervals leave it undecided.
const AGAIN_LONGER: &str =
    "measure both again with --repeat 3 or longer steps, or allow more with --threshold";

/// Prints the comparison of two runs.
///
/// # Errors
///
/// Fails where a file cannot be read or the runs have no test in common; with a threshold, with exit
/// code 4 where a test is worse than it allows, and with 75 where that is not decided of a test.
pub(crate) fn execute(arguments: &arguments::CompareArguments) -> Result<(), Failure> {
    let share = |percent: f64| percent / 100.0;
    let options = CompareOptions {
        any_firmware: arguments.any_firmware,
        noise: share(arguments.noise),
        threshold: arguments.threshold.map(share),
    };
    let [first, second] = arguments.files.as_slice() else { unreachable!("two files were found") };
    let (first, second) = (ssdgauge_analysis::read(first)?, ssdgauge_analysis::read(second)?);
    if compares_cards(arguments, [&first, &second])? {
        return xray::compare(&arguments.files, None, arguments.json);
    }
    if first.head.id == second.head.id {
        terminal::print_message("note: both files hold the same run");
    }
    let comparison = match &arguments.history {
        None => ssdgauge_analysis::compare(&first, &second, &options)?,
        Some(folder) => {
            let history = read_history(folder, &first, &second)?;
            ssdgauge_analysis::compare_with_history(&first, &second, &options, &history)?
        }
    };
    match (arguments.json, arguments.markdown, arguments.junit) {
        (true, ..) => {
            terminal::print(&format!("{:#}\n", ssdgauge_export::comparison_json(&comparison)))
        }
        (_, true, _) => terminal::print(&ssdgauge_export::comparison_markdown(&comparison)),
        (_, _, true) => terminal::print(&ssdgauge_export::comparison_junit(&comparison)),
        (false, false, false) => {
            let width = terminal::width::columns();
            terminal::print(&ssdgauge_export::comparison_text(
                &comparison,
                width,
                terminal::has_colour(),
            ));
        }
    }
    let counted = |gate: Verdict| {
        let (count, all) = comparison.gates(gate);
        format!("{count} of {}", count_of(all, "test"))
    };
    match comparison.gate {
        Some(Verdict::Fails) => Err(Failure::new(
            FailureKind::Criterion,
            format!("worse than the threshold allows: {}", counted(Verdict::Fails)),
            "the comparison above lists each test; --threshold, --noise and --history set the limits",
        )),
        Some(Verdict::NotDecided) => {
            let text = format!(
                "it is not decided whether the second run is worse than the threshold allows: {}",
                counted(Verdict::NotDecided)
            );
            let (text, hint) = match comparison.gate_reason {
                Some(why) => (format!("{text}, as {why}"), AGAIN_UNDISTURBED),
                None => (text, AGAIN_LONGER),
            };
            Err(Failure::new(FailureKind::Undecided, text, hint))
        }
        Some(Verdict::Holds) | None => Ok(()),
    }
}

/// Returns whether both runs are X-rays, whose cards are compared.
///
/// # Errors
///
/// Refuses a proof or a single X-ray, which have no number of another run, and options that X-rays do not have.
fn compares_cards(
    arguments: &arguments::CompareArguments,
    runs: [&Run; 2],
) -> Result<bool, Failure> {
    let refuse = |text: &str, hint: &str| Err(Failure::new(FailureKind::Usage, text, hint));
    let ids = runs.map(|run| run.head.plan.suite.id.as_str());
    if ids.contains(&ssdgauge_runfile::PROOF_SUITE) {
        return refuse(
            "a proof has a verdict on one drive, and no number to compare",
            "print both cards with `ssdgauge report FILE`",
        );
    }
    let has_options = arguments.markdown
        || arguments.junit
        || arguments.threshold.is_some()
        || arguments.history.is_some();
    match ids.map(|id| id == ssdgauge_runfile::XRAY_SUITE) {
        [false, false] => Ok(false),
        [true, true] if has_options => refuse(
            "two X-rays are compared by the intervals of their structures, without a threshold or a history",
            "their forms are text and --json",
        ),
        [true, true] => Ok(true),
        [true, false] | [false, true] => refuse(
            "an X-ray is compared with another X-ray only",
            "name the run files of two X-rays, or of two runs of one suite",
        ),
    }
}

/// Reads the earlier runs of the drive in `folder`, and states how many of the others were left out.
fn read_history(folder: &Path, first: &Run, second: &Run) -> Result<History, Failure> {
    let inputs = run_files::one_for_each_run(run_files::find(&[folder.to_owned()])?);
    let mut history = History::default();
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    run_files::for_each_run(&inputs, &|_, run: &Run| Ok(run.clone()), &mut |run: Run| {
        if let Err(reason) = history.add(&run, [first, second]) {
            *left_out.entry(reason).or_insert(0) += 1;
        }
    });
    for (reason, count) in left_out {
        terminal::print_message(&format!(
            "history: {} left out ({reason})",
            count_of(count, "run")
        ));
    }
    Ok(history)
}
