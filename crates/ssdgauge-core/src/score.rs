//! The rule that turns the points of a test into one headline number with its interval.

use crate::metric::{Metric, Scope, Totals};
use crate::statistics::{bootstrap, knee, summary};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// How the headline of a test is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// The arithmetic mean of a metric over all points (definition D5).
    MeanOf(Metric),
    /// The best value of a metric among the points.
    BestOf(Metric),
    /// The metric at the point whose swept value is `position`.
    At {
        /// The metric.
        metric: Metric,
        /// The swept value, such as 70 for 70 % reads.
        position: f64,
    },
    /// The metric at the lowest queue depth that reaches 95 % of the best (definition D7).
    Knee(Metric),
}

impl Score {
    /// Returns the metric that the headline is in.
    pub fn metric(&self) -> Metric {
        match *self {
            Score::MeanOf(metric)
            | Score::BestOf(metric)
            | Score::At { metric, .. }
            | Score::Knee(metric) => metric,
        }
    }

    /// Returns the rule in words.
    pub fn words(&self) -> String {
        match self {
            Score::MeanOf(_) => "arithmetic mean over the points".into(),
            Score::BestOf(_) => "best point".into(),
            Score::At { position, .. } => format!("the point at {position}"),
            Score::Knee(_) => "lowest queue depth with at least 95 % of the best".into(),
        }
    }
}

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
        let series = Series::of(points);
        let n = series.seconds.iter().map(|seconds| seconds.len() as u64).sum();
        let metric = score.metric();
        let values: Option<Vec<f64>> =
            points.iter().map(|point| point.totals.value(metric, Scope::All)).collect();
        let value = values.and_then(|values| combine(score, &series.positions, &values));
        let interval = value.and_then(|_| {
            bootstrap::interval(&series.lengths(), 0, |drawn| series.headline(score, drawn))
        });
        let (low, high) = interval.unzip();
        Headline { metric, value, n, low, high }
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
        let whole = |points| Headline::of(score, points).value;
        let quotient = |a: f64, b: f64| (a > 0.0).then(|| b / a).filter(|ratio| ratio.is_finite());
        let value = quotient(whole(a)?, whole(b)?)?;
        let sides = [Series::of(a), Series::of(b)];
        let lengths: Vec<usize> = sides.iter().flat_map(Series::lengths).collect();
        let interval = bootstrap::interval(&lengths, 0, |drawn| {
            let (of_a, of_b) = drawn.split_at(a.len());
            quotient(sides[0].headline(score, of_a)?, sides[1].headline(score, of_b)?)
        });
        Some(Ratio { value, interval })
    }
}

/// The full seconds of points, ready to be drawn from.
struct Series<'a> {
    positions: Vec<f64>,
    seconds: Vec<Vec<&'a Totals>>,
}

impl<'a> Series<'a> {
    fn of(points: &'a [Point]) -> Series<'a> {
        Series {
            positions: points.iter().map(|point| point.position).collect(),
            seconds: points.iter().map(full_seconds).collect(),
        }
    }

    fn lengths(&self) -> Vec<usize> {
        self.seconds.iter().map(Vec::len).collect()
    }

    /// Returns the headline over the drawn seconds of each point.
    fn headline(&self, score: &Score, drawn: &[Vec<usize>]) -> Option<f64> {
        let values: Option<Vec<f64>> = self
            .seconds
            .iter()
            .zip(drawn)
            .map(|(seconds, indices)| resampled(score.metric(), seconds, indices))
            .collect();
        combine(score, &self.positions, &values?)
    }
}

fn full_seconds(point: &Point) -> Vec<&Totals> {
    point.seconds.iter().filter(|second| second.elapsed == Nanos::SECOND).collect()
}

fn combine(score: &Score, positions: &[f64], values: &[f64]) -> Option<f64> {
    match score {
        Score::MeanOf(_) => summary::mean(values),
        Score::BestOf(metric) => {
            let best = if metric.more_is_better() { f64::max } else { f64::min };
            values.iter().copied().reduce(best)
        }
        Score::At { position, .. } => {
            positions.iter().position(|at| at == position).map(|index| values[index])
        }
        Score::Knee(_) => {
            let rung = |(position, value): (&f64, &f64)| knee::Rung {
                depth: *position as u32,
                value: *value,
                interval: (*value, *value),
            };
            let ladder: Vec<knee::Rung> = positions.iter().zip(values).map(rung).collect();
            let depth = knee::find(&ladder)?.depth;
            ladder.iter().find(|rung| rung.depth == depth).map(|rung| rung.value)
        }
    }
}

/// Returns `metric` over the drawn seconds, where it follows from sums alone.
fn resampled(metric: Metric, seconds: &[&Totals], indices: &[usize]) -> Option<f64> {
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
        Metric::PowerW => Some(sum(&|t| t.reading("power_w").unwrap_or(f64::NAN)) / time)
            .filter(|power| power.is_finite()),
        Metric::LatP50Us
        | Metric::LatP99Us
        | Metric::LatP999Us
        | Metric::LatP9999Us
        | Metric::LatP99999Us
        | Metric::LatMaxUs
        | Metric::EfficiencyMbSW
        | Metric::EfficiencyKiopsW
        | Metric::WriteAmplification
        | Metric::EffectiveOverProvisioning => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Direction, Interval};
    use crate::statistics::histogram::Histogram;

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
    fn what_was_not_measured_has_no_value_and_no_interval() {
        let headline = Headline::of(&Score::MeanOf(Metric::PowerW), &[point(1.0, &[10; 9])]);
        assert_eq!((headline.value, headline.low, headline.high), (None, None, None));
    }
}
