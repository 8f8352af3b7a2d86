//! The outcome of a test of several drives: a lead, a tie, or no judgement.

use crate::analysis::compare::CompareOptions;
use crate::analysis::group::{Group, Member};
use ssdgauge_core::Ratio;

/// The outcome of a test, its drives by their place among the members of the group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// No drive has a result.
    Nothing,
    /// One drive has a result.
    Alone(usize),
    /// The first is ahead of the second by a ratio above 1 whose whole interval lies beyond the noise
    /// between runs.
    Lead { best: usize, next: usize, ratio: f64 },
    /// These are within the noise between runs of the best value, the best first.
    Tie(Vec<usize>),
    /// The two best values, which differ by more than the noise, while the interval of their ratio
    /// reaches into it.
    Undecided { best: usize, next: usize },
    /// The two best values, where an interval is missing: no lead is claimed.
    Unjudged { best: usize, next: usize },
}

/// Returns the members of `group` with a result, the best first.
pub(crate) fn ranked(group: &Group<'_>) -> Vec<usize> {
    let value = |place: &usize| group.members[*place].test.headline.value.unwrap_or(f64::NAN);
    let more = group.first().test.headline.metric.more_is_better();
    let mut places: Vec<usize> = (0..group.members.len())
        .filter(|place| group.members[*place].test.headline.value.is_some())
        .collect();
    // The order of files does not show in that of equal values.
    let id = |place: &usize| &group.members[*place].run.head.id;
    places.sort_by(|a, b| {
        let order = match more {
            true => value(b).total_cmp(&value(a)),
            false => value(a).total_cmp(&value(b)),
        };
        order.then_with(|| id(a).cmp(id(b)))
    });
    places
}

/// Returns the outcome of `group`.
///
/// A drive leads where the 95 % interval of the ratio to the next lies beyond 3 %, the noise assumed
/// between runs ([`CompareOptions`]). Drives tie with the best where their values are within 3 % of it.
pub(crate) fn judge(group: &Group<'_>) -> Outcome {
    let places = ranked(group);
    let (best, next) = match places.as_slice() {
        [] => return Outcome::Nothing,
        [one] => return Outcome::Alone(*one),
        [best, next, ..] => (*best, *next),
    };
    let (first, second) = (&group.members[best], &group.members[next]);
    // Of the first two: what stands behind them changes no lead.
    let Some(ratio) = ratio(first, second).filter(|ratio| ratio.interval.is_some()) else {
        return Outcome::Unjudged { best, next };
    };
    let shown = shown_ratio(first, second, ratio);
    if shown <= noise() {
        return Outcome::Tie(near(group, &places));
    }
    match ratio.interval {
        Some((low, _)) if low > noise() => Outcome::Lead { best, next, ratio: shown },
        Some(_) | None => Outcome::Undecided { best, next },
    }
}

/// Returns the members of `group` that share the best result: none where their order is not decided.
pub(crate) fn best(group: &Group<'_>) -> Vec<usize> {
    match judge(group) {
        Outcome::Lead { best, .. } => vec![best],
        Outcome::Tie(places) => places,
        Outcome::Unjudged { .. } => near(group, &ranked(group)),
        Outcome::Nothing | Outcome::Alone(_) | Outcome::Undecided { .. } => Vec::new(),
    }
}

/// Returns those of `places`, the best first, whose values are within the noise of the best.
fn near(group: &Group<'_>, places: &[usize]) -> Vec<usize> {
    let value = |place: usize| group.members[place].test.headline.value.unwrap_or(f64::NAN);
    let best = places.first().map_or(f64::NAN, |best| value(*best));
    let is_near = |place: &&usize| {
        let (low, high) = (value(**place).min(best), value(**place).max(best));
        high <= low * noise()
    };
    places.iter().filter(is_near).copied().collect()
}

fn noise() -> f64 {
    1.0 + CompareOptions::default().noise
}

/// Returns how many times the better of the two is the other, above 1 where it leads.
fn ratio(best: &Member<'_>, other: &Member<'_>) -> Option<Ratio> {
    match best.test.headline.metric.more_is_better() {
        true => best.test.over(other.test),
        false => other.test.over(best.test),
    }
}

/// Returns the ratio of the two numbers that the page shows, which count all seconds; `ratio` leaves out
/// a start that flatters.
fn shown_ratio(best: &Member<'_>, next: &Member<'_>, ratio: Ratio) -> f64 {
    let value = |member: &Member<'_>| member.test.headline.value;
    let (Some(first), Some(second)) = (value(best), value(next)) else { return ratio.value };
    let shown = if first >= second { first / second } else { second / first };
    if shown.is_finite() { shown } else { ratio.value }
}

/// Returns whether the results of `group` separate any two drives by the noise between runs: the
/// greatest is at least 3 % above the least.
pub(crate) fn separates(group: &Group<'_>) -> bool {
    let values = || group.members.iter().filter_map(|member| member.test.headline.value);
    let (least, most) = values()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    least.is_finite() && most >= noise() * least && most > 0.0
}

/// Returns the greatest result of `group` divided by the least; 1 where fewer than two are above zero.
pub(crate) fn spread(group: &Group<'_>) -> f64 {
    let values = group.members.iter().filter_map(|member| member.test.headline.value);
    let values: Vec<f64> = values.filter(|value| *value > 0.0).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    if values.len() > 1 { most / least } else { 1.0 }
}
