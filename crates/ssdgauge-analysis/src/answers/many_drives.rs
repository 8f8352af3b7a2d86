//! The headline and the sentences of many drives: which stand out, and how far they spread.
//!
//! A leader among a hundred drives answers nothing: one of equal drives is always first.

use crate::answers::answer::{Answer, Column, Question};
use crate::answers::statements::{self, Sentence};
use crate::drives::caches::Writes;
use crate::drives::report_drives::ReportDrives;
use crate::model::Run;
use crate::text::case::{capital, uncapitalised};
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_statistics::difference::peers::Peers;
use ssdgauge_statistics::difference::{Outcome, are_apart};
use ssdgauge_statistics::summary::quantile;
use std::collections::BTreeMap;

/// More drives than this are many. Chosen: so many rows fit on the first screen.
pub const MANY: usize = 16;

/// The minimum number of drives of a group that is set against all others. Chosen.
const LEAST_GROUP: usize = 3;

/// The rule of the sentences, for readers.
pub const RULE: &str = "More than 16 drives: the headline names the drive that stands out \
    most in the first column that has one: beyond the outer fence of Tukey (three times the distance of \
    the quartiles of the logarithms) and beyond the noise from the median; else the drives of one model, \
    firmware or label, at least three, that are all ahead of all others, or all behind them, by more \
    than the noise; else that no two differ beyond the noise; else the drives whose write speed falls; else the \
    range of the first column that separates them.";

/// Returns the headline of several drives.
pub fn headline(
    runs: &[Run],
    answer: &Answer,
    writes: &[Option<Writes>],
    drives: &ReportDrives,
) -> String {
    if drives.count() <= MANY {
        return statements::headline(answer, writes, drives);
    }
    let columns = in_order(answer);
    let count = number::count(drives.count() as u64);
    let noun = drives.noun();
    let found = columns
        .iter()
        .find_map(|column| outliers(column, drives))
        .or_else(|| columns.iter().find_map(|column| lot(column, runs, drives)));
    if let Some(found) = found {
        return found;
    }
    let compared = || columns.iter().filter(|column| column.ranked().len() > 1);
    if compared().next().is_some() && compared().all(|column| column.is_flat()) {
        return format!("No difference beyond the noise among {count} {noun}");
    }
    let falls = writes.iter().flatten().any(|writes| writes.fall().is_some());
    match compared().find(|column| !column.is_flat()).and_then(|column| spread(column, drives)) {
        Some(spread) if !falls => spread,
        Some(_) | None => statements::headline(answer, writes, drives),
    }
}

/// Returns at most four sentences on several drives; never none.
pub fn dek(answer: &Answer, writes: &[Option<Writes>], drives: &ReportDrives) -> Vec<Sentence> {
    /// The maximum number of columns with a sentence.
    const MOST: usize = 3;
    if drives.count() <= MANY {
        return statements::dek(answer, writes, drives);
    }
    let columns = in_order(answer);
    let sentences: Vec<Sentence> =
        columns.iter().filter_map(|column| range(column, drives)).take(MOST).collect();
    if sentences.is_empty() { statements::dek(answer, writes, drives) } else { sentences }
}

/// Returns the columns, those of work before the percentile, which varies the most.
fn in_order(answer: &Answer) -> Vec<&Column> {
    let place = |column: &&Column| match column.question {
        Question::Commits | Question::Sustained => 0,
        Question::Everyday => 1,
        Question::Other => 2,
        Question::Efficiency => 3,
        Question::Tail => 4,
    };
    let mut columns: Vec<&Column> = answer.columns.iter().collect();
    columns.sort_by_key(place);
    columns
}

