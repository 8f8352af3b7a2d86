//! The answer of several runs: no claim within the noise, none that depends on the order of files, and
//! none about a number that was not measured.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use crate::support::{Pace, Recipe, plan, run, step, stream, test};
use ssdgauge_analysis::{PageOptions, RepeatedRun, Run, once_each};
use ssdgauge_core::{Access, Chart, Metric, Nanos, Plan, Score, Stream, TargetKind, Test, Window};
use ssdgauge_export::{json, markdown};
use ssdgauge_page::{fragment, page};

/// What a drive does: its writes in order, the share of them after 20 s, its reads, its latency in µs.
#[derive(Clone, Copy)]
struct Drive {
    name: &'static str,
    write: f64,
    left: f64,
    read: f64,
    latency: f64,
}

const ALPHA: Drive =
    Drive { name: "Alpha", write: 7_250.0, left: 1.0, read: 50_000.0, latency: 100.0 };

fn fill() -> Test {
    let window = Window::Time(Nanos::from_secs(20));
    let last = Score::MeanOfLast { metric: Metric::ThroughputMbS, window };
    let write = step("write", 1.0, stream(Access::Sequential, 131_072, 0, 32), 70);
    test("fill", "Sequential write", last, &[Chart::Ranking], vec![write])
}

fn reads() -> Test {
    let read = step("QD4", 1.0, stream(Access::Random, 4_096, 100, 4), 30);
    let score = Score::MeanOf(Metric::Iops);
    test("reads", "Random read", score, &[Chart::Ranking], vec![read])
}

fn mixes() -> Test {
    let mixes = [70, 50].map(|read| {
        let mix = stream(Access::Random, 4_096, read, 4);
        step(&format!("{read} % read"), f64::from(read), mix, 12)
    });
    let score = Score::MeanOf(Metric::Iops);
    test("mixed", "Mixed random", score, &[Chart::Ranking], mixes.into())
}

fn recorded(drive: Drive, id: &str, plan: Plan, steps: usize) -> Run {
    let pace = move |stream: &Stream, second: u32| {
        let wobble = 1.0 + 0.002 * (f64::from(second) * 1.7).sin();
        let base = match stream.access {
            Access::Sequential if second >= 20 => drive.write * drive.left,
            Access::Sequential => drive.write,
            Access::Random => drive.read,
        };
        Pace { iops: (base * wobble) as u64, lat_us: drive.latency }
    };
    let mut recipe = Recipe::new(id, plan, drive.name);
    recipe.pace = &pace;
    recipe.steps = steps;
    recipe.drive.kind = TargetKind::Block;
    recipe.drive.serial = Some(format!("S-{}", drive.name));
    run(&recipe)
}

fn own(drive: Drive) -> Run {
    let id = format!("run-{}", drive.name);
    recorded(drive, &id, plan("own", vec![fill(), reads()]), usize::MAX)
}

fn plain(text: &str) -> String {
    let parts = text.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<String>().replace('\u{a0}', " ")
}

/// Returns what each row of the answer says that its drive is best for, in the order of `names`: in its
/// cell, or below the name; empty for nothing.
fn best_for(runs: &[Run], names: &[&str]) -> Vec<String> {
    let answer = fragment(runs, &PageOptions::default(), "answer").unwrap();
    let rows: Vec<&str> = answer.split("<tr class=\"d d-").skip(1).collect();
    let of = |name: &&str| {
        let row = rows.iter().find(|row| row.contains(&format!("{name}<small>"))).unwrap();
        let between = |from: &str, to: &str| {
            let cell = row.split(from).nth(1)?.split(to).next()?;
            Some(plain(cell.split_once('>')?.1))
        };
        let below = between("<small class=\"for\"", "</small>");
        let below = below.map(|words| words.trim_start_matches("Best for ").to_owned());
        between("<td class=\"bf\"", "</td>").or(below).unwrap_or_default()
    };
    names.iter().map(of).collect()
}

fn head(page: &str) -> String {
    plain(page.split("<header").nth(1).unwrap().split("</header>").next().unwrap())
}

#[test]
fn no_drive_is_last_within_the_noise_and_no_claim_depends_on_the_order_of_files() {
    let near = [
        ALPHA,
        Drive { name: "Beta", read: 40_000.0, ..ALPHA },
        Drive { name: "Gamma", write: 7_160.0, read: 30_000.0, ..ALPHA },
    ];
    let equal = near.map(|drive| Drive { write: 7_250.0, ..drive });
    let apart = [
        near[0],
        Drive { write: 6_000.0, read: 30_000.0, ..near[1] },
        Drive { write: 5_000.0, read: 40_000.0, ..near[2] },
    ];
    let names = ["Alpha", "Beta", "Gamma"];
    for (drives, has_last) in [(near, false), (equal, false), (apart, true)] {
        let mut runs: Vec<Run> = drives.into_iter().map(own).collect();
        let forward = best_for(&runs, &names);
        runs.reverse();
        assert_eq!(best_for(&runs, &names), forward);
        let is_last = |words: &String| words.to_lowercase().contains("mostly reads");
        assert_eq!(forward.iter().any(is_last), has_last, "{forward:?}");
        assert_eq!(is_last(&forward[2]), has_last, "{forward:?}");
    }
}

