//! The top of the page: the drives, the conclusions and all headlines.

use crate::analysis::conclusions;
use crate::analysis::drive_summary;
use crate::analysis::group::{Group, Member};
use crate::analysis::headline_reasons::missing_reason;
use crate::analysis::key_metrics;
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::workload_text;
use crate::model::Run;
use crate::page::findings;
use crate::page::swatch::swatch;
use crate::text::interval;
use crate::text::labels;
use crate::text::number;
use crate::text::sanitize;
use maud::{Markup, html};
use ssdgauge_core::Headline;

/// Returns the facts of each run: drive, firmware, capacity, suite, date, run, program.
pub(super) fn origins(runs: &[Run], drives: &ReportDrives) -> Markup {
    match runs {
        [run] => html! {
            dl.origin {
                @for (name, value) in FACTS.iter().zip(facts(run)) {
                    div { dt { (name) } dd { (value) } }
                }
                @let marks = labels::marks(&run.head, run.complete);
                @if !marks.is_empty() {
                    div.mark { dt.hidden { "Marks" } dd { (marks.join(" · ")) } }
                }
            }
        },
        _ => html! {
            details.more {
                summary { (drives.count()) " drives in " (runs.len()) " runs: " (suites(runs)) }
                div.scroll { table {
                    thead { tr {
                        th scope="col" { "Drive" }
                        @for name in FACTS { th scope="col" { (name) } }
                    } }
                    tbody {
                        @for drive in 0..drives.count() { (origin(runs, drives, drive)) }
                    }
                } }
            }
        },
    }
}

/// Returns every suite of `runs` once.
fn suites(runs: &[Run]) -> String {
    let mut suites: Vec<String> = Vec::new();
    for run in runs {
        let suite = labels::suite(&run.head);
        if !suites.contains(&suite) {
            suites.push(suite);
        }
    }
    suites.join(", ")
}

/// Returns the row of one drive with all of its runs.
fn origin(runs: &[Run], drives: &ReportDrives, drive: usize) -> Markup {
    let indices: Vec<usize> = drives.runs_of(drive).collect();
    let mut columns: [Vec<String>; 6] = Default::default();
    let mut marks: Vec<String> = Vec::new();
    for index in &indices {
        for (column, fact) in columns.iter_mut().zip(facts(&runs[*index])) {
            if !column.contains(&fact) {
                column.push(fact);
            }
        }
        for mark in labels::marks(&runs[*index].head, runs[*index].complete) {
            if !marks.contains(&mark) {
                marks.push(mark);
            }
        }
    }
    html! {
        tr {
            th scope="row" {
                (swatch(drive))
                @if let Some(first) = indices.first() { (drives.names[*first]) }
                @for mark in marks { " " span.marks { (mark) } }
            }
            @for column in columns { td { (column.join(", ")) } }
        }
    }
}

const FACTS: [&str; 6] = ["Capacity", "Firmware", "Suite", "Measured", "Run", "Program"];

fn facts(run: &Run) -> [String; 6] {
    let drive = &run.head.drive;
    [
        number::capacity(drive.capacity.0),
        drive.firmware.as_deref().map_or("unknown".into(), sanitize::device),
        labels::suite(&run.head),
        number::date(run.head.started_unix_ms),
        sanitize::prose(&run.head.id),
        sanitize::prose(&run.head.program),
    ]
}

