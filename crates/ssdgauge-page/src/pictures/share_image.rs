//! The image that a link shows: 1,200 by 630 pixels, readable on a phone.

use crate::chart::card::{self, Card, Row};
use crate::chart::palette::Ground;
use crate::chart::raster;
use crate::pictures::figure_files::PNG_MARK;
use ssdgauge_analysis::answers::answer::{self, Answer, Column, Question};
use ssdgauge_analysis::answers::many_drives;
use ssdgauge_analysis::answers::one_drive;
use ssdgauge_analysis::answers::prices;
use ssdgauge_analysis::drives::caches;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::drives::run_facts;
use ssdgauge_analysis::drives::sections;
use ssdgauge_analysis::findings::doubt_words;
use ssdgauge_analysis::findings::run_outcome;
use ssdgauge_analysis::groups::group;
use ssdgauge_analysis::inputs::notes::Notes;
use ssdgauge_analysis::inputs::options::PageOptions;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::quick::quick_look;
use ssdgauge_analysis::steps::level_pair;
use ssdgauge_analysis::text::case::uncapitalised;
use ssdgauge_analysis::text::short_names::without_capacities;
use ssdgauge_analysis::text::{interval, labels, number, sanitize};

/// The maximum number of rows. Chosen: each is 48 pixels high, 14 on a phone of 360 pixels.
const MOST: usize = 6;

/// Returns the image of `runs` as a PNG file: headline, and one number of each drive as a bar; of a
/// single run the numbers of its first screen. It has the marks of the runs, such as `MODEL`.
pub fn share_image(runs: &[Run], options: &PageOptions) -> Vec<u8> {
    raster::png(&card::drawn(&card(runs, options)), (Ground::Light, 1.0), PNG_MARK, "")
}

fn card(runs: &[Run], options: &PageOptions) -> Card {
    let drives = ReportDrives::new(runs, options.highlight);
    let groups = group::groups(runs);
    let answer = answer::answer(&groups, &drives);
    let writes = caches::of_drives(&groups, &drives);
    let of_notes = options.notes.as_ref().and_then(|notes| notes.title.as_deref());
    let stated = options.title.as_deref().or(of_notes).map(sanitize::prose);
    // What went wrong comes before the words of an editor.
    let has_account =
        matches!(runs, [run] if run_outcome::account(run, options.rest.as_deref()).is_some());
    let stated = stated.filter(|_| !has_account);
    let generated = match drives.count() {
        0 => "No runs".to_owned(),
        1 => match runs {
            [run] => match run_outcome::account(run, options.rest.as_deref()) {
                Some(account) => format!("{}: {}", drives.name(0), account.title),
                None if quick_look::is_quick(&run.head.plan.suite.id) => quick_look::headline(run),
                None => {
                    let hero = sections::sections(&groups).hero;
                    one_drive::first_screen(run, &groups, &drives, hero).title
                }
            },
            [] | [_, ..] => drives.name(0).to_owned(),
        },
        _ => many_drives::headline(runs, &answer, &writes, &drives),
    };
    let mut marks: Vec<String> = Vec::new();
    for run in runs {
        for mark in run_outcome::marks(run) {
            if !marks.contains(&mark) {
                marks.push(mark);
            }
        }
    }
    let (caption, rows) = match column(&answer) {
        Some(column) if drives.count() > 1 => of_drives(column, &answer, &drives),
        Some(_) | None if runs.iter().all(run_outcome::is_quoted) => {
            let of_run = if let [run] = runs { of_run(run) } else { Vec::new() };
            let rows = if of_run.is_empty() { of_tests(&groups) } else { of_run };
            (of_what(runs), rows)
        }
        Some(_) | None => (String::new(), Vec::new()),
    };
    let by = options.notes.as_ref().and_then(|notes| by(notes, runs, &drives));
    let doubt = if drives.count() == 1 { doubt_words::of_drive(runs) } else { None };
    // The title of an editor does not replace what was measured.
    let (title, lead) = match stated {
        Some(title) => (title, Some(generated)),
        None => (generated, None),
    };
    Card { title, lead, marks, doubt, caption, by, rows }
}

