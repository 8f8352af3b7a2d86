//! What leaves the page: Markdown, terminal and pictures state what the page states, with every mark.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use crate::support::{Pace, Recipe, plan, run, step, stream, test};
use ssdgauge_analysis::{CompareOptions, PageOptions, Run, compare};
use ssdgauge_core::search::{Limits, Search, SearchRule};
use ssdgauge_core::{
    Access, Arrival, Chart, Finding, FindingKind, Metric, Nanos, Reading, Score, Severity, Stream,
    TargetKind, Test, Window,
};
use ssdgauge_export::{markdown, terminal_summary};
use ssdgauge_page::{figures, page};

fn tests() -> Vec<Test> {
    let window = Window::Time(Nanos::from_secs(20));
    let last = Score::MeanOfLast { metric: Metric::ThroughputMbS, window };
    let write = step("write", 1.0, stream(Access::Sequential, 131_072, 0, 32), 70);
    let all = [Chart::Ranking, Chart::Timeline];
    let reads = |id: &str| {
        let read = step("QD4", 1.0, stream(Access::Random, 4_096, 100, 4), 12);
        test(id, &format!("Random read {id}"), Score::MeanOf(Metric::Iops), &all, vec![read])
    };
    let fill = test("fill", "Sequential write", last, &all, vec![write]);
    vec![fill, reads("a"), reads("b"), reads("c"), reads("d")]
}

/// Returns a run of the drive with this number, which has finished `steps` steps.
fn recorded(number: usize, steps: usize, kind: TargetKind) -> Run {
    let pace = move |stream: &Stream, second: u32| {
        let falls = stream.access == Access::Sequential && second >= 20;
        let speed = 4_000.0 * (1.0 + number as f64 / 4.0);
        let wobble = 1.0 + 0.002 * (f64::from(second) * 1.7).sin();
        let iops = speed * wobble * if falls { 0.4 } else { 1.0 };
        Pace { iops: iops as u64, lat_us: 100.0 * (1 + number) as f64 }
    };
    let mut recipe = Recipe::new(&format!("run-{number}"), plan("own", tests()), &name(number));
    recipe.pace = &pace;
    recipe.steps = steps;
    recipe.power_w = Some(2.0 + number as f64);
    recipe.drive.kind = kind;
    recipe.drive.serial = Some(format!("S{number}"));
    recipe.drive.target = format!("/dev/nvme{number}n1");
    run(&recipe)
}

fn name(number: usize) -> String {
    let names = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta", "Theta", "Iota"];
    names.get(number).map_or_else(|| format!("Drive {number}"), |name| (*name).to_owned())
}

#[test]
fn the_markdown_of_several_drives_has_the_answer_of_the_page() {
    let runs: Vec<Run> =
        (0..6).map(|number| recorded(number, usize::MAX, TargetKind::Virtual)).collect();
    let text = markdown(&runs);
    assert!(text.len() <= 6_000, "{}", text.len());
    assert!(text.contains("come from virtual drives"), "{text}");
    let head = text.lines().find(|line| line.starts_with("| Drive |")).unwrap();
    for column in ["Best for", "p99.99", "Efficiency", "Sustained", "Until it slows", "Grade"] {
        assert!(head.contains(column), "{column}: {head}");
    }
    let cells = |line: &str| line.matches('|').count();
    for number in 0..6 {
        let begins = format!("| {} ", name(number));
        let row = text.lines().find(|line| line.starts_with(&begins)).unwrap();
        assert_eq!(cells(row), cells(head), "{row}");
        assert!(row.contains("then 40 %"), "{row}");
    }
    let mixed =
        [recorded(0, usize::MAX, TargetKind::Virtual), recorded(1, usize::MAX, TargetKind::Block)];
    assert!(markdown(&mixed).contains("The results of names with MODEL"), "{}", markdown(&mixed));
}

#[test]
fn findings_of_equal_text_on_several_tests_are_counted_and_named() {
    let mut own = recorded(0, usize::MAX, TargetKind::Block);
    let finding = || {
        Finding::new(FindingKind::Disturbed, Severity::Warning, "another program ran", "stop it")
    };
    for test in own.tests.iter_mut().skip(1).take(3) {
        let findings = &mut test.findings;
        findings.push(ssdgauge_analysis::StepFinding {
            step: None,
            metrics: Vec::new(),
            finding: finding(),
        });
    }
    let titles = "in Random read a; Random read b; Random read c; 3 findings";
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let terminal = words(terminal_summary(&own, 100, false));
    let found = own.tests.iter().flat_map(|test| &test.findings);
    let warnings = found.filter(|one| one.finding.severity == Severity::Warning).count();
    assert!(warnings >= 3 && terminal.contains(&format!("{warnings} warnings")), "{terminal}");
    assert!(terminal.contains(titles), "{terminal}");
    let text = markdown(std::slice::from_ref(&own));
    assert!(text.contains(titles), "{text}");
    let page = page(&[own], &PageOptions::default());
    let caveats = page.split("id=\"caveats\"").nth(1).unwrap();
    let line = caveats.split("</li>").find(|line| line.contains("other work")).unwrap();
    assert!(line.contains("Random read a; Random read b; Random read c"), "{line}");
    assert!(line.contains("3 findings"), "{line}");
}

