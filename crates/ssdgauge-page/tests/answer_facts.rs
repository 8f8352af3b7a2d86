//! What the answer says of runs, grades and intervals: each follows from the runs of a drive, whatever
//! is shown with it.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use crate::support::{Pace, Recipe, plan, run, step, stream, test};
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_core::{
    Access, Bytes, Chart, Detail, DriveInfo, Finding, FindingKind, Metric, Nanos, Score, Severity,
    Stream, TargetKind, Test, Window,
};
use ssdgauge_export::markdown;
use ssdgauge_page::{fragment, page};

/// What a drive does: its writes in order, its reads, its latency in µs.
#[derive(Clone, Copy)]
struct Drive {
    name: &'static str,
    write: f64,
    read: f64,
    latency: f64,
}

const ALPHA: Drive = Drive { name: "Alpha", write: 7_250.0, read: 50_000.0, latency: 100.0 };

fn fill(seconds: u64) -> Test {
    let window = Window::Time(Nanos::from_secs(20));
    let score = match seconds {
        0..20 => Score::MeanOf(Metric::ThroughputMbS),
        _ => Score::MeanOfLast { metric: Metric::ThroughputMbS, window },
    };
    let write = step("write", 1.0, stream(Access::Sequential, 131_072, 0, 32), seconds);
    test("fill", "Sequential write", score, &[Chart::Ranking], vec![write])
}

fn reads(id: &str) -> Test {
    let read = step("QD4", 1.0, stream(Access::Random, 4_096, 100, 4), 30);
    test(
        id,
        &format!("Random read {id}"),
        Score::MeanOf(Metric::Iops),
        &[Chart::Ranking],
        vec![read],
    )
}

fn recipe<'a>(
    drive: Drive,
    id: &str,
    (suite, tests): (&str, Vec<Test>),
    pace: &'a dyn Fn(&Stream, u32) -> Pace,
) -> Recipe<'a> {
    let recipe = Recipe::new(id, plan(suite, tests), drive.name);
    let mut recipe = Recipe { pace, ..recipe };
    recipe.drive.kind = TargetKind::Block;
    recipe.drive.serial = Some(format!("S-{}", drive.name));
    recipe
}

fn pace(drive: Drive) -> impl Fn(&Stream, u32) -> Pace {
    move |stream: &Stream, second: u32| {
        let wobble = 1.0 + 0.002 * (f64::from(second) * 1.7).sin();
        let base = if stream.access == Access::Sequential { drive.write } else { drive.read };
        Pace { iops: (base * wobble) as u64, lat_us: drive.latency }
    }
}

fn recorded(drive: Drive, id: &str, suite: &str, tests: Vec<Test>) -> Run {
    run(&recipe(drive, id, (suite, tests), &pace(drive)))
}

fn own(drive: Drive) -> Run {
    recorded(drive, &format!("run-{}", drive.name), "own", vec![fill(70), reads("a")])
}

fn plain(text: &str) -> String {
    let parts = text.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<String>().replace('\u{a0}', " ")
}

fn part(runs: &[Run], id: &str) -> String {
    fragment(runs, &PageOptions::default(), id).unwrap()
}

/// Returns the rows of the answer.
fn rows(runs: &[Run]) -> Vec<String> {
    let answer = part(runs, "answer");
    let rows = answer.split("<tr class=\"d d-").skip(1);
    rows.map(|row| row.split("</tr>").next().unwrap().to_owned()).collect()
}

fn row(runs: &[Run], name: &str) -> String {
    let found = rows(runs).into_iter().find(|row| plain(row).contains(name));
    found.unwrap_or_else(|| panic_without(runs, name))
}

#[expect(clippy::panic, reason = "a test that cannot be set up has failed")]
fn panic_without(runs: &[Run], name: &str) -> String {
    panic!("no row of {name}: {}", plain(&part(runs, "answer")))
}

fn head(runs: &[Run]) -> String {
    let page = page(runs, &PageOptions::default());
    plain(page.split("<header").nth(1).unwrap().split("</header>").next().unwrap())
}

