//! The screen of several runs: a line for each, the same step for all of them, on one scale.

use super::chart::{self, Cell, Reduce};
use super::followed::{Standing, Watched};
use super::screen::View;
use super::style::{Line, Look, gap, line, pair, span};
use super::words;
use crate::terminal::colour::Role;
use crate::terminal::fold;
use ssdgauge_analysis::{sanitize_device, sanitize_prose};
use ssdgauge_core::{Bytes, Severity, rounded};
use ssdgauge_runfile::{StepPlace, StepRecord};
use textwrap::core::display_width;

/// The widths from which a line has temperature, written bytes and power.
const WITH_TEMPERATURE: usize = 66;
const WITH_WRITTEN: usize = 80;
const WITH_POWER: usize = 100;
/// The narrowest sparkline, and the widest name.
const NARROWEST: usize = 8;
const WIDEST_NAME: usize = 34;

/// Returns the lines of the screen, at most `height` and none wider than `width`.
pub(super) fn lines(
    all: &[Watched],
    view: View,
    (width, height): (usize, usize),
    look: Look,
) -> Vec<Line> {
    let shown = shown_step(all, view);
    let mut lines = head(all, shown.as_deref(), width, look);
    let notes = remarks(all, width, look);
    // Heading, empty line and keys; remarks have a quarter of the height at least.
    let free = height.saturating_sub(lines.len() + 3);
    let room = free.saturating_sub(notes.len().min(height / 4)).max(2);
    let columns = Columns::new(all, width);
    lines.push(columns.heading(look));
    let courses: Vec<Vec<f64>> = all
        .iter()
        .map(|one| shown.as_deref().map_or(Vec::new(), |step| course(one, step)))
        .collect();
    let longest = courses.iter().map(Vec::len).max().unwrap_or(0);
    let cells: Vec<Vec<Cell>> = courses
        .iter()
        .map(|course| {
            // Equal numbers of seconds for each column, so that a column is the same time of all.
            let mut cells: Vec<Cell> = course.iter().map(|value| Cell::Value(*value)).collect();
            cells.resize(longest, Cell::Empty);
            chart::reduced(&cells, columns.spark, Reduce::Mean)
        })
        .collect();
    let most = cells.iter().map(|cells| chart::highest(cells)).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..all.len()).collect();
    let rows = if all.len() > room { room - 1 } else { all.len() };
    if rows < all.len() {
        // Those that a reader has to see come first.
        order.sort_by_key(|number| urgency(&all[*number]));
    }
    for number in &order[..rows] {
        lines.push(columns.row(&all[*number], &cells[*number], most, look));
    }
    if rows < all.len() {
        let hidden = order[rows..].iter().map(|number| &all[*number]);
        lines.push(line(look, Role::Second, &fold::cut(&hidden_text(hidden), width)));
    }
    lines.push(Line::default());
    let room = height.saturating_sub(lines.len() + 1);
    // The last ones are the most urgent.
    lines.extend(notes.into_iter().rev().take(room).rev());
    lines.truncate(height.saturating_sub(1));
    while lines.len() + 1 < height {
        lines.push(Line::default());
    }
    let stop = if view.owns_runs { "   Ctrl-C stop all runs" } else { "" };
    let keys = format!(" q leave (the runs go on)   left/right step{stop}");
    lines.push(line(look, Role::Second, &fold::cut(&keys, width)));
    lines
}

/// Returns the rank of a row where not all have room: a failure, a doubt, then the run that is least far, and
/// finished runs at the end.
fn urgency(one: &Watched) -> (usize, usize) {
    let far = one.run.current().map_or(0, |step| one.run.number(step.place));
    match (sign(one).0, one.run.standing()) {
        (" x", _) => (0, far),
        (" !", _) => (1, far),
        (_, Standing::Finished) => (3, far),
        (_, Standing::Running | Standing::Interrupted | Standing::Killed) => (2, far),
    }
}

