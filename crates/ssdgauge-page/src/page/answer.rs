//! The answer: one row for each drive with its numbers as bars; of a single run its results.

use crate::chart::axis::RowScale;
use crate::chart::bars::ratio;
use crate::chart::coordinate::{at, percent};
use crate::chart::mark::mark;
use crate::chart::svg::markup;
use crate::page::grade;
use crate::page::kit::fold;
use crate::page::kit::mark::{class, icon};
use maud::{Markup, html};
use ssdgauge_analysis::answers::answer::{Answer, Column, Question, ValueMarks};
use ssdgauge_analysis::answers::statements::{self, BestFor};
use ssdgauge_analysis::drives::caches::{self, Writes};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::findings::trust::{Grade, Trust};
use ssdgauge_analysis::steps::fall_words;
use ssdgauge_analysis::text::case::uncapitalised;
use ssdgauge_analysis::text::interval;
use ssdgauge_analysis::text::number;
use ssdgauge_core::{Metric, rounded};

/// More drives than this have no ratios to each other.
const MAX_RATIOS: usize = 8;

/// Names of so many letters stay on one line.
const UNBROKEN: usize = 24;

/// The size of the picture of the first writes.
const SPARK: (f64, f64) = (92.0, 22.0);

/// Its height where rows are tight.
const LOW_SPARK: f64 = 13.0;

/// Everything that the table shows.
pub(super) struct Facts<'a> {
    pub(super) answer: &'a Answer,
    pub(super) writes: &'a [Option<Writes>],
    /// The trust in each drive, by its number; `None` for one without a result.
    pub(super) trust: &'a [Option<Trust>],
    /// The line below each name, such as the capacity where it differs.
    pub(super) below: &'a [String],
}

/// Returns the table.
pub(super) fn table(facts: &Facts<'_>, drives: &ReportDrives) -> Markup {
    let Facts { answer, writes, .. } = facts;
    let all: Vec<&Writes> = writes.iter().flatten().collect();
    let range = caches::range(&all);
    let best_for: Vec<BestFor> =
        (0..drives.count()).map(|drive| statements::best_for(answer, writes, drive)).collect();
    let uses = Uses::new(&best_for);
    html! {
        table.ans.many[drives.count() > fold::TIGHT].fold-rows[fold::is_folded(drives.count())] #answer {
            thead { tr {
                th scope="col" { "Drive" }
                @if uses == Uses::Column { th scope="col" { "Best for" } }
                @for column in &answer.columns {
                    th scope="col" data-less[!column.metric.more_is_better()] { (column.title) small { (conditions(&column.conditions)) } }
                }
                @if let Some(range) = range {
                    th scope="col" {
                        "Until it slows" small { "first " (gigabytes(range)) " written in order" }
                    }
                }
                th scope="col" { "Quality" small { "of the run" } }
            } }
            tbody {
                @for drive in &answer.order {
                    (row(facts, drives, *drive, (range, uses, &best_for[*drive])))
                }
            }
        }
        (fold::control(drives.count()))
        @if answer.columns.iter().flat_map(Column::shown).any(|marks| marks.flattered_by.is_some()) {
            p.foot #settled { (interval::FLATTERED_WORDS) "." }
        }
        p.foot { (legend(answer, uses)) }
    }
}

/// Where the table says what drives are best for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Uses {
    /// In a column: at least half of the drives have an entry.
    Column,
    /// Below the names of those that have an entry.
    BelowNames,
    /// In one sentence below the table, since no column separates the drives.
    Sentence,
}

impl Uses {
    fn new(best_for: &[BestFor]) -> Uses {
        let entries = best_for.iter().filter(|one| **one != BestFor::Nothing).count();
        let are_alike = best_for.contains(&BestFor::NoDifference);
        match are_alike {
            true => Uses::Sentence,
            false if 2 * entries >= best_for.len() => Uses::Column,
            false => Uses::BelowNames,
        }
    }
}

/// Returns what the bars and marks of the table mean.
fn legend(answer: &Answer, uses: Uses) -> String {
    let columns = || answer.columns.iter();
    let has = |holds: fn(&ValueMarks) -> bool| columns().flat_map(Column::shown).any(holds);
    let mut words = vec!["Bars start at zero".to_owned()];
    if columns().any(is_log) {
        words.push("the latency is logarithmic".to_owned());
    }
    if has(|marks| marks.interval.is_some()) {
        words.push("a thin line is the 95\u{a0}% interval within a run".to_owned());
    }
    let mut sentences = vec![words.join("; ")];
    if uses == Uses::Sentence {
        sentences
            .push("No column separates the drives, so that none is best for anything".to_owned());
    }
    sentences.push(
        "★: leads, or ties with the best. Differences within 3\u{a0}% are treated as noise"
            .to_owned(),
    );
    if has(|marks| !marks.doubts.is_empty()) {
        sentences.push("Dotted: in doubt, for the reason in its title".to_owned());
    }
    let grades = [Grade::A, Grade::B, Grade::C, Grade::D];
    let grades = grades.map(|grade| format!("{} {}", grade.letter(), grade.meaning()));
    sentences.push(format!(
        "Measurement quality, a grade from all results of the drive: {}",
        grades.join(", ")
    ));
    format!("{}.", sentences.join(". "))
}

