//! The headline of a test with its interval, and the ratio of two, by the rule of the test.

use crate::metric::{Metric, Scope, Totals};
use crate::score::{BORNE, BORNE_FROM_SENDING, Score};
use crate::statistics::{bootstrap, knee, repetition, summary};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// What was measured at one step of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The label of the step.
    pub label: String,
    /// The value of the swept key.
    pub position: f64,
    /// All samples of the step.
    pub totals: Totals,
    /// The samples of each second; a shorter last one is among them.
    pub seconds: Vec<Totals>,
}

/// One number for a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// The metric that it is in.
    pub metric: Metric,
    /// The number; `None` where it was not measured.
    pub value: Option<f64>,
    /// Full seconds that it rests on.
    pub n: u64,
    /// The lower end of the 95 % interval over the seconds of this run.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl Headline {
    /// Returns the headline of `points` by `score`.
    ///
    /// The interval comes from resampling the seconds of each point: it says how much this run
    /// varied, and cannot say how much another run would differ.
    pub fn of(score: &Score, points: &[Point]) -> Headline {
        let metric = score.metric();
        let Some(series) = Series::of(score, points) else {
            return Headline { metric, value: None, n: 0, low: None, high: None };
        };
        let n = series.seconds.iter().map(|seconds| seconds.len() as u64).sum();
        let value = series.value(score);
        let interval = value.and_then(|_| {
            bootstrap::interval(&series.lengths(), 0, |drawn| series.headline(score, drawn))
        });
        let (low, high) = interval.unzip();
        Headline { metric, value, n, low, high }
    }

    /// Returns the headline of a test that was repeated: the mean of its repetitions with the 95 %
    /// interval between them. `None` of nothing; no value where a repetition has none.
    pub fn of_repetitions(each: &[Headline]) -> Option<Headline> {
        let first = each.first()?;
        let n = each.iter().map(|headline| headline.n).sum();
        let values: Option<Vec<f64>> = each.iter().map(|headline| headline.value).collect();
        let value = values.as_deref().and_then(summary::mean);
        let (low, high) = values.as_deref().and_then(repetition::interval).unzip();
        Some(Headline { metric: first.metric, value, n, low, high })
    }
}

/// How many times one headline is another.
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
    /// interval comes from resampling the seconds of both, and cannot say how much other runs
    /// would differ.
    pub fn of(score: &Score, a: &[Point], b: &[Point]) -> Option<Ratio> {
        let quotient = |a: f64, b: f64| (a > 0.0).then(|| b / a).filter(|ratio| ratio.is_finite());
        let sides = [Series::of(score, a)?, Series::of(score, b)?];
        let value = quotient(sides[0].value(score)?, sides[1].value(score)?)?;
        let lengths: Vec<usize> = sides.iter().flat_map(Series::lengths).collect();
        let interval = bootstrap::interval(&lengths, 0, |drawn| {
            let (of_a, of_b) = drawn.split_at(sides[0].points.len());
            quotient(sides[0].headline(score, of_a)?, sides[1].headline(score, of_b)?)
        });
        Some(Ratio { value, interval })
    }

    /// Returns the headline of `b` divided by that of `a`, both from repetitions: what varies from
    /// one to the next is in the interval. `None` below two repetitions of either.
    pub fn of_repetitions(a: &[Headline], b: &[Headline]) -> Option<Ratio> {
        let values = |each: &[Headline]| -> Option<Vec<f64>> {
            each.iter().map(|headline| headline.value).collect()
        };
        let (value, interval) = repetition::ratio(&values(a)?, &values(b)?)?;
        Some(Ratio { value, interval: Some(interval) })
    }
}

/// The points that a score rests on, with the full seconds that it counts, ready to be drawn from.
struct Series<'a> {
    points: Vec<&'a Point>,
    seconds: Vec<Vec<&'a Totals>>,
}

