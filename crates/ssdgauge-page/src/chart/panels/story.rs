//! Sequential writes against what was written before: where the speed of each drive falls.

use crate::chart::axis::{Across, Up};
use crate::chart::plot::{Event, Plot, Series};
use ssdgauge_analysis::drives::caches::{self, Writes};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::drives::run_lines::{self, LineOver};
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::model::SpeedFall;
use ssdgauge_analysis::steps::slc_cache;
use ssdgauge_analysis::text::case::capital;
use ssdgauge_analysis::text::number;
use ssdgauge_core::{Metric, rounded};
use ssdgauge_statistics::summary;

/// More drives than this have no words at their falls.
const MAX_EVENTS: usize = 2;

/// The steps of a line at most in each of its parts.
const COLUMNS: usize = 150;

/// Places of one line that show their value.
const VALUES: usize = 40;

/// Returns whether every member of `group` writes in order in one step.
pub(crate) fn fits(group: &Group<'_>) -> bool {
    let has = |member: &Member<'_>| {
        member.test.points.is_empty() || slc_cache::sequential_write(member.test).is_some()
    };
    group.members.iter().all(has)
}

/// Returns the plot; `None` where no full second was recorded.
pub(crate) fn plot(group: &Group<'_>, drives: &ReportDrives) -> Option<Plot> {
    let writes: Vec<(&Member<'_>, Writes)> = group
        .members
        .iter()
        .filter_map(|member| {
            Some((member, caches::writes(slc_cache::sequential_write(member.test)?)))
        })
        .filter(|(_, writes)| !writes.seconds.is_empty())
        .collect();
    let all: Vec<&Writes> = writes.iter().map(|(_, writes)| writes).collect();
    let range = caches::range(&all)?;
    let total = all.iter().map(|writes| writes.total).fold(0.0, f64::max);
    let has_edge = all.iter().any(|writes| writes.fall().is_some());
    let mut across =
        Across::continuous(total, has_edge.then_some(range), "gigabytes written", number::tick);
    across.parts = Some((
        format!("first {}, enlarged", number::plain_capacity((range * 1e9) as u64)),
        "the rest".to_owned(),
    ));
    let lines: Vec<Series> =
        writes.iter().map(|(member, writes)| line(member, writes, drives, range)).collect();
    let background = background(group, drives, total);
    let rates = all.iter().flat_map(|writes| &writes.seconds).map(|(_, _, rate)| *rate);
    let rates = rates.chain(background.iter().flatten().map(|(_, rate)| *rate));
    Some(Plot {
        kind: "fill",
        caption: String::new(),
        label: format!("{}: write speed against gigabytes written", group.title()),
        across,
        up: Up::new(rates, "MB/s", false, number::short),
        lines,
        scored: None,
        rays: Vec::new(),
        events: events(&writes, drives),
        published: Vec::new(),
        background,
    })
}

/// Returns the lines of other drives as far as the axis reaches.
fn background(group: &Group<'_>, drives: &ReportDrives, total: f64) -> Vec<Vec<(f64, f64)>> {
    let ([member], Some(peers)) = (group.members.as_slice(), drives.peers()) else {
        return Vec::new();
    };
    let lines = peers.lines(&run_lines::key(*member, LineOver::Written)).iter();
    lines.map(|line| run_lines::up_to(line, total)).collect()
}

fn line(member: &Member<'_>, writes: &Writes, drives: &ReportDrives, range: f64) -> Series {
    let drive = drives.drive_of(member.index);
    let steps = steps(writes, range);
    let points: Vec<(f64, f64)> =
        steps.iter().flat_map(|(from, to, rate)| [(*from, *rate), (*to, *rate)]).collect();
    let every = steps.len().div_ceil(VALUES).max(1);
    let shown = steps.iter().step_by(every);
    let values = shown.map(|(from, to, rate)| {
        let middle = (from + to) / 2.0;
        let (mb, gb) = (number::text(*rate), number::text(middle));
        (middle, *rate, format!("{}: {mb} MB/s at {gb} GB", drives.short(drive)))
    });
    let value = member.test.headline.value.map_or_else(
        || number::NOTHING.to_owned(),
        |value| match member.test.headline.metric {
            Metric::ThroughputMbS => number::text(value),
            metric => number::measured(value, metric),
        },
    );
    let whole = number::plain_capacity((writes.total * 1e9) as u64);
    let end = format!("{value} · {whole} in {}", number::duration(writes.elapsed));
    Series { drive, points, values: values.collect(), end, ..Series::default() }
}

/// Returns levels from one amount written to another: each second in the range of the first falls, and
/// the mean of several seconds where there are too many to draw.
fn steps(writes: &Writes, range: f64) -> Vec<(f64, f64, f64)> {
    let split = writes.seconds.partition_point(|(from, _, _)| *from < range);
    let (near, far) = writes.seconds.split_at(split);
    let merged = |part: &[(f64, f64, f64)]| -> Vec<(f64, f64, f64)> {
        let size = part.len().div_ceil(COLUMNS).max(1);
        part.chunks(size)
            .map(|seconds| {
                let rates: Vec<f64> = seconds.iter().map(|(_, _, rate)| *rate).collect();
                let mean = summary::mean(&rates).unwrap_or(0.0);
                (seconds[0].0, seconds[seconds.len() - 1].1, mean)
            })
            .collect()
    };
    let mut steps = merged(near);
    steps.extend(merged(far));
    steps
}

/// Returns the words at the first falls, the deepest ones first.
fn events(writes: &[(&Member<'_>, Writes)], drives: &ReportDrives) -> Vec<Event> {
    let mut falls: Vec<(f64, Event)> = Vec::new();
    for (member, writes) in writes {
        let Some(SpeedFall { edge, cause, .. }) = writes.fall() else { continue };
        let drive = drives.drive_of(member.index);
        // Of a fall within the first seconds, only an upper bound of its place is known.
        let (bytes, when) = match edge.is_bounded_below() {
            true => (edge.bytes, "after"),
            false => (edge.bytes + edge.uncertainty, "within"),
        };
        let seconds = (bytes as f64 / edge.before.max(1.0)).ceil();
        let (before, after) = (edge.before / 1e6, edge.after / 1e6);
        let slower = slc_cache::percent_words(slc_cache::percent_lost(edge));
        let least = if edge.is_bounded_below() { "" } else { "at least " };
        let event = format!("{} {when} {}", cause.event(), number::duration(seconds));
        let words = vec![
            match drives.count() {
                1 => capital(&event),
                _ => format!("{}: {event}", drives.short(drive)),
            },
            format!(
                "{}, {}\u{a0}MB/s",
                rounded::edge(edge),
                edge.before_in_words(|bytes| number::text(bytes / 1e6))
            ),
            format!("then {}\u{a0}MB/s: {least}{slower}\u{a0}% slower", number::text(after)),
        ];
        let at = (edge.bytes as f64 / 1e9, after + 0.62 * (before - after));
        falls.push((before - after, Event { drive, at, words }));
    }
    falls.sort_by(|a, b| b.0.total_cmp(&a.0));
    falls.into_iter().take(MAX_EVENTS).map(|(_, event)| event).collect()
}
