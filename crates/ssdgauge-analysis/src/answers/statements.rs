//! The sentences that the program writes about drives: headline, dek, the use that each drive is best
//! for.
//!
//! Every sentence follows from ranks and ratios by the rules of [`RULES`], which the page prints.

use crate::answers::answer::{Answer, Column, Question};
use crate::answers::close_call::{CLOSE, TOO_CLOSE, UNKNOWN};
use crate::comparison::outcome::Outcome;
use crate::drives::caches::Writes;
use crate::drives::report_drives::ReportDrives;
use crate::groups::uses::Use;
use crate::model::{FallCause, SpeedFall};
use crate::steps::fall_words;
use crate::steps::slc_cache;
use crate::text::case::{capital, uncapitalised};
use crate::text::number;

/// The rules of the sentences, for readers.
pub const RULES: [&str; 3] = [
    "Lead, in every headline, sentence, table and title: a drive leads where, for each other drive, the \
     95 % interval of their ratio excludes 1, and the ratio is beyond 3 %, the noise assumed between runs. \
     Values within 3 % tie; others are not decided. Without an interval no drive leads, but by a factor of \
     1.5 in the 99.99th percentile. The bounds of the highest loads that pass are the loads on which two \
     trials disagree. The 3 % and the factor of 1.5 are chosen, not measured.",
    "Headline: the drives whose write speed falls to 80 % or less, with the cause where their runs show \
     one (a full cache, heat, used-up spare area or free space); without such a drive the one that leads \
     in most columns of the answer.",
    "Best for: the lead or a tie in a column that separates the drives; of two drives whose order in \
     such a column is not decided, that it is too close to call, or unknown without an interval; else mostly reads for the last in \
     sustained writes that is not the last in a column of reads; else short bursts for a write speed that \
     falls; \
     else nothing. For databases, commits where they were measured, else the worst-case latency (p99.99). Everyday work is at most four requests in flight.",
];

/// The maximum number of sentences of the dek.
const MOST: usize = 4;

/// A sentence; the name of its drive comes first.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// The number of its drive; `None` where it is about several.
    pub drive: Option<usize>,
    /// The rest of the sentence.
    pub text: String,
}

/// A drive whose write speed falls, with the share of it that is left in percent.
struct Fall {
    drive: usize,
    cause: FallCause,
    left: f64,
    /// Whether less may be left: the speed falls within the first seconds.
    is_upper_bound: bool,
}

/// Returns the headline of several drives.
pub fn headline(answer: &Answer, writes: &[Option<Writes>], drives: &ReportDrives) -> String {
    let (falls, seen) = falls(writes);
    if let Some(worst) = falls.iter().map(|fall| fall.left).reduce(f64::max)
        && seen > 1
    {
        return fall_of(&falls, seen, &slc_cache::percent_words(worst), drives);
    }
    let leads = answer.leads();
    let count = drives.count();
    match leads.as_slice() {
        [] if answer.columns.iter().all(|column| column.ranked().len() < 2) => {
            format!("No test has values of two {}", drives.noun())
        }
        [] if answer.columns.iter().all(Column::is_flat) => {
            format!("No lead beyond the noise among {} {}", in_letters(count), drives.noun())
        }
        [] if count == 2 => format!("Neither of the two {} leads", drives.noun()),
        [] => format!("None of the {} {} leads", in_letters(count), drives.noun()),
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
            "No {} leads everywhere: {} is first in {}, {} in {}",
            drives.one(),
            drives.short(*drive),
            listed(&titles(&columns[..1])),
            drives.short(*other),
            listed(&titles(&others[..1]))
        ),
    }
}

/// Returns the headline of drives whose write speed falls; `seen` drives wrote enough to show it, and
/// `most` percent are left at most.
fn fall_of(falls: &[Fall], seen: usize, most: &str, drives: &ReportDrives) -> String {
    let some = subject(falls.len(), seen, drives);
    let clause = fall_words::common_clause(falls.iter().map(|fall| fall.cause));
    match falls {
        [one] => format!(
            "{} falls to {}{most} % of its write speed{clause}",
            drives.short(one.drive),
            if one.is_upper_bound { "at most " } else { "" }
        ),
        [] | [_, ..] => {
            format!("{some} fall to {most} % of their write speed or less{clause}")
        }
    }
}

/// Returns the drives that fall as a subject: their share of all drives only where all wrote enough.
fn subject(falls: usize, seen: usize, drives: &ReportDrives) -> String {
    let some = capital(&in_letters(falls));
    let those = drives.those();
    match (falls, seen, drives.count()) {
        (_, seen, count) if seen < count => format!("{some} {those}"),
        (2, 2, _) => format!("Both {those}"),
        (all, seen, _) if all == seen => format!("All {} {those}", in_letters(seen)),
        (_, seen, _) => format!("{some} of {} {those}", in_letters(seen)),
    }
}

fn titles(columns: &[&Column]) -> Vec<String> {
    let title = |column: &&Column| match column.question {
        Question::Commits => "commits".to_owned(),
        Question::Everyday => "everyday work".to_owned(),
        Question::Sustained => "sustained writes".to_owned(),
        Question::Tail => "p99.99 latency".to_owned(),
        Question::Efficiency => "efficiency".to_owned(),
        Question::Other => within_sentence(&column.title),
    };
    columns.iter().take(2).map(title).collect()
}

