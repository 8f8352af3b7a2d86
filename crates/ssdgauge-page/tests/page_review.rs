//! Defects that readers of the page, the card and the pictures have found: each has a test that fails
//! where it comes back.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

use crate::support;
use crate::support::{Pace, Recipe, client, drives, plan, quick, run, step, stream, test};
use ssdgauge_analysis::{CompareOptions, Difference, PageOptions, Run, compare};
use ssdgauge_core::search::{Limits, Search, SearchRule};
use ssdgauge_core::{
    Access, Bytes, Chart, Detail, Finding, FindingKind, Metric, Nanos, PowerScope, Reading, Score,
    Severity, Stream, TargetKind, Window,
};
use ssdgauge_export::{markdown, terminal_summary};
use ssdgauge_page::{Ground, figures, fragment, page};

fn caveats(runs: &[Run]) -> String {
    fragment(runs, &PageOptions::default(), "caveats").unwrap()
}

#[test]
fn loads_that_a_search_tries_until_they_fail_put_nothing_in_doubt() {
    let text = "4 % of the requests waited for a free slot";
    let mut recipe = Recipe::new("a", client(12, 30), "Disk");
    let overload = || Finding::new(FindingKind::Overloaded, Severity::Warning, text, "");
    // A step of the second test.
    recipe.findings = vec![(Some(14), overload())];
    let plain = run(&recipe);
    let mut searching = plain.clone();
    searching.tests[1].test.search = Some(Search {
        probes: 0,
        attempts: 0,
        recondition: Vec::new(),
        limits: Limits { slice: Nanos::from_secs(1), above: Vec::new(), of: Default::default() },
        rule: SearchRule::default(),
        repeats: false,
    });
    for (run, is_doubt) in [(plain, true), (searching, false)] {
        let run = std::slice::from_ref(&run);
        let card = terminal_summary(&run[0], 200, false);
        assert_eq!(card.contains("warning: 4 %"), is_doubt, "{card}");
        assert_eq!(markdown(run).contains("**warning** 4 %"), is_doubt, "{}", markdown(run));
        assert_eq!(caveats(run).contains("<b>Overloaded</b>"), is_doubt, "{}", caveats(run));
    }
}

#[test]
fn findings_of_one_kind_are_one_line_with_their_number() {
    let mut runs = drives(3);
    for (number, run) in runs.iter_mut().enumerate() {
        for share in 0..5 {
            let text = format!("other processes sent {share}{number} % of the requests");
            let kind = FindingKind::OtherTraffic;
            run.findings.push(Finding::new(kind, Severity::Warning, text, "stop them"));
        }
    }
    let caveats = caveats(&runs);
    assert_eq!(caveats.matches("Requests of other processes").count(), 1, "{caveats}");
    assert!(caveats.contains("15 findings"), "{caveats}");
}

#[test]
fn a_part_of_a_drive_is_not_compared_with_a_whole_one() {
    let mut runs = drives(2);
    for (run, whole) in runs.iter_mut().zip(["1000204886016", "64000000000"]) {
        run.head.drive.capacity = Bytes(64_000_000_000);
        run.head.drive.state(Detail::WholeCapacity, whole);
    }
    assert!(compare(&runs[0], &runs[1], &CompareOptions::default()).is_err());
    let apart = page(&runs, &PageOptions::default());
    assert!(apart.contains("whole drive") && apart.contains("span 64.0\u{a0}GB"));
    for run in &mut runs {
        run.head.drive.details.clear();
    }
    // A run file that does not state the capacity of its drive counts as before.
    assert!(compare(&runs[0], &runs[1], &CompareOptions::default()).is_ok());
}

