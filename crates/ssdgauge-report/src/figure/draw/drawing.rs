//! Drawings of plain shapes as a scene of kuva, for picture files.

use super::label::text;
use super::theme;
use crate::analysis::drive_slots::OTHERS;
use crate::chart::xray::shape::{Anchor, Drawing, Font, Paint, Shape, Stroke, hatch};
use crate::text::sanitize;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene, TextAnchor, TextSpan};

/// Flash behind the fast cache.
const NATIVE: &str = "#e6e3dc";
/// Behind what differs.
const DIFFERENT: &str = "#fff6dc";
/// The slot whose colour the fast cache has.
const CACHE_SLOT: usize = 3;

/// Returns the scene of `drawing`.
pub(crate) fn scene(drawing: &Drawing) -> Scene {
    let mut scene = Scene::new(drawing.width, drawing.height);
    scene.background_color = Some(theme::GROUND.to_owned());
    scene.text_color = Some(theme::TEXT.to_owned());
    for shape in &drawing.shapes {
        match shape {
            Shape::Area { place, paint } => area(&mut scene, *place, *paint),
            Shape::Line { points, stroke } => scene.add(line(points, *stroke)),
            Shape::Dot { at, slot } => scene.add(Primitive::Circle {
                cx: at.0,
                cy: at.1,
                r: 2.6,
                fill: Color::from(theme::series(*slot)),
                fill_opacity: None,
                stroke: None,
                stroke_width: None,
            }),
            Shape::Words { at, words, font, anchor } => {
                scene.add(label(*at, words, *font, *anchor))
            }
        }
    }
    scene
}

fn area(scene: &mut Scene, place: [f64; 4], paint: Paint) {
    let [x, y, width, height] = place;
    let mut add = |fill: &str, stroke: Option<&str>, opacity: Option<f64>| {
        scene.add(Primitive::Rect {
            x,
            y,
            width,
            height,
            fill: Color::from(fill.to_owned()),
            stroke: stroke.map(|stroke| Color::from(stroke.to_owned())),
            stroke_width: stroke.map(|_| 1.0),
            opacity,
        });
    };
    match paint {
        Paint::Part | Paint::Unit => add(theme::GROUND, Some(theme::AXIS), None),
        Paint::Unknown => {
            add(theme::GROUND, None, None);
            let corners =
                [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)];
            scene.add(line(&corners, Stroke::Unknown));
        }
        Paint::Cache => add(&theme::series(CACHE_SLOT), None, None),
        Paint::Native => add(NATIVE, None, None),
        Paint::Spare => {
            add(theme::GROUND, Some(theme::MUTED), None);
            for stroke in hatch(place) {
                scene.add(line(&stroke, Stroke::Leader));
            }
        }
        Paint::Interval => add(theme::MUTED, None, Some(0.18)),
        Paint::Back => add(&theme::series(OTHERS), None, None),
        Paint::Bar(slot) => add(&theme::series(slot), None, None),
        Paint::Flag => add(theme::TEXT, None, None),
        Paint::Different => add(DIFFERENT, None, None),
    }
}

fn line(points: &[(f64, f64)], stroke: Stroke) -> Primitive {
    let series;
    let (colour, stroke_width, dashes) = match stroke {
        Stroke::Lane => (theme::MUTED, 1.3, None),
        Stroke::Unknown => (theme::MUTED, 1.2, Some("2 4")),
        Stroke::Leader => (theme::AXIS, 0.9, None),
        Stroke::Axis => (theme::AXIS, 1.0, None),
        Stroke::Grid | Stroke::Rule => (theme::GRID, 1.0, None),
        Stroke::Mark => (theme::TEXT, 1.0, Some("4 3")),
        Stroke::Series(slot) => {
            series = theme::series(slot);
            (series.as_str(), 1.8, None)
        }
    };
    Primitive::PolyLine {
        points: points.to_vec(),
        stroke: Color::from(colour.to_owned()),
        stroke_width,
        stroke_dasharray: dashes.map(str::to_owned),
    }
}

fn label((x, y): (f64, f64), words: &str, font: Font, anchor: Anchor) -> Primitive {
    let anchor = match anchor {
        Anchor::Start => TextAnchor::Start,
        Anchor::Middle => TextAnchor::Middle,
        Anchor::End => TextAnchor::End,
    };
    let colour = match font {
        Font::Title | Font::Value | Font::Mark => theme::TEXT,
        Font::Flag => theme::GROUND,
        Font::Part | Font::Name | Font::Small | Font::Refusal => theme::MUTED,
    };
    let size = font.size().round() as u32;
    if !font.is_bold() {
        return text(x, y, words, size, anchor, colour.to_owned()).plain();
    }
    // The raster back end has a bold font for spans alone.
    let text = sanitize::prose(words);
    let span =
        TextSpan { text, bold: true, italic: false, underline: false, code: false, math: false };
    let color = Some(Color::from(colour.to_owned()));
    Primitive::RichText { x, y, spans: vec![span], size, anchor, color }
}
