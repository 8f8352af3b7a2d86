//! Stated figures beside a card: a file of the user, such as the figures of a data sheet.

use crate::failure::{Failure, FailureKind};
use crate::reader::{self, Input};
use crate::suggestion;
use crate::text_file::read_text_file;
use serde::Deserialize;
use serde_json::json;
use ssdgauge_core::Bytes;
use ssdgauge_xray::{Agreement, Answer, Figure, Stated, Structure, Unit, judge_stated, shown};
use std::collections::BTreeMap;
use std::path::Path;

/// The width of the column of names.
const NAME: usize = 20;
/// The width of the column of stated figures.
const FIGURE: usize = 22;

/// The file: structures with what is stated of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecFile {
    stated: BTreeMap<String, Entry>,
}

/// A stated figure.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Entry {
    Exactly(Number),
    Bound(Bound),
}

/// A stated bound.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
enum Bound {
    #[serde(rename = "at_least")]
    AtLeast(Number),
    #[serde(rename = "at_most")]
    AtMost(Number),
}

/// A number in the unit of its structure, bytes with a unit of their own, or yes and no.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Number {
    Plain(f64),
    YesNo(bool),
    Size(String),
}

/// The form of the file.
const HINT: &str = "each line of the table [stated] has a structure: cache = \"42 GB\", or \
                    native-rate = { at_least = 1000 } in MB/s";

/// Reads the stated figures in the file at `path`.
///
/// # Errors
/// The file cannot be read, is no TOML, or states a figure that no structure has.
pub(super) fn read(path: &Path) -> Result<Vec<Stated>, Failure> {
    let name = path.display().to_string();
    let text =
        read_text_file(&name).map_err(|text| Failure::new(FailureKind::Usage, text, HINT))?;
    parse(&name, &text)
}

/// Returns the stated figures in the file `name` with the contents `text`.
///
/// # Errors
/// It is no TOML, or states a figure that no structure has.
pub(crate) fn parse(name: &str, text: &str) -> Result<Vec<Stated>, Failure> {
    let here = || parse_here(name, text);
    reader::ask(here, &["stated"], &[name.into()], Input::Text(text))
}

fn parse_here(name: &str, text: &str) -> Result<Vec<Stated>, Failure> {
    let fail = |text: String| Failure::new(FailureKind::Usage, text, HINT);
    let file: SpecFile = toml::from_str(text).map_err(|error| fail(defect(name, text, &error)))?;
    let stated = |(key, entry): (&String, &Entry)| {
        let structure = Structure::from_key(key).ok_or_else(|| {
            let known = Structure::ALL.map(Structure::key);
            match suggestion::nearest(key, known) {
                Some(meant) => {
                    fail(format!("{name}: there is no structure '{key}'; did you mean '{meant}'?"))
                }
                None => fail(format!(
                    "{name}: there is no structure '{key}'; known: {}",
                    known.join(", ")
                )),
            }
        })?;
        let figure = entry.figure(structure.unit());
        let figure = figure.ok_or_else(|| {
            let unit = match structure.unit() {
                Unit::Bytes => "bytes, in MB, GB or TB, such as \"42 GB\"",
                Unit::YesNo => "yes-no: use true or false",
                Unit::Count => "count, a whole number",
                unit => unit.key(),
            };
            fail(format!("{name}: '{key}' is no figure in {unit}"))
        })?;
        Ok(Stated { structure, figure })
    };
    if file.stated.is_empty() {
        return Err(fail(format!("{name}: the table [stated] is empty")));
    }
    let mut all: Vec<Stated> = file.stated.iter().map(stated).collect::<Result<_, Failure>>()?;
    all.sort_by_key(|stated| stated.structure);
    Ok(all)
}

/// Returns the place and the defect of `text`, the contents of the file `name`.
fn defect(name: &str, text: &str, error: &toml::de::Error) -> String {
    let what = match error.message() {
        // The message of serde names types of this program.
        message if message.contains("untagged enum") => "a value that is no figure",
        message => message,
    };
    let before = error.span().and_then(|span| text.get(..span.start));
    match before {
        Some(before) => format!("{name}, line {}: {what}", before.matches('\n').count() + 1),
        None => format!("{name}: {what}"),
    }
}

