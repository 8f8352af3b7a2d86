//! The title of each figure: the drives whose write speed falls, a lead, or a tie.

use crate::answers::close_call::{TOO_CLOSE, are_close};
use crate::answers::one_drive_titles;
use crate::answers::statements::{in_letters, listed, times};
use crate::comparison::outcome::{self, Outcome};
use crate::drives::report_drives::ReportDrives;
use crate::groups::group::{Group, Member};
use crate::groups::workload_text;
use crate::model::SpeedFall;
use crate::steps::fall_words;
use crate::steps::slc_cache;
use crate::text::case::{capital, uncapitalised};
use crate::text::{interval, number};
use ssdgauge_core::{Family, Metric, ScoreFamily};

/// The maximum number of drives that a title names.
const MAX_NAMES: usize = 3;

/// Returns the title of the figure of `group`: the drives whose write speed falls, the best drive with
/// its lead, or a tie.
pub fn take(group: &Group<'_>, drives: &ReportDrives) -> String {
    if let Some(falls) = falls_of(group, drives) {
        return falls;
    }
    if drives.count() == 1
        && group.members.len() == 1
        && !outcome::is_search(group)
        && let Some(title) = one_drive_titles::title(group)
    {
        return title;
    }
    let name = |place: usize| drives.short(drives.drive_of(group.members[place].index));
    let metric = group.first().test.headline.metric;
    let value = |place: usize| {
        let measured = interval::headline_measured(&group.members[place].test.headline);
        measured.unwrap_or_else(|| number::NOTHING.to_owned())
    };
    let both =
        |best, next| format!("{} {}, {} {}", name(best), value(best), name(next), value(next));
    match outcome::judge(group) {
        Outcome::Nothing => "No result".to_owned(),
        Outcome::Alone(place) if drives.count() == 1 && outcome::is_search(group) => {
            format!("Passes at {}{}", value(place), base(group))
        }
        Outcome::Alone(place) => format!("{}: {}{}", name(place), value(place), mean_of(group)),
        Outcome::Lead { best, next, .. } | Outcome::Unjudged { best, next }
            if outcome::is_search(group) =>
        {
            let (of_best, of_next) = (value(best), value(next));
            format!(
                "{} passes at {of_best}, {} at {of_next}{}",
                name(best),
                name(next),
                base(group)
            )
        }
        Outcome::Lead { best, next, ratio } => {
            let of_best = format!("{}{}", value(best), mean_of(group));
            lead(metric, (name(best), &of_best), (name(next), ratio))
        }
        Outcome::Tie(places) => {
            let names: Vec<String> = places.iter().map(|place| name(*place).to_owned()).collect();
            let tied = match names.len() {
                many if many > MAX_NAMES => {
                    format!("{} {}", capital(&in_letters(many)), drives.those())
                }
                _ => listed(&names),
            };
            format!("{tied} tie; the best value is {}{}", value(places[0]), mean_of(group))
        }
        Outcome::Undecided { best, next } => {
            let why = match outcome::is_search(group) {
                true => "trials of one load disagree",
                false => "the 95\u{a0}% interval of the ratio is too wide",
            };
            let number = |place: usize| group.members[place].test.headline.value;
            let is_close = match [number(best), number(next)] {
                [Some(a), Some(b)] => are_close(a, b),
                [Some(_) | None, Some(_) | None] => false,
            };
            let verdict = if is_close { TOO_CLOSE } else { "no verdict" };
            format!("{}: {}; {why}", capital(verdict), both(best, next))
        }
        Outcome::Unjudged { best, next } if outcome::are_near(group, best, next) => format!(
            "No difference beyond 3\u{a0}% between {} and {}: {} and {}",
            name(best),
            name(next),
            value(best),
            value(next)
        ),
        Outcome::Unjudged { best, next } => {
            format!("{}: no lead without 95\u{a0}% intervals", both(best, next))
        }
    }
}

/// Returns the load of which the results of a search are multiples.
fn base(group: &Group<'_>) -> String {
    let base = workload_text::base_load(&group.first().test.test);
    base.map(|base| format!(" of {base}")).unwrap_or_default()
}

/// Returns what the results of `group` are a mean of, where they are one of several loads: no load has that value.
fn mean_of(group: &Group<'_>) -> String {
    let test = group.first().test;
    if test.test.score.family() != ScoreFamily::Mean || test.points.len() < 2 {
        return String::new();
    }
    let rule = workload_text::rule(&test.test, &test.test.score);
    match rule.split_once(" points at ") {
        Some((_, loads)) if loads.contains(',') => format!(" (mean of {loads})"),
        Some(_) => String::new(),
        None => " (mean of all loads)".to_owned(),
    }
}

fn lead(metric: Metric, (best, value): (&str, &str), (next, ratio): (&str, f64)) -> String {
    let times = times(ratio);
    let percent = format!("{:.0}\u{a0}%", (ratio - 1.0) * 100.0);
    let is_close = ratio < 1.5;
    let name = || uncapitalised(metric.title());
    match metric.family() {
        Family::Latency if is_close => {
            format!("{best} has the lowest {}: {value}; that of {next} is {percent} higher", name())
        }
        Family::Latency => {
            format!("{best} has the lowest {}: {value}; that of {next} is {times} times it", name())
        }
        Family::Duration if is_close => {
            format!("{best} is first with {value}; {next} takes {percent} longer")
        }
        Family::Duration => {
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

/// Returns the drives whose sequential write speed falls, with the share that is left and the cause.
fn falls_of(group: &Group<'_>, drives: &ReportDrives) -> Option<String> {
    let fall = |member: &Member<'_>| slc_cache::falls(member.test).first().copied();
    let mut falls: Vec<(usize, f64, SpeedFall)> = group
        .members
        .iter()
        .filter_map(|member| Some((drives.drive_of(member.index), fall(member)?)))
        .map(|(drive, fall)| (drive, slc_cache::percent_left(&fall.edge), fall))
        .collect();
    if falls.is_empty() {
        return None;
    }
    falls
        .sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| drives.short(a.0).cmp(drives.short(b.0))));
    if group.members.len() == 1 {
        let levels = fall_words::levels(&[falls.first()?.2]);
        let at = if levels.starts_with("at least") { "" } else { "at " };
        return Some(format!("Writes {at}{levels}"));
    }
    let named: Vec<String> = falls
        .iter()
        .take(MAX_NAMES)
        .map(|(drive, _, fall)| {
            format!("{} to {}", drives.short(*drive), slc_cache::left_in_words(&fall.edge))
        })
        .collect();
    let shown = listed(&named);
    let clause = fall_words::common_clause(falls.iter().map(|(_, _, fall)| fall.cause));
    Some(match (falls.len(), group.members.len()) {
        (1, _) => format!(
            "{shown} of its write speed{clause}",
            shown = shown.replacen(" to ", " falls to ", 1)
        ),
        (n, _) if n > MAX_NAMES => {
            let n = in_letters(n);
            format!("{} {} write slower{clause}: {shown} among them", capital(&n), drives.those())
        }
        (n, _) => {
            format!("{} {} write slower{clause}: {shown}", capital(&in_letters(n)), drives.those())
        }
    })
}