#[test]
fn the_last_drive_is_last_though_its_cache_ends_and_the_method_states_that_order() {
    let slow = Drive { name: "Gamma", write: 5_000.0, left: 0.3, read: 40_000.0, ..ALPHA };
    let middle = Drive { name: "Beta", write: 6_000.0, left: 0.7, read: 30_000.0, ..ALPHA };
    let runs = [own(ALPHA), own(middle), own(slow)];
    let words = best_for(&runs, &["Beta", "Gamma"]);
    assert_eq!(words, ["Short bursts of writes", "Mostly reads: last in sustained writes"]);
    let method = plain(&fragment(&runs, &PageOptions::default(), "method").unwrap());
    let place = |words: &str| method.find(words).unwrap();
    assert!(place("else mostly reads for the last") < place("else short bursts for a write speed"));
}

#[test]
fn an_unfinished_run_does_not_choose_the_columns() {
    let tests = || plan("own", vec![reads(), fill(), mixes()]);
    let other = Drive { name: "Beta", read: 40_000.0, ..ALPHA };
    let mut runs: Vec<Run> =
        [ALPHA, other].map(|drive| recorded(drive, drive.name, tests(), usize::MAX)).into();
    let columns = |runs: &[Run]| {
        let answer = fragment(runs, &PageOptions::default(), "answer").unwrap();
        let head = plain(answer.split("<thead>").nth(1).unwrap().split("</thead>").next().unwrap());
        head.replace("Best for", "")
    };
    let before = columns(&runs);
    let third = Drive { name: "Gamma", read: 20_000.0, ..ALPHA };
    runs.push(recorded(third, "unfinished", tests(), 1));
    assert!(!runs[2].complete && runs[2].tests.iter().any(|test| test.headline.value.is_some()));
    assert_eq!(columns(&runs), before);
}

#[test]
fn percentiles_without_interval_need_a_factor_for_a_claim() {
    for (latency, is_claimed) in [(120.0, false), (200.0, true)] {
        let other = Drive { name: "Beta", latency, read: 60_000.0, ..ALPHA };
        let runs = [own(ALPHA), own(other)];
        let words = best_for(&runs, &["Alpha"]).concat();
        assert_eq!(words.contains("owest worst-case latency"), is_claimed, "{words}");
        let head = head(&page(&runs, &PageOptions::default()));
        let load = "completes 9,999 of 10,000 requests (4 KiB random reads, QD4) within";
        assert_eq!(head.contains(load), is_claimed, "{head}");
        assert!(!head.contains("slowest requests"), "a claim names its percentile: {head}");
    }
}

#[test]
fn the_ratio_of_a_title_is_that_of_the_values_with_three_digits() {
    let runs = [own(ALPHA), own(Drive { name: "Beta", read: 4_400.0, ..ALPHA })];
    let figure = fragment(&runs, &PageOptions::default(), "own/reads").unwrap();
    let title = plain(figure.split("<h3>").nth(1).unwrap().split("</h3>").next().unwrap());
    assert!(title.contains("11.4 times the result of Beta"), "{title}");
}

#[test]
fn runs_of_one_ssd_are_runs_and_keep_the_name_of_the_drive() {
    let drive = Drive { left: 0.3, ..ALPHA };
    let tests = || plan("own", vec![fill(), reads()]);
    let mut runs: Vec<Run> = ["first-run-aaaaaaaa", "second-run-bbbbbbbb"]
        .map(|id| recorded(drive, id, tests(), usize::MAX))
        .into();
    let page = page(&runs, &PageOptions::default());
    let words = head(&page);
    assert!(words.contains("One SSD, two runs") && words.contains("Both runs fall to"), "{words}");
    assert!(page.contains("Alpha (aaaaaaaa)") && !page.contains(">(aaaaaaaa)"));
    assert!(markdown(&runs).starts_with("## Both runs fall to"), "{}", markdown(&runs));
    let title = fragment(&runs, &PageOptions::default(), "own/fill").unwrap();
    assert!(title.contains("Two runs write slower"), "{title}");
    for (run, label) in runs.iter_mut().zip(["bare", "heatsink"]) {
        run.head.environment.insert("label".into(), label.into());
    }
    assert!(markdown(&runs).starts_with("## Both runs fall to"), "{}", markdown(&runs));
    let caveats = |runs: &[Run]| fragment(runs, &PageOptions::default(), "caveats").unwrap();
    assert!(!caveats(&runs).contains("environments differ"), "a label is no property of a host");
    runs[0].head.environment.insert("kernel".into(), "6.1".into());
    assert!(caveats(&runs).contains("environments differ (kernel)"), "{}", caveats(&runs));
}

