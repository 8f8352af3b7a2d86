//! The live view of a run: a few lines that are redrawn in place, as text.
//!
//! It holds the last seconds of the run, and computes nothing that a report shows.

use crate::terminal::colour::{Paint, Role};
use crate::terminal::fold;
use ssdgauge_core::{Second, rounded};
use std::collections::VecDeque;
use textwrap::core::display_width;

/// The seconds that are kept: the cells of the widest terminal.
const KEPT: usize = 200;
/// The width from which 99th percentiles have a sparkline of their own.
const WITH_LATENCY: usize = 100;
/// The columns in front of a sparkline: its indent and its name.
const NAME: usize = 7;
/// The narrowest sparkline beside the figures.
const NARROWEST: usize = 8;

/// A cell of the sparklines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    /// A step began.
    Boundary,
    /// A second: throughput in MB/s, 99th percentile of latency in microseconds.
    Second { mb_s: f64, p99_us: Option<f64> },
}

/// What the lines around the sparklines state at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Moment {
    /// Test and step.
    pub(super) title: String,
    /// The number of the step, such as `step 7 of 15`.
    pub(super) step: String,
    /// The time in the step, such as `4 s of 10 s`.
    pub(super) within: String,
    /// The rest of the run, such as `1 min 16 s left`.
    pub(super) left: String,
    /// The figures of the last second, such as `726 MB/s  p99 1.98 ms  57 °C`.
    pub(super) figures: String,
    /// The bytes that are still to be written, in words; empty for none.
    pub(super) to_write: String,
    /// The finished share of the run.
    pub(super) share: f64,
}

/// The last seconds of a run.
#[derive(Debug, Default)]
pub(super) struct Live {
    cells: VecDeque<Cell>,
}

impl Live {
    /// Adds a second or a boundary; boundaries without seconds between them are one.
    pub(super) fn push(&mut self, cell: Cell) {
        if cell == Cell::Boundary && self.cells.back().is_none_or(|last| *last == Cell::Boundary) {
            return;
        }
        if self.cells.len() == KEPT {
            self.cells.pop_front();
        }
        self.cells.push_back(cell);
    }

    /// Returns the lines at `moment`, none wider than `width`; `unicode` for block characters.
    pub(super) fn lines(
        &self,
        moment: &Moment,
        width: usize,
        paint: Paint,
        unicode: bool,
    ) -> Vec<String> {
        let mut lines = vec![headline(moment, width)];
        let figures = fold::cut(&moment.figures, width - NAME - NARROWEST - 2);
        let room = width - NAME - 2 - display_width(&figures);
        let throughput = |cell: Cell| match cell {
            Cell::Boundary => None,
            Cell::Second { mb_s, .. } => Some(mb_s),
        };
        let line = self.sparkline(room, unicode, throughput);
        let figures = paint.text(Role::Value, &figures);
        lines.push(format!("  MB/s {line:<room$}  {figures}"));
        if width >= WITH_LATENCY {
            let latency = |cell: Cell| match cell {
                Cell::Boundary => None,
                Cell::Second { p99_us, .. } => Some(p99_us.unwrap_or(0.0)),
            };
            let line = self.sparkline(room, unicode, latency);
            lines.push(format!("  p99  {line}"));
        }
        lines.push(bar(moment.share, width, unicode));
        let advice = "Ctrl-C stops; the run can be resumed";
        let below = match moment.to_write.is_empty() {
            true => format!("  {advice}"),
            false => format!("  {}    {advice}", moment.to_write),
        };
        lines.push(paint.text(Role::Second, &fold::cut(&below, width)));
        match unicode {
            true => lines,
            false => lines.iter().map(|line| plain(line)).collect(),
        }
    }

    /// Returns the last `room` cells, each as high as its share of the highest one that is shown. A
    /// second without completions is a dot.
    fn sparkline(&self, room: usize, unicode: bool, value: impl Fn(Cell) -> Option<f64>) -> String {
        let levels: [char; 8] = match unicode {
            true => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            false => ['_', '.', ':', '-', '=', '+', '*', '#'],
        };
        let (boundary, empty) = if unicode { ('│', '·') } else { ('|', '0') };
        let shown = self.cells.iter().skip(self.cells.len().saturating_sub(room));
        let shown: Vec<Option<f64>> = shown.map(|cell| value(*cell)).collect();
        let most = shown.iter().flatten().fold(0.0, |most: f64, value| most.max(*value));
        let letter = |value: Option<f64>| match value {
            None => boundary,
            Some(value) if value <= 0.0 || most <= 0.0 => empty,
            Some(value) => levels[(((value / most) * 8.0).ceil() as usize).clamp(1, 8) - 1],
        };
        shown.into_iter().map(letter).collect()
    }
}

