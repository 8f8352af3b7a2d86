//! The shapes of a chart, by what they mean. Pages, SVG and PNG files are made of the same ones.

use crate::chart::look::{self, Look};

/// A drawing of shapes, from its upper left corner.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Drawing {
    /// The width.
    pub(crate) width: f64,
    /// The height.
    pub(crate) height: f64,
    /// The shapes, later ones above earlier ones.
    pub(crate) shapes: Vec<Shape>,
}

/// A shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Stretches of a line, each through its points.
    Line { stretches: Vec<Vec<(f64, f64)>>, look: &'static Look },
    /// An area between corners.
    Area { corners: Vec<(f64, f64)>, look: &'static Look },
    /// A rectangle: left, top, width and height, and the radius of its corners.
    Rectangle { place: [f64; 4], round: f64, look: &'static Look },
    /// A circle.
    Circle { middle: (f64, f64), radius: f64, look: &'static Look },
    /// Words whose start, middle or end lies at `at`, each part with its look.
    Words { at: (f64, f64), anchor: Anchor, parts: Vec<(String, &'static Look)> },
    /// A value that a reader of a page points at: its words, and its mark where it has one.
    Value { at: (f64, f64), words: String, mark: Option<Box<Shape>> },
    /// What belongs to a drive, and is painted in its colour.
    Group { drive: usize, slot: usize, is_within: bool, shapes: Vec<Shape> },
}

/// Which end of words a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Returns a line.
pub(crate) fn line(points: &[(f64, f64)], look: &'static Look) -> Shape {
    Shape::Line { stretches: vec![points.to_vec()], look }
}

/// Returns words.
pub(crate) fn words(at: (f64, f64), words: &str, look: &'static Look, anchor: Anchor) -> Shape {
    Shape::Words { at, anchor, parts: vec![(words.to_owned(), look)] }
}

impl Shape {
    /// Returns the same shape `x` further right and `y` further down.
    pub(crate) fn moved(self, (x, y): (f64, f64)) -> Shape {
        let moved = |at: (f64, f64)| (at.0 + x, at.1 + y);
        let all = |points: Vec<(f64, f64)>| points.into_iter().map(moved).collect();
        match self {
            Shape::Line { stretches, look } => {
                Shape::Line { stretches: stretches.into_iter().map(all).collect(), look }
            }
            Shape::Area { corners, look } => Shape::Area { corners: all(corners), look },
            Shape::Rectangle { place: [left, top, width, height], round, look } => {
                Shape::Rectangle { place: [left + x, top + y, width, height], round, look }
            }
            Shape::Circle { middle, radius, look } => {
                Shape::Circle { middle: moved(middle), radius, look }
            }
            Shape::Words { at, anchor, parts } => Shape::Words { at: moved(at), anchor, parts },
            Shape::Value { at, words, mark } => {
                let mark = mark.map(|mark| Box::new(mark.moved((x, y))));
                Shape::Value { at: moved(at), words, mark }
            }
            Shape::Group { drive, slot, is_within, shapes } => {
                let shapes = shapes.into_iter().map(|shape| shape.moved((x, y))).collect();
                Shape::Group { drive, slot, is_within, shapes }
            }
        }
    }
}

impl Drawing {
    /// Returns a drawing without shapes.
    pub(crate) fn new(width: f64, height: f64) -> Drawing {
        Drawing { width, height, shapes: Vec::new() }
    }

    /// Adds a rectangle with square corners.
    pub(crate) fn area(&mut self, place: [f64; 4], look: &'static Look) {
        self.rectangle(place, 0.0, look);
    }

    /// Adds a rectangle whose corners have this radius.
    pub(crate) fn rectangle(&mut self, place: [f64; 4], round: f64, look: &'static Look) {
        self.shapes.push(Shape::Rectangle { place, round, look });
        if *look == look::SPARE {
            let stretches = hatch(place).into_iter().map(Vec::from).collect();
            self.shapes.push(Shape::Line { stretches, look: &look::HATCH });
        }
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, points: &[(f64, f64)], look: &'static Look) {
        self.shapes.push(line(points, look));
    }

    /// Adds words that begin at `at`.
    pub(crate) fn words(&mut self, at: (f64, f64), words: &str, look: &'static Look) {
        self.words_at(at, words, look, Anchor::Start);
    }

    /// Adds words.
    pub(crate) fn words_at(
        &mut self,
        at: (f64, f64),
        text: &str,
        look: &'static Look,
        anchor: Anchor,
    ) {
        self.shapes.push(words(at, text, look, anchor));
    }

    /// Adds shapes in the colour of `slot`.
    pub(crate) fn painted(&mut self, slot: usize, shapes: Vec<Shape>) {
        self.shapes.push(Shape::Group { drive: slot, slot, is_within: false, shapes });
    }

    /// Adds another drawing with its corner at `corner`.
    pub(crate) fn put(&mut self, drawing: Drawing, corner: (f64, f64)) {
        self.shapes.extend(drawing.shapes.into_iter().map(|shape| shape.moved(corner)));
    }
}

/// Returns the strokes of a hatch over a rectangle.
fn hatch([x, y, width, height]: [f64; 4]) -> Vec<[(f64, f64); 2]> {
    const STEP: f64 = 5.0;
    let count = ((width + height) / STEP) as u32;
    let stroke = |number: u32| {
        let along = f64::from(number) * STEP;
        let begin = (along.min(width), (along - width).max(0.0));
        let end = ((along - height).max(0.0), along.min(height));
        [(x + begin.0, y + begin.1), (x + end.0, y + end.1)]
    };
    (1..=count).map(stroke).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hatch_stays_within_its_area() {
        for [one, two] in hatch([10.0, 20.0, 30.0, 12.0]) {
            for (x, y) in [one, two] {
                assert!((10.0..=40.0).contains(&x) && (20.0..=32.0).contains(&y), "{x} {y}");
            }
        }
    }
}