#[test]
fn a_test_of_power_shows_power_and_comes_first_nowhere() {
    let drive = |(number, power_w): (usize, f64)| {
        let pace =
            |_: &Stream, second: u32| Pace { iops: 1_000 + u64::from(second % 3), lat_us: 100.0 };
        let window = Window::Time(Nanos::from_secs(20));
        let score = |metric| Score::MeanOfLast { metric, window };
        let long = || step("write", 1.0, stream(Access::Random, 4_096, 0, 1), 40);
        let figures = [Chart::Ranking, Chart::Timeline];
        let tests = [("power", Metric::PowerW), ("writes", Metric::Iops)]
            .map(|(id, metric)| test(id, id, score(metric), &figures, vec![long()]));
        let mut recipe = Recipe::new(&format!("r{number}"), plan("own", tests.into()), "Disk");
        recipe.pace = &pace;
        recipe.power_w = Some(power_w);
        recipe.drive.serial = Some(format!("S{number}"));
        run(&recipe)
    };
    let runs: Vec<Run> = [0.005, 2.4].into_iter().enumerate().map(drive).collect();
    let whole = page(&runs, &PageOptions::default());
    let power = whole.find("<figure id=\"own/power\"").unwrap();
    let head = &whole[..power];
    assert!(head.contains("id=\"sustained\"") || head.contains("id=\"everyday\""));
    let figure = fragment(&runs, &PageOptions::default(), "own/power").unwrap();
    let first = figure.split("<div class=\"p p-").nth(1).unwrap_or(&figure);
    assert!(first.contains("power over time") && !first.contains("IOPS"), "{first}");
}

#[test]
fn a_column_of_the_answer_has_a_short_name_on_phones() {
    let drive = |number: u64| {
        let pace = move |stream: &Stream, second: u32| {
            let pace = support::steady(stream, second);
            Pace { iops: pace.iops / (number + 1), ..pace }
        };
        let mut recipe = Recipe::new(&format!("r{number}"), quick(12), "Disk");
        recipe.pace = &pace;
        recipe.drive.serial = Some(format!("S{number}"));
        for test in &mut recipe.plan.tests {
            test.title.push_str(", 4 KiB, bursts of at most 2 GB");
        }
        run(&recipe)
    };
    let answer = fragment(&[drive(0), drive(1)], &PageOptions::default(), "answer").unwrap();
    let names: Vec<&str> = answer.split("data-s=\"").skip(1).collect();
    let names: Vec<&str> = names.iter().map(|name| name.split('"').next().unwrap()).collect();
    assert!(names.contains(&"Random write 4\u{a0}KiB"), "{names:?}");
    assert!(names.iter().all(|name| !name.contains(',')), "{names:?}");
}

#[test]
fn a_smooth_drive_leaves_the_steadiness_of_the_others_readable() {
    let window = Window::Time(Nanos::from_secs(60));
    let score = Score::MeanOverSigmaOfLast { metric: Metric::Iops, window };
    let drive = |(number, noise): (usize, f64)| {
        let pace = move |_: &Stream, second: u32| {
            let iops = 20_000.0 * (1.0 + noise * (f64::from(second) * 1.7).sin());
            Pace { iops: iops as u64, lat_us: 100.0 }
        };
        let write = step("write", 1.0, stream(Access::Random, 4_096, 0, 32), 90);
        let figures = [Chart::Ranking];
        let writes = test("writes", "Random write", score.clone(), &figures, vec![write]);
        let mut recipe = Recipe::new(&format!("r{number}"), plan("own", vec![writes]), "Disk");
        recipe.pace = &pace;
        recipe.drive.serial = Some(format!("S{number}"));
        run(&recipe)
    };
    let runs: Vec<Run> = [0.3, 0.1, 0.000_2].into_iter().enumerate().map(drive).collect();
    let values: Vec<f64> = runs.iter().map(|run| run.tests[0].headline.value.unwrap()).collect();
    assert!(values[2] > 100.0 * values[0], "{values:?}");
    // A course has no bars: each line ends with the value of its drive.
    let figure = fragment(&runs, &PageOptions::default(), "own/writes").unwrap();
    let ends: Vec<&str> = figure.split("<text class=\"el\"").skip(1).collect();
    let speed = figure.split("<div class=\"p p-speed\">").nth(1).unwrap();
    let speed = speed.split("<div class=\"p p-").next().unwrap();
    assert!(!speed.contains("<ol class=\"bars\""), "bars of a factor of a thousand");
    for value in ["4.70", "14.1", "7,349"] {
        let is_there = |end: &&str| end.split("</text>").next().unwrap().contains(value);
        assert!(ends.iter().any(is_there), "{value}");
    }
}

