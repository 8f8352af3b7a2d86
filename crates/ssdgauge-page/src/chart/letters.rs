//! The outlines of letters, from a subset of the font Roboto (Apache-2.0) that the program contains: Latin,
//! Greek and Cyrillic, regular and bold.

use ttf_parser::{Face, OutlineBuilder};
use zeno::{Command, Vector};

const REGULAR: &[u8] = include_bytes!("font/Roboto-Regular.ttf");
const BOLD: &[u8] = include_bytes!("font/Roboto-Bold.ttf");

/// The fonts of an image.
pub(crate) struct Fonts<'a> {
    regular: Face<'a>,
    bold: Face<'a>,
}

impl Fonts<'_> {
    pub(crate) fn new() -> Fonts<'static> {
        let face = |bytes| Face::parse(bytes, 0).expect("the font of the program is valid");
        Fonts { regular: face(REGULAR), bold: face(BOLD) }
    }

    fn face(&self, is_bold: bool) -> &Face<'_> {
        if is_bold { &self.bold } else { &self.regular }
    }

    /// Returns how wide `words` are in letters of this size.
    pub(crate) fn width_of(&self, words: &str, size: f64, is_bold: bool) -> f64 {
        let face = self.face(is_bold);
        let advance = |letter| {
            let glyph = face.glyph_index(letter).unwrap_or_default();
            f64::from(face.glyph_hor_advance(glyph).unwrap_or(0))
        };
        words.chars().map(advance).sum::<f64>() * size / f64::from(face.units_per_em())
    }

    /// Returns the outline of `words` that begin at `at`; a letter that the font lacks is a frame.
    pub(crate) fn outline(
        &self,
        words: &str,
        (x, y): (f64, f64),
        size: f64,
        is_bold: bool,
    ) -> Vec<Command> {
        let face = self.face(is_bold);
        let scale = size as f32 / f32::from(face.units_per_em());
        let mut pen = Pen { x: x as f32, y: y as f32, scale, commands: Vec::new() };
        for letter in words.chars() {
            let glyph = face.glyph_index(letter).unwrap_or_default();
            face.outline_glyph(glyph, &mut pen);
            pen.x += scale * f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
        }
        pen.commands
    }
}

/// Collects the outlines of letters at the place of the next one.
struct Pen {
    x: f32,
    y: f32,
    scale: f32,
    commands: Vec<Command>,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> Vector {
        Vector::new(self.x + self.scale * x, self.y - self.scale * y)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.commands.push(Command::MoveTo(self.at(x, y)));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.commands.push(Command::LineTo(self.at(x, y)));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.commands.push(Command::QuadTo(self.at(x1, y1), self.at(x, y)));
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.commands.push(Command::CurveTo(self.at(x1, y1), self.at(x2, y2), self.at(x, y)));
    }

    fn close(&mut self) {
        self.commands.push(Command::Close);
    }
}
