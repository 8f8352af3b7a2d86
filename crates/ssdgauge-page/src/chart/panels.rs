//! The panels of a test, one for each tab of its figure on the page: a ranking with the course of the same
//! measure. Files have the same charts.

pub(crate) mod convergence;
pub(crate) mod ladder;
mod loads;
pub(crate) mod over_time;
mod percentiles;
pub(crate) mod repeated;
pub(crate) mod steps_over_time;
mod story;
pub(crate) mod values;
mod watts;

use crate::chart::bars::{Ranking, Row};
use crate::chart::heat_map::{self, HeatMap};
use crate::chart::panels::repeated::Repeated;
use crate::chart::plot::Plot;
use crate::chart::rows::Rows;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::drives::sections;
use ssdgauge_analysis::groups::captions;
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::groups::measure::Measure;
use ssdgauge_analysis::groups::power;
use ssdgauge_analysis::groups::uses::{self, Use};
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::steps::headline_points;
use ssdgauge_analysis::text::interval;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{Chart, Metric, Scope};

/// One panel with its tab.
pub(crate) struct Panel {
    /// The key of the tab, one of those in the style sheet.
    pub(crate) key: &'static str,
    /// The words of the tab.
    pub(crate) name: String,
    /// The ranking of a measure.
    pub(crate) ranking: Option<Ranking>,
    /// Rows of marks: percentiles, or the loads of a search with what their reasons are about.
    pub(crate) rows: Option<(Rows, String)>,
    /// The course of the same measure.
    pub(crate) course: Option<Plot>,
    /// Whether the course is on the page without the ranking, whose values its labels have.
    pub(crate) is_alone: bool,
    /// Further plots below.
    pub(crate) below: Vec<Plot>,
    /// Maps of latencies over time.
    pub(crate) maps: Vec<HeatMap>,
    /// Equal repetitions, as one value.
    pub(crate) repeated: Option<Repeated>,
}

impl Panel {
    fn new(key: &'static str, name: impl Into<String>) -> Panel {
        Panel {
            key,
            name: name.into(),
            ranking: None,
            rows: None,
            course: None,
            is_alone: false,
            below: Vec::new(),
            maps: Vec::new(),
            repeated: None,
        }
    }
}

/// The shape of a test, which decides what is shown with the ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// A swept parameter: lines over its values.
    Ladder,
    /// One long step that writes in order: speed against what was written.
    Story,
    /// One long step: speed over time.
    Course,
    /// One step of a mix: percentiles of latency.
    Tail,
    /// A search: the loads that were tried.
    Loads,
    /// Steps without a common parameter, or short ones.
    Plain,
}

fn shape(group: &Group<'_>) -> Shape {
    let test = &group.first().test.test;
    // The course of a test of power is its power: its requests are few or none.
    let is_of_power = test.score.metric().needs_power();
    let is_one_step = group.members.iter().all(|member| member.test.points.len() <= 1);
    match sections::of_group(group) {
        _ if test.search.is_some() => Shape::Loads,
        Use::Latency if is_one_step && uses::streams(test).len() == 1 => Shape::Tail,
        Use::Sustained if sections::is_over_time(group) && story::fits(group) => Shape::Story,
        _ if sections::is_over_time(group) && !is_of_power => Shape::Course,
        _ if ladder::fits(group) => Shape::Ladder,
        Use::Sustained
        | Use::Everyday
        | Use::Transfers
        | Use::Durable
        | Use::Mixed
        | Use::Latency
        | Use::Power => Shape::Plain,
    }
}

/// Returns the panels of `group`; the first one is shown first.
pub(crate) fn panels(group: &Group<'_>, drives: &ReportDrives) -> Vec<Panel> {
    let test = &group.first().test.test;
    let shape = shape(group);
    // The seconds of a long step are shown also where its headline has no value.
    let is_over_time = matches!(shape, Shape::Story | Shape::Course);
    let measured = Measure::ALL.into_iter().filter(|measure| {
        measure.is_measured(group) || (is_over_time && *measure == Measure::Speed)
    });
    let mut panels: Vec<Panel> =
        measured.map(|measure| panel(group, drives, shape, measure)).collect();
    let has_distribution = test.figures.contains(&Chart::Distribution);
    if has_distribution && !matches!(shape, Shape::Tail | Shape::Loads) {
        let rows = percentiles::rows(group, drives).map(|rows| (rows, String::new()));
        let panel = |rows| Panel { rows: Some(rows), ..Panel::new("dist", "Percentiles") };
        panels.extend(rows.map(panel));
    }
    let below = |key, name: &str, plot| Panel { below: vec![plot], ..Panel::new(key, name) };
    let over_time_wanted =
        test.figures.iter().any(|f| matches!(f, Chart::Timeline | Chart::LatencyTimeline));
    if shape == Shape::Ladder && over_time_wanted {
        let plot = steps_over_time::plot(group, drives);
        panels.extend(plot.map(|plot| below("time", "Over time", plot)));
    }
    let maps = heat_map::of_group(group, drives);
    if !maps.is_empty() {
        panels.push(Panel { maps, ..Panel::new("map", "Latency map") });
    }
    let heat = over_time::temperature(group, drives);
    panels.extend(heat.map(|plot| below("heat", "Temperature", plot)));
    panels
}

