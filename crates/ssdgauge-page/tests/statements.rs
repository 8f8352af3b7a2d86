//! The sentences that the program writes: each is recomputed from the runs of random sets of drives.
//! None is false, none is empty, and none takes more than two lines.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

use crate::support::{Pace, Recipe, plan, run, step, stream, test};
use ssdgauge_analysis::{CachePlace, PageOptions, Run, TestRun};
use ssdgauge_core::{
    Access, Chart, Finding, FindingKind, Metric, Nanos, Random, Scope, Score, ScoreFamily,
    Severity, Stream, TargetKind, Test, Window,
};
use ssdgauge_page::page;
use std::collections::BTreeMap;

/// The letters of a line of a heading at 34 px, and of one of the dek, on 1,112 px.
const HEADING: usize = 62;
const DEK: usize = 130;

/// What a drive of a set does.
#[derive(Clone, Copy, Debug)]
struct Drive {
    speed: f64,
    /// The share of its write speed that is left after some seconds.
    left: f64,
    latency: f64,
    doubt: Doubt,
}

/// A finding that the run of a drive has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    None,
    /// A note, which puts nothing in doubt.
    Note,
    /// A warning on a test of the answer.
    Inside,
    /// A warning on a test outside the answer.
    Outside,
    /// An invalid result.
    Invalid,
}

impl Doubt {
    const ALL: [Doubt; 5] =
        [Doubt::None, Doubt::Note, Doubt::Inside, Doubt::Outside, Doubt::Invalid];

    /// Returns the finding with the number of its step: the first one writes in order, the last one
    /// reads in order and has no column.
    fn finding(self) -> Option<(Option<usize>, Finding)> {
        let (step, severity) = match self {
            Doubt::None => return None,
            Doubt::Note => (0, Severity::Note),
            Doubt::Inside => (0, Severity::Warning),
            Doubt::Outside => (7, Severity::Warning),
            Doubt::Invalid => (7, Severity::Invalid),
        };
        let text = "another program used the drive";
        Some((Some(step), Finding::new(FindingKind::Disturbed, severity, text, "stop it")))
    }
}

fn tests() -> Vec<Test> {
    let all = [Chart::Ranking, Chart::Curve, Chart::Timeline, Chart::Distribution];
    let write = step("write", 1.0, stream(Access::Sequential, 131_072, 0, 32), 70);
    let window = Window::Time(Nanos::from_secs(20));
    let last = Score::MeanOfLast { metric: Metric::ThroughputMbS, window };
    let mixes = [100, 50, 0].map(|read| {
        let mix = stream(Access::Random, 4_096, read, 4);
        step(&format!("{read} % read"), f64::from(read), mix, 12)
    });
    let depths = [1, 4, 16].map(|qd| {
        step(&format!("QD{qd}"), f64::from(qd), stream(Access::Random, 4_096, 100, qd), 12)
    });
    let in_order = vec![step("read", 1.0, stream(Access::Sequential, 131_072, 100, 32), 12)];
    let mean = Score::MeanOf(Metric::ThroughputMbS);
    vec![
        test("fill", "Sequential write", last, &all, vec![write]),
        test("mixed", "Mixed random", Score::MeanOf(Metric::ThroughputMbS), &all, mixes.into()),
        test("reads", "Random read", Score::Knee(Metric::Iops), &all, depths.into()),
        test("scan", "Sequential read", mean, &all, in_order),
    ]
}

fn recorded(number: usize, drive: Drive) -> Run {
    let pace = move |stream: &Stream, second: u32| {
        let is_fill = stream.access == Access::Sequential;
        let level =
            if is_fill && stream.read_percent == 0 && second >= 20 { drive.left } else { 1.0 };
        let wobble = 1.0 + 0.004 * (f64::from(second) * 1.7).sin();
        let iops = drive.speed * level * wobble * f64::from(stream.queue_depth).sqrt();
        Pace { iops: iops as u64, lat_us: drive.latency }
    };
    let mut recipe = Recipe::new(&format!("r{number}"), plan("own", tests()), &name(number));
    recipe.pace = &pace;
    recipe.findings.extend(drive.doubt.finding());
    recipe.power_w = (number % 3 != 2).then_some(2.0 + number as f64);
    recipe.drive.kind = TargetKind::Block;
    recipe.drive.serial = Some(format!("S{number}"));
    run(&recipe)
}

