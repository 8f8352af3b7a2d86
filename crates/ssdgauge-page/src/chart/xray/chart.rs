//! A small chart of the series that a structure was read from, with its value in it.

use super::words;
use crate::chart::axis::nice;
use crate::chart::look;
use crate::chart::shape::{Anchor, Drawing, Shape, line};
use ssdgauge_analysis::text::number;
use ssdgauge_xray::{Axes, CheckedCard, Form, Series, Structure, Value, axes, read_from};

/// The room for the words of the vertical axis.
const LEFT: f64 = 44.0;
/// The room at the right end.
const RIGHT: f64 = 10.0;
/// The room above the plot, for its unit and the names of lines.
const TOP: f64 = 24.0;
/// The room below the plot, for the words of the horizontal axis.
const BOTTOM: f64 = 38.0;
/// The length of the sample of a line, with three of its dashes.
const SAMPLE: f64 = 18.0;
/// How far beyond the bars of a period a distance may lie.
const WHOLE: f64 = 1e-6;

/// The plot of a chart: its place and the ranges of its axes.
struct Plot {
    place: [f64; 4],
    x: (f64, f64),
    y: (f64, f64),
}

/// Returns the chart of `structure` in each of `cards`, one over the other; `None` where no card has a series.
/// The chart of one card has the slot 0, and its second line 1.
pub(crate) fn chart(
    cards: &[&CheckedCard],
    structure: Structure,
    (width, height): (f64, f64),
) -> Option<Drawing> {
    let axes = axes(read_from(structure))?;
    let entries: Vec<(usize, &Series)> = entries(cards, read_from(structure));
    let all = || entries.iter().flat_map(|(_, series)| series.points.iter().copied());
    let (x, y) = ranges(&axes, all)?;
    // A value at a place of the line is above it.
    let is_above = axes.form == Form::Line && matches!(side(structure, 0.0), Side::Across(_));
    let y = (y.0, if is_above { 1.18 * y.1 } else { y.1 });
    let place = [LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM];
    let plot = Plot { place, x, y };
    let mut drawing = Drawing::new(width, height);
    plot.grid(&mut drawing, &axes);
    for (slot, card) in cards.iter().enumerate() {
        if let Some(value) = words::value_of(card, structure) {
            plot.interval(&mut drawing, structure, &value);
            if let Some(slope) = slope(structure, &value) {
                let own = entries.iter().filter(|(of, _)| *of == slot || cards.len() == 1);
                own.for_each(|(_, series)| plot.slope(&mut drawing, slope, &series.points));
            }
        }
    }
    for (slot, series) in &entries {
        let own = if cards.len() > 1 { cards[*slot] } else { cards[0] };
        let value = words::value_of(own, structure).map(|value| value.value);
        let stands_out = |x: f64| value.is_none_or(|value| stands_out(structure, value, x));
        // Bars of two drives would cover each other.
        let is_over = axes.form == Form::Bars && cards.len() > 1;
        let form = if is_over { Form::Line } else { axes.form };
        plot.series(&mut drawing, form, *slot, &series.points, &stands_out);
    }
    let names: &[&str] = if cards.len() > 1 { &["A", "B"] } else { axes.lines };
    if names.len() > 1 {
        let shown: Vec<(usize, &str)> = (0..names.len())
            .filter(|slot| entries.iter().any(|(of, _)| of == slot))
            .map(|slot| (slot, names[slot]))
            .collect();
        plot.names(&mut drawing, &shown, axes.form);
    }
    if let [card] = cards
        && let Some(value) = words::value_of(card, structure)
    {
        plot.mark(&mut drawing, structure, &value);
    }
    Some(drawing)
}

/// Returns the series of each card with its slot: of several cards only the last line.
fn entries<'a>(cards: &[&'a CheckedCard], structure: Structure) -> Vec<(usize, &'a Series)> {
    let mut entries = Vec::new();
    for (number, card) in cards.iter().enumerate() {
        let of = card.series.iter().filter(|series| series.structure == structure);
        let of: Vec<&Series> = of.filter(|series| !series.points.is_empty()).collect();
        match cards.len() {
            1 => entries.extend(of.into_iter().map(|series| (series.line, series))),
            _ => entries.extend(of.last().map(|series| (number, *series))),
        }
    }
    entries
}

