//! The chart of a test: one frame with axes over all drives, and a fragment for each drive that fits into it.

use crate::chart::axis::{Across, Up};
use crate::chart::coordinate::at;
use crate::chart::lines::axes;
use crate::chart::panels::values;
use crate::chart::plot::{Cut, Plot, Room};
use crate::chart::svg::{markup, path};
use ssdgauge_analysis::bench::board::{Bench, Board, Entry};
use ssdgauge_analysis::bench::record::Curve;
use ssdgauge_analysis::text::number;
use ssdgauge_core::Metric;
use ssdgauge_statistics::summary;
use std::collections::BTreeMap;

/// The size of a chart: three fit a page side by side, one a phone.
const SIZE: (f64, f64) = (352.0, 234.0);

/// Marks along a curve are at least this far apart in pixels: its shape tells a drive where its colour does not.
const MARKS: f64 = 60.0;

/// More drives than this are not drawn behind the chosen ones: their lines would be an area.
const MOST_DRAWN: usize = 60;

/// The chart of a board without the chosen drives.
pub(super) struct Frame {
    /// The picture, without its end: fragments follow. Empty where the test has no curves.
    pub(super) picture: String,
    /// The line and the marks of each entry, as commands of two paths with a bar between; empty without a curve.
    pub(super) fragments: Vec<String>,
    /// Whether the other drives are drawn as a band.
    pub(super) is_band: bool,
}

/// What the band of a chart shows.
pub(super) const BAND: &str = "The band has the middle 80% of all drives, the line their median.";

impl Frame {
    /// Returns the frame of `board`.
    pub(super) fn new(bench: &Bench, board: &Board) -> Frame {
        let curves: Vec<Option<&Curve>> =
            board.entries.iter().map(|entry| bench.result(entry).1.curve.as_ref()).collect();
        let (_, test) = bench.shown(board);
        let Some(first) = curves.iter().flatten().next() else {
            let fragments = vec![String::new(); curves.len()];
            return Frame { picture: String::new(), fragments, is_band: false };
        };
        let fits = |curve: &&Curve| curve.steps == first.steps && curve.quantity == first.quantity;
        let curves: Vec<Option<&Curve>> = curves.iter().map(|curve| curve.filter(fits)).collect();
        let metric = test.headline.0.metric;
        let is_latency = metric.is_latency() && !first.steps.is_empty();
        let points = || curves.iter().flatten().flat_map(|curve| &curve.points);
        let end = points().map(|point| point.0).fold(0.0, f64::max);
        let across = match first.steps.is_empty() {
            true => Across::continuous(end, None, "seconds", number::tick),
            false => Across::places(first.steps.clone(), ""),
        };
        let tick = if is_latency { values::ticks(metric) } else { number::short };
        let unit =
            if is_latency { "" } else { first.quantity.rsplit(", ").next().unwrap_or_default() };
        let plot = Plot {
            kind: "bench",
            caption: String::new(),
            label: format!("{}: {}", test.title, first.quantity),
            up: Up::new(points().map(|point| point.1), unit, true, tick),
            across,
            lines: Vec::new(),
            scored: None,
            rays: Vec::new(),
            events: Vec::new(),
            published: Vec::new(),
            background: Vec::new(),
        };
        let cut =
            Cut { width: SIZE.0, height: SIZE.1, left: 48.0, right: 14.0, room: Room::Narrow };
        let fragments: Vec<String> = curves
            .iter()
            .map(|curve| curve.map(|curve| fragment(curve, &plot, &cut)).unwrap_or_default())
            .collect();
        let is_band = fragments.len() > MOST_DRAWN;
        let (band, lines) = match is_band {
            true => band(&curves.iter().flatten().copied().collect::<Vec<_>>(), end, &plot, &cut),
            false => {
                let lines = fragments.iter().filter_map(|one| one.split('|').next()).collect();
                (String::new(), lines)
            }
        };
        let label = maud::html! { (plot.label) }.into_string().replace('"', "&quot;");
        let picture = format!(
            "<svg class=\"ch\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{label}\">{}<path class=\"band\" d=\"{band}\"/><path class=\"all\" d=\"{lines}\"/>",
            at(SIZE.0),
            at(SIZE.1),
            markup(&axes(&plot, &cut)).0,
        );
        Frame { picture, fragments, is_band }
    }
}

/// The places along an axis of time at which curves are set against each other. Chosen: ten pixels apart.
const PARTS: usize = 30;

