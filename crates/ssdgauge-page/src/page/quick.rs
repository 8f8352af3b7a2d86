//! The page of a single quick run: the state of the drive, reading and writing, where the speed falls,
//! and what to do next. Every test is folded below.

use crate::chart::axis::{Across, Up};
use crate::chart::coordinate::{at, percent};
use crate::page::kit::mark::marks;
use crate::page::kit::values::{self, ValueRow};
use crate::page::publishing::Files;
use crate::page::{caveats, copies, endurance, grade, method, results, sections};
use maud::{Markup, html};
use ssdgauge_analysis::answers::copies::Copies;
use ssdgauge_analysis::drives::caches::Writes;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::drives::sections::Sections;
use ssdgauge_analysis::findings::run_outcome;
use ssdgauge_analysis::findings::trust;
use ssdgauge_analysis::groups::group::Group;
use ssdgauge_analysis::model::{FallCause, PointRun, Run};
use ssdgauge_analysis::quick::cohort::{Band, Bands, Cohort};
use ssdgauge_analysis::quick::quick_answer;
use ssdgauge_analysis::quick::quick_look::{self, Fall, Figure, Tile};
use ssdgauge_analysis::text::labels;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{Metric, SHORTEST_RATE, shell_word};
use ssdgauge_statistics::difference::{NOISE, Outcome};

/// Returns whether `runs` are one quick run that has a number.
pub(super) fn fits(runs: &[Run]) -> bool {
    match runs {
        [run] => {
            quick_look::is_quick(&run.head.plan.suite.id)
                && !(quick_look::figures(run, true).is_empty()
                    && quick_look::figures(run, false).is_empty())
        }
        [] | [_, ..] => false,
    }
}