/// Returns the ranges of both axes; `None` without a point.
fn ranges<I: Iterator<Item = (f64, f64)>>(
    axes: &Axes,
    points: impl Fn() -> I,
) -> Option<((f64, f64), (f64, f64))> {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::MAX, f64::MIN), |(low, high), one| (low.min(one), high.max(one)))
    };
    let x = range(&mut points().map(|point| point.0));
    let y = range(&mut points().map(|point| point.1));
    if x.0 > x.1 {
        return None;
    }
    let wide = (x.1 - x.0).max(x.1.abs() * 1e-3).max(1e-6);
    let x = match (axes.from_zero, axes.form) {
        (true, Form::Bars) => (0.0, x.1.max(1e-6) * 1.01),
        (true, Form::Line | Form::Marks) => (0.0, x.1.max(1e-6)),
        (false, _) => (x.0 - 0.03 * wide, x.0 + 1.03 * wide),
    };
    // Of shares that are all 0, the axis ends at 1.
    let top = if y.1 > 0.0 { y.1 } else { 1.0 };
    Some((x, (0.0, top * 1.08)))
}

/// Returns whether the bar at `x` is one of those that `value` was read from.
fn stands_out(structure: Structure, value: f64, x: f64) -> bool {
    let rounds = x / value.max(1.0);
    match structure {
        Structure::Units => (rounds - rounds.round()).abs() < WHOLE,
        Structure::Chunk => x < value / 1_024.0,
        Structure::ProgramUnit => (x - value / 1_024.0).abs() < WHOLE,
        Structure::Link
        | Structure::Command
        | Structure::PageRead
        | Structure::Suspend
        | Structure::Flush
        | Structure::ProgramTime
        | Structure::WriteBuffer
        | Structure::Cache
        | Structure::NativeRate
        | Structure::Overflow
        | Structure::Folding
        | Structure::MappingUnit
        | Structure::Volumes
        | Structure::MapReach
        | Structure::Compression
        | Structure::Deduplication
        | Structure::Throttle
        | Structure::Resume
        | Structure::Spare
        | Structure::EffectiveSpare
        | Structure::Separation => true,
    }
}

/// Where the value of a structure lies in its chart.
enum Side {
    /// At a place of the horizontal axis.
    Across(f64),
    /// At a height.
    Up(f64),
    /// Not at one place.
    None,
}

/// Returns where `value` of `structure` lies, in the units of its chart.
fn side(structure: Structure, value: f64) -> Side {
    match structure {
        Structure::Link | Structure::Command | Structure::ProgramTime | Structure::NativeRate => {
            Side::Up(value)
        }
        Structure::Units | Structure::PageRead | Structure::Throttle | Structure::Resume => {
            Side::Across(value)
        }
        Structure::Chunk | Structure::ProgramUnit => Side::Across(value / 1_024.0),
        Structure::WriteBuffer => Side::Across(value / 1e6),
        Structure::Cache | Structure::MapReach | Structure::Spare => Side::Across(value / 1e9),
        Structure::Suspend
        | Structure::Flush
        | Structure::Overflow
        | Structure::Folding
        | Structure::MappingUnit
        | Structure::Volumes
        | Structure::Compression
        | Structure::Deduplication
        | Structure::EffectiveSpare
        | Structure::Separation => Side::None,
    }
}

/// Returns the slope that is the value of `structure`, in the units of its chart.
fn slope(structure: Structure, value: &Value) -> Option<f64> {
    (structure == Structure::Folding).then_some(value.value / 1e3)
}

impl Plot {
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let [left, top, width, height] = self.place;
        let share = |value: f64, (low, high): (f64, f64)| {
            ((value - low) / (high - low).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
        };
        (left + share(x, self.x) * width, top + height - share(y, self.y) * height)
    }

    fn contains(&self, x: f64) -> bool {
        (self.x.0..=self.x.1).contains(&x)
    }

