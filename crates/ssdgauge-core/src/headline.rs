//! Headlines: the number of a test with its interval, and the ratio of two.

use crate::metric::{Metric, Scope};
use crate::score::{Score, ScoreFamily};
use crate::statistics::{bootstrap, knee, repetition, summary};
use crate::totals::{DirectionTotals, Totals};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// The samples of one step of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The label of the step.
    pub label: String,
    /// The value of the swept key.
    pub position: f64,
    /// The sums over the step.
    pub totals: Totals,
    /// The sums of each second, a shorter last one included.
    pub seconds: Vec<Totals>,
}

/// The number of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// The metric of the number.
    pub metric: Metric,
    /// The number; `None` where it was not measured.
    pub value: Option<f64>,
    /// The full seconds that it is computed from.
    pub n: u64,
    /// The lower end of the 95 % interval over the seconds of this run.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl Headline {
    /// Returns the headline of `points` by `score`.
    ///
    /// The interval comes from resampling the seconds of each point (definition D17). It gives the
    /// variation within this run, not the difference to another run.
    pub fn from_points(score: &Score, points: &[Point]) -> Headline {
        let metric = score.metric();
        let Some(series) = Series::new(score, points) else {
            return Headline { metric, value: None, n: 0, low: None, high: None };
        };
        let n = series.seconds.iter().map(|seconds| seconds.len() as u64).sum();
        let value = series.value(score);
        let interval = value.and_then(|_| {
            bootstrap::interval(&series.lengths(), 0, |drawn| series.resampled(score, drawn))
        });
        let (low, high) = interval.unzip();
        Headline { metric, value, n, low, high }
    }

    /// Returns the headline of a test that was repeated: the mean of its repetitions with the 95 %
    /// interval between them. `None` for an empty slice; no value where a repetition has none.
    pub fn of_repetitions(each: &[Headline]) -> Option<Headline> {
        let first = each.first()?;
        let n = each.iter().map(|headline| headline.n).sum();
        let values: Option<Vec<f64>> = each.iter().map(|headline| headline.value).collect();
        let value = values.as_deref().and_then(summary::mean);
        let (low, high) = values.as_deref().and_then(repetition::interval).unzip();
        Some(Headline { metric: first.metric, value, n, low, high })
    }

    /// Returns the indices of the points that the headline is taken from by `score`: the knee of a
    /// sweep, the best point, the highest passing load, or all points of a mean.
    ///
    /// Empty where the headline has no value.
    pub fn points(&self, score: &Score, points: &[&Point]) -> Vec<usize> {
        let Some(value) = self.value else { return Vec::new() };
        let measured = |point: &Point| {
            point.totals.value(score.metric(), Scope::All).filter(|value| value.is_finite())
        };
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

/// The ratio of two headlines.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The second headline divided by the first.
    pub value: f64,
    /// The 95 % interval over the seconds of both runs; `None` where there are too few seconds.
    pub interval: Option<(f64, f64)>,
}

impl Ratio {
    /// Returns the headline of `b` divided by that of `a`, both by `score`.
    ///
    /// `None` where one of them was not measured, or where that of `a` is not above zero. The
    /// interval comes from resampling the seconds of both runs; it does not include the variation
    /// between runs.
    pub fn from_points(score: &Score, a: &[Point], b: &[Point]) -> Option<Ratio> {
        let quotient = |a: f64, b: f64| (a > 0.0).then(|| b / a).filter(|ratio| ratio.is_finite());
        let sides = [Series::new(score, a)?, Series::new(score, b)?];
        let value = quotient(sides[0].value(score)?, sides[1].value(score)?)?;
        let lengths: Vec<usize> = sides.iter().flat_map(Series::lengths).collect();
        let interval = bootstrap::interval(&lengths, 0, |drawn| {
            let (of_a, of_b) = drawn.split_at(sides[0].points.len());
            quotient(sides[0].resampled(score, of_a)?, sides[1].resampled(score, of_b)?)
        });
        Some(Ratio { value, interval })
    }

    /// Returns the headline of `b` divided by that of `a`, both from repetitions: the interval
    /// includes the variation from one repetition to the next. `None` below two repetitions of
    /// either.
    pub fn of_repetitions(a: &[Headline], b: &[Headline]) -> Option<Ratio> {
        let values = |each: &[Headline]| -> Option<Vec<f64>> {
            each.iter().map(|headline| headline.value).collect()
        };
        let (value, interval) = repetition::ratio(&values(a)?, &values(b)?)?;
        Some(Ratio { value, interval: Some(interval) })
    }
}

