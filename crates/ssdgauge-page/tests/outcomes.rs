//! How a run ended: every surface says it before any number, and quotes no number that is not the drive's.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use crate::support::{Recipe, client, quick, run};
use ssdgauge_analysis::inputs::notes::Notes;
use ssdgauge_analysis::{PageOptions, Run, RunOutcome, run_outcome};
use ssdgauge_core::{Finding, FindingKind, Severity};
use ssdgauge_export::{json, markdown, terminal_summary};
use ssdgauge_page::page;
use ssdgauge_runfile::{Outcome, OutcomeKind};

const BUSY: &str = "other processes moved 4.3 GB on this drive";

pub(crate) fn busy(steps: std::ops::Range<usize>) -> Run {
    let finding = |step| {
        (Some(step), Finding::new(FindingKind::OtherTraffic, Severity::Warning, BUSY, "stop them"))
    };
    let findings = steps.map(finding).collect();
    run(&Recipe { findings, ..Recipe::new("a", client(6, 30), "Disk") })
}

/// A run that ended with this error in its twelfth step, after 61 s: the first of its three tests has a result.
fn broken(reason: &str, findings: Vec<(Option<usize>, Finding)>) -> Run {
    let mut run = run(&Recipe { steps: 12, findings, ..Recipe::new("a", client(6, 30), "Disk") });
    let unix_ms = run.head.started_unix_ms + 61_400;
    run.recorded_outcome =
        Some(Outcome { unix_ms, kind: OutcomeKind::Failed, reason: reason.to_owned() });
    run
}

pub(crate) fn gone() -> Run {
    let text = "the drive disappeared";
    broken(
        text,
        vec![(Some(11), Finding::new(FindingKind::DriveGone, Severity::Invalid, text, ""))],
    )
}

/// What a reader sees before anything else: the part of the page up to the list of what to do, the first lines of the
/// card, and the paragraph of the Markdown.
fn first_words(run: &Run) -> [String; 3] {
    let runs = std::slice::from_ref(run);
    let page = page(runs, &PageOptions::default());
    let head = page.split_once("<h1").unwrap().1.split_once("</header>").unwrap().0.to_owned();
    let card = terminal_summary(run, 80, false);
    let card = card.split_once("-----").unwrap().0.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = markdown(runs);
    let text = text.split_once("\n| Test").map_or(text.as_str(), |(before, _)| before);
    [head, card, text.to_owned()].map(|words| words.replace('\u{a0}', " "))
}

fn named(run: &Run) -> String {
    let outcome = json(std::slice::from_ref(run))["runs"][0]["outcome"].clone();
    assert_eq!(outcome, run_outcome(run).name());
    outcome.as_str().unwrap().to_owned()
}

#[test]
fn a_complete_run_has_no_word_for_its_outcome() {
    let whole = run(&Recipe::new("a", client(6, 30), "Disk"));
    assert_eq!(named(&whole), "complete");
    let page = page(std::slice::from_ref(&whole), &PageOptions::default());
    assert!(!page.contains("class=\"oc ") && !page.contains("What to do now"));
}

#[test]
fn a_drive_that_disappeared_has_no_speed_and_no_grade_on_any_surface() {
    let run = gone();
    assert_eq!(named(&run), "failed");
    for words in first_words(&run) {
        assert!(words.contains("The drive disappeared after 61 s"), "{words}");
        assert!(!words.contains("MB/s") && !words.contains("easurement quality"), "{words}");
    }
    let runs = std::slice::from_ref(&run);
    let page = page(runs, &PageOptions::default());
    for expected in
        ["Failed</span>", "journalctl", "ssdgauge drives", "ssdgauge resume", "do not quote"]
    {
        assert!(page.contains(expected), "{expected}");
    }
    let text = markdown(runs) + &terminal_summary(&run, 80, false);
    assert!(!text.contains("MB/s") && !text.contains("trust"), "{text}");
}

#[test]
fn a_virtual_drive_has_no_cable_and_no_line_in_the_log_of_the_kernel() {
    let mut run = gone();
    let shown = |run: &Run| page(std::slice::from_ref(run), &PageOptions::default());
    // Ten minutes before it failed, or from its start.
    let date = ssdgauge_analysis::text::number::date(run.head.started_unix_ms);
    assert!(shown(&run).contains(&format!("journalctl -k --since &quot;{date}&quot;")));
    run.head.drive.kind = ssdgauge_core::TargetKind::Virtual;
    let page = shown(&run);
    assert!(page.contains("The drive disappeared") && page.contains("ssdgauge resume"));
    for words in ["journalctl", "cable", "ssdgauge drives", "Save what matters"] {
        assert!(!page.contains(words), "{words}");
    }
}

#[test]
fn a_disturbed_run_has_the_grade_that_forbids_quoting() {
    let page = page(&[busy(0..22)], &PageOptions::default());
    assert!(page.contains("grade D</a>") && page.contains("not to be quoted"));
}

