//! The lines of many drives as a band: at each place the middle half of the drives, the range without the
//! twentieths at its ends, and the median. A hundred lines above each other are a grey block.
//!
//! The single lines are on the page too: the style sheet hides those within the band until all rows are
//! shown, or a drive is highlighted.

use crate::chart::look;
use crate::chart::plot::{Cut, Plot, Series};
use crate::chart::shape::{Shape, line};
use ssdgauge_analysis::answers::many_drives::MANY;
use ssdgauge_analysis::drives::drive_slots::number_of_grey;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_statistics::difference::peers::Peers;
use ssdgauge_statistics::difference::{NOISE, Outcome};
use ssdgauge_statistics::summary::quantile;

/// The places at which the drives are compared.
const PLACES: usize = 120;

/// A line stands out where this share of its places lies beyond the fence. Chosen.
const OUTSIDE: f64 = 0.1;

/// Outlying lines at most that are drawn and named next to the coloured ones.
const MAX_NAMED: usize = 8;

/// The lower and upper ends of both bands, as shares of the drives.
const ENDS: [(f64, f64); 2] = [(0.05, 0.95), (0.25, 0.75)];

/// The rule, for readers.
pub(crate) const RULE: &str = "Charts of more than 16 lines show a band: the middle half of the drives \
    (dark), the 5th to 95th percentile of the drives (light) and their median (line). A drive has a line \
    of its own where it has a colour, or where at least a tenth of its line lies beyond the outer fence of \
    Tukey and beyond 3 % from the median; at most 8 of these are named. All lines are shown with all rows.";

/// The band of a plot.
pub(crate) struct Band {
    /// Places with the values of the lines there, ascending.
    places: Vec<(f64, Vec<f64>)>,
    /// The drives with lines of their own.
    named: Vec<usize>,
    /// How many drives stand out.
    outliers: usize,
    lines: usize,
}

impl Band {
    /// Returns the band of `plot`; `None` for few lines, and for charts whose lines are not functions of
    /// the horizontal axis.
    pub(crate) fn new(plot: &Plot, drives: &ReportDrives) -> Option<Band> {
        if plot.lines.len() <= MANY || !plot.rays.is_empty() {
            return None;
        }
        let places: Vec<(f64, Vec<f64>)> = grid(plot)
            .into_iter()
            .map(|x| {
                let values = plot.lines.iter().filter_map(|line| value(line, x));
                let mut values: Vec<f64> = values.collect();
                values.sort_by(f64::total_cmp);
                (x, values)
            })
            // Where most drives have ended, the others are not a band.
            .filter(|(_, values)| 2 * values.len() > plot.lines.len())
            .collect();
        let mut out: Vec<(f64, usize)> = plot
            .lines
            .iter()
            .map(|line| (outside(line, &places), line.drive))
            .filter(|(share, _)| *share >= OUTSIDE)
            .collect();
        out.sort_by(|a, b| b.0.total_cmp(&a.0));
        let coloured = plot.lines.iter().map(|line| line.drive);
        let coloured = coloured.filter(|drive| number_of_grey(drives.slot(*drive)).is_none());
        let named = coloured.chain(out.iter().take(MAX_NAMED).map(|(_, drive)| *drive)).collect();
        let band = Band { places, named, outliers: out.len(), lines: plot.lines.len() };
        (band.places.len() > 1).then_some(band)
    }

    /// Returns whether `drive` has a line and a name of its own.
    pub(crate) fn names(&self, drive: usize) -> bool {
        self.named.contains(&drive)
    }

    /// Returns the areas and the median.
    pub(crate) fn drawn(&self, plot: &Plot, cut: &Cut) -> Vec<Shape> {
        let corner = |x: f64, y: f64| (cut.x(plot.across.share(x)), cut.y(plot.up.share(y)));
        let edge = |share: f64| -> Vec<(f64, f64)> {
            let place = |(x, values): &(f64, Vec<f64>)| Some(corner(*x, quantile(values, share)?));
            self.places.iter().filter_map(place).collect()
        };
        let area = |(low, high): (f64, f64)| {
            let corners = edge(low).into_iter().chain(edge(high).into_iter().rev()).collect();
            Shape::Area { corners, look: &look::BAND }
        };
        let median = line(&edge(0.5), &look::MEDIAN);
        ENDS.into_iter().map(area).chain([median]).collect()
    }

    /// Returns what the band is.
    pub(crate) fn words(&self) -> String {
        let standing_out = match self.outliers {
            0 => "no drive stands out".to_owned(),
            1 => "1 drive stands out".to_owned(),
            n if n > MAX_NAMED => format!("{n} drives stand out, of which {MAX_NAMED} are named"),
            n => format!("{n} drives stand out"),
        };
        format!(
            "{} drives: the middle half (dark), 5th to 95th percentile of the drives (light), \
             median (line); {standing_out}.",
            self.lines
        )
    }
}

/// Returns the places: those of the values where they are few, such as queue depths, else equal steps on
/// the drawn axis.
fn grid(plot: &Plot) -> Vec<f64> {
    let all = || plot.lines.iter().flat_map(|line| &line.points).filter(|(_, y)| y.is_finite());
    let mut places: Vec<f64> = all().map(|(x, _)| *x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let step = places.len().div_ceil(PLACES).max(1);
    let last = places.last().copied();
    let mut kept: Vec<f64> = places.into_iter().step_by(step).collect();
    if kept.last().copied() != last {
        kept.extend(last);
    }
    kept
}

/// Returns the value of `line` at `x`, between its points by their distance; `None` beyond its ends and
/// between two stretches.
fn value(line: &Series, x: f64) -> Option<f64> {
    let points = &line.points;
    let next = points.partition_point(|(at, _)| *at < x);
    let (right, high) = *points.get(next)?;
    if right == x {
        return high.is_finite().then_some(high);
    }
    let (left, low) = points[next.checked_sub(1)?];
    let between = low + (high - low) * (x - left) / (right - left);
    between.is_finite().then_some(between)
}

/// Returns the share of the places of `line` that lie beyond the outer fence and beyond the noise.
fn outside(line: &Series, places: &[(f64, Vec<f64>)]) -> f64 {
    let (mut own, mut beyond) = (0.0, 0.0);
    for (x, values) in places {
        let Some(value) = value(line, *x) else { continue };
        own += 1.0;
        beyond += f64::from(u8::from(is_outside(value, values)));
    }
    if own > 0.0 { beyond / own } else { 0.0 }
}

/// A second without a completion lies below any fence.
fn is_outside(value: f64, sorted: &[f64]) -> bool {
    Peers::new(sorted).is_some_and(|peers| peers.judge(value, NOISE) != Outcome::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_value_beyond_its_ends_and_in_its_gaps() {
        let points = vec![(0.0, 10.0), (2.0, 20.0), (3.0, f64::NAN), (4.0, 40.0)];
        let line = Series { points, ..Series::default() };
        for (x, expected) in [
            (-1.0, None),
            (0.0, Some(10.0)),
            (1.0, Some(15.0)),
            (2.5, None),
            (4.0, Some(40.0)),
            (5.0, None),
        ] {
            assert_eq!(value(&line, x), expected, "{x}");
        }
    }
}