/// Returns the band from the tenth to the ninetieth percentile of `curves` and their median, as commands of two paths. An
/// axis of time ends at `end`; a place counts where at least half of the curves have a value.
fn band(curves: &[&Curve], end: f64, plot: &Plot, cut: &Cut) -> (String, String) {
    let is_time = curves.iter().all(|curve| curve.steps.is_empty());
    let width = end.max(1.0) / PARTS as f64;
    let place = |x: f64| if is_time { ((x / width) as usize).min(PARTS - 1) } else { x as usize };
    let mut values: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for curve in curves {
        let mut own: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        curve.points.iter().for_each(|(x, y)| own.entry(place(*x)).or_default().push(*y));
        for (place, points) in own {
            values.entry(place).or_default().extend(summary::mean(&points));
        }
    }
    let mut lines: [Vec<(f64, f64)>; 3] = Default::default();
    for (place, mut own) in values.into_iter().filter(|(_, own)| 2 * own.len() >= curves.len()) {
        own.sort_by(f64::total_cmp);
        let x = if is_time { (place as f64 + 0.5) * width } else { place as f64 };
        for (line, share) in lines.iter_mut().zip([0.1, 0.5, 0.9]) {
            let value = summary::quantile(&own, share).unwrap_or_default();
            line.push((cut.x(plot.across.share(x)).round(), cut.y(plot.up.share(value)).round()));
        }
    }
    let [low, middle, high] = lines;
    let around: Vec<(f64, f64)> = low.into_iter().chain(high.into_iter().rev()).collect();
    (path(&around, "Z"), path(&middle, ""))
}

/// Returns the line of `curve` and the places of its marks.
fn fragment(curve: &Curve, plot: &Plot, cut: &Cut) -> String {
    // Half a pixel is enough, and costs few letters.
    let half = |value: f64| (2.0 * value).round() / 2.0;
    let place =
        |(x, y): &(f64, f64)| (half(cut.x(plot.across.share(*x))), half(cut.y(plot.up.share(*y))));
    let line: Vec<(f64, f64)> = curve.points.iter().map(place).collect();
    let mut marks: Vec<(f64, f64)> = Vec::new();
    for one in &line {
        if !curve.steps.is_empty() || marks.last().is_none_or(|last| one.0 - last.0 >= MARKS) {
            marks.push(*one);
        }
    }
    format!("{}|{}", path(&line, ""), path(&marks, ""))
}

/// The places of all drives of a board on one scale, from 0 to 1; to the right is better.
pub(super) struct Places {
    low: f64,
    high: f64,
    is_log: bool,
    more_is_better: bool,
}

/// A scale is logarithmic where the best value is this many times the one in the middle.
const WIDE: f64 = 5.0;

impl Places {
    /// Returns the scale over all entries with a value.
    pub(super) fn new(bench: &Bench, entries: &[&Entry]) -> Places {
        let value = |entry: &&Entry| bench.result(entry).1.headline.0.value;
        let more = entries
            .first()
            .is_none_or(|one| bench.result(one).1.headline.0.metric.more_is_better());
        let mut values: Vec<f64> =
            entries.iter().filter_map(value).filter(|one| *one > 0.0).collect();
        values.sort_by(f64::total_cmp);
        let (low, high) = match values.as_slice() {
            [] => (0.5, 1.0),
            [first, .., last] if first < last => (*first, *last),
            [one, ..] => (one / 2.0, *one),
        };
        let middle = values.get(values.len() / 2).copied().unwrap_or(1.0);
        let is_log = !more || high > WIDE * middle;
        Places { low, high, is_log, more_is_better: more }
    }

    /// Returns the share of the width at `value`.
    pub(super) fn share(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => {
                0.04 + 0.92 * (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
            }
            false => value / self.high * 0.96,
        };
        let share = share.clamp(0.0, 1.0);
        if self.more_is_better { share } else { 1.0 - share }
    }

    /// Returns the values at the left and the right end.
    pub(super) fn ends(&self, metric: Metric) -> [String; 2] {
        let words = |value| number::measured(value, metric);
        match (self.is_log, self.more_is_better) {
            (false, _) => ["0".to_owned(), words(self.high)],
            (true, true) => [words(self.low), words(self.high)],
            (true, false) => [words(self.high), words(self.low)],
        }
    }

    /// Returns whether marks are points: a bar would have to begin at zero.
    pub(super) fn is_log(&self) -> bool {
        self.is_log
    }
}
