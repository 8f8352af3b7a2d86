//! Numbers with the ends of their intervals, and verdicts that respect them.

/// A measured number with the ends of its 95 % interval; both ends are the value where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// The value.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Number {
    /// Returns a number without an interval.
    pub fn exact(value: f64) -> Number {
        Number { value, low: value, high: value }
    }

    /// Returns how many times `other` this number is. The interval is that of a ratio of independent
    /// numbers: the relative distances to the ends are added as squares, as `compare` does it (Zou and
    /// Donner 2008, on a logarithmic scale). It has no upper end where the interval of `other` contains
    /// zero. `None` where `other` is not positive.
    pub fn over(self, other: Number) -> Option<Number> {
        if other.value <= 0.0 {
            return None;
        }
        let value = self.value / other.value;
        if self.value <= 0.0 || other.low <= 0.0 {
            // No logarithm: the most distant ends.
            let high = if other.low > 0.0 { self.high / other.low } else { f64::INFINITY };
            return Some(Number { value, low: self.low / other.high, high });
        }
        let down = |one: Number| (one.value - one.low) / one.value;
        let up = |one: Number| (one.high - one.value) / one.value;
        Some(Number {
            value,
            low: value / down(self).hypot(up(other)).exp(),
            high: value * up(self).hypot(down(other)).exp(),
        })
    }

    /// Returns whether the number lies between `from` and `until`, both included: not decided where
    /// its interval contains one of them.
    pub fn within(self, from: f64, until: f64) -> Verdict {
        let is_inside = |value: f64| (from..=until).contains(&value);
        match (is_inside(self.low), is_inside(self.high), is_inside(self.value)) {
            (true, true, _) => Verdict::Holds,
            (false, false, false) if self.high < from || self.low > until => Verdict::Fails,
            _ => Verdict::NotDecided,
        }
    }
}

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The statement is true of the runs.
    Holds,
    /// It is not.
    Fails,
    /// A value is missing, or a limit lies within the interval of the value.
    NotDecided,
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

    /// Returns the verdict of this one and `other` together: one that fails decides.
    pub fn and(self, other: Verdict) -> Verdict {
        match (self, other) {
            (Verdict::Fails, _) | (_, Verdict::Fails) => Verdict::Fails,
            (Verdict::NotDecided, _) | (_, Verdict::NotDecided) => Verdict::NotDecided,
            (Verdict::Holds, Verdict::Holds) => Verdict::Holds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Random;

    #[test]
    fn a_limit_within_the_interval_is_not_decided() {
        let number = |low, value, high| Number { value, low, high };
        assert_eq!(number(1.0, 1.1, 1.2).within(0.9, 1.3), Verdict::Holds);
        assert_eq!(number(1.0, 1.1, 1.4).within(0.9, 1.3), Verdict::NotDecided);
        assert_eq!(number(0.8, 1.1, 1.4).within(0.9, 1.3), Verdict::NotDecided);
        assert_eq!(number(1.4, 1.5, 1.6).within(0.9, 1.3), Verdict::Fails);
        assert_eq!(Number::exact(1.3).within(0.9, 1.3), Verdict::Holds);
        assert_eq!(Number::exact(0.89).within(0.9, 1.3), Verdict::Fails);
        assert_eq!(Number::exact(2.0).within(1.5, f64::INFINITY), Verdict::Holds);
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
                    Number { value, low: value - half, high: value + half }
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
        assert_eq!(Number::exact(6.0).over(Number::exact(2.0)), Some(Number::exact(3.0)));
        assert_eq!(Number::exact(1.0).over(Number::exact(0.0)), None);
        let open = Number::exact(6.0).over(Number { value: 2.0, low: -1.0, high: 4.0 }).unwrap();
        assert_eq!((open.value, open.low, open.high), (3.0, 1.5, f64::INFINITY));
        let none = Number::exact(0.0).over(Number { value: 2.0, low: 1.0, high: 4.0 });
        assert_eq!(none, Some(Number::exact(0.0)));
    }

    #[test]
    fn one_failure_decides_a_pair() {
        use Verdict::*;
        assert_eq!(Holds.and(NotDecided), NotDecided);
        assert_eq!(NotDecided.and(Fails), Fails);
        assert_eq!(Holds.and(Holds), Holds);
    }
}