#[test]
fn a_run_that_is_given_twice_counts_once() {
    let (one, other) = (own(ALPHA), own(Drive { name: "Beta", ..ALPHA }));
    let tests = plan("own", vec![fill(), reads()]);
    let begun = recorded(ALPHA, "run-Alpha", tests, 1);
    let (runs, repeated) = once_each(vec![begun, other, one]);
    let ids: Vec<&str> = runs.iter().map(|run| run.head.id.as_str()).collect();
    assert_eq!(ids, ["run-Beta", "run-Alpha"]);
    assert!(runs[1].complete, "the whole run counts");
    assert_eq!(repeated, [RepeatedRun { left_out: 0, counted: 2 }]);
}

#[test]
fn values_apart_with_wide_intervals_are_not_decided_and_no_tie() {
    let drive = |name: &'static str, factor: f64| {
        let pace = move |_: &Stream, second: u32| {
            let draw = f64::from(second * 7_919 % 101) / 101.0;
            let iops = 10_000.0 * factor * (0.3 + 1.4 * draw);
            Pace { iops: iops as u64, lat_us: 100.0 }
        };
        let mut recipe = Recipe::new(name, plan("own", vec![reads()]), name);
        recipe.pace = &pace;
        recipe.drive.serial = Some(name.into());
        run(&recipe)
    };
    let runs = [drive("Alpha", 1.0), drive("Beta", 1.15)];
    let figure = fragment(&runs, &PageOptions::default(), "own/reads").unwrap();
    let title = plain(figure.split("<h3>").nth(1).unwrap().split("</h3>").next().unwrap());
    assert!(title.starts_with("Too close to call: Beta ") && title.contains(", Alpha "), "{title}");
    let table = markdown(&runs);
    let row = table.lines().find(|line| line.starts_with("| Random read")).unwrap();
    assert!(!row.contains("**"), "{row}");
    // No other place of the page claims the lead that the title leaves open.
    let head = head(&page(&runs, &PageOptions::default()));
    assert!(head.contains("Neither of the two drives leads"), "{head}");
    assert!(!head.contains("leads in Random") && !head.contains("% more than"), "{head}");
    let answer = fragment(&runs, &PageOptions::default(), "answer").unwrap();
    assert!(!answer.contains("<td class=\"b best\""), "{answer}");
    for words in best_for(&runs, &["Alpha", "Beta"]) {
        assert!(words.ends_with(": too close to call"), "{words}");
    }
}

#[test]
fn a_short_step_without_an_interval_decides_nothing_and_a_longer_one_does() {
    let tests = |seconds: u64| {
        let read = step("QD4", 1.0, stream(Access::Random, 4_096, 100, 4), seconds);
        let score = Score::MeanOf(Metric::Iops);
        plan("own", vec![test("reads", "Random read", score, &[Chart::Ranking], vec![read])])
    };
    for (seconds, leads) in [(5, false), (12, true)] {
        let other = Drive { name: "Beta", read: 20_000.0, ..ALPHA };
        let recorded = |drive: Drive| recorded(drive, drive.name, tests(seconds), usize::MAX);
        let runs: Vec<Run> = [ALPHA, other].map(recorded).into();
        assert_eq!(runs[0].tests[0].headline.interval.ends().is_some(), leads);
        let figure = fragment(&runs, &PageOptions::default(), "own/reads").unwrap();
        let title = plain(figure.split("<h3>").nth(1).unwrap().split("</h3>").next().unwrap());
        assert_eq!(title.contains("leads"), leads, "{title}");
        let head = head(&page(&runs, &PageOptions::default()));
        assert_eq!(head.contains("Alpha leads in everyday work"), leads, "{head}");
        let answer = fragment(&runs, &PageOptions::default(), "answer").unwrap();
        assert_eq!(answer.contains("<td class=\"b best\""), leads, "{answer}");
        let words = best_for(&runs, &["Alpha"]).concat();
        assert_eq!(words.contains("Everyday work"), leads, "{words}");
    }
}

