//! Claims on every built-in suite.

use crate::suites::runs::RUNS;
use crate::suites::shown_values::ShownValues;
use crate::suites::support::{carried_out, found, is_possible, planned, remarks, rig, run};
use ssdgauge_analysis::{CachePlace, PageOptions, Run};
use ssdgauge_core::{Action, FindingKind, PhaseKind, Rest};
use ssdgauge_lab::{Suite, built_in, find_built_in};
use ssdgauge_page::page;

#[test]
fn every_suite_runs_to_its_end_and_has_every_headline() {
    let known: Vec<String> = built_in().into_iter().map(|suite| suite.id).collect();
    let run_here: Vec<&str> = RUNS.iter().map(|(suite, ..)| *suite).collect();
    assert_eq!(known, run_here, "a new suite needs a line in RUNS");
    let mut values = 0;
    for (suite, shorten, target) in RUNS {
        let run = run(suite, &[], target, *shorten);
        assert!(run.complete, "{suite}");
        headline_names_test_and_load(suite, &run);
        crate::schema::check("report.json", &ssdgauge_export::json(std::slice::from_ref(&run)));
        let shown = ShownValues::of(&run);
        assert!(shown.outside.is_empty(), "{suite} on {target}: {:#?}", shown.outside);
        values += shown.count;
        // What a site checks of strangers' results holds for every run of ours.
        assert_eq!(is_possible(&run), Ok(()), "{suite}");
        for test in &run.tests {
            // The last 16 GB of a fill do not exist on a drive of 1 GB, and a shortened saturation
            // ends within a second: other tests cover these headlines.
            let value = test.headline.value.filter(|value| *value > 0.0);
            let id = test.test.id.as_str();
            let elsewhere = id.contains("fill") || id == "write-saturation";
            assert!(value.is_some() || elsewhere, "{suite}/{id}");
        }
    }
    assert!(values > 500, "{values} values with an interval");
}

/// Checks that what `title` says of one drive has request size and depth below it in `head`: a number of everyday work in
/// its tile, a fall of the write speed in the sentence.
fn everyday_numbers_have_settings(suite: &str, title: &str, head: &str) {
    let is_setting = |text: &str| {
        (text.contains("KiB") || text.contains("MiB"))
            && (text.contains("at once") || text.contains("at a time"))
    };
    let plain = head.replace('\u{a0}', " ");
    let after =
        |mark: &str| plain.split(mark).nth(1).map(|text| text.split("</p>").next().unwrap());
    let tiles: Vec<&str> = plain.split("<p class=\"set\">").skip(1).collect();
    for part in title.split(';') {
        let words: Vec<&str> = part.split(' ').map(|word| word.trim_end_matches(',')).collect();
        let numbers = words.windows(2).filter(|two| matches!(two[1], "MB/s" | "GB/s" | "IOPS"));
        let numbers: Vec<&str> = numbers.map(|two| two[0]).collect();
        if part.contains(" drop ") {
            let sentence = after("<p class=\"dek\">").unwrap_or_default();
            assert!(is_setting(sentence), "{suite}: {part}, {sentence}");
            continue;
        }
        if part.contains(" than the median ") {
            assert!(tiles.iter().any(|tile| is_setting(tile)), "{suite}: {part}");
            continue;
        }
        assert!(!numbers.is_empty(), "{suite}: {title}");
        for number in numbers {
            let tile = tiles.iter().find(|tile| tile.contains(&format!("<b>{number}</b>")));
            let setting = tile.map(|tile| tile.split("</p>").next().unwrap()).unwrap_or_default();
            assert!(is_setting(setting), "{suite}: {number} of {title}, {setting}");
        }
    }
    assert!(head.contains("grade"), "{suite} has no grade in its head");
}

