//! Lines over axes that kuva draws.

use super::scales::{self, Range};
use super::{Ink, SMALL, TEXT, WIDTH, cut, text, width_of};
use crate::figure::{Axis, Line, Scale};
use kuva::TickFormat;
use kuva::plot::LinePlot;
use kuva::plot::LineStyle;
use kuva::render::color::Color;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot as KuvaPlot;
use kuva::render::render::{Primitive, Scene, TextAnchor, render_multiple};
use kuva::render::theme::Theme;
use std::sync::Arc;

const LEFT: f64 = 84.0;
const RIGHT: f64 = 34.0;
const HEIGHT: f64 = 300.0;
const BOTTOM: f64 = 52.0;
const LEGEND_ROW: f64 = 20.0;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plot<'a> {
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
    pub(super) lines: &'a [Line],
    pub(super) boundaries: &'a [(f64, String)],
}

/// Where the plot lies in its picture.
#[derive(Clone, Copy, Debug)]
struct Area {
    x: Range,
    y: Range,
    top: f64,
}

impl Area {
    fn x(&self, at: f64) -> f64 {
        LEFT + (at - self.x.low) / (self.x.high - self.x.low) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, at: f64) -> f64 {
        self.top + HEIGHT - (at - self.y.low) / (self.y.high - self.y.low) * HEIGHT
    }
}

/// Returns the scene of `plot`; `top` and `foot` stay free.
pub(super) fn scene(plot: &Plot<'_>, ink: Ink, top: f64, foot: f64) -> Scene {
    let legend = legend(plot.lines);
    let rows = legend.last().map_or(0, |(_, row, _)| row + 1);
    let plot_top = top + LEGEND_ROW * rows as f64 + 12.0;
    let placed: Vec<Vec<Vec<(f64, f64)>>> =
        plot.lines.iter().map(|line| placed(plot, line)).collect();
    let all = || placed.iter().flatten().flatten();
    let area = Area {
        x: scales::range(plot.x.scale, all().map(|point| point.0), true),
        y: scales::range(plot.y.scale, all().map(|point| point.1), false),
        top: plot_top,
    };
    let height = plot_top + HEIGHT + BOTTOM + foot;
    let layout = layout(plot, &area, ink, height, BOTTOM + foot);
    let mut plots = Vec::new();
    for (line, stretches) in plot.lines.iter().zip(&placed) {
        plots.extend(stretches.iter().map(|stretch| kuva_line(line, stretch, ink)));
    }
    let mut scene = render_multiple(plots, layout);
    for (line, stretches) in plot.lines.iter().zip(&placed) {
        marks(&mut scene, &area, line, stretches, ink);
    }
    boundaries(&mut scene, plot, &area, ink);
    titles(&mut scene, plot, &area, ink);
    for ((x, row, label), line) in legend.iter().zip(plot.lines) {
        let y = top + LEGEND_ROW * *row as f64 + 12.0;
        key(&mut scene, *x, y, label, line, ink);
    }
    scene
}

fn placed(plot: &Plot<'_>, line: &Line) -> Vec<Vec<(f64, f64)>> {
    let point = |(x, y): &(f64, f64)| {
        Some((scales::place(plot.x.scale, *x)?, scales::place(plot.y.scale, *y)?))
    };
    line.stretches.iter().map(|stretch| stretch.iter().filter_map(point).collect()).collect()
}

fn layout(plot: &Plot<'_>, area: &Area, ink: Ink, height: f64, bottom: f64) -> Layout {
    let ticks = |scale: Scale| TickFormat::Custom(Arc::new(move |at| scales::words(scale, at)));
    Layout::new((area.x.low, area.x.high), (area.y.low, area.y.high))
        .with_width(WIDTH)
        .with_height(height)
        .with_force_margins(LEFT, RIGHT)
        .with_force_margins_y(area.top, bottom)
        .with_x_axis_min(area.x.low)
        .with_x_axis_max(area.x.high)
        .with_y_axis_min(area.y.low)
        .with_y_axis_max(area.y.high)
        .with_x_tick_step(area.x.step)
        .with_y_tick_step(area.y.step)
        .with_x_tick_format(ticks(plot.x.scale))
        .with_y_tick_format(ticks(plot.y.scale))
        .with_tick_size(12)
        .with_theme(theme(ink))
}

