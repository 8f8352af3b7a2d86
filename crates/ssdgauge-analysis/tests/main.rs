//! The integration tests of this crate, in one program.

mod reading;
#[path = "../../../tests/recipes.rs"]
mod support;
