//! `real_curves`: curves of real drives that the virtual drive is fitted to and judged by.
//!
//! `real_curves/curves.tsv` says which curves count and which points of each are fitted; it was written before any
//! fit. Numbers come from the folder in `SSDGAUGE_CORPUS`, where that is absent from `real_curves/facts.tsv`.
//!
//! ```sh
//! SSDGAUGE_CORPUS=FOLDER cargo run --release -p ssdgauge-tools -- real_curves check   # the files have these curves
//! … real_curves fit FAMILY              # searches for the figures of `real_curves/families.toml`
//! … real_curves gate [FAMILY]           # the table of the points that were not fitted
//! … real_curves points FAMILY           # the same with every point
//! ```

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

pub(crate) mod curves;
mod family;
mod fit;
mod gate;
mod host;
mod simulate;

use curves::{Curve, Measured, Source};
use family::Family;
use std::error::Error;

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let (curves, source) = (curves::all()?, Source::open()?);
    let (command, name) = match arguments {
        [command] => (command.as_str(), None),
        [command, name] => (command.as_str(), Some(name.as_str())),
        _ => return Err("usage: real_curves check|fit|gate|points [FAMILY]".into()),
    };
    let mut families = family::all()?;
    families.retain(|family| name.is_none_or(|name| family.name == name));
    if families.is_empty() {
        return Err("no family has this name".into());
    }
    match command {
        "check" => check(&curves, &source),
        "fit" => families.iter().try_for_each(|family| fit(family, &curves, &source)),
        "gate" | "points" => {
            println!(
                "| curve | means within 10 % | tails within 25 % | reader within 25 % | QD1 |"
            );
            println!("|---|---|---|---|---|");
            let verbose = command == "points";
            families
                .iter()
                .try_for_each(|family| gate::print(family, &of(family, &curves), &source, verbose))
        }
        _ => Err("a command is check, fit, gate or points".into()),
    }
}

/// Returns the curves of `family`.
fn of<'a>(family: &Family, curves: &'a [Curve]) -> Vec<&'a Curve> {
    curves.iter().filter(|curve| family.has(curve)).collect()
}

fn fit(family: &Family, curves: &[Curve], source: &Source) -> Result<(), Box<dyn Error>> {
    let found = fit::search(family, &of(family, curves), source)?;
    println!("{}:", found.name);
    found.figures.iter().for_each(|figure| println!("    {}", figure.text()));
    Ok(())
}

/// Prints the points of each curve, and refuses curves whose fitted points are not those of the rule.
fn check(curves: &[Curve], source: &Source) -> Result<(), Box<dyn Error>> {
    let (mut points, mut fitted) = (0, 0);
    for curve in curves {
        let measured: Result<Vec<_>, _> =
            curve.points.iter().map(|point| source.point(curve, *point)).collect();
        let measured = match measured {
            Ok(measured) => measured,
            Err(error) => {
                println!("{}: {error}", curve.name);
                continue;
            }
        };
        let peak =
            measured.iter().zip(&curve.points).filter_map(|(m, point)| Some((m.iops?, *point)));
        if let Some((_, peak)) = peak.max_by(|a, b| a.0.total_cmp(&b.0)) {
            let by_rule = curve.fitted_by_rule(peak);
            if by_rule != curve.fitted {
                return Err(format!("{}: the rule fits {by_rule:?}", curve.name).into());
            }
        }
        points += curve.points.len();
        fitted += curve.fitted.len();
        println!(
            "{}: {} of {} B, {} processes on {} drives: {} points, fitted {:?}",
            curve.name,
            curve.load,
            curve.block,
            curve.processes,
            curve.drives,
            curve.points.len(),
            curve.fitted
        );
        for (point, measured) in curve.points.iter().zip(&measured) {
            let Measured { mean, p50, tail, .. } = measured;
            println!(
                "    {point}: mean {mean:.1} us, p50 {p50:.1}, p{} {tail:.1}",
                curve.tail() * 100.0
            );
        }
    }
    println!("{} curves, {points} points, {fitted} of them fitted", curves.len());
    Ok(())
}
