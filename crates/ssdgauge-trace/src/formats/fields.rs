//! The fields of a line of text.

use crate::record::Kind;

/// A request or a completion in the fields of a line, before it is checked.
pub(crate) struct Fields<'a> {
    /// Whether the line reports a completion.
    pub(crate) completes: bool,
    /// Nanoseconds.
    pub(crate) at: u64,
    /// What the request does.
    pub(crate) kind: Kind,
    /// The disk, volume or file.
    pub(crate) stream: &'a str,
    /// Bytes.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) length: u64,
    /// Nanoseconds.
    pub(crate) response: Option<u64>,
}
