//! The answer of a report of several drives: one row for each drive, with at most four numbers.

use crate::analysis::compare::CompareOptions;
use crate::analysis::group::{Group, Member};
use crate::analysis::key_metrics;
use crate::analysis::measure::Measure;
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::uses::{self, Use};
use crate::analysis::workload_text;
use ssdgauge_core::{Family, Metric, Test};

/// The most columns of numbers. Chosen: more do not fit beside the words on 1,280 pixels.
const MOST: usize = 4;

/// Requests in flight of everyday work at most. Chosen: a desktop rarely has more.
const SHALLOW: u32 = 8;

/// The answer: the drives in their order, and the columns.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The numbers of the drives, the best first: by their mean rank over the columns.
    pub(crate) order: Vec<usize>,
    /// The columns.
    pub(crate) columns: Vec<Column>,
}

/// The question that a column answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Reads, or mixes at a low depth.
    Everyday,
    /// Writes that outlast a cache.
    Sustained,
    /// The 99.99th percentile of latency.
    Tail,
    /// Work per watt.
    Efficiency,
    /// The headline of another test.
    Other,
}

/// One number for each drive.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// What it answers.
    pub(crate) question: Question,
    /// Its title.
    pub(crate) title: String,
    /// The title where there is little room.
    pub(crate) short: String,
    /// The load and the unit, in a few words.
    pub(crate) conditions: String,
    /// Whether all of its requests are sequential.
    pub(crate) is_sequential: bool,
    /// The metric.
    pub(crate) metric: Metric,
    /// The number of its test among the groups of the report.
    pub(crate) group: usize,
    /// The value of each drive, by its number.
    pub(crate) values: Vec<Option<f64>>,
}

impl Column {
    /// Returns the best value.
    pub(crate) fn best(&self) -> Option<f64> {
        let values = self.values.iter().copied().flatten();
        values.reduce(if self.metric.more_is_better() { f64::max } else { f64::min })
    }

    /// Returns whether the value of `drive` is within 3 % of the best, the noise assumed between runs.
    pub(crate) fn is_best(&self, drive: usize) -> bool {
        let noise = 1.0 + CompareOptions::default().noise;
        match (self.values.get(drive).copied().flatten(), self.best()) {
            (Some(value), Some(best)) if self.metric.more_is_better() => value * noise >= best,
            (Some(value), Some(best)) => value <= best * noise,
            (_, _) => false,
        }
    }

    /// Returns whether no two of at least two drives differ by more than the noise assumed between runs.
    pub(crate) fn is_flat(&self) -> bool {
        let ranked = self.ranked();
        ranked.len() > 1 && ranked.iter().all(|drive| self.is_best(*drive))
    }

    /// Returns the drives with a value, the best first.
    pub(crate) fn ranked(&self) -> Vec<usize> {
        let value = |drive: &usize| self.values[*drive].unwrap_or(f64::NAN);
        let mut drives: Vec<usize> =
            (0..self.values.len()).filter(|drive| self.values[*drive].is_some()).collect();
        drives.sort_by(|a, b| match self.metric.more_is_better() {
            true => value(b).total_cmp(&value(a)),
            false => value(a).total_cmp(&value(b)),
        });
        drives
    }

    /// Returns how many times better the best value is than the next, above 1; `None` with fewer than
    /// two values above zero.
    pub(crate) fn lead(&self) -> Option<(usize, usize, f64)> {
        let [best, next, ..] = self.ranked()[..] else { return None };
        let (best_value, next_value) = (self.values[best]?, self.values[next]?);
        let (high, low) = match self.metric.more_is_better() {
            true => (best_value, next_value),
            false => (next_value, best_value),
        };
        (low > 0.0).then(|| (best, next, high / low))
    }
}