/// The points that a score needs, with the full seconds that it counts, ready for resampling.
struct Series<'a> {
    points: Vec<&'a Point>,
    /// The counted seconds of each point.
    seconds: Vec<Vec<&'a Totals>>,
}

impl<'a> Series<'a> {
    /// Returns the series of `points`; `None` where a window is longer than its point, or where
    /// the power of the points comes from different scopes.
    fn new(score: &Score, points: &'a [Point]) -> Option<Series<'a>> {
        let points: Vec<&Point> =
            points.iter().filter(|point| score.needs(point.position)).collect();
        let counted = |point: &&'a Point| {
            let full = full_seconds(point);
            match score.last_part() {
                Some((_, window)) => window.select(&full).map(<[_]>::to_vec),
                None => Some(full),
            }
        };
        if score.metric().needs_power() {
            // The mean of the power of a drive and the power of a host is the power of neither.
            let mut scopes = points.iter().filter_map(|point| Some(point.totals.power()?.0));
            let first = scopes.next();
            if scopes.any(|scope| Some(scope) != first) {
                return None;
            }
        }
        let seconds: Option<Vec<Vec<&Totals>>> = points.iter().map(counted).collect();
        Some(Series { seconds: seconds?, points })
    }

    fn lengths(&self) -> Vec<usize> {
        self.seconds.iter().map(Vec::len).collect()
    }

    /// Returns the headline over all samples.
    fn value(&self, score: &Score) -> Option<f64> {
        self.combined(score, |score| {
            let pairs = self.points.iter().zip(&self.seconds);
            pairs.map(|(point, seconds)| point_value(score, point, seconds)).collect()
        })
    }

    /// Returns the headline over the drawn seconds of each point.
    fn resampled(&self, score: &Score, drawn: &[Vec<usize>]) -> Option<f64> {
        debug_assert_eq!(drawn.len(), self.seconds.len(), "each point has its own draw");
        self.combined(score, |score| {
            let pairs = self.seconds.iter().zip(drawn);
            pairs.map(|(seconds, drawn)| resampled_value(score, seconds, drawn)).collect()
        })
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
fn point_value(score: &Score, point: &Point, counted: &[&Totals]) -> Option<f64> {
    match (score.family(), score.passing_reading()) {
        (ScoreFamily::LastPart, _) => {
            let all: Vec<usize> = (0..counted.len()).collect();
            resampled_value(score, counted, &all)
        }
        (_, Some(reading)) => passing_load(point, reading),
        // Whole steps count all their samples, those of a shorter last second included.
        (
            ScoreFamily::Mean | ScoreFamily::Point | ScoreFamily::Knee | ScoreFamily::HighestLoad,
            None,
        ) => point.totals.value(score.metric(), Scope::All),
    }
}

/// Returns the load of `point` where it passed by this reading, otherwise 0.
fn passing_load(point: &Point, reading: &str) -> Option<f64> {
    Some(if point.totals.reading(reading)? > 0.5 { point.position } else { 0.0 })
}

/// Returns the contribution of a point that consists of the drawn seconds.
fn resampled_value(score: &Score, seconds: &[&Totals], indices: &[usize]) -> Option<f64> {
    match (score.family(), score.last_part()) {
        // A load passes or fails as a whole: there are no seconds to draw from.
        (ScoreFamily::HighestLoad, _) => None,
        (_, Some((metric, _))) if score.mean_of_last().is_none() => {
            let values: Option<Vec<f64>> =
                indices.iter().map(|index| over(metric, seconds, &[*index])).collect();
            summary::mean_over_sigma(&values?)
        }
        (ScoreFamily::Mean | ScoreFamily::Point | ScoreFamily::LastPart | ScoreFamily::Knee, _) => {
            over(score.metric(), seconds, indices)
        }
    }
}

/// Returns the seconds of full length: a shorter last one would add noise to an interval
/// (definition D3).
fn full_seconds(point: &Point) -> Vec<&Totals> {
    point.seconds.iter().filter(|second| second.elapsed == Nanos::SECOND).collect()
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
            sweep.iter().find(|rung| rung.depth == depth).map(|rung| rung.value)
        }
    }
}

