//! Answers and sentences about all drives of a report, and claims of data sheets judged.

pub mod answer;
pub mod claims;
pub mod figure_titles;
pub mod many_drives;
pub mod prices;
pub mod run_headline;
pub(crate) mod run_line;
pub mod statements;
