//! The integration tests of this crate, in one program.

mod answer;
mod answer_facts;
mod bands;
mod bench;
mod browser;
mod claims;
mod commits;
mod engine_report;
mod exports;
mod files;
mod fill_levels;
mod intervals;
mod invalid_runs;
mod leads;
mod levels;
mod many_drives;
mod notes;
mod offered_load;
mod one_drive;
mod outcomes;
mod page;
mod page_review;
mod published_texts;
mod repetitions;
mod statements;
mod strings;
#[path = "../../../tests/recipes.rs"]
mod support;
#[path = "../../../tests/tiers.rs"]
mod tiers;
mod wear;