/// Small numbers in words.
const WORDS: [&str; 8] = ["no", "one", "two", "three", "four", "five", "six", "seven"];

fn name(number: usize) -> String {
    ["Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta"][number].to_owned()
}

/// Returns what lies between two marks of `text`, without tags.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    text.split(from).skip(1).map(|part| part.split(to).next().unwrap()).collect()
}

fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut inside = false;
    for letter in text.chars() {
        match letter {
            '<' => inside = true,
            '>' => inside = false,
            '\u{a0}' => plain.push(' '),
            _ if !inside => plain.push(letter),
            _ => {}
        }
    }
    plain.replace("&amp;", "&")
}

/// Returns the number before the first `unit` in `text`.
fn number(text: &str, unit: &str) -> f64 {
    let before = text.split(unit).next().unwrap().trim_end();
    let word = before.rsplit(' ').next().unwrap();
    word.replace(',', "").parse().unwrap_or_else(|_| panic!("no number before {unit} in {text}"))
}

fn headline(test: &TestRun) -> f64 {
    test.headline.value.unwrap()
}

/// Checks the title of the figure of each test.
fn check_titles(page: &str, runs: &[Run]) {
    for (place, id) in ["fill", "mixed", "reads"].iter().enumerate() {
        let figures = between(page, &format!("<figure id=\"own/{id}\">"), "</figure>");
        let values: BTreeMap<String, f64> = runs
            .iter()
            .map(|run| (run.head.drive.name().to_owned(), headline(&run.tests[place])))
            .collect();
        let most = values.values().copied().fold(0.0, f64::max);
        let least = values.values().copied().fold(f64::INFINITY, f64::min);
        let Some(figure) = figures.first() else {
            assert!(most < 1.03 * least, "{id} separates the drives, and has no figure");
            continue;
        };
        let title = plain(between(figure, "<h3>", "</h3>")[0]);
        assert!(!title.is_empty() && title.chars().count() <= 2 * 110, "{title}");
        if title.contains("write slower") || title.contains("of its write speed") {
            // The drives whose write speed falls are checked with the headline.
        } else if let Some((best, rest)) = title.split_once(" leads with ") {
            assert_eq!(values[best], most, "{title}");
            let others = values.iter().filter(|(name, _)| *name != best).map(|(_, value)| *value);
            let ratio = most / others.fold(0.0, f64::max);
            assert!(ratio > 1.03, "{title}");
            let said = match rest.contains(" times ") {
                true => number(rest, " times "),
                false => 1.0 + number(rest, " %") / 100.0,
            };
            assert!((said / ratio - 1.0).abs() < 0.06, "{title}: {ratio}");
        } else if let Some((names, value)) = title.split_once(" tie; the best value is ") {
            let said: f64 = number(&format!("best {value}"), &value[value.find(' ').unwrap()..]);
            assert!((said / most - 1.0).abs() < 0.01, "{title}: {most}");
            let near = |value: f64| most / value < 1.031;
            match names.strip_suffix(" drives") {
                Some(count) => {
                    let tied = values.values().filter(|value| near(**value)).count();
                    assert!(
                        tied >= 4 && count.to_lowercase() == WORDS[tied],
                        "{title}: {values:?}"
                    );
                }
                None => {
                    for name in names.replace(" and ", ", ").split(", ") {
                        assert!(near(values[name]), "{title}: {values:?}");
                    }
                }
            }
        } else if let Some(rest) = ["Too close to call: ", "No verdict: "]
            .iter()
            .find_map(|start| title.strip_prefix(start))
        {
            let best = values.iter().find(|(_, value)| **value == most).unwrap().0;
            assert!(rest.starts_with(best.as_str()) && most > 1.03 * least, "{title}");
        } else if title.starts_with("No difference beyond 3 % between ") {
            let best = |share: f64| values.values().filter(|value| **value * share >= most).count();
            assert!(best(1.031) > 1, "{title}: {values:?}");
        } else {
            assert!(title.contains("no lead without 95 % intervals"), "{title}");
        }
    }
}

