//! Figures drawn by kuva: axes, lines and bars as SVG.
//!
//! A picture for a file carries its colours; the page draws its own charts.

mod bars;
pub(crate) mod card;
mod dimensions;
pub(crate) mod drawing;
mod label;
mod lines;
mod marks;
mod path;
mod plot;
mod scales;
mod theme;

use crate::chart::xray::shape;
use crate::figure::chart::{Chart, Drawing};
pub(crate) use dimensions::Dimensions;
use dimensions::SMALL;
use kuva::backend::svg::SvgBackend;
use kuva::render::render::{Scene, TextAnchor};
use label::{cut, text};
use plot::Plot;

/// The height of a line of the title.
const TITLE_ROW: f64 = 20.0;
/// The least height of a picture with a line below it: the line then has 8 % of the height at most.
const LEAST_HEIGHT: f64 = 216.0;

/// The title and origin of a picture outside a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    /// The title above; empty for none.
    pub(crate) title: String,
    /// The line of small text below: marks, drive, suite, test and date.
    pub(crate) source: String,
    /// Everything that a file says of its picture and does not show: settings, firmware, runs, notes.
    pub(crate) description: Vec<String>,
}

/// Returns `chart` as an SVG element whose identifiers begin with `prefix`.
pub(crate) fn svg(chart: &Chart, frame: &Frame, dimensions: &Dimensions, prefix: &str) -> String {
    let scene = scene(chart, frame, dimensions);
    let svg = SvgBackend::new().render_scene(&scene);
    settled(&svg, &scene, prefix)
}

/// Returns a drawing of plain shapes as an SVG element whose identifiers begin with `prefix`.
pub(crate) fn svg_of(drawing: &shape::Drawing, prefix: &str) -> String {
    let scene = drawing::scene(drawing);
    settled(&SvgBackend::new().render_scene(&scene), &scene, prefix)
}

/// Returns `chart` as primitives, for any of kuva's back ends.
pub(crate) fn scene(chart: &Chart, frame: &Frame, dimensions: &Dimensions) -> Scene {
    let top = head_height(frame);
    let foot = foot_height(frame);
    let mut scene = match &chart.drawing {
        Drawing::Bars { unit, bars } => {
            let least = if frame.source.is_empty() { 0.0 } else { LEAST_HEIGHT };
            bars::scene(unit, bars, dimensions, (top, foot), least)
        }
        Drawing::Lines { x, y, right, lines, boundaries, marks } => {
            let right = right.as_ref();
            let plot = Plot { x, y, right, lines, boundaries, marks, dimensions };
            lines::scene(&plot, top, foot)
        }
    };
    scene.background_color = Some(theme::GROUND.to_owned());
    scene.text_color = Some(theme::TEXT.to_owned());
    for (number, line) in title_lines(frame).iter().enumerate() {
        let y = 26.0 + TITLE_ROW * number as f64;
        let line = cut(line, dimensions.width - 32.0, 16);
        scene.add(text(16.0, y, &line, 16, TextAnchor::Start, theme::TEXT.to_owned()).bold());
    }
    if !frame.source.is_empty() {
        let y = scene.height - 6.0;
        let line = cut(&frame.source, dimensions.width - 32.0, SMALL);
        scene.add(text(16.0, y, &line, SMALL, TextAnchor::Start, theme::MUTED.to_owned()).plain());
    }
    scene
}

fn head_height(frame: &Frame) -> f64 {
    match title_lines(frame).len() {
        0 => 6.0,
        lines => 22.0 + TITLE_ROW * lines as f64,
    }
}

/// Returns the title in lines, because its end says whether the data is that of a model.
fn title_lines(frame: &Frame) -> Vec<String> {
    const ROOM: usize = 76;
    if frame.title.is_empty() { Vec::new() } else { wrapped(&frame.title, ROOM) }
}

/// Returns `words` in lines of at most `room` letters; a longer word has a line of its own.
pub(crate) fn wrapped(words: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
            lines.push(word.to_owned());
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines
}

fn foot_height(frame: &Frame) -> f64 {
    if frame.source.is_empty() { 4.0 } else { 30.0 }
}

/// Returns `svg` with a view box in place of a fixed size, without the mark of kuva's version, and
/// with identifiers that depend on nothing but the figure.
fn settled(svg: &str, scene: &Scene, prefix: &str) -> String {
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let body = match (body.find("<!--"), body.find("-->")) {
        (Some(start), Some(end)) if start < end => {
            format!("{}{}", &body[..start], &body[end + 3..])
        }
        (Some(_) | None, Some(_) | None) => body.to_owned(),
    };
    let (width, height) = (scene.width.ceil(), scene.height.ceil());
    let colour = scene.text_color.as_deref().unwrap_or("black");
    let head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" fill=\"{colour}\" \
         font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\">"
    );
    format!("{head}{}", renumbered(&path::shortened(&body), prefix))
}

/// Returns `body` with kuva's clip ids, which count through the process, numbered from zero.
fn renumbered(body: &str, prefix: &str) -> String {
    const MARK: &str = "kuva-clip-";
    let mut seen: Vec<&str> = Vec::new();
    let mut text = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find(MARK) {
        let (before, after) = rest.split_at(at);
        let after = &after[MARK.len()..];
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (id, tail) = after.split_at(end);
        let number = seen.iter().position(|known| *known == id).unwrap_or_else(|| {
            seen.push(id);
            seen.len() - 1
        });
        text.push_str(before);
        text.push_str(&format!("{prefix}-clip-{number}"));
        rest = tail;
    }
    text.push_str(rest);
    text
}
