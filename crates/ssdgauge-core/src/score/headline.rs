//! Headlines: the number of a test with its interval.

use crate::score::point::{self, Point};
use crate::score::{Score, ScoreFamily};
use crate::totals::Totals;
use crate::totals::confidence::ConfidenceInterval;
use crate::totals::direction_totals::{self, DirectionTotals};
use crate::totals::metric::Metric;
use crate::totals::over_seconds::over_seconds;
use crate::totals::power_integral::is_covered;
use crate::totals::scope::Scope;
use crate::totals::seconds::FullSeconds;
use ssdgauge_statistics::repetition::{self, Stopping};
use ssdgauge_statistics::{knee, summary};
use std::borrow::Borrow;

/// The number of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// The metric of the number.
    pub metric: Metric,
    /// The number; `None` where it was not measured. It counts the seconds of its interval, which
    /// leave out a start that flatters.
    pub value: Option<f64>,
    /// The number by the protocol, which counts every second; `None` where it is `value`.
    pub protocol: Option<f64>,
    /// The full seconds that it is computed from.
    pub n: u64,
    /// The 95 % interval, over the seconds of this run or between its repetitions.
    pub interval: ConfidenceInterval,
}

impl Headline {
    /// Returns a headline without a value.
    pub fn unmeasured(metric: Metric, n: u64) -> Headline {
        let interval = ConfidenceInterval::Undefined;
        Headline { metric, value: None, protocol: None, n, interval }
    }

    /// Returns the headline of `points` by `score`.
    ///
    /// Where the start of a step flatters, the value and its interval leave it out (definition D17), and
    /// the number of all seconds is given with it. The interval gives the variation within this run, not
    /// the difference to another run.
    pub fn from_points<P: Borrow<Point>>(score: &Score, points: &[P]) -> Headline {
        let metric = score.metric();
        let Some(series) = Series::new(score, points) else {
            return Headline::unmeasured(metric, 0);
        };
        let n = series.seconds.iter().map(|seconds| seconds.len() as u64).sum();
        let values = [Count::Settled, Count::All].map(|count| series.value(score, count));
        let [Some(settled), Some(whole)] = values else { return Headline::unmeasured(metric, n) };
        let interval = series.interval(score, settled);
        // A mean without an interval is not settled, although some of its steps may be.
        let is_mean = matches!(score.family(), ScoreFamily::Mean | ScoreFamily::LastPart);
        let value = match (is_mean, interval.within_run()) {
            (true, None) => whole,
            (true, Some(_)) => interval.settled(settled),
            (false, _) => settled,
        };
        let is_other = (whole - value).abs() > ROUNDING * value.abs();
        let n = match interval.within_run().filter(|within| within.cut > 0) {
            Some(within) => within.n as u64,
            None => series.seconds_after(score, value).unwrap_or(n),
        };
        Headline { metric, value: Some(value), protocol: is_other.then_some(whole), n, interval }
    }

    /// Returns the same headline with the interval between equal steps and the mean in its middle.
    pub(crate) fn between(self, low: f64, high: f64) -> Headline {
        let (whole, middle) = (self.protocol.or(self.value), (low + high) / 2.0);
        let protocol = whole.filter(|whole| (whole - middle).abs() > ROUNDING * middle.abs());
        // Equal steps have an interval without a width: rounding must not leave it.
        let value = Some(whole.filter(|_| protocol.is_none()).unwrap_or(middle).max(low).min(high));
        let interval = ConfidenceInterval::BetweenRepetitions { low, high };
        Headline { value, protocol, interval, ..self }
    }

    /// Returns the headline of a test that was repeated: the mean of its repetitions with the 95 %
    /// interval between them. `None` for an empty slice; no value where a repetition has none.
    pub fn of_repetitions(each: &[Headline], stopping: Stopping) -> Option<Headline> {
        let first = each.first()?;
        let n = each.iter().map(|headline| headline.n).sum();
        let values: Option<Vec<f64>> = each.iter().map(|headline| headline.value).collect();
        let value = values.as_deref().and_then(summary::mean);
        let interval = values.and_then(|values| repetition::interval(&values, stopping));
        let interval = match interval {
            Some((low, high)) => ConfidenceInterval::BetweenRepetitions { low, high },
            None => ConfidenceInterval::Undefined,
        };
        let whole = |each: &Headline| each.protocol.or(each.value);
        let protocol = match each.iter().any(|each| each.protocol.is_some()) {
            true => each.iter().map(whole).collect::<Option<Vec<f64>>>(),
            false => None,
        };
        let protocol = protocol.as_deref().and_then(summary::mean).filter(|_| value.is_some());
        Some(Headline { metric: first.metric, value, protocol, n, interval })
    }