/// Returns the body of the page; `claims` are those of the spec files, judged.
pub(super) fn body(
    (run, files): (&Run, Option<Files<'_>>),
    (title, byline, scripts): (&str, &Markup, &str),
    (groups, of_groups, ids): (&[Group<'_>], &Sections, &[String]),
    drives: &ReportDrives,
    cohort: Option<&Cohort>,
    claims: Markup,
) -> Markup {
    let runs = std::slice::from_ref(run);
    let bands = match cohort {
        Some(cohort) => cohort.bands(run),
        None => Cohort::shipped().bands(run),
    };
    let fall = quick_look::fall(run);
    html! {
        div.wrap.quick.d-0 {
            header.page {
                p.kick { (kick(run)) }
                h1 { (title) }
                (byline)
                p.dek { (dek(run, fall.as_ref())) }
                (grade::line(trust::of_runs(runs).as_ref()))
            }
            main {
                (tiles(run))
                div.cards #answer {
                    (card("Reading", &quick_look::figures(run, true), run, bands.as_ref().ok()))
                    (card("Writing", &quick_look::figures(run, false), run, bands.as_ref().ok()))
                }
                p.cond.bands { (bands_words(&bands)) }
                (end_of_cache(run, fall.as_ref(), ids, drives))
                (claims)
                section.use aria-labelledby="caveats" {
                    div.two {
                        div { h2 #caveats { "Caveats" } (caveats::list(runs, drives)) }
                        div { h2 { "Next" } (next(run)) }
                    }
                    details.fold {
                        summary { "Every test: results, charts and numbers" }
                        (results::table(runs, groups, ids))
                        (sections::sections(&of_groups.uses.iter().collect::<Vec<_>>(), groups, ids, (runs, files), drives))
                    }
                    details.fold {
                        summary { "Method, drive and machine" }
                        (endurance::table(runs, None, drives))
                        (method::prose(runs, drives))
                    }
                }
            }
            footer.page { "Made with ssdgauge. One file, " (scripts) ", no network." }
        }
    }
}

fn kick(run: &Run) -> String {
    let drive = &run.head.drive;
    let mut parts = vec!["Quick check of one drive".to_owned(), labels::run_name(&run.head)];
    parts.push(format!("{} tested", labels::plain_size(drive)));
    parts.push(number::date(run.head.started_unix_ms));
    parts.join(" · ")
}

/// Returns what the numbers mean, in at most three sentences.
fn dek(run: &Run, fall: Option<&Fall>) -> Markup {
    let small = quick_look::figures(run, true)
        .into_iter()
        .find(|figure| figure.metric == Metric::Iops && figure.conditions.contains("QD1"));
    let is_for_work = quick_answer::is_for_work(&run.head.plan.suite.id);
    html! {
        @match fall {
            _ if is_for_work => {
                @for sentence in quick_answer::others(run) { (sentence) " " }
            }
            Some(fall) => {
                "Large files are written with " b { (fall.before_words) " " (fall.until) }
                ", then with " b { (number::text(fall.after)) " MB/s" }
                @if fall.cause == FallCause::Unknown { "; the run does not show why" } ". "
            }
            None if trust::invalidating(run).is_some() => {}
            None => {
                @match quick_look::sag(run) {
                    Some((first, last)) => {
                        "Large writes fall from " b { (number::text(first)) " MB/s" } " to "
                        b { (number::text(last)) " MB/s" }
                        " within a burst; longer ones were not measured. "
                    }
                    None if quick_look::sequential_writes(run).is_empty() => {
                        "Large writes were not measured. "
                    }
                    None => {
                        "The speed of writes does not fall in this run; longer ones were not measured. "
                    }
                }
            }
        }
        @if let Some(small) = small.filter(|_| !is_for_work) {
            @match &small.did {
                Some(did) => { "Small reads, one at a time: " b { (did) } ". " }
                None => {
                    "The drive completes " b { (number::text(small.value)) }
                    " small reads a second, one at a time. "
                }
            }
        }
    }
}

fn tiles(run: &Run) -> Markup {
    html! {
        dl.tiles aria-label="State of the drive" {
            @for Tile { name, value, note, is_good } in quick_look::tiles(run) {
                div {
                    dt {
                        (name)
                        @match is_good {
                            Some(true) => { " " span.ok { "✓ good" } }
                            Some(false) => { " " span.wn { "! look" } }
                            None => { " " span.un0 { "? not checked" } }
                        }
                    }
                    dd { (value) small { (note) } }
                }
            }
        }
    }
}

/// Returns what the outlines of the cards are, or why there are none.
fn bands_words(bands: &Result<Bands, String>) -> String {
    match bands {
        Ok(bands) => format!(
            "{} of the class ({}): {} of {}; up to {} beyond its ends is within. {}",
            if bands.is_model { "MODEL band" } else { "Band" },
            bands.class.words(),
            bands.rule(),
            bands.origin(),
            number::share(NOISE),
            match bands.is_model {
                true => "Virtual drives show the order of magnitude; they are not products.",
                false => "Each drive counts once, with the median of its runs.",
            }
        ),
        Err(reason) => format!("Whether it is as fast as its class is unknown: {reason}."),
    }
}

/// Returns the position of `figure` in words, with the class of style for it. A band of models is not a
/// verdict, so its words have no colour.
fn position(figure: &Figure, bands: Option<&Bands>) -> Option<(String, &'static str)> {
    let bands = bands?;
    let band = bands.band(figure)?;
    // Bands are of means, and the drive never runs at the mean of two levels.
    let of = if figure.levels.is_none() { "" } else { "mean of both levels: " };
    let style = match (bands.is_model, band.outcome) {
        (true, _) | (false, Outcome::Higher) => "pl",
        (false, Outcome::Equal | Outcome::NotDecided) => "ok",
        (false, Outcome::Lower) => "wn",
    };
    Some((format!("{of}{} the {} of its class", band.position(), bands.name()), style))
}

fn card(title: &str, figures: &[Figure], run: &Run, bands: Option<&Bands>) -> Markup {
    let band = |figure: &Figure| bands.and_then(|bands| bands.band(figure));
    if figures.is_empty() {
        return html! {};
    }
    html! {
        section.card aria-label=(title) {
            h2.h { (title) }
            p.cond {
                (marks(&run_outcome::marks(run)))
                @match bands {
                    Some(_) => "Bars from 0, each with its own scale; outlined: the band of the class",
                    None => "Means, each with the 99th percentile of its latency",
                }
            }
            ul.met {
                @for figure in figures {
                    @let position = position(figure, bands);
                    @let (quoted, unit) = figure.quoted();
                    li {
                        div.h {
                            span { (figure.name) }
                            b { (quoted) @if !unit.is_empty() { " " small { (unit) } } }
                        }
                        @if let (Some(band), Some(bands)) = (band(figure), bands) { (bar(figure, band, bands.name())) }
                        div.f {
                            span {
                                (figure.conditions)
                                @if figure.did.is_some() {
                                    "; " (number::measured(figure.value, figure.metric)) " on average"
                                }
                            }
                            span {
                                @if let Some(p99) = figure.p99_us { "p99 " (number::latency(p99)) }
                                @if let Some(cache) = figure.cache { " · cache: " (cache) }
                            }
                        }
                        @if let Some((words, style)) = position { p.pos { span class=(style) { (words) } } }
                    }
                }
            }
        }
    }
}

/// Returns the bar of `figure` with the band of its class, which is a few pixels wide on the scale of another load: each
/// has its own.
fn bar(figure: &Figure, band: Band, name: &str) -> Markup {
    let most = 1.1 * band.high.max(figure.most());
    let share = |value: f64| percent(if most > 0.0 { value / most } else { 0.0 });
    let (quoted, unit) = figure.quoted();
    html! {
        svg width="100%" height="16" {
            title {
                (figure.name) ": " (quoted) " " (unit) "; " (name) " of the class: " (number::text(band.low)) " to "
                (number::measured(band.high, figure.metric))
            }
            rect.bg width="100%" height="6" y="5" rx="2" {}
            rect.band x=(share(band.low)) y="0.5" height="15" rx="3" width=(share(band.high - band.low)) {}
            @match &figure.levels {
                Some(levels) => {
                    rect.br y="5" height="6" rx="2" width=(share(levels.after)) {}
                    rect.br.beh x=(share(levels.after)) y="5" height="6" rx="2"
                        width=(share(levels.before - levels.after)) {}
                }
                None => rect.br y="5" height="6" rx="2" width=(share(figure.value)) {},
            }
        }
    }
}

fn heading(fall: Option<&Fall>) -> &'static str {
    match fall {
        Some(fall) if fall.cause == FallCause::Cache => "Where the cache ends",
        Some(_) => "Where the write speed falls",
        None => "Large writes",
    }
}

/// Returns each second of the sequential writes, and how long copies take.
fn end_of_cache(run: &Run, fall: Option<&Fall>, ids: &[String], drives: &ReportDrives) -> Markup {
    let writes = quick_look::sequential_writes(run);
    let seconds: usize = writes.iter().map(|(_, writes)| writes.seconds.len()).sum();
    let own = run.tests.iter().position(|test| {
        let first = writes.first().map(|(point, _)| *point);
        first.is_some_and(|first| test.points.iter().any(|point| std::ptr::eq(point, first)))
    });
    html! {
        @if seconds > 0 {
            section.use aria-labelledby="fall" {
                h2 #fall { (heading(fall)) }
                p { "Sequential writing in the order of execution, each bar one second; the last of a step is what is left of it." }
                figure id=(own.and_then(|own| ids.get(own)).map_or_else(
                    || "writes".to_owned(), |id| format!("{id}/seconds"))) {
                    figcaption {
                        h3 { (fall_words(run, fall)) }
                        p.cond {
                            (marks(&run_outcome::marks(run)))
                            "MB/s in each second" (loads(&writes))
                        }
                    }
                    (bars(&writes, fall, false))
                    (bars(&writes, fall, true))
                    (values_of(&writes, drives))
                }
                @if let Some(fall) = fall {
                    (copies::bars(&Copies::of_fall(fall), run, &html! { h3 { "How long a copy takes" } }))
                }
            }
        }
    }
}

/// Returns the loads of the steps that write, such as `: 1 MiB, QD8`.
fn loads(writes: &[(&PointRun, Writes)]) -> String {
    let label = |(point, _): &(&PointRun, Writes)| sanitize::step(&point.point.label);
    let mut labels: Vec<String> = writes.iter().map(label).collect();
    labels.dedup();
    if labels.is_empty() { String::new() } else { format!(": {}", labels.join(", ")) }
}

/// Returns the rates of each second, a row for each step.
fn values_of(writes: &[(&PointRun, Writes)], drives: &ReportDrives) -> Markup {
    let words = |(_, writes): &(&PointRun, Writes)| -> Vec<String> {
        let rate = |(_, _, rate): &(f64, f64, f64)| number::text(*rate);
        writes.seconds.iter().map(rate).collect()
    };
    let words: Vec<Vec<String>> = writes.iter().map(words).collect();
    let rows: Vec<ValueRow<'_>> = writes
        .iter()
        .zip(&words)
        .map(|((point, _), words)| ValueRow {
            drive: 0,
            name: Some(sanitize::step(&point.point.label)),
            values: words.iter().map(String::as_str).collect(),
        })
        .collect();
    values::fold("MB/s in each second", &rows, drives)
}

fn fall_words(run: &Run, fall: Option<&Fall>) -> String {
    match (fall, quick_look::sag(run)) {
        (Some(fall), _) => {
            let seconds = fall.seconds.map(|seconds| format!(", {}", number::duration(seconds)));
            let seconds = seconds.unwrap_or_default();
            match fall.cause {
                FallCause::Cache => format!("The cache is full after {}{seconds}", fall.size_words),
                cause => format!(
                    "The write speed falls after {}{seconds}: {}",
                    fall.size_words,
                    cause.remark()
                ),
            }
        }
        (None, Some((first, last))) => format!(
            "A burst falls from {} to {}\u{a0}MB/s: too few seconds to find where",
            number::text(first),
            number::text(last)
        ),
        (None, None) => "No fall of the write speed within these writes".to_owned(),
    }
}

/// The maximum width of the bar of a second. Chosen: the words of a step of one second fit above it.
const MOST_BAR: f64 = 150.0;

fn bars(writes: &[(&PointRun, Writes)], fall: Option<&Fall>, is_narrow: bool) -> Markup {
    let (width, height) = if is_narrow { (358.0, 240.0) } else { (1_000.0, 250.0) };
    let (left, right, top, bottom) = (46.0, 8.0, 30.0, 40.0);
    let total: f64 = writes.iter().map(|(_, writes)| writes.elapsed).sum();
    // A few seconds over the whole width are slabs, no bars.
    let right = (width - left - MOST_BAR * total).max(right);
    let seconds = writes.iter().flat_map(|(_, writes)| writes.seconds.iter().copied());
    let rests = writes.iter().filter_map(|(_, writes)| Some(rest(writes)?.1));
    let rates = seconds.map(|second| second.2).chain(rests);
    let up = Up::new(rates, "MB/s", false, number::short);
    let across = Across::continuous(total, None, "seconds of sequential writing", number::tick);
    let x = |second: f64| left + (width - left - right) * across.share(second);
    let y = |rate: f64| top + (height - top - bottom) * (1.0 - up.share(rate));
    let level = fall.map_or(0.0, |fall| (fall.before * fall.after).sqrt());
    let mut begin = 0.0;
    let label = "Write speed in each second";
    let bar = |place: f64, length: f64, rate: f64, title: String| {
        html! {
            g.pt {
                title { (title) }
                rect.br.beh[fall.is_some() && rate < level] x=(at(x(place) + 0.8))
                    width=(at((x(place + length) - x(place) - 1.6).max(0.6))) y=(at(y(rate)))
                    height=(at(y(0.0) - y(rate))) rx="1.5" {}
            }
        }
    };
    html! {
        svg.ch.wide[!is_narrow].narrow[is_narrow] viewBox={ "0 0 " (width) " " (height) } role="img"
            aria-label=(label)
        {
            @for (value, words) in &up.ticks {
                path.gr d={ "M" (at(left)) " " (at(y(*value))) "H" (at(width - right)) } {}
                text.tk x=(at(left - 7.0)) y=(at(y(*value) + 4.0)) text-anchor="end" { (words) }
            }
            text.un x="2" y=(at(top - 14.0)) { (up.unit) }
            @for (value, words) in &across.ticks {
                text.tk x=(at(x(*value))) y=(at(height - bottom + 17.0)) text-anchor="middle" { (words) }
            }
            text.un x=(at((left + width - right) / 2.0)) y=(at(height - 4.0)) text-anchor="middle" {
                (across.label)
            }
            @for (point, writes) in writes {
                @let start = begin;
                @let step = sanitize::step(&point.point.label);
                @if start > 0.0 {
                    path.bnd d={ "M" (at(x(start))) " " (at(top - 4.0)) "V" (at(height - bottom)) } {}
                }
                @if !is_narrow && !writes.seconds.is_empty() {
                    text.an x=(at(x(start) + 6.0)) y=(at(top - 8.0)) { (number::spaced(&step)) }
                }
                @for (number, (before, _, rate)) in writes.seconds.iter().enumerate() {
                    @let words = format!("{step}, second {}: {} MB/s", number + 1, number::text(*rate));
                    @let after = number::capacity((*before * 1e9) as u64);
                    (bar(start + number as f64, 1.0, *rate, format!("{words} after {after}")))
                }
                @if let Some((length, rate)) = rest(writes) {
                    @let words = format!("{step}, the last {}", number::duration(length));
                    @let place = start + writes.seconds.len() as f64;
                    (bar(place, length, rate, format!("{words}: {} MB/s", number::text(rate))))
                }
                ({ begin += writes.elapsed; html! {} })
            }
        }
    }
}

/// Returns the length of the part of a second that ends a step, and its rate; `None` where it is too short for one.
fn rest(writes: &Writes) -> Option<(f64, f64)> {
    let length = writes.elapsed - writes.seconds.len() as f64;
    let written = writes.seconds.last().map_or(0.0, |(_, after, _)| *after);
    (length >= SHORTEST_RATE.as_secs_f64())
        .then(|| (length, 1e3 * (writes.total - written).max(0.0) / length))
}

fn next(run: &Run) -> Markup {
    let target = sanitize::prose(&run.head.drive.target);
    let target = shell_word(&target);
    let suite = run.head.plan.suite.id.as_str();
    let work = suite.strip_prefix("quick-").filter(|_| quick_answer::is_for_work(suite));
    html! {
        p.cond { "Does the speed last? See the plan of an hour of random writes; nothing is written:" }
        p.cmd { code { "ssdgauge plan consistency-2016 " (target) } }
        p.cond { "Repeat this check later, then compare the two run files:" }
        p.cmd { code { "ssdgauge compare FIRST.ssdg SECOND.ssdg" } }
        p.cond { "Repeat it at once, to learn how much of a change is noise:" }
        p.cmd { code {
            "ssdgauge quick --repeat 5 "
            @if let Some(work) = work { "--for " (work) " " }
            (target)
        } }
    }
}
