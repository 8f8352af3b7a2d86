//! The screen of one run: what it does, its course, its steps and its findings.

use super::chart::{self, Cell, Reduce};
use super::followed::{Followed, Standing};
use super::second::Second;
use super::style::{Line, Look, line, pair};
use super::words;
use crate::terminal::colour::Role;
use crate::terminal::fold;
use ssdgauge_analysis::sanitize_prose;
use ssdgauge_core::{Severity, rounded};
use ssdgauge_runfile::{StepPlace, StepState};

/// The columns in front of a chart: the label of its axis.
const AXIS: usize = 11;
/// The height from which temperature and power have strips, and from which steps are listed.
const WITH_STRIPS: usize = 16;
const WITH_STEPS: usize = 12;
/// The maximum number of findings that are shown.
const FINDINGS: usize = 4;

/// What the user has chosen to see.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct View {
    /// The whole run instead of the last seconds.
    pub(super) is_whole: bool,
    /// The number of steps that the list, or the aligned view, is moved by.
    pub(super) moved: isize,
    /// Whether Ctrl-C stops the runs: the program has started them.
    pub(super) owns_runs: bool,
}

/// Returns the lines of the screen, at most `height` and none wider than `width`.
pub(super) fn lines(
    run: &Followed,
    view: View,
    (width, height): (usize, usize),
    look: Look,
) -> Vec<Line> {
    let mut above = head(run, width, look);
    let notes = findings(run, width, look, if height < WITH_STEPS { 1 } else { FINDINGS });
    let footer = footer(view, width, look);
    let fixed = above.len() + notes.len() + 1;
    let left = height.saturating_sub(fixed);
    let listed = if height < WITH_STEPS { 0 } else { (left / 3).clamp(3, 12) };
    let room = left.saturating_sub(listed);
    above.extend(course(run, view, (width, room), height >= WITH_STRIPS, look));
    above.extend(steps(run, view, width, listed, look));
    above.extend(notes);
    above.truncate(height.saturating_sub(1));
    while above.len() + 1 < height {
        above.push(Line::default());
    }
    above.push(footer);
    above
}

/// Returns drive, suite and step with the rest of the run, then the figures of the last second.
fn head(run: &Followed, width: usize, look: Look) -> Vec<Line> {
    let title = format!("{} · {}", words::drive(run), words::suite(run));
    let role = match run.standing() {
        Standing::Running => Role::Value,
        Standing::Finished => Role::Good,
        Standing::Interrupted | Standing::Killed => Role::Warn,
    };
    let step = run.current().map(|step| run.title(step.place)).unwrap_or_default();
    let second = run.latest();
    let figures = second.map(words::figures).unwrap_or_default();
    vec![
        pair(look, (Role::Value, &title), (role, &words::left(run)), width),
        pair(look, (Role::Second, &step), (Role::Second, &words::step_number(run)), width),
        pair(look, (Role::Value, &figures), (Role::Second, &words::written(run)), width),
    ]
}

/// Returns the course of throughput and latency, and with `with_strips` of temperature and power.
fn course(
    run: &Followed,
    view: View,
    (width, room): (usize, usize),
    with_strips: bool,
    look: Look,
) -> Vec<Line> {
    let columns = width.saturating_sub(AXIS + 1);
    let shown = if view.is_whole { run.seconds().len() } else { columns };
    let first = run.seconds().len().saturating_sub(shown);
    let seconds = run.seconds().iter().skip(first);
    let seconds: Vec<&Second> = seconds.filter(|second| second.load.has_rates()).collect();
    let strip = |value: fn(&Second) -> Option<f64>| {
        let any = seconds.iter().any(|second| value(second).is_some());
        (any && with_strips).then(|| cells(&seconds, value, columns, Reduce::Mean))
    };
    let strips =
        [("°C", strip(|second| second.temperature_c)), ("W", strip(|second| second.power_w))];
    let strips: Vec<(&str, Vec<Cell>)> =
        strips.into_iter().filter_map(|(unit, cells)| cells.map(|cells| (unit, cells))).collect();
    let charts = room.saturating_sub(strips.len() + 2);
    let (upper, lower) = (charts.div_ceil(2), charts / 2);
    let span = match (view.is_whole, seconds.len()) {
        (_, 0) => "no second is recorded yet".to_owned(),
        (true, _) => "the whole run".to_owned(),
        (false, count) => format!("the last {count} s of load"),
    };
    let mut lines = vec![Line::default()];
    if upper > 0 {
        let cells = cells(&seconds, |second| second.load.mb_s(), columns, Reduce::Mean);
        lines.extend(chart("MB/s", &cells, upper, look));
    }
    if lower > 0 {
        let cells = cells(&seconds, p99, columns, Reduce::Highest);
        lines.extend(chart("p99", &cells, lower, look));
    }
    for (unit, cells) in strips {
        lines.extend(chart(unit, &cells, 1, look));
    }
    if room > 0 {
        let of_flushes = seconds.iter().any(|second| second.load.latency_of.is_of_flushes());
        let p99 = if of_flushes { "; p99 of flushes where writes wait for them" } else { "" };
        let note = format!("{:>AXIS$} {span}, recorded up to 10 s ago{p99}", "");
        lines.push(line(look, Role::Second, &fold::cut(&note, width)));
    }
    lines.truncate(room);
    lines
}