#[test]
fn a_course_of_latency_names_its_percentile() {
    let runs = drives(2);
    let figures = figures(&runs, &PageOptions::default());
    let courses: Vec<_> =
        figures.iter().filter(|one| one.name.contains("latency-timeline")).collect();
    assert!(!courses.is_empty());
    for course in courses {
        assert!(course.svg.contains("p99") || course.svg.contains("99th"), "{}", course.name);
    }
}

#[test]
fn a_page_shows_no_text_of_its_own_configuration() {
    let page = page(&drives(3), &PageOptions::default());
    for text in ["[[", "queue_depth", "block_size", "read_percent", "timeline-", "_per_", "mean_of"]
    {
        assert!(!page.contains(text), "{text}");
    }
    // A cell or a caption is not a record of the program either.
    assert!(!page.contains("Some(") && !page.contains("None,") && !page.contains("::"));
}

#[test]
fn the_line_below_a_picture_takes_a_twelfth_of_it_at_most_and_the_rest_is_in_the_file() {
    for count in [1, 2, 6] {
        for figure in figures(&drives(count), &PageOptions::default()) {
            let view = figure.svg.split("viewBox=\"0 0 760 ").nth(1).unwrap();
            let height: f64 = view.split('"').next().unwrap().parse().unwrap();
            let (_, drawn) = figure.svg.split_once("</desc>").unwrap();
            let line = drawn.find("client-2018 r1 · test").unwrap();
            let y = drawn[..line].rsplit(" y=\"").next().unwrap();
            let y: f64 = y.split('"').next().unwrap().parse().unwrap();
            let share = (height - y + 11.0) / height;
            assert!(share <= 0.08, "{} of {count} drives: {share:.3}", figure.name);
            let png = String::from_utf8_lossy(&figure.png(Ground::Dark, 1)).into_owned();
            for number in 0..count {
                for file in [&figure.svg, &png] {
                    assert!(file.contains(&format!("run run-{number}")), "{}", figure.name);
                }
            }
        }
    }
}

#[test]
fn the_card_and_the_page_of_a_quick_run_state_the_same_speeds() {
    // A disturbed disk: the first step of all is served by a cache.
    let pace = |stream: &Stream, second: u32| {
        let pace = support::steady(stream, second);
        let is_first = stream.block_size.0 == 131_072 && stream.queue_depth == 1;
        let lucky = is_first && stream.read_percent == 100;
        Pace { iops: if lucky { pace.iops } else { pace.iops / 30 }, ..pace }
    };
    let mut recipe = Recipe::new("a", quick(12), "Disk");
    recipe.pace = &pace;
    let run = run(&recipe);
    let page = page(std::slice::from_ref(&run), &PageOptions::default());
    let card = terminal_summary(&run, 120, false);
    let title = page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap();
    let words =
        |text: &str| text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&card).contains(&words(title)), "{title}: {card}");
    // Each value of the page is in the row of the same load on the card.
    let rows: Vec<&str> = page.split("<div class=\"h\"><span>").skip(1).collect();
    assert!(rows.len() >= 7, "{}", rows.len());
    for row in rows {
        let value = row.split("<b>").nth(1).unwrap().split(' ').next().unwrap();
        let load = row.split("<div class=\"f\"><span>").nth(1).unwrap().split("</span>").next();
        let depth = load.unwrap().split("QD").nth(1).unwrap().split(',').next().unwrap();
        let sequential = !load.unwrap().contains("random");
        if load.unwrap().contains("% read") {
            // The card has reads and writes of a mix apart.
            continue;
        }
        let block = if load.unwrap().contains("MiB") {
            "1M"
        } else if sequential {
            "128K"
        } else {
            "4K"
        };
        let label = format!("{}{block} Q{depth}", if sequential { "SEQ" } else { "RND" });
        let found = card.lines().filter(|line| line.starts_with(&label));
        let cells: Vec<&str> = found.flat_map(str::split_whitespace).collect();
        assert!(cells.contains(&value), "{label}: {value} is not in {cells:?}");
    }
}