/// Checks the headline: the drives whose write speed falls, or the leaders.
fn check_headline(page: &str, drives: &[Drive]) {
    let title = plain(between(page, "<h1>", "</h1>")[0]);
    assert!(!title.is_empty() && title.chars().count() <= 2 * HEADING, "{title}");
    let falls: Vec<f64> = drives.iter().map(|d| d.left).filter(|left| *left < 0.8).collect();
    assert_eq!(title.contains("write speed"), !falls.is_empty(), "{title}: {drives:?}");
    if falls.is_empty() {
        return;
    }
    let said = number(&title, " %") / 100.0;
    for left in &falls {
        assert!(*left <= said + 0.005, "{title}: {left} is left");
    }
    let most = falls.iter().copied().fold(0.0, f64::max);
    assert!(said - most < 0.03, "{title}: {most}");
    let (some, all) = (WORDS[falls.len()], WORDS[drives.len()]);
    let lower = title.to_lowercase();
    let fits = match (falls.len(), drives.len()) {
        (1, _) => lower.contains(" falls to "),
        (2, 2) => lower.starts_with("both drives"),
        (n, m) if n == m => lower.starts_with(&format!("all {all} drives")),
        (_, _) => lower.starts_with(&format!("{some} of {all} drives")),
    };
    assert!(fits, "{title}: {drives:?}");
}

/// Checks what each drive is best for, and that each row has a grade with its reason.
fn check_answer(page: &str, runs: &[Run], drives: &[Drive]) {
    let table = between(page, "<table class=\"ans\"", "</table>")[0];
    let rows: Vec<&str> = between(table, "<tr class=\"d d-", "</tr>");
    assert_eq!(rows.len(), runs.len());
    let best =
        |place: usize| runs.iter().map(|run| headline(&run.tests[place])).fold(0.0, f64::max);
    for row in rows {
        let drive: usize = row.split('"').next().unwrap().parse().unwrap();
        let words = best_for(row).to_lowercase();
        let is_best = |place: usize| headline(&runs[drive].tests[place]) * 1.03 >= best(place);
        let is_best_of = |run: usize| {
            [0, 1].iter().all(|place| headline(&runs[run].tests[*place]) * 1.03 >= best(*place))
        };
        // The titles of the figures say which two drives are too close to call.
        let best_for = match words.ends_with("too close to call") {
            true => "",
            false => words.split(" (").next().unwrap_or_default(),
        };
        if best_for.contains("large copies") {
            assert!(is_best(0), "{words}");
        }
        if best_for.contains("everyday work") {
            assert!(is_best(1), "{words}");
        }
        if table.contains("No column separates the drives") {
            assert!((0..runs.len()).all(is_best_of) && words.is_empty(), "{words}");
        }
        if words.contains("short bursts") {
            assert!(drives[drive].left < 0.8, "{words}");
        }
        if words.contains("last in sustained writes") {
            let own = headline(&runs[drive].tests[0]);
            let others = (0..runs.len()).filter(|run| *run != drive);
            let mut others = others.map(|run| headline(&runs[run].tests[0]));
            assert!(others.all(|other| other > 1.03 * own), "{words}");
        }
        let grade = between(row, "class=\"g g", "\"")[0];
        assert!(["A", "B", "C", "D"].contains(&grade), "{grade}");
        let why = between(row, &format!("title=\"Measurement quality: grade {grade}, "), "\"")[0];
        assert!(!why.is_empty() && why.chars().count() <= 2 * DEK, "{row}");
        check_grade(grade, &runs[drive], drives[drive]);
    }
}

/// Returns what a row says that its drive is best for: in its cell, or below the name.
fn best_for(row: &str) -> String {
    let cells = between(row, "<td class=\"bf\">", "</td>");
    let below = between(row, "<small class=\"for\">", "</small>");
    cells.into_iter().chain(below).map(plain).collect()
}

