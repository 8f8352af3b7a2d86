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

    /// Returns how many times `other` this number is. The interval is that of the most distant ends,
    /// which is wider than the one of a ratio of independent numbers, and has no upper end where the
    /// interval of `other` contains zero. `None` where `other` is not positive.
    pub fn over(self, other: Number) -> Option<Number> {
        (other.value > 0.0).then(|| Number {
            value: self.value / other.value,
            low: self.low / other.high,
            high: if other.low > 0.0 { self.high / other.low } else { f64::INFINITY },
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
    fn a_ratio_has_the_most_distant_ends_and_none_over_zero() {
        let ratio = Number { value: 6.0, low: 5.0, high: 7.0 }
            .over(Number { value: 2.0, low: 1.0, high: 4.0 })
            .unwrap();
        assert_eq!((ratio.value, ratio.low, ratio.high), (3.0, 1.25, 7.0));
        assert_eq!(Number::exact(1.0).over(Number::exact(0.0)), None);
        let open = Number::exact(6.0).over(Number { value: 2.0, low: -1.0, high: 4.0 }).unwrap();
        assert_eq!((open.value, open.low, open.high), (3.0, 1.5, f64::INFINITY));
    }

    #[test]
    fn one_failure_decides_a_pair() {
        use Verdict::*;
        assert_eq!(Holds.and(NotDecided), NotDecided);
        assert_eq!(NotDecided.and(Fails), Fails);
        assert_eq!(Holds.and(Holds), Holds);
    }
}
