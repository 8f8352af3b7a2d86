//! The sentences that the program writes about drives: headline, dek, the use that each drive is best
//! for, and the title of each figure.
//!
//! Every sentence follows from ranks and ratios by the rules of [`RULES`], which the page prints.

use crate::analysis::answer::{Answer, Column, Question};
use crate::analysis::caches::Writes;
use crate::analysis::compare::CompareOptions;
use crate::analysis::group::{Group, Member};
use crate::analysis::outcome::{self, Outcome};
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::slc_cache;
use crate::text::number;
use ssdgauge_core::{Family, Metric, ScoreFamily};

/// The rules of the sentences, for readers.
pub(crate) const RULES: [&str; 3] = [
    "Headline: the drives whose write speed falls to 80 % or less when their cache is full; without \
     such a drive the one that leads in most columns of the answer, by more than 3 % each.",
    "Best for: first in a column, within 3 % of the best; else a cache that ends, else last in \
     sustained writes, else no end of a cache.",
    "Title of a figure: a drive leads where the 95 % interval of the ratio to the next lies beyond \
     3 %, the noise assumed between runs. This noise is chosen, not measured.",
];

/// The most sentences of the dek.
const MOST: usize = 4;

/// A sentence; the name of its drive comes first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sentence {
    /// The number of its drive; `None` where it is about several.
    pub(crate) drive: Option<usize>,
    /// The rest of the sentence.
    pub(crate) text: String,
}

/// A drive whose cache ends, with the share of its speed that is left.
struct Fall {
    drive: usize,
    left: f64,
}

/// Returns the headline of several drives.
pub(crate) fn headline(
    answer: &Answer,
    writes: &[Option<Writes>],
    drives: &ReportDrives,
) -> String {
    let (falls, seen) = falls(writes);
    if let Some(worst) = falls.iter().map(|fall| fall.left).reduce(f64::max)
        && seen > 1
    {
        let most = (worst * 100.0).ceil();
        return fall_of(&falls, seen, most, drives);
    }
    let mut leads: Vec<(usize, Vec<&Column>)> = Vec::new();
    for column in &answer.columns {
        let Some((best, _, _)) = column.lead().filter(is_ahead) else { continue };
        match leads.iter_mut().find(|(drive, _)| *drive == best) {
            Some((_, columns)) => columns.push(column),
            None => leads.push((best, vec![column])),
        }
    }
    leads.sort_by_key(|(_, columns)| std::cmp::Reverse(columns.len()));
    let count = drives.count();
    match leads.as_slice() {
        [] if answer.columns.iter().all(|column| column.lead().is_none()) => {
            format!("No test has values of two {}", drives.noun())
        }
        [] => format!("No lead beyond 3 % among {} {}", in_letters(count), drives.noun()),
        [(drive, columns)] => {
            format!("{} leads in {}", drives.short(*drive), listed(&titles(columns)))
        }
        [(drive, columns), (other, others), ..] if columns.len() > others.len() => format!(
            "{} leads in {}, {} in {}",
            drives.short(*drive),
            listed(&titles(columns)),
            drives.short(*other),
            listed(&titles(others))
        ),
        [(drive, columns), (other, others), ..] => format!(
            "No drive leads everywhere: {} is first in {}, {} in {}",
            drives.short(*drive),
            listed(&titles(&columns[..1])),
            drives.short(*other),
            listed(&titles(&others[..1]))
        ),
    }
}

/// Returns the headline of drives that leave their cache; `seen` drives wrote enough to show one, and
/// `most` percent are left at most.
fn fall_of(falls: &[Fall], seen: usize, most: f64, drives: &ReportDrives) -> String {
    let some = subject(falls.len(), seen, drives.count());
    match falls {
        [one] => format!(
            "{} falls to {most:.0} % of its write speed once the cache is full",
            drives.short(one.drive)
        ),
        [] | [_, ..] => {
            format!(
                "{some} fall to {most:.0} % of their write speed or less once the cache is full"
            )
        }
    }
}

/// Returns the drives that fall as a subject: their share of all drives only where all wrote enough.
fn subject(falls: usize, seen: usize, count: usize) -> String {
    let some = capital(&in_letters(falls));
    match (falls, seen, count) {
        (_, seen, count) if seen < count => format!("{some} drives"),
        (2, 2, _) => "Both drives".to_owned(),
        (all, seen, _) if all == seen => format!("All {} drives", in_letters(seen)),
        (_, seen, _) => format!("{some} of {} drives", in_letters(seen)),
    }
}

