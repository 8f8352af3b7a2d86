//! Results that a finding makes invalid: they lead nowhere, are compared with nothing, and are not a headline; the
//! finding comes first.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use crate::support;
use crate::support::{Pace, Recipe, client, quick, run, steady};
use ssdgauge_analysis::{CompareError, CompareOptions, Difference, PageOptions, Run, compare};
use ssdgauge_core::{Finding, FindingKind, Severity, Stream, Verdict};
use ssdgauge_export::{markdown, openmetrics, terminal_summary};
use ssdgauge_page::page;

const TEXT: &str = "51 of 64 blocks do not hold the data that was written";

fn lost() -> Finding {
    Finding::new(FindingKind::WrongData, Severity::Invalid, TEXT, "do not use the results")
}

fn faster(stream: &Stream, second: u32) -> Pace {
    let pace = steady(stream, second);
    Pace { iops: pace.iops * 3 / 2, lat_us: pace.lat_us / 1.5 }
}

/// A drive that is half as fast again; invalid as a whole, or from the step with this number.
fn fast(step: Option<Option<usize>>) -> Run {
    let mut recipe = Recipe::new("b", quick(12), "Fast");
    recipe.pace = &faster;
    recipe.findings.extend(step.map(|step| (step, lost())));
    run(&recipe)
}

fn slow() -> Run {
    run(&Recipe::new("a", quick(12), "Slow"))
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_invalid_result_is_compared_with_nothing_and_cannot_pass_a_gate() {
    let options = CompareOptions { threshold: Some(0.05), ..CompareOptions::default() };
    let valid = compare(&slow(), &fast(None), &options).unwrap();
    assert_eq!(valid.gate, Some(Verdict::Holds));
    assert_eq!(valid.doubts, [None, None]);
    // The finding is of the first step, which is one of sequential reads.
    for (runs, name) in
        [([slow(), fast(Some(Some(0)))], "second"), ([fast(Some(Some(0))), slow()], "first")]
    {
        let compared = compare(&runs[0], &runs[1], &options).unwrap();
        for test in &compared.tests {
            let is_invalid = test.id == "sequential-read";
            let unknown = Difference::Unknown(format!("the {name} run is invalid: Wrong data"));
            assert_eq!(
                test.difference == unknown,
                is_invalid,
                "{}: {:?}",
                test.id,
                test.difference
            );
            assert_eq!(test.ratio.is_none(), is_invalid);
        }
        assert_ne!(compared.gate, Some(Verdict::Holds), "{name}");
        assert!(
            ssdgauge_export::comparison_junit(&compared).contains("errors=\"1\""),
            "{}",
            ssdgauge_export::comparison_junit(&compared)
        );
        let text = words(&ssdgauge_export::comparison_text(&compared, 100, false));
        let letter = if name == "second" { "B" } else { "A" };
        let doubt = format!("Measurement quality of {letter}: grade D, wrong data");
        assert!(text.find(&doubt).unwrap() < text.find("B is worse in").unwrap(), "{text}");
        assert!(ssdgauge_export::comparison_markdown(&compared).contains(&doubt));
        assert!(
            !ssdgauge_export::comparison_json(&compared)[letter.to_lowercase()]["doubts"].is_null()
        );
    }
    let error = compare(&slow(), &fast(Some(None)), &options).unwrap_err();
    let CompareError::NothingInCommon(why) = error else { panic!("{error}") };
    assert_eq!(why, "the second run is invalid: Wrong data");
}

#[test]
fn an_invalid_run_does_not_lead_and_is_not_recommended() {
    let options = PageOptions::default();
    let head = |html: &str| {
        let end = html.find("<h2").unwrap();
        words(&html[html.find("<h1").unwrap()..end])
    };
    let valid = page(&[slow(), fast(None)], &options);
    assert!(head(&valid).contains("Fast leads"), "{}", head(&valid));
    let runs = [slow(), fast(Some(None))];
    let invalid = page(&runs, &options);
    for text in [words(&invalid), words(&markdown(&runs))] {
        assert!(!text.contains("Fast leads"), "{text}");
        assert!(!text.contains("leads with"), "{text}");
    }
    assert!(words(&invalid).contains("all results are invalid"), "{invalid}");
}

#[test]
fn an_invalid_run_of_one_drive_says_so_before_its_numbers() {
    let run = [fast(Some(None))];
    let html = page(&run, &PageOptions::default());
    let title = &html[html.find("<h1").unwrap()..html.find("</h1>").unwrap()];
    assert!(title.contains(TEXT), "{title}");
    assert!(!html.contains("does not fall in this run"));
    let markdown = markdown(&run);
    assert!(markdown.contains("invalid (Wrong data)"), "{markdown}");
    assert!(!openmetrics(&run).contains("ssdgauge_headline{"));
    assert!(openmetrics(&[slow()]).contains("ssdgauge_headline{"));
    let card = words(&terminal_summary(&run[0], 100, false));
    assert!(card.contains(&format!("Look at this first: {TEXT}")), "{card}");

    let mut recipe = Recipe::new("c", client(12, 40), "Disk");
    recipe.findings.push((None, lost()));
    let run = [support::run(&recipe)];
    let html = page(&run, &PageOptions::default());
    let title = &html[html.find("<h1").unwrap()..html.find("</h1>").unwrap()];
    assert!(title.contains("no test has a valid result (Wrong data)"), "{title}");
    let card = terminal_summary(&run[0], 100, false);
    assert!(
        card.lines().any(|line| line.contains("Mixed 4 kB") && line.contains("invalid")),
        "{card}"
    );
}
