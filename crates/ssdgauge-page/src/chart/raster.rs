//! Shapes as pixels.

use crate::chart::letters::Fonts;
use crate::chart::look::{LINE, Look};
use crate::chart::palette::{Ground, Ink};
use crate::chart::png;
use crate::chart::shape::{Anchor, Drawing, Shape};
use ssdgauge_analysis::drives::drive_slots::dashes;
use zeno::{Cap, Command, Fill, Join, Mask, PathBuilder, Placement, Stroke, Style, Vector};

/// Returns `drawing` as a PNG file with this many pixels for each unit; `mark` and `description` are texts in it.
pub(crate) fn png(
    drawing: &Drawing,
    (ground, density): (Ground, f64),
    mark: &[u8],
    description: &str,
) -> Vec<u8> {
    let pixels = |units: f64| (units.ceil() * density) as usize;
    let (width, height) = (pixels(drawing.width), pixels(drawing.height));
    let colour = channels(Ink::Ground.on(ground));
    let mut image = Image {
        width,
        height,
        density,
        ground,
        pixels: colour.repeat(width * height),
        fonts: Fonts::new(),
    };
    image.draw_all(&drawing.shapes, 0);
    png::file(width as u32, &image.pixels, mark, description)
}

/// An image, with three bytes for each pixel.
struct Image {
    width: usize,
    height: usize,
    density: f64,
    ground: Ground,
    pixels: Vec<u8>,
    fonts: Fonts<'static>,
}

impl Image {
    fn draw_all(&mut self, shapes: &[Shape], slot: usize) {
        shapes.iter().for_each(|shape| self.draw(shape, slot));
    }

    fn draw(&mut self, shape: &Shape, slot: usize) {
        match shape {
            Shape::Line { stretches, look } => {
                let path: Vec<Command> = stretches.iter().flat_map(|one| self.path(one)).collect();
                self.paint(&path, look, slot);
            }
            Shape::Area { corners, look } => {
                let mut path = self.path(corners);
                path.push(Command::Close);
                self.paint(&path, look, slot);
            }
            Shape::Rectangle { place: [x, y, width, height], round, look } => {
                let mut path = Vec::new();
                let (from, [width, height]) =
                    (self.at(*x, *y), [width, height].map(|n| self.scaled(*n)));
                match *round > 0.0 && width > 0.0 && height > 0.0 {
                    true => {
                        let round = self.scaled(*round).min(width / 2.0).min(height / 2.0);
                        path.add_round_rect(from, width, height, round, round);
                    }
                    false => {
                        path.add_rect(from, width, height);
                    }
                }
                self.paint(&path, look, slot);
            }
            Shape::Circle { middle, radius, look } => {
                let mut path = Vec::new();
                path.add_circle(self.at(middle.0, middle.1), self.scaled(*radius));
                self.paint(&path, look, slot);
            }
            Shape::Words { at, anchor, parts } => self.write(*at, *anchor, parts, slot),
            Shape::Value { mark, .. } => mark.iter().for_each(|mark| self.draw(mark, slot)),
            Shape::Group { slot, shapes, .. } => self.draw_all(shapes, *slot),
        }
    }

    fn scaled(&self, units: f64) -> f32 {
        (units * self.density) as f32
    }

    fn at(&self, x: f64, y: f64) -> Vector {
        Vector::new(self.scaled(x), self.scaled(y))
    }

    fn path(&self, points: &[(f64, f64)]) -> Vec<Command> {
        let command = |(number, (x, y)): (usize, &(f64, f64))| match number {
            0 => Command::MoveTo(self.at(*x, *y)),
            _ => Command::LineTo(self.at(*x, *y)),
        };
        points.iter().enumerate().map(command).collect()
    }

