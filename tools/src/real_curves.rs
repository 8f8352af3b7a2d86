//! `real_curves`: curves of real drives that the virtual drive is fitted to and judged by.
//!
//! `real_curves/curves.tsv` says which curves count and which points of each are fitted; it was written before any
//! fit. Numbers come from the folder in `SSDGAUGE_CORPUS`, where that is absent from `real_curves/facts.tsv`.
//!
//! ```sh
//! SSDGAUGE_CORPUS=FOLDER cargo run --release -p ssdgauge-tools -- real_curves check   # the files have these curves
//! ```

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

mod curves;

use curves::{Curve, Measured, Source};
use std::error::Error;

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    match arguments {
        [command] if command == "check" => check(&curves::all()?, &Source::open()?),
        _ => Err("usage: real_curves check".into()),
    }
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
