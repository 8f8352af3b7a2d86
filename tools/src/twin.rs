//! The gate of the twin: random virtual drives are measured, a twin is fitted to what came, and loads that were not
//! measured are predicted and then run:
//!
//! ```sh
//! cargo run --release -p ssdgauge-tools -- twin --drives 40 --seed 2000000 --into FOLDER
//! SSDGAUGE_CORPUS=FOLDER cargo run --release -p ssdgauge-tools -- twin --real    # by three points of each real curve
//! ```
//!
//! Each drive has a file in the folder, so an interrupted gate goes on where it was. The drives have effects that no
//! twin has, and every number is disturbed by 1.5 %. Seeds below 1,000,000 are for tuning, those
//! from 2,000,000 on for the gate.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

mod drives;
mod held_out;
mod real;

use held_out::Outcome;
use ssdgauge_core::Random;
use ssdgauge_twin::{Evidence, Kind, Number, Twin, WIDEST, fit, profile_text};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

/// The first seed of the gate.
const FIRST: u64 = 2_000_000;
/// Relative standard deviation of the noise of each number.
const NOISE: f64 = 0.015;

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let text = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)
    };
    let number = |name: &str, default: u64| -> Result<u64, std::num::ParseIntError> {
        text(name).map_or(Ok(default), |value| value.parse())
    };
    if arguments.iter().any(|argument| argument == "--real") {
        return real::print();
    }
    let (drives, first) = (number("--drives", 40)?, number("--seed", FIRST)?);
    let folder = PathBuf::from(text("--into").ok_or("--into FOLDER is missing")?);
    std::fs::create_dir_all(&folder)?;
    let mut tallies: BTreeMap<(Kind, Number), Tally> = BTreeMap::new();
    let (mut judged, mut kinds, mut misses) = (0, [0, 0], Vec::new());
    for seed in first..first + drives {
        let file = folder.join(format!("{seed}.tsv"));
        if !file.exists() {
            // A later process may have begun with the same folder: only a whole file has the name.
            let partial = file.with_extension("partial");
            std::fs::write(&partial, judge(seed, &folder)?)?;
            std::fs::rename(partial, &file)?;
        }
        let rows = rows(&std::fs::read_to_string(&file)?)?;
        let has = |kind: &Kind, given: bool| {
            rows.iter().any(|row| row.kind == *kind && (!given || row.value.is_finite()))
        };
        for (count, given) in kinds.iter_mut().zip([false, true]) {
            *count += Kind::ALL.iter().filter(|kind| has(kind, given)).count();
        }
        for row in rows {
            let tally = tallies.entry((row.kind, row.number)).or_default();
            tally.asked += 1;
            if row.value.is_finite() {
                tally.inside += usize::from(row.is_inside());
                tally.errors.push((row.value / row.truth - 1.0).abs());
                if !row.is_inside() {
                    misses.push((seed, row));
                }
            }
        }
        judged += 1;
        println!("{seed}: {judged} drives");
    }
    print(first, judged, &tallies);
    println!("{} of {} kinds have an answer", kinds[1], kinds[0]);
    for (seed, row) in misses {
        println!(
            "- seed {seed}, {}, {}: {:.1} for {:.1}, {:+.1} % with a band of {:.1} %",
            row.kind.words(),
            row.number.words(),
            row.value,
            row.truth,
            100.0 * (row.value / row.truth - 1.0),
            100.0 * row.band
        );
    }
    Ok(())
}

/// Measures the drive of `seed`, fits its twin and asks it; returns the outcomes as text.
fn judge(seed: u64, folder: &Path) -> Result<String, Box<dyn Error>> {
    let (run, target) = drives::measure(seed)?;
    let mut evidence = Evidence::of_runs(&[run])?;
    let mut random = Random::new(seed, 0x7717);
    let mut normal =
        || (2.0 * random.exponential()).sqrt() * (std::f64::consts::TAU * random.unit()).cos();
    evidence.disturb(|| 1.0 + NOISE * normal());
    let fitted = fit(&evidence, &|done, all| println!("  {seed}: {done} of {all} fits"));
    let profile = profile_text(&evidence, &fitted, "ssdgauge twin RUNS");
    std::fs::write(folder.join(format!("{seed}.toml")), &profile)?;
    let mut twin = Twin::read(&profile)?.ok_or("no twin")?;
    if !fitted.not_described().is_empty() {
        // The program writes no profile.
        twin.about.bands.clear();
    }
    let mut text = format!("# {target}\n");
    for ((kind, number), errors) in fitted.errors() {
        let errors: Vec<String> = errors.iter().map(|one| format!("{:.1}", one * 100.0)).collect();
        text.push_str(&format!("# {} {}: {}\n", kind.words(), number.words(), errors.join(" ")));
    }
    for Outcome { kind, number, predicted, truth } in held_out::outcomes(seed, &twin)? {
        let (value, band) = predicted.unwrap_or((f64::NAN, f64::NAN));
        let (kind, number) =
            (word(&serde_json::to_value(kind)?)?, word(&serde_json::to_value(number)?)?);
        text.push_str(&format!("{kind}\t{number}\t{value:.3}\t{band:.4}\t{truth:.3}\n"));
    }
    Ok(text)
}

/// Returns the word of `value` in profiles.
fn word(value: &serde_json::Value) -> Result<String, Box<dyn Error>> {
    Ok(value.as_str().ok_or("no word")?.to_owned())
}

#[derive(Default)]
struct Tally {
    asked: usize,
    inside: usize,
    errors: Vec<f64>,
}

/// A number that was asked for.
struct Row {
    kind: Kind,
    number: Number,
    /// No number where it was refused.
    value: f64,
    band: f64,
    truth: f64,
}

impl Row {
    fn is_inside(&self) -> bool {
        (self.value / self.truth - 1.0).abs() <= self.band
    }
}

fn rows(text: &str) -> Result<Vec<Row>, Box<dyn Error>> {
    let row = |line: &str| -> Result<Row, Box<dyn Error>> {
        let [kind, number, value, band, truth] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err("a line has another number of columns".into());
        };
        Ok(Row {
            kind: serde_json::from_value(kind.into())?,
            number: serde_json::from_value(number.into())?,
            value: value.parse()?,
            band: band.parse()?,
            truth: truth.parse()?,
        })
    };
    text.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn print(first: u64, drives: u64, tallies: &BTreeMap<(Kind, Number), Tally>) {
    println!("\n{drives} random virtual drives (MODEL) from seed {first}, noise {NOISE}\n");
    println!("| Load | Number | Asked | Answered | Within band | Median error | Largest |");
    println!("|---|---|---|---|---|---|---|");
    let (mut asked, mut answered, mut inside) = (0, 0, 0);
    for ((kind, number), tally) in tallies {
        let mut errors = tally.errors.clone();
        errors.sort_by(f64::total_cmp);
        let percent = |error: Option<&f64>| {
            error.map_or("–".to_owned(), |error| format!("{:.1} %", error * 100.0))
        };
        println!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            kind.words(),
            number.words(),
            tally.asked,
            errors.len(),
            tally.inside,
            percent(errors.get(errors.len() / 2)),
            percent(errors.last())
        );
        asked += tally.asked;
        answered += errors.len();
        inside += tally.inside;
    }
    let share = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
    println!(
        "\n{answered} of {asked} numbers answered ({:.0} %), {inside} of these within their band ({:.0} %); others were \
         more than {:.0} % off when left out",
        share(answered, asked),
        share(inside, answered),
        WIDEST * 100.0
    );
}
