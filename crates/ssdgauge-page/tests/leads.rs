//! One rule for a difference: a page claims a lead exactly where `compare` says that two runs differ.

#![allow(clippy::unwrap_used, reason = "tests panic on failure")]

use crate::support;
use crate::support::{Pace, Recipe, run};
use ssdgauge_analysis::{CompareOptions, Difference, PageOptions, Run, compare};
use ssdgauge_core::{Access, Chart, ConfidenceInterval, Metric, Random, Score};
use ssdgauge_export::markdown;
use ssdgauge_page::page;

/// The words of a title that claims a lead.
const LEADS: [&str; 5] =
    [" leads with ", " has the lowest ", " is first with ", " needs the least", " passes at "];

/// Returns a run of `model` with a test for each of `series`, the rates of its seconds.
fn of_series(model: &str, series: &[Vec<f64>]) -> Run {
    let of_test = |(number, values): (usize, &Vec<f64>)| {
        let mut stream = support::stream(Access::Random, 4_096, 100, 1);
        stream.name = number.to_string();
        let step = support::step("QD1", 1.0, stream, values.len() as u64);
        let score = Score::MeanOf(Metric::Iops);
        support::test(&format!("t{number}"), "Random read", score, &[Chart::Ranking], vec![step])
    };
    let plan = support::plan("series", series.iter().enumerate().map(of_test).collect());
    let pace = |stream: &ssdgauge_core::Stream, second: u32| {
        let series = &series[stream.name.parse::<usize>().unwrap()];
        Pace { iops: (100.0 * series[second as usize]).round() as u64, lat_us: 10.0 }
    };
    let mut recipe = Recipe::new(model, plan, model);
    recipe.pace = &pace;
    run(&recipe)
}

/// Returns rates around `level`: steady, of independent noise, or with a few seconds of another size.
fn rates(level: f64, seconds: usize, kind: u64, random: &mut Random) -> Vec<f64> {
    let normal = |random: &mut Random| (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
    let mut one = || match kind {
        0 => level,
        1 => level * (1.0 + 0.03 * normal(random)),
        2 => level * (1.0 + 0.15 * normal(random)),
        _ => level * (0.6 * normal(random)).exp(),
    };
    (0..seconds).map(|_| one().max(0.05)).collect()
}

/// Returns the title of the figure of test `number` on `page`; `None` where it has no figure.
fn title(page: &str, number: usize) -> Option<&str> {
    let figure = page.split(&format!("<figure id=\"series/t{number}\">")).nth(1)?;
    figure.split("<h3>").nth(1)?.split("</h3>").next()
}

#[test]
fn a_page_claims_a_lead_exactly_where_compare_finds_a_difference() {
    let mut found = [0, 0];
    for seed in 0..6 {
        let mut random = Random::new(seed, 3);
        let mut series = [Vec::new(), Vec::new()];
        for _ in 0..30 {
            let seconds = [5, 12, 40][random.below(3) as usize];
            let ratio = [1.0, 1.031, 1.06, 1.3, 1.7, 3.0][random.below(6) as usize];
            let levels = if random.below(2) == 0 { [1.0, ratio] } else { [ratio, 1.0] };
            let kind = random.below(4);
            for (series, level) in series.iter_mut().zip(levels) {
                series.push(rates(level, seconds, kind, &mut random));
            }
        }
        let [a, b] = [of_series("Disk A", &series[0]), of_series("Disk B", &series[1])];
        let options = CompareOptions::default();
        let forth = compare(&a, &b, &options).unwrap();
        let back = compare(&b, &a, &options).unwrap();
        let page = page(&[a, b], &PageOptions::default());
        for (number, (test, other)) in forth.tests.iter().zip(&back.tests).enumerate() {
            let place = format!("seed {seed}, test {number}, {:?}", test.ratio);
            assert_eq!(test.difference.outcome(), other.difference.outcome(), "{place}");
            let title = title(&page, number);
            let leads = title.is_some_and(|title| LEADS.iter().any(|words| title.contains(words)));
            let differs = test.difference.outcome() == "differs";
            assert_eq!(leads, differs, "{place}: {title:?}");
            let best = if test.difference == Difference::Better { "Disk B" } else { "Disk A" };
            assert!(!leads || title.unwrap().starts_with(best), "{place}: {title:?}");
            found[usize::from(leads)] += 1;
        }
    }
    assert!(found.iter().all(|count| *count > 30), "{found:?}: one side is hardly tested");
}

/// Returns a run whose result is the highest load that passed, `low`, while one trial of `high` passed.
fn searched(model: &str, low: f64, high: f64) -> Run {
    let mut run = of_series(model, &[vec![1.0; 12]]);
    let test = &mut run.tests[0];
    test.test.score = Score::HighestPassing;
    test.headline.metric = Metric::LoadMultiple;
    test.headline.value = Some(low);
    test.headline.interval = match low < high {
        true => ConfidenceInterval::OfTrials { low, high },
        false => ConfidenceInterval::Undefined,
    };
    run
}

#[test]
fn loads_of_searches_are_printed_and_judged_by_their_ranges() {
    for (a, b, outcome) in [
        ((6.0, 7.0), (6.0, 6.0), "cannot-tell"),
        ((6.0, 7.0), (7.0, 8.0), "cannot-tell"),
        ((6.0, 7.0), (8.0, 8.0), "differs"),
        ((6.0, 7.0), (4.0, 5.0), "differs"),
        ((6.0, 6.0), (9.0, 9.0), "differs"),
        ((6.0, 6.0), (6.0, 6.0), "equal"),
    ] {
        let [first, second] = [searched("Disk A", a.0, a.1), searched("Disk B", b.0, b.1)];
        let comparison = compare(&first, &second, &CompareOptions::default()).unwrap();
        let test = &comparison.tests[0];
        assert_eq!(test.difference.outcome(), outcome, "{a:?} {b:?}");
        let words = |(low, high): (f64, f64)| match low < high {
            true => format!("{low} to {high}×"),
            false => format!("{low}×"),
        };
        let text = ssdgauge_export::comparison_markdown(&comparison);
        assert!(text.contains(&format!("| {} | {} |", words(a), words(b))), "{text}");
        let text = ssdgauge_export::comparison_text(&comparison, 120, false);
        let [a_words, b_words] = [a, b].map(|load| words(load).replace('×', ""));
        let is_row = |line: &&str| {
            let cells: Vec<&str> =
                line.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect();
            cells.windows(2).any(|pair| pair[0] == a_words && pair[1] == b_words)
        };
        assert!(text.lines().any(|line| is_row(&line)), "{text}");
        let json = ssdgauge_export::comparison_json(&comparison);
        let range = &json["tests"][0]["range_a"];
        assert_eq!(
            (range["low"].as_f64(), range["high"].as_f64()),
            match a.0 < a.1 {
                true => (Some(a.0), Some(a.1)),
                false => (None, None),
            }
        );
        let runs = [first, second];
        let page = page(&runs, &PageOptions::default());
        let title = title(&page, 0);
        let leads = title.is_some_and(|title| LEADS.iter().any(|words| title.contains(words)));
        assert_eq!(leads, outcome == "differs", "{a:?} {b:?}: {title:?}");
        let table = markdown(&runs);
        assert!(a.0 == a.1 || table.contains(&words(a)), "{table}");
    }
}
