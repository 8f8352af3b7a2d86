//! The results of a load at several fill levels, and with over-provisioning: one figure for each load.

use crate::chart::axis::{Across, Up};
use crate::chart::plot::{Plot, Series};
use crate::page::kit::mark::marks;
use crate::page::kit::plot;
use maud::{Markup, html};
use ssdgauge_analysis::drives::fill_states::{DriveStates, FillStates};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::text::number;
use ssdgauge_statistics::difference::{NOISE, are_apart};

/// The anchor of the section.
pub(super) const ANCHOR: &str = "fill-levels";

/// Returns the section; nothing where no drive went through a load at two levels.
pub(super) fn section(all: &[FillStates], drives: &ReportDrives) -> Markup {
    let (changing, level): (Vec<&FillStates>, Vec<&FillStates>) =
        all.iter().partition(|states| changes(states));
    html! {
        @if !all.is_empty() {
            section.use id=(ANCHOR) aria-labelledby="fill-levels-title" {
                h2 #fill-levels-title { "Fill level and over-provisioning" }
                p {
                    "The same load on a drive of which more or less holds data. What holds none is spare \
                     area: a drive filled to 75\u{a0}% has 25\u{a0}% of over-provisioning."
                }
                @for (number, states) in changing.iter().enumerate() {
                    figure id={ (ANCHOR) "/" (number + 1) } {
                        figcaption {
                            h3 { (statement(states, drives)) }
                            p.cond { (marks(drives.common_marks())) (states.title) }
                        }
                        p.cap { (caption(states)) }
                        (plot::wide(&lines(states, drives), drives))
                    }
                }
                @if !level.is_empty() {
                    h3 { "No difference beyond 3\u{a0}%" }
                    ul.flat { @for states in level { li { (unchanged(states)) } } }
                }
            }
        }
    }
}

fn caption(states: &FillStates) -> String {
    let unit =
        if states.metric.unit().is_empty() { states.metric.title() } else { states.metric.unit() };
    let less = if states.metric.more_is_better() { "" } else { "; lower is better" };
    format!("{unit}, the headline of each test{less}")
}

/// Returns what a higher level costs: of one drive, or of the minimum and the maximum affected one.
fn statement(states: &FillStates, drives: &ReportDrives) -> String {
    let words = |one: &DriveStates, kept: f64| {
        let (Some(first), Some(last)) = (one.results.first(), one.results.last()) else {
            return String::new();
        };
        let change = match kept {
            kept if !are_apart(kept, 1.0, NOISE) => "stays within 3\u{a0}%".to_owned(),
            kept if kept > 10.0 => format!("rises {}-fold", number::text(kept)),
            kept if kept > 1.0 => format!("rises to {:.0}\u{a0}%", 100.0 * kept),
            kept if kept < 0.1 => format!("falls to {:.1}\u{a0}%", 100.0 * kept),
            kept => format!("falls to {:.0}\u{a0}%", 100.0 * kept),
        };
        format!("{} {change} from {} to {}\u{a0}% full", drives.short(one.drive), first.0, last.0)
    };
    let mut kept: Vec<(f64, &DriveStates)> =
        states.drives.iter().filter_map(|one| Some((one.kept()?, one))).collect();
    kept.sort_by(|a, b| a.0.total_cmp(&b.0));
    match kept.as_slice() {
        [] => states.title.clone(),
        [(one, drive)] => words(drive, *one),
        [(least, first), .., (most, last)] => {
            format!("{}; {}", words(first, *least), words(last, *most))
        }
    }
}

/// Returns whether a drive differs between two of its levels.
fn changes(states: &FillStates) -> bool {
    states.drives.iter().any(|one| {
        let values = || one.results.iter().map(|(_, value)| *value);
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        are_apart(most, least, NOISE)
    })
}

/// Returns a load that changes no drive, with its levels.
fn unchanged(states: &FillStates) -> String {
    let levels: Vec<String> = states.levels.iter().map(u32::to_string).collect();
    format!("{} ({}\u{a0}% full)", states.title, levels.join(", "))
}

fn lines(states: &FillStates, drives: &ReportDrives) -> Plot {
    let line = |one: &DriveStates| {
        let value = |(level, value): &(u32, f64)| {
            let place = states.levels.iter().position(|known| known == level)? as f64;
            let words = number::measured(*value, states.metric);
            Some((
                place,
                *value,
                format!("{}: {level}\u{a0}% full, {words}", drives.short(one.drive)),
            ))
        };
        let values: Vec<(f64, f64, String)> = one.results.iter().filter_map(value).collect();
        let points = values.iter().map(|(x, y, _)| (*x, *y)).collect();
        Series { drive: one.drive, points, values, marked: true, ..Series::default() }
    };
    let lines: Vec<Series> = states.drives.iter().map(line).collect();
    let all = lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let is_latency = states.metric.is_latency();
    let ticks = if is_latency { number::latency_tick } else { number::short };
    let unit = if is_latency { "" } else { states.metric.unit() };
    let labels = states.levels.iter().map(|level| format!("{level}\u{a0}%")).collect();
    Plot {
        kind: "fill-levels",
        caption: String::new(),
        label: format!("{}: {} by fill level", states.title, states.metric.title()),
        across: Across::places(labels, "% of the capacity holds data"),
        up: Up::new(all, unit, is_latency, ticks),
        lines,
        scored: None,
        rays: Vec::new(),
        events: Vec::new(),
        published: Vec::new(),
        background: Vec::new(),
    }
}
