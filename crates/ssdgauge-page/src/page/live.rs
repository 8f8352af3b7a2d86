//! What the page of a run that goes on says of the current step. A program renews the page, and its script loads it again.

use crate::chart::axis::{Across, Up};
use crate::chart::plot::{Plot, Series};
use crate::page::kit;
use crate::page::script::Script;
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::inputs::options::Progress;
use ssdgauge_analysis::text::{number, sanitize};

/// Loads the page again, until it is paused.
pub(super) const SCRIPT: Script = Script {
    text: include_str!("live.js"),
    hash: "sha256-2saovuVjRxl9CVdS1fzhpcBFDsIHewklTJZcLvEYYTo=",
};

/// Returns the word in place of that for an unfinished run: a triangle that points on, and for one that is not followed
/// any longer two bars.
pub(super) fn word(progress: &Progress) -> Markup {
    let (shape, word) = match progress.lost {
        None => ("M4 2.5 11.5 7 4 11.5Z", "Running"),
        Some(_) => ("M4.5 3V11M9.5 3V11", "Lost"),
    };
    html! {
        span.oc.oc-unfinished {
            svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true" { path d=(shape) {} }
            (word)
        }
    }
}

/// Returns whether the page loads itself again.
pub(super) fn is_renewed(progress: Option<&Progress>) -> bool {
    progress.is_some_and(|progress| progress.lost.is_none())
}

/// Returns the current step with its last seconds.
pub(super) fn now(progress: &Progress, drives: &ReportDrives) -> Markup {
    let title = if progress.lost.is_some() { "Last seen" } else { "Now" };
    html! {
        section.todo aria-labelledby="now" {
            h2 #now { (title) }
            @if let Some(lost) = &progress.lost {
                p { (sanitize::prose(lost)) ". Nothing further is known of this run." }
            }
            p {
                (number::spaced(&progress.now.join(" · ")))
                @if progress.now.is_empty() { "No step has begun yet." }
            }
            @if let Some(plot) = plot(progress) { (kit::plot::low(&plot, drives)) }
            p.cond {
                "State of " (number::date(progress.unix_ms))
                @match progress.lost {
                    Some(_) => ". Finished steps are shown below.",
                    None => {
                        ", renewed every " (number::count(progress.every_s)) " s. Finished steps are shown below. "
                        button #pause type="button" data-every=(progress.every_s) hidden {}
                    }
                }
            }
        }
    }
}

/// Returns the speed of the last seconds; `None` before there are two.
fn plot(progress: &Progress) -> Option<Plot> {
    let points: Vec<(f64, f64)> =
        progress.speed.iter().map(|(second, speed)| (f64::from(*second) + 0.5, *speed)).collect();
    let [(first, _), .., (last, _)] = points[..] else { return None };
    let start = first - 0.5;
    let points: Vec<(f64, f64)> =
        points.into_iter().map(|(at, speed)| (at - start, speed)).collect();
    let (_, end) = *points.last()?;
    let label = match start > 0.0 {
        true => format!("seconds, from {} into the step", number::duration(start)),
        false => "seconds of the step".to_owned(),
    };
    let speeds: Vec<f64> = points.iter().map(|point| point.1).collect();
    Some(Plot {
        kind: "live",
        caption: String::new(),
        label: "throughput of the current step in its last seconds".to_owned(),
        across: Across::continuous(last + 0.5 - start, None, &label, number::tick),
        up: Up::new(speeds.into_iter(), "MB/s", false, number::short),
        lines: vec![Series {
            drive: 0,
            points,
            end: format!("{} MB/s", number::text(end)),
            ..Series::default()
        }],
        scored: None,
        rays: Vec::new(),
        events: Vec::new(),
        published: Vec::new(),
        background: Vec::new(),
    })
}
