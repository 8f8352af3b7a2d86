//! The map of latencies of one step: time to the right, latency up, the more a cell stands out the more requests.

use crate::chart::look::{self, CELL_HEIGHT, CELLS};
use crate::chart::shape::{Anchor, Drawing, Shape};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::model::PointRun;
use ssdgauge_analysis::text::{case, number, sanitize};
use ssdgauge_core::{LatencyCell, LatencyMap, ROWS_PER_DECADE, Scope};
use std::ops::Range;

/// The maximum number of maps of one test. Chosen: each has some 10 KB in each cut.
const MOST: usize = 3;

/// The room left of a map for its ticks, below and above it.
const LEFT: f64 = 52.0;
const BELOW: f64 = 38.0;
const ABOVE: f64 = 8.0;

/// The minimum number of rows: less would be a line.
const FEWEST_ROWS: u8 = 12;

/// The map of one step of one drive.
#[derive(Clone, Debug)]
pub(crate) struct HeatMap {
    /// The step, with the drive where there are several.
    pub(crate) title: String,
    /// What most requests do, and the slowest one.
    summary: String,
    map: LatencyMap,
    /// The seconds that are shown.
    seconds: u32,
}

/// Returns the maps of `group`: of one drive those of its steps with the slowest requests, of several one of each.
pub(crate) fn of_group(group: &Group<'_>, drives: &ReportDrives) -> Vec<HeatMap> {
    if group.members.len() > MOST {
        return Vec::new();
    }
    let of_each = if group.members.len() == 1 { MOST } else { 1 };
    let of_member = |member: &Member<'_>| {
        let points = &member.test.points;
        let mut places: Vec<usize> =
            (0..points.len()).filter(|place| points[*place].latency_map.is_some()).collect();
        let longest = |place: &usize| {
            let latency = points[*place].point.totals.latency(Scope::All);
            std::cmp::Reverse(latency.max().unwrap_or(0))
        };
        places.sort_by_key(longest);
        places.truncate(of_each);
        places.sort_unstable();
        let name = (group.members.len() > 1).then(|| drives.short(drives.drive_of(member.index)));
        places.into_iter().filter_map(|place| heat_map(&points[place], name)).collect::<Vec<_>>()
    };
    group.members.iter().flat_map(of_member).collect()
}

fn heat_map(point: &PointRun, name: Option<&str>) -> Option<HeatMap> {
    let map = point.latency_map.clone().filter(|map| !map.cells().is_empty())?;
    let latency = point.point.totals.latency(Scope::All);
    let words = |nanos: u64| number::latency(nanos as f64 / 1e3);
    let summary = match (latency.percentile(0.5), latency.max()) {
        (Some(half), Some(most)) => {
            format!("half of the requests within {}, the slowest {}", words(half), words(most))
        }
        (_, most) => format!("the slowest request {}", words(most.unwrap_or(0))),
    };
    let step = sanitize::step(&point.point.label);
    let title = match name {
        Some(name) => format!("{name}, {step}"),
        None => step,
    };
    Some(HeatMap { title, summary, seconds: point.seconds_shown() as u32, map })
}

impl HeatMap {
    /// Returns what the map shows, for readers who do not see it, and as the title of a file.
    pub(crate) fn label(&self) -> String {
        format!("Latency of each request over time, {}: {}", self.title, self.summary)
    }

    /// Returns what most requests do, and the slowest one.
    pub(crate) fn summary(&self) -> String {
        format!("{}.", case::capital(&self.summary))
    }

    /// Returns how to read it.
    pub(crate) fn caption(&self) -> String {
        let part = match self.map.seconds_per_column() {
            1 => "a second".to_owned(),
            seconds => number::duration(f64::from(seconds)),
        };
        format!(
            "A cell is {part} wide and a tenth of a decade high; the more it stands out, the more requests: 1, 10, 32, \
             100, 316, 1,000, 10,000 and more."
        )
    }

    /// Returns the cells of the seconds that are shown.
    fn cells(&self) -> impl Iterator<Item = &LatencyCell> {
        let columns = self.seconds.div_ceil(self.map.seconds_per_column());
        self.map.cells().iter().filter(move |cell| u32::from(cell.column) < columns)
    }

    /// Returns the rows that have a request, with some more where they are few.
    fn rows(&self) -> Range<u8> {
        let rows = || self.cells().map(|cell| cell.row);
        let (low, high) = (rows().min().unwrap_or(0), rows().max().unwrap_or(0) + 1);
        let missing = FEWEST_ROWS.saturating_sub(high - low);
        low.saturating_sub(missing / 2 + 1)..high + missing.div_ceil(2) + 1
    }