fn theme(ink: Ink) -> Theme {
    let none = "none".to_owned();
    Theme {
        background: none.clone(),
        axis_color: ink.axis(),
        grid_color: ink.grid(),
        tick_color: ink.axis(),
        text_color: ink.text(),
        legend_bg: none.clone(),
        legend_border: none.clone(),
        ..Theme::light()
    }
}

fn kuva_line(line: &Line, stretch: &[(f64, f64)], ink: Ink) -> KuvaPlot {
    let mut drawn = LinePlot::new()
        .with_data(stretch.iter().copied())
        .with_color(ink.series(line.colour))
        .with_stroke_width(if line.marked { 2.0 } else { 1.6 });
    if let Some(dashes) = dashes(line) {
        drawn = drawn.with_line_style(LineStyle::Custom(dashes.to_owned()));
    }
    KuvaPlot::Line(drawn)
}

fn dashes(line: &Line) -> Option<&'static str> {
    if line.dashed { Some("5 3") } else { Ink::dashes(line.colour) }
}

/// Writes what the axes show, at places that do not move with what stands below the plot.
fn titles(scene: &mut Scene, plot: &Plot<'_>, area: &Area, ink: Ink) {
    let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
    let below = area.top + HEIGHT + 40.0;
    let words = &plot.x.label;
    scene.add(text(middle, below, words, TEXT, TextAnchor::Middle, ink.text()).plain());
    let side = area.top + HEIGHT / 2.0;
    let words = &plot.y.label;
    scene.add(text(16.0, side, words, TEXT, TextAnchor::Middle, ink.text()).turned());
}

/// Draws a dot for each point of a marked line, and for each that stands alone.
fn marks(scene: &mut Scene, area: &Area, line: &Line, stretches: &[Vec<(f64, f64)>], ink: Ink) {
    for stretch in stretches {
        if !line.marked && stretch.len() > 1 {
            continue;
        }
        for (x, y) in stretch {
            scene.add(Primitive::Circle {
                cx: area.x(*x),
                cy: area.y(*y),
                r: if line.marked { 3.6 } else { 1.6 },
                fill: Color::from(ink.series(line.colour)),
                fill_opacity: None,
                stroke: None,
                stroke_width: None,
            });
        }
    }
}

/// Draws where each step begins, and its label where there is room for it.
fn boundaries(scene: &mut Scene, plot: &Plot<'_>, area: &Area, ink: Ink) {
    let ends = plot.boundaries.iter().skip(1).map(|(at, _)| *at).chain([area.x.high]);
    for ((start, label), end) in plot.boundaries.iter().zip(ends) {
        let (x, room) = (area.x(*start), area.x(end) - area.x(*start));
        if *start > 0.0 {
            scene.add(Primitive::Line {
                x1: x,
                y1: area.top,
                x2: x,
                y2: area.top + HEIGHT,
                stroke: Color::from(ink.axis()),
                stroke_width: 0.8,
                stroke_dasharray: Some("2 3".to_owned()),
            });
        }
        if width_of(label, SMALL) + 6.0 < room {
            let y = area.top - 3.0;
            scene.add(text(x + 3.0, y, label, SMALL, TextAnchor::Start, ink.muted()).plain());
        }
    }
}

/// Returns place, row and label of each line in the legend.
fn legend(lines: &[Line]) -> Vec<(f64, usize, String)> {
    let (mut x, mut row) = (LEFT, 0);
    let mut places = Vec::new();
    for line in lines {
        let label = cut(&line.label, WIDTH - LEFT - RIGHT - 40.0, TEXT);
        let width = width_of(&label, TEXT) + 52.0;
        if x > LEFT && x + width > WIDTH - RIGHT {
            (x, row) = (LEFT, row + 1);
        }
        places.push((x, row, label));
        x += width;
    }
    places
}

fn key(scene: &mut Scene, x: f64, y: f64, label: &str, line: &Line, ink: Ink) {
    scene.add(Primitive::Line {
        x1: x,
        y1: y - 4.0,
        x2: x + 24.0,
        y2: y - 4.0,
        stroke: Color::from(ink.series(line.colour)),
        stroke_width: 2.4,
        stroke_dasharray: dashes(line).map(str::to_owned),
    });
    if line.marked {
        scene.add(Primitive::Circle {
            cx: x + 12.0,
            cy: y - 4.0,
            r: 3.6,
            fill: Color::from(ink.series(line.colour)),
            fill_opacity: None,
            stroke: None,
            stroke_width: None,
        });
    }
    scene.add(text(x + 30.0, y, label, TEXT, TextAnchor::Start, ink.text()).plain());
}
