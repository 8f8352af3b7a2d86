//! Shapes as SVG: with classes for pages, whose style sheet has the colours of both themes, and with the
//! colours of one of them for files.

use crate::chart::coordinate::at;
use crate::chart::look::{LINE, Look, Paint};
use crate::chart::palette::Ground;
use crate::chart::shape::{Anchor, Drawing, Shape};
use maud::{Escaper, PreEscaped};
use ssdgauge_analysis::drives::drive_slots::dashes;
use std::fmt::Write;

/// The fonts of pages, of which a file names the first that its reader has.
const FONTS: &str = "Inter, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif";

/// Where shapes are written to.
#[derive(Clone, Copy, Debug)]
enum Target {
    Page,
    /// A file on this ground, for a drive of this slot.
    File(Ground, usize),
}

/// Returns `shapes` for a page.
pub(crate) fn markup(shapes: &[Shape]) -> PreEscaped<String> {
    let mut text = String::new();
    write_all(&mut text, shapes, Target::Page);
    PreEscaped(text)
}

/// Returns `drawing` as a whole file that says `title` and `description` of itself; `mark` is what
/// the program recognises it by.
pub(crate) fn file(
    drawing: &Drawing,
    ground: Ground,
    mark: &str,
    (title, description): (&str, &str),
) -> String {
    let size = [drawing.width.ceil(), drawing.height.ceil()].map(at);
    let [width, height] = &size;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"{FONTS}\">{mark}<title>"
    );
    escape(&mut text, title);
    text.push_str("</title><desc>");
    escape(&mut text, description);
    text.push_str("</desc>");
    write_all(&mut text, &drawing.shapes, Target::File(ground, 0));
    text.push_str("</svg>");
    text
}

fn write_all(text: &mut String, shapes: &[Shape], target: Target) {
    shapes.iter().for_each(|shape| write_shape(text, shape, target));
}

fn write_shape(text: &mut String, shape: &Shape, target: Target) {
    match shape {
        Shape::Line { stretches, look } => {
            let path: String = stretches.iter().map(|points| path(points, "")).collect();
            element(text, "path", look, target, &[("d", path)]);
        }
        Shape::Area { corners, look } => {
            element(text, "path", look, target, &[("d", path(corners, "z"))]);
        }
        Shape::Rectangle { place, round, look } => {
            let [x, y, width, height] = place.map(at);
            let mut places = vec![("x", x), ("y", y), ("width", width), ("height", height)];
            places.extend((*round > 0.0).then(|| ("rx", at(*round))));
            element(text, "rect", look, target, &places);
        }
        Shape::Circle { middle, radius, look } => {
            let places = [("cx", at(middle.0)), ("cy", at(middle.1)), ("r", at(*radius))];
            element(text, "circle", look, target, &places);
        }
        Shape::Words { at, anchor, parts } => write_words(text, *at, *anchor, parts, target),
        Shape::Value { at: (x, y), words, mark } => match target {
            Target::Page => {
                text.push_str("<g class=\"pt\"><title>");
                escape(text, words);
                text.push_str("</title>");
                mark.iter().for_each(|mark| write_shape(text, mark, target));
                let (x, y) = (at(*x), at(*y));
                push(
                    text,
                    format_args!("<circle class=\"hit\" cx=\"{x}\" cy=\"{y}\" r=\"9\"/></g>"),
                );
            }
            Target::File(..) => mark.iter().for_each(|mark| write_shape(text, mark, target)),
        },
        Shape::Group { drive, slot, is_within, shapes } => {
            let target = match target {
                Target::Page => {
                    let within = if *is_within { " within" } else { "" };
                    push(text, format_args!("<g class=\"d d-{drive}{within}\">"));
                    target
                }
                Target::File(ground, _) => {
                    text.push_str("<g>");
                    Target::File(ground, *slot)
                }
            };
            write_all(text, shapes, target);
            text.push_str("</g>");
        }
    }
}