fn titles(columns: &[&Column]) -> Vec<String> {
    let title = |column: &&Column| match column.question {
        Question::Everyday => "everyday work".to_owned(),
        Question::Sustained => "sustained writes".to_owned(),
        Question::Tail => "slowest requests".to_owned(),
        Question::Efficiency => "efficiency".to_owned(),
        Question::Other => within_sentence(&column.title),
    };
    columns.iter().take(2).map(title).collect()
}

/// Returns the title of a test within a sentence: its first words, the first letter in lower case.
fn within_sentence(title: &str) -> String {
    let words = title.split(',').next().unwrap_or(title);
    let mut letters = words.chars();
    match (letters.next(), letters.clone().next()) {
        // An abbreviation, such as ACT, stays as it is.
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        (_, _) => words.to_owned(),
    }
}

fn is_ahead((_, _, ratio): &(usize, usize, f64)) -> bool {
    *ratio > 1.0 + CompareOptions::default().noise
}

/// Returns the drives whose cache ends, and how many drives wrote enough to show it.
fn falls(writes: &[Option<Writes>]) -> (Vec<Fall>, usize) {
    let falls = writes.iter().enumerate().filter_map(|(drive, writes)| {
        let edge = writes.as_ref()?.edge?;
        (edge.before > 0.0).then(|| Fall { drive, left: edge.behind / edge.before })
    });
    (falls.collect(), writes.iter().flatten().count())
}

/// Returns at most four sentences on several drives; never none.
pub(crate) fn dek(
    answer: &Answer,
    writes: &[Option<Writes>],
    drives: &ReportDrives,
) -> Vec<Sentence> {
    let column = |question: Question| answer.columns.iter().find(|c| c.question == question);
    let mut sentences: Vec<Option<Sentence>> = vec![
        column(Question::Tail).and_then(|column| tail(column, drives)),
        column(Question::Sustained).and_then(|column| most(column, drives, "sustains")),
        longest_fall(writes),
        column(Question::Everyday).and_then(|column| most(column, drives, "does")),
        column(Question::Sustained).and_then(|column| least(column, drives)),
    ];
    let others = answer.columns.iter().filter(|column| column.question == Question::Other);
    sentences.extend(others.map(|column| most(column, drives, "reaches")));
    sentences
        .push(column(Question::Efficiency).and_then(|column| most(column, drives, "delivers")));
    let mut sentences = varied(sentences.into_iter().flatten().collect());
    if sentences.is_empty() {
        let noun = drives.noun();
        let text = match answer.columns.iter().all(Column::is_flat) {
            true => format!("No two {noun} differ by more than 3 % in the columns below."),
            false => format!("No one of the {noun} leads by more than 3 % in a column below."),
        };
        sentences.push(Sentence { drive: None, text });
    }
    sentences
}

/// Returns at most four of `sentences`: those about a drive that has none yet come first.
fn varied(sentences: Vec<Sentence>) -> Vec<Sentence> {
    let mut first: Vec<Sentence> = Vec::new();
    let mut again: Vec<Sentence> = Vec::new();
    for sentence in sentences {
        let is_new = first.iter().all(|known| known.drive != sentence.drive);
        if is_new { first.push(sentence) } else { again.push(sentence) }
    }
    first.extend(again);
    first.truncate(MOST);
    first
}

fn tail(column: &Column, drives: &ReportDrives) -> Option<Sentence> {
    let (best, next, _) = column.lead().filter(is_ahead)?;
    let value = |drive: usize| column.values[drive].map(number::latency);
    let text = match drives.count() {
        2 => format!(
            "completes 9,999 of 10,000 requests within {}, {} within {}.",
            value(best)?,
            drives.short(next),
            value(next)?
        ),
        _ => format!(
            "completes 9,999 of 10,000 requests within {}; no other drive does better than {}.",
            value(best)?,
            value(next)?
        ),
    };
    Some(Sentence { drive: Some(best), text })
}

fn most(column: &Column, drives: &ReportDrives, verb: &str) -> Option<Sentence> {
    let (best, next, ratio) = column.lead().filter(is_ahead)?;
    let value = number::measured(column.values[best]?, column.metric);
    let load = match column.question {
        Question::Sustained => "",
        Question::Everyday => " in everyday work",
        Question::Tail | Question::Efficiency | Question::Other => "",
    };
    let of = match column.question {
        Question::Other => format!(" ({})", column.title),
        Question::Everyday | Question::Sustained | Question::Tail | Question::Efficiency => {
            String::new()
        }
    };
    let by = advantage(ratio, column.metric.more_is_better());
    let text = format!("{verb} {value}{load}, {by} {}{of}.", drives.short(next));
    Some(Sentence { drive: Some(best), text })
}

