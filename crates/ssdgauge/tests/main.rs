//! The program as its users call it, and the rules that its source keeps.

mod commands;
mod devices;
mod formats;
mod machine;
mod no_answer;
mod safety;
#[path = "../../../tests/schema.rs"]
mod schema;
mod signals;
mod structure;
mod support;
#[path = "../../../tests/tiers.rs"]
mod tiers;