fn title(runs: &[Run]) -> String {
    let page = page(runs, &PageOptions::default());
    plain(page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap())
}

/// Returns the letter of the grade in `html`; `None` where it has none.
fn grade(html: &str) -> Option<String> {
    let of_one = || html.split("#caveats\">grade ").nth(1);
    let letter = html.split("class=\"g g").nth(1).or_else(of_one)?;
    Some(letter[..1].to_owned())
}

#[test]
fn no_result_stands_under_the_id_of_another_run() {
    let tests = || vec![fill(70), reads("a")];
    let mut begun = recipe(ALPHA, "first-run-aaaaaaaa", ("own", tests()), &|_, _| Pace {
        iops: 5_000,
        lat_us: 100.0,
    });
    begun.steps = 0;
    let begun = run(&begun);
    let whole = recorded(ALPHA, "second-run-bbbbbbbb", "own", tests());
    let other = recorded(ALPHA, "third-run-cccccccc", "other", vec![reads("b")]);
    let beta = own(Drive { name: "Beta", ..ALPHA });
    let mut runs = vec![begun, whole, other, beta];
    for _ in 0..4 {
        runs.rotate_left(1);
        let unfinished = plain(&row(&runs, "aaaaaaaa"));
        assert!(
            !unfinished.contains("cccccccc") && unfinished.contains("UNFINISHED"),
            "{unfinished}"
        );
        assert!(!unfinished.contains("MB/s") && !unfinished.contains("IOPS"), "{unfinished}");
        let finished = plain(&row(&runs, "bbbbbbbb"));
        assert!(finished.contains("Alpha (bbbbbbbb, cccccccc)"), "{finished}");
    }
}

#[test]
fn runs_of_several_suites_and_parts_of_one_drive_are_one_drive() {
    let part_of = |drive: &mut DriveInfo| {
        drive.state(Detail::WholeCapacity, drive.capacity.0.to_string());
        drive.capacity = Bytes(4_294_967_296);
    };
    let pace = pace(ALPHA);
    let within = Stream { span: Bytes(4_294_967_296), ..stream(Access::Random, 4_096, 100, 4) };
    let score = Score::MeanOf(Metric::Iops);
    let of_part =
        test("s", "Random read", score, &[Chart::Ranking], vec![step("QD4", 1.0, within, 30)]);
    let mut small = recipe(ALPHA, "small-run-11111111", ("small", vec![of_part]), &pace);
    part_of(&mut small.drive);
    let alpha = [own(ALPHA), run(&small)];
    assert!(head(&alpha).contains("One SSD, two runs"), "{}", head(&alpha));
    let [one, other] = alpha;
    let beta = own(Drive { name: "Beta", ..ALPHA });
    let runs = [one, other, beta.clone()];
    assert!(head(&runs).contains("Two SSDs compared · 1 TB each"), "{}", head(&runs));
    assert_eq!(rows(&runs).len(), 2);
    assert!(title(&runs).contains("two drives"), "{}", title(&runs));
    // Two runs through one test are two rows of one drive: three rows, and no three drives.
    let again = recorded(ALPHA, "again-run-22222222", "own", vec![fill(70), reads("a")]);
    let runs = [own(ALPHA), again, beta];
    assert!(head(&runs).contains("Two SSDs compared, three runs"), "{}", head(&runs));
    assert!(!head(&runs).contains("three drives"), "{}", head(&runs));
    assert!(!markdown(&runs).contains("three drives"), "{}", markdown(&runs));
}