/// Returns a ratio above 1 in words that end before the name of the other drive.
fn advantage(ratio: f64, more: bool) -> String {
    match (ratio < 1.5, more) {
        (true, true) => format!("{:.0}\u{a0}% more than", (ratio - 1.0) * 100.0),
        (true, false) => format!("{:.0}\u{a0}% less than", (1.0 - 1.0 / ratio) * 100.0),
        (false, true) => format!("{} times as much as", times(ratio)),
        (false, false) => format!("{}\u{a0}% of that of", share(1.0 / ratio)),
    }
}

fn times(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}") } else { number::text(ratio.round()) }
}

fn share(share: f64) -> String {
    if share < 0.095 { format!("{:.1}", share * 100.0) } else { format!("{:.0}", share * 100.0) }
}

/// The cache that ends after the most data: the fastest drive until then.
fn longest_fall(writes: &[Option<Writes>]) -> Option<Sentence> {
    let edges = writes
        .iter()
        .enumerate()
        .filter_map(|(drive, writes)| Some((drive, writes.as_ref()?.edge?)));
    let (drive, edge) = edges.max_by(|a, b| a.1.before.total_cmp(&b.1.before))?;
    let text = format!(
        "writes at {}\u{a0}MB/s until its cache is full ({}), then at {}\u{a0}MB/s.",
        number::text(edge.before / 1e6),
        edge.about(),
        number::text(edge.behind / 1e6)
    );
    Some(Sentence { drive: Some(drive), text })
}

fn least(column: &Column, drives: &ReportDrives) -> Option<Sentence> {
    let ranked = column.ranked();
    let (best, last) = (*ranked.first()?, *ranked.last()?);
    let (most, least) = (column.values[best]?, column.values[last]?);
    let part = least / most;
    (ranked.len() > 2 && part < 0.5).then(|| Sentence {
        drive: Some(last),
        text: format!(
            "sustains the least: {}, {}\u{a0}% of {}.",
            number::measured(least, column.metric),
            share(part),
            drives.short(best)
        ),
    })
}

/// Returns what `drive` is best for, by the first rules that apply; never nothing.
pub(crate) fn best_for(answer: &Answer, writes: &[Option<Writes>], drive: usize) -> String {
    let is_compared = |column: &&Column| column.values.iter().flatten().count() > 1;
    let first =
        |column: &&Column| column.is_best(drive) && !column.is_flat() && is_compared(column);
    let words = |column: &Column| match column.question {
        Question::Everyday => "everyday work".to_owned(),
        Question::Sustained if column.is_sequential => "large copies".to_owned(),
        Question::Sustained => "lasting random writes".to_owned(),
        Question::Tail => "databases: the shortest waits".to_owned(),
        Question::Efficiency => "most work per watt".to_owned(),
        Question::Other => column.title.clone(),
    };
    let places: Vec<String> = answer.columns.iter().filter(first).take(2).map(words).collect();
    if !places.is_empty() {
        return capital(&places.join("; "));
    }
    let compared = || answer.columns.iter().filter(is_compared);
    if compared().next().is_some() && compared().all(Column::is_flat) {
        return "No difference".to_owned();
    }
    let sustained = answer.columns.iter().find(|c| c.question == Question::Sustained);
    let is_last = sustained.is_some_and(|column| {
        let ranked = column.ranked();
        ranked.len() > 2 && ranked.last() == Some(&drive)
    });
    match (is_last, writes.get(drive).and_then(Option::as_ref)) {
        (true, _) => "Mostly reads: last in sustained writes".to_owned(),
        (false, Some(writes)) if writes.edge.is_some() => "Short bursts of writes".to_owned(),
        (false, Some(_)) => "Steady writes: no end of a cache".to_owned(),
        (false, None) => number::NOTHING.to_owned(),
    }
}

/// The most drives that a title names.
const MAX_NAMES: usize = 3;