    /// Draws both axes with their ticks and units.
    fn grid(&self, drawing: &mut Drawing, axes: &Axes) {
        let [left, top, width, height] = self.place;
        let bottom = top + height;
        for tick in ticks(self.y, 3.0) {
            let (_, y) = self.at(0.0, tick);
            let look = if tick == 0.0 { &look::AXIS } else { &look::GRID };
            drawing.line(&[(left, y), (left + width, y)], look);
            let at = (left - 6.0, y + 4.0);
            drawing.words_at(at, &number::short(tick), &look::SMALL, Anchor::End);
        }
        drawing.words((0.0, top - 12.0), &words::typeset(axes.y), &look::SMALL);
        for tick in ticks(self.x, 4.0) {
            let (x, _) = self.at(tick, 0.0);
            let words = number::short(tick);
            drawing.words_at((x, bottom + 16.0), &words, &look::SMALL, Anchor::Middle);
            drawing.line(&[(x, bottom), (x, bottom + 4.0)], &look::AXIS);
        }
        let corner = (left + width + RIGHT - 2.0, bottom + 30.0);
        drawing.words_at(corner, &words::typeset(axes.x), &look::SMALL, Anchor::End);
    }

    /// Draws the interval of `value`, and a line at it.
    fn interval(&self, drawing: &mut Drawing, structure: Structure, value: &Value) {
        let [left, top, width, height] = self.place;
        match [value.low, value.value, value.high].map(|one| side(structure, one)) {
            [Side::Across(low), Side::Across(at), Side::Across(high)] if self.contains(at) => {
                let (from, to) = (self.at(low, 0.0).0, self.at(high, 0.0).0);
                drawing.area([from, top, (to - from).max(1.0), height], &look::INTERVAL);
                let x = self.at(at, 0.0).0;
                drawing.line(&[(x, top), (x, top + height)], &look::VALUE_LINE);
            }
            [Side::Up(low), Side::Up(at), Side::Up(high)] if at <= self.y.1 => {
                let (from, to) = (self.at(0.0, high).1, self.at(0.0, low).1);
                drawing.area([left, from, width, (to - from).max(1.0)], &look::INTERVAL);
                let y = self.at(0.0, at).1;
                drawing.line(&[(left, y), (left + width, y)], &look::VALUE_LINE);
            }
            _ => {}
        }
    }

    /// Draws the value at its line.
    fn mark(&self, drawing: &mut Drawing, structure: Structure, value: &Value) {
        let [left, top, width, height] = self.place;
        let words = words::value(structure, value);
        let wide = look::VALUE_NOTE.width_of(&words);
        match side(structure, value.value) {
            Side::Across(at) if self.contains(at) => {
                let x = self.at(at, 0.0).0;
                let is_right = x + wide + 6.0 < left + width;
                let (x, anchor) = match is_right {
                    true => (x + 5.0, Anchor::Start),
                    false => (x - 5.0, Anchor::End),
                };
                // Seconds at full rate lie at the top.
                let is_heat = read_from(structure) == Structure::Throttle;
                let y = if is_heat { top + 0.5 * height } else { top + 11.0 };
                drawing.words_at((x, y), &words, &look::VALUE_NOTE, anchor);
            }
            Side::Up(at) if at <= self.y.1 => {
                let y = self.at(0.0, at).1;
                // Below a line at the top of the plot, above one at its bottom.
                let y = if y < top + 30.0 { y + 15.0 } else { y - 6.0 };
                drawing.words_at((left + width, y), &words, &look::VALUE_NOTE, Anchor::End);
            }
            Side::None if structure == Structure::Folding => {
                drawing.words((left + 8.0, top + 11.0), &words, &look::VALUE_NOTE);
            }
            Side::Across(_) | Side::Up(_) | Side::None => {}
        }
    }

    /// Draws a line of `slope` through the middle of `points`.
    fn slope(&self, drawing: &mut Drawing, slope: f64, points: &[(f64, f64)]) {
        let count = points.len().max(1) as f64;
        let middle = points.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let (x, y) = (middle.0 / count, middle.1 / count);
        // As far as the line stays within the plot.
        let until = |height: f64| (x + (height - y) / slope).clamp(self.x.0, self.x.1);
        let (from, to) = (until(0.0), until(self.y.1));
        let height = |at: f64| y + slope * (at - x);
        if slope > 0.0 {
            let ends = [self.at(from, height(from)), self.at(to, height(to))];
            drawing.line(&ends, &look::VALUE_LINE);
        }
    }