fn row(
    facts: &Facts<'_>,
    drives: &ReportDrives,
    drive: usize,
    (range, uses, best_for): (Option<f64>, Uses, &BestFor),
) -> Markup {
    let has_number = facts.answer.columns.iter().any(|column| column.values[drive].is_some());
    let trust = facts.trust[drive].as_ref().filter(|_| has_number);
    html! {
        tr class=(class(drive)) {
            th.who scope="row" {
                div.dn {
                    @if fold::is_folded(drives.count()) { span.rk { (rank(facts.answer, drive)) } }
                    (icon(drives, drive))
                    div.nb[drives.label(drive).chars().count() <= UNBROKEN] title=(drives.short(drive)) {
                        (drives.label(drive)) small { (facts.below[drive]) }
                        @if uses == Uses::BelowNames && *best_for != BestFor::Nothing {
                            small.for { (below_name(best_for)) }
                        }
                    }
                }
            }
            @if uses == Uses::Column {
                td.bf {
                    @match best_for {
                        BestFor::Open(words) => span.no { (words) },
                        BestFor::Uses(_) | BestFor::NoDifference | BestFor::Nothing => (best_for.words()),
                    }
                }
            }
            @for column in &facts.answer.columns { (cell(column, drives, drive)) }
            @if let Some(range) = range { (slows(&facts.writes[drive], drives, drive, range)) }
            td.gr { (grade::letter(trust)) }
        }
    }
}

/// Returns the line below the name of a drive.
fn below_name(best_for: &BestFor) -> String {
    match best_for {
        BestFor::Uses(words) => format!("Best for {}", uncapitalised(words)),
        BestFor::Open(_) | BestFor::NoDifference | BestFor::Nothing => best_for.words().to_owned(),
    }
}

/// Returns the place of `drive` in the order of the answer, from 1.
fn rank(answer: &Answer, drive: usize) -> usize {
    answer.order.iter().position(|other| *other == drive).map_or(answer.order.len(), |at| at + 1)
}

fn cell(column: &Column, drives: &ReportDrives, drive: usize) -> Markup {
    let Some(value) = column.values[drive] else {
        return html! { td.b data-s=(column.short) { span.no title="not measured" { "–" } } };
    };
    let marks = &column.marks[drive];
    let words = number::words(value, column.metric);
    // The head of the column has the unit, where there is room for a head.
    let unit = match number::has_own_unit(value, column.metric) {
        true => "",
        false => column.metric.unit(),
    };
    // Where all are equal, none is the best.
    let best = column.is_best(drive) && !column.is_flat();
    let title = title(column, drives, drive, value);
    html! {
        td.b.best[best] data-s=(column.short) data-v=(value) {
            span.v.doubt[!marks.doubts.is_empty()] title=[(!marks.doubts.is_empty()).then_some(&title)] {
                (words)
                @if marks.flattered_by.is_some() { a.dg href="#settled" { (interval::FLATTERED) } }
                @if !unit.is_empty() { span.u { "\u{a0}" (unit) } }
            }
            (ratios(column, drive, value))
            svg.cb width="100%" height="7" {
                title { (title) }
                rect.bg width="100%" height="7" rx="2" {}
                (bar(column, drives.slot(drive), value, marks.interval))
            }
        }
    }
}

/// Returns value, test, interval and doubts, for those who point at a number.
fn title(column: &Column, drives: &ReportDrives, drive: usize, value: f64) -> String {
    let full = number::measured(value, column.metric);
    let mut title = format!("{}: {full} ({})", drives.short(drive), column.title);
    let marks = &column.marks[drive];
    if let Some((low, high)) = marks.interval {
        let [low, high] = [low, high].map(|value| interval::end(value, column.metric));
        title.push_str(&format!(", 95\u{a0}% interval {low} to {high}"));
    }
    if let Some(flattered) = marks.flattered_by {
        title.push_str(&format!("; {}", flattered.words(column.metric)));
    }
    if !marks.doubts.is_empty() {
        title.push_str(&format!("; in doubt: {}", marks.doubts.join("; ")));
    }
    title
}

