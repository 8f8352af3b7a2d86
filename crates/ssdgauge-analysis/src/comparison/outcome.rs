//! The outcome of a test of several drives: a lead, a tie, or no judgement.
//!
//! Headline, sentences, answer, titles of figures and Markdown take every lead from here, so that no
//! two places of a report contradict each other.

use crate::groups::group::Group;
use crate::groups::lower_bound;
use crate::groups::measure::Measure;
use ssdgauge_core::ScoreFamily;
use ssdgauge_statistics::difference::{self, NOISE, are_apart};

/// By how much a percentile of latency of equal drives may differ, as a share, with an interval or without
/// one: tails differ more between runs than means. Chosen, not measured.
const NOISE_OF_TAILS: f64 = 0.5;

/// The outcome of a test, its drives by their place among the members of the group.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// No drive has a result.
    Nothing,
    /// One drive has a result.
    Alone(usize),
    /// The first is ahead of the second by a ratio beyond the noise between runs, whose interval excludes
    /// equality.
    Lead {
        /// The drive with the best value.
        best: usize,
        /// The drive with the next value.
        next: usize,
        /// The better value by the worse one, above 1.
        ratio: f64,
    },
    /// These are within the noise between runs of the best value, the best first.
    Tie(Vec<usize>),
    /// The two best values, which differ by more than the noise, while the interval of their ratio
    /// includes equality.
    Undecided {
        /// The drive with the best value.
        best: usize,
        /// The drive with the next value.
        next: usize,
    },
    /// The two best values, where an interval is missing: no lead is claimed.
    Unjudged {
        /// The drive with the best value.
        best: usize,
        /// The drive with the next value.
        next: usize,
    },
}

/// How far two values are apart.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Apart {
    /// Beyond the noise, by this ratio.
    Beyond(f64),
    /// Within the noise.
    Within,
    /// By more than the noise, while the interval of the ratio includes equality.
    Undecided,
    /// Without an interval.
    Unjudged,
}

/// Returns the members of `group` with a result, the best first.
pub fn ranked(group: &Group<'_>) -> Vec<usize> {
    ranked_by(group, Measure::Speed, &every(group))
}

fn every(group: &Group<'_>) -> Vec<usize> {
    (0..group.members.len()).collect()
}

/// Returns those of `places` with a value of `measure`, the best first.
fn ranked_by(group: &Group<'_>, measure: Measure, places: &[usize]) -> Vec<usize> {
    let value = |place: &usize| value(group, measure, *place);
    let more = measure.metric(&group.first().test.test).more_is_better();
    let mut valued: Vec<(usize, f64)> =
        places.iter().filter_map(|place| Some((*place, value(place)?))).collect();
    // The order of files does not show in that of equal values.
    let id = |place: usize| &group.members[place].run.head.id;
    valued.sort_by(|a, b| {
        let order = if more { b.1.total_cmp(&a.1) } else { a.1.total_cmp(&b.1) };
        order.then_with(|| id(a.0).cmp(id(b.0)))
    });
    valued.into_iter().map(|(place, _)| place).collect()
}

fn value(group: &Group<'_>, measure: Measure, place: usize) -> Option<f64> {
    measure.value(group, &group.members[place]).ok()
}

/// Returns the outcome of the headlines of `group`.
pub fn judge(group: &Group<'_>) -> Outcome {
    judge_by(group, Measure::Speed, &every(group))
}

/// Returns the outcome of `group` by the values of `measure` of the members at `places`.
///
/// A drive leads where `compare` says that it differs from the next ([`difference::judge`]): the 95 %
/// interval of the ratio excludes equality, and the ratio is beyond the noise assumed between runs, 3 % or
/// that of [`noise`]. Without an interval nothing leads, but a percentile in addition to the headline, which
/// `compare` does not judge. Drives tie with the best where their values are within the noise of it.
pub(crate) fn judge_by(group: &Group<'_>, measure: Measure, places: &[usize]) -> Outcome {
    let ranked = ranked_by(group, measure, places);
    let (best, next) = match ranked.as_slice() {
        [] => return Outcome::Nothing,
        [one] => return Outcome::Alone(*one),
        [best, next, ..] => (*best, *next),
    };
    let from_best = |other: usize| (other, apart(group, measure, best, other));
    // A wide interval of any drive leaves open whether it is ahead.
    let mut others = ranked.iter().skip(1).map(|other| from_best(*other));
    match others.find(|(_, apart)| !matches!(apart, Apart::Beyond(_))) {
        None => match apart(group, measure, best, next) {
            Apart::Beyond(ratio) => Outcome::Lead { best, next, ratio },
            Apart::Within | Apart::Undecided | Apart::Unjudged => Outcome::Unjudged { best, next },
        },
        Some((_, Apart::Within)) => Outcome::Tie(near(group, measure, &ranked)),
        Some((other, Apart::Undecided)) => Outcome::Undecided { best, next: other },
        Some((other, Apart::Beyond(_) | Apart::Unjudged)) => {
            Outcome::Unjudged { best, next: other }
        }
    }
}

/// Returns the member of at least three at `places` that is behind all others beyond the noise.
pub fn last(group: &Group<'_>, measure: Measure, places: &[usize]) -> Option<usize> {
    let ranked = ranked_by(group, measure, places);
    let [others @ .., last] = ranked.as_slice() else { return None };
    let has_fallen_behind =
        |other: &usize| matches!(apart(group, measure, *other, *last), Apart::Beyond(_));
    (others.len() > 1 && others.iter().all(has_fallen_behind)).then_some(*last)
}