/// Checks that the sentence `title` of a suite without plain reads and writes states a load that a reader could send again,
/// and that the request size and the grade are in `head`.
fn work_states_its_load(suite: &str, title: &str, head: &str) {
    let states = |words: &[&str]| words.iter().all(|word| title.contains(word));
    let is_stated = match title.split(' ').next() {
        // The version of ACT defines the sizes.
        Some("Holds") => states(&["×", "requests/s", " for ", "ACT "]),
        Some("A") => states(&["KiB commit takes", "on average", "1 in "]),
        _ => states(&["99 % of ", "within ", "/s"]),
    };
    assert!(is_stated, "{suite}: {title}");
    let has_size = title.starts_with("Holds") || head.contains("KiB");
    assert!(has_size, "{suite}: no request size with {title}");
    assert!(title.chars().count() <= 130, "{suite}: {title}");
    assert!(head.contains("grade"), "{suite} has no grade in its head");
}

/// Checks that the page of a run states the test and the load of the number in its headline, and its trust.
fn headline_names_test_and_load(suite: &str, run: &Run) {
    let page = page(std::slice::from_ref(run), &PageOptions::default());
    let head = page.split("<main").next().unwrap();
    let title = page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap();
    let parts = title.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let title = parts.collect::<String>().replace('\u{a0}', " ");
    // The load of a search is a multiple of the rates that its test states.
    let is_search = title.to_lowercase().contains("passes at ") && title.contains('×');
    let is_named = match title.split_once('“').and_then(|(_, rest)| rest.split_once('”')) {
        // That of a search leaves out the first words, which say that a load was searched for.
        Some((test, _)) => run.tests.iter().any(|one| match is_search {
            true => !test.is_empty() && one.test.title.ends_with(test),
            false => one.test.title == test,
        }),
        // A quick run has its own words, which contain those of its tests.
        None if suite.starts_with("quick") => true,
        // A sentence about commits, an open loop or a search states its load itself, its request size there or below.
        None if ["Holds ", "A ", "Answers ", "Does not answer "]
            .iter()
            .any(|first| title.starts_with(first)) =>
        {
            return work_states_its_load(suite, &title, head);
        }
        // The numbers of everyday work are repeated below, each with its setting.
        None => return everyday_numbers_have_settings(suite, &title, head),
    };
    assert!(is_named, "{suite}: {title}");
    let sizes = ["KiB", "MiB", "no load"];
    let loads = ["QD", "open loop", "no load", "threads", "one after the other", "in flight"];
    let has = |words: &[&str]| words.iter().any(|word| title.contains(word));
    assert!(is_search || (has(&sizes) && has(&loads)), "{suite}: {title}");
    // Two lines of a heading; a sentence of a kind of work has its interval too.
    assert!(title.chars().count() <= 130, "{suite}: {title}");
    assert!(head.contains("<p class=\"trust\">"), "{suite} has no grade in its head");
}

const DOCUMENT: &str = include_str!("../../../../docs/reference/suites.md");

#[test]
fn the_examples_of_the_documentation_are_accepted() {
    const HEAD: &str = "[suite]\nid = \"own\"\nrevision = 1\ntitle = \"Own\"\n";
    const TEST: &str = "[[test]]\nid = \"t\"\nrevision = 1\ntitle = \"T\"\n";
    let blocks = DOCUMENT.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let whole = |block: &str| match (block.contains("[suite]"), block.contains("[[test]]")) {
        (true, _) => Some(block.to_owned()),
        (false, true) => Some(format!("{HEAD}{block}")),
        (false, false) => block.contains("steps = ").then(|| format!("{HEAD}{TEST}{block}")),
    };
    let examples: Vec<String> = blocks.filter_map(whole).collect();
    assert_eq!(
        examples.len(),
        11,
        "an example, a neighbour, two lists of steps, six in `vocabulary`, a search"
    );
    for example in examples {
        let suite = Suite::parse("example.toml", &example);
        suite.unwrap_or_else(|error| panic!("{error}: {}\n{example}", error.hint));
    }
}

