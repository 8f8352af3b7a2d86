//! Drawings of plain shapes in the page: what a shape is decides its class, and the style sheet its colours.

use crate::chart::coordinate::at;
use crate::chart::xray::shape::{Anchor, Drawing, Font, Paint, Shape, Stroke, hatch};
use maud::{Markup, html};
use std::fmt::Write;

/// The room for strokes at the edges.
const EDGE: f64 = 1.0;

/// Returns `drawing` with the classes `class`; `label` is its text for those who do not see it.
pub(super) fn svg(drawing: &Drawing, class: &str, label: &str) -> Markup {
    let view = format!(
        "{} {} {} {}",
        at(-EDGE),
        at(-EDGE),
        at(drawing.width + 2.0 * EDGE),
        at(drawing.height + 2.0 * EDGE)
    );
    html! {
        svg class=(class) viewBox=(view) role="img" aria-label=(label) {
            title { (label) }
            @for shape in &drawing.shapes { (of_shape(shape)) }
        }
    }
}

fn of_shape(shape: &Shape) -> Markup {
    match shape {
        Shape::Area { place, paint } => area(*place, *paint),
        Shape::Line { points, stroke } => {
            html! { path class=(line_class(*stroke)) d=(path(points)) {} }
        }
        Shape::Dot { at: place, slot } => html! {
            circle class=(format!("mk x{slot}")) cx=(at(place.0)) cy=(at(place.1)) r="2.8" {}
        },
        Shape::Words { at: place, words, font, anchor } => {
            let anchor = match anchor {
                Anchor::Start => None,
                Anchor::Middle => Some("middle"),
                Anchor::End => Some("end"),
            };
            html! {
                text class=(font_class(*font)) x=(at(place.0)) y=(at(place.1)) text-anchor=[anchor] { (words) }
            }
        }
    }
}

fn area(place: [f64; 4], paint: Paint) -> Markup {
    let [x, y, width, height] = place.map(at);
    let (class, round) = match paint {
        Paint::Part => ("xpart".to_owned(), "8"),
        Paint::Unknown => ("xunk".to_owned(), "6"),
        Paint::Unit => ("xpart".to_owned(), "3"),
        Paint::Cache => ("xcache".to_owned(), "1"),
        Paint::Native => ("xnat".to_owned(), "1"),
        Paint::Spare => ("xspare".to_owned(), "1"),
        Paint::Interval => ("xint".to_owned(), "0"),
        Paint::Back => ("xback".to_owned(), "0"),
        Paint::Bar(slot) => (format!("br x{slot}"), "0"),
        Paint::Flag => ("xflag".to_owned(), "4"),
        Paint::Different => ("xdif".to_owned(), "4"),
    };
    let round = Some(round).filter(|round| *round != "0");
    html! {
        rect class=(class) x=(x) y=(y) width=(width) height=(height) rx=[round] {}
        @if paint == Paint::Spare {
            path.xhatch d=(hatch(place).iter().map(|stroke| path(stroke)).collect::<String>()) {}
        }
    }
}

fn line_class(stroke: Stroke) -> String {
    match stroke {
        Stroke::Lane => "xlane".into(),
        Stroke::Unknown => "xunk".into(),
        Stroke::Leader => "xlead".into(),
        Stroke::Axis => "ax".into(),
        Stroke::Grid => "gr".into(),
        Stroke::Mark => "xmark".into(),
        Stroke::Series(slot) => format!("ln x{slot}"),
        Stroke::Rule => "gr".into(),
    }
}

fn font_class(font: Font) -> &'static str {
    match font {
        Font::Title => "xt",
        Font::Part => "xk",
        Font::Name => "xn",
        Font::Value => "xv",
        Font::Small => "xs",
        Font::Mark => "xm",
        Font::Refusal => "xr",
        Font::Flag => "xf",
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for (number, (x, y)) in points.iter().enumerate() {
        let command = if number == 0 { 'M' } else { 'L' };
        write!(text, "{command}{} {}", at(*x), at(*y)).expect("a string takes every text");
    }
    text
}
