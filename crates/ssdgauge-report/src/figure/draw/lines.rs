//! Lines over axes that kuva draws.

use super::dimensions::{SMALL, TEXT};
use super::label::{cut_names, text, width_of};
use super::marks;
use super::plot::{Area, Plot};
use super::scales::{self};
use super::theme;
use crate::chart::shapes;
use crate::figure::chart::{Line, Scale};
use crate::figure::reduce;
use kuva::TickFormat;
use kuva::plot::LinePlot;
use kuva::plot::LineStyle;
use kuva::render::color::Color;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot as KuvaPlot;
use kuva::render::render::{Primitive, Scene, TextAnchor, render_multiple};
use kuva::render::theme::Theme as KuvaTheme;
use std::sync::Arc;

const BOTTOM: f64 = 52.0;
const LEGEND_ROW: f64 = 20.0;

/// Returns the scene of `plot`; `top` and `foot` stay free.
pub(super) fn scene(plot: &Plot<'_>, top: f64, foot: f64) -> Scene {
    let dimensions = plot.dimensions;
    let legend = legend(plot);
    let rows = legend.last().map_or(0, |(_, row, _)| row + 1);
    // The labels of steps are between the legend and the plot.
    let labels = if plot.boundaries.is_empty() { 12.0 } else { 20.0 };
    let plot_top = top + LEGEND_ROW * rows as f64 + labels;
    let mut placed: Vec<Vec<Vec<(f64, f64)>>> =
        plot.lines.iter().map(|line| placed(plot, line)).collect();
    let of_side = |right: bool| {
        let lines = plot.lines.iter().zip(&placed).filter(move |(line, _)| line.right == right);
        lines.flat_map(|(_, stretches)| stretches).flatten()
    };
    let all = || placed.iter().flatten().flatten();
    let area = Area {
        x: scales::range(plot.x.scale, all().map(|point| point.0), dimensions.ticks, true),
        y: scales::range(plot.y.scale, of_side(false).map(|point| point.1), 5.0, false),
        right: plot
            .right
            .map(|axis| scales::range(axis.scale, of_side(true).map(|point| point.1), 5.0, false)),
        top: plot_top,
        left: dimensions.left,
        width: dimensions.width - dimensions.left - plot.beside(),
        height: dimensions.height,
    };
    for (line, stretches) in plot.lines.iter().zip(&mut placed) {
        let points = stretches.iter_mut().flatten();
        points.filter(|_| line.right).for_each(|point| point.1 = area.on_left(point.1));
    }
    for stretch in placed.iter_mut().flatten() {
        *stretch = reduce::thinned(stretch, (area.x.low, area.x.high), area.width);
    }
    let height = plot_top + area.height + BOTTOM + foot;
    let layout = layout(plot, &area, height, BOTTOM + foot);
    let mut plots = Vec::new();
    for (line, stretches) in plot.lines.iter().zip(&placed) {
        plots.extend(stretches.iter().map(|stretch| kuva_line(line, stretch)));
    }
    let mut scene = render_multiple(plots, layout);
    for (line, stretches) in plot.lines.iter().zip(&placed) {
        dots(&mut scene, &area, line, stretches);
    }
    boundaries(&mut scene, plot, &area);
    marks::places(&mut scene, plot, &area);
    right_axis(&mut scene, plot, &area);
    titles(&mut scene, plot, &area);
    for ((x, row, label), line) in legend.iter().zip(plot.lines) {
        let y = top + LEGEND_ROW * *row as f64 + 12.0;
        key(&mut scene, *x, y, label, line);
    }
    scene
}

/// Draws the numbers and the title of the right axis.
fn right_axis(scene: &mut Scene, plot: &Plot<'_>, area: &Area) {
    let (Some(axis), Some(range)) = (plot.right, area.right) else { return };
    scene.add(Primitive::Line {
        x1: area.right(),
        y1: area.top,
        x2: area.right(),
        y2: area.bottom(),
        stroke: Color::from(theme::AXIS.to_owned()),
        stroke_width: 1.0,
        stroke_dasharray: None,
    });
    let steps = ((range.high / range.step).round() as usize).min(20);
    for number in 0..=steps {
        let at = range.step * number as f64;
        let (x, y) = (area.right() + 6.0, area.y(area.on_left(at)) + 4.0);
        let words = scales::words(axis.scale, at);
        let size = plot.dimensions.tick_size;
        scene.add(text(x, y, &words, size, TextAnchor::Start, theme::TEXT.to_owned()).plain());
    }
    let (x, y) = (plot.dimensions.width - 8.0, area.top + area.height / 2.0);
    scene.add(text(x, y, &axis.label, TEXT, TextAnchor::Middle, theme::TEXT.to_owned()).turned());
}

fn placed(plot: &Plot<'_>, line: &Line) -> Vec<Vec<(f64, f64)>> {
    let point = |(x, y): &(f64, f64)| {
        Some((scales::place(plot.x.scale, *x)?, scales::place(plot.y.scale, *y)?))
    };
    line.stretches.iter().map(|stretch| stretch.iter().filter_map(point).collect()).collect()
}