    /// Returns the indices of the points that the headline is taken from by `score`: the knee of a
    /// sweep, the best point, the highest passing load, or all points of a mean.
    ///
    /// Empty where the headline has no value.
    pub fn points(&self, score: &Score, points: &[&Point]) -> Vec<usize> {
        let Some(value) = self.value else { return Vec::new() };
        let measured = |point: &Point| point.score(score).filter(|value| value.is_finite());
        let those = |is_one: &dyn Fn(&Point) -> bool| -> Vec<usize> {
            (0..points.len()).filter(|index| is_one(points[*index])).collect()
        };
        let first_with_value = || -> Vec<usize> {
            those(&|point| measured(point) == Some(value)).into_iter().take(1).collect()
        };
        match score.family() {
            ScoreFamily::Mean | ScoreFamily::LastPart => {
                those(&|point| score.needs(point.position))
            }
            ScoreFamily::Point => match score.position() {
                Some(_) => those(&|point| score.needs(point.position)),
                None => first_with_value(),
            },
            ScoreFamily::Knee if score.depth_knee().is_none() => first_with_value(),
            ScoreFamily::Knee => {
                let values: Option<Vec<f64>> = points.iter().map(|point| measured(point)).collect();
                let positions: Vec<f64> = points.iter().map(|point| point.position).collect();
                let knee = values.and_then(|values| knee::find(&sweep(&positions, &values)));
                let depth = knee.map(|knee| f64::from(knee.depth));
                those(&|point| Some(point.position) == depth)
            }
            ScoreFamily::HighestLoad => those(&|point| {
                let passed = score.passing_reading().and_then(|one| passing_load(point, one));
                point.position == value && passed == Some(value)
            }),
        }
    }
}

/// Two ways to count differ where their numbers are further apart than this share.
const ROUNDING: f64 = 1e-9;

/// The samples that a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    /// All samples: the number by the protocol.
    All,
    /// Those of its interval, which leave out a start that flatters.
    Settled,
}

/// The points that a score needs, with the full seconds that it counts.
struct Series<'a> {
    points: Vec<&'a Point>,
    /// The counted seconds of each point.
    seconds: Vec<FullSeconds<'a>>,
}

impl<'a> Series<'a> {
    /// Returns the series of `points`; `None` where a window is longer than its point, or where
    /// the power of the points comes from different scopes.
    fn new<P: Borrow<Point>>(score: &Score, points: &'a [P]) -> Option<Series<'a>> {
        let points: Vec<&Point> =
            points.iter().map(P::borrow).filter(|point| score.needs(point.position)).collect();
        let counted = |point: &&'a Point| {
            let full = point.seconds.full();
            match score.last_part() {
                Some((_, window)) => window.select(full),
                None => Some(full),
            }
        };
        if score.metric().needs_power() {
            // The mean of the power of a drive and the power of a host is the power of neither.
            let metered = || points.iter().filter_map(|point| point.totals.metered());
            let first = metered().next().map(|(scope, _)| scope);
            if metered().any(|(scope, _)| Some(scope) != first) {
                return None;
            }
            // A meter that contradicts itself has no power in any part of the step.
            if metered().any(|(_, power)| power.watts.is_none() && is_covered(power.coverage)) {
                return None;
            }
        }
        let seconds: Option<Vec<FullSeconds<'_>>> = points.iter().map(counted).collect();
        Some(Series { seconds: seconds?, points })
    }

    /// Returns the headline over the samples that `count`.
    fn value(&self, score: &Score, count: Count) -> Option<f64> {
        self.combined(score, |score| {
            let pairs = self.points.iter().zip(&self.seconds);
            pairs.map(|(point, seconds)| point_value(score, point, seconds, count)).collect()
        })
    }

