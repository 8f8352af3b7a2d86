//! The error of the load generator: how late it sent the requests of an open loop.

use crate::model::{PointRun, TestRun};
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{OpenLoop, rounded};

/// Returns a line for each open-loop stream of `point`.
pub fn lines(point: &PointRun) -> Vec<String> {
    let named = point.workload.streams.len() > 1;
    point.open_loop.iter().map(|open| line(open, named)).collect()
}

/// Returns the line of the stream that was sent latest in any step of `test`, with the step where
/// there are several; `None` for closed loops.
pub fn latest(test: &TestRun) -> Option<String> {
    let open = test.points.iter().flat_map(|point| {
        let named = point.workload.streams.len() > 1;
        point.open_loop.iter().map(move |open| (point, open, named))
    });
    let max = |open: &OpenLoop| open.lateness_max_us.unwrap_or(0.0);
    let (point, open, named) = open.max_by(|(_, a, _), (_, b, _)| max(a).total_cmp(&max(b)))?;
    let line = line(open, named);
    Some(match test.points.len() {
        1 => line,
        _ => format!("{line} (most of all steps: {})", sanitize::step(&point.point.label)),
    })
}

/// Returns the line of one stream, with its name if `named`.
fn line(open: &OpenLoop, named: bool) -> String {
    let stream = if named { format!("{} ", open.stream) } else { String::new() };
    let mut line = format!(
        "{stream}sent late: p50 {}, p99 {}, p99.9 {}, max {}; withheld {}",
        time(open.lateness_p50_us),
        time(open.lateness_p99_us),
        time(open.lateness_p999_us),
        time(open.lateness_max_us),
        number::count(open.withheld)
    );
    if open.unsent > 0 {
        line.push_str(&format!(", never sent {}", number::count(open.unsent)));
    }
    line
}

fn time(us: Option<f64>) -> String {
    us.map_or_else(|| number::NOTHING.to_owned(), rounded::latency)
}