impl<'a> Series<'a> {
    /// Returns the series of `points`; `None` where a window is longer than its point.
    fn of(score: &Score, points: &'a [Point]) -> Option<Series<'a>> {
        let points: Vec<&Point> =
            points.iter().filter(|point| score.rests_on(point.position)).collect();
        let counted = |point: &&'a Point| {
            let full = full_seconds(point);
            match score.last_part() {
                Some((_, window)) => window.of(&full).map(<[_]>::to_vec),
                None => Some(full),
            }
        };
        if score.metric().needs_power() {
            // A mean of a drive's watts and a host's would be of nothing.
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
            pairs.map(|(point, seconds)| of_point(score, point, seconds)).collect()
        })
    }

    /// Returns the headline over the drawn seconds of each point.
    fn headline(&self, score: &Score, drawn: &[Vec<usize>]) -> Option<f64> {
        self.combined(score, |score| {
            let pairs = self.seconds.iter().zip(drawn);
            pairs.map(|(seconds, drawn)| resampled(score, seconds, drawn)).collect()
        })
    }

    /// Returns the headline of what `each` gives of every point.
    fn combined(&self, score: &Score, each: impl Fn(&Score) -> Option<Vec<f64>>) -> Option<f64> {
        let values = each(score)?;
        if let Score::KneeOfLoad(_) = score {
            let rates = each(&Score::MeanOf(Metric::Iops))?;
            let latencies = each(&Score::MeanOf(Metric::LatMeanUs))?;
            return knee::of_load(&rates, &latencies).map(|knee| values[knee]);
        }
        let positions: Vec<f64> = self.points.iter().map(|point| point.position).collect();
        combine(score, &positions, &values)
    }
}

/// Returns what a point gives to the headline.
fn of_point(score: &Score, point: &Point, counted: &[&Totals]) -> Option<f64> {
    match score {
        Score::MeanOfLast { .. } | Score::MeanOverSigmaOfLast { .. } => {
            let all: Vec<usize> = (0..counted.len()).collect();
            resampled(score, counted, &all)
        }
        Score::MeanOf(metric)
        | Score::MeanAt { metric, .. }
        | Score::BestOf(metric)
        | Score::At { metric, .. }
        | Score::Knee(metric)
        | Score::KneeOfLoad(metric) => point.totals.value(*metric, Scope::All),
        Score::HighestBorne => borne(point, BORNE),
        Score::HighestBorneFromSending => borne(point, BORNE_FROM_SENDING),
    }
}

/// Returns the load of `point` where it was borne by this reading, else 0.
fn borne(point: &Point, reading: &str) -> Option<f64> {
    Some(if point.totals.reading(reading)? > 0.5 { point.position } else { 0.0 })
}

/// Returns what a point would give if it had only the drawn seconds.
fn resampled(score: &Score, seconds: &[&Totals], indices: &[usize]) -> Option<f64> {
    match score {
        Score::MeanOverSigmaOfLast { metric, .. } => {
            let values: Option<Vec<f64>> =
                indices.iter().map(|index| over(*metric, seconds, &[*index])).collect();
            summary::mean_over_sigma(&values?)
        }
        Score::MeanOf(metric)
        | Score::MeanAt { metric, .. }
        | Score::BestOf(metric)
        | Score::At { metric, .. }
        | Score::Knee(metric)
        | Score::KneeOfLoad(metric)
        | Score::MeanOfLast { metric, .. } => over(*metric, seconds, indices),
        // A load is borne or not: there is nothing to draw from.
        Score::HighestBorne | Score::HighestBorneFromSending => None,
    }
}

fn full_seconds(point: &Point) -> Vec<&Totals> {
    point.seconds.iter().filter(|second| second.elapsed == Nanos::SECOND).collect()
}

fn combine(score: &Score, positions: &[f64], values: &[f64]) -> Option<f64> {
    match score {
        Score::MeanOf(_)
        | Score::MeanAt { .. }
        | Score::MeanOfLast { .. }
        | Score::MeanOverSigmaOfLast { .. } => summary::mean(values),
        Score::BestOf(metric) => {
            let best = if metric.more_is_better() { f64::max } else { f64::min };
            values.iter().copied().reduce(best)
        }
        Score::HighestBorne | Score::HighestBorneFromSending => {
            values.iter().copied().reduce(f64::max)
        }
        // The points of a load are judged by two metrics: see `Series::combined`.
        Score::KneeOfLoad(_) => None,
        Score::At { position, .. } => {
            positions.iter().position(|at| at == position).map(|index| values[index])
        }
        Score::Knee(_) => {
            let ladder = ladder(positions, values);
            let depth = knee::find(&ladder)?.depth;
            ladder.iter().find(|rung| rung.depth == depth).map(|rung| rung.value)
        }
    }
}

fn ladder(positions: &[f64], values: &[f64]) -> Vec<knee::Rung> {
    let rung = |(position, value): (&f64, &f64)| knee::Rung {
        depth: *position as u32,
        value: *value,
        interval: (*value, *value),
    };
    positions.iter().zip(values).map(rung).collect()
}

