//! One long step over time: speed, latency, power and temperature of every second.

use crate::chart::axis::{Across, Up};
use crate::chart::panels::values::{ticks, unit};
use crate::chart::plot::{Plot, Series};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::drives::run_lines::{self, LineOver};
use ssdgauge_analysis::drives::sections;
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::groups::measure::Measure;
use ssdgauge_analysis::model::PointRun;
use ssdgauge_analysis::text::number;
use ssdgauge_core::{Metric, Nanos, PowerScope, Window};
use ssdgauge_statistics::summary;

/// A step this long has its first fifth enlarged: the change comes early. Chosen.
const LONG: f64 = 300.0;

/// Points of a smoothed line at most.
const SMOOTH: usize = 110;

/// Points of the line of every second at most.
const THIN: usize = 400;

/// More drives than this have no line of every second.
const MAX_THIN: usize = 8;

/// Places of one line that show their value.
const VALUES: usize = 30;

/// The measured values of a step, each with the middle of its second.
type ValuesOf = Box<dyn Fn(&PointRun) -> Vec<(f64, f64)>>;

/// A quantity over time.
struct Quantity {
    kind: &'static str,
    name: String,
    metric: Metric,
    unit: &'static str,
    may_be_log: bool,
    words: fn(f64) -> String,
    values: ValuesOf,
}

/// Returns the rate of every second, the part that the score counts tinted.
pub(crate) fn speed(group: &Group<'_>, drives: &ReportDrives) -> Option<Plot> {
    let metric = Measure::Speed.metric_of_steps(&group.first().test.test).rate();
    let quantity = Quantity {
        kind: "timeline",
        name: metric.title().to_owned(),
        metric,
        unit: metric.unit(),
        may_be_log: true,
        words: number::short,
        values: Box::new(move |point| place(point.rates(metric.counts_bytes()))),
    };
    let mut plot = over_time(group, drives, &quantity)?;
    add_background(&mut plot, group, drives, quantity.words);
    plot.scored = scored(group);
    for (line, member) in plot.lines.iter_mut().zip(with_seconds(group)) {
        let headline = &member.test.headline;
        let value = headline.value.map(|value| number::measured(value, headline.metric));
        line.end = value.unwrap_or_else(|| number::NOTHING.to_owned());
    }
    Some(plot)
}

/// Adds the lines of other drives behind the only one of `plot`.
fn add_background(
    plot: &mut Plot,
    group: &Group<'_>,
    drives: &ReportDrives,
    words: fn(f64) -> String,
) {
    let ([member], Some(peers)) = (group.members.as_slice(), drives.peers()) else { return };
    let Some(point) = point(member) else { return };
    let end = point.point.totals.elapsed.as_secs_f64();
    let unit = if end > LONG { 60.0 } else { 1.0 };
    let scaled = |line: &Vec<(f64, f64)>| {
        let line = run_lines::up_to(line, end);
        line.into_iter().map(|(x, y)| (x / unit, y)).collect::<Vec<_>>()
    };
    plot.background =
        peers.lines(&run_lines::key(*member, LineOver::Seconds)).iter().map(scaled).collect();
    if plot.background.is_empty() {
        return;
    }
    let own = plot.lines.iter().flat_map(|line| line.points.iter().chain(&line.thin));
    let all: Vec<f64> = own.chain(plot.background.iter().flatten()).map(|point| point.1).collect();
    let unit = plot.up.bare_unit().to_owned();
    plot.up = Up::new(all.into_iter(), &unit, true, words);
}