fn layout(plot: &Plot<'_>, area: &Area, height: f64, bottom: f64) -> Layout {
    let ticks = |scale: Scale| TickFormat::Custom(Arc::new(move |at| scales::words(scale, at)));
    let dimensions = plot.dimensions;
    Layout::new((area.x.low, area.x.high), (area.y.low, area.y.high))
        .with_width(dimensions.width)
        .with_height(height)
        .with_force_margins(dimensions.left, plot.beside())
        .with_force_margins_y(area.top, bottom)
        .with_x_axis_min(area.x.low)
        .with_x_axis_max(area.x.high)
        .with_y_axis_min(area.y.low)
        .with_y_axis_max(area.y.high)
        .with_x_tick_step(area.x.step)
        .with_y_tick_step(area.y.step)
        .with_x_tick_format(ticks(plot.x.scale))
        .with_y_tick_format(ticks(plot.y.scale))
        .with_tick_size(dimensions.tick_size)
        .with_theme(kuva_theme())
}

fn kuva_theme() -> KuvaTheme {
    let none = "none".to_owned();
    KuvaTheme {
        background: none.clone(),
        axis_color: theme::AXIS.to_owned(),
        grid_color: theme::GRID.to_owned(),
        tick_color: theme::AXIS.to_owned(),
        text_color: theme::TEXT.to_owned(),
        legend_bg: none.clone(),
        legend_border: none.clone(),
        ..KuvaTheme::light()
    }
}

fn kuva_line(line: &Line, stretch: &[(f64, f64)]) -> KuvaPlot {
    let mut drawn = LinePlot::new()
        .with_data(stretch.iter().copied())
        .with_color(theme::series(line.colour))
        .with_stroke_width(if line.marked { 2.0 } else { 1.6 });
    if let Some(dashes) = dashes(line) {
        drawn = drawn.with_line_style(LineStyle::Custom(dashes.to_owned()));
    }
    KuvaPlot::Line(drawn)
}

fn dashes(line: &Line) -> Option<&'static str> {
    if line.dashed { Some("5 3") } else { shapes::dashes(line.colour) }
}

/// Writes the titles of the axes, at positions that do not depend on the text below the plot.
fn titles(scene: &mut Scene, plot: &Plot<'_>, area: &Area) {
    let middle = area.left + area.width / 2.0;
    let below = area.bottom() + 40.0;
    let words = &plot.x.label;
    scene.add(text(middle, below, words, TEXT, TextAnchor::Middle, theme::TEXT.to_owned()).plain());
    let side = area.top + area.height / 2.0;
    let words = plot.y.drawn_label();
    scene.add(text(15.0, side, words, TEXT, TextAnchor::Middle, theme::TEXT.to_owned()).turned());
}

/// Draws a dot for each point of a marked line, and for each that stands alone.
fn dots(scene: &mut Scene, area: &Area, line: &Line, stretches: &[Vec<(f64, f64)>]) {
    for stretch in stretches {
        if !line.marked && stretch.len() > 1 {
            continue;
        }
        for (x, y) in stretch {
            let at = (area.x(*x), area.y(*y));
            if line.marked {
                marks::draw(scene, at, line.colour);
                continue;
            }
            scene.add(Primitive::Circle {
                cx: at.0,
                cy: at.1,
                r: 1.6,
                fill: Color::from(theme::series(line.colour)),
                fill_opacity: None,
                stroke: None,
                stroke_width: None,
            });
        }
    }
}

/// Draws where each step begins, and its label where there is room for it.
fn boundaries(scene: &mut Scene, plot: &Plot<'_>, area: &Area) {
    let ends = plot.boundaries.iter().skip(1).map(|(at, _)| *at).chain([area.x.high]);
    for ((start, label), end) in plot.boundaries.iter().zip(ends) {
        let (x, room) = (area.x(*start), area.x(end) - area.x(*start));
        if *start > 0.0 {
            scene.add(Primitive::Line {
                x1: x,
                y1: area.top,
                x2: x,
                y2: area.bottom(),
                stroke: Color::from(theme::AXIS.to_owned()),
                stroke_width: 0.8,
                stroke_dasharray: Some("2 3".to_owned()),
            });
        }
        if width_of(label, SMALL) + 6.0 < room {
            let y = area.top - 3.0;
            scene.add(
                text(x + 3.0, y, label, SMALL, TextAnchor::Start, theme::MUTED.to_owned()).plain(),
            );
        }
    }
}

/// Returns place, row and label of each line in the legend.
fn legend(plot: &Plot<'_>) -> Vec<(f64, usize, String)> {
    // A narrow picture has no room to spare on the left.
    let left = plot.dimensions.left.min(plot.dimensions.width / 8.0);
    let (mut x, mut row) = (left, 0);
    let mut places = Vec::new();
    let room = plot.dimensions.width - plot.dimensions.right;
    let labels: Vec<&str> = plot.lines.iter().map(|line| line.label.as_str()).collect();
    for label in cut_names(&labels, room - left - 40.0, TEXT) {
        let width = width_of(&label, TEXT) + 52.0;
        if x > left && x + width > room {
            (x, row) = (left, row + 1);
        }
        places.push((x, row, label));
        x += width;
    }
    places
}

fn key(scene: &mut Scene, x: f64, y: f64, label: &str, line: &Line) {
    scene.add(Primitive::Line {
        x1: x,
        y1: y - 4.0,
        x2: x + 24.0,
        y2: y - 4.0,
        stroke: Color::from(theme::series(line.colour)),
        stroke_width: 2.4,
        stroke_dasharray: dashes(line).map(str::to_owned),
    });
    if line.marked {
        marks::draw(scene, (x + 12.0, y - 4.0), line.colour);
    }
    scene.add(text(x + 30.0, y, label, TEXT, TextAnchor::Start, theme::TEXT.to_owned()).plain());
}
