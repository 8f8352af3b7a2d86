//! Bars from zero, each with its name above and its value at its end.

use super::dimensions::{Dimensions, TEXT};
use super::label::{cut, cut_names, text, width_of};
use super::theme;
use crate::figure::chart::Bar;
use crate::text::number;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene, TextAnchor};

const LEFT: f64 = 16.0;
const ROW: f64 = 46.0;
const THICK: f64 = 18.0;

/// The height of the name of a drive, and of the bars of its parts below it.
const NAME: f64 = 22.0;
const PART_ROW: f64 = 19.0;
const PART_THICK: f64 = 12.0;

/// Returns the scene of `bars`, at least `least` high; above and below them (`top`, `foot`) stays free.
pub(super) fn scene(
    unit: &str,
    bars: &[Bar],
    dimensions: &Dimensions,
    (top, foot): (f64, f64),
    least: f64,
) -> Scene {
    let rows: f64 = bars.iter().map(row).sum();
    let together = top + rows.max(ROW) + foot;
    let height = together.max(least);
    // Few bars stand further apart.
    let is_named = |bar: &&Bar| !bar.label.is_empty();
    let apart = (height - together) / bars.iter().filter(is_named).count().max(1) as f64;
    let mut scene = Scene::new(dimensions.width, height);
    let end = |bar: &Bar| {
        let value = bar.value.as_ref().copied().unwrap_or(0.0);
        bar.interval.map_or(value, |(_, high)| high.max(value))
    };
    let most = bars.iter().map(end).fold(0.0, f64::max);
    let measured = bars.iter().filter(|bar| bar.value.is_ok());
    let values = measured.map(|bar| width_of(&words(bar, unit), TEXT)).fold(0.0, f64::max);
    let room = (dimensions.width - 2.0 * LEFT - values - 16.0).max(90.0);
    let scale = if most > 0.0 { room / most } else { 0.0 };
    let has_highlight = bars.iter().any(|bar| bar.highlighted);
    let mut y = top - apart / 2.0;
    let names: Vec<String> = bars.iter().map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let names = cut_names(&names, dimensions.width - 2.0 * LEFT, TEXT);
    for (number, (bar, name)) in bars.iter().zip(&names).enumerate() {
        y += if bar.label.is_empty() { 0.0 } else { apart };
        let order = bars[..number].iter().rev().take_while(|other| !other.part.is_empty()).count();
        draw(
            &mut scene,
            (bar, name),
            &Place { unit, scale, y, order, width: dimensions.width, has_highlight },
        );
        y += row(bar);
    }
    // The line that all bars begin at: zero.
    scene.add(Primitive::Line {
        x1: LEFT,
        y1: top,
        x2: LEFT,
        y2: height - foot,
        stroke: Color::from(theme::AXIS.to_owned()),
        stroke_width: 1.0,
        stroke_dasharray: None,
    });
    scene
}

/// Returns the height that `bar` takes with its name.
fn row(bar: &Bar) -> f64 {
    match (bar.part, bar.label.as_str()) {
        ("", _) => ROW,
        (_, "") => PART_ROW,
        (_, _) => NAME + PART_ROW,
    }
}

/// The position and size of a bar.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    unit: &'a str,
    scale: f64,
    y: f64,
    /// Its place among the parts of its drive.
    order: usize,
    width: f64,
    /// Whether any bar of the picture is highlighted.
    has_highlight: bool,
}

/// Returns the name of a bar with the mark of a highlighted one.
fn name(bar: &Bar) -> String {
    if bar.highlighted { format!("▸ {}", bar.label) } else { bar.label.clone() }
}

fn draw(scene: &mut Scene, (bar, name): (&Bar, &str), place: &Place<'_>) {
    let Place { unit, scale, y, order, width, has_highlight } = *place;
    let above = if bar.label.is_empty() { y } else { y + NAME };
    if !bar.label.is_empty() {
        let name =
            text(LEFT + 6.0, y + 16.0, name, TEXT, TextAnchor::Start, theme::TEXT.to_owned());
        scene.add(if bar.highlighted { name.bold() } else { name.plain() });
    }
    let thick = if bar.part.is_empty() { THICK } else { PART_THICK };
    let middle = above + thick / 2.0;
    let words = words(bar, unit);
    let Ok(value) = bar.value else {
        let reason = cut(&words, width - 2.0 * LEFT, TEXT);
        let reason = text(
            LEFT + 6.0,
            middle + 4.0,
            &reason,
            TEXT,
            TextAnchor::Start,
            theme::MUTED.to_owned(),
        );
        scene.add(reason.plain());
        return;
    };
    let colour = Color::from(theme::series(bar.colour));
    let length = (value * scale).max(1.0);
    let faint = [0.9, 0.7, 0.5][order % 3];
    scene.add(Primitive::Rect {
        x: LEFT,
        y: above,
        width: length,
        height: thick,
        fill: colour,
        stroke: None,
        stroke_width: None,
        opacity: match (bar.part, bar.highlighted) {
            // The colour of a drive is that of the page, unless another bar is highlighted.
            ("", false) if has_highlight => Some(0.6),
            ("", _) => None,
            (_, _) => Some(faint),
        },
    });
    let mut end = LEFT + length;
    if let Some((low, high)) = bar.interval {
        whiskers(scene, (LEFT + low * scale, LEFT + high * scale), middle);
        end = end.max(LEFT + high * scale);
    }
    let value =
        text(end + 8.0, middle + 4.5, &words, TEXT, TextAnchor::Start, theme::TEXT.to_owned());
    scene.add(if bar.part.is_empty() { value.bold() } else { value.plain() });
}

fn whiskers(scene: &mut Scene, (low, high): (f64, f64), y: f64) {
    let mut line = |x1: f64, y1: f64, x2: f64, y2: f64| {
        scene.add(Primitive::Line {
            x1,
            y1,
            x2,
            y2,
            stroke: Color::from(theme::TEXT.to_owned()),
            stroke_width: 1.2,
            stroke_dasharray: None,
        });
    };
    line(low, y, high, y);
    line(low, y - 4.0, low, y + 4.0);
    line(high, y - 4.0, high, y + 4.0);
}

fn words(bar: &Bar, unit: &str) -> String {
    let value = match &bar.value {
        Ok(value) => format!("{} {unit}", number::text(*value)).trim_end().to_owned(),
        Err(reason) => format!("– ({reason})"),
    };
    format!("{} {value}", bar.part).trim_start().to_owned()
}
