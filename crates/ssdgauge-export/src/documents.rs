//! What is printed as JSON, as types: each field is a key, and its comment says what the key means.

pub(super) mod bands;
pub(super) mod comparison;
pub(super) mod parts;
pub(super) mod report;
#[cfg(test)]
mod schema_tests;
pub(super) mod stated;
pub(super) mod step;
pub(super) mod test;

use serde::Serialize;
use serde_json::Value;

/// Returns `document` as JSON.
pub(super) fn value_of(document: &impl Serialize) -> Value {
    serde_json::to_value(document).expect("keys are strings")
}
