//! Errors in the text files of a report, with the place and the remedy.

use crate::text::sanitize;
use std::ops::Range;
use thiserror::Error;

/// An error in a spec file or in the notes of an editor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}: {message}")]
pub struct InputError {
    /// The file, as it was named.
    pub file: String,
    /// The line of the fault, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// The bytes of the text that are wrong.
    pub span: Range<usize>,
    /// The fault.
    pub message: String,
    /// The remedy.
    pub hint: String,
}

impl InputError {
    /// Returns the error at the bytes `span` of the `text` of `file`.
    pub(crate) fn new(
        file: &str,
        text: &str,
        span: Range<usize>,
        message: String,
        hint: &str,
    ) -> InputError {
        let before = text.get(..span.start).unwrap_or(text);
        InputError {
            file: sanitize::prose(file),
            line: before.matches('\n').count() + 1,
            text: text.to_owned(),
            span,
            message,
            hint: hint.to_owned(),
        }
    }
}