#[test]
fn every_figure_states_its_marks_also_where_it_leaves_the_page() {
    let virtual_drives = || -> Vec<Run> {
        let drive = |name: &str| {
            let mut recipe = Recipe::new(name, client(6, 30), name);
            recipe.drive.kind = TargetKind::Virtual;
            recipe.drive.model = Some(format!("MODEL {name}"));
            run(&recipe)
        };
        ["one", "two"].map(drive).into()
    };
    let runs = virtual_drives();
    let captions = |page: &str| -> Vec<String> {
        let captions = page.split("<figcaption>").skip(1);
        captions.map(|one| one.split("</figcaption>").next().unwrap().to_owned()).collect()
    };
    let mut single = Recipe::new("q", quick(12), "MODEL one");
    single.drive.kind = TargetKind::Virtual;
    for runs in [runs.clone(), vec![run(&single)]] {
        let found = captions(&page(&runs, &PageOptions::default()));
        assert!(!found.is_empty());
        for caption in found {
            assert!(caption.contains("<b class=\"own\">MODEL</b>"), "{caption}");
        }
        for figure in figures(&runs, &PageOptions::default()) {
            assert!(figure.svg.contains("MODEL"), "{}", figure.name);
        }
    }
    let measured = page(&drives(2), &PageOptions::default());
    assert!(!measured.contains("MODEL</b>"));
}

#[test]
fn a_test_without_a_steady_state_has_a_caveat() {
    let of = |growth: u64| {
        let pace = move |_: &Stream, second: u32| Pace {
            iops: 1_000 + u64::from(second) * growth + u64::from(second % 3),
            lat_us: 100.0,
        };
        let window = Window::Time(Nanos::from_secs(60));
        let score = Score::MeanOfLast { metric: Metric::Iops, window };
        let long = vec![step("write", 1.0, stream(Access::Random, 4_096, 0, 32), 360)];
        let tests = vec![test("long", "Long random write", score, &[Chart::Ranking], long)];
        let mut recipe = Recipe::new("a", plan("own", tests), "Disk");
        recipe.pace = &pace;
        caveats(&[run(&recipe)])
    };
    let grows = of(20);
    assert!(grows.contains("<b>No steady state</b>"), "{grows}");
    assert!(grows.contains("Long random write") && grows.contains("1 result"), "{grows}");
    assert!(!of(0).contains("No steady state"));
}

#[test]
fn the_headline_of_a_search_states_the_load_that_passes_and_the_one_that_fails() {
    let loads = [1.0, 2.0, 4.0, 8.0];
    let steps = loads
        .map(|load| step(&format!("{load}x"), load, stream(Access::Random, 1_536, 100, 32), 12));
    let mut act = test(
        "act-5",
        "Highest passing load, ACT 5",
        Score::HighestPassing,
        &[Chart::Ranking],
        steps.into(),
    );
    act.search = Some(Search {
        probes: 0,
        attempts: 0,
        recondition: Vec::new(),
        limits: Limits { slice: Nanos::from_secs(1), above: Vec::new(), of: Default::default() },
        rule: SearchRule::default(),
        repeats: false,
    });
    let mut recipe = Recipe::new("a", plan("act", vec![act]), "Disk");
    let passed = |(number, load): (usize, f64)| {
        let value = f64::from(u8::from(load < 3.0));
        let quantity = ssdgauge_core::PASSED.to_owned();
        (number, Reading { at: Nanos::ZERO, instrument: "search".into(), quantity, value })
    };
    recipe.readings = loads.into_iter().enumerate().map(passed).collect();
    let page = page(&[run(&recipe)], &PageOptions::default());
    let title = page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap();
    assert!(title.contains("Disk passes at 2") && title.contains(", fails at 4"), "{title}");
    assert!(title.contains("in “ACT 5”"), "{title}");
    assert!(page.contains("<h3>Passes at 2"), "the title of the figure");
}

