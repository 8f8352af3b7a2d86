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
    /// includes the variation from one repetition to the next. `None` below two repetitions of both.
    ///
    /// One that was carried out once varies as the repetitions of the other do, and by its own interval, which may be
    /// wider: it stalled, or the other is a virtual drive, whose repetitions can be equal. Both are independent, so
    /// they add up as in [`ssdgauge_statistics::Estimate::over`]. The repetitions contain the variation over their
    /// seconds already; where both sides have it alike the sum is too wide, by √2 at most, and never too narrow.
    /// Without an interval of its own there is none.
    pub fn of_repetitions(a: &[Headline], b: &[Headline]) -> Option<Ratio> {
        let values = |each: &[Headline]| -> Option<Vec<f64>> {
            each.iter().map(|headline| headline.value).collect()
        };
        let (value, (low, high)) = repetition::ratio(&values(a)?, &values(b)?)?;
        let (down, up) = ((value / low).ln(), (high / value).ln());
        let [of_a, of_b] = [a, b].map(of_its_own);
        let interval = of_a.zip(of_b).map(|((down_a, up_a), (down_b, up_b))| {
            // The divisor moves the ratio to the other side.
            let (down, up) = (down.hypot(up_a).hypot(down_b), up.hypot(down_a).hypot(up_b));
            (value * (-down).exp(), value * up.exp())
        });
        let cut = |each: &[Headline]| match each {
            [one] => one.interval.within_run().map_or(0, |within| within.cut),
            [] | [_, _, ..] => 0,
        };
        let cut_seconds = if interval.is_some() { [cut(a), cut(b)] } else { [0, 0] };
        Some(Ratio { value, interval, cut_seconds })
    }
}

/// Returns how far the interval of a headline that was carried out once reaches below and above it, as shares of it;
/// zero for one that was repeated, whose interval its repetitions have. `None` where it has no interval, or may be zero.
fn of_its_own(each: &[Headline]) -> Option<(f64, f64)> {
    let [one] = each else { return Some((0.0, 0.0)) };
    let value = one.value?;
    let (low, high) = match one.metric {
        // A load whose trials agree is exact.
        Metric::LoadMultiple => one.interval.ends().unwrap_or((value, value)),
        _ => one.interval.ends()?,
    };
    let has_ratio = low > 0.0 && value > 0.0;
    has_ratio.then(|| ((1.0 - low / value).max(0.0), (high / value - 1.0).max(0.0)))
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
