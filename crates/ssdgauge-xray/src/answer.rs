//! Answers: a value with its interval, or the reason why there is none.

use crate::structure::Structure;
use serde::Serialize;

/// A value with the interval that its data supports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Value {
    /// The estimate, in the unit of its structure.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Value {
    /// Returns a value that is known exactly.
    pub fn exact(value: f64) -> Value {
        Value { value, low: value, high: value }
    }

    /// Returns `value` with the interval of `half`, and at least `share` of the value, to both sides.
    pub fn within(value: f64, half: f64, share: f64) -> Value {
        let half = half.max(value.abs() * share);
        Value { value, low: value - half, high: value + half }
    }

    /// Returns whether the interval contains `truth`.
    pub fn contains(self, truth: f64) -> bool {
        (self.low..=self.high).contains(&truth)
    }

    /// Returns the width of the interval as a share of the value; 0 for a value of 0.
    pub fn width(self) -> f64 {
        if self.value == 0.0 { 0.0 } else { (self.high - self.low) / self.value.abs() }
    }
}

/// The reason why a structure is not identifiable, as a clause with its numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Refusal(pub String);

/// A value, or the reason why there is none.
pub type Identified = Result<Value, Refusal>;

/// Returns the refusal for `reason`.
pub(crate) fn refuse<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal(reason.into()))
}

/// The answer for one structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The structure.
    pub structure: Structure,
    /// Its value, or why it is not identifiable.
    pub outcome: Identified,
}