    /// Returns the full seconds of the one point that the headline `value` is that of: the best one, or that
    /// of the highest load; `None` where several points have a part in it.
    fn seconds_after(&self, score: &Score, value: f64) -> Option<u64> {
        let is_it = |point: &&Point| match score.family() {
            ScoreFamily::Point => point.score(score) == Some(value),
            ScoreFamily::HighestLoad => point.position == value,
            ScoreFamily::Mean | ScoreFamily::LastPart | ScoreFamily::Knee => false,
        };
        let place = self.points.iter().position(is_it)?;
        Some(self.seconds[place].len() as u64)
    }

    /// Returns the interval of the headline, which is `value`.
    fn interval(&self, score: &Score, value: f64) -> ConfidenceInterval {
        let metric = score.metric();
        let of_point = |place: usize| self.points[place].interval(metric, score.scope());
        match score.family() {
            ScoreFamily::Mean => {
                let each: Vec<_> = (0..self.points.len()).map(of_point).collect();
                ConfidenceInterval::of_average(&each)
            }
            ScoreFamily::LastPart => {
                let each: Vec<_> =
                    self.seconds.iter().map(|seconds| of_last_part(score, seconds)).collect();
                ConfidenceInterval::of_average(&each)
            }
            // The seconds of a step are kept for all streams together.
            ScoreFamily::Point if score.stream().is_some() => ConfidenceInterval::Undefined,
            ScoreFamily::Point | ScoreFamily::Knee => {
                let is_here = |point: &&&Point| {
                    score.position().is_none_or(|position| point.position == position)
                        && point.score(score) == Some(value)
                };
                let place = self.points.iter().position(|point| is_here(&point));
                let Some(place) = place else { return ConfidenceInterval::Undefined };
                match score.depth_knee().and_then(|metric| self.knee(metric)) {
                    Some(knee) => {
                        // Every depth that can be the knee contributes its value.
                        let possible = |place: &usize| {
                            let depth = self.points[*place].position as u32;
                            knee.depth_low <= depth && depth <= knee.depth_high
                        };
                        let others = (0..self.points.len()).filter(possible);
                        let each: Vec<_> =
                            [place].into_iter().chain(others).map(of_point).collect();
                        ConfidenceInterval::hull(&each)
                    }
                    None => of_point(place),
                }
            }
            // A load passes or fails as a whole; only trials of one load can disagree.
            ScoreFamily::HighestLoad => self.of_trials(score, value),
        }
    }

    /// Returns the loads between `value`, the highest that passed every trial, and the highest that passed
    /// one; no interval where the trials agree.
    fn of_trials(&self, score: &Score, value: f64) -> ConfidenceInterval {
        let Some(reading) = score.passing_reading() else { return ConfidenceInterval::Undefined };
        let passed_one = |point: &&&Point| point.totals.reading(reading).is_some_and(|n| n > 0.0);
        let passed = self.points.iter().filter(passed_one).map(|point| point.position);
        match passed.reduce(f64::max) {
            Some(high) if high > value => ConfidenceInterval::OfTrials { low: value, high },
            Some(_) | None => ConfidenceInterval::Undefined,
        }
    }

    /// Returns the knee over the queue depth with the intervals of its points; `None` where one of
    /// them has none.
    fn knee(&self, metric: Metric) -> Option<knee::Knee> {
        let sweep_point = |point: &&Point| {
            let value = point.value(metric, Scope::All)?;
            let interval = point.interval(metric, Scope::All).ends()?;
            Some(knee::SweepPoint { depth: point.position as u32, value, interval })
        };
        knee::find(&self.points.iter().map(sweep_point).collect::<Option<Vec<_>>>()?)
    }

    /// Returns the headline from the values that `each` returns for the points.
    fn combined(&self, score: &Score, each: impl Fn(&Score) -> Option<Vec<f64>>) -> Option<f64> {
        let values = each(score)?;
        if score.family() == ScoreFamily::Knee && score.depth_knee().is_none() {
            // The knee of a load follows from two metrics, whatever the metric of the headline is.
            let rates = each(&Score::MeanOf(Metric::Iops))?;
            let latencies = each(&Score::MeanOf(Metric::LatMeanUs))?;
            return knee::of_load(&rates, &latencies).map(|knee| values[knee]);
        }
        let positions: Vec<f64> = self.points.iter().map(|point| point.position).collect();
        combine(score, &positions, &values)
    }
}

