//! Compares the packed verdicts of a site with `compare`, and its rule for three to six drives with `report`:
//! `cargo run --release -p ssdgauge-tools -- site_verdicts FOLDER [PAIRS] [GROUPS] [SEED]`.
//!
//! The runs are those in FOLDER. Each random pair of drives is judged in every test that both have, each random group of
//! three to six drives in every test that at least three of them have. Fails where one verdict differs.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use serde_json::Value;
use ssdgauge_analysis::bench::board::{Bench, Board};
use ssdgauge_analysis::bench::record::Record;
use ssdgauge_analysis::bench::verdict::{FIRST_LETTER, HIGHEST, ratio_of_level};
use ssdgauge_analysis::bench::waits;
use ssdgauge_analysis::comparison::outcome::{self, Outcome};
use ssdgauge_analysis::groups::group::groups;
use ssdgauge_analysis::{CompareOptions, Difference, Run, compare};
use ssdgauge_core::Random;
use ssdgauge_page::{BenchSite, bench_pages};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

/// A share by which equal numbers may differ: rounding.
const ROUNDING: f64 = 1e-9;

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [folder, rest @ ..] = arguments else {
        return Err("usage: site_verdicts FOLDER [PAIRS] [GROUPS] [SEED]".into());
    };
    let number =
        |place: usize, default: u64| rest.get(place).map_or(Ok(default), |text| text.parse());
    let (pairs, sets, seed) = (number(0, 10_000)?, number(1, 1_000)?, number(2, 1)?);
    let runs = runs_in(Path::new(folder))?;
    let bench = Bench::new(runs.values().map(Record::of).collect());
    let site = Site { packed: packed(&bench)?, bench, runs };
    let mut random = Random::new(seed, 1);
    let mut found = Found::default();
    for _ in 0..pairs {
        let drives = drawn(&mut random, site.bench.drives.len(), 2)?;
        site.check_pair(drives[0], drives[1], &mut found)?;
    }
    found.print(&format!(
        "{pairs} random pairs of {} drives against compare",
        site.bench.drives.len()
    ));
    let mut of_groups = Found::default();
    for _ in 0..sets {
        let size = 3 + random.below(4) as usize;
        let drives = drawn(&mut random, site.bench.drives.len(), size)?;
        site.check_group(&drives, &mut of_groups);
    }
    of_groups.print(&format!("{sets} random groups of three to six drives against report"));
    match found.differing.len() + of_groups.differing.len() {
        0 => Ok(()),
        n => Err(format!("{n} verdicts differ").into()),
    }
}

/// Returns the runs in `folder` by their ids.
fn runs_in(folder: &Path) -> Result<BTreeMap<String, Run>, Box<dyn Error>> {
    let mut runs = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|suffix| suffix == "ssdg") {
            let run = ssdgauge_analysis::read(&path)?;
            runs.insert(run.head.id.clone(), run);
        }
    }
    Ok(runs)
}

/// Returns `count` different drives of `all`.
fn drawn(random: &mut Random, all: usize, count: usize) -> Result<Vec<usize>, String> {
    if all < count {
        return Err(format!("{all} drives are too few"));
    }
    let mut drives: Vec<usize> = Vec::new();
    while drives.len() < count {
        let drive = random.below(all as u64) as usize;
        if !drives.contains(&drive) {
            drives.push(drive);
        }
    }
    Ok(drives)
}

/// Returns the packed verdicts in the files of the site, one text for each board.
fn packed(bench: &Bench) -> Result<Vec<Vec<char>>, Box<dyn Error>> {
    let files: BTreeMap<String, String> =
        bench_pages(&BenchSite { bench, title: "Bench" }).into_iter().collect();
    let of = |board: &Board| -> Result<Vec<char>, Box<dyn Error>> {
        let text =
            files.get(&format!("data/test-{}.js", board.slug)).ok_or("a test has no file")?;
        let call = text.split_once('(').ok_or("no call")?.1;
        let data: Value =
            serde_json::from_str(call.trim_end().strip_suffix(')').ok_or("no call")?)?;
        Ok(data["pairs"].as_str().ok_or("no pairs")?.chars().collect())
    };
    bench.boards.iter().map(of).collect()
}

/// What was compared.
#[derive(Default)]
struct Found {
    kinds: BTreeMap<String, usize>,
    differing: Vec<String>,
}

impl Found {
    fn add(&mut self, kind: &str, agrees: bool, place: impl FnOnce() -> String) {
        *self.kinds.entry(kind.to_owned()).or_insert(0) += 1;
        if !agrees {
            self.differing.push(place());
        }
    }

    fn print(&self, what: &str) {
        println!(
            "{what}: {} verdicts, {} differ",
            self.kinds.values().sum::<usize>(),
            self.differing.len()
        );
        self.kinds.iter().for_each(|(kind, count)| println!("  {kind:<14} {count}"));
        self.differing.iter().take(20).for_each(|line| println!("  differs: {line}"));
    }
}

/// A verdict as the script of the site reads it: the letter, and the bounds of the ratio of the better to the other one.
struct Read {
    kind: char,
    low: f64,
    high: f64,
}

struct Site {
    bench: Bench,
    packed: Vec<Vec<char>>,
    runs: BTreeMap<String, Run>,
}

