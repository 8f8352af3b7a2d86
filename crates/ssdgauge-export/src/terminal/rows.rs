//! Rows of the terminal summary: customary ones for `quick`, headlines for other suites.

use crate::terminal::style::Style;
use ssdgauge_analysis::findings::trust;
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::headlines::headline_notes;
use ssdgauge_analysis::model::metrics;
use ssdgauge_analysis::model::{PointRun, Run, SpeedFall, StepLevels, TestRun};
use ssdgauge_analysis::steps::fall_words;
use ssdgauge_analysis::steps::knee;
use ssdgauge_analysis::steps::level_pair::{self, Levels};
use ssdgauge_analysis::steps::sent_late;
use ssdgauge_analysis::steps::slc_cache;
use ssdgauge_analysis::text::interval;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{Metric, PhaseKind, Scope, Stream, Workload, rounded};
use std::cmp::Reverse;

const LABEL: usize = 15;
const MB_S: usize = 8;
const IOPS: usize = 9;
const P99: usize = 9;
/// The position relative to the cache, or the bytes of a level.
const PLACE: usize = 11;

/// One row: the same requests, read and written.
#[derive(Debug)]
struct Row<'a> {
    label: String,
    /// Mixed rows last, then sequential before random, large before small, deep before shallow.
    order: (bool, bool, Reverse<u64>, Reverse<u32>),
    read: Option<Option<&'a PointRun>>,
    write: Option<Option<&'a PointRun>>,
}

/// A line of the table: what was read and written, as words.
struct Line {
    label: String,
    /// MB/s, IOPS and the 99th percentile of reads and of writes; `None` where the line has no such side.
    sides: [Option<[String; 3]>; 2],
    place: String,
}

/// Returns the rows that everybody knows, with a dash where nothing was measured.
pub(super) fn customary(run: &Run, style: &Style) -> Vec<String> {
    let rows = lines(run);
    let widths = widths(&rows, style);
    let side: usize = widths.iter().sum();
    let cells = |cells: [&str; 3]| -> Vec<String> {
        let shown = cells.into_iter().zip(widths).filter(|(_, width)| *width > 0);
        shown.map(|(cell, width)| style.right(cell, width)).collect()
    };
    let blank = " ".repeat(LABEL);
    let heads = style.faint(&cells(["MB/s", "IOPS", "p99"]).concat());
    let [read, write] = ["READ", "WRITE"].map(|head| style.right(head, side));
    let mut table = vec![
        format!("{blank}{}{}", style.read(&read), style.write(&write)),
        format!("{blank}{heads}{heads}"),
    ];
    let has_places = style.width >= LABEL + 2 * side + 2 + PLACE;
    for row in &rows {
        let mut line = style.left(&row.label, LABEL);
        for values in &row.sides {
            let Some(values) = values else {
                line.push_str(&" ".repeat(side));
                continue;
            };
            let values = cells(values.each_ref().map(String::as_str));
            line.extend(values.first().map(|rate| style.strong(rate)));
            line.extend(values.into_iter().skip(1));
        }
        if has_places {
            line.push_str(&format!("  {}", row.place));
        }
        table.push(line.trim_end().to_owned());
    }
    if widths[2] > 0 {
        table.push(style.dim("latency counts from submission to completion"));
    }
    table
}

/// Returns the widths of the columns of one side, 0 for one that has no room.
fn widths(rows: &[Line], style: &Style) -> [usize; 3] {
    let cells = |place: usize| {
        let values = rows.iter().flat_map(|row| &row.sides).flatten();
        values.map(move |values| values[place].as_str())
    };
    let least = [MB_S, IOPS, P99];
    let [rate, iops, p99] = [0, 1, 2].map(|place| style.column(least[place], cells(place)));
    let room = |columns: usize, width: usize| {
        if style.width >= LABEL + 2 * columns { width } else { 0 }
    };
    [rate, room(rate + iops, iops), room(rate + iops + p99, p99)]
}

/// Returns the lines of the table.
fn lines(run: &Run) -> Vec<Line> {
    let words = |[rate, iops, p99]: [Option<f64>; 3]| {
        let p99 = p99.map_or_else(|| number::NOTHING.to_owned(), rounded::latency);
        [number::optional(rate), number::optional(iops), p99]
    };
    let mut lines = Vec::new();
    for row in rows(run) {
        let read = row.read.map(|point| words(whole(point, Scope::Read)));
        let mut line = |label: &str, read, write, place: &str| {
            let (label, place) = (label.to_owned(), place.to_owned());
            lines.push(Line { label, sides: [read, write], place });
        };
        match row.write {
            None => line(&row.label, read, None, ""),
            Some(point) => match point.and_then(levels) {
                Some(([before, after], end)) => {
                    line(&row.label, read, Some(words(before)), &end);
                    line("", None, Some(words(after)), "then");
                }
                None => {
                    let cache =
                        point.and_then(|point| point.cache).map_or("", |cache| cache.name());
                    line(&row.label, read, Some(words(whole(point, Scope::Write))), cache);
                }
            },
        }
    }
    lines
}