/// Returns how many runs have no row, and how they stand.
fn hidden_text<'a>(hidden: impl Iterator<Item = &'a Watched> + Clone) -> String {
    let signs = |wanted: &str| hidden.clone().filter(|one| sign(one).0 == wanted).count();
    let is_fine = |one: &&Watched| sign(one).0.is_empty();
    let finished = |one: &&Watched| one.run.standing() == Standing::Finished;
    let parts = [
        (signs(" x"), "stopped"),
        (signs(" !"), "with doubts"),
        (hidden.clone().filter(|one| is_fine(one) && !finished(one)).count(), "running"),
        (hidden.clone().filter(|one| is_fine(one) && finished(one)).count(), "finished"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    format!("{} more: {}; a higher terminal shows them", hidden.count(), parts.join(", "))
}

/// Returns the name of the step that all sparklines show: of the run that is least far, moved by the view.
fn shown_step(all: &[Watched], view: View) -> Option<String> {
    let readable = || all.iter().filter(|one| one.lost.is_none());
    let running = || readable().filter(|one| one.run.standing() == Standing::Running);
    let position = |one: &&Watched| one.run.current().map(|step| one.run.number(step.place));
    let leader = running().min_by_key(position).or_else(|| readable().max_by_key(position))?;
    let current = leader.run.current()?.place;
    let places: Vec<StepPlace> =
        crate::step_title::places(&leader.run.head().plan).map(|(place, _)| place).collect();
    let at = places.iter().position(|place| *place == current)?;
    let at = at.saturating_add_signed(view.moved).min(places.len() - 1);
    Some(leader.run.title(places[at]))
}

/// Returns the throughput of each second of the last attempt at the step called `title`.
fn course(one: &Watched, title: &str) -> Vec<f64> {
    let is_it = |step: &&StepRecord| one.run.title(step.place) == title;
    let Some(step) = one.run.steps().iter().rfind(is_it) else { return Vec::new() };
    let seconds = one.run.seconds().iter().filter(|second| second.step == step.id);
    seconds.filter_map(|second| second.load.mb_s()).collect()
}

fn head(all: &[Watched], step: Option<&str>, width: usize, look: Look) -> Vec<Line> {
    let mut suites: Vec<String> = all.iter().map(|one| words::suite(&one.run)).collect();
    suites.dedup();
    let is_model = all.iter().any(|one| one.run.head().drive.is_model());
    let mark = if is_model { "MODEL " } else { "" };
    let title = format!("{mark}{} on {} drives", suites.join(", "), all.len());
    let going = || all.iter().filter(|one| !one.is_over());
    // Whether a run goes on is known when its program was seen.
    let left = going().filter(|one| one.run.was_written()).map(|one| one.run.left()).max();
    let left = match left {
        Some(left) => format!("{} left", words::whole(left).about()),
        None if going().next().is_some() => String::new(),
        None => "ended".to_owned(),
    };
    let step = step.unwrap_or("no step yet");
    let mut latest = all.iter().filter_map(|one| one.run.latest());
    let of_flushes = latest.any(|second| second.load.latency_of.is_of_flushes());
    let p99 = if of_flushes { "; p99 of flushes" } else { "" };
    let about = format!("MB/s of {step}, from its start, one scale{p99}");
    vec![
        pair(look, (Role::Value, &title), (Role::Second, &left), width),
        line(look, Role::Second, &fold::cut(&about, width)),
    ]
}

/// The columns that the width has room for.
struct Columns {
    width: usize,
    name: usize,
    spark: usize,
}

impl Columns {
    fn new(all: &[Watched], width: usize) -> Columns {
        let names = all.iter().map(|one| display_width(&name(one))).max().unwrap_or(0);
        let figures = display_width(&figures(None, width));
        let room = width.saturating_sub(figures + 4 + NARROWEST);
        let name = names.min(WIDEST_NAME).min(room);
        Columns { width, name, spark: width.saturating_sub(name + figures + 4) }
    }

    fn heading(&self, look: Look) -> Line {
        let text = format!("{:gap$}{}", "", heading(self.width), gap = self.name + self.spark + 4);
        line(look, Role::Second, &fold::cut(&text, self.width))
    }

    fn row(&self, one: &Watched, cells: &[Cell], most: f64, look: Look) -> Line {
        let name = fold::cut(&name(one), self.name);
        let (sign, role) = sign(one);
        let after_name = self.name.saturating_sub(display_width(&name)) + 2;
        let spark = chart::rows(cells, 1, most, look.unicode).concat();
        let after_spark = self.spark.saturating_sub(spark.chars().count()) + 2;
        Line::new([
            span(look, role, &format!("{name}{sign}")),
            gap(after_name.saturating_sub(display_width(sign))),
            span(look, Role::Command, &spark),
            gap(after_spark),
            span(look, Role::Value, &figures(Some(one), self.width)),
        ])
    }
}

/// Returns the name of a drive: its label or serial first, which is never cut before the model; without
/// both, the name of the file.
fn name(one: &Watched) -> String {
    let head = one.run.head();
    let drive = &head.drive;
    let model = sanitize_device(drive.name());
    // The title has the word already.
    let model = model.strip_prefix("MODEL ").unwrap_or(&model);
    let label = head.environment.get("label").map(|label| sanitize_prose(label));
    let serial = drive.serial.as_deref().map(sanitize_device);
    match label.or(serial).filter(|own| !own.is_empty()) {
        Some(own) => format!("{own} {model}"),
        None => {
            let file = one.path.file_stem().map(|name| name.to_string_lossy().into_owned());
            sanitize_prose(&file.unwrap_or_default())
        }
    }
}

/// Returns the sign after the name: a doubt, a failure, or nothing.
fn sign(one: &Watched) -> (&'static str, Role) {
    let invalid = |severity| one.run.findings().iter().any(|one| one.finding.severity == severity);
    match one.run.standing() {
        _ if one.lost.is_some() => (" x", Role::Bad),
        Standing::Interrupted | Standing::Killed => (" x", Role::Bad),
        _ if invalid(Severity::Invalid) || invalid(Severity::Warning) => (" !", Role::Warn),
        Standing::Running | Standing::Finished => ("", Role::Value),
    }
}

/// Returns the names of the figures at `width`.
fn heading(width: usize) -> String {
    let mut text = format!("{:>7}  {:>8}  {:>7}", "MB/s", "p99", "step");
    if width >= WITH_TEMPERATURE {
        text.push_str(&format!("  {:>3}", "°C"));
    }
    if width >= WITH_POWER {
        text.push_str(&format!("  {:>5}", "W"));
    }
    if width >= WITH_WRITTEN {
        text.push_str(&format!("  {:>8}", "written"));
    }
    text
}

/// Returns the figures of the last second of a run; of no run, as many spaces.
fn figures(one: Option<&Watched>, width: usize) -> String {
    let Some(one) = one else { return " ".repeat(display_width(&heading(width))) };
    let last = one.run.latest();
    let dash = || "–".to_owned();
    let mb_s = last.and_then(|second| second.load.mb_s()).map_or_else(dash, rounded::number);
    let p99 = last.and_then(|second| second.load.lat_p99_us).map_or_else(dash, rounded::latency);
    let step = one.run.current().map_or_else(dash, |step| {
        let all = crate::step_title::count(&one.run.head().plan);
        let all = all.map_or(String::new(), |all| format!("/{all}"));
        format!("{}{all}", one.run.number(step.place))
    });
    let mut text = format!("{mb_s:>7}  {p99:>8}  {step:>7}");
    if width >= WITH_TEMPERATURE {
        let celsius = last.and_then(|second| second.temperature_c);
        text.push_str(&format!(
            "  {:>3}",
            celsius.map_or_else(dash, |value| format!("{value:.0}"))
        ));
    }
    if width >= WITH_POWER {
        let watts = last.and_then(|second| second.power_w);
        text.push_str(&format!("  {:>5}", watts.map_or_else(dash, rounded::number)));
    }
    if width >= WITH_WRITTEN {
        text.push_str(&format!("  {:>8}", Bytes(one.run.written()).about()));
    }
    text
}

/// Returns how many runs have finished, the doubts, and how the other runs have ended, each with its drive.
fn remarks(all: &[Watched], width: usize, look: Look) -> Vec<Line> {
    let mut lines = Vec::new();
    let has_finished =
        |one: &&Watched| one.lost.is_none() && one.run.standing() == Standing::Finished;
    let finished = all.iter().filter(has_finished).count();
    if finished > 0 {
        let text = format!("{finished} of {} finished", all.len());
        lines.push(line(look, Role::Good, &fold::cut(&text, width)));
    }
    for one in all {
        let doubts = one.run.findings().iter().filter(|one| one.finding.severity != Severity::Note);
        for record in doubts {
            let (severity, text) = (record.finding.severity, sanitize_prose(&record.finding.text));
            let text = format!("{}: {}: {text}", name(one), severity.name());
            lines.push(line(look, Role::Warn, &fold::cut(&text, width)));
        }
    }
    for one in all {
        let standing = one.run.standing();
        let step = one.run.current().map(|step| one.run.title(step.place)).unwrap_or_default();
        let word = words::standing(standing);
        let (role, text) = match (&one.lost, standing) {
            (Some(lost), _) => (Role::Bad, sanitize_prose(&lost.to_string())),
            (None, Standing::Running | Standing::Finished) => continue,
            (None, Standing::Interrupted | Standing::Killed) => {
                (Role::Bad, format!("{word} in {step}"))
            }
        };
        lines.push(line(look, role, &fold::cut(&format!("{}: {text}", name(one)), width)));
    }
    lines
}