/// Returns latency or power of every second, where `measure` has one; power has a plot for each scope
/// of its meters.
pub(crate) fn of_measure(group: &Group<'_>, drives: &ReportDrives, measure: Measure) -> Vec<Plot> {
    if !sections::is_one_step(group) {
        return Vec::new();
    }
    let metric = measure.metric(&group.first().test.test);
    match measure {
        Measure::P99 => {
            let quantity = Quantity {
                kind: "latency-timeline",
                name: "p99 latency of each second".to_owned(),
                metric,
                unit: unit(metric),
                may_be_log: true,
                words: ticks(metric),
                values: Box::new(|point| place(point.lat_p99s_us())),
            };
            // The percentile of a whole step, which an imported result has, is not a course.
            let has_course = with_seconds(group)
                .filter_map(point)
                .any(|point| (quantity.values)(point).len() > 1);
            over_time(group, drives, &quantity).filter(|_| has_course).into_iter().collect()
        }
        Measure::Power => powers(group, drives),
        Measure::Speed if metric.needs_power() => powers(group, drives),
        Measure::Speed | Measure::Shallow | Measure::Efficiency | Measure::P9999 => Vec::new(),
    }
}

fn powers(group: &Group<'_>, drives: &ReportDrives) -> Vec<Plot> {
    let of_scope = |scope: PowerScope| {
        let (kind, name) = match scope {
            PowerScope::Drive => ("power-timeline", "power"),
            PowerScope::HostDc => ("host-dc-timeline", "power of the host, DC"),
            PowerScope::HostAc => ("host-ac-timeline", "power of the host, AC"),
        };
        let quantity = Quantity {
            kind,
            name: name.to_owned(),
            metric: Metric::PowerW,
            unit: Metric::PowerW.unit(),
            may_be_log: false,
            words: number::short,
            values: Box::new(move |point| place(point.readings(scope.quantity()))),
        };
        over_time(group, drives, &quantity)
    };
    PowerScope::ALL.into_iter().filter_map(of_scope).collect()
}

/// Returns the temperature of every second.
pub(crate) fn temperature(group: &Group<'_>, drives: &ReportDrives) -> Option<Plot> {
    if !sections::is_one_step(group) {
        return None;
    }
    let quantity = Quantity {
        kind: "temperature",
        name: "temperature".to_owned(),
        metric: Metric::PowerW,
        unit: "°C",
        may_be_log: false,
        words: number::short,
        values: Box::new(|point| place(point.readings("temperature_c"))),
    };
    over_time(group, drives, &quantity)
}

fn with_seconds<'a>(group: &'a Group<'_>) -> impl Iterator<Item = &'a Member<'a>> {
    group.members.iter().filter(|member| point(member).is_some())
}

fn point<'a>(member: &'a Member<'_>) -> Option<&'a PointRun> {
    member.test.points.first().filter(|point| point.seconds_shown() > 0)
}

fn over_time(group: &Group<'_>, drives: &ReportDrives, quantity: &Quantity) -> Option<Plot> {
    let series =
        |member: &Member<'_>| point(member).map_or(Vec::new(), |one| (quantity.values)(one));
    let all: Vec<(usize, Vec<(f64, f64)>)> =
        with_seconds(group).map(|member| (drives.drive_of(member.index), series(member))).collect();
    if all.iter().all(|(_, series)| series.is_empty()) {
        return None;
    }
    let end = all.iter().filter_map(|(_, series)| series.last()).map(|last| last.0 + 0.5);
    let end = end.fold(0.0, f64::max);
    let has_thin = all.len() <= MAX_THIN;
    let lines: Vec<Series> = all
        .iter()
        .map(|(drive, series)| line(*drive, series, drives, quantity, has_thin))
        .collect();
    let drawn = lines.iter().flat_map(|line| line.points.iter().chain(&line.thin));
    let up = Up::new(
        drawn.map(|point| point.1).collect::<Vec<_>>().into_iter(),
        quantity.unit,
        quantity.may_be_log,
        quantity.words,
    );
    Some(Plot {
        kind: quantity.kind,
        caption: String::new(),
        label: format!("{}: {} over time", group.title(), quantity.name),
        across: across(end),
        up,
        lines,
        scored: None,
        rays: Vec::new(),
        events: Vec::new(),
        published: Vec::new(),
        background: Vec::new(),
    })
}

/// Returns values, each with the number of its second, at the middle of that.
fn place(values: impl Iterator<Item = (u32, f64)>) -> Vec<(f64, f64)> {
    values.map(|(second, value)| (f64::from(second) + 0.5, value)).collect()
}