/// Checks a grade by its rule: D for an invalid result, C where more than a quarter of the results are in
/// doubt, B where fewer are or where the state of the cache is unknown in a mean.
fn check_grade(grade: &str, run: &Run, drive: Drive) {
    let is_mean = |test: &TestRun| test.test.score.family() == ScoreFamily::Mean;
    let has = |test: &TestRun, place: CachePlace| {
        test.points.iter().any(|point| point.cache == Some(place))
    };
    let mixes = |test: &TestRun| {
        let both = has(test, CachePlace::Inside) && has(test, CachePlace::Beyond);
        is_mean(test) && test.points.len() > 1 && (both || has(test, CachePlace::Crossing))
    };
    let settles = |test: &TestRun| {
        let is =
            |kind: FindingKind| matches!(kind, FindingKind::StillSettling | FindingKind::TwoLevels);
        test.findings.iter().any(|one| is(one.finding.kind))
    };
    let warned = |test: &TestRun| match drive.doubt {
        Doubt::Inside => test.test.id == "fill",
        Doubt::Outside | Doubt::Invalid => test.test.id == "scan",
        Doubt::None | Doubt::Note => false,
    };
    // Nothing is known of the drive before the fill, so no fall of it has a known cause.
    let falls = |test: &TestRun| test.test.id == "fill" && !test.points[0].falls.is_empty();
    let is_doubted = |test: &&TestRun| mixes(test) || settles(test) || falls(test) || warned(test);
    let doubted = run.tests.iter().filter(is_doubted).count();
    let is_unknown = |test: &TestRun| is_mean(test) && has(test, CachePlace::Unknown);
    let expected = match doubted {
        _ if drive.doubt == Doubt::Invalid => "D",
        0 if run.tests.iter().any(is_unknown) => "B",
        0 => "A",
        some if 4 * some <= run.tests.len() => "B",
        _ => "C",
    };
    assert_eq!(grade, expected, "{drive:?}");
}

fn check_dek(page: &str, runs: &[Run], drives: &[Drive]) {
    let dek = plain(between(page, "<p class=\"dek\">", "</p>")[0]);
    let sentences: Vec<&str> = dek.split_inclusive(". ").collect();
    assert!((1..=4).contains(&sentences.len()) && dek.chars().count() > 20, "{dek}");
    for sentence in sentences {
        assert!(sentence.chars().count() <= 2 * DEK, "{sentence}");
        check_sentence(sentence.trim_end(), runs, drives);
    }
    for number in 0..drives.len() {
        let own = dek.matches(&format!("{} sustains ", name(number))).count();
        assert!(own < 2, "{dek}");
    }
}

