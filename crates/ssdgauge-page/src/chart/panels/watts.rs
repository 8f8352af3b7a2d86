//! Speed against power: one mark for each drive, where the direction from zero is the efficiency.

use crate::chart::axis::{Across, Up, log_ticks};
use crate::chart::plot::{Plot, Series};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::groups::measure::Measure;
use ssdgauge_analysis::groups::power;
use ssdgauge_analysis::text::number;
use ssdgauge_core::Metric;

/// The maximum number of lines of equal efficiency. Chosen: their words stay apart.
const MAX_RAYS: usize = 4;

/// Returns the plot; `None` where fewer than two drives have both values.
pub(crate) fn plot(group: &Group<'_>, drives: &ReportDrives) -> Option<Plot> {
    let efficiency = Measure::Efficiency.metric(&group.first().test.test);
    let (metric, scale) = match efficiency {
        Metric::EfficiencyMbSW => (Metric::ThroughputMbS, 1.0),
        // The efficiency counts thousands.
        _ => (Metric::Iops, 1e3),
    };
    let line = |member: &Member<'_>| {
        let watts = power::at_headline(group, member, Metric::PowerW).ok()?;
        let speed = power::at_headline(group, member, metric).ok()?;
        Some(mark(drives, drives.drive_of(member.index), (watts, speed), metric))
    };
    let lines: Vec<Series> = group.members.iter().filter_map(line).collect();
    if lines.len() < 2 {
        return None;
    }
    let points = || lines.iter().flat_map(|line| &line.points);
    let most = points().map(|point| point.0).fold(0.0, f64::max) * 1.1;
    let up = Up::new(points().map(|point| point.1), metric.unit(), false, number::short);
    let ratios: Vec<f64> =
        points().filter(|(w, v)| *w > 0.0 && *v > 0.0).map(|(w, v)| v / w).collect();
    let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ratios.iter().copied().fold(0.0, f64::max);
    let is_inside = |at: &f64| *at >= low / 1.3 && *at <= high * 1.3;
    let rays = if low.is_finite() { log_ticks(low, high) } else { Vec::new() };
    let rays: Vec<f64> = rays.into_iter().filter(is_inside).collect();
    let every = rays.len().div_ceil(MAX_RAYS).max(1);
    let ray =
        |slope: f64| (slope, format!("{} {}", number::text(slope / scale), efficiency.unit()));
    Some(Plot {
        kind: "speed-by-power",
        caption: String::new(),
        label: format!("{}: {} against power", group.title(), metric.title()),
        across: Across::continuous(most, None, "W, mean; steeper is better", number::tick),
        up,
        rays: rays.into_iter().step_by(every).map(ray).collect(),
        lines,
        scored: None,
        events: Vec::new(),
        published: Vec::new(),
        background: Vec::new(),
    })
}

fn mark(drives: &ReportDrives, drive: usize, (watts, speed): (f64, f64), metric: Metric) -> Series {
    let power = number::measured(watts, Metric::PowerW);
    let words = format!("{}: {} at {power}", drives.short(drive), number::measured(speed, metric));
    Series {
        drive,
        points: vec![(watts, speed)],
        values: vec![(watts, speed, words)],
        marked: true,
        end: power,
        ..Series::default()
    }
}