/// Returns `words` with a unit at their end that no browser breaks: some do after the slash of MB/s.
fn conditions(words: &str) -> Markup {
    match words.rsplit_once(", ").filter(|(_, unit)| unit.contains('/')) {
        Some((load, unit)) => html! { (load) ", " span.unit { (unit) } },
        None => html! { (words) },
    }
}

/// Returns whether the values of `column` are on a logarithmic scale.
fn is_log(column: &Column) -> bool {
    column.question == Question::Tail || column.metric == Metric::MeanOverSigma
}

/// Returns a bar from zero with its interval, or a mark on a logarithmic scale for the latency.
fn bar(column: &Column, slot: usize, value: f64, interval: Option<(f64, f64)>) -> Markup {
    let values = || column.values.iter().copied().flatten();
    if is_log(column) {
        let Some(scale) = RowScale::new(values()) else { return html! {} };
        return html! {
            svg x=(percent(scale.share(value))) overflow="visible" { (markup(&[mark(slot, (0.0, 3.5), 4.6)])) }
        };
    }
    let highs = column.marks.iter().filter_map(|marks| marks.interval).map(|(_, high)| high);
    let most = values().chain(highs).fold(0.0, f64::max);
    let share = |value: f64| percent(if most > 0.0 { value / most } else { 0.0 });
    html! {
        rect.br width=(share(value)) height="7" rx="2" {}
        @if let Some((low, high)) = interval {
            line.wh x1=(share(low)) x2=(share(high)) y1="3.5" y2="3.5" {}
        }
    }
}

fn ratios(column: &Column, drive: usize, value: f64) -> Markup {
    html! {
        @if column.values.len() <= MAX_RATIOS {
            @for (other, of) in column.values.iter().enumerate().filter(|(n, _)| *n != drive) {
                @if let Some(ratio) = ratio(value, *of) {
                    span class={ "r r-" (other) } { (ratio) }
                }
            }
        }
    }
}

/// Returns the first fall of the write speed with a picture of the first writes, each drive against its own
/// best second.
fn slows(writes: &Option<Writes>, drives: &ReportDrives, drive: usize, range: f64) -> Markup {
    let Some(writes) = writes else {
        return html! { td.k { span.no title="no test writes in order in one step" { "–" } } };
    };
    let (end, then) = match writes.fall() {
        None => ("no fall to 80\u{a0}% seen".to_owned(), String::new()),
        Some(fall) => {
            let size = rounded::edge(&fall.edge).replace("at most ", "≤\u{a0}");
            (size, fall_words::left(fall).replace("at most ", "≤\u{a0}"))
        }
    };
    // A drive without a fall comes before all others.
    const NO_END: f64 = 1e18;
    let order = writes.fall().map_or(NO_END, |fall| fall.edge.bytes as f64);
    html! {
        td.k data-v=(order) {
            (end) @if !then.is_empty() { " " small.ph { (then) } }
            (spark(writes, drives, drive, range))
        }
    }
}

fn spark(writes: &Writes, drives: &ReportDrives, drive: usize, range: f64) -> Markup {
    let (width, height) = SPARK;
    let height = if drives.count() > fold::TIGHT { LOW_SPARK } else { height };
    let name = drives.short(drive);
    let best = writes.seconds.iter().map(|(_, _, rate)| *rate).fold(0.0, f64::max);
    let near: Vec<&(f64, f64, f64)> =
        writes.seconds.iter().filter(|(from, _, _)| *from < range).collect();
    let every = near.len().div_ceil(60).max(1);
    let x = |gb: f64| at(width * (gb / range).min(1.0));
    let y =
        |rate: f64| at(height - 1.0 - (height - 3.0) * if best > 0.0 { rate / best } else { 0.0 });
    let corners: Vec<String> = near
        .chunks(every)
        .flat_map(|part| {
            let (from, to) = (part[0].0, part[part.len() - 1].1);
            let rate = part.iter().map(|second| second.2).sum::<f64>() / part.len() as f64;
            [format!("{} {}", x(from), y(rate)), format!("{} {}", x(to), y(rate))]
        })
        .collect();
    let title = format!(
        "{name}: write speed over the first {}, from zero to its own best second ({} MB/s)",
        gigabytes(range),
        number::text(best)
    );
    html! {
        svg.spk width=(at(width)) height=(at(height)) role="img" aria-label=(title) {
            title { (title) }
            path.ax d={ "M0 " (at(height - 0.5)) "H" (at(width)) } {}
            @if !corners.is_empty() { path.ln d={ "M" (corners.join("L")) } {} }
        }
    }
}

fn gigabytes(gb: f64) -> String {
    number::plain_capacity((gb * 1e9) as u64)
}