/// Returns the 99th percentile of a second; zero where there are too few requests.
pub fn p99(second: &Second) -> Option<f64> {
    second.load.lat_p99_us.or(Some(0.0))
}

/// Returns the values of `seconds` as columns, with a boundary where a step begins.
pub fn cells(
    seconds: &[&Second],
    value: impl Fn(&Second) -> Option<f64>,
    columns: usize,
    reduce: Reduce,
) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(seconds.len());
    for (index, second) in seconds.iter().enumerate() {
        let begins = index > 0 && seconds[index - 1].step != second.step;
        if begins {
            cells.push(Cell::Boundary);
        }
        cells.push(value(second).map_or(Cell::Empty, Cell::Value));
    }
    let fits = cells.len() <= columns || seconds.len() > columns;
    // Boundaries take columns too: without the whole run the oldest seconds leave.
    let from = if fits { 0 } else { cells.len() - columns };
    chart::reduced(&cells[from..], columns, reduce)
}

/// Returns a chart of `height` rows with its highest value, its unit and zero at the axis.
fn chart(unit: &str, cells: &[Cell], height: usize, look: Look) -> Vec<Line> {
    let most = chart::highest(cells);
    let top = match unit {
        "p99" => format!("p99 {}", axis_latency(most)),
        _ => format!("{} {unit}", rounded::number(most)),
    };
    let rows = chart::rows(cells, height, most, look.unicode);
    let labelled = rows.into_iter().enumerate().map(|(row, text)| {
        let label = match row {
            0 => top.clone(),
            _ if row + 1 == height => "0".to_owned(),
            _ => String::new(),
        };
        let label = fold::cut(&label, AXIS);
        line(look, Role::Command, &format!("{label:>AXIS$} {text}"))
    });
    labelled.collect()
}

/// Returns a latency in few columns: `66µs`, `1.9ms`.
fn axis_latency(us: f64) -> String {
    match us {
        _ if us >= 1e6 => format!("{:.1}s", us / 1e6),
        _ if us >= 1e5 => format!("{:.0}ms", us / 1e3),
        _ if us >= 1e3 => format!("{:.1}ms", us / 1e3),
        _ => format!("{us:.0}µs"),
    }
}

/// Returns `count` lines of the plan around the current step: done, current and to come.
fn steps(run: &Followed, view: View, width: usize, count: usize, look: Look) -> Vec<Line> {
    if count < 2 {
        return Vec::new();
    }
    let plan = &run.head().plan;
    let all: Vec<StepPlace> = crate::step_title::places(plan).map(|(place, _)| place).collect();
    let current = run.current().map(|step| step.place);
    let at = all.iter().position(|place| Some(*place) == current).unwrap_or(0);
    let count = (count - 1).min(all.len());
    let begin = at.saturating_sub(count / 2).saturating_add_signed(view.moved);
    let begin = begin.min(all.len() - count);
    let finished = run.finished();
    let mut lines = vec![Line::default()];
    for (index, place) in all.iter().enumerate().skip(begin).take(count) {
        let is_current = Some(*place) == current && run.standing() == Standing::Running;
        let record = run.steps().iter().rfind(|record| record.place == *place);
        let (sign, role) = match record.map(|record| record.state) {
            _ if is_current => (if look.unicode { "▶" } else { ">" }, Role::Value),
            _ if finished.contains(place) => (if look.unicode { "✓" } else { "+" }, Role::Good),
            Some(StepState::Running | StepState::Broken) => ("!", Role::Warn),
            Some(StepState::Finished) | None => {
                (if look.unicode { "·" } else { "." }, Role::Second)
            }
        };
        let time = record.and_then(|record| record.elapsed).map(|time| time.about());
        let time = match record.and_then(|record| words::without_effect(run, record)) {
            _ if is_current => words::whole(run.within()).about(),
            Some(words) => words.to_owned(),
            None => time.unwrap_or_default(),
        };
        let left = format!("{:>5} {sign} {}", index + 1, run.title(*place));
        lines.push(pair(look, (role, &left), (Role::Second, &time), width));
    }
    lines
}

/// Returns the last findings, the newest last.
fn findings(run: &Followed, width: usize, look: Look, most: usize) -> Vec<Line> {
    let all = run.findings();
    let doubts = |severity| severity != Severity::Note;
    // Notes make room for doubts.
    let mut shown: Vec<usize> =
        (0..all.len()).filter(|index| doubts(all[*index].finding.severity)).collect();
    if shown.is_empty() {
        shown = (0..all.len()).collect();
    }
    let begin = shown.len().saturating_sub(most);
    let lines = shown[begin..].iter().map(|index| {
        let finding = &all[*index].finding;
        let role = match finding.severity {
            Severity::Note => Role::Second,
            Severity::Warning => Role::Warn,
            Severity::Invalid => Role::Bad,
        };
        let text = format!(" {}: {}", finding.severity.name(), sanitize_prose(&finding.text));
        line(look, role, &fold::cut(&text, width))
    });
    lines.collect()
}

/// Returns the line of the keys.
pub(super) fn footer(view: View, width: usize, look: Look) -> Line {
    let span = if view.is_whole { "w last seconds" } else { "w whole run" };
    let stop = if view.owns_runs { "   Ctrl-C stop the run" } else { "" };
    let text = format!(" q leave (the run goes on)   {span}   up/down steps{stop}");
    line(look, Role::Second, &fold::cut(&text, width))
}
