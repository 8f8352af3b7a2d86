//! Numbers and curves of runs, by reference.

use crate::reference::{Curve, Pick, Quantity, Seconds, Source, Value};
use ssdgauge_analysis::{PointRun, Run, TestRun};
use ssdgauge_core::{
    Bytes, ConfidenceInterval, Direction, Estimate, FullSeconds, Headline, Metric, Scope, Totals,
};
use ssdgauge_statistics::{change_point, knee, steady, summary};
use std::collections::BTreeMap;

/// The seconds of a round of the steady-state rule. The suites use a minute, too.
const ROUND: usize = 60;

/// The runs that claims refer to, by drive and test.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measurements<'a> {
    runs: BTreeMap<(String, String), &'a Run>,
}

impl<'a> Measurements<'a> {
    /// Adds the run of the only test `test` on `drive`.
    pub(crate) fn insert(&mut self, drive: &str, test: &str, run: &'a Run) {
        self.runs.insert((drive.to_owned(), test.to_owned()), run);
    }

    fn find(&self, drive: &str, test: &str) -> Option<(&'a Run, &'a TestRun)> {
        let run = *self.runs.get(&(drive.to_owned(), test.to_owned()))?;
        Some((run, run.tests.first()?))
    }

    /// Returns the number at `reference`; `None` where it was not measured.
    pub(crate) fn value(&self, reference: &Value) -> Option<Estimate> {
        let Value { source, pick } = reference;
        let (run, test) = self.find(&source.drive, &source.test)?;
        match *pick {
            Pick::Headline => headline(test, metric(source)?),
            Pick::Mean => summary::mean(&points(test, source)?).map(Estimate::exact),
            Pick::Most => points(test, source)?.into_iter().reduce(f64::max).map(Estimate::exact),
            Pick::Least => points(test, source)?.into_iter().reduce(f64::min).map(Estimate::exact),
            Pick::At(position) => point(test.points.iter().find(at(position))?, metric(source)?),
            Pick::AtKnee => point(test.points.iter().find(at(knee(test)?))?, metric(source)?),
            Pick::Knee => knee(test).map(Estimate::exact),
            Pick::WorstSecond => {
                seconds(test, source).into_iter().reduce(f64::min).map(Estimate::exact)
            }
            Pick::BestSecond => {
                seconds(test, source).into_iter().reduce(f64::max).map(Estimate::exact)
            }
            Pick::First(n) => mean_of(seconds(test, source).get(..n)?),
            Pick::Last(n) => mean_of(&last(seconds(test, source), n)?),
            Pick::ChangePoint => change_in(test, run.head.drive.capacity),
            Pick::SteadyAfter => steady_after(&seconds(test, source)).map(Estimate::exact),
        }
    }

    /// Returns the values of `reference`; `None` where one of them was not measured.
    pub(crate) fn curve(&self, reference: &Curve) -> Option<Vec<f64>> {
        let Curve { source, seconds: which } = reference;
        let (_, test) = self.find(&source.drive, &source.test)?;
        match which {
            None => points(test, source),
            Some(Seconds::All) => Some(seconds(test, source)),
            Some(Seconds::Last(n)) => last(seconds(test, source), *n),
        }
    }

    /// Returns the swept values of the test of `reference`.
    pub(crate) fn positions(&self, reference: &Curve) -> Option<Vec<f64>> {
        let (_, test) = self.find(&reference.source.drive, &reference.source.test)?;
        Some(test.points.iter().map(|point| point.point.position).collect())
    }
}

fn metric(source: &Source) -> Option<Metric> {
    match &source.quantity {
        Quantity::Metric(metric) => Some(*metric),
        Quantity::Reading(_) => None,
    }
}

fn at(position: f64) -> impl Fn(&&PointRun) -> bool {
    move |point| point.point.position == position
}

fn mean_of(values: &[f64]) -> Option<Estimate> {
    summary::mean(values).map(Estimate::exact)
}

fn last(values: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    let from = values.len().checked_sub(n)?;
    Some(values[from..].to_vec())
}

/// Returns the number of `test` in `metric`: its headline, or a further one.
fn headline(test: &TestRun, metric: Metric) -> Option<Estimate> {
    let found = std::iter::once(&test.headline)
        .chain(&test.also)
        .find(|headline: &&Headline| headline.metric == metric)?;
    // A review counts as its protocol does.
    let value = found.protocol.or(found.value)?;
    match (found.interval, test.repetitions.is_empty()) {
        // The variation of equal steps, such as bursts, is a property of the drive in its model.
        (ConfidenceInterval::BetweenRepetitions { .. }, true) => Some(Estimate::exact(value)),
        (interval, _) => Some(Estimate::new(value, interval.ends())),
    }
}

