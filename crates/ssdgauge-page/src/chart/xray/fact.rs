//! A structure in a drawing: its name, and below it the value with its interval, or why there is none.

use super::words;
use crate::chart::look;
use crate::chart::shape::Drawing;
use ssdgauge_xray::{CheckedCard, Structure};

/// Lines of a reason at most: more than any reason of this program has.
const REASON_LINES: usize = 12;
/// The distance between lines of a reason.
const LINE: f64 = 14.0;

/// A card as a drawing shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    /// The card.
    pub(crate) card: &'a CheckedCard,
    /// The structures in which it differs from another card.
    pub(crate) different: &'a [Structure],
}

/// What is at one place of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// A structure of the card.
    Of(Structure),
    /// The channels, which no experiment examines.
    Channels,
}

impl Fact {
    /// Returns its drawing, about `width` wide.
    pub(crate) fn drawing(self, view: View<'_>, width: f64) -> Drawing {
        let mut drawing = Drawing::new(width, 0.0);
        match self {
            Fact::Of(structure) => of_structure(&mut drawing, view, structure),
            Fact::Channels => refusal(
                &mut drawing,
                "Channels",
                "not examined,",
                "because two reads show one unit, and not which units share a channel",
            ),
        }
        drawing
    }
}

fn of_structure(drawing: &mut Drawing, View { card, different }: View<'_>, structure: Structure) {
    let name = words::title(structure);
    match words::outcome(card, structure) {
        Some(Ok(value)) => {
            let name = match different.contains(&structure) {
                true => {
                    let place = [-6.0, -4.0, drawing.width + 8.0, 58.0];
                    drawing.rectangle(place, 4.0, &look::DIFFERENT);
                    format!("{name}, differs")
                }
                false => name,
            };
            drawing.words((0.0, 11.0), &name, &look::NAME);
            drawing.words((0.0, 31.0), &words::value(structure, value), &look::VALUE);
            drawing.words((0.0, 47.0), &words::interval(structure, value), &look::SMALL);
            drawing.height = 52.0;
        }
        Some(Err(reason)) => {
            refusal(drawing, &name, "not identifiable,", &words::because_in_short(reason));
        }
        None => refusal(drawing, &name, "not examined", ""),
    }
}

fn refusal(drawing: &mut Drawing, name: &str, what: &str, reason: &str) {
    drawing.words((0.0, 11.0), name, &look::NAME);
    drawing.words((0.0, 28.0), what, &look::REFUSAL);
    let mut bottom = 28.0;
    for line in look::SMALL.wrapped(reason, drawing.width, REASON_LINES) {
        bottom += LINE;
        drawing.words((0.0, bottom), &line, &look::SMALL);
    }
    drawing.height = bottom + 5.0;
}
