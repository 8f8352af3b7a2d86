//! Pages of many drives: the headline is recomputed from the values of random sets, the table is
//! ranked and folded without a script, and names that are cut stay different.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

use crate::support::{Pace, Recipe, plan, run, step, stream, test};
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_core::{Access, Chart, Metric, Nanos, Random, Score, Stream, TargetKind, Window};
use ssdgauge_page::page;
use std::collections::BTreeSet;

/// The letters of two lines of a heading.
const HEADING: usize = 124;

/// Returns a run of one test of sustained random writes.
fn base() -> Run {
    let window = Window::Time(Nanos::from_secs(20));
    let score = Score::MeanOfLast { metric: Metric::Iops, window };
    let write = step("write", 1.0, stream(Access::Random, 4_096, 0, 32), 70);
    let figures = [Chart::Ranking, Chart::Timeline];
    let tests = vec![test("writes", "Random write", score, &figures, vec![write])];
    let mut recipe = Recipe::new("base", plan("own", tests), "Disk");
    recipe.drive.kind = TargetKind::Block;
    run(&recipe)
}

/// Returns one run for each value, of the drive that `model` names.
fn drives(base: &Run, values: &[f64], model: impl Fn(usize) -> String) -> Vec<Run> {
    let of = |(number, value): (usize, &f64)| {
        let mut run = base.clone();
        run.head.id = format!("run-{number:03}");
        run.head.drive.serial = Some(format!("S{number:03}"));
        run.head.drive.model = Some(model(number));
        run.tests[0].headline.value = Some(*value);
        run
    };
    values.iter().enumerate().map(of).collect()
}

fn plain(text: &str) -> String {
    let parts = text.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<String>().replace('\u{a0}', " ")
}

fn title(page: &str) -> String {
    plain(page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap())
}

/// Returns the number before `unit`.
fn before(text: &str, unit: &str) -> f64 {
    let word = text.split(unit).next().unwrap().trim_end().rsplit(' ').next().unwrap();
    word.replace(',', "").parse().unwrap_or_else(|_| panic!("no number before {unit} in {text}"))
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Returns the value with `share` of the others below it, between two of them by their distance.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let low = sorted[place as usize];
    low + (sorted[(place as usize + 1).min(sorted.len() - 1)] - low) * place.fract()
}

/// Checks the headline of one random set against its values.
fn check(title: &str, values: &[f64], models: &[String]) {
    assert!(title.chars().count() <= HEADING, "{title}");
    let ranked = sorted(values);
    let middle = quantile(&ranked, 0.5);
    let logarithms: Vec<f64> = ranked.iter().map(|value| value.ln()).collect();
    let (low, high) = (quantile(&logarithms, 0.25), quantile(&logarithms, 0.75));
    let reach = 3.0 * (high - low);
    let is_out = |value: &f64| {
        let fence = value.ln() < low - reach || value.ln() > high + reach;
        fence && (value / middle > 1.03 || middle / value > 1.03)
    };
    let out: Vec<f64> = values.iter().copied().filter(is_out).collect();
    let (least, most) = (ranked[0], *ranked.last().unwrap());
    assert_eq!(title.contains("stand"), !out.is_empty(), "{title}: {out:?}");
    if let [.., _] = out[..] {
        let far = out
            .iter()
            .copied()
            .max_by(|a, b| (a / middle).ln().abs().total_cmp(&(b / middle).ln().abs()));
        let said = before(title, " IOPS");
        assert!((said / far.unwrap() - 1.0).abs() < 0.01, "{title}: {far:?}");
        let number = values.iter().position(|value| Some(*value) == far).unwrap();
        assert!(title.contains(&format!("{number:03}")), "{title}: {number}");
        if title.contains("% below") {
            let share = before(title, " % below") / 100.0;
            assert!((share - (1.0 - said / middle)).abs() < 0.01, "{title}: {middle}");
        }
    } else if let Some(rest) = title.strip_prefix("All ") {
        let count = before(rest, " drives");
        let own = |name: &String| rest.contains(name.as_str());
        let of = |inside: bool| -> Vec<f64> {
            let pairs = values.iter().zip(models).filter(|(_, name)| own(name) == inside);
            sorted(&pairs.map(|(value, _)| *value).collect::<Vec<_>>())
        };
        let (own, others) = (of(true), of(false));
        assert_eq!(own.len() as f64, count, "{title}");
        match rest.contains("ahead of") {
            true => assert!(own[0] > 1.03 * others.last().unwrap(), "{title}"),
            false => assert!(own.last().unwrap() * 1.03 < others[0], "{title}"),
        }
    } else if title.starts_with("No difference") {
        assert!(most <= 1.03 * least, "{title}: {least} to {most}");
    } else {
        assert!(most > 1.03 * least, "{title}");
        assert!((before(title, " IOPS") / most - 1.0).abs() < 0.01, "{title}");
        let times = before(title, "× from end");
        assert!((times / (most / least) - 1.0).abs() < 0.01, "{title}: {}", most / least);
    }
}