impl Site {
    fn place(&self, board: usize, drive: usize) -> Option<usize> {
        self.bench.boards[board].entries.iter().position(|entry| entry.drive == drive)
    }

    fn run(&self, board: usize, place: usize) -> Option<&Run> {
        let entry = &self.bench.boards[board].entries[place];
        self.runs.get(&self.bench.records[entry.run.0].id)
    }

    /// Returns the verdict on the entries `a` and `b` of a board, of which `a` is the earlier one.
    fn read(&self, board: usize, a: usize, b: usize) -> Read {
        let n = self.bench.boards[board].entries.len();
        let at = 3 * (a * (2 * n - a - 1) / 2 + b - a - 1);
        let letters = &self.packed[board][at..at + 3];
        let steps = |letter: char| u32::from(letter) as i32 - FIRST_LETTER as i32;
        let below = steps(letters[1]) - HIGHEST;
        let ratio = ratio_of_level;
        Read { kind: letters[0], low: ratio(below), high: ratio(below + steps(letters[2])) }
    }

    /// Compares the verdicts on two drives with `compare`.
    fn check_pair(&self, one: usize, two: usize, found: &mut Found) -> Result<(), Box<dyn Error>> {
        let options = CompareOptions { any_firmware: true, ..CompareOptions::default() };
        for (number, board) in self.bench.boards.iter().enumerate() {
            let (Some(one), Some(two)) = (self.place(number, one), self.place(number, two)) else {
                continue;
            };
            let (a, b) = (one.min(two), one.max(two));
            let shown = self.bench.shown(board).1;
            if shown.id.ends_with(waits::SUFFIX) {
                // A number of the site, which `compare` does not have.
                continue;
            }
            let (Some(first), Some(second)) = (self.run(number, a), self.run(number, b)) else {
                return Err("a record has no run".into());
            };
            let comparison = compare(first, second, &options)?;
            let is_own = |test: &&ssdgauge_analysis::TestComparison| {
                test.id == shown.id && !test.further && test.values[1].is_some()
            };
            let test = comparison.tests.iter().find(is_own).ok_or("compare lacks a test")?;
            let interval = test.ratio.as_ref().and_then(|ratio| ratio.interval);
            let expected = match test.difference {
                Difference::Worse => '>',
                Difference::Better => '<',
                Difference::Equal => '=',
                Difference::Unknown(_) if interval.is_some() => '?',
                Difference::Unknown(_) => 'o',
            };
            let read = self.read(number, a, b);
            let encloses = interval.is_none_or(|(low, high)| {
                // `compare` divides the second by the first.
                let more = test.metric.more_is_better();
                let (low, high) = if more { (1.0 / high, 1.0 / low) } else { (low, high) };
                read.low <= low * (1.0 + ROUNDING) && high <= read.high * (1.0 + ROUNDING)
            });
            let kind = match expected {
                '>' | '<' => "ahead",
                '=' => "level",
                '?' => "too close",
                _ => "no interval",
            };
            found.add(kind, read.kind == expected && encloses, || {
                format!(
                    "{}: {} and {}: {} {expected}",
                    board.slug, first.head.id, second.head.id, read.kind
                )
            });
        }
        Ok(())
    }

    /// Returns the entry that leads among `present` by the rule of the site: the best, where its pair with each other one is a
    /// lead.
    fn leader(&self, board: usize, present: &[usize]) -> Option<usize> {
        let own = &self.bench.boards[board];
        let ahead = |one: usize, two: usize| {
            let kind = self.read(board, one.min(two), one.max(two)).kind;
            kind == if one < two { '>' } else { '<' }
        };
        let mut sorted = present.to_vec();
        sorted.sort_by_key(|place| (!own.has_interval(*place), *place));
        let best =
            sorted.iter().copied().reduce(|best, one| if ahead(one, best) { one } else { best })?;
        sorted.iter().all(|other| *other == best || ahead(best, *other)).then_some(best)
    }

    /// Compares the leads among `drives` with those of a report on their runs.
    fn check_group(&self, drives: &[usize], found: &mut Found) {
        for (number, board) in self.bench.boards.iter().enumerate() {
            let present: Vec<usize> =
                drives.iter().filter_map(|drive| self.place(number, *drive)).collect();
            let shown = self.bench.shown(board).1;
            if present.len() < 3 || shown.id.ends_with(waits::SUFFIX) {
                continue;
            }
            let runs: Vec<Run> =
                present.iter().filter_map(|place| self.run(number, *place).cloned()).collect();
            let all = groups(&runs);
            let is_own = |group: &&ssdgauge_analysis::groups::group::Group<'_>| {
                group.first().test.test.id == shown.id && group.members.len() == present.len()
            };
            let Some(group) = all.iter().find(is_own) else {
                found.add("no group", false, || format!("{}: {drives:?}", board.slug));
                continue;
            };
            let by_report = match outcome::judge(group) {
                Outcome::Lead { best, .. } => Some(present[group.members[best].index]),
                _ => None,
            };
            let by_site = self.leader(number, &present);
            let kind = if by_report.is_some() { "a lead" } else { "no lead" };
            found.add(kind, by_report == by_site, || {
                format!("{}: drives {drives:?}: report {by_report:?}, site {by_site:?}", board.slug)
            });
        }
    }
}
