//! Stated figures compared with a card: a file of the user, such as the figures of a data sheet.

use crate::failure::{Failure, FailureKind};
use crate::reader::{self, Input};
use crate::text_file::read_text_file;
use serde::Serialize;
use ssdgauge_core::Verdict;
use ssdgauge_xray::{Answer, Figure, Stated, judge_stated, shown};
use std::path::Path;

/// The width of the column of names.
const NAME: usize = 20;
/// The width of the column of stated figures.
const FIGURE: usize = 22;

/// The form of the file.
const HINT: &str = "docs/reference/xray.md shows stated figures in a spec file";

/// Reads the stated figures in the file at `path`.
///
/// # Errors
/// The file cannot be read, or is not a spec file with stated figures.
pub(super) fn read(path: &Path) -> Result<Vec<Stated>, Failure> {
    let name = path.display().to_string();
    let text =
        read_text_file(&name).map_err(|text| Failure::new(FailureKind::Usage, text, HINT))?;
    parse(&name, &text)
}

/// Returns the stated figures in the file `name` with the contents `text`.
///
/// # Errors
/// It is not a spec file with stated figures.
pub(crate) fn parse(name: &str, text: &str) -> Result<Vec<Stated>, Failure> {
    let here = || Ok(ssdgauge_analysis::stated_figures(name, text)?);
    reader::ask(here, &["stated"], &[name.into()], Input::Text(text))
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "agrees",
        Verdict::Fails => "contradicted",
        Verdict::NotDecided => "not decided",
    }
}

fn figure_text(stated: &Stated) -> String {
    let unit = stated.structure.unit();
    match stated.figure {
        Figure::Exactly(value) => shown(value, unit),
        Figure::AtLeast(value) => format!("at least {}", shown(value, unit)),
        Figure::AtMost(value) => format!("at most {}", shown(value, unit)),
    }
}

/// Returns the stated figures with what `answers` say about them, as lines after a card.
pub(super) fn lines(stated: &[Stated], answers: &[Answer]) -> String {
    if stated.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n\n  stated figures");
    for one in stated {
        text.push_str(&format!(
            "\n  {:<NAME$}{:<FIGURE$}{}",
            one.structure.title(),
            figure_text(one),
            word(judge_stated(*one, answers))
        ));
    }
    text
}

/// A stated number, and whether what was found agrees with it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct JudgedBound {
    /// Its structure.
    structure: &'static str,
    /// The unit of the structure.
    unit: &'static str,
    /// `exactly`, `at-least` or `at-most`.
    bound: &'static str,
    /// The stated number.
    value: f64,
    /// `agrees`, `contradicted` or `not-decided`.
    judgement: String,
}

/// Returns the stated figures with what `answers` say about them as JSON.
pub(super) fn json(stated: &[Stated], answers: &[Answer]) -> serde_json::Value {
    let one = |stated: &Stated| {
        let (bound, value) = match stated.figure {
            Figure::Exactly(value) => ("exactly", value),
            Figure::AtLeast(value) => ("at-least", value),
            Figure::AtMost(value) => ("at-most", value),
        };
        JudgedBound {
            structure: stated.structure.key(),
            unit: stated.structure.unit().key(),
            bound,
            value,
            judgement: word(judge_stated(*stated, answers)).replace(' ', "-"),
        }
    };
    serde_json::to_value(stated.iter().map(one).collect::<Vec<_>>()).expect("keys are strings")
}

/// Fails where a stated figure is contradicted.
pub(super) fn conclude(stated: &[Stated], answers: &[Answer]) -> Result<(), Failure> {
    let is_wrong = |one: &&Stated| judge_stated(**one, answers) == Verdict::Fails;
    let wrong: Vec<&str> =
        stated.iter().filter(is_wrong).map(|one| one.structure.title()).collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(
            FailureKind::Criterion,
            format!("stated figures are contradicted: {}", wrong.join("; ")),
            "check the conditions of the stated figures and the findings of the card",
        )),
    }
}
