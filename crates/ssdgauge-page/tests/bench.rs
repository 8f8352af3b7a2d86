//! The open Bench: its verdicts are those of `compare`, its files depend on nothing but the runs, and no text of a drive
//! becomes markup or script.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod others;

use crate::support::{Pace, Recipe, client, run};
use crate::wear::reading;
use serde_json::Value;
use ssdgauge_analysis::bench::board::Bench;
use ssdgauge_analysis::bench::record::Record;
use ssdgauge_analysis::comparison::outcome::{self, Outcome};
use ssdgauge_analysis::groups::group::groups;
use ssdgauge_analysis::{CompareOptions, Difference, Notes, Run, compare};
use ssdgauge_core::{ConfidenceInterval, Finding, FindingKind, Random, Severity, TargetKind};
use ssdgauge_page::{BenchSite, bench_pages};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Returns a run of a real drive with this speed, which varies from second to second.
pub(crate) fn drive(id: &str, model: &str, speed: f64, change: &dyn Fn(&mut Recipe<'_>)) -> Run {
    let seed = id.bytes().map(u32::from).sum::<u32>();
    let pace = move |stream: &ssdgauge_core::Stream, second: u32| {
        let noise = f64::from((seed + 37 * second) % 11) / 11.0 - 0.5;
        let iops = 20_000.0 * speed * (1.0 + 0.06 * noise) * f64::from(stream.queue_depth).sqrt();
        Pace { iops: iops as u64, lat_us: 1e6 * f64::from(stream.queue_depth) / iops }
    };
    let mut recipe = Recipe::new(id, client(20, 20), model);
    recipe.pace = &pace;
    recipe.drive.kind = TargetKind::Block;
    recipe.drive.serial = Some(format!("SECRET{id}"));
    recipe.properties =
        vec![("host".to_owned(), "PRIVATE".to_owned()), ("label".to_owned(), "PRIVATE".to_owned())];
    change(&mut recipe);
    // The recipe ends with the pace that it borrows.
    run(&Recipe { pace: &pace, ..recipe })
}

pub(crate) fn files(runs: &[Run]) -> BTreeMap<String, String> {
    files_of(runs.iter().map(Record::of).collect())
}

pub(crate) fn files_of(records: Vec<Record>) -> BTreeMap<String, String> {
    let bench = Bench::new(records);
    bench_pages(&BenchSite { bench: &bench, title: "Bench of <us>" }).into_iter().collect()
}

/// Returns the value that a data script hands to the page.
fn data(text: &str) -> Value {
    let (_, call) = text.split_once('(').unwrap();
    serde_json::from_str(call.trim_end().strip_suffix(')').unwrap()).unwrap()
}

const DRIVES: usize = 24;

/// Returns runs of drives of which many are near to each other, so that all kinds of verdicts occur, and the files of their site.
fn near_drives() -> &'static (Vec<Run>, BTreeMap<String, String>) {
    static MADE: OnceLock<(Vec<Run>, BTreeMap<String, String>)> = OnceLock::new();
    MADE.get_or_init(|| {
        let speed = |number: usize| {
            1.0 + 0.012 * (number * number % 17) as f64 * (1.0 + number as f64 / 9.0)
        };
        let runs: Vec<Run> = std::thread::scope(|scope| {
            let one = |number: usize| {
                scope.spawn(move || {
                    drive(&format!("r{number}"), &format!("Drive {number}"), speed(number), &|_| {})
                })
            };
            let threads: Vec<_> = (0..DRIVES).map(one).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let files = files(&runs);
        (runs, files)
    })
}

/// Returns the letter of the packed verdict on the drives at two places of a board, as seen from the first one.
fn letter(board: &Value, one: usize, two: usize) -> char {
    let n = board["order"].as_array().unwrap().len();
    let (a, b) = (one.min(two), one.max(two));
    let at = 3 * (a * (2 * n - a - 1) / 2 + b - a - 1);
    let letter = board["pairs"].as_str().unwrap().chars().nth(at).unwrap();
    match letter {
        '>' if one > two => '<',
        '<' if one > two => '>',
        other => other,
    }
}

/// The tool `site_verdicts` compares 1,000 groups (docs/generated/gates/site-verdicts.md).
#[test]
fn of_three_to_six_drives_one_leads_exactly_where_a_report_says_so() {
    let (runs, files) = near_drives();
    let site = data(&files["data/site.js"]);
    let mut random = Random::new(5, 1);
    let mut found = [0, 0];
    for _ in 0..40 {
        let mut drives: Vec<usize> = Vec::new();
        while drives.len() < 3 + drives.first().map_or(0, |first| first % 4) {
            let one = random.below(DRIVES as u64) as usize;
            drives.extend((!drives.contains(&one)).then_some(one));
        }
        let chosen: Vec<Run> = drives.iter().map(|drive| runs[*drive].clone()).collect();
        for group in groups(&chosen) {
            let test = &group.first().test.test;
            let slug =
                format!("data/test-{}-{}-r{}-", runs[0].head.plan.suite.id, test.id, test.revision);
            let (_, text) = files.iter().find(|(name, _)| name.starts_with(&slug)).unwrap();
            let board = data(text);
            let order: Vec<&str> = board["order"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one.as_str().unwrap())
                .collect();
            let place = |drive: &usize| {
                order.iter().position(|slug| *slug == slug_of(&site, *drive)).unwrap()
            };
            // As the script does: the best is the first of the order; it leads where every pair says so.
            let mut places: Vec<usize> = drives.iter().map(place).collect();
            places.sort_unstable();
            let leads = places[1..].iter().all(|other| letter(&board, places[0], *other) == '>');
            let expected = match outcome::judge(&group) {
                Outcome::Lead { best, .. } => Some(place(&drives[group.members[best].index])),
                _ => None,
            };
            assert_eq!(leads.then_some(places[0]), expected, "{}: {drives:?}", test.id);
            found[usize::from(leads)] += 1;
        }
    }
    assert!(found.iter().all(|count| *count > 15), "{found:?}: one side is hardly tested");
}

/// The tool `site_verdicts` compares 10,000 pairs (docs/generated/gates/site-verdicts.md).
#[test]
fn the_packed_verdict_on_every_pair_is_that_of_compare() {
    let (runs, files) = near_drives();
    let options = CompareOptions { any_firmware: true, ..CompareOptions::default() };
    let boards: Vec<(String, Value)> = files
        .iter()
        .filter(|(name, _)| name.starts_with("data/test-"))
        .map(|(name, text)| (name.clone(), data(text)))
        .collect();
    let site = data(&files["data/site.js"]);
    let (mut pairs, mut kinds) = (0, BTreeMap::new());
    for first in 0..DRIVES {
        for second in 0..DRIVES {
            if first == second {
                continue;
            }
            let comparison = compare(&runs[first], &runs[second], &options).unwrap();
            for test in
                comparison.tests.iter().filter(|test| !test.further && test.values[1].is_some())
            {
                let slug = format!(
                    "data/test-{}-{}-r{}-",
                    runs[first].head.plan.suite.id, test.id, test.revision
                );
                let (_, board) = boards.iter().find(|(name, _)| name.starts_with(&slug)).unwrap();
                let order: Vec<&str> = board["order"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|one| one.as_str().unwrap())
                    .collect();
                let place = |number: usize| {
                    order.iter().position(|slug| *slug == slug_of(&site, number)).unwrap()
                };
                let (a, b) = (place(first).min(place(second)), place(first).max(place(second)));
                let at = 3 * (a * (2 * order.len() - a - 1) / 2 + b - a - 1);
                let letters: Vec<char> =
                    board["pairs"].as_str().unwrap().chars().skip(at).take(3).collect();
                let is_turned = place(first) > place(second);
                let expected = match (&test.difference, is_turned) {
                    (Difference::Worse, false) | (Difference::Better, true) => '>',
                    (Difference::Better, false) | (Difference::Worse, true) => '<',
                    (Difference::Equal, _) => '=',
                    (Difference::Unknown(_), _) => {
                        if test.ratio.unwrap().interval.is_some() {
                            '?'
                        } else {
                            'o'
                        }
                    }
                };
                assert_eq!(
                    letters[0], expected,
                    "{}: {first} and {second}, {:?}",
                    test.id, test.ratio
                );
                if expected == 'o' {
                    continue;
                }
                // The bounds lie outside of those of the ratio, by one step of their scale at most.
                let (low, high) = test.ratio.unwrap().interval.unwrap();
                let better = if is_turned == test.metric.more_is_better() {
                    (low, high)
                } else {
                    (1.0 / high, 1.0 / low)
                };
                let steps = |letter: char| f64::from(u32::from(letter) - 0x4e00);
                let ratio = |level: f64| (level / 2_500.0).sinh().exp();
                let below = steps(letters[1]) - 6_612.0;
                let above = below + steps(letters[2]);
                // Half a digit of `compare` at most, so that a printed bound is its own or the next one outwards.
                assert!(better.0 > 2.0 || 100.0 * (better.0 - ratio(below)) < 0.1);
                assert!(better.1 > 2.0 || 100.0 * (ratio(above) - better.1) < 0.1);
                let near = 1e-7;
                assert!(
                    ratio(below) <= better.0 + near && better.0 < ratio(below + 1.0) + near,
                    "{} {better:?}",
                    ratio(below)
                );
                assert!(
                    ratio(above) >= better.1 - near && better.1 > ratio(above - 1.0) - near,
                    "{} {better:?}",
                    ratio(above)
                );
                pairs += 1;
                *kinds.entry(expected).or_insert(0) += 1;
            }
        }
    }
    assert!(pairs >= 1_500 && kinds.len() >= 3, "{pairs} pairs: {kinds:?}");
}

fn slug_of(site: &Value, number: usize) -> &str {
    let name = format!("Drive {number},");
    let drives = site["drives"].as_array().unwrap();
    drives.iter().find(|one| one["n"].as_str().unwrap().starts_with(&name)).unwrap()["s"]
        .as_str()
        .unwrap()
}

#[test]
fn a_site_depends_on_nothing_but_its_runs_and_publishes_no_serial_host_or_label() {
    let hostile = "<b>Gamma</b> & \"co\" </script>";
    let mut runs: Vec<Run> = [("a", "Alpha", 1.0), ("b", "Beta", 0.7), ("c", hostile, 0.4)]
        .map(|(id, model, speed)| drive(id, model, speed, &|_| {}))
        .into();
    let first = files(&runs);
    runs.reverse();
    assert!(first == files(&runs), "the order of the runs shows");
    for (name, text) in &first {
        let is_page = name.ends_with(".html");
        for word in ["SECRET", "PRIVATE", "http://", "https://"] {
            assert!(!text.contains(word), "{word} in {name}");
        }
        assert!(!is_page || !text.contains("<b>Gamma") && !text.contains("<us>"), "{name}");
        assert!(
            !is_page
                || text.contains("script-src 'self' file:")
                    && text.contains("name=\"description\""),
            "{name}"
        );
        assert!(
            !is_page || text.matches("<script").count() <= 2 && !text.contains("onclick="),
            "{name}"
        );
        assert!(text.contains(ssdgauge_page::SITE_MARK), "{name}");
    }
    let index = &first["index.html"];
    // Without a script it is a table with a link to each drive, a value and a rank.
    for drive in ["alpha", "beta", "b-gamma-b-co-script"] {
        assert!(index.contains(&format!("href=\"drives/{drive}")), "{drive}");
    }
    assert!(
        index.matches("<small>1 of 3</small>").count() >= 2,
        "the fastest drive is first of all"
    );
}

#[test]
fn rows_that_show_equal_values_are_in_the_order_of_their_names() {
    // Digits that no reader sees would put the last name first.
    let names = ["Alpha", "Bravo", "Charlie"];
    let one = Record::of(&drive("one", "Alpha", 1.0, &|_| {}));
    let record = |(name, hidden): (&&str, i32)| {
        let mut record = one.clone();
        (record.id, record.drive.name) = ((*name).to_owned(), (*name).to_owned());
        for value in record.tests.iter_mut().filter_map(|test| test.headline.0.value.as_mut()) {
            *value *= 1.0 + 1e-9 * f64::from(hidden);
        }
        record
    };
    let records: Vec<Record> = names.iter().zip(1..).map(record).collect();
    let bench = Bench::new(records.clone());
    let first = bench.boards[0].entries[0].drive;
    assert_eq!(bench.drives[first].facts.name, "Charlie", "by all of its digits");
    let pages = files_of(records);
    let of_test = pages.keys().find(|name| name.starts_with("tests/")).unwrap();
    for page in ["index.html", of_test] {
        let (_, rows) = pages[page].split_once("<tbody>").unwrap();
        let places = names.map(|name| rows.find(&format!(">{name}, 1\u{a0}TB</a>")).unwrap());
        assert!(places.is_sorted(), "{page}: {places:?}");
    }
}

#[test]
fn shortened_disturbed_and_virtual_runs_are_marked_and_have_no_rank_among_others() {
    let finding =
        || Finding::new(FindingKind::OtherTraffic, Severity::Warning, "others wrote", "stop them");
    let runs = [
        drive("old", "Alpha", 0.9, &|_| {}),
        drive("plain", "Alpha", 1.0, &|_| {}),
        drive("beta", "Beta", 0.7, &|_| {}),
        drive("short", "Gamma", 3.0, &|recipe| recipe.plan.shortened = 4),
        drive("sim", "MODEL Delta", 5.0, &|recipe| recipe.drive.kind = TargetKind::Virtual),
        drive("noisy", "Epsilon", 9.0, &|recipe| recipe.findings = vec![(None, finding())]),
    ];
    let bench = Bench::new(runs.iter().map(Record::of).collect());
    assert_eq!(bench.drives.len(), 5);
    let test = &runs[0].tests[0].test;
    let boards: Vec<_> =
        bench.boards.iter().filter(|board| bench.shown(board).1.id == test.id).collect();
    assert_eq!(boards.len(), 3, "measured, shortened and virtual drives are not on one board");
    let plain = boards.iter().find(|board| board.marks.is_empty()).unwrap();
    let named: Vec<(&str, Option<(usize, usize)>)> = plain
        .entries
        .iter()
        .map(|entry| (bench.drives[entry.drive].facts.name.as_str(), entry.rank))
        .collect();
    assert_eq!(named, [("Alpha", Some((1, 1))), ("Beta", Some((2, 2))), ("Epsilon", None)]);
    let (_, _, runs_of_alpha) = plain.entries[0].spread;
    assert_eq!(runs_of_alpha, 2);
    let pages = files(&runs);
    let rows: Vec<&str> = pages["index.html"].split("<tr class=\"marked\"").skip(1).collect();
    assert_eq!(rows.len(), 3, "{}", pages["index.html"]);
    assert!(
        !pages["index.html"].contains("id=\"marked\" type=\"checkbox\" checked"),
        "they are off at first"
    );
    assert!(pages["index.html"].contains("firmware") && pages["index.html"].contains("DISTURBED"));
}

/// Returns the record of a run without an interval in any test.
pub(crate) fn without_intervals(run: &Run) -> Record {
    let mut record = Record::of(run);
    for test in &mut record.tests {
        test.headline.0.interval = ConfidenceInterval::TooFewSeconds;
    }
    record
}

#[test]
fn a_result_without_an_interval_has_no_rank_and_leaves_those_of_others_alone() {
    let plain = |id, speed| drive(id, id, speed, &|_| {});
    let records = || {
        let mut records: Vec<Record> =
            [plain("Alpha", 1.0), plain("Beta", 0.5)].iter().map(Record::of).collect();
        records.push(without_intervals(&plain("Quick", 3.0)));
        records
    };
    let bench = Bench::new(records());
    for board in &bench.boards {
        let named: Vec<(&str, Option<(usize, usize)>)> = board
            .entries
            .iter()
            .map(|entry| (bench.drives[entry.drive].facts.name.as_str(), entry.rank))
            .collect();
        assert_eq!(
            named,
            [("Quick", None), ("Alpha", Some((1, 1))), ("Beta", Some((2, 2)))],
            "{}",
            board.slug
        );
    }
    let pages = files_of(records());
    let reason = "no rank: too few full seconds for a 95 % interval";
    let index = pages["index.html"].replace('\u{a0}', " ");
    assert!(index.contains(&format!("title=\"{reason}; firmware")));
    assert!(!index.contains("<tr class=\"marked"), "it is not a run with a mark");
    // Two drives have an interval; the words are only where there is none.
    assert!(
        index.contains("<small>no interval</small>") && index.contains("<small>1 of 2</small>")
    );
    let cells: Vec<&str> = index.split("<td class=\"v\"").skip(1).collect();
    for cell in cells.iter().filter(|cell| cell.contains("<b>")) {
        assert_ne!(cell.contains("<small>no interval"), cell.contains(";--a:"), "{cell}");
    }
    let of = |name: &str| {
        let (_, text) = pages.iter().find(|(file, _)| file.starts_with(name)).unwrap();
        data(text)["tests"].as_object().unwrap().values().next().unwrap().clone()
    };
    assert_eq!(of("data/drive-quick")["rank"], reason);
    assert_eq!(of("data/drive-quick")["why"], "too few full seconds for a 95 % interval");
    assert_eq!(
        (&of("data/drive-alpha")["rank"], &of("data/drive-alpha")["why"]),
        (&"rank 1 of 2".into(), &Value::Null)
    );
}

#[test]
fn the_index_counts_one_drive_and_names_what_was_submitted() {
    let one = || Record::of(&drive("a", "Alpha", 1.0, &|_| {}));
    let page = |record| files_of(vec![record]).remove("index.html").unwrap();
    let own = page(one());
    assert!(
        own.contains("1 drive, 1 run<") && !own.contains("1 drives") && !own.contains("submitted")
    );
    let submitted = page(Record { submitted: true, ..one() });
    assert!(
        submitted.contains("samples of a run, except those “submitted without samples”. Point")
    );
}

#[test]
fn the_page_of_a_drive_states_price_health_spread_and_what_its_firmware_changed() {
    let of = |id: &'static str, model: &'static str, speed, firmware: &'static str, day: i64| {
        let run = drive(id, model, speed, &|recipe| {
            recipe.drive.firmware = Some(firmware.to_owned());
            recipe.readings = vec![(0, reading(12, "used_percent", 7.0))];
        });
        let mut record = Record::of(&run);
        record.started_unix_ms = record.started_unix_ms.map(|start| start + 86_400_000 * day);
        record
    };
    let mut xray =
        Record { xray: Some("8 parallel units".to_owned()), ..of("x", "Alpha", 1.0, "2.0", 3) };
    xray.tests.clear();
    let records = vec![
        of("old", "Alpha", 0.8, "1.0", 0),
        of("again", "Alpha", 1.001, "2.0", 1),
        of("new", "Alpha", 1.0, "2.0", 2),
        xray,
        of("beta", "Beta", 0.5, "1.0", 0),
    ];
    let notes = "+++\ncurrency = \"€\"\n[[drive]]\nname = \"alpha\"\nprice = 72\n+++\n";
    let priced = |notes: &str| {
        let mut bench = Bench::new(records.clone());
        let set = bench.set_prices(&Notes::parse("notes.md", notes).unwrap());
        set.map(|()| bench)
    };
    let bench = priced(notes).unwrap();
    let pages: BTreeMap<String, String> =
        bench_pages(&BenchSite { bench: &bench, title: "Bench" }).into_iter().collect();
    let (_, page) = pages.iter().find(|(name, _)| name.starts_with("drives/alpha")).unwrap();
    let page = page.replace('\u{a0}', " ");
    for said in [
        "Rank 1 of 2 for",
        ">72 €<",
        "€ per TB",
        ">7% of its endurance used<",
        "latest firmware; 1.0 measured too",
        "-xray.html\">X-ray</a>",
        "8 parallel units",
        "ahead of <b>1</b> of 1",
        "within one firmware",
        "<i class=\"hollow\" style=\"left:0%\"",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    // 1.0 against 0.8 with noise from second to second: about 25 %.
    let changed = page.split("What its firmware changed").nth(1).unwrap();
    assert!(
        changed.contains("firmware 2.0 is 2") && changed.contains("% faster than firmware 1.0."),
        "{changed}"
    );
    assert!(!changed.contains("firmware 1.0 is"), "{changed}");
    let index = pages["index.html"].replace('\u{a0}', " ");
    assert!(index.contains("Price=50 to 100 €") && index.contains("data-v=\"-72\""));
    // Beta has one run, one firmware and no price.
    let (_, beta) = pages.iter().find(|(name, _)| name.starts_with("drives/beta")).unwrap();
    for missing in ["How far its runs differ", "What its firmware changed", "per TB", "X-ray"] {
        assert!(!beta.contains(missing), "{missing}");
    }
    for (wrong, why) in
        [("a", "is a part of the names of several drives: "), ("Gamma", "matches no drive")]
    {
        let error = priced(&notes.replace("alpha", wrong)).unwrap_err();
        assert!(error.message.contains(why) && error.line == 4, "{error:?}");
    }
}

#[test]
fn a_test_of_many_drives_has_its_distribution_and_a_band_in_place_of_lines() {
    const DRIVES: usize = 61;
    let one = Record::of(&drive("a", "Drive", 1.0, &|_| {}));
    let records: Vec<Record> = (0..DRIVES)
        .map(|number| {
            let mut record = Record { id: format!("r{number:02}"), ..one.clone() };
            record.drive.name = format!("Drive {number:02}");
            record
        })
        .collect();
    let page = |count: usize| {
        let files = files_of(records[..count].to_vec());
        files.into_iter().find(|(name, _)| name.starts_with("tests/")).unwrap().1
    };
    let (many, few) = (page(DRIVES), page(DRIVES - 1));
    assert!(many.contains("The band has the middle 80%") && !few.contains("The band has"));
    // The drives are equal: the band is as narrow as its median, and all of them are in one column.
    let band = many.split("class=\"band\" d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(band.starts_with('M') && band.ends_with('Z'), "{band}");
    assert!(many.contains("The highest column has 61 drives.") && few.contains("has 60 drives."));
    assert!(!page(7).contains("The highest column"));
}

#[test]
fn a_repeated_run_is_in_the_columns_of_others_and_a_scratch_file_has_no_capacity_of_a_drive() {
    let once = drive("a", "Alpha", 1.0, &|recipe| recipe.plan = crate::support::quick(20));
    let mut twice = once.clone();
    for test in &mut twice.tests {
        let own =
            ssdgauge_analysis::Repetition { headline: test.headline.clone(), also: Vec::new() };
        test.repetitions = vec![own.clone(), own];
    }
    let [once, twice] = [&once, &twice].map(Record::of);
    let purpose = |record: &Record, id: &str| {
        record.tests.iter().find(|test| test.id == id).map(|test| test.purpose.clone())
    };
    let split: Vec<&str> =
        once.tests.iter().filter_map(|test| test.id.strip_suffix(".read-latency")).collect();
    assert!(!split.is_empty());
    for id in split {
        assert_eq!(purpose(&twice, id), purpose(&once, id), "{id}");
        assert_eq!(purpose(&once, id).as_deref(), Some("mixed"), "{id}");
    }
    // The file is as large as asked for, whatever the drive below it.
    let file = drive("b", "Beta", 1.0, &|recipe| recipe.drive.kind = TargetKind::File);
    assert_eq!(Record::of(&file).drive.capacity, None);
}