#[test]
fn a_grade_depends_on_the_runs_of_one_drive_only_and_needs_a_result() {
    let tests = || vec![fill(70), reads("a"), reads("b"), reads("c"), reads("d")];
    let pace = pace(ALPHA);
    let doubted = |steps: &[usize], severity: Severity| {
        let mut recipe = recipe(ALPHA, "run-Alpha", ("own", tests()), &pace);
        for step in steps {
            let finding = Finding::new(FindingKind::Disturbed, severity, "other work", "stop it");
            recipe.findings.push((Some(*step), finding));
        }
        run(&recipe)
    };
    let others: Vec<Run> = ["Beta", "Gamma"]
        .map(|name| recorded(Drive { name, read: 20_000.0, ..ALPHA }, name, "own", tests()))
        .into();
    for (steps, severity, expected) in [
        (&[][..], Severity::Warning, "A"),
        (&[4], Severity::Note, "A"),
        (&[4], Severity::Warning, "B"),
        (&[0], Severity::Warning, "B"),
        (&[1, 4], Severity::Warning, "C"),
        (&[4], Severity::Invalid, "D"),
    ] {
        let own = doubted(steps, severity);
        let alone = page(std::slice::from_ref(&own), &PageOptions::default());
        let alone = alone.split("<p class=\"trust\">").nth(1).unwrap();
        assert_eq!(grade(alone).as_deref(), Some(expected), "{steps:?} {severity:?}");
        let mut runs = others.clone();
        runs.push(own);
        assert_eq!(grade(&row(&runs, "Alpha")).as_deref(), Some(expected), "{steps:?}");
    }
    let mut begun = recipe(ALPHA, "run-Alpha", ("own", tests()), &pace);
    begun.steps = 0;
    let begun = run(&begun);
    let alone = page(std::slice::from_ref(&begun), &PageOptions::default());
    assert!(alone.contains("graded once half of the tests") && grade(&alone).is_none());
    let mut runs = others;
    runs.push(begun);
    assert_eq!(grade(&row(&runs, "Alpha")), None, "{}", row(&runs, "Alpha"));
    assert!(grade(&row(&runs, "Beta")).is_some());
}

#[test]
fn a_settled_value_far_from_that_of_the_protocol_is_marked_with_it_and_a_caveat() {
    let drives = [ALPHA, Drive { name: "Beta", read: 30_000.0, ..ALPHA }];
    let of = |drive: Drive, burst: f64| {
        let steady = pace(drive);
        let pace = move |stream: &Stream, second: u32| {
            let own = steady(stream, second);
            let factor = if stream.access == Access::Random && second < 6 { burst } else { 1.0 };
            Pace { iops: (own.iops as f64 * factor) as u64, ..own }
        };
        run(&recipe(drive, drive.name, ("own", vec![fill(70), reads("a")]), &pace))
    };
    let runs = [of(drives[0], 3.0), of(drives[1], 1.0)];
    let (flattered, steady) = (row(&runs, "Alpha"), row(&runs, "Beta"));
    assert!(flattered.contains('†') && !steady.contains('†'), "{flattered}");
    let cell = flattered.split("<td class=\"b").find(|cell| cell.contains('†')).unwrap();
    assert!(cell.contains("<line class=\"wh\""), "{cell}");
    let words = plain(cell).replace('\u{a0}', " ");
    assert!(words.contains(" with the faster first "), "{words}");
    // The value lies between the ends of its interval.
    let share = |attribute: &str| -> f64 {
        let text = cell.split(&format!(" {attribute}=\"")).nth(1).unwrap();
        text.split('%').next().unwrap().parse().unwrap()
    };
    let bar: f64 = {
        let bar = cell.split("<rect class=\"br\" width=\"").nth(1).unwrap();
        bar.split('%').next().unwrap().parse().unwrap()
    };
    assert!(share("x1") <= bar && bar <= share("x2"), "{cell}");
    let caveats = plain(&part(&runs, "caveats"));
    assert!(
        caveats.contains("Faster start excluded") && caveats.contains("Random read a"),
        "{caveats}"
    );
    assert!(part(&runs, "own/a").contains("† excludes the faster start"));
    let alone = plain(&part(&runs[1..], "caveats"));
    assert!(!alone.contains("Faster start excluded"), "{alone}");
}

