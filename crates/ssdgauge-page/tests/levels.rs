//! The levels of a write speed: stalls are none, and sentences state levels instead of a mean over two.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]
#![allow(
    clippy::single_range_in_vec_init,
    reason = "the ranges are stalls, of which a case may have one"
)]

use crate::support::{Pace, Recipe, plan, quick, run, step, stream, test};
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::{PageOptions, PointRun, Run};
use ssdgauge_core::{Access, Bytes, FindingKind, Metric, Score, Severity, Stream, Window};
use ssdgauge_export::{csv, json, markdown, openmetrics, terminal_summary};
use ssdgauge_page::page;

/// Returns a run of one step of `seconds` that writes 1 MiB in order, with the requests of each second.
fn writes(id: &str, seconds: u64, iops: &dyn Fn(u32) -> u64) -> Run {
    let load = stream(Access::Sequential, 1 << 20, 0, 4);
    let steps = vec![step("1 MiB QD4", 4.0, load, seconds)];
    let score = Score::MeanOf(Metric::ThroughputMbS);
    let mut recipe =
        Recipe::new(id, plan("own", vec![test("fill", "Fill", score, &[], steps)]), "D");
    let pace = |_: &ssdgauge_core::Stream, second| Pace { iops: iops(second), lat_us: 500.0 };
    recipe.pace = &pace;
    run(&recipe)
}

fn point(run: &Run) -> &PointRun {
    &run.tests[0].points[0]
}

fn stalls(run: &Run) -> Vec<String> {
    let found = run.all_findings().into_iter();
    let stalled = found.filter(|one| one.finding.kind == FindingKind::Stalled);
    stalled
        .map(|one| {
            assert_eq!(one.finding.severity, Severity::Warning);
            one.finding.text.clone()
        })
        .collect()
}