/// Returns MB/s, IOPS and the 99th percentile of a whole step.
fn whole(point: Option<&PointRun>, scope: Scope) -> [Option<f64>; 3] {
    [Metric::ThroughputMbS, Metric::Iops, Metric::LatP99Us]
        .map(|metric| point.and_then(|point| metrics::value(point, metric, scope)))
}

/// Returns both levels of a step that only writes and changes in its middle, as [`whole`] does, and where the
/// first one ends: the drive never runs at the mean of the two. A level has no percentile of its own.
fn levels(point: &PointRun) -> Option<([[Option<f64>; 3]; 2], String)> {
    let [stream] = point.workload.streams.as_slice() else { return None };
    if stream.reads() || !stream.writes() || stream.has_sizes() {
        return None;
    }
    let block = stream.block_size.0 as f64;
    let of_bytes = |bytes: f64| [Some(bytes / 1e6), Some(bytes / block), None];
    if let Some(SpeedFall { edge, .. }) = slc_cache::first_fall(point) {
        let end = match edge.is_bounded_below() {
            true => format!("to {}", number::capacity(edge.bytes)),
            false => format!("max {}", number::capacity(edge.bytes + edge.uncertainty)),
        };
        return Some(([edge.before, edge.after].map(of_bytes), end));
    }
    let StepLevels { metric, before, after, bytes, .. } = point.levels?;
    let unit = if metric == Metric::Iops { block } else { 1e6 };
    let end = format!("to {}", number::capacity(bytes));
    Some(([before, after].map(|level| of_bytes(level * unit)), end))
}

fn rows(run: &Run) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for test in &run.tests {
        let phases = test.test.phases.iter().filter(|phase| phase.kind == PhaseKind::Measure);
        for step in phases.flat_map(|phase| &phase.steps) {
            let Some(workload) = step.action.workload() else { continue };
            let point = test.points.iter().find(|point| {
                point.point.label == step.label && point.point.position == step.position
            });
            let fallback = format!("{} {}", test.test.id, step.label);
            place(&mut rows, workload, point, &fallback);
        }
    }
    rows.sort_by_key(|row| row.order);
    rows
}

/// Puts a step into the row of its requests, or into a new one.
fn place<'a>(
    rows: &mut Vec<Row<'a>>,
    workload: &Workload,
    point: Option<&'a PointRun>,
    fallback: &str,
) {
    let reads = workload.streams.iter().any(Stream::reads);
    let writes = workload.streams.iter().any(Stream::writes);
    if !reads && !writes {
        return;
    }
    let (label, order) = match workload.streams.as_slice() {
        [stream] => customary_name(stream),
        _ => (sanitize::prose(fallback), (true, true, Reverse(0), Reverse(0))),
    };
    let free = rows.iter_mut().find(|row| {
        row.label == label && !(reads && row.read.is_some()) && !(writes && row.write.is_some())
    });
    let (read, write) = (reads.then_some(point), writes.then_some(point));
    match free {
        Some(row) => {
            row.read = row.read.or(read);
            row.write = row.write.or(write);
        }
        None => rows.push(Row { label, order, read, write }),
    }
}

/// Returns the name in everybody's fingers, such as `SEQ1M Q8`, and the place of the row.
fn customary_name(stream: &Stream) -> (String, (bool, bool, Reverse<u64>, Reverse<u32>)) {
    let (access, random) = match (stream.is_sequential(), stream.is_random()) {
        (true, _) => ("SEQ".to_owned(), false),
        (false, true) => ("RND".to_owned(), true),
        (false, false) => (format!("{}%RND", stream.random_percent), true),
    };
    let bytes = stream.block_size.0;
    let short = |bytes: u64| match bytes {
        _ if bytes.is_multiple_of(1 << 20) && bytes > 0 => format!("{}M", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) && bytes > 0 => format!("{}K", bytes >> 10),
        _ => format!("{bytes}B"),
    };
    let block = match stream.has_sizes() {
        true => format!("{}-{}", short(stream.smallest_size().0), short(bytes)),
        false => short(bytes),
    };
    let depth = u64::from(stream.queue_depth) * u64::from(stream.threads);
    let mixed = stream.reads() && stream.writes();
    let mix = match mixed {
        true => {
            let reads = stream.read_percent.min(100);
            format!(" {reads}/{}", 100 - reads)
        }
        false => String::new(),
    };
    let depth_order = u32::try_from(depth).unwrap_or(u32::MAX);
    let order = (mixed, random, Reverse(bytes), Reverse(depth_order));
    (format!("{access}{block} Q{depth}{mix}"), order)
}