    fn write(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        parts: &[(String, &'static Look)],
        slot: usize,
    ) {
        let width =
            |(words, look): &(String, &Look)| self.fonts.width_of(words, look.size, look.is_bold());
        let whole: f64 = parts.iter().map(width).sum();
        let mut x = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - whole / 2.0,
            Anchor::End => x - whole,
        };
        for (words, look) in parts {
            let (at, size) = ((x * self.density, y * self.density), look.size * self.density);
            let path = self.fonts.outline(words, at, size, look.is_bold());
            x += self.fonts.width_of(words, look.size, look.is_bold());
            self.paint(&path, look, slot);
        }
    }

    /// Paints the inside and the outline of `path`: of letters, the ground around them first.
    fn paint(&mut self, path: &[Command], look: &Look, slot: usize) {
        let inside =
            look.fill.on(self.ground, slot).map(|colour| (colour, Style::Fill(Fill::NonZero)));
        let own = dashes(slot).filter(|_| *look == LINE).unwrap_or(look.dashes);
        let dashes: Vec<f32> = own.iter().map(|length| self.scaled(*length)).collect();
        let mut stroke = Stroke::new(self.scaled(look.width));
        stroke.dash(&dashes, 0.0);
        if look.is_round {
            stroke.join(Join::Round).cap(Cap::Round);
        }
        let outline =
            look.stroke.on(self.ground, slot).map(|colour| (colour, Style::Stroke(stroke)));
        let is_of_letters = look.size > 0.0;
        let order = if is_of_letters { [outline, inside] } else { [inside, outline] };
        for (colour, style) in order.into_iter().flatten() {
            let (mask, place) = Mask::new(path).style(style).render();
            self.blend(&mask, &place, channels(colour), look.opacity);
        }
    }

    /// Lays `colour` over the pixels as far as `mask` covers them.
    fn blend(&mut self, mask: &[u8], place: &Placement, colour: [u8; 3], opacity: f64) {
        for (number, cover) in mask.iter().enumerate().filter(|(_, cover)| **cover > 0) {
            let across = place.left as i64 + (number % place.width as usize) as i64;
            let down = place.top as i64 + (number / place.width as usize) as i64;
            let (Ok(x), Ok(y)) = (usize::try_from(across), usize::try_from(down)) else { continue };
            if x >= self.width || y >= self.height {
                continue;
            }
            let share = opacity * f64::from(*cover) / 255.0;
            let pixel = &mut self.pixels[3 * (y * self.width + x)..][..3];
            for (below, above) in pixel.iter_mut().zip(colour) {
                let mixed = f64::from(*below) * (1.0 - share) + f64::from(above) * share;
                *below = mixed.round() as u8;
            }
        }
    }
}

/// Returns red, green and blue of a colour such as `#c4441c` or `#fff`.
fn channels(colour: &str) -> [u8; 3] {
    let digits: Vec<u8> =
        colour.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    match digits.as_slice() {
        [r, g, b] => [r, g, b].map(|digit| 17 * digit),
        [r, red, g, green, b, blue] => [16 * r + red, 16 * g + green, 16 * b + blue],
        [..] => [0; 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::look;
    use crate::chart::shape::words;

    /// Returns an image of 20 by 10 pixels of `shape`.
    fn drawn(shape: &Shape, slot: usize) -> Image {
        let (width, height) = (20, 10);
        let pixels = channels("#fff").repeat(width * height);
        let mut image = Image {
            width,
            height,
            density: 1.0,
            ground: Ground::Light,
            pixels,
            fonts: Fonts::new(),
        };
        image.draw(shape, slot);
        image
    }

    fn pixel(image: &Image, x: usize, y: usize) -> [u8; 3] {
        image.pixels[3 * (y * image.width + x)..][..3].try_into().expect("three bytes")
    }

    #[test]
    fn a_bar_covers_its_pixels_in_the_colour_of_its_drive_and_no_others() {
        let place = [2.0, 3.0, 10.0, 4.0];
        let bar = Shape::Rectangle { place, round: 0.0, look: &look::BAR };
        let image = drawn(&bar, 1);
        for (x, y, is_inside) in
            [(2, 3, true), (11, 6, true), (12, 6, false), (1, 3, false), (2, 7, false)]
        {
            let expected = if is_inside { channels("#c4441c") } else { [255; 3] };
            assert_eq!(pixel(&image, x, y), expected, "{x} {y}");
        }
        let half = Shape::Rectangle { place: [2.5, 3.0, 9.0, 4.0], round: 0.0, look: &look::BAR };
        let [red, ..] = pixel(&drawn(&half, 1), 2, 4);
        assert!((200..=250).contains(&red), "half of white and 196: {red}");
    }

    #[test]
    fn what_lies_beyond_the_edges_is_left_out() {
        let beyond = Shape::Circle { middle: (0.0, 0.0), radius: 30.0, look: &look::BAR };
        assert_eq!(pixel(&drawn(&beyond, 0), 19, 9), channels("#1a4ede"));
        let away = Shape::Circle { middle: (-50.0, 900.0), radius: 3.0, look: &look::BAR };
        assert!(drawn(&away, 0).pixels.iter().all(|channel| *channel == 255));
    }

    #[test]
    fn letters_have_ink_and_end_where_their_anchor_says() {
        let is_inked = |text: &str, anchor| {
            let image = drawn(&words((10.0, 9.0), text, &look::SMALL, anchor), 0);
            let inked = |from: usize, to: usize| {
                (from..to).any(|x| (0..10).any(|y| pixel(&image, x, y)[0] < 200))
            };
            (inked(0, 10), inked(10, 20))
        };
        assert_eq!(is_inked("a", Anchor::Start), (false, true));
        assert_eq!(is_inked("a", Anchor::End), (true, false));
        assert_eq!(is_inked("MM", Anchor::Middle), (true, true));
        assert_eq!(is_inked("漢", Anchor::Start), (false, true), "a frame for what the font lacks");
    }
}
