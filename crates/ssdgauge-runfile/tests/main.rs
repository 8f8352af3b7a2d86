//! The integration tests of this crate, in one program.

mod format;
#[path = "../../../tests/tiers.rs"]
mod tiers;
