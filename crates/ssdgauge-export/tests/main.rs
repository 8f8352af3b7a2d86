//! The integration tests of this crate, in one program.

mod compare;
mod disturbed;
mod history;
mod json;
#[path = "../../../tests/schema.rs"]
mod schema;
#[path = "../../../tests/recipes.rs"]
mod support;
mod texts;