/// Returns the values above zero in ascending order.
fn sorted(column: &Column, is_wanted: impl Fn(usize) -> bool) -> Vec<f64> {
    let values = column.values.iter().enumerate().filter(|(drive, _)| is_wanted(*drive));
    let mut values: Vec<f64> =
        values.filter_map(|(_, value)| *value).filter(|value| *value > 0.0).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Returns the drives beyond the outer fence; `None` where there is none, or too few have a value.
fn outliers(column: &Column, drives: &ReportDrives) -> Option<String> {
    let values = sorted(column, |_| true);
    if values.len() <= MANY {
        return None;
    }
    let peers = Peers::new(&values)?;
    let middle = peers.median;
    let is_out = |value: f64| peers.judge(value, column.noise()) != Outcome::Equal;
    let values = column.values.iter().enumerate();
    let mut out: Vec<(usize, f64)> = values
        .filter_map(|(drive, value)| Some((drive, value.filter(|value| *value > 0.0)?)))
        .filter(|(_, value)| is_out(*value))
        .collect();
    let distance = |value: f64| (value / middle).ln().abs();
    out.sort_by(|a, b| {
        let name = || drives.short(a.0).cmp(drives.short(b.0));
        distance(b.1).total_cmp(&distance(a.1)).then_with(name)
    });
    let (first, value) = *out.first()?;
    let name = drives.label(first);
    let count = number::count(drives.count() as u64);
    let what = of_column(column);
    let said = format!(
        "{}, {} the median",
        number::measured(value, column.metric),
        against(value, middle)
    );
    Some(match out.len() {
        1 => format!("{name} stands out among {count} {}: {said}, in {what}", drives.noun()),
        several => format!(
            "{} of {count} {} stand out in {what}, {name} most of all: {said}",
            capital(&statements::in_letters(several)),
            drives.noun()
        ),
    })
}

/// Returns a value against `middle` in words that end before "the median".
fn against(value: f64, middle: f64) -> String {
    match value / middle {
        ratio if ratio < 1.0 => format!("{:.0}\u{a0}% below", (1.0 - ratio) * 100.0),
        ratio if ratio < 2.0 => format!("{:.0}\u{a0}% above", (ratio - 1.0) * 100.0),
        ratio => format!("{}×", number::text(ratio)),
    }
}

/// Returns the drives of one model, firmware or label that are all ahead of all others, or all
/// behind.
fn lot(column: &Column, runs: &[Run], drives: &ReportDrives) -> Option<String> {
    let by: [fn(&Run) -> Option<String>; 3] = [
        |run| Some(format!("drives {}", sanitize::device(run.head.drive.name()))),
        |run| {
            let firmware = run.head.drive.firmware.as_deref()?;
            Some(format!("drives with firmware {}", sanitize::device(firmware)))
        },
        |run| {
            let label = run.head.environment.get("label")?;
            Some(format!("drives with the label {}", sanitize::short_prose(label)))
        },
    ];
    by.into_iter().find_map(|key| {
        let mut lots: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for drive in 0..drives.count() {
            let run = drives.runs_of(drive).next().map(|run| &runs[run])?;
            if let Some(key) = key(run) {
                lots.entry(key).or_default().push(drive);
            }
        }
        lots.iter().find_map(|(name, lot)| apart(column, (name, lot), drives))
    })
}

/// Returns the sentence on a lot whose drives are all better than all others, or all worse.
fn apart(column: &Column, (name, lot): (&str, &[usize]), drives: &ReportDrives) -> Option<String> {
    let of = |inside: bool| sorted(column, |drive| lot.contains(&drive) == inside);
    let (own, others) = (of(true), of(false));
    // Every drive of the report has a say, so that "all" is true.
    let is_whole = own.len() == lot.len() && own.len() + others.len() == drives.count();
    if !is_whole || own.len() < LEAST_GROUP || others.len() < LEAST_GROUP {
        return None;
    }
    let is_above = |high: &[f64], low: &[f64]| {
        let (high, low) = (*high.first()?, *low.last()?);
        Some(high > low && are_apart(high, low, column.noise()))
    };
    let (above, below) = (is_above(&own, &others)?, is_above(&others, &own)?);
    let where_to = match (above, below, column.metric.more_is_better()) {
        (true, _, true) | (_, true, false) => "ahead of",
        (_, true, true) | (true, _, false) => "behind",
        (false, false, _) => return None,
    };
    let name: String = name.chars().take(56).collect();
    let middle = median(&own)?;
    Some(format!(
        "All {} {name} are {where_to} the other {}: median {}, {} theirs, in {}",
        number::count(own.len() as u64),
        number::count(others.len() as u64),
        number::measured(middle, column.metric),
        against(middle, median(&others)?),
        of_column(column)
    ))
}

/// Returns the range of a column as a headline.
fn spread(column: &Column, drives: &ReportDrives) -> Option<String> {
    let values = sorted(column, |_| true);
    let (least, most) = (*values.first()?, *values.last()?);
    let count = match values.len() == drives.count() {
        true => number::count(values.len() as u64),
        false => format!("{} of {}", values.len(), number::count(drives.count() as u64)),
    };
    Some(format!(
        "{count} {} from {} to {} in {}: {}× from end to end",
        drives.noun(),
        number::text(least),
        number::measured(most, column.metric),
        of_column(column),
        statements::times(most / least)
    ))
}

/// Returns the range of a column, its middle and the drives at its ends as a sentence.
fn range(column: &Column, drives: &ReportDrives) -> Option<Sentence> {
    let values = sorted(column, |_| true);
    let ranked = column.ranked();
    let (best, last) = (*ranked.first()?, *ranked.last()?);
    let shown = |value: f64| number::measured(value, column.metric);
    let title = capital(&of_column(column));
    let middle = shown(median(&values)?);
    let text = match column.is_flat() {
        true => format!("{title}: no difference beyond the noise, median {middle}."),
        false => format!(
            "{title}: {} ({}) to {} ({}), median {middle}; half of them between {} and {}.",
            shown(column.values[best]?),
            drives.label(best),
            shown(column.values[last]?),
            drives.label(last),
            shown(quantile(&values, 0.25)?),
            shown(quantile(&values, 0.75)?)
        ),
    };
    (values.len() > 1).then_some(Sentence { drive: None, text })
}

/// Returns what a column is about, within a sentence.
fn of_column(column: &Column) -> String {
    match column.question {
        Question::Commits => "commits".to_owned(),
        Question::Everyday => "everyday work".to_owned(),
        Question::Sustained => "sustained writes".to_owned(),
        Question::Tail => "the slowest 1 in 10,000 requests".to_owned(),
        Question::Efficiency => "efficiency".to_owned(),
        Question::Other => uncapitalised(&column.short),
    }
}
