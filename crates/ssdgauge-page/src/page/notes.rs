//! What an editor adds to a page: logo, byline, introduction and conclusion.

use crate::page::kit::mark::{class, icon};
use crate::page::prices;
use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ssdgauge_analysis::answers::answer::Answer;
use ssdgauge_analysis::answers::prices::{self as amounts, Prices};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::inputs::notes::{Notes, Photograph};
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::{number, sanitize};

/// The height of a logo in pixels.
const LOGO: u32 = 36;

/// Returns the logo above the headline.
pub(super) fn logo(notes: &Notes) -> Markup {
    let Some(logo) = notes.logo().filter(|logo| !logo.address.is_empty()) else {
        return html! {};
    };
    html! { img.logo src=(logo.address) alt="" height=(LOGO); }
}

/// Returns author and date, and the price of a single drive: those of several are below their names.
pub(super) fn byline(notes: &Notes, runs: &[Run], drives: &ReportDrives) -> Markup {
    let price = amounts::in_words(notes, runs, drives).filter(|_| drives.count() == 1);
    let parts: Vec<String> =
        notes.byline.as_deref().map(sanitize::prose).into_iter().chain(price).collect();
    html! { @if !parts.is_empty() { p.by { (parts.join(" · ")) } } }
}

/// Returns author and date for the head of the document.
pub(super) fn author(notes: &Notes) -> Markup {
    html! { @if let Some(byline) = &notes.byline { meta name="author" content=(sanitize::prose(byline)); } }
}

/// Adds the price of each drive to the line below its name.
pub(super) fn add_prices(below: &mut [String], notes: &Notes, runs: &[Run], drives: &ReportDrives) {
    for (drive, line) in below.iter_mut().enumerate() {
        let note = notes.of_drive(drive, runs, drives);
        let Some(price) = note.and_then(|note| note.price) else { continue };
        let price = amounts::amount(price, &notes.currency);
        *line = if line.is_empty() { price } else { format!("{line} · {price}") };
    }
}

/// Returns the introduction.
pub(super) fn introduction(notes: &Notes) -> Markup {
    html! {
        @if !notes.introduction.trim().is_empty() {
            section.use.words #introduction aria-label="Introduction" {
                (markdown(&notes.introduction, notes))
            }
        }
    }
}

/// Returns the conclusion with the prices, and what speaks for and against each drive. `test` is the
/// title of the test whose requests are counted. `None` where the notes have nothing of it.
pub(super) fn conclusion(
    notes: &Notes,
    prices: Option<&Prices>,
    test: Option<String>,
    (runs, answer, drives): (&[Run], &Answer, &ReportDrives),
) -> Option<Markup> {
    let has_points = notes.drives.iter().any(|note| !note.pros.is_empty() || !note.cons.is_empty());
    let is_empty = notes.conclusion.trim().is_empty() && !has_points && prices.is_none();
    (!is_empty).then(|| {
        html! {
            section.use #conclusion aria-labelledby="conclusion-title" {
                h2 #conclusion-title { "Conclusion" }
                div.words { (markdown(&notes.conclusion, notes)) }
                (points(notes, runs, answer, drives))
                @if let Some(prices) = prices { (prices::table(prices, test, drives)) }
            }
        }
    })
}

fn points(notes: &Notes, runs: &[Run], answer: &Answer, drives: &ReportDrives) -> Markup {
    let of_drive = |drive: &usize| {
        let note = notes.of_drive(*drive, runs, drives)?;
        let has_points = !note.pros.is_empty() || !note.cons.is_empty();
        has_points.then_some((*drive, note))
    };
    let noted: Vec<_> = answer.order.iter().filter_map(of_drive).collect();
    html! {
        @if !noted.is_empty() {
            h3 { "Pros and cons" }
            div.verdicts {
                @for (drive, note) in noted {
                    div.verdict-card.(class(drive)) {
                        h4 { (icon(drives, drive)) " " (drives.short(drive)) }
                        (list("pro", "For", &note.pros))
                        (list("con", "Against", &note.cons))
                    }
                }
            }
        }
    }
}

fn list(kind: &str, label: &str, points: &[String]) -> Markup {
    html! {
        @if !points.is_empty() {
            ul.points.(kind) aria-label=(label) {
                @for point in points { li { (number::spaced(&sanitize::prose(point))) } }
            }
        }
    }
}

/// Returns Markdown as HTML. HTML within it is shown as text; a link leads to http, https or mail.
fn markdown(text: &str, notes: &Notes) -> Markup {
    let mut dropped_links = 0;
    let mut seen_heading = false;
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).map(|event| match event {
        Event::Html(words) | Event::InlineHtml(words) => Event::Text(visible(&words)),
        Event::Text(words) => Event::Text(visible(&words)),
        Event::Code(words) => Event::Code(visible(&words)),
        Event::Start(Tag::Heading { level, .. }) => {
            let level = shifted(level, seen_heading);
            seen_heading = true;
            Event::Start(Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() })
        }
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(level)),
        Event::Start(Tag::Link { dest_url, .. }) if !is_public(&dest_url) => {
            dropped_links += 1;
            Event::Text(CowStr::Borrowed(""))
        }
        Event::End(TagEnd::Link) if dropped_links > 0 => {
            dropped_links -= 1;
            Event::Text(CowStr::Borrowed(""))
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let dest_url = CowStr::from(address(&notes.photographs, &dest_url));
            Event::Start(Tag::Image { link_type, dest_url, title: visible(&title), id })
        }
        other => other,
    });
    let events: Vec<Event<'_>> = settled(events.collect());
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, events.into_iter());
    PreEscaped(html)
}

/// Returns the level of a heading below that of the page: the first one is an h2, others h2 or h3.
fn shifted(level: HeadingLevel, seen: bool) -> HeadingLevel {
    match level {
        HeadingLevel::H1 | HeadingLevel::H2 => HeadingLevel::H2,
        _ if seen => HeadingLevel::H3,
        _ => HeadingLevel::H2,
    }
}

/// Returns `events` with the end of each heading at the level of its start.
fn settled(mut events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut open = HeadingLevel::H2;
    for event in &mut events {
        match event {
            Event::Start(Tag::Heading { level, .. }) => open = *level,
            Event::End(TagEnd::Heading(level)) => *level = open,
            _ => {}
        }
    }
    events
}

fn is_public(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    ["https://", "http://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme))
}

fn address(photographs: &[Photograph], path: &str) -> String {
    let found = photographs.iter().find(|photograph| photograph.path == path);
    found.map(|photograph| photograph.address.clone()).unwrap_or_default()
}

/// Returns `words` with invisible characters written out.
fn visible<'a>(words: &str) -> CowStr<'a> {
    CowStr::from(sanitize::long_prose(words))
}