/// Recomputes one sentence of the dek.
fn check_sentence(sentence: &str, runs: &[Run], drives: &[Drive]) {
    let Some(drive) = (0..drives.len()).find(|n| sentence.starts_with(&name(*n))) else {
        assert!(sentence.starts_with("No two drives differ"), "{sentence}");
        return;
    };
    let own = drives[drive];
    let close = |said: f64, is: f64| assert!((said / is - 1.0).abs() < 0.02, "{sentence}: {is}");
    let of = |place: usize, run: &Run| headline(&run.tests[place]);
    let others = |place: usize| {
        let of_others = (0..runs.len()).filter(move |n| *n != drive);
        of_others.map(move |n| of(place, &runs[n]))
    };
    let rest = sentence[name(drive).len()..].trim_start();
    if rest.starts_with("completes 9,999") {
        let next = drives.iter().enumerate().filter(|(n, _)| *n != drive);
        let next = next.map(|(_, other)| other.latency).fold(f64::INFINITY, f64::min);
        assert!(next > 1.4 * own.latency, "{sentence}: {drives:?}");
        assert!(rest.contains("4 KiB random reads"), "{sentence}");
    } else if rest.starts_with("sustains the least") {
        let least = of(0, &runs[drive]);
        close(number(rest, " MB/s"), least);
        assert!(others(0).all(|other| other > least), "{sentence}");
        close(number(rest, " %") / 100.0, least / others(0).fold(0.0, f64::max));
    } else if rest.starts_with("sustains") || rest.starts_with("does") {
        let place = usize::from(rest.starts_with("does"));
        let (most, next) = (of(place, &runs[drive]), others(place).fold(0.0, f64::max));
        close(number(rest, " MB/s"), most);
        assert!(most > 1.03 * next, "{sentence}: {next}");
        match rest.contains(" times as much") {
            // Three digits.
            true => {
                let said = number(rest, " times as much");
                assert!((said - most / next).abs() < 0.006, "{sentence}: {}", most / next);
            }
            false => close(1.0 + number(rest, " % more") / 100.0, most / next),
        }
    } else if rest.starts_with("delivers") {
        let per_watt = |n: usize| {
            // Efficiency is that of the whole step, whichever part the headline counts, without a start
            // that flatters: the first 20 of its 70 seconds.
            let point = &runs[n].tests[0].points[0].point;
            let rates = point.seconds.full().rates(Metric::ThroughputMbS);
            let counted = &rates[if drives[n].left < 1.0 { 25 } else { 0 }..];
            let mean = counted.iter().sum::<f64>() / counted.len() as f64;
            Some(mean / point.totals.value(Metric::PowerW, Scope::All)?)
        };
        let most = per_watt(drive).unwrap();
        let others = (0..runs.len()).filter(|n| *n != drive).filter_map(per_watt);
        let next = others.fold(0.0, f64::max);
        close(number(rest, " MB/s/W"), most);
        assert!(most > 1.03 * next, "{sentence}: {next}");
    } else if rest.starts_with("writes ") {
        let (inside, after) = rest.split_once(", then ").unwrap();
        let left = number(after, " MB/s") / number(inside, " MB/s");
        assert!((left - own.left).abs() < 0.03, "{sentence}: {}", own.left);
        let fastest = drives.iter().filter(|other| other.left < 0.8);
        assert!(fastest.into_iter().all(|other| other.speed <= 1.01 * own.speed), "{sentence}");
    } else {
        // A column without a question of its own.
        assert!(rest.starts_with("reaches"), "{sentence}");
    }
}

#[test]
fn every_sentence_of_random_sets_of_drives_is_true_and_short() {
    let sets = if std::env::var_os("SSDGAUGE_LONG").is_some() { 200 } else { 20 };
    for seed in 0..sets {
        let mut random = Random::new(seed, 7);
        let count = 2 + random.below(5) as usize;
        let drives: Vec<Drive> = (0..count)
            .map(|_| Drive {
                speed: 4_000.0 * (1.0 + 6.0 * random.unit()),
                left: if random.below(2) == 0 { 1.0 } else { 0.2 + 0.5 * random.unit() },
                latency: 50.0 + 2_000.0 * random.unit(),
                doubt: Doubt::ALL[random.below(5) as usize],
            })
            .collect();
        // One set has twins, which tie.
        let drives = if seed == 1 { vec![drives[0]; 3] } else { drives };
        println!("seed {seed}: {drives:?}");
        let runs: Vec<Run> =
            drives.iter().enumerate().map(|(number, drive)| recorded(number, *drive)).collect();
        let page = page(&runs, &PageOptions::default());
        check_headline(&page, &drives);
        check_dek(&page, &runs, &drives);
        check_answer(&page, &runs, &drives);
        check_titles(&page, &runs);
    }
}

#[test]
fn a_question_with_one_answer_for_all_drives_is_not_an_advantage() {
    let drive = |left: f64| Drive { speed: 4_000.0, left, latency: 100.0, doubt: Doubt::ALL[0] };
    let of = |drives: [Drive; 2]| {
        let runs: Vec<Run> = (0..2).map(|number| recorded(number, drives[number])).collect();
        let page = page(&runs, &PageOptions::default());
        let dek = plain(between(&page, "<p class=\"dek\">", "</p>")[0]);
        (best_for(&page).to_lowercase(), dek)
    };
    // Equal at the everyday load, unequal beyond the end of a cache.
    let (best, dek) = of([drive(1.0), drive(0.3)]);
    assert!(best.contains("large copies") && !best.contains("everyday"), "{best}");
    assert!(!dek.contains("No two drives differ"), "{dek}");
}
