//! The drives of a report, and what is stated for each of them.

pub mod caches;
pub mod comparability;
pub mod drive_class;
pub mod drive_slots;
pub mod drive_summary;
mod fill_state;
pub mod fill_states;
pub mod model_cohort;
pub mod peers;
pub mod report_drives;
pub mod run_facts;
pub mod run_lines;
pub mod sections;
