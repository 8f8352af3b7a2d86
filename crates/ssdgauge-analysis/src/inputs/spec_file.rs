//! A spec file as it is written: what a maker states of a drive.
//!
//! The claims are judged by runs ([`crate::inputs::specification`]), the stated figures by an X-ray
//! ([`crate::inputs::stated_figures`]).

use crate::inputs::input_error::InputError;
use serde::Deserialize;
use ssdgauge_core::Access;
use std::collections::BTreeMap;
use toml::Spanned;

/// The state of a drive that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Purged, and filled in order at most.
    Fresh,
    /// After writes that went on until nothing changed any more.
    Steady,
}

/// The part of a sequential write that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheSide {
    /// Before the end of the SLC cache.
    Inside,
    /// After it.
    Beyond,
}

impl State {
    /// Returns the word used in spec files and pages.
    pub(crate) fn word(self) -> &'static str {
        match self {
            State::Fresh => "fresh",
            State::Steady => "steady",
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) drive: Option<Drive>,
    #[serde(default)]
    pub(crate) claim: Vec<Spanned<Row>>,
    #[serde(default)]
    pub(crate) stated: BTreeMap<Spanned<String>, Spanned<Entry>>,
}

impl File {
    /// Reads the `text` of `file`.
    pub(crate) fn parse(file: &str, text: &str) -> Result<File, InputError> {
        toml::from_str(text).map_err(|fault| {
            let message = match fault.message().trim() {
                // The message of serde names types of this program.
                message if message.contains("untagged enum") => "a value that is not a number",
                message => message,
            };
            let hint = "docs/reference/notes-and-specs.md shows a whole spec file";
            InputError::new(file, text, fault.span().unwrap_or(0..0), message.to_owned(), hint)
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drive {
    pub(crate) model: Spanned<String>,
    pub(crate) source: Spanned<String>,
    pub(crate) tolerance_percent: Option<Spanned<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) metric: Spanned<String>,
    pub(crate) value: Spanned<f64>,
    pub(crate) access: Access,
    pub(crate) block_size: Spanned<String>,
    pub(crate) read_percent: Spanned<u8>,
    pub(crate) queue_depth: Option<Spanned<u32>>,
    pub(crate) state: Option<State>,
    pub(crate) cache: Option<Spanned<CacheSide>>,
    pub(crate) source: Option<String>,
}

/// A stated figure.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Entry {
    Exactly(Number),
    Bound(Bound),
}

/// A stated bound.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) enum Bound {
    #[serde(rename = "at_least")]
    AtLeast(Number),
    #[serde(rename = "at_most")]
    AtMost(Number),
}

/// A number in the unit of its structure, bytes with a unit of their own, or yes and no.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Number {
    Plain(f64),
    YesNo(bool),
    Size(String),
}
