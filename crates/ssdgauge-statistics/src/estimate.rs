//! Numbers with the ends of their intervals, and whether they are what is stated of them.
//!
//! Every place that holds a measured number against a stated one asks [`Estimate::lies_in`]: spec files,
//! the claims of reviews, and the stated figures of an X-ray.

use serde::{Deserialize, Serialize};

/// A measured number with the ends of its interval; both ends are the value where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Estimate {
    /// Returns a number without an interval.
    pub fn exact(value: f64) -> Estimate {
        Estimate { value, low: value, high: value }
    }

    /// Returns `value` with the ends of an `interval`, where there is one. The interval may belong to a later
    /// part of a step: the value lies between them in any case.
    pub fn new(value: f64, interval: Option<(f64, f64)>) -> Estimate {
        let (low, high) = interval.unwrap_or((value, value));
        Estimate { value, low: low.min(value), high: high.max(value) }
    }

    /// Returns `value` with the interval of `half`, and at least `share` of the value, to both sides.
    pub fn within(value: f64, half: f64, share: f64) -> Estimate {
        let half = half.max(value.abs() * share);
        Estimate { value, low: value - half, high: value + half }
    }

    /// Returns the width of the interval as a share of the value; 0 for a value of 0.
    pub fn width(self) -> f64 {
        if self.value == 0.0 { 0.0 } else { (self.high - self.low) / self.value.abs() }
    }

    /// Returns whether the interval contains `truth`.
    pub fn contains(self, truth: f64) -> bool {
        (self.low..=self.high).contains(&truth)
    }

    /// Returns how many times `other` this number is. The interval is that of a ratio of independent
    /// numbers: MOVER on the logarithms (Zou and Donner 2008), for symmetric intervals
    /// ln(a/b) ± √((h_a/a)² + (h_b/b)²). It has no upper end where the interval of `other` contains
    /// zero. `None` where `other` is not positive.
    pub fn over(self, other: Estimate) -> Option<Estimate> {
        if other.value <= 0.0 {
            return None;
        }
        let value = self.value / other.value;
        if self.value <= 0.0 || other.low <= 0.0 {
            // No logarithm: the most distant ends.
            let high = if other.low > 0.0 { self.high / other.low } else { f64::INFINITY };
            return Some(Estimate { value, low: self.low / other.high, high });
        }
        let down = |one: Estimate| (one.value - one.low) / one.value;
        let up = |one: Estimate| (one.high - one.value) / one.value;
        Some(Estimate {
            value,
            low: value / down(self).hypot(up(other)).exp(),
            high: value * up(self).hypot(down(other)).exp(),
        })
    }

    /// Returns whether the number is stated rightly as one between `from` and `until`, both included: the
    /// whole interval has to lie there, or outside. An exact figure has no room for an interval, and is
    /// right where the interval contains it.
    pub fn lies_in(self, from: f64, until: f64) -> Verdict {
        let is_inside = if from == until {
            self.contains(from)
        } else {
            from <= self.low && self.high <= until
        };
        match (is_inside, self.high < from || self.low > until) {
            (true, _) => Verdict::Holds,
            (false, true) => Verdict::Fails,
            (false, false) => Verdict::NotDecided,
        }
    }
}

/// Whether a statement is true of what was measured. The worst of several is the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It is true.
    Holds,
    /// A value is missing, or a limit lies within the interval of the value.
    NotDecided,
    /// It is not true.
    Fails,
}

impl Verdict {
    /// Returns the words used in texts.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::NotDecided => "not decided",
        }
    }

    /// Returns the verdict of a plain condition.
    pub fn from_bool(holds: bool) -> Verdict {
        if holds { Verdict::Holds } else { Verdict::Fails }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_limit_within_the_interval_is_not_decided() {
        let number = |low, value, high| Estimate { value, low, high };
        assert_eq!(number(1.0, 1.1, 1.2).lies_in(0.9, 1.3), Verdict::Holds);
        assert_eq!(number(1.0, 1.1, 1.4).lies_in(0.9, 1.3), Verdict::NotDecided);
        assert_eq!(number(0.8, 1.1, 1.4).lies_in(0.9, 1.3), Verdict::NotDecided);
        assert_eq!(number(1.4, 1.5, 1.6).lies_in(0.9, 1.3), Verdict::Fails);
        assert_eq!(Estimate::exact(1.3).lies_in(0.9, 1.3), Verdict::Holds);
        assert_eq!(Estimate::exact(0.89).lies_in(0.9, 1.3), Verdict::Fails);
        assert_eq!(Estimate::exact(2.0).lies_in(1.5, f64::INFINITY), Verdict::Holds);
    }

    #[test]
    fn the_interval_of_a_ratio_contains_the_truth_as_often_as_its_parts_contain_theirs() {
        let mut random = Random::new(1, 0);
        // The sum of twelve uniform numbers is close to a normal one with σ = 1.
        let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        for (sigma, of_other) in [(0.01, 0.01), (0.03, 0.005), (0.002, 0.04)] {
            let mut contained = 0;
            for _ in 0..10_000 {
                let mut drawn = |mean: f64, sigma: f64| {
                    let (value, half) = (mean * (1.0 + sigma * normal()), 1.96 * mean * sigma);
                    Estimate { value, low: value - half, high: value + half }
                };
                let ratio = drawn(300.0, sigma).over(drawn(200.0, of_other)).unwrap();
                contained += usize::from(ratio.low <= 1.5 && 1.5 <= ratio.high);
            }
            // Four standard errors of 95 % in 10,000.
            let share = contained as f64 / 1e4;
            assert!((share - 0.95).abs() < 0.0088, "{sigma} {of_other}: {share}");
        }
    }

    #[test]
    fn a_ratio_has_no_upper_end_where_the_other_number_may_be_zero() {
        assert_eq!(Estimate::exact(6.0).over(Estimate::exact(2.0)), Some(Estimate::exact(3.0)));
        assert_eq!(Estimate::exact(1.0).over(Estimate::exact(0.0)), None);
        let open =
            Estimate::exact(6.0).over(Estimate { value: 2.0, low: -1.0, high: 4.0 }).unwrap();
        assert_eq!((open.value, open.low, open.high), (3.0, 1.5, f64::INFINITY));
        let none = Estimate::exact(0.0).over(Estimate { value: 2.0, low: 1.0, high: 4.0 });
        assert_eq!(none, Some(Estimate::exact(0.0)));
    }

    #[test]
    fn an_exact_figure_is_right_where_the_interval_contains_it() {
        let number = Estimate { value: 720.0, low: 700.0, high: 740.0 };
        for (figure, verdict) in
            [(730.0, Verdict::Holds), (740.0, Verdict::Holds), (800.0, Verdict::Fails)]
        {
            assert_eq!(number.lies_in(figure, figure), verdict, "{figure}");
        }
    }

    #[test]
    fn one_failure_decides_several() {
        use Verdict::*;
        assert_eq!([Holds, NotDecided].into_iter().max(), Some(NotDecided));
        assert_eq!([NotDecided, Fails, Holds].into_iter().max(), Some(Fails));
    }
}
