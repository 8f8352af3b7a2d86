//! The words beside an event: right of it, where the fewest lines pass.

use crate::page::kit::chart::{Cut, Event, LETTER, Plot, TOP};
use crate::page::kit::coordinate::at;
use crate::page::kit::mark::class;
use maud::{Markup, html};

/// The height of a line of words.
const LINE: f64 = 16.0;

/// The height of words above their base line.
const ASCENT: f64 = 12.0;

/// From the event to its words.
const AWAY: f64 = 31.0;

/// The space to a line from which words are well readable.
const CLEAR: f64 = 10.0;

/// The area of words: left, top, right, bottom.
type Area = (f64, f64, f64, f64);

/// Returns the words of all events that have room.
pub(super) fn drawn(plot: &Plot, cut: &Cut) -> Markup {
    let mut taken: Vec<Area> = Vec::new();
    let mut drawn: Vec<(&Event, f64, f64, usize)> = Vec::new();
    for event in &plot.events {
        let lines = if cut.is_narrow() { 1 } else { event.words.len() };
        let longest = event.words.iter().take(lines).map(|words| words.chars().count()).max();
        let width = longest.unwrap_or(0) as f64 * (LETTER - 0.6);
        let x = cut.x(plot.across.share(event.at.0));
        if x + AWAY + width > cut.width - cut.right {
            continue;
        }
        let wanted = cut.y(plot.up.share(event.at.1));
        let y = place(plot, cut, (x + AWAY, width, wanted), lines, &taken);
        taken.push(area(x + AWAY, y, width, lines));
        drawn.push((event, x, y, lines));
    }
    html! {
        @for (event, x, y, lines) in drawn {
            g class=(class(event.drive)) {
                path.arr d={ "M" (at(x + 6.0)) " " (at(y - 4.0)) "h20" } {}
                @for (number, words) in event.words.iter().take(lines).enumerate() {
                    text.an.anb[number == 0] x=(at(x + AWAY)) y=(at(y + LINE * number as f64)) {
                        (words)
                    }
                }
            }
        }
    }
}

fn area(x: f64, y: f64, width: f64, lines: usize) -> Area {
    (x, y - ASCENT, x + width, y + LINE * (lines.max(1) - 1) as f64 + 4.0)
}

/// Returns the base line of the first words: the place with the most space around it, near the wanted
/// one where several have enough.
fn place(
    plot: &Plot,
    cut: &Cut,
    (x, width, wanted): (f64, f64, f64),
    lines: usize,
    taken: &[Area],
) -> f64 {
    const STEP: f64 = 6.0;
    let last = cut.bottom() - 8.0 - LINE * (lines.max(1) - 1) as f64;
    let places = (0..80).map(|n| TOP + ASCENT + f64::from(n) * STEP).take_while(|y| *y <= last);
    let score = |y: f64| {
        let space = space(plot, cut, area(x, y, width, lines), taken).min(CLEAR);
        (space, -(y - wanted).abs())
    };
    let better = |a: &f64, b: &f64| {
        let (a, b) = (score(*a), score(*b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    };
    places.max_by(better).unwrap_or(wanted)
}

/// Returns the distance from `area` to the nearest line or words beside it.
fn space(plot: &Plot, cut: &Cut, area: Area, taken: &[Area]) -> f64 {
    let (left, top, right, bottom) = area;
    // A line that falls just before the first letter touches it.
    let left = left - AWAY / 4.0;
    let mut least = f64::INFINITY;
    for line in &plot.lines {
        let mut before: Option<f64> = None;
        for (x, y) in &line.points {
            let (x, y) = (cut.x(plot.across.share(*x)), cut.y(plot.up.share(*y)));
            // A line between two points passes at the heights of both.
            let ends = [before.filter(|_| x >= left), Some(y).filter(|_| x >= left && x <= right)];
            for y in ends.into_iter().flatten() {
                least = least.min((top - y).max(y - bottom).max(0.0));
            }
            before = Some(y);
            if x > right {
                break;
            }
        }
    }
    for other in taken {
        let aside = (other.0 - right).max(left - other.2);
        let above = (other.1 - bottom).max(top - other.3);
        least = least.min(aside.max(above).max(0.0));
    }
    least
}