#[test]
fn no_slower_drive_is_best_where_a_faster_one_has_no_interval() {
    // As a limit in bytes ends a step: the faster drive has too few seconds for an interval.
    let bounded = |seconds: u64| {
        let mut test = Test { score: Score::MeanOf(Metric::ThroughputMbS), ..fill(seconds) };
        let ssdgauge_core::Action::Run { until, .. } = &mut test.phases[0].steps[0].action else {
            return test;
        };
        until.bytes = Some(Bytes(64_000_000_000));
        test
    };
    let of = |name: &'static str, write: f64, seconds: u64| {
        let drive = Drive { name, write, ..ALPHA };
        recorded(drive, name, "own", vec![bounded(seconds), reads("a")])
    };
    let runs = [of("Alpha", 9_000.0, 7), of("Beta", 7_000.0, 40), of("Gamma", 6_900.0, 40)];
    // Seven seconds have no interval: nothing says how close the two are.
    const OPEN: &str = "Large copies: order unknown, no interval";
    let words = |name: &str| plain(&row(&runs, name));
    for slower in ["Beta", "Gamma"] {
        assert!(!words(slower).contains("Long writes"), "{}", words(slower));
        assert!(!words(slower).replace(OPEN, "").contains("arge copies"), "{}", words(slower));
    }
    // Beta is the next one; Gamma is as far from Alpha, and nothing is said of it.
    assert!(words("Beta").contains(OPEN) && !words("Gamma").contains(OPEN));
    assert!(words("Alpha").contains(OPEN), "{}", words("Alpha"));
}

#[test]
fn a_suite_without_reads_recommends_no_drive_for_reads() {
    let speeds = [("Alpha", 7_250.0), ("Beta", 6_000.0), ("Gamma", 5_000.0)];
    let writes = speeds.map(|(name, write)| {
        let drive = Drive { name, write, ..ALPHA };
        recorded(drive, name, "own", vec![fill(70)])
    });
    let answer = plain(&part(&writes, "answer"));
    assert!(
        answer.contains("Large copies") || answer.contains("Best for large copies"),
        "{answer}"
    );
    assert!(!answer.contains("reads"), "{answer}");
    let with_reads = speeds.map(|(name, write)| {
        let read = if name == "Beta" { 40_000.0 } else { 50_000.0 };
        own(Drive { name, write, read, ..ALPHA })
    });
    assert!(plain(&row(&with_reads, "Gamma")).to_lowercase().contains("everyday work"));
    let last = speeds.map(|(name, write)| {
        let read = if name == "Gamma" { 40_000.0 } else { write * 6.0 };
        own(Drive { name, write, read, ..ALPHA })
    });
    let words = plain(&row(&last, "Gamma"));
    assert!(words.to_lowercase().contains("mostly reads"), "{words}");
}

#[test]
fn values_within_the_noise_have_no_difference_whether_or_not_they_have_intervals() {
    let of = |name: &'static str, write: f64| {
        let drive = Drive { name, write, ..ALPHA };
        recorded(drive, name, "own", vec![fill(5), reads("a")])
    };
    let of_all = |writes: [f64; 3]| {
        let names = ["Alpha", "Beta", "Gamma"];
        let runs: Vec<Run> =
            names.iter().zip(writes).map(|(name, write)| of(name, write)).collect();
        let figure = plain(&part(&runs, "own/fill"));
        figure.split("own/fill").next().unwrap().to_owned()
    };
    let near = of_all([7_250.0, 7_247.0, 5_800.0]);
    assert!(near.contains("No difference beyond 3 % between Alpha and Beta"), "{near}");
    let apart = of_all([7_250.0, 6_500.0, 5_800.0]);
    assert!(apart.contains("no lead without 95 % intervals"), "{apart}");
}

#[test]
fn the_drive_that_the_headline_names_stands_first() {
    let drives = [
        Drive { name: "Alpha", write: 2_000.0, read: 50_000.0, latency: 900.0 },
        Drive { name: "Beta", read: 45_000.0, ..ALPHA },
        Drive { name: "Gamma", read: 44_000.0, ..ALPHA },
        Drive { name: "Delta", read: 43_500.0, ..ALPHA },
    ];
    let mut runs: Vec<Run> = drives.into_iter().map(own).collect();
    for _ in 0..2 {
        runs.reverse();
        assert!(title(&runs).starts_with("Alpha leads in everyday work"), "{}", title(&runs));
        assert!(plain(&rows(&runs)[0]).contains("Alpha"), "{}", plain(&part(&runs, "answer")));
    }
}