/// Returns the answer of `groups`. A question whose answer is the same for all drives yields its place to
/// another test that separates them.
pub(crate) fn answer(groups: &[Group<'_>], drives: &ReportDrives) -> Answer {
    let mut columns: Vec<Column> = Vec::new();
    let found = [
        find(groups, drives, Question::Everyday, Measure::Speed, everyday),
        find(groups, drives, Question::Sustained, Measure::Speed, sustained),
        find(groups, drives, Question::Tail, Measure::P9999, tail),
    ];
    columns.extend(found.into_iter().flatten());
    columns.extend(efficiency(groups, drives, &columns));
    let (flat, mut columns): (Vec<Column>, Vec<Column>) =
        columns.into_iter().partition(Column::is_flat);
    let mut others = others(groups, drives, &columns);
    // A test has no second column that separates its drives no better than its first.
    others.retain(|other| flat.iter().all(|one| one.group != other.group) || !other.is_flat());
    let (flat_others, others): (Vec<Column>, Vec<Column>) =
        others.into_iter().partition(Column::is_flat);
    columns.extend(others.into_iter().chain(flat).chain(flat_others));
    columns.truncate(MOST);
    columns.sort_by_key(|column| column.question as usize);
    let order = order(&columns, drives);
    Answer { order, columns }
}

/// Returns the headlines of tests that no column has: those of searches, then one for each kind of work.
fn others(groups: &[Group<'_>], drives: &ReportDrives, columns: &[Column]) -> Vec<Column> {
    let searches = groups.iter().enumerate();
    let searches = searches.filter(|(_, group)| group.first().test.test.search.is_some());
    let mut numbers: Vec<usize> = searches.map(|(number, _)| number).collect();
    numbers.extend(key_metrics::select(groups).into_iter().map(|(number, _)| number));
    let mut seen: Vec<usize> = columns.iter().map(|column| column.group).collect();
    let mut found = Vec::new();
    for number in numbers {
        let group = &groups[number];
        if !seen.contains(&number) && measured(group, Measure::Speed) > 1 {
            seen.push(number);
            found.push(column(number, group, drives, Question::Other, Measure::Speed));
        }
    }
    found
}

/// Returns the column of the group with the most drives, and of those the one of the highest `rank`;
/// groups without a rank do not answer the question.
fn find(
    groups: &[Group<'_>],
    drives: &ReportDrives,
    question: Question,
    measure: Measure,
    rank: fn(&Test) -> Option<u32>,
) -> Option<Column> {
    let fits = |(_, group): &(usize, &Group<'_>)| {
        rank(&group.first().test.test).is_some() && measured(group, measure) > 0
    };
    let key = |group: &Group<'_>| (measured(group, measure), rank(&group.first().test.test));
    // The first of equals.
    let candidates = groups.iter().enumerate().filter(fits).rev();
    let (number, group) = candidates.max_by_key(|(_, group)| key(group))?;
    Some(column(number, group, drives, question, measure))
}

fn efficiency(groups: &[Group<'_>], drives: &ReportDrives, columns: &[Column]) -> Option<Column> {
    let of_column = |question: Question| columns.iter().find(|c| c.question == question);
    let wanted = [Question::Sustained, Question::Everyday];
    let known = wanted.into_iter().filter_map(of_column).map(|column| column.group);
    let number = known.chain(0..groups.len()).find(|number| {
        Measure::Efficiency.is_measured(&groups[*number])
            && measured(&groups[*number], Measure::Efficiency) > 0
    })?;
    let group = &groups[number];
    Some(column(number, group, drives, Question::Efficiency, Measure::Efficiency))
}

fn measured(group: &Group<'_>, measure: Measure) -> usize {
    group.members.iter().filter(|member| measure.value(group, member).is_ok()).count()
}

fn column(
    number: usize,
    group: &Group<'_>,
    drives: &ReportDrives,
    question: Question,
    measure: Measure,
) -> Column {
    let test = &group.first().test.test;
    let metric = measure.metric(test);
    let of_drive = |drive: usize| {
        let member = |member: &&Member<'_>| drives.drive_of(member.index) == drive;
        group.members.iter().find(member).and_then(|member| measure.value(group, member).ok())
    };
    let (title, short) = match question {
        Question::Everyday => ("Everyday".to_owned(), "Everyday".to_owned()),
        Question::Sustained => ("Sustained write".to_owned(), "Sustained".to_owned()),
        Question::Tail => ("Slowest 1 in 10,000".to_owned(), "p99.99".to_owned()),
        Question::Efficiency => ("Efficiency".to_owned(), "Efficiency".to_owned()),
        Question::Other => {
            // A column of a phone has room for what the test does, not for its sizes.
            let title = group.title();
            let short = title.split(',').next().unwrap_or_default().to_owned();
            (group.full_title(), short)
        }
    };
    Column {
        question,
        title,
        short,
        conditions: conditions(test, metric, question),
        is_sequential: uses::is_sequential(test),
        metric,
        group: number,
        values: (0..drives.count()).map(of_drive).collect(),
    }
}

fn conditions(test: &Test, metric: Metric, question: Question) -> String {
    let unit = match question {
        Question::Tail => "left is better",
        Question::Everyday | Question::Sustained | Question::Efficiency | Question::Other => {
            if metric.unit().is_empty() {
                metric.title()
            } else {
                metric.unit()
            }
        }
    };
    let load = match question {
        // The title of the test says it.
        Question::Other => String::new(),
        Question::Everyday | Question::Sustained | Question::Tail | Question::Efficiency => {
            workload_text::short(test)
        }
    };
    if load.is_empty() { unit.to_owned() } else { format!("{load}, {unit}") }
}

/// Returns all drives by their mean rank over `columns`; a drive without a value has the last rank.
fn order(columns: &[Column], drives: &ReportDrives) -> Vec<usize> {
    let count = drives.count();
    let mean = |drive: usize| {
        let rank = |column: &Column| {
            // Equal values share a rank.
            let is_equal = |other: &usize| column.values[*other] == column.values[drive];
            column.ranked().iter().position(is_equal).unwrap_or(count) as f64
        };
        columns.iter().map(rank).sum::<f64>()
    };
    let mut order: Vec<usize> = (0..count).collect();
    // Names separate equal ranks: the order of the files must not show.
    let name = |drive: usize| drives.short(drive);
    order.sort_by(|a, b| mean(*a).total_cmp(&mean(*b)).then_with(|| name(*a).cmp(name(*b))));
    order
}

fn is_rate(test: &Test) -> bool {
    test.score.metric().family() == Family::Rate
}

/// Everyday work: mixes at a low depth, then random reads at one.
fn everyday(test: &Test) -> Option<u32> {
    let is_random = !uses::is_sequential(test);
    let is_shallow = uses::deepest(test) <= SHALLOW;
    if !is_rate(test) || !is_random {
        return None;
    }
    match (uses::classify(test), is_shallow) {
        (Use::Mixed, true) => Some(3),
        (Use::Everyday, true) => Some(2),
        (Use::Everyday, false) => Some(1),
        (Use::Mixed, false) | (Use::Sustained | Use::Latency | Use::Power, _) => None,
    }
}

/// Sustained writes: sequential ones by their last part, then random ones; then random ones behind a
/// preconditioning, as servers' drives are tested, over the queue depths before one of them; then others.
fn sustained(test: &Test) -> Option<u32> {
    if uses::classify(test) != Use::Sustained || !is_rate(test) {
        return None;
    }
    let is_sequential = uses::is_sequential(test);
    let is_last = test.score.mean_of_last().is_some();
    let is_server = !is_sequential && uses::is_preconditioned(test);
    let is_ladder = is_server && test.score.depth_knee().is_some();
    let rules = [(is_last, 8), (is_server, 4), (is_ladder, 2), (is_sequential, 1)];
    Some(rules.into_iter().filter(|(applies, _)| *applies).map(|(_, rank)| rank).sum())
}

/// The tail: mixes in one step, then random reads, then random writes.
fn tail(test: &Test) -> Option<u32> {
    if uses::is_sequential(test) || test.search.is_some() || uses::streams(test).is_empty() {
        return None;
    }
    match uses::classify(test) {
        Use::Latency => Some(3),
        Use::Everyday => Some(2),
        Use::Mixed | Use::Sustained => Some(1),
        Use::Power => None,
    }
}