/// Returns the title of the figure of `group`: the drives that leave their cache, the best drive with
/// its lead, or a tie.
pub(crate) fn take(group: &Group<'_>, drives: &ReportDrives) -> String {
    if let Some(falls) = falls_of(group, drives) {
        return falls;
    }
    let name = |place: usize| drives.short(drives.drive_of(group.members[place].index));
    let metric = group.first().test.headline.metric;
    let value = |place: usize| {
        let value = group.members[place].test.headline.value;
        value.map_or_else(|| number::NOTHING.to_owned(), |value| number::measured(value, metric))
    };
    match outcome::judge(group) {
        Outcome::Nothing => "No result".to_owned(),
        Outcome::Alone(place) if drives.count() == 1 => value(place),
        Outcome::Alone(place) => format!("{}: {}", name(place), value(place)),
        Outcome::Lead { best, next, ratio } => {
            lead(metric, (name(best), &value(best)), (name(next), ratio))
        }
        Outcome::Tie(places) => {
            let names: Vec<String> = places.iter().map(|place| name(*place).to_owned()).collect();
            let tied = match names.len() {
                many if many > MAX_NAMES => {
                    format!("{} {}", capital(&in_letters(many)), drives.noun())
                }
                _ => listed(&names),
            };
            format!("{tied} tie; the best value is {}", value(places[0]))
        }
        Outcome::Unjudged { best, next } if is_search(group) => {
            format!("{} passes at {}, {} at {}", name(best), value(best), name(next), value(next))
        }
        Outcome::Unjudged { best, next } => format!(
            "{} {}, {} {}: no lead without 95\u{a0}% intervals",
            name(best),
            value(best),
            name(next),
            value(next)
        ),
    }
}

/// Returns whether the result of `group` is the highest load that passed, which has no interval.
fn is_search(group: &Group<'_>) -> bool {
    group.first().test.test.score.family() == ScoreFamily::HighestLoad
}

fn lead(metric: Metric, (best, value): (&str, &str), (next, ratio): (&str, f64)) -> String {
    let times = times(ratio);
    let percent = format!("{:.0}\u{a0}%", (ratio - 1.0) * 100.0);
    let is_close = ratio < 1.5;
    match metric.family() {
        Family::Latency | Family::Duration if is_close => {
            format!("{best} is first with {value}; {next} takes {percent} longer")
        }
        Family::Latency | Family::Duration => {
            format!("{best} is first with {value}; {next} takes {times} times as long")
        }
        Family::Power | Family::Cost | Family::Stall if is_close => {
            format!("{best} needs the least: {value}; {next} needs {percent} more")
        }
        Family::Power | Family::Cost | Family::Stall => {
            format!("{best} needs the least: {value}; {next} needs {times} times as much")
        }
        Family::Rate
        | Family::Efficiency
        | Family::Queue
        | Family::Spare
        | Family::Trim
        | Family::Judgement => match is_close {
            true => format!("{best} leads with {value}, {percent} ahead of {next}"),
            false => format!("{best} leads with {value}, {times} times the result of {next}"),
        },
    }
}

/// Returns the drives of a sequential write that leave their cache, with the share that is left.
fn falls_of(group: &Group<'_>, drives: &ReportDrives) -> Option<String> {
    let edge = |member: &Member<'_>| slc_cache::cache_edge(member.test);
    let mut falls: Vec<(usize, f64)> = group
        .members
        .iter()
        .filter_map(|member| Some((drives.drive_of(member.index), edge(member)?)))
        .map(|(drive, edge)| (drive, edge.behind / edge.before))
        .collect();
    if falls.is_empty() {
        return None;
    }
    falls.sort_by(|a, b| b.1.total_cmp(&a.1));
    let to = |left: f64| format!("{}\u{a0}%", share(left));
    if group.members.len() == 1 {
        let edge = edge(&group.first())?;
        return Some(format!(
            "{}\u{a0}MB/s until the cache is full ({}), then {}\u{a0}MB/s",
            number::text(edge.before / 1e6),
            edge.about(),
            number::text(edge.behind / 1e6)
        ));
    }
    let named: Vec<String> = falls
        .iter()
        .take(MAX_NAMES)
        .map(|(drive, left)| format!("{} to {}", drives.short(*drive), to(*left)))
        .collect();
    let shown = listed(&named);
    Some(match (falls.len(), group.members.len()) {
        (1, _) => format!(
            "{shown} of its speed when its cache is full",
            shown = shown.replacen(" to ", " falls to ", 1)
        ),
        (n, _) if n > MAX_NAMES => {
            let n = in_letters(n);
            format!("{} drives slow down when their cache is full: {shown} among them", capital(&n))
        }
        (n, _) => format!(
            "{} drives slow down when their cache is full: {shown}",
            capital(&in_letters(n))
        ),
    })
}

/// Returns `words` as `a, b and c`.
pub(crate) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Returns a count up to twelve in letters, as newspapers print it.
pub(crate) fn in_letters(n: usize) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    WORDS.get(n).map_or_else(|| number::count(n as u64), |word| (*word).to_owned())
}

/// Returns `text` with a capital letter first.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
