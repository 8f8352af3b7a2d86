//! The convergence of a tracked value to its steady state, round by round, with the measurement
//! window: the plots that the SNIA Performance Test Specification asks for.

use crate::analysis::group::{Group, Member};
use crate::analysis::report_drives::ReportDrives;
use crate::figure::chart::{Axis, Chart, Drawing, Line, Scale, Table};
use crate::model::Tracked;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::statistics::fit;
use ssdgauge_core::statistics::steady::WINDOW;

/// Returns a chart for everything that the tests of `group` tracked.
pub(super) fn charts(group: &Group<'_>, drives: &ReportDrives) -> Vec<Chart> {
    let most = group.members.iter().map(|member| member.test.tracked.len()).max().unwrap_or(0);
    (0..most).filter_map(|place| convergence(group, drives, place)).collect()
}

fn convergence(group: &Group<'_>, drives: &ReportDrives, place: usize) -> Option<Chart> {
    let tracked = |member: &Member<'_>| member.test.tracked.get(place).cloned();
    let all: Vec<(usize, Tracked)> = group
        .members
        .iter()
        .filter_map(|member| Some((member.index, tracked(member)?)))
        .filter(|(_, tracked)| tracked.values.len() > 1)
        .collect();
    let (_, first) = all.first()?;
    let (metric, round) = (first.metric, sanitize::prose(&first.round));
    let alone = all.len() == 1;
    let lines = all.iter().flat_map(|(index, tracked)| {
        let name = if alone { metric.title().to_owned() } else { drives.names[*index].clone() };
        lines_of(&name, drives.slot_of(*index), tracked, alone)
    });
    let unit = if metric.unit().is_empty() { metric.title() } else { metric.unit() };
    Some(Chart {
        title: format!("{}: convergence of {}", group.title(), sanitize::prose(&first.step)),
        notes: vec![format!(
            "{unit} in each round; a round is {round}. The measurement window is the first five \
             rounds that are steady by the SNIA criterion, or the last five; the axis starts at zero."
        )],
        drawing: Drawing::Lines {
            x: Axis { label: "Round".to_owned(), scale: Scale::Linear },
            y: Axis { label: format!("{}, {unit}", metric.title()), scale: Scale::Linear },
            lines: lines.collect(),
            right: None,
            boundaries: Vec::new(),
            marks: Vec::new(),
        },
        table: table(&all, drives),
        kind: "convergence",
        // Of a preconditioning it is a detail, of a test in rounds the point.
        folded: group.first().test.test.rounds.is_none(),
    })
}

/// Returns the rounds of one run and, where it stands alone, its window: the mean, 10 % above and
/// below, and the best line.
fn lines_of(name: &str, colour: usize, tracked: &Tracked, alone: bool) -> Vec<Line> {
    let at = |round: usize| (round + 1) as f64;
    let values = tracked.values.iter().enumerate().map(|(round, value)| (at(round), *value));
    let line = |label: String, dashed: bool, points: Vec<(f64, f64)>| Line {
        label,
        colour,
        dashed,
        right: false,
        marked: !dashed,
        stretches: vec![points],
    };
    let mut lines = vec![line(name.to_owned(), false, values.collect())];
    let Some((start, verdict)) = tracked.window().filter(|_| alone) else { return lines };
    let rounds = start..start + WINDOW;
    let points: Vec<(f64, f64)> =
        rounds.clone().map(|round| (at(round), tracked.values[round])).collect();
    let level =
        |share: f64| rounds.clone().map(|round| (at(round), verdict.mean * share)).collect();
    let of_window =
        |label: &str, points| Line { colour: colour + 1, ..line(label.to_owned(), true, points) };
    lines.push(of_window("mean of the window", level(1.0)));
    lines.push(of_window("10 % above", level(1.1)));
    lines.push(of_window("10 % below", level(0.9)));
    if let Some(fit) = fit::line(&points) {
        let best = points.iter().map(|(x, _)| (*x, fit.intercept + fit.slope * x)).collect();
        lines.push(Line { colour: colour + 2, ..line("linear fit".to_owned(), true, best) });
    }
    lines
}

fn table(all: &[(usize, Tracked)], drives: &ReportDrives) -> Table {
    let most = all.iter().map(|(_, tracked)| tracked.values.len()).max().unwrap_or(0);
    let mut head = vec!["Round".to_owned()];
    head.extend(all.iter().map(|(index, _)| drives.names[*index].clone()));
    let row = |round: usize| {
        let cell =
            |(_, tracked): &(usize, Tracked)| number::optional(tracked.values.get(round).copied());
        std::iter::once((round + 1).to_string()).chain(all.iter().map(cell)).collect()
    };
    Table { head, rows: (0..most).map(row).collect() }
}
