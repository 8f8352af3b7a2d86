//! The sections by use: one figure for each test, and one line for each test that separates no drives.

use crate::chart::panels::{Panel, panels};
use crate::page::kit::mark::marks;
use crate::page::kit::names::names_kept;
use crate::page::numbers;
use crate::page::panels::body;
use crate::page::publishing::{self, Files};
use maud::{Markup, html};
use ssdgauge_analysis::answers::figure_titles;
use ssdgauge_analysis::comparison::outcome;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::drives::sections::Section;
use ssdgauge_analysis::groups::captions;
use ssdgauge_analysis::groups::group::Group;
use ssdgauge_analysis::groups::headline_reasons::missing_reason;
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::number;

/// Returns `sections`; `ids` are those of the groups. Each figure offers its chart where there are `files`.
pub(super) fn sections(
    sections: &[&Section],
    groups: &[Group<'_>],
    ids: &[String],
    (runs, files): (&[Run], Option<Files<'_>>),
    drives: &ReportDrives,
) -> Markup {
    html! {
        @for section in sections {
            section.use id=(section.of.anchor()) aria-labelledby={ (section.of.anchor()) "-title" } {
                h2 id={ (section.of.anchor()) "-title" } {
                    (if drives.count() == 1 { section.question(groups) } else { section.of.title() })
                }
                p { (section.of.sentence()) }
                @for number in &section.figures {
                    (figure(*number, &groups[*number], &ids[*number], (runs, files), drives))
                }
                (lines(section, groups, ids, runs, drives))
            }
        }
    }
}

/// Returns the figure of one test.
pub(super) fn figure(
    number: usize,
    group: &Group<'_>,
    id: &str,
    (runs, files): (&[Run], Option<Files<'_>>),
    drives: &ReportDrives,
) -> Markup {
    let panels = panels(group, drives);
    let file = files.and_then(|files| files(group, panels.first()?, drives));
    let test = &group.first().test.test;
    html! {
        figure id=(id) {
            figcaption {
                h3 { (names_kept(&figure_titles::take(group, drives), drives)) }
                p.cond { (marks(&captions::marks(group))) (group.full_title()) @if !test.source.is_empty() && test.source != "ssdgauge" {
                    " · test method based on " (source(&test.source))
                } }
            }
            @if panels.len() > 1 { (tabs(number, &panels)) }
            @for (place, panel) in panels.iter().enumerate() {
                div.p.{ "p-" (panel.key) }.only[panels.len() == 1] {
                    @if place > 0 { p.print { (panel.name) } }
                    (body(panel, drives))
                }
            }
            (numbers::fold(group, runs, drives))
            @if let Some(file) = &file { (publishing::offers(file)) }
        }
    }
}

/// Returns the publication without the part of it that describes the test.
fn source(source: &str) -> String {
    let clean = ssdgauge_analysis::text::sanitize::prose(source);
    // A citation names publisher and work: as the object of a sentence, the work of the publisher.
    clean.split(": ").next().unwrap_or(&clean).replacen(", review of", "'s review of", 1)
}

fn tabs(number: usize, panels: &[Panel]) -> Markup {
    html! {
        div.tabs role="radiogroup" aria-label="Measure" {
            @for (place, panel) in panels.iter().enumerate() {
                label {
                    input type="radio" name={ "t-" (number) } value=(panel.key)
                        checked[place == 0];
                    (panel.name)
                }
            }
        }
    }
}

/// Returns the tests without a figure of their own, with the reason.
fn lines(
    section: &Section,
    groups: &[Group<'_>],
    ids: &[String],
    runs: &[Run],
    drives: &ReportDrives,
) -> Markup {
    html! {
        @if !section.lines.is_empty() {
            h3 { (if drives.count() == 1 { "No result" } else { "No difference beyond 3\u{a0}%, or no result" }) }
            ul.flat {
                @for number in &section.lines {
                    @let group = &groups[*number];
                    li id=(ids[*number]) {
                        (marks(&captions::marks(group))) b { (group.full_title()) } ": " (level(group, drives)) "."
                        (numbers::fold(group, runs, drives))
                    }
                }
            }
        }
    }
}

fn level(group: &Group<'_>, drives: &ReportDrives) -> String {
    let metric = group.first().test.headline.metric;
    let ranked = outcome::ranked(group);
    let value = |place: &usize| group.members[*place].test.headline.value;
    let rule = || {
        let test = &group.first().test.test;
        number::spaced(&workload_text::rule(test, &test.score))
    };
    match (ranked.first().and_then(value), ranked.last().and_then(value)) {
        (Some(best), Some(worst)) => {
            let (low, high) = (number::text(best.min(worst)), number::text(best.max(worst)));
            let most = number::measured(best.max(worst), metric);
            match low == high {
                true => format!("all {} at {most} ({})", drives.noun(), rule()),
                false => format!("all {} between {low} and {most} ({})", drives.noun(), rule()),
            }
        }
        (_, _) => format!("no result: {}", missing_reason(&group.first())),
    }
}