/// Returns author and prices by the notes of an editor.
fn by(notes: &Notes, runs: &[Run], drives: &ReportDrives) -> Option<String> {
    let byline = notes.byline.as_deref().map(sanitize::prose);
    let parts: Vec<String> =
        byline.into_iter().chain(prices::in_words(notes, runs, drives)).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Returns the column that the image shows: sustained writes, else the first one with values.
fn column(answer: &Answer) -> Option<&Column> {
    let sustained = answer.columns.iter().find(|c| c.question == Question::Sustained);
    sustained.or(answer.columns.first())
}

fn of_drives(column: &Column, answer: &Answer, drives: &ReportDrives) -> (String, Vec<Row>) {
    let most = column.values.iter().copied().flatten().fold(0.0, f64::max);
    // Equal values are in the order of the answer, which does not depend on that of the files.
    let ranked = column.ranked();
    let place = |drive: &usize| {
        ranked.iter().position(|other| column.values[*other] == column.values[*drive])
    };
    let mut order = answer.order.clone();
    order.sort_by_key(|drive| place(drive).unwrap_or(usize::MAX));
    let names: Vec<&str> = (0..drives.count()).map(|drive| drives.short(drive)).collect();
    let names = without_capacities(&names);
    let row = |drive: usize| {
        let value = column.values[drive];
        Row {
            slot: drives.slot(drive),
            name: names[drive].clone(),
            note: String::new(),
            share: value.map(|value| if most > 0.0 { value / most } else { 0.0 }),
            words: value
                .map_or_else(|| number::NOTHING.to_owned(), |v| number::measured(v, column.metric)),
        }
    };
    let rows = order.into_iter().take(MOST).map(row).collect();
    let less = if column.metric.more_is_better() { "" } else { ", lower is better" };
    (format!("{}: {}{less}", column.title, column.conditions), rows)
}

/// Returns drive, suite and day of a single run, so that its numbers can be cited.
fn of_what(runs: &[Run]) -> String {
    let [run] = runs else { return String::new() };
    let day = number::day(run.head.started_unix_ms);
    [labels::run_name(&run.head), labels::suite(&run.head), day].join(" · ")
}

/// Returns the numbers of the first screen of the page of `run`.
fn of_run(run: &Run) -> Vec<Row> {
    let row = |name: String, note: &str, words: String| Row {
        slot: 0,
        name,
        note: number::spaced(note),
        share: None,
        words,
    };
    if quick_look::is_quick(&run.head.plan.suite.id) {
        let figures = |reads: bool| {
            let kind = if reads { "Reads" } else { "Writes" };
            let of_kind = quick_look::figures(run, reads).into_iter().take(MOST / 2);
            of_kind.map(move |figure| {
                let (value, unit) = figure.quoted();
                let words = format!("{value}\u{a0}{unit}").replace("at least ", "≥\u{a0}");
                let name = format!("{kind}: {}", uncapitalised(figure.name));
                // What a short step did has no second level in it.
                let levels = figure.levels.as_ref().filter(|_| figure.did.is_some());
                let drop = levels.map_or_else(String::new, |levels| {
                    format!("drops to {}, ", number::measured(levels.after, levels.metric))
                });
                let note = format!("{drop}{}", figure.conditions);
                row(name, &note, words.trim_end().to_owned())
            })
        };
        return figures(true).chain(figures(false)).collect();
    }
    let numbers = run_facts::numbers(run).into_iter().take(MOST);
    numbers
        .map(|one| {
            let doubt = if one.doubts.is_empty() { "" } else { "questionable, " };
            let note = format!("{doubt}{}", one.setting);
            row(one.title.clone(), &note, number::measured(one.value, one.metric))
        })
        .collect()
}

fn of_tests(groups: &[group::Group<'_>]) -> Vec<Row> {
    let row = |group: &group::Group<'_>| {
        let test = group.first().test;
        let words = match level_pair::of_headline(test, &test.test.score, &test.headline) {
            // The words of a lower bound are too long for the column.
            Some(levels) => levels.with_unit().replace("at least ", "≥\u{a0}"),
            None => interval::headline_measured(&test.headline)?,
        };
        Some(Row { slot: 0, name: group.full_title(), note: String::new(), share: None, words })
    };
    groups.iter().filter_map(row).take(MOST).collect()
}
