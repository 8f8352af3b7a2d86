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

/// Words further above or below their event seem to belong to another line. Chosen.
const FAR: f64 = 70.0;

/// The area of words: left, top, right, bottom.
type Area = (f64, f64, f64, f64);

/// Returns the words of all events that have room.
pub(super) fn drawn(plot: &Plot, cut: &Cut) -> Markup {
    let mut taken: Vec<Area> = Vec::new();
    let mut drawn: Vec<(&Event, f64, f64, usize)> = Vec::new();
    for event in &plot.events {
        let most = if cut.is_narrow() { 1 } else { event.words.len() };
        let lines = lines_with_room(plot, cut, event, most, &taken);
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

/// Returns how many lines of the words of `event` have a place near it that touches no line of the plot
/// and no other words: `most`, or fewer; one in any case.
fn lines_with_room(plot: &Plot, cut: &Cut, event: &Event, most: usize, taken: &[Area]) -> usize {
    let x = cut.x(plot.across.share(event.at.0)) + AWAY;
    let wanted = cut.y(plot.up.share(event.at.1));
    let fits = |lines: &usize| {
        let longest = event.words.iter().take(*lines).map(|words| words.chars().count()).max();
        let width = longest.unwrap_or(0) as f64 * (LETTER - 0.6);
        let y = place(plot, cut, (x, width, wanted), *lines, taken);
        let is_near = (y - wanted).abs() <= FAR;
        is_near && space(plot, cut, area(x, y, width, *lines), taken) > 0.0
    };
    (2..=most).rev().find(fits).unwrap_or(most.min(1))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::kit::axis::{Across, Up};
    use crate::page::kit::chart::{Room, Series};
    use crate::text::number;

    /// Returns how many lines of words an event has between two flat lines.
    fn words_between(low: f64, high: f64) -> usize {
        let line = |(drive, y): (usize, f64)| Series {
            drive,
            points: vec![(0.0, y), (60.0, y)],
            ..Series::default()
        };
        let plot = Plot {
            label: String::new(),
            across: Across::continuous(60.0, None, "seconds", number::tick),
            up: Up::new([0.0, 100.0].into_iter(), "MB/s", false, number::short),
            lines: [low, high, 0.0, 20.0, 80.0, 100.0].into_iter().enumerate().map(line).collect(),
            scored: None,
            rays: Vec::new(),
            events: vec![Event {
                drive: 0,
                at: (10.0, (low + high) / 2.0),
                words: ["cache full", "4 GB at 500 MB/s", "then 100 MB/s"]
                    .map(str::to_owned)
                    .into(),
            }],
        };
        let cut = Cut { width: 780.0, height: 280.0, left: 50.0, right: 100.0, room: Room::Middle };
        drawn(&plot, &cut).0.matches("<text").count()
    }

    #[test]
    fn an_event_has_fewer_lines_of_words_where_lines_of_the_plot_are_near() {
        assert_eq!(words_between(20.0, 90.0), 3);
        assert!((1..3).contains(&words_between(40.0, 62.0)));
        assert!(
            (0..10).all(|n| words_between(f64::from(n) * 10.0, f64::from(n) * 10.0 + 1.0) >= 1)
        );
    }
}