/// Returns `metric` of one point with its interval.
fn point(point: &PointRun, metric: Metric) -> Option<Estimate> {
    let value = point.point.totals.value(metric, Scope::All)?;
    Some(Estimate::new(value, point.interval(metric, Scope::All).ends()))
}

/// Returns the values of the points of `test`; `None` without points, or where one has no value.
fn points(test: &TestRun, source: &Source) -> Option<Vec<f64>> {
    let metric = metric(source)?;
    let value = |point: &PointRun| point.point.totals.value(metric, Scope::All);
    let values: Option<Vec<f64>> = test.points.iter().map(value).collect();
    values.filter(|values| !values.is_empty())
}

/// Returns the values of all full seconds of all points; a second without a reading is left out.
fn seconds(test: &TestRun, source: &Source) -> Vec<f64> {
    let quantity = &source.quantity;
    let of_point = |point: &PointRun| -> Vec<f64> {
        match quantity {
            Quantity::Metric(metric) => {
                let full = point.point.seconds.full();
                full.totals().filter_map(|second| second.value(*metric, Scope::All)).collect()
            }
            Quantity::Reading(name) => {
                point.seconds().filter_map(|second| second.reading(name)).collect()
            }
        }
    };
    test.points.iter().flat_map(of_point).collect()
}

/// Returns the queue depth of the knee of `test` by the rule of its score.
fn knee(test: &TestRun) -> Option<f64> {
    let metric = test.test.score.metric();
    let sweep: Option<Vec<knee::SweepPoint>> = test
        .points
        .iter()
        .map(|one| {
            let Estimate { value, low, high } = point(one, metric)?;
            let depth = one.point.position as u32;
            Some(knee::SweepPoint { depth, value, interval: (low, high) })
        })
        .collect();
    knee::find(&sweep?).map(|knee| f64::from(knee.depth))
}

/// Returns the seconds from which on the two-part rule holds up to the end of `seconds`, in rounds of
/// [`ROUND`]: a drive whose spare area is not used up yet is steady for a while, too. `None` where the
/// rule does not hold at the end.
fn steady_after(seconds: &[f64]) -> Option<f64> {
    let rounds: Option<Vec<f64>> = seconds.chunks_exact(ROUND).map(summary::mean).collect();
    let rounds = rounds?;
    let (mut at, _) = steady::find(&rounds)?;
    // Each pass begins after the last one, so there are fewer of them than rounds.
    while let Some((unsteady, _)) = steady::first_unsteady(&rounds, at) {
        // Rounds are counted from 1 there: the one after the unsteady one.
        at = steady::find_from(&rounds, unsteady + 2)?.0;
    }
    Some(((at + 1) * ROUND) as f64)
}

/// Returns the bytes that `test` had written when its rate fell for good, as a share of `capacity`;
/// `None` where it has one level.
fn change_in(test: &TestRun, capacity: Bytes) -> Option<Estimate> {
    let full = || test.points.iter().map(|point| point.point.seconds.full());
    let rates: Vec<f64> = full().flat_map(|seconds| seconds.rates(Metric::Iops)).collect();
    let found = change_point::levels(&rates)?;
    let bytes = |second: Totals| second.directions[Direction::Write as usize].bytes;
    let of_point = |seconds: FullSeconds<'_>| seconds.totals().map(bytes).collect::<Vec<u64>>();
    let written: Vec<u64> = full().flat_map(of_point).collect();
    let share = |seconds: usize| written[..seconds].iter().sum::<u64>() as f64 / capacity.0 as f64;
    let (low, high) = found.interval;
    Some(Estimate { value: share(found.at), low: share(low), high: share(high) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_before_the_change_is_not_the_steady_state() {
        let minutes = |levels: &[(usize, f64)]| -> Vec<f64> {
            levels.iter().flat_map(|(n, rate)| vec![*rate; n * ROUND]).collect()
        };
        // The window of five rounds has to lie after the change.
        assert_eq!(steady_after(&minutes(&[(8, 400.0), (20, 50.0)])), Some(13.0 * 60.0));
        assert_eq!(steady_after(&minutes(&[(5, 50.0)])), Some(300.0));
        assert_eq!(steady_after(&minutes(&[(20, 400.0), (3, 50.0)])), None);
        assert_eq!(steady_after(&minutes(&[(4, 50.0)])), None);
    }
}