/// Returns title, step, time in the step and time left. The title is cut; where little room is left for
/// it, the number of the step and then the time in the step are omitted.
fn headline(moment: &Moment, width: usize) -> String {
    let Moment { title, step, within, left, .. } = moment;
    let choices = [vec![step, within, left], vec![within, left], vec![left]];
    let least = display_width(title).min(width / 3);
    let right = |parts: &[&String]| {
        let parts: Vec<&str> =
            parts.iter().map(|part| part.as_str()).filter(|part| !part.is_empty()).collect();
        parts.join("    ")
    };
    let texts: Vec<String> = choices.iter().map(|parts| right(parts)).collect();
    let fits = |text: &&String| 4 + least + display_width(text) <= width;
    let right = texts.iter().find(fits).unwrap_or(&texts[2]);
    let room = width.saturating_sub(4 + display_width(right));
    let title = fold::cut(title, room);
    let gap = " ".repeat(room.saturating_sub(display_width(&title)));
    fold::cut(&format!("  {title}{gap}  {right}"), width)
}

/// Returns the bar of the finished `share` of the run.
fn bar(share: f64, width: usize, unicode: bool) -> String {
    let (full, open) = if unicode { ('█', '░') } else { ('#', '-') };
    let cells = width.saturating_sub(10);
    let share = share.clamp(0.0, 1.0);
    let filled = (share * cells as f64) as usize;
    let drawn: String = (0..cells).map(|cell| if cell < filled { full } else { open }).collect();
    format!("  {drawn}  {:>3} %", (share * 100.0) as u32)
}

/// Returns `line` in the letters of the locale `C`; none of them is wider than the one it stands for.
fn plain(line: &str) -> String {
    line.replace('µ', "u").replace('°', " ").replace('…', "~").replace('–', "-")
}

/// Returns the figures of a second: throughput, requests, 99th percentile and temperature.
pub(super) fn figures(second: &Second, celsius: Option<f64>) -> String {
    let dash = || "–".to_owned();
    let mb_s = second.mb_s().map_or_else(dash, rounded::number);
    let iops = second.iops().map_or_else(dash, rounded::number);
    let p99 = second.lat_p99_us.map_or_else(dash, rounded::latency);
    let of = second.latency_of.prefix();
    let mut text = format!("{mb_s:>6} MB/s  {iops:>8} IOPS  {of}p99 {p99:>8}");
    if let Some(celsius) = celsius {
        text.push_str(&format!("  {celsius:.0} °C"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live() -> Live {
        let mut live = Live::default();
        live.push(Cell::Boundary);
        for mb_s in [2_228.0, 2_228.0, 1_100.0, 726.0, 0.0] {
            live.push(Cell::Second { mb_s, p99_us: Some(4e6 / mb_s.max(1e3)) });
        }
        live.push(Cell::Boundary);
        live.push(Cell::Boundary);
        live.push(Cell::Second { mb_s: 726.0, p99_us: None });
        live
    }

    fn second() -> Second {
        let (ios, bytes, lat_p99_us) = (5_541, 726_000_000, Some(1_975.0));
        Second { ios, bytes, lat_p99_us, ..Second::idle(0) }
    }

    fn moment() -> Moment {
        Moment {
            title: "sequential-write 128KiB QD8".into(),
            step: "step 7 of 15".into(),
            within: "4 s of 10 s".into(),
            left: "1 min 16 s left".into(),
            figures: figures(&second(), Some(57.2)),
            to_write: "20.0 GB to write".into(),
            share: 0.46,
        }
    }

    #[test]
    fn the_view_at_80_columns_has_four_lines() {
        let lines = live().lines(&moment(), 80, Paint::None, true);
        assert_eq!(
            lines,
            [
                "  sequential-write 128KiB QD8     step 7 of 15    4 s of 10 s    1 min 16 s left",
                "  MB/s ██▄▃·│▃                      726 MB/s     5,541 IOPS  p99  1.98 ms  57 °C",
                "  ████████████████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   46 %",
                "  20.0 GB to write    Ctrl-C stops; the run can be resumed",
            ]
        );
    }

    #[test]
    fn the_view_fits_every_width_and_has_a_second_sparkline_on_a_wide_terminal() {
        for width in 60..=200 {
            for unicode in [true, false] {
                let lines = live().lines(&moment(), width, Paint::None, unicode);
                assert_eq!(lines.len(), if width < 100 { 4 } else { 5 });
                for line in &lines {
                    assert!(display_width(line) <= width, "{width}: {line}");
                    assert!(unicode || line.is_ascii(), "{line}");
                }
            }
        }
    }
}
