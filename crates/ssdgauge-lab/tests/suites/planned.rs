//! What is planned against what comes: every built-in suite on three classes of virtual drives.

use crate::suites::support::{begun, planned, rig};
use ssdgauge_core::{Bytes, Nanos, Rig};
use ssdgauge_lab::{Completion, Estimate, Spent, assumed_rates, conduct, estimate, spent};
use ssdgauge_runfile::RunFile;

/// The classes that the assumed rates describe.
const CLASSES: [&str; 3] = ["tlc-client", "sata-datacentre", "nvme-datacentre"];

/// A suite, its factor of `--shorten`, and the allowed factors between expected and actual: of the time
/// and of the bytes.
type Line = (&'static str, u32, f64, f64);

const LINES: &[Line] = &[
    ("quick", 10, 1.3, 1.3),
    ("size-curve", 10, 1.3, 1.3),
    ("load-curve", 20, 1.3, 1.3),
    ("fill-ladder", 20, 1.3, 1.3),
    ("consistency-2016", 60, 1.3, 1.3),
    ("like-heavy", 1, 1.3, 1.3),
];

const LONG: &[Line] = &[
    // The number of attempts of a search depends on the drive: from one to more than ten.
    ("demo", 1, 3.0, 3.0),
    ("act", 60, 3.0, 3.0),
    ("iometer-2015", 10, 1.3, 1.3),
    ("client-2018", 10, 1.3, 1.3),
    ("client-2021", 10, 1.3, 1.3),
    ("enterprise-2019", 10, 1.3, 1.3),
    ("enterprise-2020", 10, 1.3, 1.3),
    ("snia-pts-c", 60, 1.3, 1.3),
    ("snia-pts-e", 60, 1.3, 1.3),
];

/// Runs a suite on `target`; returns what was planned and what came.
fn run(suite: &str, target: &str, shorten: u32) -> (Estimate, Spent) {
    let mut rig = rig(target);
    let plan = planned(suite, &[], &rig, shorten);
    let expected = estimate(&plan, rig.drive().capacity, &assumed_rates(rig.drive()));
    let (_folder, path, mut writer) = begun(&plan, &rig);
    let end = conduct(&plan, &mut rig, &mut writer, &mut crate::suites::support::Quiet::default())
        .unwrap();
    assert_eq!(end, Completion::Finished);
    drop(writer);
    let each = spent(&RunFile::open(&path).unwrap()).unwrap();
    (expected, each.into_iter().fold(Spent::default(), Spent::plus))
}

/// Checks a suite on `target`; returns the bounds as multiples of what came. With `--nocapture` it prints
/// the table of docs/explanation/states.md.
#[allow(clippy::print_stdout, reason = "the lines are a table")]
fn check(line: &Line, target: &str) -> [f64; 2] {
    let (suite, shorten, most_of_time, most_of_bytes) = *line;
    let (planned, came) = run(suite, target, shorten);
    let time = planned.time.map(Nanos::as_secs_f64);
    let written = planned.written.map(|bytes| bytes.0 as f64);
    let (seconds, bytes) = (came.time.as_secs_f64(), came.written.max(Bytes(1)).0 as f64);
    let ratios = [time.expected / seconds, written.expected / bytes];
    let bounds = [time.at_most / seconds, written.at_most / bytes];
    let name = format!("{suite} ÷ {shorten} on {target}");
    println!("{name:<60} expected {ratios:.2?} at most {bounds:.1?} of what came");
    for (ratio, most) in ratios.into_iter().zip([most_of_time, most_of_bytes]) {
        assert!((1.0 / most..=most).contains(&ratio), "{name}: {ratios:?}, {planned:?}, {came:?}");
    }
    assert!(bounds.iter().all(|bound| *bound >= 1.0), "{name}: {planned:?}, {came:?}");
    bounds
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
#[ignore = "second tier"]
fn what_comes_is_near_the_expected_value_and_below_the_bound() {
    let is_long = std::env::var_os("SSDGAUGE_LONG").is_some();
    let lines = LINES.iter().chain(LONG.iter().filter(|_| is_long));
    let mut bounds = Vec::new();
    for line in lines {
        for class in CLASSES {
            bounds.push(check(line, &format!("{class}?capacity=8GB")));
        }
    }
    for figure in 0..2 {
        let middle = median(bounds.iter().map(|bound| bound[figure]).collect());
        assert!(middle <= 3.0, "the bound is {middle} times what came in the median");
    }
}

#[test]
fn drives_of_other_classes_are_planned_within_a_factor_of_three() {
    // MLC without a cache and low-latency SLC write up to three times as fast as the class that their
    // interface tells, QLC beyond its cache half as fast.
    for target in ["mlc-client", "slc-low-latency", "qlc-client"] {
        let target = &format!("{target}?capacity=8GB");
        for (suite, shorten) in [("quick", 10), ("fill-ladder", 20)] {
            let (planned, came) = run(suite, target, shorten);
            let ratio = planned.time.expected.as_secs_f64() / came.time.as_secs_f64();
            println!("{suite} on {target}: {ratio:.2}");
            assert!((1.0 / 3.0..=3.0).contains(&ratio), "{suite} on {target}: {ratio}");
        }
    }
}
