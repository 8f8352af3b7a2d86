//! Bars from zero, each with its name above and its value at its end.

use super::{Ink, TEXT, WIDTH, cut, text, width_of};
use crate::figure::Bar;
use crate::number;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene, TextAnchor};

const LEFT: f64 = 16.0;
const ROW: f64 = 46.0;
const THICK: f64 = 18.0;

/// Returns the scene of `bars`; `top` and `foot` stay free.
pub(super) fn scene(unit: &str, bars: &[Bar], ink: Ink, top: f64, foot: f64) -> Scene {
    let height = top + ROW * bars.len().max(1) as f64 + foot;
    let mut scene = Scene::new(WIDTH, height);
    let end = |bar: &Bar| {
        let value = bar.value.as_ref().copied().unwrap_or(0.0);
        bar.interval.map_or(value, |(_, high)| high.max(value))
    };
    let most = bars.iter().map(end).fold(0.0, f64::max);
    let values = bars.iter().map(|bar| width_of(&words(bar, unit), TEXT)).fold(0.0, f64::max);
    let room = (WIDTH - 2.0 * LEFT - values - 16.0).max(200.0);
    let scale = if most > 0.0 { room / most } else { 0.0 };
    for (number, bar) in bars.iter().enumerate() {
        draw(&mut scene, bar, unit, ink, scale, top + ROW * number as f64);
    }
    // The line that all bars begin at: zero.
    scene.add(Primitive::Line {
        x1: LEFT,
        y1: top,
        x2: LEFT,
        y2: top + ROW * bars.len() as f64,
        stroke: Color::from(ink.axis()),
        stroke_width: 1.0,
        stroke_dasharray: None,
    });
    scene
}

fn draw(scene: &mut Scene, bar: &Bar, unit: &str, ink: Ink, scale: f64, y: f64) {
    let label = if bar.highlighted { format!("▸ {}", bar.label) } else { bar.label.clone() };
    let label = cut(&label, WIDTH - 2.0 * LEFT, TEXT);
    let label = text(LEFT + 6.0, y + 16.0, &label, TEXT, TextAnchor::Start, ink.text());
    scene.add(if bar.highlighted { label.bold() } else { label.plain() });
    let (above, middle) = (y + 22.0, y + 22.0 + THICK / 2.0);
    let Ok(value) = bar.value else {
        let reason =
            text(LEFT + 6.0, middle + 4.0, &words(bar, unit), TEXT, TextAnchor::Start, ink.muted());
        scene.add(reason.plain());
        return;
    };
    let colour = Color::from(ink.series(bar.colour));
    let length = (value * scale).max(1.0);
    scene.add(Primitive::Rect {
        x: LEFT,
        y: above,
        width: length,
        height: THICK,
        fill: colour,
        stroke: None,
        stroke_width: None,
        opacity: (!bar.highlighted).then_some(0.85),
    });
    let mut end = LEFT + length;
    if let Some((low, high)) = bar.interval {
        whiskers(scene, ink, (LEFT + low * scale, LEFT + high * scale), middle);
        end = end.max(LEFT + high * scale);
    }
    let words = words(bar, unit);
    let value = text(end + 8.0, middle + 4.5, &words, TEXT, TextAnchor::Start, ink.text());
    scene.add(value.bold());
}

fn whiskers(scene: &mut Scene, ink: Ink, (low, high): (f64, f64), y: f64) {
    let mut line = |x1: f64, y1: f64, x2: f64, y2: f64| {
        scene.add(Primitive::Line {
            x1,
            y1,
            x2,
            y2,
            stroke: Color::from(ink.text()),
            stroke_width: 1.2,
            stroke_dasharray: None,
        });
    };
    line(low, y, high, y);
    line(low, y - 4.0, low, y + 4.0);
    line(high, y - 4.0, high, y + 4.0);
}

fn words(bar: &Bar, unit: &str) -> String {
    match &bar.value {
        Ok(value) => format!("{} {unit}", number::text(*value)).trim_end().to_owned(),
        Err(reason) => format!("– ({reason})"),
    }
}
