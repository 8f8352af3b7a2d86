//! No report prints a number outside of its own interval, on any surface.

use crate::suites::runs::{DRIVES, RUNS, longer};
use crate::suites::shown_values::ShownValues;
use crate::suites::support::{is_possible, run};
use ssdgauge_analysis::TestRun;

/// Two suites with starts that flatter, in steps long enough for every interval.
const LONG_STEPS: [(&str, &str); 2] =
    [("client-2018", "tlc-client"), ("consistency-2016", "tlc-client")];

/// Every suite in short on one of the drives, and two in longer steps. The tool `own_intervals` runs all suites in
/// longer steps on all drives.
#[test]
#[ignore = "second tier"]
fn no_value_lies_outside_of_its_own_interval() {
    let (mut values, mut settled) = (0, 0);
    let mut outside = Vec::new();
    for (suite, drive, shorten) in walk() {
        let run = run(suite, &[], &format!("{drive}?capacity=8GB"), shorten);
        let shown = ShownValues::of(&run);
        println!("{suite} on {drive}: {} values, {:?}", shown.count, shown.outside);
        outside.extend(shown.outside.iter().map(|line| format!("{suite} on {drive}: {line}")));
        values += shown.count;
        let apart = |test: &&TestRun| test.headline.protocol.is_some();
        assert_eq!(is_possible(&run), Ok(()), "{suite}");
        settled += run.tests.iter().filter(apart).count();
    }
    assert!(outside.is_empty(), "{outside:#?}");
    assert!(settled > 0 && values > 500, "{settled} starts flatter, {values} values");
}

/// Returns suites, drives and factors of `--shorten`.
fn walk() -> Vec<(&'static str, &'static str, u32)> {
    let places = RUNS.iter().enumerate();
    // Seven and 20 have no common divisor, so neighbours in the list of suites meet other kinds of drives.
    let drive = |place: usize| DRIVES[7 * place % DRIVES.len()];
    let short = places.map(|(place, (suite, shorten, _))| (*suite, drive(place), *shorten));
    let in_long = LONG_STEPS.iter().map(|(suite, drive)| {
        let found = RUNS.iter().find(|(other, ..)| other == suite);
        (*suite, *drive, longer(found.map_or(1, |(_, shorten, _)| *shorten)))
    });
    short.chain(in_long).collect()
}
