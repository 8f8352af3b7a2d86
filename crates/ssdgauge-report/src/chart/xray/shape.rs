//! The shapes of a drawing, by what they mean. Where they are drawn decides how they look.

/// About how wide a letter is as a share of its size, on the wide side.
const LETTER: f64 = 0.56;

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
    /// A rectangle: left, top, width and height.
    Area { place: [f64; 4], paint: Paint },
    /// A line through points.
    Line { points: Vec<(f64, f64)>, stroke: Stroke },
    /// A mark at a point, in the colour of a slot.
    Dot { at: (f64, f64), slot: usize },
    /// Words at the end of which `at` lies, or that begin or stand there.
    Words { at: (f64, f64), words: String, font: Font, anchor: Anchor },
}

/// What an area is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// A part of the drive.
    Part,
    /// A part that is not identified.
    Unknown,
    /// A unit of flash.
    Unit,
    /// Flash of the fast cache.
    Cache,
    /// Flash behind it.
    Native,
    /// Flash beyond the capacity.
    Spare,
    /// An interval.
    Interval,
    /// A bar of a chart that stands back.
    Back,
    /// A bar in the colour of a slot.
    Bar(usize),
    /// Behind a mark such as MODEL.
    Flag,
    /// Behind a structure that differs from that of another drive.
    Different,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// A connection.
    Lane,
    /// One that is not identified.
    Unknown,
    /// From words to what they name.
    Leader,
    /// The axis of a chart.
    Axis,
    /// A line of its grid.
    Grid,
    /// A value within a chart.
    Mark,
    /// A series in the colour of a slot.
    Series(usize),
    /// A thin line between sections.
    Rule,
}

/// The size and weight of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Font {
    /// The title of a picture.
    Title,
    /// The name of a part, in capitals.
    Part,
    /// The name of a structure.
    Name,
    /// A value.
    Value,
    /// An interval, a tick or a reason.
    Small,
    /// A value within a chart.
    Mark,
    /// The words instead of a value.
    Refusal,
    /// A mark such as MODEL.
    Flag,
}

/// Which end of words a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Font {
    /// Returns the size of its letters.
    pub(crate) fn size(self) -> f64 {
        match self {
            Font::Title => 24.0,
            Font::Value => 17.0,
            Font::Flag | Font::Name | Font::Refusal => 12.5,
            Font::Part | Font::Small | Font::Mark => 11.5,
        }
    }

    /// Returns whether its letters are bold.
    pub(crate) fn is_bold(self) -> bool {
        match self {
            Font::Title | Font::Value | Font::Part | Font::Refusal | Font::Flag | Font::Mark => {
                true
            }
            Font::Name | Font::Small => false,
        }
    }

    /// Returns about how wide `words` are.
    pub(crate) fn width_of(self, words: &str) -> f64 {
        let letters = words.chars().count() as f64;
        // Bold letters and capitals are wider.
        let wide = match (self == Font::Part || self == Font::Flag, self.is_bold()) {
            (true, _) => 1.3,
            (false, true) => 1.08,
            (false, false) => 1.0,
        };
        letters * self.size() * LETTER * wide
    }

    /// Returns `words` in at most `most` lines that are about `width` wide; the last one ends with dots where
    /// there is more.
    pub(crate) fn wrapped(self, words: &str, width: f64, most: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in words.split_whitespace() {
            match lines.last_mut() {
                Some(line) if self.width_of(line) + self.width_of(word) + 4.0 <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                Some(_) | None => lines.push(self.cut(word, width)),
            }
        }
        if lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                let room = width - self.width_of("…");
                *last = format!("{}…", self.cut(last, room).trim_end_matches('…'));
            }
        }
        lines
    }

    /// Returns `words`, cut to about `width`.
    pub(crate) fn cut(self, words: &str, width: f64) -> String {
        if self.width_of(words) <= width {
            return words.to_owned();
        }
        let each = self.width_of("n");
        let room = ((width / each) as usize).saturating_sub(1);
        words.chars().take(room).chain(['…']).collect()
    }
}

impl Drawing {
    /// Returns a drawing without shapes.
    pub(crate) fn new(width: f64, height: f64) -> Drawing {
        Drawing { width, height, shapes: Vec::new() }
    }

    /// Adds a rectangle.
    pub(crate) fn area(&mut self, place: [f64; 4], paint: Paint) {
        self.shapes.push(Shape::Area { place, paint });
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        self.shapes.push(Shape::Line { points: points.to_vec(), stroke });
    }

    /// Adds words that begin at `at`.
    pub(crate) fn words(&mut self, at: (f64, f64), words: &str, font: Font) {
        self.words_at(at, words, font, Anchor::Start);
    }

    /// Adds words.
    pub(crate) fn words_at(&mut self, at: (f64, f64), words: &str, font: Font, anchor: Anchor) {
        self.shapes.push(Shape::Words { at, words: words.to_owned(), font, anchor });
    }

    /// Adds another drawing with its corner at `corner`.
    pub(crate) fn put(&mut self, drawing: Drawing, corner: (f64, f64)) {
        let moved = |at: (f64, f64)| (at.0 + corner.0, at.1 + corner.1);
        self.shapes.extend(drawing.shapes.into_iter().map(|shape| match shape {
            Shape::Area { place: [x, y, width, height], paint } => {
                let (x, y) = moved((x, y));
                Shape::Area { place: [x, y, width, height], paint }
            }
            Shape::Line { points, stroke } => {
                Shape::Line { points: points.into_iter().map(moved).collect(), stroke }
            }
            Shape::Dot { at, slot } => Shape::Dot { at: moved(at), slot },
            Shape::Words { at, words, font, anchor } => {
                Shape::Words { at: moved(at), words, font, anchor }
            }
        }));
    }
}

/// Returns the strokes of a hatch over a rectangle.
pub(crate) fn hatch([x, y, width, height]: [f64; 4]) -> Vec<[(f64, f64); 2]> {
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
    fn words_are_wrapped_and_what_is_left_out_shows_as_dots() {
        let words = "because reads of trimmed addresses are slower than before";
        let lines = Font::Small.wrapped(words, 140.0, 9);
        assert_eq!(lines.join(" "), words);
        assert!(lines.iter().all(|line| Font::Small.width_of(line) <= 140.0), "{lines:?}");
        let cut = Font::Small.wrapped(words, 140.0, 2);
        assert!(cut.len() == 2 && cut[1].ends_with('…'), "{cut:?}");
        let long = Font::Small.wrapped(&"x".repeat(90), 140.0, 3);
        assert!(Font::Small.width_of(&long[0]) <= 141.0, "{long:?}");
    }

    #[test]
    fn a_hatch_stays_within_its_area() {
        for [one, two] in hatch([10.0, 20.0, 30.0, 12.0]) {
            for (x, y) in [one, two] {
                assert!((10.0..=40.0).contains(&x) && (20.0..=32.0).contains(&y), "{x} {y}");
            }
        }
    }
}
