//! The tests of a plan as a table: time, bytes and steps of each, and how many values are chosen.

use ssdgauge_core::{Nanos, PhaseKind, Test};
use ssdgauge_lab::Estimate;
use ssdgauge_watch::terminal;
use ssdgauge_watch::terminal::table::{self, Column, Fit};

const COLUMNS: [Column; 4] = [
    Column::text("  TEST", Fit::Whole),
    Column::number("TIME", Fit::Whole),
    Column::number("WRITES", Fit::Omit),
    Column::text("STEPS", Fit::Omit),
];

/// Returns a line for each of `tests` with its own cost, in at most `width` columns.
pub(super) fn table(tests: &[(&Test, Estimate)], width: usize) -> String {
    let row = |(test, cost): &(&Test, Estimate)| {
        let repetition = match test.repetition {
            1 => String::new(),
            number => format!(", repetition {number}"),
        };
        vec![
            format!("  {}{repetition}", test.id),
            whole_seconds(cost.time.expected),
            cost.written.expected.about(),
            steps(test),
        ]
    };
    let rows: Vec<Vec<String>> = tests.iter().map(row).collect();
    let lines = table::rows(&COLUMNS, &rows, width).concat();
    let chosen: usize = tests
        .iter()
        .filter(|(test, _)| test.repetition == 1)
        .map(|(test, _)| test.chosen.len())
        .sum();
    let chosen = match chosen {
        0 => String::new(),
        1 => "1 value is chosen by ssdgauge, not stated by the source.\n".to_owned(),
        many => format!("{many} values are chosen by ssdgauge, not stated by the source.\n"),
    };
    let rest = "--all of `plan` lists every step and value, --test ID those of one test.";
    format!("\n{lines}\n{chosen}{rest}\n")
}

/// Returns how many steps `test` measures, and their labels.
fn steps(test: &Test) -> String {
    let measured = test.phases.iter().filter(|phase| phase.kind == PhaseKind::Measure);
    let labels: Vec<&str> =
        measured.flat_map(|phase| &phase.steps).map(|step| step.label.as_str()).collect();
    let mut words = match labels.as_slice() {
        [] => "no measured step".to_owned(),
        [one] => terminal::line(&format!("1: {one}")),
        [first, .., last] => terminal::line(&format!("{}: {first} to {last}", labels.len())),
    };
    if test.search.is_some() {
        words.push_str(", found by a search");
    }
    words
}

/// Returns an expected time in whole seconds: a forecast has no more digits.
pub(super) fn whole_seconds(time: Nanos) -> String {
    Nanos::from_secs(time.as_secs_f64().round().max(1.0) as u64).about()
}