    /// Returns the map in this width.
    pub(crate) fn drawn(&self, width: f64) -> Drawing {
        let rows = self.rows();
        let height = ABOVE + CELL_HEIGHT * f64::from(rows.end - rows.start) + BELOW;
        let mut drawing = Drawing::new(width, height);
        let columns = f64::from(self.seconds.max(1)) / f64::from(self.map.seconds_per_column());
        let wide = (width - LEFT - 10.0) / columns;
        let x = |column: f64| LEFT + wide * column;
        // The lower edge of a row.
        let y = |row: u8| ABOVE + CELL_HEIGHT * f64::from(rows.end - row);
        self.grid(&mut drawing, &rows, y);
        for (look, stretches) in CELLS.iter().zip(self.stretches(x, y)) {
            if !stretches.is_empty() {
                drawing.shapes.push(Shape::Line { stretches, look });
            }
        }
        self.clock(&mut drawing, y(rows.start), |seconds| {
            x(seconds / f64::from(self.map.seconds_per_column()))
        });
        drawing
    }

    /// Draws a line for each decade, with its latency.
    fn grid(&self, drawing: &mut Drawing, rows: &Range<u8>, y: impl Fn(u8) -> f64) {
        for row in rows.clone().filter(|row| row.is_multiple_of(ROWS_PER_DECADE)) {
            let us = 10f64.powi(i32::from(row / ROWS_PER_DECADE));
            drawing.line(&[(LEFT, y(row)), (drawing.width - 10.0, y(row))], &look::GRID);
            let at = (LEFT - 7.0, y(row) + 4.0);
            drawing.words_at(at, &number::latency_tick(us), &look::TICK, Anchor::End);
        }
    }

    /// Returns the cells of each level as lines from left to right, equal neighbours as one.
    fn stretches(
        &self,
        x: impl Fn(f64) -> f64,
        y: impl Fn(u8) -> f64,
    ) -> [Vec<Vec<(f64, f64)>>; CELLS.len()] {
        let mut cells: Vec<(u8, u16, usize)> =
            self.cells().map(|cell| (cell.row, cell.column, level(cell.requests))).collect();
        cells.sort_unstable();
        let mut stretches: [Vec<Vec<(f64, f64)>>; CELLS.len()] = Default::default();
        let is_next =
            |a: &(u8, u16, usize), b: &(u8, u16, usize)| (a.0, a.2) == (b.0, b.2) && a.1 + 1 == b.1;
        for run in cells.chunk_by(is_next) {
            let ((row, first, level), (_, last, _)) = (run[0], run[run.len() - 1]);
            let middle = y(row) - CELL_HEIGHT / 2.0;
            let ends = [x(f64::from(first)), x(f64::from(last) + 1.0)];
            stretches[level].push(ends.map(|end| (end, middle)).to_vec());
        }
        stretches
    }

    /// Draws the axis of time.
    fn clock(&self, drawing: &mut Drawing, y: f64, x: impl Fn(f64) -> f64) {
        drawing.line(&[(LEFT, y), (drawing.width - 10.0, y)], &look::AXIS);
        let seconds = f64::from(self.seconds.max(1));
        let most = if drawing.width < 500.0 { 4.0 } else { 8.0 };
        const STEPS: [f64; 16] = [
            10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 1_800.0, 3_600.0, 7_200.0,
            10_800.0, 21_600.0, 43_200.0, 86_400.0, 172_800.0,
        ];
        let step = STEPS.into_iter().find(|step| seconds / step <= most).unwrap_or(seconds);
        let mut at = 0.0;
        while at <= seconds {
            drawing.line(&[(x(at), y), (x(at), y + 4.0)], &look::AXIS);
            let words = if at > 0.0 { number::duration(at) } else { "0".to_owned() };
            drawing.words_at((x(at), y + 18.0), &words, &look::TICK, Anchor::Middle);
            at += step;
        }
    }
}

/// Returns the level of a cell of so many requests.
fn level(requests: u32) -> usize {
    const FROM: [u32; CELLS.len()] = [1, 10, 32, 100, 316, 1_000, 10_000];
    FROM.iter().rposition(|from| requests >= *from).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_begins_where_its_legend_says() {
        let levels = [1, 9, 10, 31, 32, 100, 999, 1_000, 9_999, 10_000].map(level);
        assert_eq!(levels, [0, 0, 1, 1, 2, 3, 4, 5, 5, 6]);
    }
}