fn words(text: &str) -> String {
    text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_stall_is_a_finding_and_no_level_and_no_fall() {
    // (the empty seconds, the length of the longest stall)
    let cases: [(&[std::ops::Range<u32>], u32); 5] = [
        (&[20..44], 24),
        (&[10..14], 4),
        (&[57..60], 3),
        (&[5..6], 1),
        (&[10..13, 30..50, 52..55], 20),
    ];
    for (empty, longest) in cases {
        let wobble = |second: u32| 690 + u64::from(second * 7 % 11);
        let is_empty = |second: u32| empty.iter().any(|range| range.contains(&second));
        let run = writes("0193f1c2-f001", 60, &|second| match is_empty(second) {
            true => 0,
            false => wobble(second),
        });
        assert_eq!(point(&run).falls, [], "{empty:?}");
        assert_eq!(point(&run).levels, None, "{empty:?}");
        let found = stalls(&run);
        assert_eq!(found.len(), 1, "{empty:?}: {found:?}");
        let first = empty.iter().find(|range| range.len() == longest as usize).unwrap().start;
        let expected =
            format!("no request completed for at least {longest} s, from second {first} of");
        assert!(words(&found[0]).starts_with(&expected), "{found:?}");
        let card = words(&terminal_summary(&run, 80, false));
        assert!(card.contains("grade C: 1 of 1 results in doubt: stalled"), "{card}");
        let text = words(&markdown(std::slice::from_ref(&run)));
        let page = words(&page(std::slice::from_ref(&run), &PageOptions::default()));
        assert!(page.contains(&format!("at least {longest} s")), "{empty:?}");
        // The row has the mark and the reason.
        for (name, text) in [("card", &card), ("page", &page), ("Markdown", &text)] {
            assert!(text.contains("? in doubt: stalled"), "{name}: {text}");
            let value = [" MB/s ? ", " MB/s</b> ?</td>"];
            assert!(value.iter().any(|value| text.contains(value)), "{name}: {text}");
        }
    }
}

#[test]
fn a_fall_is_found_where_it_is_next_to_a_stall() {
    let run = writes("0193f1c2-f002", 90, &|second| match second {
        0..20 => 2_400,
        // The stall begins ten seconds after the fall.
        30..40 => 0,
        _ => 700,
    });
    let [fall] = point(&run).falls.as_slice() else { panic!("{:?}", point(&run).falls) };
    let mib = f64::from(1 << 20);
    assert_eq!(fall.edge.bytes, 48_000 << 20);
    assert_eq!((fall.edge.before, fall.edge.after), (2_400.0 * mib, 700.0 * mib));
    let levels = point(&run).levels.unwrap();
    assert_eq!(levels.bytes, 48_000 << 20);
    assert!((levels.after - 700.0 * mib / 1e6).abs() < 1e-6, "{levels:?}");
    assert_eq!(stalls(&run).len(), 1);
}

#[test]
fn the_speed_of_a_fill_is_that_of_its_longest_level_on_every_surface() {
    let span = Bytes((20 * 2_400 + 60 * 700 + 10 * 300) << 20);
    let window = Window::Bytes(Bytes(10_000_000_000));
    let last = Score::MeanOfLast { metric: Metric::ThroughputMbS, window };
    let mb_s = |mib: u32| f64::from(mib << 20) / 1e6;
    // The last 10 GB take ten seconds on either side of the second fall. The mean counts the cache too.
    for (score, of_rule) in [(last, mb_s(500)), (Score::MeanOf(Metric::ThroughputMbS), mb_s(1_033))]
    {
        let load = Stream { span, ..stream(Access::Sequential, 1 << 20, 0, 4) };
        let steps = vec![step("1 MiB QD4", 4.0, load, 90)];
        let plan = plan("own", vec![test("fill", "Fill", score, &[], steps)]);
        let pace = |_: &Stream, second| {
            let iops = match second {
                0..20 => 2_400,
                20..80 => 700,
                _ => 300,
            };
            Pace { iops, lat_us: 500.0 }
        };
        let run = run(&Recipe { pace: &pace, ..Recipe::new("0193f1c2-f012", plan, "D") });
        assert_eq!(point(&run).falls.len(), 2);
        let headline = &run.tests[0].headline;
        assert!((headline.value.unwrap() - mb_s(700)).abs() < 1e-6, "{headline:?}");
        let protocol = headline.protocol.unwrap();
        assert!((protocol - of_rule).abs() < 0.5 * of_rule.min(mb_s(700)) / 100.0, "{headline:?}");
        assert_eq!(headline.n, 60);
        let rule = words(&number::measured(protocol, Metric::ThroughputMbS));
        let page = words(&page(std::slice::from_ref(&run), &PageOptions::default()));
        let surfaces = [
            ("card", words(&terminal_summary(&run, 100, false))),
            ("page", page),
            ("Markdown", words(&markdown(std::slice::from_ref(&run)))),
        ];
        for (name, text) in surfaces {
            assert!(text.contains("734 MB/s"), "{name}: {text}");
            assert!(text.contains(&rule) && text.contains("across a fall"), "{name}: {text}");
        }
        let shown = &json(&[run])["runs"][0]["tests"][0]["headline"];
        assert_eq!(shown["value"].as_f64().unwrap().round(), 734.0);
        assert_eq!(shown["protocol"].as_f64(), Some(protocol));
    }
}

#[test]
fn no_interval_of_a_speed_begins_below_zero() {
    let run = writes("0193f1c2-f011", 60, &|second| match second {
        20..44 => 1,
        _ => 690 + u64::from(second * 7 % 11),
    });
    let ends: Vec<f64> = point(&run)
        .falls
        .iter()
        .flat_map(|fall| [fall.before_interval, fall.after_interval])
        .flatten()
        .map(|(low, _)| low)
        .collect();
    // The seconds after the fall are slow, then fast: their mean is within wide bounds.
    assert!(!ends.is_empty() && ends.iter().all(|low| *low >= 0.0), "{ends:?}");
}

#[test]
fn regular_stalls_are_how_a_drive_writes() {
    let run = writes("0193f1c2-f003", 120, &|second| match second {
        40.. if second % 5 < 3 => 0,
        _ => 700,
    });
    let [fall] = point(&run).falls.as_slice() else { panic!("{:?}", point(&run).falls) };
    let left = fall.edge.after / fall.edge.before;
    assert!((left - 0.4).abs() < 0.05, "{left}: three of five seconds are empty");
    assert!(words(&stalls(&run)[0]).contains("the longest of 16 stalls"), "{:?}", stalls(&run));
}

#[test]
fn slow_writes_that_leave_a_second_empty_are_not_a_stall() {
    let run = writes("0193f1c2-f004", 60, &|second| u64::from(second % 7 > 0) * 3);
    assert_eq!(stalls(&run), Vec::<String>::new());
}

#[test]
fn a_later_level_is_not_stated_for_the_first_bytes() {
    let run = writes("0193f1c2-f005", 120, &|second| match second {
        0..20 => 2_400,
        20..60 => 700,
        60..90 => 200,
        _ => 60,
    });
    assert_eq!(point(&run).falls.len(), 3);
    // 2,400 MiB in each of 20 s, 700 in 40, 200 in 30.
    let ends = [48_000, 76_000, 82_000].map(|mib: u64| mib << 20);
    let bytes: Vec<u64> = point(&run).falls.iter().map(|fall| fall.edge.bytes).collect();
    assert_eq!(bytes, ends);
    let card = words(&terminal_summary(&run, 200, false));
    assert!(card.contains("writes 2,517 MB/s"), "{card}");
    let (first, later) = card.split_once("then 734 MB/s").unwrap();
    assert!(first.contains("(50.3 +/- 2.5 GB)") || first.contains("first 50.3"), "{card}");
    assert!(!later.contains("for the first"), "{card}");
    assert!(later.contains("until 79.7 +/- 0.7 GB, then 210 MB/s"), "{card}");
    let (_, last) = later.split_once("210 MB/s").unwrap();
    assert!(last.contains("until 86.0 +/- 0.2 GB, then 62.9 MB/s"), "{card}");
}

/// Returns a quick run whose sequential writes have a third of their speed after `end` seconds.
fn quick_run((id, model): (&str, &str), seconds: u64, end: u32) -> Run {
    let mut recipe = Recipe::new(id, quick(seconds), model);
    let pace = |stream: &ssdgauge_core::Stream, second| {
        let falls = stream.read_percent == 0 && stream.access == Access::Sequential;
        // 2.4 GB/s, then 0.8.
        let rate = if falls && second >= end { 800e6 } else { 2_400e6 };
        Pace { iops: (rate / stream.block_size.0 as f64) as u64, lat_us: 80.0 }
    };
    recipe.pace = &pace;
    run(&recipe)
}

#[test]
fn a_quick_run_states_two_levels_and_not_their_mean() {
    // Three seconds are too few for a fall.
    let run = quick_run(("0193f1c2-f006", "Disk"), 3, 1);
    assert!(run.tests[1].points.iter().all(|point| point.falls.is_empty()));
    let card = words(&terminal_summary(&run, 80, false));
    let page = words(&page(std::slice::from_ref(&run), &PageOptions::default()));
    // Of 2.4, 0.8 and 0.8 GB; the cache may end within the first two seconds.
    let sentence = "Sequential (128 KiB, QD1): reads 7.20 GB in 3 s (2,400 MB/s), writes at least 2,400 MB/s for at most 3.20 GB";
    assert!(card.contains(sentence), "{card}");
    assert!(page.contains(sentence), "{sentence}");
    assert!(card.contains("after that, writes run at 800 MB/s"), "{card}");
    assert!(card.contains("max 3.20 GB"), "{card}");
    // Two of three equal parts were written in the first second.
    assert!(card.contains("writes ##: 0 to 2,"), "{card}");
    // The drive has 1 TB, of which 4 GB were tested.
    assert!(page.contains("A 50 GB game") && page.contains("1 s before the fall, "), "{page}");
    let deck = "Large files are written with <b>at least 2,400 MB/s for at most 3.20 GB</b>";
    assert!(page.contains(deck), "{deck}");
    // The card has the step of 1 MiB: 2,288 and 762 whole requests a second.
    assert!(page.contains("<b>at least 2,399, then 799 <small>MB/s</small></b>"), "{page}");
    let mean = "1,333 MB/s";
    assert!(!card.contains(mean) && !page.contains(&format!("at {mean}")), "{card}");
}

#[test]
fn every_format_states_two_levels_and_not_their_mean() {
    let runs = [quick_run(("0193f1c2-f012", "Disk"), 3, 1)];
    // 2.4, 0.8 and 0.8 GB in three seconds.
    let mean = 4_000.0 / 3.0;
    let markdown = words(&markdown(&runs));
    let row = markdown.split(" | ").skip_while(|cell| !cell.contains("Sequential write")).nth(1);
    assert_eq!(row, Some("at least 2,400, then 800 MB/s ?"), "{markdown}");
    assert!(!markdown.contains("1,333 MB/s"), "{markdown}");

    let near = |text: &str, number: f64| {
        let value: f64 = text.parse().unwrap();
        assert!((value - number).abs() < 0.2, "{value} {number}");
    };
    let csv = csv(&runs);
    let cells = |metric: &str| -> Option<String> {
        let row = csv
            .lines()
            .find(|row| row.contains(&format!(",sequential-write,1,headline,,{metric},")))?;
        Some(row.split(',').rev().nth(3).unwrap().to_owned())
    };
    near(&cells("throughput_mb_s_before").unwrap(), 2_400.0);
    near(&cells("throughput_mb_s_after").unwrap(), 800.0);
    near(&cells("throughput_mb_s_protocol").unwrap(), mean);
    assert_eq!(cells("throughput_mb_s"), None, "{csv}");

    let metrics = openmetrics(&runs);
    let lines = metrics.lines().filter(|line| {
        line.starts_with("ssdgauge_headline{") && line.contains("test=\"sequential-write\"")
    });
    let lines: Vec<&str> = lines.collect();
    let [before, after] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(before.contains("level=\"before\"") && after.contains("level=\"after\""), "{lines:?}");
    near(before.rsplit_once(' ').unwrap().1, 2_400.0);
    near(after.rsplit_once(' ').unwrap().1, 800.0);

    let json = json(&runs);
    let tests = json["runs"][0]["tests"].as_array().unwrap();
    let write = tests.iter().find(|test| test["id"] == "sequential-write").unwrap();
    let levels = &write["headline"]["levels"];
    near(&levels["before"].to_string(), 2_400.0);
    near(&levels["after"].to_string(), 800.0);
    assert_eq!(levels["before_is_lower_bound"], true);
    let read = tests.iter().find(|test| test["id"] == "sequential-read").unwrap();
    assert!(read["headline"]["levels"].is_null());
}

#[test]
fn small_amounts_of_a_quick_run_are_in_megabytes() {
    let mut recipe = Recipe::new("0193f1c2-f007", quick(6), "Disk");
    let pace = |stream: &ssdgauge_core::Stream, second| {
        let rate = if stream.read_percent == 0 && second > 0 { 20_971_520 } else { 52_428_800 };
        Pace { iops: rate / stream.block_size.0, lat_us: 80.0 }
    };
    recipe.pace = &pace;
    let run = run(&recipe);
    let page = words(&page(std::slice::from_ref(&run), &PageOptions::default()));
    assert!(page.contains("at most 105 MB"), "{page}");
    assert!(!page.contains("0.0524 GB") && !page.contains("0.105 GB"), "{page}");
}

#[test]
fn a_page_of_quick_runs_leads_with_a_write_speed_that_falls() {
    let falling = quick_run(("0193f1c2-f008", "Disk"), 30, 10);
    let other = quick_run(("0193f1c2-f009", "Other"), 30, 90);
    let page = words(&page(&[falling, other], &PageOptions::default()));
    let (_, title) = page.split_once("<h1").unwrap();
    let title = title.split_once("</h1>").unwrap().0;
    assert!(title.contains("falls to 33 % of its write speed"), "{title}");
}

#[test]
fn a_doubt_about_a_further_number_is_in_the_grade() {
    let load = || stream(Access::Sequential, 1 << 20, 0, 4);
    let steps = vec![step("steady", 1.0, load(), 60), step("falls", 2.0, load(), 61)];
    let at = |position| Score::At { metric: Metric::ThroughputMbS, position };
    let mut test = test("both", "Both", at(1.0), &[], steps);
    test.also = vec![at(2.0)];
    let mut recipe = Recipe::new("0193f1c2-f010", plan("own", vec![test]), "D");
    recipe.findings = vec![(
        Some(1),
        ssdgauge_core::Finding::new(FindingKind::Disturbed, Severity::Warning, "busy", "wait"),
    )];
    let card = words(&terminal_summary(&run(&recipe), 120, false));
    let expected = "grade B: further numbers in doubt: The processor did other work";
    assert!(card.contains(expected), "{card}");
}
