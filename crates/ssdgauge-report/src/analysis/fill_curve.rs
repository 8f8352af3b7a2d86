//! The throughput of each gigabyte of a fill.

use crate::model::PointRun;
use ssdgauge_core::Direction;

/// The length of a segment: the client reviews of 2017 to 2020 draw one point for each 10^9 bytes.
const SEGMENT: f64 = 1e9;

/// Returns each segment by its end in GB with its rate in MB/s.
///
/// Within a second the rate is taken as constant, so a segment that ends within one is cut there.
pub(crate) fn segments(point: &PointRun) -> Vec<(f64, f64)> {
    let mut segments = Vec::new();
    let (mut written, mut time, mut end) = (0.0, 0.0, SEGMENT);
    for second in point.point.seconds.totals() {
        let bytes = second.directions[Direction::Write as usize].bytes as f64;
        let length = second.elapsed.as_secs_f64();
        let (mut left, mut span) = (bytes, length);
        while written + left >= end && left > 0.0 {
            let part = end - written;
            time += span * part / left;
            if time > 0.0 {
                segments.push((end / 1e9, SEGMENT / time / 1e6));
            }
            span -= span * part / left;
            left -= part;
            (written, time, end) = (end, 0.0, end + SEGMENT);
        }
        written += left;
        time += span;
    }
    segments
}