/// The knee of a ladder of queue depths with the uncertainty that the seconds leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KneeFound {
    /// The knee by the means of the steps.
    pub knee: knee::Knee,
    /// The 95 % interval of the depth over the seconds; `None` where there are too few seconds.
    pub depth: Option<(u32, u32)>,
    /// The same of the interpolated depth.
    pub interpolated: Option<(f64, f64)>,
}

impl KneeFound {
    /// Returns the knee of `points`, a ladder of total queue depths; `None` without one.
    pub fn of(metric: Metric, points: &[Point]) -> Option<KneeFound> {
        let score = Score::Knee(metric);
        let series = Series::of(&score, points)?;
        let positions: Vec<f64> = series.points.iter().map(|point| point.position).collect();
        let at = |values: Vec<Option<f64>>| -> Option<knee::Knee> {
            let values: Option<Vec<f64>> = values.into_iter().collect();
            knee::find(&ladder(&positions, &values?))
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

/// Returns `metric` over the drawn seconds, where it follows from sums alone.
fn over(metric: Metric, seconds: &[&Totals], indices: &[usize]) -> Option<f64> {
    let sum = |field: &dyn Fn(&Totals) -> f64| -> f64 {
        indices.iter().map(|index| field(seconds[*index])).sum()
    };
    let time = sum(&|totals| totals.elapsed.as_secs_f64());
    let both = |field: fn(&crate::metric::DirectionTotals) -> f64| {
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
            // Where one meter fell silent, that of another scope must not stand in for it.
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
mod tests {
    use super::*;
    use crate::sample::{Direction, Interval, Reading};
    use crate::statistics::histogram::Histogram;
    use crate::{Bytes, Window};

    fn point(position: f64, ios_each_second: &[u64]) -> Point {
        let mut whole = Totals::default();
        let mut seconds = Vec::new();
        for (second, ios) in ios_each_second.iter().enumerate() {
            let interval = Interval {
                second: second as u32,
                stream: 0,
                direction: Direction::Read,
                length: Nanos::SECOND,
                ios: *ios,
                bytes: ios * 4_096,
                errors: 0,
                latency: Histogram::default(),
            };
            let mut totals = Totals::over(Nanos::SECOND);
            totals.add(&interval);
            whole.add(&interval);
            whole.elapsed += Nanos::SECOND;
            seconds.push(totals);
        }
        Point { label: position.to_string(), position, totals: whole, seconds }
    }

    #[test]
    fn a_mean_over_points_has_an_interval_that_holds_it() {
        let points = [
            point(1.0, &[100, 110, 90, 100, 105, 95, 100, 100]),
            point(2.0, &[200, 220, 180, 200, 210, 190, 200, 200]),
        ];
        let headline = Headline::of(&Score::MeanOf(Metric::Iops), &points);
        assert_eq!((headline.value, headline.n), (Some(150.0), 16));
        let (low, high) = (headline.low.unwrap(), headline.high.unwrap());
        assert!(low < 150.0 && 150.0 < high && high - low < 20.0, "{low} {high}");
    }

    #[test]
    fn a_ratio_holds_the_truth_and_knows_when_it_cannot_be_said() {
        let a = [point(1.0, &[100, 110, 90, 100, 105, 95, 100, 100])];
        let b = [point(1.0, &[150, 160, 140, 150, 155, 145, 150, 150])];
        let score = Score::MeanOf(Metric::Iops);
        let ratio = Ratio::of(&score, &a, &b).unwrap();
        let (low, high) = ratio.interval.unwrap();
        assert_eq!(ratio.value, 1.5);
        assert!(1.35 < low && low < 1.5 && 1.5 < high && high < 1.65, "{low} {high}");
        assert_eq!(Ratio::of(&score, &[point(1.0, &[0; 9])], &b), None);
        let short = Ratio::of(&score, &[point(1.0, &[100])], &b).unwrap();
        assert_eq!((short.value, short.interval), (1.5, None));
        assert_eq!(Ratio::of(&Score::MeanOf(Metric::PowerW), &a, &b), None);
    }

    #[test]
    fn the_other_rules_pick_their_point() {
        let points = [point(1.0, &[10]), point(2.0, &[96]), point(4.0, &[100])];
        let value = |score| Headline::of(&score, &points).value;
        assert_eq!(value(Score::BestOf(Metric::Iops)), Some(100.0));
        assert_eq!(value(Score::At { metric: Metric::Iops, position: 1.0 }), Some(10.0));
        assert_eq!(value(Score::At { metric: Metric::Iops, position: 3.0 }), None);
        assert_eq!(value(Score::Knee(Metric::Iops)), Some(96.0));
    }

    #[test]
    fn a_knee_says_how_far_its_seconds_bear_it() {
        let noisy = |mean: u64| -> Vec<u64> { (0..60).map(|s| mean + (s * 37) % 11).collect() };
        let ladder = [
            point(1.0, &noisy(300)),
            point(2.0, &noisy(600)),
            point(4.0, &noisy(950)),
            point(8.0, &noisy(1_000)),
        ];
        let found = KneeFound::of(Metric::Iops, &ladder).unwrap();
        // The third rung lies at the threshold itself: the seconds cannot decide.
        assert_eq!(found.depth, Some((4, 8)), "{found:?}");
        let (low, high) = found.interpolated.unwrap();
        assert!(low <= found.knee.interpolated && found.knee.interpolated <= high, "{found:?}");
        assert!(low > 2.0 && high < 8.0 && high - low < 2.0, "{found:?}");
        let short = ladder.map(|point| Point { seconds: Vec::new(), ..point });
        let found = KneeFound::of(Metric::Iops, &short).unwrap();
        assert_eq!((found.depth, found.interpolated), (None, None));
    }

    #[test]
    fn a_mean_at_some_points_leaves_the_others_out() {
        let points = [point(1.0, &[10]), point(2.0, &[20]), point(4.0, &[60]), point(8.0, &[900])];
        let score = Score::MeanAt { metric: Metric::Iops, positions: vec![1.0, 2.0, 4.0] };
        let headline = Headline::of(&score, &points);
        assert_eq!((headline.value, headline.n), (Some(30.0), 3));
    }

    #[test]
    fn a_window_holds_the_last_seconds_or_bytes_and_nothing_else() {
        let points = [point(0.0, &[900, 900, 900, 10, 20, 30])];
        let headline = |window| {
            let score = Score::MeanOfLast { metric: Metric::Iops, window };
            let headline = Headline::of(&score, &points);
            (headline.value, headline.n)
        };
        assert_eq!(headline(Window::Time(Nanos::from_secs(3))), (Some(20.0), 3));
        assert_eq!(headline(Window::Time(Nanos::from_secs(7))), (None, 0));
        assert_eq!(headline(Window::Bytes(Bytes(40 * 4_096))), (Some(25.0), 2));
        assert_eq!(headline(Window::Bytes(Bytes(1 << 40))), (None, 0));
    }

    #[test]
    fn mean_over_sigma_counts_the_window_and_says_nothing_without_variation() {
        let window = Window::Time(Nanos::from_secs(8));
        let score = Score::MeanOverSigmaOfLast { metric: Metric::Iops, window };
        let headline = Headline::of(&score, &[point(0.0, &[900, 2, 4, 4, 4, 5, 5, 7, 9])]);
        let expected = 5.0 / (32.0f64 / 7.0).sqrt();
        assert_eq!(headline.metric, Metric::MeanOverSigma);
        assert!((headline.value.unwrap() - expected).abs() < 1e-12);
        let flat = Headline::of(&score, &[point(0.0, &[100; 9])]);
        assert_eq!((flat.value, flat.n), (None, 8));
    }

    #[test]
    fn watts_of_different_scopes_make_no_mean() {
        let metered = |quantity: &str| {
            let mut point = point(1.0, &[100; 6]);
            let reading = Reading {
                at: Nanos(0),
                instrument: "meter".into(),
                quantity: quantity.into(),
                value: 5.0,
            };
            point.totals.add_reading(&reading);
            point.seconds.iter_mut().for_each(|second| second.add_reading(&reading));
            point
        };
        let value = |quantities: [&str; 2], metric| {
            Headline::of(&Score::MeanOf(metric), &quantities.map(metered)).value
        };
        assert_eq!(value(["power_w", "power_w"], Metric::PowerW), Some(5.0));
        assert_eq!(value(["host_ac_power_w", "host_ac_power_w"], Metric::PowerW), Some(5.0));
        assert_eq!(value(["power_w", "host_ac_power_w"], Metric::PowerW), None);
        assert_eq!(value(["power_w", "host_ac_power_w"], Metric::EfficiencyMbSW), None);
        assert_eq!(value(["power_w", "host_ac_power_w"], Metric::Iops), Some(100.0));
    }

    #[test]
    fn what_was_not_measured_has_no_value_and_no_interval() {
        let headline = Headline::of(&Score::MeanOf(Metric::PowerW), &[point(1.0, &[10; 9])]);
        assert_eq!((headline.value, headline.low, headline.high), (None, None, None));
    }
}
