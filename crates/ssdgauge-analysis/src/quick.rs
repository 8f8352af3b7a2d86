//! The card of the suite `quick`, and the drives that it is compared with.

pub mod cohort;
pub mod quick_answer;
pub mod quick_look;