#[test]
fn a_column_that_one_of_several_drives_has_is_left_out() {
    let of = |name: &'static str, power_w: Option<f64>| {
        let drive = Drive { name, write: 7_000.0 + 400.0 * name.len() as f64, ..ALPHA };
        let pace = pace(drive);
        let mut recipe = recipe(drive, name, ("own", vec![fill(70), reads("a")]), &pace);
        recipe.power_w = power_w;
        run(&recipe)
    };
    let answer = |powers: [Option<f64>; 3]| {
        let names = ["Alpha", "Beta", "Gamma"];
        let runs = [0, 1, 2].map(|place| of(names[place], powers[place]));
        part(&runs, "answer")
    };
    assert!(answer([Some(5.0), Some(4.0), None]).contains(">Efficiency<"));
    assert!(!answer([Some(5.0), None, None]).contains(">Efficiency<"));
}

#[test]
fn the_lowest_tail_is_the_lowest_and_two_that_are_close_are_not_decided() {
    let of = |name: &'static str, latency: f64| own(Drive { name, latency, ..ALPHA });
    let runs = [of("Alpha", 100.0), of("Beta", 130.0), of("Gamma", 400.0)];
    let words = |name: &str| plain(&row(&runs, name));
    for name in ["Alpha", "Beta"] {
        let open = "orst-case latency: order unknown, no interval";
        assert!(words(name).contains(open), "{}", words(name));
    }
    assert!(!words("Gamma").contains("order unknown") && !words("Gamma").contains("databases"));
    let equal = [of("Alpha", 100.0), of("Beta", 100.5), of("Gamma", 400.0)];
    for name in ["Alpha", "Beta"] {
        let words = plain(&row(&equal, name));
        assert!(words.contains("owest worst-case latency (databases)"), "{words}");
        assert!(!words.contains("ot decided"), "{words}");
    }
}

/// Returns a test of three steps of writes: a fill in large requests, and two whose score is the second one.
fn states() -> Test {
    let of = |label: &str, position: f64, block: u64| {
        let access = if label == "fill" { Access::Sequential } else { Access::Random };
        step(label, position, stream(access, block, 0, 8), 30)
    };
    let steps = vec![of("fill", 1.0, 131_072), of("fresh", 2.0, 4_096), of("used", 3.0, 4_096)];
    let at = |position: f64| Score::At { metric: Metric::Iops, position };
    let test = test("states", "Four states", at(3.0), &[Chart::Curve], steps);
    Test { also: vec![at(2.0)], ..test }
}

/// Returns a run of it whose step `uneven` falls to half its rate.
fn of_states(uneven: &'static str) -> Run {
    let pace = move |stream: &Stream, second: u32| {
        let falls = second >= 15 && stream.name == uneven;
        Pace { iops: if falls { 5_000 } else { 10_000 }, lat_us: 100.0 }
    };
    let mut test = states();
    for step in &mut test.phases[0].steps {
        if let ssdgauge_core::Action::Run { workload, .. } = &mut step.action {
            workload.streams[0].name = step.label.clone();
        }
    }
    run(&recipe(ALPHA, uneven, ("own", vec![test]), &pace))
}

#[test]
fn a_finding_on_another_step_puts_no_headline_in_doubt_and_is_in_every_text() {
    // A further number of the test counts the step `fresh`: it is in doubt, and the headline is not.
    for (uneven, letter) in [("used", "C"), ("fresh", "B")] {
        let runs = [of_states(uneven)];
        assert_eq!(grade(&page(&runs, &PageOptions::default())).as_deref(), Some(letter));
        let text = markdown(&runs);
        assert!(text.contains(&format!("Measurement quality: grade **{letter}**")), "{text}");
        assert!(text.contains("two levels"), "{text}");
    }
}

