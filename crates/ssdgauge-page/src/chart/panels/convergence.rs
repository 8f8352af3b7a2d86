//! The convergence of a tracked value to its steady state, round by round, with the measurement window: the
//! plots that the SNIA Performance Test Specification asks for.

use crate::chart::axis::{Across, Up};
use crate::chart::plot::{Plot, Series};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::model::Tracked;
use ssdgauge_analysis::text::{number, sanitize};
use ssdgauge_statistics::steady::WINDOW;

/// Returns a plot for everything that the tests of `group` tracked.
pub(crate) fn plots(group: &Group<'_>, drives: &ReportDrives) -> Vec<Plot> {
    let most = group.members.iter().map(|member| member.test.tracked.len()).max().unwrap_or(0);
    (0..most).filter_map(|place| convergence(group, drives, place)).collect()
}

fn convergence(group: &Group<'_>, drives: &ReportDrives, place: usize) -> Option<Plot> {
    let tracked = |member: &Member<'_>| member.test.tracked.get(place).cloned();
    let all: Vec<(usize, Tracked)> = group
        .members
        .iter()
        .filter_map(|member| Some((drives.drive_of(member.index), tracked(member)?)))
        .filter(|(_, tracked)| tracked.values.len() > 1)
        .collect();
    let (_, first) = all.first()?;
    let metric = first.metric;
    let unit = if metric.unit().is_empty() { metric.title() } else { metric.unit() };
    let rounds = all.iter().map(|(_, tracked)| tracked.values.len()).max().unwrap_or(0);
    let values = || all.iter().flat_map(|(_, tracked)| &tracked.values).copied();
    let window = |tracked: &Tracked| {
        let (start, _) = tracked.window()?;
        let from = start as f64 + 0.5;
        Some((from, from + WINDOW as f64, "measurement window".to_owned()))
    };
    Some(Plot {
        kind: "convergence",
        caption: format!(
            "{unit} in each round; a round is {}. The measurement window is the first five rounds that are \
             steady by the SNIA criterion, or the last five.",
            sanitize::prose(&first.round)
        ),
        label: format!("{}: convergence of {}", group.title(), sanitize::prose(&first.step)),
        across: Across::continuous(rounds as f64 + 0.5, None, "round", number::tick),
        up: Up::new(values(), unit, false, number::short),
        lines: all.iter().map(|(drive, tracked)| line(*drive, tracked)).collect(),
        scored: if all.len() == 1 { window(first) } else { None },
        rays: Vec::new(),
        events: Vec::new(),
        published: Vec::new(),
        background: Vec::new(),
    })
}

fn line(drive: usize, tracked: &Tracked) -> Series {
    let at = |(round, value): (usize, &f64)| ((round + 1) as f64, *value);
    let points: Vec<(f64, f64)> = tracked.values.iter().enumerate().map(at).collect();
    let values = points.iter().map(|(round, value)| (*round, *value, String::new())).collect();
    Series { drive, points, values, marked: true, ..Series::default() }
}
