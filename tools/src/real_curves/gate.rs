//! The table of the gate: what the points that were not fitted say about the figures.

use super::curves::{Curve, Measured, Source};
use super::family::Family;
use super::simulate;
use std::error::Error;

/// The limits of the errors of means, of tails, of the ratio at QD1, and of a reader with other processes.
const MEAN: f64 = 0.10;
const TAIL: f64 = 0.25;
const RATIO: f64 = 0.10;
const READER: f64 = 0.25;
/// The share of the points that has to be within them.
const SHARE: f64 = 0.8;

/// Points within a limit, of all.
#[derive(Clone, Copy, Default)]
struct Within {
    met: u32,
    all: u32,
}

impl Within {
    fn add(&mut self, model: f64, real: f64, limit: f64) {
        self.all += 1;
        self.met += u32::from((model / real - 1.0).abs() <= limit);
    }

    fn text(self) -> String {
        match self.all {
            0 => "–".into(),
            all => format!("{} of {all}", self.met),
        }
    }
}

/// What was found of one curve.
#[derive(Default)]
struct Found {
    means: Within,
    tails: Within,
    /// Means and tails with other limits: of a reader that shares the drives.
    readers: Within,
    ratio: Option<(f64, f64)>,
}

/// Prints the table of the `curves` of `family`; with `verbose` every point.
pub(crate) fn print(
    family: &Family,
    curves: &[&Curve],
    source: &Source,
    verbose: bool,
) -> Result<(), Box<dyn Error>> {
    let mut sum = Found::default();
    let mut ratios = Within::default();
    for curve in curves {
        let found = judge(family, curve, source, verbose)?;
        let ratio = found.ratio.map_or("–".into(), |(model, real)| {
            ratios.add(model, real, RATIO);
            format!("{model:.2} for {real:.2}")
        });
        let (means, tails) = (found.means.text(), found.tails.text());
        println!("| {} | {means} | {tails} | {} | {ratio} |", curve.name, found.readers.text());
        for (sum, one) in [
            (&mut sum.means, found.means),
            (&mut sum.tails, found.tails),
            (&mut sum.readers, found.readers),
        ] {
            sum.met += one.met;
            sum.all += one.all;
        }
    }
    let verdict = |within: Within| match within.all {
        0 => "–".into(),
        all if f64::from(within.met) >= SHARE * f64::from(all) => format!("{}: met", within.text()),
        _ => format!("{}: missed", within.text()),
    };
    println!(
        "| **{}** | {} | {} | {} | {} |",
        family.name,
        verdict(sum.means),
        verdict(sum.tails),
        verdict(sum.readers),
        ratios.text()
    );
    Ok(())
}

fn judge(
    family: &Family,
    curve: &Curve,
    source: &Source,
    verbose: bool,
) -> Result<Found, Box<dyn Error>> {
    let mut found = Found::default();
    for point in &curve.points {
        let is_fitted = curve.fitted.contains(point);
        if is_fitted && *point > 1 && !verbose {
            continue;
        }
        let (model, real) = (simulate::point(family, curve, *point)?, source.point(curve, *point)?);
        if verbose {
            print_point(*point, is_fitted, &model, &real);
        }
        if *point == 1 && !curve.has_reader() {
            found.ratio = Some((model.tail / model.p50, real.tail / real.p50));
        }
        if is_fitted {
            continue;
        }
        if curve.load.starts_with("reader") {
            found.readers.add(model.mean, real.mean, READER);
            found.readers.add(model.tail, real.tail, READER);
        } else {
            found.means.add(model.mean, real.mean, MEAN);
            found.tails.add(model.tail, real.tail, TAIL);
        }
    }
    Ok(found)
}

fn print_point(point: u32, is_fitted: bool, model: &Measured, real: &Measured) {
    let percent = |model: f64, real: f64| (model / real - 1.0) * 100.0;
    println!(
        "    {point}{}: mean {:.1} for {:.1} ({:+.1} %), p50 {:.1} for {:.1}, tail {:.1} for {:.1} ({:+.1} %)",
        if is_fitted { " fitted" } else { "" },
        model.mean,
        real.mean,
        percent(model.mean, real.mean),
        model.p50,
        real.p50,
        model.tail,
        real.tail,
        percent(model.tail, real.tail)
    );
}