#[test]
fn everyday_work_has_at_most_four_requests_in_flight() {
    let ladder = || {
        let depths = [1, 4, 32].map(|depth| {
            let label = format!("QD{depth}");
            step(&label, f64::from(depth), stream(Access::Random, 4_096, 100, depth), 12)
        });
        let score = Score::BestOf(Metric::Iops);
        plan("own", vec![test("reads", "Random read", score, &[Chart::Ranking], depths.into())])
    };
    // Beta is faster only at QD32.
    let drive = |name: &'static str, shallow: f64, deep: f64| {
        let pace = move |stream: &Stream, second: u32| {
            let wobble = 1.0 + 0.002 * (f64::from(second) * 1.7).sin();
            let base = if stream.queue_depth == 32 { deep } else { shallow };
            Pace { iops: (base * wobble) as u64, lat_us: 100.0 }
        };
        let mut recipe = Recipe::new(name, ladder(), name);
        recipe.pace = &pace;
        recipe.drive.kind = TargetKind::Block;
        recipe.drive.serial = Some(name.into());
        run(&recipe)
    };
    let runs = [drive("Alpha", 20_000.0, 100_000.0), drive("Beta", 10_000.0, 400_000.0)];
    let answer = plain(&fragment(&runs, &PageOptions::default(), "answer").unwrap());
    assert!(answer.contains("QD1–4, IOPS"), "{answer}");
    assert!(best_for(&runs, &["Alpha"]).concat().contains("Everyday work"), "{answer}");
    assert!(!best_for(&runs, &["Beta"]).concat().contains("veryday work"), "{answer}");
}

#[test]
fn a_drive_without_a_number_in_the_answer_is_best_for_nothing() {
    let drives = [ALPHA, Drive { name: "Beta", write: 6_000.0, read: 40_000.0, ..ALPHA }];
    let mut runs: Vec<Run> = drives.into_iter().map(own).collect();
    let elsewhere = Drive { name: "Gamma", ..ALPHA };
    runs.push(recorded(elsewhere, "other", plan("other", vec![fill()]), usize::MAX));
    assert_eq!(best_for(&runs, &["Gamma"]), [""]);
}

#[test]
fn the_markdown_of_six_drives_takes_at_most_six_thousand_bytes() {
    let names = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta"];
    let tests = || -> Vec<Test> {
        let long = |number: usize| {
            let mut one = reads();
            one.id = format!("reads-{number}");
            one.title =
                format!("Random read number {number} of a suite with long titles, 4 KiB, QD4");
            one.phases[0].steps[0] = step("QD4", 1.0, stream(Access::Random, 4_096, 100, 4), 2);
            one
        };
        (0..50).map(long).collect()
    };
    let run = |name: &'static str| {
        recorded(Drive { name, ..ALPHA }, name, plan("own", tests()), usize::MAX)
    };
    let text = markdown(&names.map(run));
    assert!(text.len() <= 6_000, "{}", text.len());
    let rows = text.lines().filter(|line| line.starts_with("| Random read")).count();
    assert!(rows >= 10 && text.contains(&format!("{} further tests", 50 - rows)), "{rows}");
}

#[test]
fn headline_title_table_and_json_state_the_same_share_beyond_the_cache() {
    for (left, said) in [(0.474, 47.0), (0.475_4, 48.0), (0.062, 6.2)] {
        let runs = [own(Drive { left, ..ALPHA }), own(Drive { name: "Beta", ..ALPHA })];
        let words = format!("{said} %");
        let page = page(&runs, &PageOptions::default());
        let title = plain(page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap());
        assert!(title.contains(&format!("falls to {words} of")), "{title}");
        let figure = fragment(&runs, &PageOptions::default(), "own/fill").unwrap();
        let of_figure = plain(figure.split("<h3>").nth(1).unwrap().split("</h3>").next().unwrap());
        assert!(of_figure.contains(&format!("falls to {words} of")), "{of_figure}");
        let answer = plain(&fragment(&runs, &PageOptions::default(), "answer").unwrap());
        assert!(answer.contains(&format!("then {words}")), "{answer}");
        let document = json(&runs);
        let point = &document["runs"][0]["tests"][0]["points"][0];
        let end = &point["write_speed_falls"][0];
        // Nothing shows the state of the drive before the step, so the cause is unknown.
        assert!(end["cause"] == "unknown" && point["cache_end"].is_null(), "{point}");
        assert_eq!(end["left_percent"], said, "{end}");
        let share = end["after_mb_s"].as_f64().unwrap() / end["before_mb_s"].as_f64().unwrap();
        assert!((100.0 * share - said).abs() <= 0.5, "{end}");
    }
}

#[test]
fn the_headline_states_the_shares_of_the_first_figure_whatever_the_order_of_files() {
    // Beta went through another suite too, in which its cache ends higher.
    let drives = [ALPHA, Drive { name: "Beta", left: 0.3, ..ALPHA }];
    let mut runs: Vec<Run> = drives.map(own).into();
    let other = Drive { name: "Beta", left: 0.7, ..ALPHA };
    runs.push(recorded(other, "other", plan("other", vec![fill()]), usize::MAX));
    for _ in 0..2 {
        let page = page(&runs, &PageOptions::default());
        let title = plain(page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap());
        assert!(title.contains("Beta falls to 30 %"), "{title}");
        runs.reverse();
    }
}