fn panel(group: &Group<'_>, drives: &ReportDrives, shape: Shape, measure: Measure) -> Panel {
    let test = &group.first().test.test;
    let is_speed = measure == Measure::Speed;
    let name = match shape {
        Shape::Tail if is_speed => "Latency and speed",
        Shape::Ladder
        | Shape::Story
        | Shape::Course
        | Shape::Tail
        | Shape::Loads
        | Shape::Plain => measure.name(test),
    };
    let mut panel = Panel {
        ranking: Some(ranking(group, drives, measure)),
        is_alone: matches!(shape, Shape::Story | Shape::Course) && is_speed,
        ..Panel::new(measure.key(), name)
    };
    panel.repeated = repeated::of_group(group, drives, measure);
    match shape {
        _ if panel.repeated.is_some() => {}
        Shape::Story if is_speed => panel.course = story::plot(group, drives),
        Shape::Course if is_speed => panel.course = over_time::speed(group, drives),
        Shape::Loads if is_speed => {
            panel.rows = Some((loads::rows(group, drives), loads::caption_of_reasons(group)));
        }
        Shape::Tail if is_speed => {
            panel.rows = percentiles::rows(group, drives).map(|rows| (rows, String::new()));
        }
        Shape::Ladder => {
            let metric = measure.metric_of_steps(test);
            panel.course = ladder::plot(group, drives, metric, Scope::All);
            panel.below = match measure {
                Measure::Efficiency => labelled(watts::plot(group, drives)),
                Measure::Speed if metric.is_split() => ladder::of_directions(group, drives, metric),
                Measure::P99 => ladder::of_directions(group, drives, metric),
                Measure::Speed | Measure::Shallow | Measure::Power | Measure::P9999 => Vec::new(),
            };
        }
        Shape::Story | Shape::Course | Shape::Tail | Shape::Plain | Shape::Loads
            if measure == Measure::Efficiency =>
        {
            panel.course = watts::plot(group, drives);
        }
        Shape::Story | Shape::Course | Shape::Tail | Shape::Plain | Shape::Loads => {
            let mut plots = over_time::of_measure(group, drives, measure).into_iter();
            panel.course = plots.next();
            panel.below = labelled(plots);
        }
    }
    panel
}

/// Returns `plots`, each with its words above it.
fn labelled(plots: impl IntoIterator<Item = Plot>) -> Vec<Plot> {
    plots.into_iter().map(|plot| Plot { caption: plot.label.clone(), ..plot }).collect()
}

/// Returns the ranking of `measure`, the best first and drives without a value last.
fn ranking(group: &Group<'_>, drives: &ReportDrives, measure: Measure) -> Ranking {
    let test = &group.first().test.test;
    let metric = measure.metric(test);
    let mut rows: Vec<Row> =
        group.members.iter().map(|member| row(group, member, drives, measure)).collect();
    let sign = if metric.more_is_better() { -1.0 } else { 1.0 };
    let key = |row: &Row| row.value.as_ref().map_or(f64::INFINITY, |value| sign * value);
    rows.sort_by(|a, b| key(a).total_cmp(&key(b)));
    rows.extend(drives.untested_in_figures(group).into_iter().map(|drive| Row {
        drive,
        name: None,
        value: Err("not tested".to_owned()),
        words: String::new(),
        extra: String::new(),
        interval: None,
        title: String::new(),
    }));
    let is_flattered = |row: &Row| row.words.ends_with(interval::FLATTERED);
    let mut caption = caption(group, measure, metric);
    if rows.iter().any(is_flattered) {
        caption = format!("{}. {}", caption.trim_end_matches('.'), interval::FLATTERED_WORDS);
    }
    Ranking { caption, rows, may_be_log: metric.is_latency() || metric == Metric::MeanOverSigma }
}

