//! A chart as a picture outside a page: title and conditions above it, a legend, and the source below.

use crate::chart::band::Band;
use crate::chart::lines;
use crate::chart::look;
use crate::chart::mark::mark;
use crate::chart::plot::{Plot, Room};
use crate::chart::shape::{Anchor, Drawing, Shape, words};
use ssdgauge_analysis::drives::report_drives::ReportDrives;

/// The width of a file.
const WIDTH: f64 = 760.0;

/// The margin on both sides.
const MARGIN: f64 = 16.0;

/// The width of a chart within a file.
pub(crate) const INNER: f64 = WIDTH - 2.0 * MARGIN;

/// The height of a plot.
const PLOT: f64 = 330.0;

/// The minimum height of a file: the line below the chart then has 8 % of it at most.
const LEAST_HEIGHT: f64 = 216.0;

/// What a file states in addition to its chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    /// The title.
    pub(crate) title: String,
    /// What the chart shows, in lines below the title.
    pub(crate) conditions: Vec<String>,
    /// Drives that have no name in the chart, with their words.
    pub(crate) legend: Vec<(usize, String)>,
    /// The line of small text below: marks, drive, suite, test and date.
    pub(crate) source: String,
}

/// Returns `plot` for a file, and what its band is where it has one.
pub(crate) fn plot(plot: &Plot, drives: &ReportDrives) -> (Drawing, Option<String>) {
    let band = Band::new(plot, drives);
    let cut = lines::cut(plot, band.as_ref(), drives, Room::File, (INNER, PLOT));
    let drawing = lines::drawn(plot, band.as_ref(), drives, &cut);
    (drawing, band.map(|band| band.words()))
}

/// Returns the drives of `plot` whose line has no name at its end.
pub(crate) fn unnamed(plot: &Plot, drives: &ReportDrives) -> Vec<usize> {
    if Band::new(plot, drives).is_some() {
        return Vec::new();
    }
    let drawn = plot.lines.iter().filter(|line| !line.points.is_empty()).map(|line| line.drive);
    drawn.filter(|drive| !lines::has_label(plot, None, drives, *drive)).collect()
}

/// Returns `chart` with its frame.
pub(crate) fn framed(frame: &Frame, chart: Drawing, drives: &ReportDrives) -> Drawing {
    let mut shapes = Vec::new();
    let mut y = 6.0;
    for line in look::HEAD.wrapped(&frame.title, INNER, 3) {
        y += 20.0;
        shapes.push(words((MARGIN, y), &line, &look::HEAD, Anchor::Start));
    }
    y += 3.0;
    for text in frame.conditions.iter().filter(|text| !text.is_empty()) {
        for line in look::CONDITIONS.wrapped(text, INNER, 4) {
            y += 16.0;
            shapes.push(words((MARGIN, y), &line, &look::CONDITIONS, Anchor::Start));
        }
    }
    let (legend, below) = legend(frame, drives, y + 8.0);
    shapes.extend(legend);
    let foot = 30.0;
    let least = LEAST_HEIGHT - below - foot;
    // A low chart is in the middle of its room.
    let top = below + 6.0 + ((least - chart.height) / 2.0).max(0.0);
    let height = (below + 6.0 + chart.height.max(least) + foot).ceil();
    shapes.extend(chart.shapes.into_iter().map(|shape| shape.moved((MARGIN, top))));
    let source = look::SOURCE.cut(&frame.source, INNER);
    shapes.push(words((MARGIN, height - 6.0), &source, &look::SOURCE, Anchor::Start));
    on_ground(Drawing { width: WIDTH, height, shapes })
}

/// Returns `drawing` on the ground of the page.
pub(crate) fn on_ground(mut drawing: Drawing) -> Drawing {
    let place = [0.0, 0.0, drawing.width, drawing.height];
    drawing.shapes.insert(0, Shape::Rectangle { place, round: 0.0, look: &look::GROUND });
    drawing
}

/// Returns the legend from `y` on, and where it ends.
fn legend(frame: &Frame, drives: &ReportDrives, y: f64) -> (Vec<Shape>, f64) {
    const LINE: f64 = 19.0;
    let (mut x, mut y) = (MARGIN, y);
    let mut shapes = Vec::new();
    for (drive, text) in &frame.legend {
        let wide = 18.0 + look::LEGEND.width_of(text);
        if x > MARGIN && x + wide > WIDTH - MARGIN {
            (x, y) = (MARGIN, y + LINE);
        }
        let slot = drives.slot(*drive);
        let own = vec![
            mark(slot, (x + 6.0, y + 7.0), 4.4),
            words((x + 16.0, y + 11.0), text, &look::LEGEND, Anchor::Start),
        ];
        shapes.push(Shape::Group { drive: *drive, slot, is_within: false, shapes: own });
        x += wide + 16.0;
    }
    (shapes, if frame.legend.is_empty() { y } else { y + LINE })
}
