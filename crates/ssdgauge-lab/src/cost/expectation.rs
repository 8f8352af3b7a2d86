//! An expected value with its upper bound.

use serde::{Deserialize, Serialize};

/// A number that is not known before a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectation<T> {
    /// The expected value.
    pub expected: T,
    /// The upper bound, for drives within the bounds of the assumed rates.
    pub at_most: T,
}

impl<T: Copy + std::ops::Add<Output = T>> Expectation<T> {
    /// Returns the sum of two numbers: the bounds add up as well.
    pub fn plus(self, other: Expectation<T>) -> Expectation<T> {
        Expectation {
            expected: self.expected + other.expected,
            at_most: self.at_most + other.at_most,
        }
    }
}

impl<T> Expectation<T> {
    /// Returns the same number in another unit or form.
    pub fn map<U>(self, form: impl Fn(T) -> U) -> Expectation<U> {
        Expectation { expected: form(self.expected), at_most: form(self.at_most) }
    }
}
