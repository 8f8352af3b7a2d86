//! The open Bench, a site of many drives: what it keeps of each run, which numbers it compares, and by what verdicts.

pub mod board;
pub mod check;
pub mod health;
pub mod number;
mod price;
pub mod record;
pub mod submission;
pub mod verdict;
pub mod waits;