impl Outcome {
    /// Returns those that share the best result: none where their order is not decided.
    pub fn best(&self) -> Vec<usize> {
        match self {
            Outcome::Lead { best, .. } => vec![*best],
            Outcome::Tie(places) => places.clone(),
            Outcome::Nothing
            | Outcome::Alone(_)
            | Outcome::Undecided { .. }
            | Outcome::Unjudged { .. } => Vec::new(),
        }
    }

    /// Returns the same outcome with each place replaced by `number` of it.
    pub(crate) fn renumbered(self, number: impl Fn(usize) -> usize) -> Outcome {
        match self {
            Outcome::Nothing => Outcome::Nothing,
            Outcome::Alone(place) => Outcome::Alone(number(place)),
            Outcome::Lead { best, next, ratio } => {
                Outcome::Lead { best: number(best), next: number(next), ratio }
            }
            Outcome::Tie(places) => Outcome::Tie(places.into_iter().map(number).collect()),
            Outcome::Undecided { best, next } => {
                Outcome::Undecided { best: number(best), next: number(next) }
            }
            Outcome::Unjudged { best, next } => {
                Outcome::Unjudged { best: number(best), next: number(next) }
            }
        }
    }
}

/// Returns how far the value at `best` is ahead of that at `next`, which is not better.
fn apart(group: &Group<'_>, measure: Measure, best: usize, next: usize) -> Apart {
    let (first, second) = (&group.members[best], &group.members[next]);
    let more = measure.metric(&first.test.test).more_is_better();
    let ratio = match more {
        true => measure.over(first, second),
        false => measure.over(second, first),
    };
    let Some(shown) = shown_ratio(group, measure, best, next).or(ratio.map(|ratio| ratio.value))
    else {
        return Apart::Unjudged;
    };
    if is_search(group) && lower_bound::is_open(first.test, second.test) {
        return Apart::Undecided;
    }
    let interval = ratio.and_then(|ratio| ratio.interval);
    let judged = ratio.map_or(shown, |ratio| ratio.value);
    let found = difference::judge(judged, interval, noise(measure));
    // The ranges of two searches that overlap are not level, although their lower ends may be equal.
    let is_open = is_search(group) && found == difference::Outcome::NotDecided;
    match interval {
        _ if found == difference::Outcome::Higher => Apart::Beyond(shown),
        None if !measure.is_percentile() => Apart::Unjudged,
        None if are_apart(shown, 1.0, noise(measure)) => Apart::Beyond(shown),
        Some(_) if is_open => Apart::Undecided,
        _ if !are_apart(shown, 1.0, NOISE) => Apart::Within,
        Some(_) => Apart::Undecided,
        None => Apart::Unjudged,
    }
}

/// Returns whether the result of `group` is the highest load that passed.
pub(crate) fn is_search(group: &Group<'_>) -> bool {
    group.first().test.test.score.family() == ScoreFamily::HighestLoad
}

/// Returns those of `ranked`, the best first, whose values are within the noise between runs of the best.
fn near(group: &Group<'_>, measure: Measure, ranked: &[usize]) -> Vec<usize> {
    let value = |place: &usize| value(group, measure, *place).unwrap_or(f64::NAN);
    let best = ranked.first().map_or(f64::NAN, value);
    ranked.iter().filter(|place| !are_apart(value(place), best, NOISE)).copied().collect()
}

/// Returns whether the results of two members are within the noise between runs of each other.
pub(crate) fn are_near(group: &Group<'_>, best: usize, next: usize) -> bool {
    shown_ratio(group, Measure::Speed, best, next)
        .is_some_and(|ratio| !are_apart(ratio, 1.0, NOISE))
}

/// Returns the ratio of the two numbers that the page shows, which count all seconds; the one with an
/// interval leaves out a start that flatters.
fn shown_ratio(group: &Group<'_>, measure: Measure, best: usize, next: usize) -> Option<f64> {
    let (first, second) = (value(group, measure, best)?, value(group, measure, next)?);
    let shown = if first >= second { first / second } else { second / first };
    shown.is_finite().then_some(shown)
}

/// Returns by how much two values of `measure` differ by noise, as a share: 3 %, the noise assumed
/// between runs, or 50 % for a percentile in addition to the headline.
pub fn noise(measure: Measure) -> f64 {
    match measure.is_percentile() {
        true => NOISE_OF_TAILS,
        false => NOISE,
    }
}

/// Returns whether the results of `group` separate any two drives by the noise between runs: the
/// maximum is more than 3 % above the minimum.
pub fn separates(group: &Group<'_>) -> bool {
    let values = || group.members.iter().filter_map(|member| member.test.headline.value);
    let (least, most) = values()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    least.is_finite() && are_apart(least, most, NOISE)
}

/// Returns the maximum result of `group` divided by the minimum; 1 where fewer than two are above zero.
pub(crate) fn spread(group: &Group<'_>) -> f64 {
    let values = group.members.iter().filter_map(|member| member.test.headline.value);
    let values: Vec<f64> = values.filter(|value| *value > 0.0).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    if values.len() > 1 { most / least } else { 1.0 }
}