#[test]
fn every_suite_is_listed_in_the_documentation() {
    for suite in built_in() {
        let row =
            |line: &&str| line.starts_with("| `") && line.contains(&format!("`{}`", suite.id));
        assert!(
            DOCUMENT.lines().any(|line| row(&line)),
            "docs/reference/suites.md lists no {}",
            suite.id
        );
    }
}

#[test]
fn every_suite_and_test_has_a_source_and_a_summary() {
    for suite in built_in() {
        assert!(!suite.source.is_empty() && !suite.summary.is_empty(), "{}", suite.id);
        for test in &suite.tests {
            assert!(!test.source.is_empty(), "{}/{}", suite.id, test.id);
        }
    }
}

#[test]
fn the_suite_of_2015_scores_the_mean_of_the_first_three_queue_depths() {
    let run = run("iometer-2015", &["random-read", "mixed-random"], "tlc-client?capacity=20GB", 90);
    let read = &run.tests[0];
    let throughput = |index: usize| {
        let totals = &read.points[index].point.totals;
        totals.value(ssdgauge_core::Metric::ThroughputMbS, ssdgauge_core::Scope::All).unwrap()
    };
    let mean = (throughput(0) + throughput(1) + throughput(2)) / 3.0;
    assert!((read.headline.value.unwrap() - mean).abs() < 1e-9);
    assert_eq!(read.points.len(), 6);
    assert!(throughput(5) > 4.0 * throughput(0), "more in flight, more throughput");
    let labels: Vec<&str> = run.tests[1].points.iter().map(|p| p.point.label.as_str()).collect();
    assert_eq!(labels[..2], ["100 % read", "80 % read"]);
    assert_eq!(labels.len(), 6);
}

#[test]
fn each_burst_has_its_own_part_of_the_span_and_a_duty_cycle_of_one_fifth() {
    let rig = rig("tlc-client?capacity=20GB");
    let plan = planned("client-2018", &["burst-sequential-read"], &rig, 1);
    let measure = plan.tests[0].phases.last().unwrap();
    assert_eq!((measure.kind, measure.steps.len()), (PhaseKind::Measure, 8));
    let offsets: Vec<u64> = measure
        .steps
        .iter()
        .map(|step| match &step.action {
            Action::Run { workload, until, .. } => {
                assert_eq!(until.bytes.unwrap().0, 128_000_000);
                workload.streams[0].offset.0
            }
            Action::Prepare(_) | Action::Replay(_) | Action::Rest(_) | Action::Idle(_) => {
                panic!("a burst is a load")
            }
        })
        .collect();
    let burst = 977 * 131_072;
    assert_eq!(offsets, (0..8).map(|turn| turn * burst).collect::<Vec<u64>>());
    assert!(matches!(measure.steps[0].rest, Rest::DutyCycle { busy: 0.2, .. }));
}

#[test]
fn a_whole_drive_fill_writes_every_byte_once_and_finds_the_cache_edge() {
    let mut rig = rig("tlc-client?capacity=60GB");
    let plan = planned("client-2018", &["whole-drive-fill"], &rig, 1);
    let run = carried_out(&plan, &mut rig);
    let test = &run.tests[0];
    let capacity = run.head.drive.capacity.0;
    let written = test.points[0].point.totals.directions[1].bytes;
    assert!(written.abs_diff(capacity) < 131_072, "{written} of {capacity}");
    let (last, whole) = (test.headline.value.unwrap(), test.also[0].value.unwrap());
    let first = test.points[0].seconds().next().unwrap().throughput_mb_s();
    assert!(first > 2.0 * last && whole > last, "cache {first}, whole {whole}, end {last}");
    let totals = test.points[0].point.seconds.totals();
    let written: Vec<u64> = totals.map(|second| second.directions[1].bytes).collect();
    let edge = ssdgauge_statistics::cache::edge(&written).unwrap();
    let truth = test.points[0].point.totals.reading("slc_exhausted_bytes").unwrap();
    let miss = (edge.bytes as f64 - truth).abs();
    assert!(miss <= edge.uncertainty as f64, "{edge:?}, true value {truth}");
    assert!(remarks(&run, 0).contains("SLC cache of"), "{}", remarks(&run, 0));
}

