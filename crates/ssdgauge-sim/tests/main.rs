//! The integration tests of this crate, in one program.

mod malformed_profiles;
mod model;
mod profiles;
#[path = "../../../tests/tiers.rs"]
mod tiers;