#[test]
fn a_chart_of_states_has_no_step_with_other_requests() {
    let runs = [of_states("used")];
    let figure = part(&runs, "own/states");
    let values = figure.split("Four states: ").nth(1).unwrap();
    assert!(plain(values).contains("used"), "{figure}");
    assert!(!figure.contains("<title>Alpha, fill:"), "a fill is among the states");
    assert!(figure.contains("<title>Alpha, fresh:"), "{figure}");
}

#[test]
fn writes_with_flushes_are_commits_and_large_requests_are_transfers() {
    let commits = Stream { flush_every: Some(1), ..stream(Access::Sequential, 4_096, 0, 1) };
    let commits = step("log", 1.0, commits, 70);
    let commits = test("log", "Log", Score::MeanOf(Metric::Iops), &[Chart::Ranking], vec![commits]);
    let experts = step("experts", 1.0, stream(Access::Random, 3 << 20, 100, 2), 30);
    let score = Score::MeanOf(Metric::ThroughputMbS);
    let experts = test("experts", "Experts", score, &[Chart::Ranking], vec![experts]);
    let of = |name: &'static str, write: f64| {
        let drive = Drive { name, write, read: write, ..ALPHA };
        recorded(drive, name, "own", vec![commits.clone(), experts.clone()])
    };
    let runs = [of("Alpha", 9_000.0), of("Beta", 7_000.0)];
    let text = plain(&page(&runs, &PageOptions::default()));
    for words in ["Large transfers", "Commits", "each is durable"] {
        assert!(text.contains(words), "{words}");
    }
    for words in ["sustained", "Sustained", "veryday work", "arge copies"] {
        assert!(!plain(&part(&runs, "answer")).contains(words), "{words}");
        assert!(!title(&runs).contains(words), "{}", title(&runs));
    }
}

#[test]
fn two_loads_that_differ_in_more_than_the_share_of_reads_are_not_a_mix() {
    let of = |sizes: [u64; 3]| {
        let share = |(place, size): (usize, u64)| {
            let read = [100, 50, 0][place];
            step(
                &format!("{read} %"),
                place as f64 + 1.0,
                stream(Access::Random, size, read, 4),
                30,
            )
        };
        let steps: Vec<_> = sizes.into_iter().enumerate().map(share).collect();
        let test = test("mix", "Mix", Score::MeanOf(Metric::Iops), &[Chart::Curve], steps);
        let pace = |stream: &Stream, _: u32| {
            let iops = if stream.read_percent == 50 { 2_000 } else { 10_000 };
            Pace { iops, lat_us: 100.0 }
        };
        let run = run(&recipe(ALPHA, "mix", ("own", vec![test]), &pace));
        plain(&page(&[run], &PageOptions::default()))
            .contains("slower than either: 2,000 IOPS with 50 % reads")
    };
    assert!(of([4_096; 3]));
    assert!(!of([4_096, 131_072, 4_096]));
}

#[test]
fn a_share_that_is_left_is_an_upper_bound_where_the_cache_ends_at_once() {
    let of = |name: &'static str, cached: u32| {
        let pace = move |_: &Stream, second: u32| {
            let iops = if second < cached { 9_000 } else { 3_000 };
            Pace { iops, lat_us: 100.0 }
        };
        run(&recipe(Drive { name, ..ALPHA }, name, ("own", vec![fill(70)]), &pace))
    };
    let bounded = title(&[of("Alpha", 20), of("Beta", 70)]);
    assert!(bounded.contains("Alpha falls to 33 % of"), "{bounded}");
    let at_once = [of("Alpha", 1), of("Beta", 70)];
    assert!(title(&at_once).contains("Alpha falls to at most 33 % of"), "{}", title(&at_once));
    assert!(plain(&part(&at_once, "answer")).contains("then ≤ 33 %"));
    assert!(markdown(&at_once).contains("then at most 33 %"), "{}", markdown(&at_once));
}
