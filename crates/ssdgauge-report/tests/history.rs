//! Comparison by what a drive has varied before.

// A test ends at its first error.
#![allow(clippy::unwrap_used)]

mod support;

use ssdgauge_core::Stream;
use ssdgauge_report::{
    CompareError, CompareOptions, Comparison, Difference, Gate, History, Run, Variation,
    compare_with_history,
};
use std::sync::LazyLock;
use support::{Pace, Recipe, quick, run, steady};

/// Returns a run of the drive `serial` whose rates are `factor` times the usual ones.
fn recorded(id: &str, serial: &str, factor: f64) -> Run {
    let pace = move |stream: &Stream, second: u32| {
        let pace = steady(stream, second);
        Pace { iops: (pace.iops as f64 * factor) as u64, lat_us: pace.lat_us / factor }
    };
    let mut recipe = Recipe::new(id, quick(2), "Disk");
    recipe.drive.serial = Some(serial.to_owned());
    recipe.pace = &pace;
    run(&recipe)
}

/// The rates of eight runs of one drive, which differ by about 1 %.
const FACTORS: [f64; 8] = [1.0, 1.01, 0.995, 1.005, 0.99, 1.0, 1.008, 0.997];

static EARLIER: LazyLock<Vec<Run>> = LazyLock::new(|| {
    let one =
        |(number, factor): (usize, &f64)| recorded(&format!("earlier-{number}"), "S1", *factor);
    FACTORS.iter().enumerate().map(one).collect()
});

fn history(reference: &Run, runs: usize) -> History {
    let mut history = History::default();
    for earlier in EARLIER.iter().take(runs) {
        history.add(earlier, reference, &["a", "b"]).unwrap();
    }
    history
}

fn compared(factor: f64, runs: usize, threshold: Option<f64>) -> Comparison {
    let (a, b) = (recorded("a", "S1", 1.0), recorded("b", "S1", factor));
    let options = CompareOptions { threshold, ..CompareOptions::default() };
    compare_with_history(&a, &b, &options, &history(&a, runs)).unwrap()
}

#[test]
fn a_change_is_significant_beyond_those_of_earlier_runs_in_both_directions() {
    // Steps of two seconds have no interval: without a history none of these is judged.
    for (factor, expected) in [
        (0.9, Difference::Worse),
        (1.1, Difference::Better),
        (0.985, Difference::WithinNoise),
        (1.015, Difference::WithinNoise),
    ] {
        let comparison = compared(factor, FACTORS.len(), None);
        assert!(comparison.tests.len() >= 4);
        for test in &comparison.tests {
            let Some(Variation { runs: 8, limit: Some(limit) }) = test.variation else {
                panic!("{:?}", test.variation)
            };
            assert!((0.015..0.06).contains(&limit), "{limit}");
            assert_eq!(test.difference, expected, "{} at {factor}", test.id);
        }
        let json = comparison.json();
        assert_eq!(json["tests"][0]["history_runs"], 8);
        assert!(json["noise"].is_null(), "{json}");
        for text in [comparison.markdown(), comparison.text(200, false), comparison.junit()] {
            assert!(text.contains("8 earlier runs") || text.contains("Q3 + 3 IQR"), "{text}");
        }
    }
}

#[test]
fn the_gate_fails_beyond_the_limit_and_the_threshold_and_is_undecided_by_a_short_history() {
    let gate = |factor, runs, threshold| compared(factor, runs, Some(threshold)).gate;
    assert_eq!(gate(0.9, 8, 0.0), Some(Gate::Failed));
    assert_eq!(gate(0.9, 8, 0.05), Some(Gate::Failed));
    assert_eq!(gate(0.9, 8, 0.2), Some(Gate::Passed));
    assert_eq!(gate(0.985, 8, 0.0), Some(Gate::Passed));
    assert_eq!(gate(1.1, 8, 0.0), Some(Gate::Passed));
    assert_eq!(gate(0.5, 7, 0.0), Some(Gate::Undecided));
    let short = compared(0.5, 7, None);
    let text = short.markdown();
    assert!(text.contains("the history has 7 runs of this test, and 8 are needed"), "{text}");
    assert!(short.junit().contains("failures=\"0\""));
    assert!(compared(0.9, 8, None).junit().contains("<failure"));
}

#[test]
fn runs_of_other_drives_and_the_compared_ones_are_no_history() {
    let a = recorded("a", "S1", 1.0);
    let mut history = history(&a, 8);
    assert_eq!(history.runs(), 8);
    let mut add = |run: &Run| history.add(run, &a, &["a", "b"]);
    assert_eq!(add(&recorded("other", "S2", 1.0)), Err("another drive"));
    assert!(add(&recorded("b", "S1", 1.0)).is_err());
    assert!(add(&recorded("earlier-3", "S1", 1.0)).is_err(), "a copy");
    assert_eq!(history.runs(), 8);
    let other = recorded("b", "S2", 1.0);
    let refused = compare_with_history(&a, &other, &CompareOptions::default(), &history);
    assert!(matches!(refused, Err(CompareError::OtherDrive(_))), "{refused:?}");
}