/// Returns the points as a sweep of queue depths, without intervals of their own.
fn sweep(positions: &[f64], values: &[f64]) -> Vec<knee::SweepPoint> {
    let rung = |(position, value): (&f64, &f64)| knee::SweepPoint {
        depth: *position as u32,
        value: *value,
        interval: (*value, *value),
    };
    positions.iter().zip(values).map(rung).collect()
}

/// The knee of a sweep of queue depths with its intervals over the seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KneeFound {
    /// The knee by the means of the steps.
    pub knee: knee::Knee,
    /// The 95 % interval of the depth over the seconds; `None` where there are too few seconds.
    pub depth: Option<(u32, u32)>,
    /// The 95 % interval of the interpolated depth.
    pub interpolated: Option<(f64, f64)>,
}

impl KneeFound {
    /// Returns the knee of `points`, a sweep of total queue depths; `None` without one.
    pub fn find(metric: Metric, points: &[Point]) -> Option<KneeFound> {
        let score = Score::Knee(metric);
        let series = Series::new(&score, points)?;
        let positions: Vec<f64> = series.points.iter().map(|point| point.position).collect();
        let at = |values: Vec<Option<f64>>| -> Option<knee::Knee> {
            let values: Option<Vec<f64>> = values.into_iter().collect();
            knee::find(&sweep(&positions, &values?))
        };
        let whole = series.points.iter().map(|point| point.totals.value(metric, Scope::All));
        let knee = at(whole.collect())?;
        let drawn = |drawn: &[Vec<usize>]| {
            let pairs = series.seconds.iter().zip(drawn);
            at(pairs.map(|(seconds, drawn)| over(metric, seconds, drawn)).collect())
        };
        let interval = |value: fn(knee::Knee) -> f64| {
            bootstrap::interval(&series.lengths(), 0, |indices| drawn(indices).map(value))
        };
        let depth = interval(|knee| f64::from(knee.depth));
        Some(KneeFound {
            knee,
            depth: depth.map(|(low, high)| (low as u32, high as u32)),
            interpolated: interval(|knee| knee.interpolated),
        })
    }
}

/// Returns `metric` over the drawn seconds, where it follows from sums over seconds.
///
/// Rates, latencies and means are recomputed from the sums, as [`Totals::value`] does for whole
/// steps; the mean of the values of the seconds would weight slow seconds too high.
fn over(metric: Metric, seconds: &[&Totals], indices: &[usize]) -> Option<f64> {
    let sum = |field: &dyn Fn(&Totals) -> f64| -> f64 {
        indices.iter().map(|index| field(seconds[*index])).sum()
    };
    let time = sum(&|totals| totals.elapsed.as_secs_f64());
    let both = |field: fn(&DirectionTotals) -> f64| {
        sum(&|totals| totals.directions.iter().map(field).sum())
    };
    match metric {
        Metric::Iops => Some(both(|d| d.ios as f64) / time),
        Metric::ThroughputMbS => Some(both(|d| d.bytes as f64) / time / 1e6),
        Metric::LatMeanUs => {
            let ios = both(|d| d.latency.count() as f64);
            (ios > 0.0).then(|| both(|d| d.latency.sum() as f64) / ios / 1e3)
        }
        Metric::InFlightMean => Some(both(|d| d.latency.sum() as f64) / 1e9 / time),
        Metric::PowerW => {
            // A second without a reading in the narrowest scope makes the power unknown (NaN): a
            // meter of a wider scope must not replace it.
            let scope = indices.iter().filter_map(|i| Some(seconds[*i].power()?.0)).min()?;
            let energy = |t: &Totals| {
                let power = t.reading(scope.quantity()).unwrap_or(f64::NAN);
                power * t.elapsed.as_secs_f64()
            };
            Some(sum(&energy) / time).filter(|power| power.is_finite())
        }
        Metric::LatP50Us
        | Metric::LatP99Us
        | Metric::LatP999Us
        | Metric::LatP9999Us
        | Metric::LatP99999Us
        | Metric::LatMaxUs
        | Metric::EnergyJ
        | Metric::EfficiencyMbSW
        | Metric::EfficiencyKiopsW
        | Metric::WriteAmplification
        | Metric::EffectiveOverProvisioning
        | Metric::MeanOverSigma
        | Metric::LoadMultiple => None,
    }
}

#[cfg(test)]
mod tests;