/// Returns the title of a test within a sentence: its first words, the first letter in lower case.
fn within_sentence(title: &str) -> String {
    uncapitalised(title.split(',').next().unwrap_or(title))
}

/// Returns the drives whose write speed falls, and how many drives wrote enough to show it.
fn falls(writes: &[Option<Writes>]) -> (Vec<Fall>, usize) {
    let falls = writes.iter().enumerate().filter_map(|(drive, writes)| {
        let SpeedFall { edge, cause, .. } = *writes.as_ref()?.fall()?;
        (edge.before > 0.0).then(|| Fall {
            drive,
            cause,
            left: slc_cache::percent_left(&edge),
            is_upper_bound: !edge.is_bounded_below(),
        })
    });
    (falls.collect(), writes.iter().flatten().count())
}

/// Returns at most four sentences on several drives; never none.
pub fn dek(answer: &Answer, writes: &[Option<Writes>], drives: &ReportDrives) -> Vec<Sentence> {
    let column = |question: Question| answer.columns.iter().find(|c| c.question == question);
    let mut sentences: Vec<Option<Sentence>> = vec![
        column(Question::Commits).and_then(|column| most(column, drives, "does")),
        column(Question::Tail).and_then(|column| tail(column, drives)),
        column(Question::Sustained).and_then(|column| most(column, drives, "sustains")),
        longest_fall(writes, drives),
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
        let has_tail = column(Question::Tail).is_some();
        let tail = if has_tail { ", or by a factor of 1.5 in p99.99 latency" } else { "" };
        let text = match answer.columns.iter().all(Column::is_flat) {
            true => format!("No two {noun} differ by more than 3 % in the columns below{tail}."),
            false => format!(
                "No one of the {noun} leads in a column below: the first two tie there, or their \
                 95 % intervals do not separate them."
            ),
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
    let (best, next, _) = column.leader()?;
    let value = |drive: usize| column.values[drive].map(number::latency);
    let requests = &column.requests;
    let text = match drives.count() {
        2 => format!(
            "completes 9,999 of 10,000 requests ({requests}) within {}, {} within {}.",
            value(best)?,
            drives.short(next),
            value(next)?
        ),
        _ => format!(
            "completes 9,999 of 10,000 requests ({requests}) within {}; no other {} does better than {}.",
            value(best)?,
            drives.one(),
            value(next)?
        ),
    };
    Some(Sentence { drive: Some(best), text })
}

fn most(column: &Column, drives: &ReportDrives, verb: &str) -> Option<Sentence> {
    let (best, next, ratio) = column.leader()?;
    let value = number::measured(column.values[best]?, column.metric);
    let load = match column.question {
        Question::Sustained => "",
        Question::Everyday => " in everyday work",
        Question::Commits => " in commits",
        Question::Tail | Question::Efficiency | Question::Other => "",
    };
    let of = match column.question {
        Question::Other => format!(" ({})", column.title),
        Question::Commits
        | Question::Everyday
        | Question::Sustained
        | Question::Tail
        | Question::Efficiency => String::new(),
    };
    let by = advantage(ratio, column.metric.more_is_better());
    let text = format!("{verb} {value}{load}, {by} {}{of}.", drives.short(next));
    Some(Sentence { drive: Some(best), text })
}

/// Returns a ratio above 1 in words that end before the name of the other drive.
fn advantage(ratio: f64, more: bool) -> String {
    match (ratio < CLOSE, more) {
        (true, true) => format!("{:.0}\u{a0}% more than", (ratio - 1.0) * 100.0),
        (true, false) => format!("{:.0}\u{a0}% less than", (1.0 - 1.0 / ratio) * 100.0),
        (false, true) => format!("{} times as much as", times(ratio)),
        (false, false) => format!("{}\u{a0}% of that of", share(1.0 / ratio)),
    }
}

/// Returns a ratio above 1 with three digits.
pub fn times(ratio: f64) -> String {
    number::text(ratio)
}

/// Returns a share in percent.
pub fn share(share: f64) -> String {
    if share < 0.095 { format!("{:.1}", share * 100.0) } else { format!("{:.0}", share * 100.0) }
}

/// The drive that writes the fastest until its speed falls; of equal ones the first by its name.
fn longest_fall(writes: &[Option<Writes>], drives: &ReportDrives) -> Option<Sentence> {
    let falls = writes
        .iter()
        .enumerate()
        .filter_map(|(drive, writes)| Some((drive, writes.as_ref()?.fall()?)));
    let (drive, fall) = falls.max_by(|a, b| {
        let order = a.1.edge.before.total_cmp(&b.1.edge.before);
        order.then_with(|| drives.short(b.0).cmp(drives.short(a.0)))
    })?;
    let text = format!("writes {}.", fall_words::levels(std::slice::from_ref(fall)));
    Some(Sentence { drive: Some(drive), text })
}

fn least(column: &Column, drives: &ReportDrives) -> Option<Sentence> {
    let ranked = column.ranked();
    let (best, last) = (*ranked.first()?, *ranked.last()?);
    let (most, least) = (column.values[best]?, column.values[last]?);
    let part = least / most;
    (column.is_last(last) && part < 0.5).then(|| Sentence {
        drive: Some(last),
        text: format!(
            "sustains the least: {}, {}\u{a0}% of {}.",
            number::measured(least, column.metric),
            share(part),
            drives.short(best)
        ),
    })
}

/// What a row of the answer says that its drive is best for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BestFor {
    /// Uses in words.
    Uses(String),
    /// Columns in which the order of this drive and another one is not decided.
    Open(String),
    /// No column separates the drives.
    NoDifference,
    /// No rule applies.
    Nothing,
}

impl BestFor {
    /// Returns it in words; empty for nothing.
    pub fn words(&self) -> &str {
        match self {
            BestFor::Uses(words) | BestFor::Open(words) => words,
            BestFor::NoDifference => "No difference",
            BestFor::Nothing => "",
        }
    }
}

/// Returns what `drive` is best for, by the first rule that applies.
pub fn best_for(answer: &Answer, writes: &[Option<Writes>], drive: usize) -> BestFor {
    let has =
        |question: &Question| answer.columns.iter().any(|column| column.question == *question);
    let of_use = |purpose: &Use| match purpose {
        Use::Durable => Some(Question::Commits),
        Use::Latency => Some(Question::Tail),
        _ => None,
    };
    let for_databases = Use::FOR_DATABASES.iter().filter_map(of_use).find(has);
    let words = |column: &Column| match column.question {
        Question::Commits => "most commits (databases)".to_owned(),
        Question::Everyday => "everyday work".to_owned(),
        Question::Sustained if column.is_sequential => "large copies".to_owned(),
        Question::Sustained => "lasting random writes".to_owned(),
        Question::Tail if for_databases == Some(Question::Tail) => {
            "lowest worst-case latency (databases)".to_owned()
        }
        Question::Tail => "lowest worst-case latency".to_owned(),
        Question::Efficiency => "most work per watt".to_owned(),
        Question::Other => column.title.clone(),
    };
    let has_value = |column: &Column| column.values.get(drive).copied().flatten().is_some();
    if !answer.columns.iter().any(has_value) {
        return BestFor::Nothing;
    }
    let compared: Vec<&Column> = answer.columns.iter().filter(|one| one.valued() > 1).collect();
    let separating = || compared.iter().copied().filter(|column| !column.is_flat());
    let best: Vec<String> =
        separating().filter(|column| column.is_best(drive)).take(2).map(words).collect();
    let is_open = |column: &&Column| {
        column.undecided().is_some_and(|two| two.contains(&drive) && column.are_close(two))
    };
    let open: Vec<&Column> = separating().filter(is_open).take(2 - best.len()).collect();
    let open = without_order(&open, words);
    if !best.is_empty() {
        let open = if open.is_empty() { open } else { format!(" ({open})") };
        return BestFor::Uses(capital(&best.join("; ")) + &open);
    }
    if !compared.is_empty() && separating().next().is_none() {
        return BestFor::NoDifference;
    }
    if !open.is_empty() {
        return BestFor::Open(capital(&open));
    }
    let sustained = compared.iter().find(|column| column.question == Question::Sustained);
    let reads_well = |column: &&Column| {
        let is_worst = column.ranked().last() == Some(&drive);
        column.has_reads && has_value(column) && !is_worst
    };
    let falls = writes.get(drive).and_then(Option::as_ref).is_some_and(|own| own.fall().is_some());
    match sustained.is_some_and(|column| column.is_last(drive)) {
        true if compared.iter().copied().any(|column| reads_well(&column)) => {
            BestFor::Uses("Mostly reads: last in sustained writes".to_owned())
        }
        true | false if falls => BestFor::Uses("Short bursts of writes".to_owned()),
        true | false => BestFor::Nothing,
    }
}

/// Returns the uses of `columns` in which the order of a drive and another one is not decided: `large copies: too close to
/// call; most work per watt: order unknown, no interval`. What has no interval is unknown, not close.
fn without_order(columns: &[&Column], words: impl Fn(&Column) -> String) -> String {
    let uses = |is_judged: bool| {
        let own =
            |column: &&&Column| is_judged != matches!(column.outcome, Outcome::Unjudged { .. });
        let name = |column: &&Column| {
            let name = words(column);
            name.split(" (").next().unwrap_or(&name).to_owned()
        };
        let names: Vec<String> = columns.iter().filter(own).map(name).collect();
        let verdict = if is_judged { TOO_CLOSE } else { UNKNOWN };
        (!names.is_empty()).then(|| format!("{}: {verdict}", listed(&names)))
    };
    [true, false].into_iter().filter_map(uses).collect::<Vec<_>>().join("; ")
}

/// Returns `words` as `a, b and c`.
pub fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Returns a count up to twelve in letters, as newspapers print it.
pub fn in_letters(n: usize) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    WORDS.get(n).map_or_else(|| number::count(n as u64), |word| (*word).to_owned())
}
