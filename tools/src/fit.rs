//! Measures the fitted figures of the profiles against their published numbers, and finds them again:
//!
//! ```sh
//! cargo run --release -p ssdgauge-tools -- fit                            # what remains, for every figure
//! cargo run --release -p ssdgauge-tools -- fit like-960-pro            # of one profile
//! cargo run --release -p ssdgauge-tools -- fit --search like-960-pro   # also the value that fits best
//! ```
//!
//! Every run is one of a virtual drive with seed 1 and gives the same numbers again. A search measures
//! at most twelve values of a figure, between the limits of `fits/fits.toml`, while all other figures keep
//! their values.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use ssdgauge_claims::{FIT_SUITE, Fit, Fits, Quantified, fits};
use ssdgauge_core::Rig;
use ssdgauge_lab::{Completion, Options, Suite, Unwatched, find_built_in};
use ssdgauge_runfile::{Opening, Writer};
use ssdgauge_sim::{VirtualRig, reviewed_profiles};
use std::error::Error;
use std::path::Path;

/// The seed of every drive and every plan.
const SEED: u64 = 1;

/// The maximum number of values of a figure that a search measures.
const MOST_RUNS: usize = 12;

/// The share of the published number at which a search ends.
const CLOSE: f64 = 0.002;

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let (options, profiles): (Vec<String>, Vec<String>) =
        arguments.iter().cloned().partition(|argument| argument.starts_with("--"));
    let searches = options.iter().any(|option| option == "--search");
    report(&profiles, searches)
}

fn report(profiles: &[String], searches: bool) -> Result<(), Box<dyn Error>> {
    let fits = fits()?;
    if let Some(unknown) =
        profiles.iter().find(|name| !fits.fits.iter().any(|fit| fit.profile == **name))
    {
        return Err(format!("no figure of the profile '{unknown}' is fitted").into());
    }
    println!(
        "| profile | figure | value | published | here | remains |{}",
        if searches { " fits best |" } else { "" }
    );
    println!("|---|---|---|---|---|---|{}", if searches { "---|" } else { "" });
    for fit in fits.fits.iter().filter(|fit| profiles.is_empty() || profiles.contains(&fit.profile))
    {
        let value = figure(fit)?;
        print!("| {} | {} | {value} | {} |", fit.profile, fit.figure, fit.published);
        match fit.quantified() {
            None => println!(" by the claim | |{}", if searches { " |" } else { "" }),
            Some(number) => {
                let here = measure(&fits, fit, &number, None)?;
                print!(" {here:.5} | {:+.1} % |", (here / number.is - 1.0) * 100.0);
                if searches {
                    print!(" {} |", search(&fits, fit, &number)?);
                }
                println!();
            }
        }
    }
    Ok(())
}

/// Returns the value of the figure in its profile, as it is written there.
fn figure(fit: &Fit) -> Result<toml::Value, Box<dyn Error>> {
    let profile = reviewed_profiles().into_iter().find(|profile| profile.name == fit.profile);
    let text = profile.ok_or_else(|| format!("there is no profile {}", fit.profile))?.text;
    let table: toml::Table = toml::from_str(text)?;
    let (section, key) = fit.figure.split_once('.').ok_or("a figure is SECTION.KEY")?;
    let value = table.get(section).and_then(|section| section.get(key)).cloned();
    value.ok_or_else(|| format!("{} has no {}", fit.profile, fit.figure).into())
}

/// Returns the number on the drive, with `value` for the figure, or with that of the profile.
fn measure(
    fits: &Fits,
    fit: &Fit,
    number: &Quantified<'_>,
    value: Option<f64>,
) -> Result<f64, Box<dyn Error>> {
    let source = &number.of.source;
    let need = fits.tests.get(&source.test).ok_or_else(|| format!("no test {}", source.test))?;
    let suite = match need.suite.as_str() {
        "fits" => Suite::parse("fits.toml", FIT_SUITE)?,
        id => find_built_in(id)?,
    };
    let target = match value {
        None => source.drive.clone(),
        Some(value) => {
            let separator = if source.drive.contains('?') { '&' } else { '?' };
            format!("{}{separator}{}={value}", source.drive, fit.figure)
        }
    };
    let only = vec![need.test.clone()];
    let options = Options { only, shorten: need.shorten, seed: SEED, ..Options::default() };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("fit.ssdg");
    carry_out(&suite, &target, &options, &file)?;
    let run = ssdgauge_analysis::read(&file)?;
    number.measured(&run).ok_or_else(|| format!("{}: no number", fit.published).into())
}

/// Carries out a run of the drive `target` into `file`.
fn carry_out(
    suite: &Suite,
    target: &str,
    options: &Options,
    file: &Path,
) -> Result<(), Box<dyn Error>> {
    let mut rig = VirtualRig::open(target, SEED)?;
    let plan = ssdgauge_lab::plan(suite, rig.drive(), options)?;
    let drive = rig.drive().clone();
    let opening = Opening {
        id: "fit",
        program: "fit",
        unix_ms: 0,
        plan: &plan,
        drive: &drive,
        environment: &[],
        properties: &[],
    };
    let mut writer = Writer::create(file, &opening)?;
    match ssdgauge_lab::conduct(&plan, &mut rig, &mut writer, &mut Unwatched)? {
        Completion::Finished => Ok(()),
        Completion::Interrupted => Err("interrupted".into()),
    }
}

/// Returns the value of the figure that gives the published number, found by halving the interval in
/// proportion; in words where none between the limits does.
fn search(fits: &Fits, fit: &Fit, number: &Quantified<'_>) -> Result<String, Box<dyn Error>> {
    let [mut low, mut high] = number.within;
    let at_low = measure(fits, fit, number, Some(low))?;
    let at_high = measure(fits, fit, number, Some(high))?;
    let rises = at_high > at_low;
    let is_above = |here: f64| (here > number.is) == rises;
    if is_above(at_low) == is_above(at_high) {
        return Ok(format!("none: {at_low:.4} at {low}, {at_high:.4} at {high}"));
    }
    let mut middle = (low * high).sqrt();
    for _ in 2..MOST_RUNS {
        let here = measure(fits, fit, number, Some(middle))?;
        if (here / number.is - 1.0).abs() < CLOSE {
            break;
        }
        match is_above(here) {
            true => high = middle,
            false => low = middle,
        }
        middle = (low * high).sqrt();
    }
    Ok(format!("{middle:.4}"))
}
