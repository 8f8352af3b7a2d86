//! Answers and sentences about all drives of a report, and claims of data sheets judged.

pub mod answer;
pub mod close_call;
pub mod copies;
pub mod drive_change;
pub mod figure_titles;
pub mod many_drives;
pub mod one_drive;
mod one_drive_titles;
pub mod prices;
pub mod run_headline;
pub(crate) mod run_line;
pub mod stated;
pub mod statements;
pub mod suited;
pub mod tile;
mod work_headline;
