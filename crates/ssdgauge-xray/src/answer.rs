//! Answers: a value with its interval, or the reason why there is none.

use crate::structure::Structure;
use serde::Serialize;

/// A value with the interval that its data supports, in the unit of its structure.
pub use ssdgauge_core::Estimate as Value;

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
    /// The lowest and the highest temperature of the drive meanwhile, in degrees Celsius, where it is read.
    pub celsius: Option<[f64; 2]>,
}