#[test]
fn the_notes_of_an_editor_follow_what_happened_to_the_run() {
    const NOTES: &str = "+++\ntitle = \"A fine drive\"\nbyline = \"Anna Example\"\ncurrency = \"EUR\"\n
[[drive]]\nname = \"Disk\"\nprice = 89.9\npros = [\"Quiet\"]\n+++\nFirst words.\n\n# Conclusion\n\nLast words.\n";
    let notes = || Some(Notes::parse("notes.md", NOTES).unwrap());
    let mut unfinished = Recipe::new("a", client(6, 30), "Disk");
    unfinished.steps = 11;
    for own in [gone(), busy(0..22), run(&unfinished)] {
        let [first, ..] = first_words(&own);
        let doubt = first.split_once('>').unwrap().1.split_once("</h1>").unwrap().0.to_owned();
        let options = PageOptions { notes: notes(), ..PageOptions::default() };
        let page = page(&[own], &options).replace('\u{a0}', " ");
        let body = page.split_once("<body").unwrap().1;
        let expected = [
            &doubt,
            "A fine drive",
            "Anna Example · 89.90 EUR",
            "First words.",
            "Last words.",
            "Quiet",
            "id=\"caveats\"",
        ];
        let places = expected.map(|words| body.find(words).unwrap_or_else(|| panic!("{words}")));
        assert!(places.is_sorted(), "{places:?}");
        assert!(page.contains("<meta name=\"author\" content=\"Anna Example\">"));
    }
    // What is not a speed of the drive has no price.
    let priced = |own: Run| {
        let options = PageOptions { notes: notes(), ..PageOptions::default() };
        page(&[own], &options).contains("<h3>Price</h3>")
    };
    assert!(priced(run(&Recipe::new("a", client(6, 30), "Disk"))));
    assert!(!priced(busy(0..22)) && !priced(gone()));
}

#[test]
fn an_error_of_the_host_is_told_as_it_is() {
    let run = broken("io_uring is not permitted here", Vec::new());
    assert_eq!(run_outcome(&run), RunOutcome::Failed);
    for words in first_words(&run) {
        assert!(words.contains("The run failed"), "{words}");
        assert!(words.contains("is not permitted here"), "{words}");
        assert!(!words.contains("disappeared") && !words.contains("MB/s"), "{words}");
    }
}

#[test]
fn a_failure_before_the_format_that_records_it_is_known_from_its_finding() {
    let mut run = gone();
    run.recorded_outcome = None;
    assert_eq!(run_outcome(&run), RunOutcome::Failed);
    assert!(first_words(&run).iter().all(|words| words.contains("The drive disappeared")));
}

#[test]
fn a_run_is_disturbed_where_more_than_half_of_its_results_are() {
    // The tests of this plan have 11, 10 and 1 measured steps.
    assert_eq!(run_outcome(&busy(0..1)), RunOutcome::Complete);
    let run = busy(0..22);
    assert_eq!(named(&run), "disturbed");
    for words in first_words(&run) {
        assert!(words.contains("Other programs used the drive"), "{words}");
        assert!(words.to_lowercase().contains(&BUSY.to_lowercase()), "{words}");
        assert!(!words.contains("MB/s"), "{words}");
    }
    let page = page(std::slice::from_ref(&run), &PageOptions::default());
    assert!(page.contains("ssdgauge doctor ") && page.contains("What it measured, for the record"));
}

#[test]
fn what_the_drive_did_itself_disturbs_nothing() {
    let hot = |step| {
        let kind = FindingKind::Throttled;
        (Some(step), Finding::new(kind, Severity::Warning, "throttled at 84 °C", "cool it"))
    };
    let findings = (0..22).map(hot).collect();
    let run = run(&Recipe { findings, ..Recipe::new("a", client(6, 30), "Disk") });
    assert_eq!(run_outcome(&run), RunOutcome::Complete);
}

#[test]
fn an_unfinished_run_says_what_is_missing_and_how_to_go_on() {
    let mut recipe = Recipe::new("a", client(6, 30), "Disk");
    recipe.steps = 11;
    let run = run(&recipe);
    assert_eq!(named(&run), "unfinished");
    let options = PageOptions { rest: Some("2 h 10 min left".to_owned()), ..Default::default() };
    let page = page(std::slice::from_ref(&run), &options);
    for expected in
        ["1 of 3 tests is done; 2 to go", "min left", "ssdgauge resume", "half of the tests"]
    {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains("class=\"trust\""), "no grade for one test of three");
    // A test that has not begun is a line, and no section.
    let title = &run.tests[2].test.title;
    assert!(page.contains(title.as_str()) && !page.contains(&format!("<h3>{title}")));
    for words in first_words(&run) {
        assert!(words.contains("1 of 3 tests is done"), "{words}");
    }
}

#[test]
fn a_quick_run_that_was_stopped_leads_with_no_speed() {
    let mut recipe = Recipe::new("a", quick(6), "Disk");
    recipe.steps = 4;
    let run = run(&recipe);
    let document = json(std::slice::from_ref(&run));
    assert!(document["runs"][0]["quick_answer"].as_str().unwrap().contains("done"));
    assert!(first_words(&run).iter().all(|words| !words.contains("Sequential reads at")));
}
