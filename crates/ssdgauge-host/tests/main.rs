//! The integration tests of this crate, in one program.

mod real_targets;
#[path = "../../../tests/tiers.rs"]
mod tiers;
