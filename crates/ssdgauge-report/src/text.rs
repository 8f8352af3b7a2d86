//! Numbers, labels and foreign strings as text for people.
//!
//! The other modules build on it, and it imports none of them.

pub(crate) mod case;
pub(crate) mod fitted;
pub(crate) mod interval;
pub(crate) mod labels;
pub(crate) mod number;
pub(crate) mod sanitize;
pub(crate) mod short_names;