fn across(end: f64) -> Across {
    if end <= LONG {
        return Across::continuous(end, None, "seconds", number::tick);
    }
    let minutes = |cut: f64| Across::continuous(end / 60.0, Some(cut), "minutes", number::tick);
    let cut = (end / 300.0).round().max(1.0);
    let mut across = minutes(cut);
    let near = number::duration(cut * 60.0);
    across.parts = Some((format!("first {near}, enlarged"), "the rest".to_owned()));
    across
}

fn line(
    drive: usize,
    series: &[(f64, f64)],
    drives: &ReportDrives,
    quantity: &Quantity,
    has_thin: bool,
) -> Series {
    let end = series.last().map_or(0.0, |last| last.0);
    // The axis is in minutes where it is long.
    let unit = if end + 0.5 > LONG { 60.0 } else { 1.0 };
    let cut = if unit > 1.0 { (end / 300.0).round().max(1.0) * 60.0 } else { 0.0 };
    let split = series.partition_point(|(at, _)| *at < cut);
    let (near, far) = series.split_at(split);
    let parts = |most: usize| {
        let halves = [near, far].into_iter();
        halves.flat_map(move |half| half.chunks(half.len().div_ceil(most / 2).max(1)))
    };
    let mean = |part: &[(f64, f64)]| {
        let values: Vec<f64> = part.iter().map(|point| point.1).collect();
        let middle = (part[0].0 + part[part.len() - 1].0) / 2.0;
        (middle, summary::mean(&values).unwrap_or(0.0))
    };
    let points: Vec<(f64, f64)> = parts(SMOOTH).map(mean).collect();
    let values = parts(VALUES).map(|part| {
        let (at, value) = mean(part);
        let extreme = |pick: fn(f64, f64) -> f64| part.iter().map(|point| point.1).reduce(pick);
        let shown = |value: f64| match quantity.unit {
            "°C" => format!("{} °C", number::text(value)),
            _ => number::measured(value, quantity.metric),
        };
        let words = format!(
            "{}, {}: {}, between {} and {}",
            drives.short(drive),
            number::duration(at),
            shown(value),
            shown(extreme(f64::min).unwrap_or(value)),
            shown(extreme(f64::max).unwrap_or(value))
        );
        (at / unit, value, words)
    });
    let scaled = |points: &[(f64, f64)]| points.iter().map(|(x, y)| (x / unit, *y)).collect();
    let thin = if has_thin && series.len() > SMOOTH { extremes(near, far) } else { Vec::new() };
    Series {
        drive,
        points: scaled(&points),
        thin: scaled(&thin),
        values: values.collect(),
        ..Series::default()
    }
}

/// Returns the minimum and the maximum value of each column, so that no spike is lost.
fn extremes(near: &[(f64, f64)], far: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    for part in [near, far] {
        let size = part.len().div_ceil(THIN / 4).max(1);
        for column in part.chunks(size) {
            let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
            let ends = [column.iter().min_by(by_value), column.iter().max_by(by_value)];
            let mut ends: Vec<(f64, f64)> = ends.into_iter().flatten().copied().collect();
            ends.sort_by(|a, b| a.0.total_cmp(&b.0));
            ends.dedup();
            kept.extend(ends);
        }
    }
    kept
}

/// Returns the part that the score counts, in the unit of the axis, with its words.
fn scored(group: &Group<'_>) -> Option<(f64, f64, String)> {
    let (_, window) = group.first().test.test.score.last_part()?;
    let Window::Time(time) = window else { return None };
    let elapsed = |member: &Member<'_>| point(member).map(|point| point.point.totals.elapsed);
    let end = group.members.iter().filter_map(elapsed).max()?;
    let unit = if end.as_secs_f64() > LONG { 60.0 } else { 1.0 };
    let start = Nanos(end.0.saturating_sub(time.0)).as_secs_f64();
    Some((start / unit, end.as_secs_f64() / unit, number::spaced(&format!("scored: {window}"))))
}
