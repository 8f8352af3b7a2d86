//! The gate of the twin: random virtual drives are measured, a twin is fitted to what came, and loads that were not
//! measured are predicted and then run:
//!
//! ```sh
//! cargo run --release -p ssdgauge-tools -- twin --drives 40 --seed 1000000 --into FOLDER
//! ```
//!
//! Each drive has a file in the folder, so an interrupted gate goes on where it was. The drives have effects that no
//! twin has, and every number is disturbed by 1.5 %. Seeds below 1,000,000 were used while the fit was tuned.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

mod drives;
mod held_out;

use held_out::Outcome;
use ssdgauge_core::Random;
use ssdgauge_twin::{Evidence, Kind, Number, Twin, WIDEST, fit, profile_text};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

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
    let (drives, first) = (number("--drives", 40)?, number("--seed", 1_000_000)?);
    let folder = PathBuf::from(text("--into").ok_or("--into FOLDER is missing")?);
    std::fs::create_dir_all(&folder)?;
    let mut tallies: BTreeMap<(Kind, Number), Tally> = BTreeMap::new();
    let mut judged = 0;
    for seed in first..first + drives {
        let file = folder.join(format!("{seed}.tsv"));
        if !file.exists() {
            // A later process may have begun with the same folder: only a whole file has the name.
            let partial = file.with_extension("partial");
            std::fs::write(&partial, judge(seed, &folder)?)?;
            std::fs::rename(partial, &file)?;
        }
        read(&std::fs::read_to_string(&file)?, &mut tallies)?;
        judged += 1;
        println!("{seed}: {judged} drives");
    }
    print(first, judged, &tallies);
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
    let twin = Twin::read(&profile)?.ok_or("no twin")?;
    let mut text = format!("# {target}\n");
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

fn read(text: &str, tallies: &mut BTreeMap<(Kind, Number), Tally>) -> Result<(), Box<dyn Error>> {
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [kind, number, value, band, truth] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err("a line has another number of columns".into());
        };
        let key = (serde_json::from_value(kind.into())?, serde_json::from_value(number.into())?);
        let (value, band, truth): (f64, f64, f64) = (value.parse()?, band.parse()?, truth.parse()?);
        let tally = tallies.entry(key).or_default();
        tally.asked += 1;
        if value.is_finite() {
            let error = (value / truth - 1.0).abs();
            tally.inside += usize::from(error <= band);
            tally.errors.push(error);
        }
    }
    Ok(())
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