#[test]
fn the_headline_of_many_drives_is_true_for_random_sets() {
    let base = base();
    let sets = if std::env::var_os("SSDGAUGE_LONG").is_some() { 300 } else { 30 };
    let mut kinds = BTreeSet::new();
    for seed in 0..sets {
        let mut random = Random::new(seed, 11);
        let count = 17 + random.below(14) as usize;
        // Equal, spread, one or some that stand out, and a lot that is apart.
        let kind = seed % 5;
        let spread = [0.01, 1.5, 0.05, 0.05, 0.1][kind as usize];
        let lot = 3 + random.below(6) as usize;
        let values: Vec<f64> = (0..count)
            .map(|number| {
                let usual = 20_000.0 * (1.0 + spread * random.unit());
                match kind {
                    2 if number == 4 => usual * [0.4, 3.0][random.below(2) as usize],
                    3 if number < 2 => usual * 0.3,
                    4 if number < lot * 2 => usual * 0.8,
                    _ => usual,
                }
            })
            .collect();
        let model = |number: usize| match kind {
            4 if number < lot * 2 => "Beta".to_owned(),
            4 => "Alpha".to_owned(),
            _ => format!("Drive {number:03}"),
        };
        let models: Vec<String> = (0..count).map(model).collect();
        let runs = drives(&base, &values, model);
        let title = title(&page(&runs, &PageOptions::default()));
        println!("seed {seed}: {title}");
        check(&title, &values, &models);
        kinds.insert(title.split(' ').next().unwrap().to_owned());
    }
    assert!(kinds.contains("All") && kinds.contains("No") && kinds.contains("Two"), "{kinds:?}");
}

#[test]
fn the_table_of_many_drives_is_ranked_and_folded_and_that_of_few_is_not() {
    let base = base();
    let rows = |count: usize| {
        let values: Vec<f64> = (0..count).map(|n| 9_000.0 + 300.0 * n as f64).collect();
        let page =
            page(&drives(&base, &values, |n| format!("Disk {n:03}")), &PageOptions::default());
        let table = page.split("<table class=\"ans").nth(1).unwrap();
        let table = table.split("</table>").next().unwrap().to_owned();
        (page, table)
    };
    let (many, table) = rows(40);
    assert_eq!(table.matches("<tr class=\"d d-").count(), 40, "no row is lost");
    let first = table.find("Disk 039").unwrap();
    assert!(
        first < table.find("Disk 020").unwrap() && table.contains("<span class=\"rk\">40</span>")
    );
    assert_eq!(many.matches("id=\"all-rows\"").count(), 1);
    assert!(many.contains("body:has(#all-rows:not(:checked)) .ans.fold-rows"));
    assert!(!many.contains("<script"));
    let (few, table) = rows(14);
    assert!(!few.contains("all-rows") && table.starts_with(" many"), "{}", &table[..40]);
}

/// Returns a page of `count` drives with a test over time and one of percentiles, of which one drive
/// has a third of the rate.
fn figures(count: usize) -> String {
    let base = |id: &'static str, rate: u64| {
        let long = step("write", 1.0, stream(Access::Random, 4_096, 0, 32), 70);
        let mix = step("mix", 1.0, stream(Access::Random, 4_096, 70, 1), 70);
        let course = [Chart::Ranking, Chart::Timeline];
        let tail = [Chart::Ranking, Chart::Distribution];
        let tests = vec![
            test("writes", "Random write", Score::MeanOf(Metric::Iops), &course, vec![long]),
            test("tail", "Latency", Score::MeanOf(Metric::LatP99Us), &tail, vec![mix]),
        ];
        let pace = move |_: &Stream, second: u32| Pace {
            iops: rate * (1_000 + u64::from(second % 7)) / 1_000,
            lat_us: 9e6 / rate as f64,
        };
        let mut recipe = Recipe { pace: &pace, ..Recipe::new(id, plan("own", tests), "Disk") };
        recipe.drive.kind = TargetKind::Block;
        run(&recipe)
    };
    let (usual, slow) = (base("usual", 9_000), base("slow", 3_000));
    let mut runs = drives(&usual, &vec![9_000.0; count - 1], |n| format!("Disk {n:03}"));
    let other = drives(&slow, &vec![3_000.0; count], |n| format!("Disk {n:03}"));
    runs.extend(other.into_iter().last());
    page(&runs, &PageOptions::default())
}