/// Returns one row for each test: headline, interval and full seconds.
pub(super) fn headlines(run: &Run, style: &Style) -> Vec<String> {
    const VALUE: usize = 18;
    const INTERVAL: usize = 20;
    const SECONDS: usize = 8;
    let rows: Vec<(&TestRun, [String; 3])> =
        run.tests.iter().map(|test| (test, result(run, test))).collect();
    let column = |least: usize, place: usize| {
        style.column(least, rows.iter().map(|(_, cells)| cells[place].as_str()))
    };
    let [value_width, interval_width] = [column(VALUE, 0), column(INTERVAL, 1)];
    let with_interval = style.width >= 24 + value_width + interval_width + SECONDS;
    let taken = value_width + if with_interval { interval_width + SECONDS } else { 0 };
    let title = style.width.saturating_sub(taken);
    let mut head = format!("{}{}", style.left("Test", title), style.right("Result", value_width));
    if with_interval {
        head.push_str(&style.right(interval::heading(run.is_repeated()), interval_width));
        head.push_str(&style.right("seconds", SECONDS));
    }
    let mut lines = vec![style.faint(&head)];
    for (test, [value, interval, seconds]) in &rows {
        let headline = &test.headline;
        let levels = levels_of(run, test);
        let mut line = style.left(&sanitize::prose(&test.test.title), title);
        line.push_str(&style.strong(&style.right(value, value_width)));
        if with_interval {
            line.push_str(&style.right(interval, interval_width));
            line.push_str(&style.right(seconds, SECONDS));
        }
        lines.push(line);
        lines.extend(levels.map(|levels| style.dim(&format!("  {}", levels.with_unit()))));
        let doubt = trust::doubt_in_words(run, test).map(|doubt| style.folded("  ", &doubt));
        lines.extend(doubt.iter().flatten().map(|line| style.dim(line)));
        let title = workload_text::metric_title(&test.test, headline.metric);
        if test.test.score.scope() == Scope::All && title != headline.metric.title() {
            lines.push(style.dim("  latency of flushes, which the writes wait for"));
        }
        let remark = headline_notes::other_than_rule(test).filter(|_| with_interval);
        lines.extend(remark.map(|remark| style.dim(&format!("  {remark}"))));
        let late =
            sent_late::latest(test).map(|late| style.folded("  ", &late)).unwrap_or_default();
        lines.extend(late.iter().map(|line| style.dim(line)));
        lines.extend(further(test, style));
    }
    if with_interval {
        let shown = run.tests.iter().filter(|test| trust::invalid(run, test).is_none());
        let unseen = interval::unseen_in_short(shown.map(|test| &test.headline));
        let unseen = unseen.map(|unseen| style.folded("", &unseen)).unwrap_or_default();
        lines.extend(unseen.iter().map(|line| style.dim(line)));
    }
    lines
}

/// Returns the headline of `test`, its interval and its full seconds, as words.
fn result(run: &Run, test: &TestRun) -> [String; 3] {
    let headline = &test.headline;
    let is_valid = trust::invalid(run, test).is_none();
    let value = match (is_valid, levels_of(run, test)) {
        (false, _) => "invalid".to_owned(),
        (true, Some(_)) => "two levels".to_owned(),
        (true, None) => workload_text::headline(&test.test, headline),
    };
    let value = match trust::doubt_in_words(run, test) {
        Some(_) => format!("{value} {}", trust::DOUBT),
        None => value,
    };
    let interval = interval::words(&headline.interval, headline.metric).filter(|_| is_valid);
    let seconds = Some(headline.n).filter(|seconds| *seconds > 0).map(number::count);
    let or_dash = |words: Option<String>| words.unwrap_or_else(|| number::NOTHING.into());
    [value, or_dash(interval), or_dash(seconds)]
}

/// Returns both levels of the headline of a valid `test`, where it has two.
fn levels_of(run: &Run, test: &TestRun) -> Option<Levels> {
    let is_valid = trust::invalid(run, test).is_none();
    level_pair::of_headline(test, &test.test.score, &test.headline).filter(|_| is_valid)
}

/// Returns the lines below the headline of `test`: the levels of its write speed, what is shown with it at its
/// knee, and its further numbers.
fn further(test: &TestRun, style: &Style) -> Vec<String> {
    let rule = |score| workload_text::rule(&test.test, score);
    let of_headline = rule(&test.test.score);
    let further = test.test.also.iter().zip(&test.also).filter_map(|(score, number)| {
        number.value?;
        let (title, value) = (number.metric.title(), interval::headline(number));
        Some(match rule(score) {
            same if same == of_headline => format!("{title} {value}"),
            other => format!("{title} {value} ({other})"),
        })
    });
    let further: Vec<String> = further.collect();
    let falls = Some(slc_cache::falls(test)).filter(|falls| !falls.is_empty());
    let falls = falls.map(|falls| format!("writes {}", fall_words::levels(falls)));
    let at_knee = knee::at_knee(test).map(|knee| knee.words());
    let further = (!further.is_empty()).then(|| further.join(", "));
    let lines = falls.into_iter().chain(at_knee).chain(further);
    let folded = lines.flat_map(|line| style.folded("  ", &line));
    folded.map(|line| style.dim(&line)).collect()
}
