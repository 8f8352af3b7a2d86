//! Errors of suite files: they name the file, the line and the remedy.

use std::ops::Range;
use thiserror::Error;

/// Why a suite cannot be used. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.place())]
pub struct SuiteError {
    /// The file, as it was named.
    pub file: String,
    /// Its text; empty where there is none.
    pub text: String,
    /// The bytes of the text that are wrong.
    pub span: Option<Range<usize>>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub hint: String,
}

impl SuiteError {
    pub(crate) fn unknown(id: &str, known: &str) -> SuiteError {
        SuiteError {
            file: String::new(),
            text: String::new(),
            span: None,
            message: format!("there is no suite '{id}'"),
            hint: format!("the suites are: {known}; a suite of your own is named by its path"),
        }
    }

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

    /// Returns the line and the column of the fault, both from 1.
    pub fn line_and_column(&self) -> Option<(usize, usize)> {
        let before = self.text.get(..self.span.as_ref()?.start)?;
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Some((line, column))
    }

    /// Returns the file and the line, as `own.toml:6`.
    pub(crate) fn line_in_file(&self) -> String {
        match self.line_and_column() {
            Some((line, _)) => format!("{}:{line}", self.file),
            None => self.file.clone(),
        }
    }

    fn place(&self) -> String {
        let message = &self.message;
        match (self.file.as_str(), self.line_and_column()) {
            ("", _) => message.clone(),
            (file, None) => format!("{file}: {message}"),
            (file, Some((line, column))) => format!("{file}:{line}:{column}: {message}"),
        }
    }
}