#[test]
fn the_line_below_a_picture_states_the_marks_of_single_runs() {
    let runs = [
        recorded(0, usize::MAX, TargetKind::Block),
        recorded(1, 2, TargetKind::Block),
        recorded(2, usize::MAX, TargetKind::Block),
    ];
    let source = |runs: &[Run]| {
        let all = figures(runs, &PageOptions::default());
        let figure = all.into_iter().find(|one| one.svg.contains("Sequential write")).unwrap();
        figure.svg.replace('\u{a0}', " ")
    };
    assert!(source(&runs).contains("1 of 3 UNFINISHED"), "{}", source(&runs));
    assert!(!source(&runs[..1]).contains("UNFINISHED"));
}

#[test]
fn lines_of_grey_drives_differ_in_pictures_and_marks() {
    let runs: Vec<Run> =
        (0..9).map(|number| recorded(number, usize::MAX, TargetKind::Block)).collect();
    let all = figures(&runs, &PageOptions::default());
    let course = all.iter().find(|one| one.svg.contains("stroke-dasharray=\"7 3\"")).unwrap();
    // Three grey drives: a solid line, and two dashes.
    assert!(course.svg.contains("stroke-dasharray=\"2 3\""), "{}", course.name);
    let page = page(&runs, &PageOptions::default());
    let icons: Vec<&str> = page.split("<svg class=\"ic d-").skip(1).collect();
    let mut hollow: Vec<&str> = icons
        .iter()
        .filter_map(|icon| icon.split("</svg>").next())
        .filter(|icon| icon.contains("mk ho"))
        .filter_map(|icon| icon.split("aria-hidden").nth(1))
        .collect();
    hollow.sort_unstable();
    hollow.dedup();
    assert_eq!(hollow.len(), 3, "{hollow:?}");
}

#[test]
fn a_multiple_of_a_load_names_the_load() {
    let at = |load: f64| {
        let mut requests = stream(Access::Random, 4_096, 100, 64);
        requests.arrival = Arrival::Uniform { per_second: 500.0 * load };
        step(&format!("{load}x"), load, requests, 12)
    };
    let mut searched = test(
        "search",
        "Highest passing load, reads",
        Score::HighestPassing,
        &[Chart::Ranking],
        vec![at(1.0), at(2.0), at(4.0)],
    );
    searched.search = Some(Search {
        probes: 0,
        attempts: 0,
        recondition: Vec::new(),
        limits: Limits { slice: Nanos::from_secs(1), above: Vec::new(), of: Default::default() },
        rule: SearchRule::default(),
        repeats: false,
    });
    let mut recipe = Recipe::new("run-0", plan("own", vec![searched]), "Alpha");
    recipe.drive.kind = TargetKind::Block;
    let passed = |(number, value): (usize, f64)| {
        let quantity = ssdgauge_core::PASSED.to_owned();
        (number, Reading { at: Nanos::ZERO, instrument: "search".into(), quantity, value })
    };
    recipe.readings = [1.0, 1.0, 0.0].into_iter().enumerate().map(passed).collect();
    let page = page(&[run(&recipe)], &PageOptions::default()).replace('\u{a0}', " ");
    let between = |from: &str, to: &str| page.split(from).nth(1).unwrap().split(to).next().unwrap();
    let title = between("<h1>", "</h1>");
    assert!(title.contains("Holds 2× of 500 requests/s for 12 s, fails 4×"), "{title}");
    assert!(
        page.contains("<h3>Passes at 2× of 500 requests/s for 12 s"),
        "{}",
        between("<h3>", "</h3>")
    );
    assert!(page.contains("Multiples of 500 requests/s for 12 s"));
    // Wherever the load is printed, the time for which it passed is too.
    let one = run(&recipe);
    let text = markdown(std::slice::from_ref(&one)).replace('\u{a0}', " ");
    assert!(text.contains("| 2× for 12 s |"), "{text}");
    let compared = compare(&one, &one, &CompareOptions::default()).unwrap();
    let compared = ssdgauge_export::comparison_markdown(&compared);
    assert!(compared.contains("meets the latency limits for 12 s"), "{compared}");
}
