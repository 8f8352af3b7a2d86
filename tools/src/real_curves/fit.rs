//! The search for the figures of a family: each is changed in turn, and the change kept that comes nearer to the fitted
//! points.

use super::curves::{Curve, Measured, Source};
use super::family::Family;
use super::simulate;
use std::error::Error;

/// The factors by which figures are changed, one after the other.
const STEPS: [f64; 4] = [1.12, 1.05, 1.02, 1.008];
/// What counts as one unit of error of a mean, and of a percentile: the limits of the gate.
const MEAN: f64 = 0.10;
const TAIL: f64 = 0.25;

/// Fits the figures of `family` to the fitted points of `curves`; prints each improvement.
pub(crate) fn search(
    family: &Family,
    curves: &[&Curve],
    source: &Source,
) -> Result<Family, Box<dyn Error>> {
    let mut targets = Vec::new();
    for curve in curves {
        for point in &curve.fitted {
            targets.push((*curve, *point, source.point(curve, *point)?));
        }
    }
    let mut best = family.clone();
    let mut least = error(&best, &targets)?;
    println!("{}: {least:.4}", family.name);
    for step in STEPS {
        let mut improved = true;
        while improved {
            improved = false;
            for figure in 0..best.figures.len() {
                for factor in [step, 1.0 / step] {
                    let mut tried = best.clone();
                    change(&mut tried, figure, factor);
                    let Ok(found) = error(&tried, &targets) else { continue };
                    if found < 0.998 * least {
                        (best, least, improved) = (tried, found, true);
                        println!("{least:.4} {}", best.figures[figure].text());
                        break;
                    }
                }
            }
        }
    }
    Ok(best)
}

fn change(family: &mut Family, figure: usize, factor: f64) {
    let figure = &mut family.figures[figure];
    figure.value = match (figure.is_whole, factor > 1.0) {
        (false, _) => figure.value * factor,
        (true, true) => (figure.value * factor).ceil(),
        (true, false) => (figure.value * factor).floor(),
    };
}

/// Returns the mean square of the errors, in units of their limits.
fn error(family: &Family, targets: &[(&Curve, u32, Measured)]) -> Result<f64, Box<dyn Error>> {
    let mut sum = 0.0;
    for (curve, point, real) in targets {
        let model = simulate::point(family, curve, *point)?;
        let unit = |model: f64, real: f64, limit: f64| ((model / real).ln() / limit).powi(2);
        sum += unit(model.mean, real.mean, MEAN) + unit(model.tail, real.tail, TAIL);
        // The ratio at QD1 has a limit of its own.
        if *point == 1 && !curve.has_reader() {
            sum += unit(model.tail / model.p50, real.tail / real.p50, MEAN);
        }
    }
    Ok(sum / targets.len() as f64)
}