fn write_words(
    text: &mut String,
    (x, y): (f64, f64),
    anchor: Anchor,
    parts: &[(String, &'static Look)],
    target: Target,
) {
    let [(first, look), rest @ ..] = parts else { return };
    let anchor = match anchor {
        Anchor::Start => None,
        Anchor::Middle => Some("middle"),
        Anchor::End => Some("end"),
    };
    let mut places = vec![("x", at(x)), ("y", at(y))];
    places.extend(anchor.map(|anchor| ("text-anchor", anchor.to_owned())));
    open(text, "text", look, target, &places);
    text.push('>');
    escape(text, first);
    for (words, look) in rest {
        open(text, "tspan", look, target, &[]);
        text.push('>');
        escape(text, words);
        text.push_str("</tspan>");
    }
    text.push_str("</text>");
}

fn element(text: &mut String, name: &str, look: &Look, target: Target, places: &[(&str, String)]) {
    open(text, name, look, target, places);
    text.push_str("/>");
}

/// Writes the start of an element, without its closing bracket.
fn open(text: &mut String, name: &str, look: &Look, target: Target, places: &[(&str, String)]) {
    push(text, format_args!("<{name}"));
    match target {
        Target::Page => push(text, format_args!(" class=\"{}\"", look.class)),
        Target::File(ground, slot) => {
            let painted = |paint: Paint| paint.on(ground, slot).unwrap_or("none").to_owned();
            for (name, value) in look.properties(&painted) {
                push(text, format_args!(" {name}=\"{value}\""));
            }
            // A file has no filter, so the lines of grey drives differ by themselves.
            if let Some(dashes) = dashes(slot).filter(|_| *look == LINE) {
                push(text, format_args!(" stroke-dasharray=\"{}\"", joined(dashes)));
            }
        }
    }
    for (name, value) in places {
        push(text, format_args!(" {name}=\"{value}\""));
    }
}

fn joined(dashes: &[f64]) -> String {
    dashes.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
}

fn push(text: &mut String, words: std::fmt::Arguments<'_>) {
    text.write_fmt(words).expect("a string takes every text");
}

fn escape(text: &mut String, words: &str) {
    Escaper::new(text).write_str(words).expect("a string takes every text");
}

/// Returns the commands of a path through `points` and then `end`, each in as few letters as its direction allows.
pub(crate) fn path(points: &[(f64, f64)], end: &str) -> String {
    let mut text = String::new();
    let mut before: Option<(String, String)> = None;
    for (x, y) in points.iter().map(|(x, y)| (at(*x), at(*y))) {
        match &before {
            None => push(&mut text, format_args!("M{x} {y}")),
            Some((left, _)) if *left == x => push(&mut text, format_args!("V{y}")),
            Some((_, top)) if *top == y => push(&mut text, format_args!("H{x}")),
            Some(_) => push(&mut text, format_args!("L{x} {y}")),
        }
        before = Some((x, y));
    }
    text + end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::look::{AXIS, MARK};
    use crate::chart::shape::{line, words};

    #[test]
    fn a_page_has_classes_and_a_file_has_colours() {
        let axis = line(&[(0.0, 5.0), (10.0, 5.0), (10.0, 9.0), (12.25, 7.0)], &AXIS);
        let d = "d=\"M0 5H10V9L12.2 7\"";
        assert_eq!(markup(std::slice::from_ref(&axis)).0, format!("<path class=\"ax\" {d}/>"));
        let mark = Shape::Circle { middle: (1.0, 2.0), radius: 3.0, look: &MARK };
        let value = Shape::Value { at: (1.0, 2.0), words: "a < b".into(), mark: Some(mark.into()) };
        let group = Shape::Group { drive: 7, slot: 1, is_within: true, shapes: vec![value] };
        let page = markup(std::slice::from_ref(&group)).0;
        assert!(page.starts_with("<g class=\"d d-7 within\"><g class=\"pt\"><title>a &lt; b</"));
        let drawing = Drawing { width: 20.0, height: 9.5, shapes: vec![axis, group] };
        let file = file(&drawing, Ground::Light, "<!-- x -->", ("a & b", "c"));
        assert!(
            file.contains("viewBox=\"0 0 20 10\"") && file.contains("<title>a &amp; b</title>")
        );
        assert!(file.contains("fill=\"#c4441c\"") && file.contains(d), "{file}");
        assert!(!file.contains("class=") && !file.contains("a &lt; b"), "{file}");
    }

    #[test]
    fn a_gap_begins_a_new_stretch_and_words_are_escaped() {
        let stretches = vec![vec![(0.0, 1.0)], vec![(2.0, 3.0), (4.0, 5.0)]];
        let line = Shape::Line { stretches, look: &AXIS };
        assert_eq!(markup(&[line]).0, "<path class=\"ax\" d=\"M0 1M2 3L4 5\"/>");
        let shape = words((1.0, 2.0), "<b>", &AXIS, Anchor::End);
        let expected = "<text class=\"ax\" x=\"1\" y=\"2\" text-anchor=\"end\">&lt;b&gt;</text>";
        assert_eq!(markup(&[shape]).0, expected);
    }
}
