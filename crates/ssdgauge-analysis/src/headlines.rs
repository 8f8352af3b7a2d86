//! The headline of a test, of one repetition or of several, and what is missing.

#[cfg(test)]
pub(crate) mod constructed;
pub(crate) mod fill_speed;
pub(crate) mod headline;
pub mod headline_notes;
pub(crate) mod missing;
pub(crate) mod repetitions;
