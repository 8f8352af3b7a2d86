//! Comparison with a run that something outside its drive disturbed: it neither passes nor fails.

// A test ends at its first error.
#![allow(clippy::unwrap_used)]

use crate::compare::{recorded, slower};
use crate::support::{Pace, Recipe, quick, run, steady};
use ssdgauge_analysis::{CompareOptions, Difference, Run, compare};
use ssdgauge_core::{Finding, FindingKind, Severity, Stream, Verdict};

/// Returns a run during which other processes used the drive.
fn busy(id: &str, pace: &'static dyn Fn(&Stream, u32) -> Pace) -> Run {
    let mut recipe = Recipe::new(id, quick(12), "Disk");
    recipe.pace = pace;
    let text = "other processes moved 4.3 GB on this drive";
    let finding = Finding::new(FindingKind::OtherTraffic, Severity::Warning, text, "stop them");
    recipe.findings.push((None, finding));
    run(&recipe)
}

#[test]
fn no_run_is_better_or_worse_than_a_disturbed_one() {
    let undisturbed = recorded("a", "Disk", &steady);
    let disturbed = busy("b", &slower);
    let options = CompareOptions { threshold: Some(0.05), ..CompareOptions::default() };
    for [a, b] in [[&undisturbed, &disturbed], [&disturbed, &undisturbed]] {
        let comparison = compare(a, b, &options).expect("equal tests");
        assert_eq!(comparison.gate, Some(Verdict::NotDecided));
        for test in &comparison.tests {
            // The numbers are shown; what they mean is not known.
            assert!(test.ratio.is_some() && test.values.iter().all(Option::is_some));
            let Difference::Unknown(why) = &test.difference else {
                panic!("{} is {:?}", test.id, test.difference)
            };
            assert!(why.contains("run was disturbed"), "{why}");
        }
    }
    // The same runs without the disturbance.
    let slow = recorded("b", "Disk", &slower);
    let comparison = compare(&undisturbed, &slow, &options).expect("equal tests");
    assert_eq!(comparison.gate, Some(Verdict::Fails));
    assert!(comparison.tests.iter().all(|test| test.difference == Difference::Worse));
}

#[test]
fn a_disturbed_run_leaves_the_gate_of_every_test_undecided_on_every_surface() {
    let options = CompareOptions { threshold: Some(0.05), ..CompareOptions::default() };
    for (a, b, why) in [
        (recorded("a", "Disk", &steady), busy("b", &steady), "the second run was disturbed"),
        (busy("a", &steady), busy("b", &steady), "both runs were disturbed"),
        (busy("a", &steady), recorded("b", "Disk", &slower), "the first run was disturbed"),
    ] {
        let comparison = compare(&a, &b, &options).expect("equal tests");
        let n = comparison.tests.iter().filter(|test| !test.further).count();
        assert_eq!(comparison.gate, Some(Verdict::NotDecided));
        assert_eq!(comparison.gates(Verdict::NotDecided), (n, n));
        assert_eq!(comparison.gates(Verdict::Holds), (0, n));
        let json = ssdgauge_export::comparison_json(&comparison);
        crate::schema::check("compare.json", &json);
        assert_eq!(json["gate"], "undecided");
        assert!(json["gate_reason"].as_str().is_some_and(|said| said.contains(why)), "{json}");
        let tests = json["tests"].as_array().expect("a list");
        let counted = || tests.iter().filter(|test| test["further"] == false);
        assert!(counted().all(|test| test["gate"] == "undecided"), "{json}");
        let junit = ssdgauge_export::comparison_junit(&comparison);
        assert!(junit.contains(&format!("failures=\"0\" errors=\"{n}\"")), "{junit}");
        let errors: Vec<&str> = junit.lines().filter(|line| line.contains("<error")).collect();
        assert!(errors.len() == n && errors.iter().all(|line| line.contains(why)), "{junit}");
        let text = ssdgauge_export::comparison_text(&comparison, 120, false);
        assert!(text.contains(&format!("gate at 5 %: not decided: {why}")), "{text}");
        let markdown = ssdgauge_export::comparison_markdown(&comparison);
        assert!(markdown.contains(&format!("Gate at 5 %: **not decided**: {why}")), "{markdown}");
    }
    // Without a threshold the gate needs no reason.
    let comparison =
        compare(&busy("a", &steady), &busy("b", &steady), &CompareOptions::default()).unwrap();
    let json = ssdgauge_export::comparison_json(&comparison);
    assert!(json["gate"].is_null() && json["gate_reason"].is_null(), "{json}");
    assert!(ssdgauge_export::comparison_junit(&comparison).contains("errors=\"0\""));
}
