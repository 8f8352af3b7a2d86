//! The title of each chart of a page of one drive: a sentence about what the chart shows.

use crate::answers::statements::times;
use crate::drives::run_facts;
use crate::groups::group::Group;
use crate::groups::swept::{self, Swept};
use crate::model::metrics;
use crate::model::{PointRun, TestRun};
use crate::steps::{headline_points, lasting_level, level_pair};
use crate::text::case::{capital, uncapitalised};
use crate::text::number;
use ssdgauge_core::{Bytes, Family, Metric, Scope, Stream};
use ssdgauge_statistics::difference::{NOISE, are_apart};

/// The share of the offered requests that a drive completes where it keeps up. Chosen, as for `overloaded`.
const KEPT: f64 = 0.99;

/// Returns the title of the chart of the only member of `group`; `None` without a result.
pub(crate) fn title(group: &Group<'_>) -> Option<String> {
    let test = group.first().test;
    let value = test.headline.value?;
    let metric = test.headline.metric;
    let subject = subject(test);
    let along = swept::common(group);
    let is_ladder = test.points.len() > 1 && metric.family() == Family::Rate;
    if is_ladder && !along.is_of_one_of_several() {
        let places = places(group, metric);
        let title = match along.swept {
            Swept::QueueDepth => by_depth(&places, &subject),
            Swept::BlockSize => by_size(&places, &subject),
            Swept::Mix => by_mix(&places, &subject),
            Swept::Fill => by_fill(&places, &subject, metric),
            Swept::Rate if metric == Metric::Iops => by_rate(&places, &subject),
            Swept::Rate | Swept::Repeat | Swept::Steps => None,
        };
        if let Some(title) = title {
            // A lower bound has a preposition of its own.
            return Some(title.replace("at at least", "at least"));
        }
    }
    if let Some(title) = of_percentiles(test) {
        return Some(title);
    }
    let shown = number::measured(value, metric);
    Some(match metric.family() {
        Family::Rate => {
            let levels = level_pair::of_headline(test, &test.test.score, &test.headline);
            match (levels, test.test.score.last_part()) {
                (Some(levels), _) => format!("{subject} run at {}", levels.with_unit()),
                (None, _) if lasting_level::is_of_one_level(test) => {
                    format!("{subject} run at {shown} for the longest time after the first drop")
                }
                (None, Some((_, window))) => format!("{subject} run at {shown} in the {window}"),
                (None, None) => format!("{subject} run at {shown}"),
            }
        }
        Family::Latency | Family::Stall => {
            format!("Its {} is {shown}", uncapitalised(metric.title()))
        }
        Family::Power => {
            let sends = test.points.iter().any(|point| !point.workload.streams.is_empty());
            format!("{}: {shown}", if sends { "Power" } else { "Idle power" })
        }
        Family::Duration => format!("Takes {shown}"),
        Family::Efficiency
        | Family::Queue
        | Family::Cost
        | Family::Spare
        | Family::Trim
        | Family::Judgement => capital(&number::named(value, metric)),
    })
}

/// Returns the requests of `test` in words, with what all of its loads have in common: `Random 4 KiB reads`, `Sequential
/// writes`, `4 KiB commits`.
fn subject(test: &TestRun) -> String {
    let streams = || test.points.iter().flat_map(|point| &point.workload.streams);
    let Some(first) = streams().next() else { return "Requests".to_owned() };
    let noun = match (streams().any(Stream::reads), streams().any(Stream::writes)) {
        (true, false) => "reads",
        (false, true) if streams().all(|one| one.flush_every == Some(1)) => "commits",
        (false, true) => "writes",
        (true, true) | (false, false) => "requests",
    };
    let size =
        Some(first.size_words()).filter(|size| streams().all(|one| one.size_words() == *size));
    let order = first.access_words();
    let is_ordered = noun != "commits" && streams().all(|one| one.access_words() == order);
    let words = [is_ordered.then_some(order), size.map(|size| number::spaced(&size))];
    let words: Vec<String> = words.into_iter().flatten().chain([noun.to_owned()]).collect();
    capital(&words.join(" "))
}

/// A step: its place, its value as the chart has it, that in words, both levels where it falls, and whether it falls.
type Place = (f64, f64, String, bool);

/// Returns the steps that settle, by their places in ascending order.
fn places(group: &Group<'_>, metric: Metric) -> Vec<Place> {
    let along = swept::common(group);
    let test = group.first().test;
    let place = |point: &PointRun| {
        run_facts::settled(test, point, metric)?;
        let value = metrics::value(point, metric, Scope::All)?;
        let levels = level_pair::of_point(point, metric);
        let (words, falls) = match levels {
            Some(levels) => (levels.with_unit(), true),
            None => (number::measured(value, metric), false),
        };
        Some((along.place(point)?, value, words, falls))
    };
    let mut places: Vec<Place> = test.points.iter().filter_map(place).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    places
}