/// Returns the conclusions and the headlines of all tests.
pub(super) fn section(runs: &[Run], drives: &ReportDrives, groups: &[Group<'_>]) -> Markup {
    html! {
        section.summary aria-labelledby="summary" {
            @match runs {
                [run] => {
                    h2 #summary { "Summary" }
                    (drive_summaries(runs, drives))
                    (one_run(run))
                }
                _ => {
                    h2 #summary { "Conclusions" }
                    (conclusions(runs, drives, groups))
                    (drive_summaries(runs, drives))
                    details.more open[groups.len() <= key_metrics::MOST] {
                        summary { "Results of all " (groups.len()) " tests" }
                        (all_headlines(drives, groups))
                    }
                }
            }
            (findings::worst(runs, drives))
        }
    }
}

/// Returns the key metrics of each drive and the conclusions from them.
fn conclusions(runs: &[Run], drives: &ReportDrives, groups: &[Group<'_>]) -> Markup {
    let metrics = key_metrics::select(groups);
    let key_groups: Vec<&Group<'_>> = metrics.iter().map(|(_, group)| *group).collect();
    let sentences = conclusions::sentences(runs, drives, &key_groups);
    html! {
        @if !metrics.is_empty() { (metric_table(&metrics, drives)) }
        @if !sentences.is_empty() {
            ul.verdict { @for sentence in sentences { li { (sentence) } } }
        }
        p.small { (conclusions::rule()) }
    }
}

/// Returns a row for each drive with one metric for each kind of workload, the best highlighted.
fn metric_table(metrics: &[(usize, &Group<'_>)], drives: &ReportDrives) -> Markup {
    let best = |group: &Group<'_>| {
        let more = group.first().test.headline.metric.more_is_better();
        let values = group.members.iter().filter_map(|member| member.test.headline.value);
        values.reduce(if more { f64::max } else { f64::min })
    };
    html! {
        div.scroll { table.five {
            caption { "Key metrics of each drive; in brackets the 95 % interval " (interval::BASIS) }
            thead { tr {
                th scope="col" { "Drive" }
                @for (number, group) in metrics {
                    @let metric = group.first().test.headline.metric;
                    th.n scope="col" {
                        (link(*number, group))
                        span.interval { (if metric.unit().is_empty() { metric.title() } else { metric.unit() }) }
                    }
                }
            } }
            tbody {
                @for drive in 0..drives.count() {
                    tr.highlight[drives.highlighted == Some(drive)] {
                        th scope="row" {
                            (swatch(drive))
                            (drives.name(drive))
                        }
                        @for (_, group) in metrics {
                            td.n data-label=(label(group)) {
                                @match member_of(group, drives, drive) {
                                    None => { span.interval { "not tested" } }
                                    Some(member) if member.test.headline.value.is_none() => {
                                        span.interval { (missing_reason(&member)) }
                                    }
                                    Some(member) => {
                                        @let is_best = member.test.headline.value == best(group);
                                        (value(&member.test.headline, is_best))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        } }
    }
}

/// Returns the label of a metric of `group` for narrow windows, where each metric has its own line.
fn label(group: &Group<'_>) -> String {
    let unit = group.first().test.headline.metric.unit();
    let title = group.full_title();
    if unit.is_empty() { title } else { format!("{title}, {unit}") }
}

fn member_of<'a>(group: &Group<'a>, drives: &ReportDrives, drive: usize) -> Option<Member<'a>> {
    group.members.iter().copied().find(|member| drives.drive_of(member.index) == drive)
}

fn value(headline: &Headline, is_best: bool) -> Markup {
    html! {
        span.value[is_best] {
            (number::optional(headline.value))
            @if is_best { span.hidden { " (best)" } }
        }
        @if let Some(words) = interval::words(&headline.interval) {
            " " span.interval { "(" (words) ")" }
        }
    }
}

/// Returns the summary of each drive.
fn drive_summaries(runs: &[Run], drives: &ReportDrives) -> Markup {
    let all: Vec<(usize, Vec<String>)> = (0..drives.count())
        .map(|drive| (drive, drive_summary::sentences(runs, drives, drive)))
        .filter(|(_, sentences)| !sentences.is_empty())
        .collect();
    html! {
        @if !all.is_empty() {
            h3 { "Drive characteristics" }
            dl.portraits {
                @for (drive, sentences) in all {
                    @if drives.count() > 1 {
                        dt {
                            (swatch(drive))
                            (drives.name(drive))
                        }
                    }
                    @else { dt.hidden { "This drive" } }
                    dd { ul { @for sentence in sentences { li { (sentence) } } } }
                }
            }
        }
    }
}

fn one_run(run: &Run) -> Markup {
    html! {
        @if let Some(verdict) = run.width_verdict() { p { (sanitize::prose(&verdict.text)) "." } }
        div.scroll { table {
            thead { tr {
                th scope="col" { "Test" }
                th.n scope="col" { "Result" }
                th.n scope="col" { (interval::heading(run.is_repeated())) }
                th.n scope="col" { "Full seconds" }
                th scope="col" { "Rule" }
                th scope="col" { "State" }
            } }
            tbody {
                @for (number, test) in run.tests.iter().enumerate() {
                    @let headline = &test.headline;
                    tr {
                        th scope="row" {
                            a href={ "#test-" (number) } { (sanitize::prose(&test.test.title)) }
                        }
                        td.n.value {
                            (headline.value.map_or_else(
                                || number::NOTHING.to_owned(),
                                |value| number::with_unit(value, headline.metric),
                            ))
                        }
                        td.n {
                            (interval::words(&headline.interval)
                                .unwrap_or_else(|| number::NOTHING.to_owned()))
                        }
                        td.n { (number::count(headline.n)) }
                        td.words { (headline.metric.title()) ", " (workload_text::rule(&test.test, &test.test.score)) }
                        td { (state(test.points.len(), test.planned, test.complete)) }
                    }
                }
            }
        } }
    }
}

fn state(done: usize, planned: usize, complete: bool) -> String {
    match complete {
        true => "complete".to_owned(),
        false => format!("{done} of {planned} steps"),
    }
}

fn all_headlines(drives: &ReportDrives, groups: &[Group<'_>]) -> Markup {
    html! {
        p.small {
            "In brackets: the 95 % interval " (interval::BASIS) ". "
            "Drives are compared only if suite, "
            "test, revision, duration and span are equal, and models only with models."
        }
        @for cohort in cohorts(drives, groups) {
            // The longer side goes down the page, which has room there.
            @if cohort.drives.len() > WIDE { (by_drive(&cohort, drives)) }
            @else { (by_test(&cohort, drives)) }
        }
    }
}

/// More drives than this stand in rows.
const WIDE: usize = 5;

/// Returns a row for each test and a column for each drive.
fn by_test(cohort: &Cohort<'_>, drives: &ReportDrives) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th scope="col" { "Test" }
                th scope="col" { "Unit" }
                @for drive in &cohort.drives {
                    th.n scope="col" { (swatch(*drive)) (drives.name(*drive)) }
                }
            } }
            tbody {
                @for (number, group) in &cohort.rows {
                    tr {
                        th scope="row" { (link(*number, group)) }
                        td { (group.first().test.headline.metric.unit()) }
                        @for drive in &cohort.drives { td.n { (cell(group, drives, *drive)) } }
                    }
                }
            }
        } }
    }
}

/// Returns a row for each drive and a column for each test.
fn by_drive(cohort: &Cohort<'_>, drives: &ReportDrives) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th scope="col" { "Drive" }
                @for (number, group) in &cohort.rows {
                    @let unit = group.first().test.headline.metric.unit();
                    th.n scope="col" { (link(*number, group)) @if !unit.is_empty() { ", " (unit) } }
                }
            } }
            tbody {
                @for drive in &cohort.drives {
                    tr {
                        th scope="row" { (swatch(*drive)) (drives.name(*drive)) }
                        @for (_, group) in &cohort.rows { td.n { (cell(group, drives, *drive)) } }
                    }
                }
            }
        } }
    }
}

fn link(number: usize, group: &Group<'_>) -> Markup {
    html! { a href={ "#test-" (number) } { (group.full_title()) } }
}

/// Groups with equal drives.
struct Cohort<'a> {
    /// The numbers of the drives.
    drives: Vec<usize>,
    /// The groups, each with its number on the page.
    rows: Vec<(usize, &'a Group<'a>)>,
}

/// Returns the groups with their numbers, those of the same drives together.
fn cohorts<'a>(drives: &ReportDrives, groups: &'a [Group<'a>]) -> Vec<Cohort<'a>> {
    let mut cohorts: Vec<Cohort<'a>> = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        let drives: Vec<usize> =
            group.members.iter().map(|member| drives.drive_of(member.index)).collect();
        match cohorts.iter_mut().find(|cohort| cohort.drives == drives) {
            Some(cohort) => cohort.rows.push((number, group)),
            None => cohorts.push(Cohort { drives, rows: vec![(number, group)] }),
        }
    }
    cohorts
}

fn cell(group: &Group<'_>, drives: &ReportDrives, drive: usize) -> Markup {
    let member = group.members.iter().find(|member| drives.drive_of(member.index) == drive);
    member.map_or_else(|| html! {}, |member| value(&member.test.headline, false))
}
