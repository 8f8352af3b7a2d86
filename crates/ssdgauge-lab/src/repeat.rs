//! How often a run carries out its tests: a number, or until the intervals between repetitions are
//! narrow.

use ssdgauge_core::RepeatUntil;
use std::str::FromStr;
use thiserror::Error;

/// The maximum number of repetitions: 100 give a 95 % interval of ±0.2 standard deviations, and bound the size of
/// the plan.
pub const MAX_REPETITIONS: u32 = 100;

/// The narrowest half-width, a share of the mean. Chosen: far below what a drive reaches, and above the
/// rounding of the values.
const LEAST_HALF_WIDTH: f64 = 1e-8;

/// How often every test of a run is carried out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Repeat {
    /// This number of times.
    Times(u32),
    /// Until the 95 % interval of every number between its repetitions is narrow.
    Until(RepeatUntil),
}

/// Refusal of a number of repetitions.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RepeatError {
    /// The number is 0 or above the maximum of 100.
    #[error("a test cannot be repeated {0} times: use 1 to {MAX_REPETITIONS}")]
    Times(u32),
    /// The half-width, in percent of the mean, is not between 0 and 100.
    #[error("a half-width of {0} %: use one above 0 and below 100 %, such as until:2%")]
    HalfWidth(f64),
    /// The half-width is below 0.000001 %.
    #[error("a half-width below 0.000001 %: use one from there to below 100 %, such as until:2%")]
    TooNarrow,
    /// The maximum number of repetitions is less than the minimum number, or above 100.
    #[error(
        "at most {0} repetitions: use {least} to {MAX_REPETITIONS}, such as until:2%,at-most=40",
        least = RepeatUntil::AT_LEAST
    )]
    AtMost(u32),
    /// The text is neither of both.
    #[error("use a number such as 3, or a half-width such as until:2% or until:2%,at-most=40")]
    Text,
}

impl Repeat {
    /// Returns the rule for intervals of `half_width`, a share of the mean, with the default limit.
    pub fn until(half_width: f64) -> Repeat {
        Repeat::Until(RepeatUntil {
            half_width,
            at_least: RepeatUntil::AT_LEAST,
            at_most: RepeatUntil::AT_MOST,
        })
    }

    /// Returns the maximum number of repetitions of each test.
    pub fn at_most(self) -> u32 {
        match self {
            Repeat::Times(times) => times,
            Repeat::Until(until) => until.at_most,
        }
    }

    /// Returns the rule that ends the run, where there is one.
    pub fn rule(self) -> Option<RepeatUntil> {
        match self {
            Repeat::Times(_) => None,
            Repeat::Until(until) => Some(until),
        }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    ///
    /// [`RepeatError::Times`], [`RepeatError::HalfWidth`] or [`RepeatError::AtMost`].
    pub fn check(self) -> Result<Repeat, RepeatError> {
        match self {
            Repeat::Times(times) if !(1..=MAX_REPETITIONS).contains(&times) => {
                Err(RepeatError::Times(times))
            }
            // NaN is in no range.
            Repeat::Until(until) if !(until.half_width > 0.0 && until.half_width < 1.0) => {
                Err(RepeatError::HalfWidth(until.half_width_percent()))
            }
            Repeat::Until(until) if until.half_width < LEAST_HALF_WIDTH => {
                Err(RepeatError::TooNarrow)
            }
            Repeat::Until(until)
                if !(until.at_least..=MAX_REPETITIONS).contains(&until.at_most) =>
            {
                Err(RepeatError::AtMost(until.at_most))
            }
            Repeat::Times(_) | Repeat::Until(_) => Ok(self),
        }
    }
}

impl FromStr for Repeat {
    type Err = RepeatError;

    /// Reads `3`, `until:2%` or `until:2%,at-most=40`. A blank may stand for the colon.
    fn from_str(text: &str) -> Result<Repeat, RepeatError> {
        let Some(rule) = text.trim().strip_prefix("until") else {
            let times = text.trim().parse().map_err(|_| RepeatError::Text)?;
            return Repeat::Times(times).check();
        };
        let rule = rule.strip_prefix([':', ' ']).ok_or(RepeatError::Text)?;
        let (width, limit) = match rule.split_once(',') {
            Some((width, limit)) => (width, Some(limit)),
            None => (rule, None),
        };
        let percent = width.trim().strip_suffix('%').ok_or(RepeatError::Text)?.trim_end();
        let percent: f64 = percent.parse().map_err(|_| RepeatError::Text)?;
        let Repeat::Until(mut until) = Repeat::until(percent / 100.0) else {
            return Err(RepeatError::Text);
        };
        if let Some(limit) = limit {
            let number = limit.trim().strip_prefix("at-most=").ok_or(RepeatError::Text)?;
            until.at_most = number.trim().parse().map_err(|_| RepeatError::Text)?;
        }
        Repeat::Until(until).check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_width_are_read() {
        assert_eq!("3".parse(), Ok(Repeat::Times(3)));
        for text in ["until:2%", "until 2%", " until: 2 % ", "until:2%,at-most=20"] {
            assert_eq!(text.parse(), Ok(Repeat::until(0.02)), "{text}");
        }
        let limited: Repeat = "until:0.5%, at-most=40".parse().unwrap();
        assert_eq!(
            (limited.at_most(), limited.rule().map(|rule| rule.half_width)),
            (40, Some(0.005))
        );
    }

    #[test]
    fn nonsense_is_refused_with_the_valid_form() {
        let cases = [
            ("0", "1 to 100"),
            ("101", "1 to 100"),
            ("-1", "until:2%"),
            ("often", "until:2%"),
            ("until", "until:2%"),
            ("until:", "until:2%"),
            ("until:2", "until:2%"),
            ("until:NaN%", "above 0 and below 100 %"),
            ("until:inf%", "above 0 and below 100 %"),
            ("until:0%", "above 0 and below 100 %"),
            ("until:-2%", "of -2 %"),
            ("until:100%", "below 100 %"),
            ("until:2%,20", "at-most=40"),
            ("until:2%,at-most=4", "use 5 to 100"),
            ("until:2%,at-most=101", "use 5 to 100"),
            ("until:2%,at-most=", "until:2%,at-most=40"),
        ];
        for (text, expected) in cases {
            let error = text.parse::<Repeat>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