impl Entry {
    /// Returns the figure in `unit`; `None` where it has another one.
    fn figure(&self, unit: Unit) -> Option<Figure> {
        let figure = match self {
            Entry::Exactly(number) => Figure::Exactly(number.in_unit(unit)?),
            // Yes and no have no order.
            Entry::Bound(_) if unit == Unit::YesNo => return None,
            Entry::Bound(Bound::AtLeast(number)) => Figure::AtLeast(number.in_unit(unit)?),
            Entry::Bound(Bound::AtMost(number)) => Figure::AtMost(number.in_unit(unit)?),
        };
        Some(figure)
    }
}

impl Number {
    fn in_unit(&self, unit: Unit) -> Option<f64> {
        let is_yes_no = unit == Unit::YesNo;
        match self {
            // 42 is not 42 bytes: a size has its unit.
            Number::Plain(_) if is_yes_no || unit == Unit::Bytes => None,
            Number::Plain(value) => Some(*value).filter(|value| unit.has(*value)),
            Number::Size(text) => {
                let size: Bytes = text.replace(' ', "").parse().ok()?;
                (unit == Unit::Bytes).then_some(size.0 as f64)
            }
            Number::YesNo(yes) => is_yes_no.then_some(f64::from(u8::from(*yes))),
        }
    }
}

fn word(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Agrees => "agrees",
        Agreement::Contradicts => "contradicted",
        Agreement::NotDecided => "not decided",
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

/// Returns the stated figures with what `answers` say about them, as lines behind a card.
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

/// Returns the stated figures with what `answers` say about them as JSON.
pub(super) fn json(stated: &[Stated], answers: &[Answer]) -> serde_json::Value {
    let one = |stated: &Stated| {
        let (bound, value) = match stated.figure {
            Figure::Exactly(value) => ("exactly", value),
            Figure::AtLeast(value) => ("at-least", value),
            Figure::AtMost(value) => ("at-most", value),
        };
        json!({
            "structure": stated.structure.key(),
            "unit": stated.structure.unit().key(),
            "bound": bound,
            "value": value,
            "judgement": word(judge_stated(*stated, answers)).replace(' ', "-"),
        })
    };
    stated.iter().map(one).collect()
}

/// Fails where a stated figure is contradicted.
pub(super) fn conclude(stated: &[Stated], answers: &[Answer]) -> Result<(), Failure> {
    let is_wrong = |one: &&Stated| judge_stated(**one, answers) == Agreement::Contradicts;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_in_the_unit_of_their_structure() {
        // In this process: the program of a test has no command that reads.
        let read_text = |text: &str| parse_here("spec.toml", text).map_err(|failure| failure.error);
        let text = "[stated]\ncache = \"42 GB\"\nunits = 16\nsuspend = true\n\
                    native-rate = { at_least = 650 }\nlink = { at_most = 3500.0 }\n";
        let stated = |structure, figure| Stated { structure, figure };
        let expected = [
            stated(Structure::Link, Figure::AtMost(3_500.0)),
            stated(Structure::Units, Figure::Exactly(16.0)),
            stated(Structure::Suspend, Figure::Exactly(1.0)),
            stated(Structure::Cache, Figure::Exactly(42e9)),
            stated(Structure::NativeRate, Figure::AtLeast(650.0)),
        ];
        assert_eq!(read_text(text).unwrap(), expected);
        for (text, word) in [
            ("[stated]\ncash = 1\n", "cache"),
            ("[stated]\nlink = \"3 GB\"\n", "MB/s"),
            ("[stated]\nsuspend = 1\n", "yes-no"),
            ("[stated]\nlink = nan\n", "MB/s"),
            ("[stated]\ncache = 42\n", "such as \"42 GB\""),
            ("[stated]\nlink = { about = 3 }\n", "a value that is no figure"),
            ("[stated]\nlink = = 3\n", "spec.toml, line 2: "),
            ("stated = 3\n", "spec.toml"),
        ] {
            let error = read_text(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