#[test]
fn each_number_of_the_answer_has_its_unit_where_the_head_of_the_column_has_no_room() {
    let answer = fragment(&drives(2), &PageOptions::default(), "answer").unwrap();
    let cells: Vec<&str> = answer.split("<span class=\"v\">").skip(1).collect();
    assert!(!cells.is_empty());
    for cell in cells {
        let value = cell.split("<svg").next().unwrap();
        let has_unit = ["<span class=\"u\">", "µs", "ms", "\u{a0}s<"];
        assert!(has_unit.iter().any(|unit| value.contains(unit)), "{value}");
    }
}

#[test]
fn the_bars_of_a_file_have_the_colours_of_the_page() {
    let runs = drives(2);
    let style = page(&runs, &PageOptions::default());
    let slot = |drive: usize| -> usize {
        let rule = style.split(&format!(".d-{drive}{{--c:var(--s")).nth(1).unwrap();
        rule.split(')').next().unwrap().parse().unwrap()
    };
    let all = figures(&runs, &PageOptions::default());
    let ranking = all.iter().find(|figure| figure.name.ends_with("-ranking")).unwrap();
    for drive in 0..2 {
        let colour = style.split(&format!("--s{}:", slot(drive))).nth(1).unwrap();
        let colour = colour.split(';').next().unwrap();
        let bar = ranking.svg.split("<rect").find(|one| one.contains(colour)).unwrap();
        assert!(!bar.split("/>").next().unwrap().contains("opacity"), "{bar}");
    }
}

/// A run whose first test is scored by efficiency, with a meter of `scope`.
fn metered(id: &str, scope: PowerScope, power_w: f64) -> Run {
    let mut plan = quick(12);
    plan.tests[0].score = Score::MeanOf(Metric::EfficiencyMbSW);
    let mut recipe = Recipe::new(id, plan, id);
    (recipe.power_w, recipe.scope) = (Some(power_w), scope);
    run(&recipe)
}

#[test]
fn efficiencies_of_different_scopes_are_neither_compared_nor_ranked() {
    let drive = metered("a", PowerScope::Drive, 5.0);
    let other = metered("b", PowerScope::Drive, 4.0);
    let wall = metered("c", PowerScope::HostAc, 80.0);
    let options = CompareOptions::default();
    let first = |a: &Run, b: &Run| compare(a, b, &options).unwrap().tests.remove(0);
    assert!(first(&drive, &other).ratio.is_some(), "two drives on meters of one scope");
    let refused = first(&drive, &wall);
    assert_eq!(
        refused.difference,
        Difference::Unknown("the scopes of the power meters differ".into())
    );
    assert_eq!(refused.ratio, None);
    // Throughput needs no meter: it is compared anyway.
    let plain = compare(&drive, &wall, &options).unwrap().tests.remove(1);
    assert!(plain.ratio.is_some());
    let runs = [drive, other, wall];
    let page = ssdgauge_page::page(&runs, &Default::default());
    assert!(page.contains("different power scope: host-ac"));
    assert!(page.contains("scope of the power meter: drive; instrument: "), "the meter is named");
    let figures = ssdgauge_page::figures(&runs, &Default::default());
    let is_of_wall = |title: &str| title.contains("power of the host, AC over time");
    assert!(figures.iter().any(|figure| is_of_wall(&figure.title)));
}