/// Returns the contribution of a point to the headline.
fn point_value(
    score: &Score,
    point: &Point,
    counted: &FullSeconds<'_>,
    count: Count,
) -> Option<f64> {
    match (score.family(), score.passing_reading(), count) {
        (ScoreFamily::LastPart, _, Count::All) => last_part_value(score, counted),
        (ScoreFamily::LastPart, _, Count::Settled) => {
            Some(of_last_part(score, counted).settled(last_part_value(score, counted)?))
        }
        (_, Some(reading), _) => passing_load(point, reading),
        (
            ScoreFamily::Mean | ScoreFamily::Point | ScoreFamily::Knee | ScoreFamily::HighestLoad,
            None,
            Count::Settled,
        ) => point.score(score),
        // Whole steps count all their samples, those of a shorter last second included.
        (
            ScoreFamily::Mean | ScoreFamily::Point | ScoreFamily::Knee | ScoreFamily::HighestLoad,
            None,
            Count::All,
        ) => score.value(&point.totals, &point.streams),
    }
}

/// Returns the load of `point` where it passed each of its trials by this reading, otherwise 0.
fn passing_load(point: &Point, reading: &str) -> Option<f64> {
    // Of two trials that disagree, the mean is a half.
    Some(if point.totals.reading(reading)? > 0.75 { point.position } else { 0.0 })
}

/// Returns the contribution of a point whose last part consists of `seconds`.
fn last_part_value(score: &Score, seconds: &FullSeconds<'_>) -> Option<f64> {
    let (metric, _) = score.last_part()?;
    match score.mean_of_last() {
        Some(_) => over(metric, || seconds.totals()),
        None => summary::mean_over_sigma(&each_second(metric, seconds)?),
    }
}

/// Returns the interval of [`last_part_value`].
fn of_last_part(score: &Score, seconds: &FullSeconds<'_>) -> ConfidenceInterval {
    match (score.last_part(), score.mean_of_last()) {
        (Some((metric, _)), Some(_)) => over_seconds(metric, Scope::All, seconds),
        (Some((metric, _)), None) => match each_second(metric, seconds) {
            Some(values) => point::of_mean_over_sigma(&values),
            None => ConfidenceInterval::Undefined,
        },
        (None, _) => ConfidenceInterval::Undefined,
    }
}

/// Returns `metric` in each of `seconds`; `None` where one has none.
fn each_second(metric: Metric, seconds: &FullSeconds<'_>) -> Option<Vec<f64>> {
    let of_one = |second: Totals| over(metric, || std::iter::once(second.clone()));
    seconds.totals().map(of_one).collect()
}

/// Returns the headline from the values of the points.
fn combine(score: &Score, positions: &[f64], values: &[f64]) -> Option<f64> {
    debug_assert_eq!(positions.len(), values.len(), "each point has one value");
    match score.family() {
        ScoreFamily::Mean | ScoreFamily::LastPart => summary::mean(values),
        ScoreFamily::Point => match score.position() {
            Some(position) => {
                positions.iter().position(|at| *at == position).map(|index| values[index])
            }
            None => {
                let best = if score.metric().more_is_better() { f64::max } else { f64::min };
                values.iter().copied().reduce(best)
            }
        },
        ScoreFamily::HighestLoad => values.iter().copied().reduce(f64::max),
        ScoreFamily::Knee => {
            let sweep = sweep(positions, values);
            let depth = knee::find(&sweep)?.depth;
            sweep.iter().find(|point| point.depth == depth).map(|point| point.value)
        }
    }
}

/// Returns the points as a sweep of queue depths, without intervals of their own.
fn sweep(positions: &[f64], values: &[f64]) -> Vec<knee::SweepPoint> {
    let point = |(position, value): (&f64, &f64)| knee::SweepPoint {
        depth: *position as u32,
        value: *value,
        interval: (*value, *value),
    };
    positions.iter().zip(values).map(point).collect()
}

/// The knee of a sweep of queue depths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KneeFound {
    /// The knee by the means of the steps.
    pub knee: knee::Knee,
    /// The lowest and the highest depth that the 95 % intervals of the steps allow; `None` where one
    /// of them has none.
    pub depth: Option<(u32, u32)>,
    /// The same for the interpolated depth.
    pub interpolated: Option<(f64, f64)>,
}

