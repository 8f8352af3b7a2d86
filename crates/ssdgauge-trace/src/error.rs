//! Why a trace cannot be read, with the place and the remedy.

use std::io;

/// Why a trace cannot be read. The records before the place were valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default())]
pub struct TraceError {
    /// The line or the record, such as `line 7`.
    pub place: Option<String>,
    /// What is wrong.
    pub what: String,
    /// The remedy.
    pub hint: String,
}

impl TraceError {
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> TraceError {
        TraceError { place: None, what: what.into(), hint: hint.into() }
    }

    pub(crate) fn at_line(number: u64, what: impl Into<String>, hint: &str) -> TraceError {
        let place = Some(format!("line {number}"));
        TraceError { place, what: what.into(), hint: hint.into() }
    }

    pub(crate) fn at_record(number: u64, what: impl Into<String>, hint: &str) -> TraceError {
        let place = Some(format!("record {number}"));
        TraceError { place, what: what.into(), hint: hint.into() }
    }

    pub(crate) fn from_io(error: &io::Error) -> TraceError {
        TraceError::new(format!("it cannot be read: {error}"), "check the file and its drive")
    }
}