    fn series(
        &self,
        drawing: &mut Drawing,
        form: Form,
        slot: usize,
        points: &[(f64, f64)],
        stands_out: &dyn Fn(f64) -> bool,
    ) {
        let at = |point: &(f64, f64)| self.at(point.0, point.1);
        let bottom = self.place[1] + self.place[3];
        let room = self.place[2] / points.len().max(1) as f64;
        let width = (0.7 * room).clamp(0.8, 8.0);
        let bar = |point: &(f64, f64)| {
            let (x, y) = at(point);
            let look = if stands_out(point.0) { &look::BAR } else { &look::BACK };
            let place = [x - 0.5 * width, y, width, bottom - y];
            Shape::Rectangle { place, round: 0.0, look }
        };
        let shapes = match form {
            Form::Line => {
                vec![line(&points.iter().map(at).collect::<Vec<_>>(), series_look(slot))]
            }
            Form::Marks => points.iter().map(|point| mark(at(point), slot)).collect(),
            Form::Bars => points.iter().map(bar).collect(),
        };
        drawing.painted(slot, shapes);
    }

    /// Draws `names` with their slots above the plot, at its right end, each after a sample of its line or mark.
    fn names(&self, drawing: &mut Drawing, names: &[(usize, &str)], form: Form) {
        let [left, top, width, _] = self.place;
        let mut x = left + width + RIGHT - 2.0;
        for (slot, name) in names.iter().rev() {
            let y = top - 16.0;
            x -= 1.25 * look::SMALL.width_of(name);
            drawing.words((x, y + 4.0), name, &look::SMALL);
            x -= 4.0;
            let sample = match form {
                Form::Marks => mark((x - 6.0, y), *slot),
                Form::Line | Form::Bars => line(&[(x - SAMPLE, y), (x, y)], series_look(*slot)),
            };
            drawing.painted(*slot, vec![sample]);
            x -= SAMPLE + 6.0;
        }
    }
}

/// Returns the look of the line of `slot`: one that lies on another shows the other between its dashes.
fn series_look(slot: usize) -> &'static look::Look {
    match slot {
        0 => &look::SERIES,
        1 => &look::SERIES_DASHED,
        _ => &look::SERIES_DOTTED,
    }
}

/// Returns the mark of `slot` at `middle`: a dot, or a ring that shows a dot inside.
fn mark(middle: (f64, f64), slot: usize) -> Shape {
    match slot {
        0 => Shape::Circle { middle, radius: 2.8, look: &look::DOT },
        _ => Shape::Circle { middle, radius: 4.6, look: &look::RING },
    }
}

/// Returns ticks within `low` to `high` at a round distance, about `count` of them.
fn ticks((low, high): (f64, f64), count: f64) -> Vec<f64> {
    let step = nice((high - low) / count);
    let first = (low / step).ceil();
    let places = (0..12).map(|number| (first + f64::from(number)) * step);
    places.take_while(|at| *at <= high).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_chart_has_a_look_and_on_pages_a_colour_of_its_own() {
        let css = include_str!("../../page/xray.css");
        let mut most = 0;
        for structure in Structure::ALL {
            let Some(axes) = axes(structure) else { continue };
            let count = axes.lines.len();
            let looks: Vec<_> = (0..count).map(series_look).collect();
            for (slot, look) in looks.iter().enumerate() {
                assert!(css.contains(&format!(".d-{slot}{{--c:var(--s{slot})}}")), "{structure:?}");
                assert!(looks[..slot].iter().all(|other| other.dashes != look.dashes));
            }
            // Two marks can be told apart: a dot and a ring.
            assert!(axes.form != Form::Marks || count <= 2, "{structure:?}");
            most = most.max(count);
        }
        assert_eq!(most, 3, "the chart of flushes");
    }
}