fn row(group: &Group<'_>, member: &Member<'_>, drives: &ReportDrives, measure: Measure) -> Row {
    let drive = drives.drive_of(member.index);
    let metric = measure.metric(&member.test.test);
    let value = measure.value(group, member);
    let flattered_by = match measure {
        Measure::Speed => interval::flattered(&member.test.headline),
        Measure::Shallow | Measure::Efficiency | Measure::Power | Measure::P99 | Measure::P9999 => {
            None
        }
    };
    let words = match &value {
        Ok(value) if flattered_by.is_some() => {
            format!("{}{}", number::words(*value, metric), interval::FLATTERED)
        }
        Ok(value) => number::words(*value, metric),
        Err(_) => String::new(),
    };
    let full = match &value {
        Ok(value) => number::measured(*value, metric),
        Err(reason) => reason.clone(),
    };
    let interval = match measure {
        Measure::Speed => member.test.headline.interval.ends(),
        Measure::Shallow | Measure::Efficiency | Measure::Power | Measure::P99 | Measure::P9999 => {
            None
        }
    };
    let extra = place(member, measure);
    let mut title = format!("{}: {full}", drives.short(drive));
    if let Some((low, high)) = interval {
        let (low, high) = (interval::end(low, metric), interval::end(high, metric));
        title.push_str(&format!(", 95\u{a0}% interval {low} to {high}"));
        if let Some(flattered) = flattered_by {
            title.push_str(&format!("; {}", flattered.words(metric)));
        }
    }
    if !extra.is_empty() {
        title.push_str(&format!(" · {extra}"));
    }
    let interval = interval.filter(|(_, high)| high.is_finite());
    Row { drive, name: None, interval, value, words, extra, title }
}

/// Returns the queue depth of a knee, which belongs to its value.
fn place(member: &Member<'_>, measure: Measure) -> String {
    let score = &member.test.test.score;
    match (measure, score.depth_knee(), headline_points::points(member.test).as_slice()) {
        (Measure::Speed, Some(_), [point]) => {
            format!("95\u{a0}% at {}", sanitize::step(&point.point.label))
        }
        (_, _, _) => String::new(),
    }
}

/// Returns unit, direction and rule of `measure`, and what it counts.
fn caption(group: &Group<'_>, measure: Measure, metric: Metric) -> String {
    let test = &group.first().test.test;
    let rule = number::spaced(&workload_text::rule(test, &test.score));
    let base = workload_text::base_load(test).filter(|_| metric == Metric::LoadMultiple);
    let unit = match base {
        Some(base) => format!("× {base}"),
        None if metric.unit().is_empty() => metric.title().to_owned(),
        None => metric.unit().to_owned(),
    };
    let less = if metric.more_is_better() { "" } else { "; lower is better" };
    match measure {
        Measure::Speed if metric.needs_power() => {
            let by = power::measured_by(group, &power::scope(group));
            format!("{unit}, {rule}{}{less}; {by}", n(group))
        }
        Measure::Speed if metric.is_latency() => {
            format!("µs, {rule}{less}. {}", captions::latency(&group.first()))
        }
        Measure::Speed => format!("{unit}, {rule}{}{less}", n(group)),
        Measure::Shallow => format!("{unit} at low queue depths{less}"),
        Measure::Efficiency | Measure::Power => {
            let by = power::measured_by(group, &power::scope(group));
            format!("{unit} at the steps of the headline{less}; {by}")
        }
        Measure::P99 | Measure::P9999 => {
            let share = if measure == Measure::P99 { "99 of 100" } else { "9,999 of 10,000" };
            format!(
                "{share} requests complete within it{less}. {}",
                captions::latency(&group.first())
            )
        }
    }
}

/// Returns the number of seconds behind the values, which are those of one run each.
fn n(group: &Group<'_>) -> String {
    let seconds = || group.members.iter().map(|member| member.test.headline.n);
    let (Some(least), Some(most)) = (seconds().min(), seconds().max()) else {
        return String::new();
    };
    match (least, most) {
        (_, 0) => match group.members.iter().map(|member| member.test.points.len()).max() {
            Some(steps @ 2..) => format!("; n = {} steps", number::count(steps as u64)),
            _ => String::new(),
        },
        (least, most) if least == most => format!("; n = {}\u{a0}s", number::count(least)),
        (least, most) => {
            format!("; n = {} to {}\u{a0}s", number::count(least), number::count(most))
        }
    }
}
