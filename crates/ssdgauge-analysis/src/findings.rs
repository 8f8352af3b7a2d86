//! Findings in words, and what they and the end of a run mean for trust in it.

mod doubt;
pub mod doubt_words;
pub mod drive_faults;
pub mod finding_lines;
pub mod finding_words;
pub mod run_outcome;
pub mod trust;