#[test]
fn write_steps_are_located_relative_to_the_cache_edge_of_the_fill() {
    let tests = ["burst-sequential-write", "sustained-sequential-write", "whole-drive-fill"];
    let run = run("client-2018", &tests, "tlc-client?capacity=60GB", 1);
    let places = |test: usize| -> Vec<CachePlace> {
        run.tests[test].points.iter().filter_map(|point| point.cache).collect()
    };
    // A fill of 16 GB precedes the bursts, with a duty cycle of one fifth.
    assert_eq!(places(0).len(), 8);
    // After five minutes of rest the cache is empty, and 32 GB exceed it; a pause of a minute frees a
    // part of it.
    assert_eq!(places(1), [CachePlace::Crossing; 6]);
    let sustained = places(1);
    assert_eq!(places(2), [CachePlace::Crossing], "a fill crosses the cache edge");
    let exceeded = found(&run.tests[1], FindingKind::CacheExceeded);
    let outside = sustained.iter().filter(|place| **place != CachePlace::Inside).count();
    assert_eq!(exceeded.len(), outside, "{exceeded:?}");
    assert!(remarks(&run, 1).contains("SLC cache: "), "{}", remarks(&run, 1));
}

#[test]
fn queue_depths_are_threads_in_2019_and_rings_in_2020() {
    let rig = rig("tiny");
    let shape = |suite| -> Vec<(u32, u32)> {
        let plan = planned(suite, &["peak-random-read"], &rig, 1);
        let measured = plan.tests[0].phases.iter().find(|phase| phase.kind == PhaseKind::Measure);
        let steps = &measured.unwrap().steps;
        steps
            .iter()
            .map(|step| match &step.action {
                Action::Run { workload, .. } => {
                    (workload.streams[0].threads, workload.streams[0].queue_depth)
                }
                Action::Prepare(_) | Action::Replay(_) | Action::Rest(_) | Action::Idle(_) => {
                    panic!("a step of the sweep is a load")
                }
            })
            .collect()
    };
    let (of_2019, of_2020) = (shape("enterprise-2019"), shape("enterprise-2020"));
    assert_eq!((of_2019[0], of_2019[9]), ((1, 1), (512, 1)));
    assert_eq!((of_2020[3], of_2020[5], of_2020[9]), ((8, 1), (16, 2), (16, 32)));
}

#[test]
fn a_preconditioning_ends_at_the_first_steady_window() {
    let run = run("enterprise-2020", &["mixed-random-qd32"], "tiny?state=steady", 10);
    let test = &run.tests[0];
    let steady = found(test, FindingKind::SteadyState);
    assert_eq!(steady.len(), 1, "{:?}", test.findings);
    assert!(steady[0].starts_with("steady after"), "{}", steady[0]);
    assert!(find_built_in("enterprise-2020").is_ok() && run.complete);
}

#[test]
fn a_fuller_drive_writes_slower() {
    let run = run("fill-ladder", &["random-write"], "tiny", 1);
    let iops: Vec<f64> = run.tests[0]
        .points
        .iter()
        .map(|point| {
            let totals = &point.point.totals;
            totals.value(ssdgauge_core::Metric::Iops, ssdgauge_core::Scope::All).unwrap()
        })
        .collect();
    let labels: Vec<&str> =
        run.tests[0].points.iter().map(|point| point.point.label.as_str()).collect();
    assert_eq!(labels, ["0 % full", "50 % full", "70 % full", "80 % full", "100 % full"]);
    assert_eq!(run.tests[0].headline.value, Some(iops[3]));
    assert!(iops[4] < iops[0], "{iops:?}");
}