impl KneeFound {
    /// Returns the knee of `points`, a sweep of total queue depths; `None` without one.
    pub fn find<P: Borrow<Point>>(metric: Metric, points: &[P]) -> Option<KneeFound> {
        let series = Series::new(&Score::Knee(metric), points)?;
        let whole: Option<Vec<f64>> =
            series.points.iter().map(|point| point.value(metric, Scope::All)).collect();
        let positions: Vec<f64> = series.points.iter().map(|point| point.position).collect();
        let knee = knee::find(&sweep(&positions, &whole?))?;
        let possible = series.knee(metric);
        Some(KneeFound {
            knee,
            depth: possible.map(|knee| (knee.depth_low, knee.depth_high)),
            interpolated: possible.map(|knee| (knee.interpolated_low, knee.interpolated_high)),
        })
    }
}

/// Returns `metric` over `seconds`, where it follows from sums over seconds.
///
/// Rates, latencies and means are recomputed from the sums, as [`Totals::value`] does for whole
/// steps; the mean of the values of the seconds would weight slow seconds too high.
fn over<I: Iterator<Item = Totals>>(metric: Metric, seconds: impl Fn() -> I) -> Option<f64> {
    let sum =
        |field: &dyn Fn(&Totals) -> f64| -> f64 { seconds().map(|second| field(&second)).sum() };
    let time = sum(&|totals| totals.elapsed.as_secs_f64());
    let both = |field: fn(&DirectionTotals) -> f64| {
        sum(&|totals| totals.counted().iter().map(field).sum())
    };
    match metric {
        Metric::Iops => Some(both(|d| d.ios as f64) / time),
        Metric::ThroughputMbS => Some(both(|d| d.bytes as f64) / time / 1e6),
        Metric::LatMeanUs => {
            let timed = |field: fn(&DirectionTotals) -> f64| {
                sum(&|totals| totals.timed().iter().map(field).sum())
            };
            let ios = timed(|d| d.latency.count() as f64);
            (ios > 0.0).then(|| timed(|d| d.latency.sum() as f64) / ios / 1e3)
        }
        Metric::CommitMeanUs => {
            let commits = sum(&|totals| totals.commits().map_or(0.0, |(_, count)| count as f64));
            let time = sum(&|totals| totals.commits().map_or(0.0, |(sum, _)| sum as f64));
            (commits > 0.0).then(|| time / commits / 1e3)
        }
        Metric::InFlightMean => {
            let busy = |d: &DirectionTotals| d.latency.sum() as f64;
            let timed = |second: Totals| direction_totals::are_timed(&second.directions);
            seconds()
                .all(timed)
                .then(|| sum(&|totals| totals.directions.iter().map(busy).sum()) / 1e9 / time)
        }
        Metric::PowerW => {
            // A meter of a wider scope must not replace the narrowest one.
            let scope = seconds().filter_map(|second| Some(second.power()?.0)).min()?;
            let watts = |second: &Totals| second.reading(scope.quantity());
            let length = |second: &Totals| second.elapsed.as_secs_f64();
            let covered = sum(&|second| watts(second).map_or(0.0, |_| length(second)));
            let energy = sum(&|second| watts(second).unwrap_or(0.0) * length(second));
            is_covered(covered / time).then(|| energy / covered)
        }
        Metric::BusyThroughputMbS
        | Metric::LatP50Us
        | Metric::LatP99Us
        | Metric::LatP999Us
        | Metric::LatP9999Us
        | Metric::LatP99999Us
        | Metric::LatMaxUs
        | Metric::LatTimeP50Us
        | Metric::LatTimeP99Us
        | Metric::TimeOver1MsPercent
        | Metric::TimeOver10MsPercent
        | Metric::TimeOver100MsPercent
        | Metric::WorstSecondIops
        | Metric::LongestStallS
        | Metric::PowerCoveredPercent
        | Metric::EnergyJ
        | Metric::EfficiencyMbSW
        | Metric::EfficiencyKiopsW
        | Metric::WriteAmplification
        | Metric::MediaWrittenGb
        | Metric::EffectiveOverProvisioning
        | Metric::TimeS
        | Metric::IdleS
        | Metric::TrimGbS
        | Metric::MeanOverSigma
        | Metric::LoadMultiple => None,
    }
}

#[cfg(test)]
mod tests;
