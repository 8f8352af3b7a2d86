//! The panels of a figure, one behind each tab: a ranking with the course of the same measure.

mod ladder;
mod loads;
mod over_time;
mod percentiles;
mod steps_over_time;
mod story;
mod values;
mod watts;

use crate::analysis::captions;
use crate::analysis::group::{Group, Member};
use crate::analysis::headline_points;
use crate::analysis::measure::Measure;
use crate::analysis::power;
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::sections;
use crate::analysis::uses::{self, Use};
use crate::analysis::workload_text;
use crate::chart::plot::Plot;
use crate::page::kit::bars::{Ranking, Row, bars};
use crate::page::kit::plot;
use crate::text::interval;
use crate::text::number;
use crate::text::sanitize;
use maud::{Markup, html};
use ssdgauge_core::{Figure, Metric};

/// One panel with its tab.
pub(super) struct Panel {
    /// The key of the tab, one of those in the style sheet.
    pub(super) key: &'static str,
    /// The words of the tab.
    pub(super) name: String,
    /// The panel.
    pub(super) body: Markup,
}

/// The shape of a test, which decides what stands beside the ranking.
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
pub(super) fn panels(group: &Group<'_>, drives: &ReportDrives) -> Vec<Panel> {
    let test = &group.first().test.test;
    let shape = shape(group);
    let mut panels: Vec<Panel> = Measure::ALL
        .into_iter()
        .filter(|measure| measure.is_measured(group))
        .map(|measure| Panel {
            key: measure.key(),
            name: match (shape, measure) {
                (Shape::Tail, Measure::Speed) => "Latency and speed".to_owned(),
                (_, _) => measure.name(test).to_owned(),
            },
            body: panel(group, drives, shape, measure),
        })
        .collect();
    let has_distribution = test.figures.contains(&Figure::Distribution);
    if has_distribution && !matches!(shape, Shape::Tail | Shape::Loads) {
        let body = percentiles::panel(group, drives);
        panels.extend(body.map(|body| Panel { key: "dist", name: "Percentiles".to_owned(), body }));
    }
    let over_time_wanted =
        test.figures.iter().any(|f| matches!(f, Figure::Timeline | Figure::LatencyTimeline));
    if shape == Shape::Ladder && over_time_wanted {
        let plot = steps_over_time::plot(group, drives);
        panels.extend(plot.map(|plot| Panel {
            key: "time",
            name: "Over time".to_owned(),
            body: html! { p.cap { (steps_over_time::caption(group)) } (plot::wide(&plot, drives)) },
        }));
    }
    let heat = over_time::temperature(group, drives);
    panels.extend(heat.map(|plot| Panel {
        key: "heat",
        name: "Temperature".to_owned(),
        body: plot::wide(&plot, drives),
    }));
    panels
}

fn panel(group: &Group<'_>, drives: &ReportDrives, shape: Shape, measure: Measure) -> Markup {
    let ranking = ranking(group, drives, measure);
    let is_speed = measure == Measure::Speed;
    match shape {
        Shape::Story if is_speed => alone(&story::plot(group, drives), &ranking, drives),
        Shape::Course if is_speed => alone(&over_time::speed(group, drives), &ranking, drives),
        Shape::Loads if is_speed => loads::panel(group, drives),
        Shape::Tail if is_speed => percentiles::with_ranking(group, drives, &ranking),
        Shape::Ladder if measure == Measure::Efficiency => html! {
            (duo(&ladder::plot(group, drives, measure), &ranking, drives))
            @if let Some(plot) = watts::plot(group, drives) {
                p.cap { (plot.label) } (plot::wide(&plot, drives))
            }
        },
        Shape::Ladder => duo(&ladder::plot(group, drives, measure), &ranking, drives),
        Shape::Story | Shape::Course | Shape::Tail | Shape::Plain | Shape::Loads
            if measure == Measure::Efficiency =>
        {
            duo(&watts::plot(group, drives), &ranking, drives)
        }
        Shape::Story | Shape::Course | Shape::Tail | Shape::Plain | Shape::Loads => {
            let mut plots = over_time::of_measure(group, drives, measure).into_iter();
            let first = plots.next();
            html! {
                (duo(&first, &ranking, drives))
                @for plot in plots { p.cap { (plot.label) } (plot::wide(&plot, drives)) }
            }
        }
    }
}

/// Returns a plot over the whole width; its labels have the values of the ranking.
fn alone(plot: &Option<Plot>, ranking: &Ranking, drives: &ReportDrives) -> Markup {
    match plot {
        Some(plot) => html! { p.cap { (ranking.caption) } (plot::wide(plot, drives)) },
        None => bars(ranking, drives),
    }
}

/// Returns the ranking beside a plot; of a single drive the plot alone.
fn duo(plot: &Option<Plot>, ranking: &Ranking, drives: &ReportDrives) -> Markup {
    match plot {
        Some(plot) if ranking.rows.len() == 1 => {
            let value = &ranking.rows[0].words;
            html! { p.cap { b { (value) } " " (ranking.caption) } (plot::wide(plot, drives)) }
        }
        Some(plot) => html! {
            div.duo { div { (bars(ranking, drives)) } div { (plot::beside(plot, drives)) } }
        },
        None => html! { div.half { (bars(ranking, drives)) } },
    }
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
    Row { drive, interval, value, words, extra, title }
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
    let less = if metric.more_is_better() { "" } else { "; less is better" };
    match measure {
        Measure::Speed if metric.needs_power() => {
            let by = power::measured_by(group, &power::scope(group));
            format!("{unit}, {rule}{}{less}; {by}", n(group))
        }
        Measure::Speed if metric.is_latency() => {
            format!("µs, {rule}{less}. {}", captions::latency(test))
        }
        Measure::Speed => format!("{unit}, {rule}{}{less}", n(group)),
        Measure::Shallow => format!("{unit} at low queue depths{less}"),
        Measure::Efficiency | Measure::Power => {
            let by = power::measured_by(group, &power::scope(group));
            format!("{unit} at the steps of the headline{less}; {by}")
        }
        Measure::P99 | Measure::P9999 => {
            let share = if measure == Measure::P99 { "99 of 100" } else { "9,999 of 10,000" };
            format!("{share} requests complete within it{less}. {}", captions::latency(test))
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
        (_, 0) => {
            let steps = group.members.iter().map(|member| member.test.points.len()).max();
            format!("; n = {} steps", steps.unwrap_or(0))
        }
        (least, most) if least == most => format!("; n = {}\u{a0}s", number::count(least)),
        (least, most) => {
            format!("; n = {} to {}\u{a0}s", number::count(least), number::count(most))
        }
    }
}
