//! The shapes that tell drives apart where colours repeat, and the places on an axis that matter.

use super::dimensions::SMALL;
use super::label::{text, width_of};
use super::plot::{Area, Plot};
use super::theme::Theme;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene, TextAnchor};

/// Half the size of a mark.
const SIZE: f64 = 3.6;

/// More places than this have no words beside them; their note says what they are.
const MOST_WORDS: usize = 3;

/// Draws the mark of the drive with this number: circle, square, triangle or diamond, one for each
/// turn through the colours.
pub(super) fn draw(scene: &mut Scene, (x, y): (f64, f64), number: usize, theme: Theme) {
    let fill = theme.series(number);
    let s = SIZE + 0.6;
    let path = match Theme::turn(number) {
        0 => {
            scene.add(Primitive::Circle {
                cx: x,
                cy: y,
                r: SIZE,
                fill: Color::from(fill),
                fill_opacity: None,
                stroke: None,
                stroke_width: None,
            });
            return;
        }
        1 => vec![(-SIZE, -SIZE), (SIZE, -SIZE), (SIZE, SIZE), (-SIZE, SIZE)],
        2 => vec![(0.0, -s), (s, s * 0.8), (-s, s * 0.8)],
        _ => vec![(0.0, -s - 0.6), (s + 0.6, 0.0), (0.0, s + 0.6), (-s - 0.6, 0.0)],
    };
    shape(scene, path.into_iter().map(|(dx, dy)| (x + dx, y + dy)), &fill);
}

fn shape(scene: &mut Scene, corners: impl Iterator<Item = (f64, f64)>, fill: &str) {
    let words: Vec<String> = corners.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    scene.add(Primitive::Path(Box::new(kuva::render::render::PathData {
        d: format!("M{}Z", words.join("L")),
        fill: Some(Color::from(fill.to_owned())),
        stroke: Color::from("none"),
        stroke_width: 0.0,
        opacity: None,
        stroke_dasharray: None,
    })));
}

/// Draws a triangle at the top of the plot for each place where something happened, with a dotted
/// line down to the axis.
pub(super) fn places(scene: &mut Scene, plot: &Plot<'_>, area: &Area, theme: Theme) {
    for mark in plot.marks {
        let x = area.x(mark.at);
        let colour = theme.series(mark.colour);
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
        if plot.marks.len() > MOST_WORDS {
            continue;
        }
        let width = width_of(&mark.label, SMALL);
        let (x, anchor) = match x + 8.0 + width < area.right() {
            true => (x + 8.0, TextAnchor::Start),
            false => (x - 8.0, TextAnchor::End),
        };
        let words = text(x, area.top + 11.0, &mark.label, SMALL, anchor, theme.muted());
        scene.add(words.plain());
    }
}
