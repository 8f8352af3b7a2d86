//! The words next to an event: right of it, where few lines pass.

use crate::chart::look;
use crate::chart::plot::{Cut, Event, LETTER, Plot, TOP};
use crate::chart::shape::{Anchor, Shape, line, words};
use ssdgauge_analysis::drives::report_drives::ReportDrives;

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
pub(crate) fn drawn(plot: &Plot, cut: &Cut, drives: &ReportDrives) -> Vec<Shape> {
    let mut taken: Vec<Area> = Vec::new();
    let mut drawn = Vec::new();
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
        let mut arrow = vec![(x + 6.0, y - 4.0), (x + 26.0, y - 4.0)];
        // So far away, the line leads to the event.
        if (y - wanted).abs() > FAR {
            arrow.insert(0, (x, wanted));
        }
        let mut shapes = vec![line(&arrow, &look::ARROW)];
        shapes.extend(event.words.iter().take(lines).enumerate().map(|(number, text)| {
            let look = if number == 0 { &look::NOTE_TITLE } else { &look::NOTE };
            words((x + AWAY, y + LINE * number as f64), text, look, Anchor::Start)
        }));
        let slot = drives.slot(event.drive);
        drawn.push(Shape::Group { drive: event.drive, slot, is_within: false, shapes });
    }
    drawn
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
/// one where several have enough. A free place that is not far comes before a wider one that is.
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
        let space = space(plot, cut, area(x, y, width, lines), taken);
        let away = (y - wanted).abs();
        (away <= FAR && space > 0.0, space.min(CLEAR), -away)
    };
    let better = |a: &f64, b: &f64| {
        let (a, b) = (score(*a), score(*b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
    };
    places.max_by(better).unwrap_or(wanted)
}

/// Returns the distance from `area` to the nearest line or words next to it.
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
    use crate::chart::axis::{Across, Up};
    use crate::chart::plot::{Room, Series};
    use crate::chart::svg::markup;
    use ssdgauge_analysis::text::number;

    /// Returns how many lines of words an event has between two flat lines.
    fn words_between(low: f64, high: f64) -> usize {
        drawn_among([low, high, 0.0, 20.0, 80.0, 100.0], (low + high) / 2.0)
            .matches("<text")
            .count()
    }

    /// Returns the words of an event at the height `at`, among flat lines at `heights`.
    fn drawn_among<const N: usize>(heights: [f64; N], at: f64) -> String {
        let line = |(drive, y): (usize, f64)| Series {
            drive,
            points: vec![(0.0, y), (60.0, y)],
            ..Series::default()
        };
        let plot = Plot {
            kind: "",
            caption: String::new(),
            label: String::new(),
            across: Across::continuous(60.0, None, "seconds", number::tick),
            up: Up::new([0.0, 100.0].into_iter(), "MB/s", false, number::short),
            lines: heights.into_iter().enumerate().map(line).collect(),
            scored: None,
            rays: Vec::new(),
            events: vec![Event {
                drive: 0,
                at: (10.0, at),
                words: ["cache full", "4 GB at 500 MB/s", "then 100 MB/s"]
                    .map(str::to_owned)
                    .into(),
            }],
            published: Vec::new(),
            background: Vec::new(),
        };
        let cut = Cut { width: 780.0, height: 280.0, left: 50.0, right: 100.0, room: Room::Middle };
        markup(&drawn(&plot, &cut, &ReportDrives::new(&[], None))).0
    }

    /// Returns the base lines of the words in `drawn`.
    fn base_lines(drawn: &str) -> Vec<f64> {
        let of = |text: &str| text.split(" y=\"").nth(1)?.split('"').next()?.parse().ok();
        drawn.split("<text").skip(1).filter_map(of).collect()
    }

    #[test]
    fn an_event_keeps_its_words_in_a_narrow_gap_next_to_it_where_a_wide_one_is_far() {
        // Nothing has room from 17 to 61; a gap of 12 is wide enough for one line of words.
        let heights: [f64; 14] = std::array::from_fn(|n| match n {
            0 => 5.0,
            13 => 100.0,
            n => 13.0 + 4.0 * n as f64,
        });
        let first = base_lines(&drawn_among(heights, 11.0))[0];
        assert!(first > 180.0, "{first}");
    }

    #[test]
    fn words_without_room_next_to_their_event_are_joined_to_it_by_a_line() {
        let crowded: [f64; 20] =
            std::array::from_fn(|n| if n == 19 { 100.0 } else { n as f64 * 3.0 });
        let drawn = drawn_among(crowded, 11.0);
        assert!(base_lines(&drawn)[0] < 200.0, "{drawn}");
        assert!(drawn.contains('L'), "{drawn}");
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
