//! A sweep of the requests that are due in a second has a curve over that load.

#![allow(clippy::unwrap_used, reason = "tests panic on failure")]

use crate::support::{self, Pace, Recipe, run};
use ssdgauge_analysis::PageOptions;
use ssdgauge_analysis::findings::trust::{self, Grade};
use ssdgauge_core::{Access, Arrival, Chart, Finding, FindingKind, Metric, Score, Severity};
use ssdgauge_page::page;

#[test]
fn an_open_loop_has_a_line_over_its_load_and_its_first_load_once() {
    // More loads than steps without a common axis have places for, and the first one again.
    let loads: Vec<f64> = (0..10).map(|power| 1_000.0 * f64::from(1 << power)).collect();
    let of_load = |(number, per_second): (usize, &f64)| {
        let mut stream = support::stream(Access::Random, 4_096, 100, 1);
        stream.arrival = Arrival::Poisson { per_second: *per_second };
        support::step(&format!("{per_second}/s {number}"), number as f64, stream, 6)
    };
    let steps = loads.iter().chain(&loads[..1]).enumerate().map(of_load).collect();
    let score = Score::BestOf(Metric::Iops);
    let figures = [Chart::Ranking, Chart::Curve];
    let test = support::test("load", "Random read, open loop", score, &figures, steps);
    // Half a million requests are more than this drive completes.
    let pace = |stream: &ssdgauge_core::Stream, _: u32| Pace {
        iops: stream.arrival.per_second().unwrap().min(300_000.0) as u64,
        lat_us: 100.0,
    };
    let mut recipe = Recipe::new("a", support::plan("load-curve", vec![test]), "Disk");
    recipe.pace = &pace;
    let page = page(&[run(&recipe)], &PageOptions::default());
    assert!(page.contains("requests due per second"));
    let values = page.split("<svg").find(|chart| chart.contains("512000/s 9: ")).unwrap();
    let count = |words: &str| values.matches(words).count();
    assert_eq!((count("1000/s 0: "), count("1000/s 10: ")), (1, 0), "{values:.900}");
    assert_eq!(count("512000/s 9: 300,000"), 1, "{values:.900}");
}

#[test]
fn a_load_beyond_the_quoted_one_is_too_high_on_purpose() {
    let of_load = |per_second: f64| {
        let mut stream = support::stream(Access::Random, 4_096, 100, 1);
        stream.arrival = Arrival::Poisson { per_second };
        support::step(&format!("{per_second}/s"), per_second, stream, 6)
    };
    let loads = [1_000.0, 4_000.0, 16_000.0];
    let steps: Vec<_> = loads.map(of_load).into();
    let score = Score::KneeOfLoad(Metric::Iops);
    let test = support::test("load", "Random read, open loop", score, &[Chart::Ranking], steps);
    // The rate divided by the latency is the highest at 4,000 requests per second.
    let pace = |stream: &ssdgauge_core::Stream, _: u32| {
        let due = stream.arrival.per_second().unwrap();
        Pace { iops: due.min(5_000.0) as u64, lat_us: if due > 5_000.0 { 4_000.0 } else { 100.0 } }
    };
    let grade = |step: usize| {
        let mut recipe = Recipe::new("a", support::plan("own", vec![test.clone()]), "Disk");
        recipe.pace = &pace;
        let text = "1,000 requests were due and not sent";
        let finding = Finding::new(FindingKind::Overloaded, Severity::Warning, text, "");
        recipe.findings.push((Some(step), finding));
        let run = run(&recipe);
        assert_eq!(run.tests[0].headline.value.unwrap().round(), 4_000.0);
        trust::of_runs([&run]).unwrap().grade
    };
    assert_eq!(grade(2), Grade::A);
    assert_eq!(grade(1), Grade::C, "the quoted load itself");
    assert_eq!(grade(0), Grade::C, "a load below it");
}