/// Returns the first and the last of several places.
fn ends(places: &[Place]) -> Option<[&Place; 2]> {
    match places {
        [first, .., last] if first.1 > 0.0 && last.1 > 0.0 => Some([first, last]),
        [] | [_] | [..] => None,
    }
}

/// Returns whether all values are equal within the noise.
fn are_level(places: &[Place]) -> bool {
    let values = || places.iter().map(|place| place.1);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    !are_apart(low, high, NOISE)
}

fn by_depth(places: &[Place], subject: &str) -> Option<String> {
    let [first, last] = ends(places)?;
    let (shallow, deep) = (number::short(first.0), number::short(last.0));
    let (least, most) = (&first.2, &last.2);
    if are_level(places) {
        return Some(format!(
            "{subject} run at {most} at every queue depth from {shallow} to {deep}"
        ));
    }
    // Of two levels no ratio is the one that a reader computes.
    let has_levels = first.3 || last.3;
    let factor = match last.1 / first.1 {
        ratio if ratio >= 1.5 && !has_levels => format!(" ({}×)", times(ratio)),
        _ => String::new(),
    };
    let between = if has_levels { ";" } else { "," };
    Some(format!("{subject}: {least} at QD{shallow}{between} {most} at QD{deep}{factor}"))
}

fn by_size(places: &[Place], subject: &str) -> Option<String> {
    let [first, last] = ends(places)?;
    let size = |bytes: f64| number::block(Bytes(bytes as u64));
    let (least, most) = (&first.2, &last.2);
    Some(format!(
        "{subject} of {} run at {least}, those of {} at {most}",
        size(first.0),
        size(last.0)
    ))
}

/// Returns up to which rate the requests of an open loop are completed as fast as they are offered.
fn by_rate(places: &[Place], subject: &str) -> Option<String> {
    let kept = places.iter().take_while(|(offered, done, ..)| *done >= KEPT * *offered).count();
    let last = places.get(kept.checked_sub(1)?)?;
    let up_to = format!("{subject} keep up with the load up to {}/s", number::text(last.0));
    let next = places.get(kept);
    Some(next.map_or(up_to.clone(), |(offered, _, done, _)| {
        format!("{up_to}; offered {}/s, they run at {done}", number::text(*offered))
    }))
}

fn by_mix(places: &[Place], subject: &str) -> Option<String> {
    let middle = places.iter().min_by(|a, b| (a.0 - 50.0).abs().total_cmp(&(b.0 - 50.0).abs()))?;
    let [writes, reads] = ends(places)?;
    let share = match middle.0 {
        50.0 => "half reads and half writes".to_owned(),
        share => format!("{share:.0}\u{a0}% reads"),
    };
    let of_end = |(share, _, words, _): &Place, name: &str| {
        let is_pure = *share == 0.0 || *share == 100.0;
        is_pure.then(|| format!("{words} with {name} only"))
    };
    let pure: Vec<String> =
        [of_end(reads, "reads"), of_end(writes, "writes")].into_iter().flatten().collect();
    let pure = if pure.is_empty() { String::new() } else { format!(", {}", pure.join(", ")) };
    Some(format!("{subject} run at {} with {share}{pure}", middle.2))
}

fn by_fill(places: &[Place], subject: &str, metric: Metric) -> Option<String> {
    let [first, last] = ends(places)?;
    if are_level(places) {
        return Some(format!("{subject} run at {} at every fill level", last.2));
    }
    // The values of the chart: a step may fall several times, and two levels would not tell its mean.
    let value = |place: &Place| number::measured(place.1, metric);
    Some(format!(
        "{subject} run at {} when {:.0}\u{a0}% full, at {} when {:.0}\u{a0}% full",
        value(first),
        first.0,
        value(last),
        last.0
    ))
}

/// Returns half of the requests and the slowest of a test of latency in one step.
fn of_percentiles(test: &TestRun) -> Option<String> {
    let metric = test.headline.metric;
    let points = headline_points::points(test);
    let ([point], Some(_)) = (points.as_slice(), metric.percentile()) else { return None };
    let value = |metric| metrics::value(point, metric, Scope::All);
    let (half, slowest) = (value(Metric::LatP50Us)?, test.headline.value?);
    let share = match metric {
        Metric::LatP99Us => "1 in 100",
        Metric::LatP999Us => "1 in 1,000",
        Metric::LatP9999Us => "1 in 10,000",
        _ => return None,
    };
    let [half, slowest] = [half, slowest].map(|us| number::measured(us, Metric::LatP50Us));
    Some(format!("Half of the requests take at most {half}, {share} longer than {slowest}"))
}
