//! The integration tests of this crate, in one program.

mod conductor;
#[path = "../../../tests/schema.rs"]
mod schema;
mod suites;
#[path = "../../../tests/tiers.rs"]
mod tiers;
mod xray;
