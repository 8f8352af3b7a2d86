//! Numbers, labels and foreign strings as text for people.
//!
//! Nothing here knows a result: the other parts of the crate stand on it.

pub(crate) mod labels;
pub(crate) mod number;
pub(crate) mod sanitize;
