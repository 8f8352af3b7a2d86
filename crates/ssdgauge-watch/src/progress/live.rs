//! The live view of a run: a few lines that are redrawn in place, as text.
//!
//! It holds the last seconds of the run, and computes nothing that a report shows.

use crate::chart::{self, Reduce};
use crate::second::Second;
use crate::terminal::colour::{Paint, Role};
use crate::terminal::{fold, live_lines};
use crate::{screen, style};
use ssdgauge_core::{Finding, FindingKind, Severity, rounded};
use std::collections::VecDeque;
use textwrap::core::display_width;

/// The seconds that are kept: the cells of the widest terminal.
const KEPT: usize = 200;
/// The width from which 99th percentiles have a sparkline of their own.
const WITH_LATENCY: usize = 100;
/// The columns in front of a sparkline: its indent and its name.
const NAME: usize = 7;
/// The narrowest sparkline next to the figures.
const NARROWEST: usize = 8;
/// What the user can do meanwhile.
pub(super) const ADVICE: &str = "Ctrl-C stops; the run can be resumed";
/// What follows the first finding about other programs, once.
pub(super) const OTHERS: &str = "        `ssdgauge doctor` names the programs; a disturbed run produces no usable \
                                 numbers; stop it (Ctrl-C) and resume when the machine is idle";

/// Returns whether `finding` says that other programs affect the run.
pub(super) fn names_others(finding: &Finding) -> bool {
    matches!(finding.kind, FindingKind::OtherTraffic | FindingKind::Disturbed)
        && finding.severity >= Severity::Warning
}

/// What the user was told already.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// In this step: that a reader holds the run file.
    pub(super) of_reader: bool,
    /// That the verification at the end of the run has begun.
    pub(super) of_verification: bool,
    /// What to do about other programs.
    pub(super) of_others: bool,
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
    seconds: VecDeque<Second>,
}

impl Live {
    /// Adds a second.
    pub(super) fn push(&mut self, second: Second) {
        if self.seconds.len() == KEPT {
            self.seconds.pop_front();
        }
        self.seconds.push_back(second);
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
        let line = self.sparkline(room, unicode, |second| second.load.mb_s());
        let figures = paint.text(Role::Value, &figures);
        lines.push(format!("  MB/s {line:<room$}  {figures}"));
        if width >= WITH_LATENCY {
            let line = self.sparkline(room, unicode, screen::p99);
            lines.push(format!("  p99  {line}"));
        }
        let cells = width.saturating_sub(10);
        lines.push(format!("  {}", live_lines::bar(moment.share, cells, unicode)));
        let below = match moment.to_write.is_empty() {
            true => format!("  {ADVICE}"),
            false => format!("  {}    {ADVICE}", moment.to_write),
        };
        lines.push(paint.text(Role::Second, &fold::cut(&below, width)));
        match unicode {
            true => lines,
            false => lines.iter().map(|line| style::plain(line)).collect(),
        }
    }

    /// Returns the last seconds in one row of `room` columns, each as high as its share of the highest one.
    fn sparkline(&self, room: usize, unicode: bool, value: fn(&Second) -> Option<f64>) -> String {
        let first = self.seconds.len().saturating_sub(room);
        let seconds: Vec<&Second> = self.seconds.iter().skip(first).collect();
        let cells = screen::cells(&seconds, value, room, Reduce::Mean);
        chart::rows(&cells, 1, chart::highest(&cells), unicode).concat()
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

/// Returns the figures of a second: throughput, requests, 99th percentile and temperature.
pub(super) fn figures(second: &Second) -> String {
    let dash = || "–".to_owned();
    let load = &second.load;
    let mb_s = load.mb_s().map_or_else(dash, rounded::number);
    let iops = load.iops().map_or_else(dash, rounded::number);
    let p99 = load.lat_p99_us.map_or_else(dash, rounded::latency);
    let of = load.latency_of.prefix();
    let mut text = format!("{mb_s:>6} MB/s  {iops:>8} IOPS  {of}p99 {p99:>8}");
    if let Some(celsius) = second.temperature_c {
        text.push_str(&format!("  {celsius:.0} °C"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_runfile::StepId;

    fn second(step: i64, number: u32, mb_s: u64, lat_p99_us: Option<f64>) -> Second {
        let load = ssdgauge_core::Second {
            ios: 5_541,
            bytes: mb_s * 1_000_000,
            lat_p99_us,
            ..ssdgauge_core::Second::idle(number)
        };
        Second { step: StepId(step), load, temperature_c: Some(57.2), power_w: None }
    }

    fn live() -> Live {
        let mut live = Live::default();
        for (number, mb_s) in (0..).zip([2_228, 2_228, 1_100, 726, 0]) {
            live.push(second(1, number, mb_s, Some(4e6 / mb_s.max(1_000) as f64)));
        }
        live.push(second(2, 0, 726, None));
        live
    }

    fn moment() -> Moment {
        Moment {
            title: "sequential-write 128KiB QD8".into(),
            step: "step 7 of 15".into(),
            within: "4 s of 10 s".into(),
            left: "1 min 16 s left".into(),
            figures: figures(&second(2, 1, 726, Some(1_975.0))),
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
