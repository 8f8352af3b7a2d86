//! Numbers, labels and foreign strings as text for people.
//!
//! The other modules build on it, and it imports none of them.

pub mod case;
pub mod fitted;
pub mod interval;
pub mod labels;
pub mod number;
pub mod sanitize;
pub mod short_names;