#[test]
fn charts_of_many_drives_are_a_band_with_named_outliers_and_their_rows_are_folded() {
    let many = figures(40);
    let chart = many.split("<svg class=\"ch ").find(|chart| chart.contains("over time"));
    let chart = chart.unwrap().split("</svg>").next().unwrap();
    assert_eq!(chart.matches("class=\"band\"").count(), 2, "the middle half and nine tenths");
    assert_eq!(chart.matches("class=\"mid\"").count(), 1);
    let within = chart.matches(" within\"").count();
    assert!((30..40).contains(&within), "{within} lines are in the band");
    assert!(!chart.contains("class=\"d d-39 within\""), "the outlier has a line");
    assert!(chart.contains("Disk 039"), "and a name");
    assert!(plain(&many).contains("40 drives: the middle half (dark)"));
    assert!(plain(&many).contains("1 drive stands out. Show all lines"));
    assert!(
        many.contains("body:has(#all-rows:not(:checked)) g.within"),
        "unfolds without a script"
    );
    let rows = many.split("<ol class=\"rows").nth(1).unwrap();
    assert!(rows.starts_with(" fold-rows"), "{}", &rows[..30]);
    let rows = rows.split("</ol>").next().unwrap();
    assert_eq!(rows.matches("<li class=\"d d-").count(), 40, "no row is lost");
    let few = figures(14);
    assert!(!few.contains("class=\"band\"") && !few.contains(" within\""));
    assert!(few.contains("<ol class=\"rows\""));
}

#[test]
fn cut_names_of_different_drives_stay_different_in_every_label() {
    let base = base();
    let sets: [fn(usize) -> String; 4] = [
        |n| format!("Vendor Solid State Drive of the long name series, revision {n}"),
        |n| format!("Series {n} Solid State Drive with a heatsink and a very long name"),
        |n| format!("Größtes Laufwerk mit Kühlkörper Nummer {n} für Prüfstände"),
        |n| {
            format!(
                "固态硬盘固态硬盘固态硬盘固态硬盘{}固态硬盘固态硬盘",
                ["甲", "乙", "丙", "丁", "戊", "己"][n]
            )
        },
    ];
    for (number, model) in sets.into_iter().enumerate() {
        // One name has nothing in common, so that the short names keep what the others share.
        let model = |n: usize| if n == 5 { "X1".to_owned() } else { model(n) };
        let values: Vec<f64> = (0..6).map(|n| 9_000.0 + 3_000.0 * f64::from(n)).collect();
        let page = page(&drives(&base, &values, model), &PageOptions::default());
        let different = |texts: Vec<&str>, what: &str| {
            let distinct: BTreeSet<&&str> = texts.iter().collect();
            assert_eq!(distinct.len(), 6, "set {number}, {what}: {texts:?}");
        };
        let form = page.split("<form").nth(1).unwrap().split("</form>").next().unwrap();
        let inside = |text: &'static str, of: &str| -> Vec<String> {
            let parts = of.split(text).skip(1);
            let parts = parts.map(|part| part.split_once('>').unwrap().1);
            parts.map(|part| part.split('<').next().unwrap().trim().to_owned()).collect()
        };
        let chips = inside("<span class=\"tx\"", form);
        different(chips.iter().map(String::as_str).collect(), "filter");
        let charts: Vec<&str> = page.split("<svg class=\"ch ").skip(1).collect();
        let mut seen = 0;
        for chart in charts {
            let chart = chart.split("</svg>").next().unwrap();
            let ends = inside("<text class=\"el\"", chart);
            if !ends.is_empty() {
                seen += 1;
                different(ends.iter().map(String::as_str).collect(), "chart");
            }
        }
        assert!(seen >= 3, "each cut of a chart has labels: {seen}");
    }
}
