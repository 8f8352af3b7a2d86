//! Errors of suite files, with file, line and remedy.

use std::ops::Range;
use thiserror::Error;

/// Error of reading a suite. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.with_place())]
pub struct SuiteError {
    /// The path as given; empty for a built-in suite that does not exist.
    pub file: String,
    /// The text of the file; empty where no file was read.
    pub text: String,
    /// The byte range of the text that is wrong.
    pub span: Option<Range<usize>>,
    /// The error.
    pub message: String,
    /// The remedy.
    pub hint: String,
}

impl SuiteError {
    /// Returns the error for a suite id that no built-in suite has; `known` lists their ids.
    pub(crate) fn unknown_suite(id: &str, known: &str) -> SuiteError {
        SuiteError {
            file: String::new(),
            text: String::new(),
            span: None,
            message: format!("unknown suite '{id}'"),
            hint: format!("the built-in suites are: {known}; name a suite file by its path"),
        }
    }

    /// Returns an error at the bytes `span` of `text`.
    pub(crate) fn at(
        file: &str,
        text: &str,
        span: Option<Range<usize>>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> SuiteError {
        SuiteError {
            file: file.into(),
            text: text.into(),
            span,
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// Returns line and column of the error, both from 1; `None` without a place in the text.
    ///
    /// The column counts characters, not bytes, as editors do.
    pub fn line_and_column(&self) -> Option<(usize, usize)> {
        let before = self.text.get(..self.span.as_ref()?.start)?;
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Some((line, column))
    }

    /// Returns file and line, such as `own.toml:6`.
    pub(crate) fn line_in_file(&self) -> String {
        match self.line_and_column() {
            Some((line, _)) => format!("{}:{line}", self.file),
            None => self.file.clone(),
        }
    }

    /// Returns the message after file, line and column, such as `own.toml:6:1: …`.
    fn with_place(&self) -> String {
        let message = &self.message;
        match (self.file.as_str(), self.line_and_column()) {
            ("", _) => message.clone(),
            (file, None) => format!("{file}: {message}"),
            (file, Some((line, column))) => format!("{file}:{line}:{column}: {message}"),
        }
    }
}
