//! Repetitions until every interval between them is narrow.

use crate::repetition::{self, Stopping};
use serde::{Deserialize, Serialize};

/// Repetitions of all tests until the 95 % interval between them is narrow for every number.
///
/// A plan with this rule lists [`RepeatUntil::at_most`] repetitions of each test. After each turn, in
/// which every test is carried out once, the run ends where the rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepeatUntil {
    /// The largest half-width of the interval, as a share of the mean.
    pub half_width: f64,
    /// The minimum number of repetitions.
    pub at_least: u32,
    /// The maximum number of repetitions.
    pub at_most: u32,
}

impl RepeatUntil {
    /// The minimum number of repetitions. Chosen by simulation: from three on at least 93.7 % of the intervals of
    /// normal repetitions contain the mean, from five on 95.0 % (`docs/explanation/intervals.md`).
    pub const AT_LEAST: u32 = 5;

    /// The maximum number of repetitions, where the user states none. Chosen: an interval of 20 repetitions is
    /// less than half as wide as one of six, and half of its width needs 70.
    pub const AT_MOST: u32 = 20;

    /// Returns the largest half-width in percent of the mean, rounded so that 0.07 is 7.
    pub fn half_width_percent(&self) -> f64 {
        (self.half_width * 1e8).round() / 1e6
    }

    /// Returns the half-width of the interval of a number with these `values`, one for each
    /// repetition, as a share of its mean; `None` for fewer than two.
    pub fn half_width_of(&self, values: &[f64]) -> Option<f64> {
        repetition::relative_half_width(values, Stopping::ByWidth)
    }

    /// Returns whether the interval of a number with these `values` is narrow.
    pub fn is_narrow(&self, values: &[f64]) -> bool {
        self.half_width_of(values).is_some_and(|half| half <= self.half_width)
    }

    /// Returns whether a run ends after `turns` turns, in which the numbers had these `values`.
    ///
    /// Without a number there is nothing to wait for: the run ends after the minimum number of repetitions.
    pub fn ends(&self, turns: u32, mut values: impl Iterator<Item = impl AsRef<[f64]>>) -> bool {
        turns >= self.at_most
            || turns >= self.at_least && values.all(|values| self.is_narrow(values.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: RepeatUntil = RepeatUntil { half_width: 0.02, at_least: 5, at_most: 20 };

    #[test]
    fn a_run_ends_where_every_interval_is_narrow_between_the_minimum_and_the_maximum_number_of_turns()
     {
        let (quiet, wide) = ([100.0, 101.0, 100.0, 99.0, 100.0], [100.0, 120.0, 80.0, 99.0, 101.0]);
        let check = |turns, values: &[&[f64]], expected| {
            assert_eq!(RULE.ends(turns, values.iter()), expected, "{turns}: {values:?}");
        };
        check(4, &[&quiet], false);
        check(5, &[&quiet], true);
        check(5, &[&quiet, &wide], false);
        check(20, &[&quiet, &wide], true);
        check(4, &[], false);
        check(5, &[], true);
        check(5, &[&[0.0; 5]], true);
        check(5, &[&[30.0; 5], &[-1.0, 1.0, -1.0, 1.0, 0.0]], false);
    }
}
