//! The ratio of two headlines.

use crate::score::Score;
use crate::score::headline::Headline;
use crate::score::point::Point;
use crate::totals::confidence::{self, ConfidenceInterval};
use crate::totals::metric::Metric;
use ssdgauge_statistics::repetition;
use std::borrow::Borrow;

/// The ratio of two headlines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The second headline divided by the first. Where there is an interval, both come from the same
    /// samples, so that the interval contains the value.
    pub value: f64,
    /// The 95 % interval, over the seconds of both runs or between their repetitions; of two loads of
    /// searches the bounds. `None` where one of the headlines has none.
    pub interval: Option<(f64, f64)>,
    /// The seconds at the start of the first and of the second that flatter, and are left out of
    /// value and interval.
    pub cut_seconds: [usize; 2],
}

impl Ratio {
    /// Returns the headline of `b` divided by that of `a`, both by `score`.
    ///
    /// `None` where one of them was not measured, or where that of `a` is not above zero. Value and
    /// interval compare the means after the cut of each run (Zou and Donner 2008). The interval
    /// does not include the variation between runs. Without an interval, the value counts all
    /// seconds.
    pub fn from_points<P: Borrow<Point>>(score: &Score, a: &[P], b: &[P]) -> Option<Ratio> {
        let [a, b] = [a, b].map(|points| Headline::from_points(score, points));
        Ratio::of_headlines(&a, &b)
    }

    /// Returns `b` divided by `a`, as [`Ratio::from_points`] does.
    pub fn of_headlines(a: &Headline, b: &Headline) -> Option<Ratio> {
        let divisor = a.value.filter(|value| *value > 0.0)?;
        let whole = Some(b.value? / divisor).filter(|ratio| ratio.is_finite())?;
        if [a, b].iter().all(|one| one.metric == Metric::LoadMultiple) {
            return Some(Ratio { value: whole, interval: of_loads(a, b), cut_seconds: [0, 0] });
        }
        let cut = |one: ConfidenceInterval| one.within_run().map_or(0, |within| within.cut);
        Some(match confidence::of_ratio(a.interval, b.interval) {
            Some(ratio) => Ratio {
                value: ratio.value,
                interval: Some((ratio.low, ratio.high)),
                cut_seconds: [cut(a.interval), cut(b.interval)],
            },
            None => Ratio { value: whole, interval: None, cut_seconds: [0, 0] },
        })
    }

    /// Returns the headline of `b` divided by that of `a`, both from repetitions: the interval
    /// includes the variation from one repetition to the next, which one that was carried out once takes from
    /// the other. `None` below two repetitions of both.
    pub fn of_repetitions(a: &[Headline], b: &[Headline]) -> Option<Ratio> {
        let values = |each: &[Headline]| -> Option<Vec<f64>> {
            each.iter().map(|headline| headline.value).collect()
        };
        let (value, interval) = repetition::ratio(&values(a)?, &values(b)?)?;
        Some(Ratio { value, interval: Some(interval), cut_seconds: [0, 0] })
    }
}

/// Returns the bounds of the load of `b` divided by that of `a`. A load whose trials agree is exact, and
/// one whose trials disagree is any of its range.
fn of_loads(a: &Headline, b: &Headline) -> Option<(f64, f64)> {
    let bounds = |one: &Headline| {
        let exact = one.value.map(|value| (value, value));
        one.interval.ends().or(exact).filter(|(low, _)| *low > 0.0)
    };
    let ((low_a, high_a), (low_b, high_b)) = (bounds(a)?, bounds(b)?);
    Some((low_b / high_a, high_b / low_a))
}
