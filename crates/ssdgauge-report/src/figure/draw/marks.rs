//! The marks of drives, and the places on an axis that matter.

use super::dimensions::SMALL;
use super::label::{text, width_of};
use super::plot::{Area, Plot};
use super::theme;
use crate::chart::shapes;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene, TextAnchor};

/// Half the size of a mark.
const SIZE: f64 = 3.8;

/// More places than this have no words beside them; their note says what they are.
const MAX_WORDS: usize = 3;

/// The height of a row of words.
const ROW: f64 = 14.0;

/// Returns the first row in which nothing stands where `covers` is, and takes the place in it.
fn free_row(rows: &mut Vec<Vec<(f64, f64)>>, covers: (f64, f64)) -> usize {
    let is_free = |row: &Vec<(f64, f64)>| {
        row.iter().all(|taken| taken.1 + 4.0 < covers.0 || covers.1 + 4.0 < taken.0)
    };
    let row = rows.iter().position(is_free).unwrap_or(rows.len());
    if row == rows.len() {
        rows.push(Vec::new());
    }
    rows[row].push(covers);
    row
}

/// Draws the mark of the slot or step with this number.
pub(super) fn draw(scene: &mut Scene, (x, y): (f64, f64), number: usize) {
    let colour = theme::series(number);
    let hollow = shapes::is_hollow(number);
    if let Some(corners) = shapes::corners(number) {
        let corners = corners.iter().map(|(dx, dy)| (x + dx * SIZE, y + dy * SIZE));
        match hollow {
            true => outlined(scene, corners, theme::GROUND, &colour),
            false => shape(scene, corners, &colour),
        }
        return;
    }
    let ground = theme::GROUND.to_owned();
    scene.add(Primitive::Circle {
        cx: x,
        cy: y,
        r: SIZE,
        fill: Color::from(if hollow { ground } else { colour.clone() }),
        fill_opacity: None,
        stroke: hollow.then(|| Color::from(colour)),
        stroke_width: hollow.then_some(1.3),
    });
}

fn shape(scene: &mut Scene, corners: impl Iterator<Item = (f64, f64)>, fill: &str) {
    outlined(scene, corners, fill, "none");
}

fn outlined(
    scene: &mut Scene,
    corners: impl Iterator<Item = (f64, f64)>,
    fill: &str,
    stroke: &str,
) {
    let words: Vec<String> = corners.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    scene.add(Primitive::Path(Box::new(kuva::render::render::PathData {
        d: format!("M{}Z", words.join("L")),
        fill: Some(Color::from(fill.to_owned())),
        stroke: Color::from(stroke),
        stroke_width: if stroke == "none" { 0.0 } else { 1.3 },
        opacity: None,
        stroke_dasharray: None,
    })));
}

/// Draws a triangle at the top of the plot for each place where something happened, with a dotted
/// line down to the axis.
pub(super) fn places(scene: &mut Scene, plot: &Plot<'_>, area: &Area) {
    // What the words of each row cover, from left to right.
    let mut rows: Vec<Vec<(f64, f64)>> = Vec::new();
    for mark in plot.marks {
        let x = area.x(mark.at);
        let colour = theme::series(mark.colour);
        scene.add(Primitive::Line {
            x1: x,
            y1: area.top,
            x2: x,
            y2: area.bottom(),
            stroke: Color::from(colour.clone()),
            stroke_width: 1.0,
            stroke_dasharray: Some("1 4".to_owned()),
        });
        let top = area.top;
        shape(scene, [(x - 5.0, top), (x + 5.0, top), (x, top + 8.0)].into_iter(), &colour);
        if plot.marks.len() > MAX_WORDS {
            continue;
        }
        let width = width_of(&mark.label, SMALL);
        let (x, anchor) = match x + 8.0 + width < area.right() {
            true => (x + 8.0, TextAnchor::Start),
            false => (x - 8.0, TextAnchor::End),
        };
        let covers = match anchor {
            TextAnchor::End => (x - width, x),
            TextAnchor::Start | TextAnchor::Middle => (x, x + width),
        };
        let y = area.top + 11.0 + ROW * free_row(&mut rows, covers) as f64;
        let words = text(x, y, &mark.label, SMALL, anchor, theme::MUTED.to_owned());
        scene.add(words.plain());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_would_cover_each_other_have_rows_of_their_own() {
        let mut rows = Vec::new();
        let places = [(0.0, 90.0), (7.0, 97.0), (96.0, 150.0), (14.0, 104.0)];
        let found = places.map(|covers| free_row(&mut rows, covers));
        assert_eq!(found, [0, 1, 0, 2]);
    }
}
