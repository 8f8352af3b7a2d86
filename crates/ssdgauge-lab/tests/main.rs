//! The integration tests of this crate, in one program.

mod conductor;
mod suites;
#[path = "../../../tests/tiers.rs"]
mod tiers;
mod xray;
