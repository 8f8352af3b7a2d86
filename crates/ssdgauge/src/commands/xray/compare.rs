//! The cards of two drives side by side.

use super::read;
use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use serde::Serialize;
use ssdgauge_core::Bytes;
use ssdgauge_watch::terminal;
use ssdgauge_xray::{
    Card, CheckedCard, Compared, Identified, Likeness, Structure, compare, inside,
};
use ssdgauge_xray::{shown, shown_interval};
use std::path::{Path, PathBuf};

/// The width of the column of names.
const NAME: usize = 20;
/// The width of the column of a drive.
const DRIVE: usize = 32;
/// The maximum that is shown of the name of a drive.
const NAME_SHOWN: usize = 60;

/// Compares the two `cards`, prints what is the same, and writes the `page` that was asked for.
///
/// # Errors
/// A file is not a card; with [`FailureKind::Undecided`], the cards are not comparable, or nothing was identified in both; with [`FailureKind::Criterion`],
/// the drives are not the same inside.
pub(crate) fn execute(
    paths: &[PathBuf],
    page: Option<&Path>,
    as_json: bool,
) -> Result<(), Failure> {
    let inputs: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    if let Some(page) = page {
        output::check(page, Format::Page, &inputs)?;
    }
    let read: Vec<CheckedCard> =
        paths.iter().map(|path| read::card(path)).collect::<Result<_, _>>()?;
    let [one, two] = &read[..] else {
        return Err(Failure::new(FailureKind::Usage, "two cards are compared", "name two files"));
    };
    let compared = compare(&one.answers, &two.answers);
    let (cards, obstacles) = ([&one.card, &two.card], obstacles([&one.card, &two.card]));
    let sentence = sentence(&compared, &obstacles);
    match as_json {
        true => terminal::print_document(&document(cards, &compared, &sentence, &obstacles)),
        false => terminal::print_text(&to_text(cards, &compared, &sentence)),
    }
    if let Some(page) = page {
        let text = ssdgauge_page::xray_compared_page([one, two], &compared, &sentence);
        output::write(page, Format::Page, &inputs, text.as_bytes())?;
    }
    let fail = |kind, text: String, hint: &str| Err(Failure::new(kind, text, hint));
    let of = |likeness| inside(&compared, likeness).is_empty();
    match (of(Likeness::Different), of(Likeness::Same)) {
        _ if !obstacles.is_empty() => fail(
            FailureKind::Undecided,
            format!("the two cards are not comparable: {}", obstacles.join("; ")),
            &remedy(paths, cards),
        ),
        (false, _) => fail(
            FailureKind::Criterion,
            "the two drives are not the same inside".into(),
            "compare further drives of the model: firmware and age change structures as well",
        ),
        (true, true) => fail(
            FailureKind::Undecided,
            "no structure inside was identified in both drives".into(),
            "examine both without --gentle and --only, at the same temperature",
        ),
        (true, false) => Ok(()),
    }
}

/// Returns why `cards` cannot be compared like for like, one clause for each reason.
fn obstacles(cards: [&Card; 2]) -> Vec<String> {
    let [one, two] = cards;
    let mut obstacles = Vec::new();
    if one.is_model != two.is_model {
        obstacles.push("one drive is virtual (MODEL), the other is real".into());
    }
    let capacities = cards.map(|card| Bytes(card.capacity_bytes));
    if capacities[0] != capacities[1] {
        let [one, two] = match capacities.map(Bytes::about) {
            [one, two] if one == two => capacities.map(Bytes::about_and_exact),
            rounded => rounded,
        };
        obstacles.push(format!("the capacities differ ({one} and {two})"));
    }
    match cards.map(|card| card.is_complete) {
        [true, true] => {}
        [false, true] => obstacles.push("the X-ray of A is incomplete".into()),
        [true, false] => obstacles.push("the X-ray of B is incomplete".into()),
        [false, false] => obstacles.push("both X-rays are incomplete".into()),
    }
    obstacles
}

/// Returns what makes `cards`, which were read from `paths`, comparable.
fn remedy(paths: &[PathBuf], cards: [&Card; 2]) -> String {
    let incomplete = paths.iter().zip(cards).filter(|(_, card)| !card.is_complete);
    let resumed: Vec<String> = incomplete
        .map(|(path, _)| match path.extension().is_some_and(|extension| extension == "ssdg") {
            true => format!("`ssdgauge resume {}`", path.display()),
            false => format!("`ssdgauge resume` and the run file of {}", path.display()),
        })
        .collect();
    match resumed.is_empty() {
        true => "compare drives of one capacity, both real or both virtual".into(),
        false => format!("continue with {}, and compare again", resumed.join(" and ")),
    }
}

/// Returns what the comparison amounts to.
fn sentence(compared: &[Compared], obstacles: &[String]) -> String {
    if !obstacles.is_empty() {
        return format!("not comparable: {}", obstacles.join("; "));
    }
    let titles = |list: &[Structure]| {
        list.iter().map(|structure| structure.title()).collect::<Vec<_>>().join("; ")
    };
    let (different, same) =
        (inside(compared, Likeness::Different), inside(compared, Likeness::Same));
    let undecided = inside(compared, Likeness::NotDecided).len();
    match (different.is_empty(), same.is_empty()) {
        (false, _) => format!("not the same inside: {}", titles(&different)),
        (true, false) => format!(
            "no difference inside found: {} structures are the same, {undecided} are not decided",
            same.len()
        ),
        (true, true) => "not decided: no structure inside was identified in both".into(),
    }
}

fn word(likeness: Likeness) -> &'static str {
    match likeness {
        Likeness::Same => "same",
        Likeness::Different => "different",
        Likeness::NotDecided => "not decided",
    }
}

fn to_text(cards: [&Card; 2], compared: &[Compared], sentence: &str) -> String {
    let mut lines = vec![sentence.to_owned(), String::new()];
    for (mark, card) in ["A", "B"].iter().zip(cards) {
        let name: String = card.drive.chars().take(NAME_SHOWN).collect();
        let model = if card.is_model && !name.contains("MODEL") { " (MODEL)" } else { "" };
        lines.push(format!("  {mark}  {name}{model}"));
    }
    lines.push(String::new());
    for Compared { structure, outcomes, likeness, reason } in compared {
        let [one, two] = outcomes.each_ref().map(|outcome| words(*structure, outcome.as_ref()));
        let outside = match (reason, *likeness == Likeness::Different && !structure.is_inside()) {
            (Some(reason), _) => format!(" ({reason})"),
            (None, true) => " (also by slot, host or cooling)".into(),
            (None, false) => String::new(),
        };
        lines.push(format!(
            "  {:<NAME$}{one:<DRIVE$}{two:<DRIVE$}{}{outside}",
            structure.title(),
            word(*likeness)
        ));
    }
    lines.join("\n")
}

/// Returns the value with its interval.
fn words(structure: Structure, outcome: Option<&Identified>) -> String {
    match outcome {
        Some(Ok(value)) => {
            let unit = structure.unit();
            let (value, interval) = (shown(value.value, unit), shown_interval(value, unit));
            if interval.is_empty() { value } else { format!("{value} ({interval})") }
        }
        Some(Err(_)) => "not identifiable".into(),
        None => "not looked for".into(),
    }
}

/// `xray --compare --json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Document<'a> {
    /// Raised by an incompatible change.
    schema_version: u32,
    /// Both drives, A first.
    drives: [ComparedDrive<'a>; 2],
    /// What the comparison amounts to.
    sentence: &'a str,
    /// The structures that were looked for in one of them.
    structures: Vec<ComparedStructure<'a>>,
    /// Why the X-rays are not comparable; empty where they are.
    warnings: &'a [String],
}

/// One of both drives.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ComparedDrive<'a> {
    /// Its name.
    drive: &'a str,
    /// Whether it is a virtual one.
    is_model: bool,
}

/// A structure of both drives.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ComparedStructure<'a> {
    /// Its key, as in `--only`.
    structure: &'static str,
    /// Whether it is one of the drive, and not of its slot or host.
    is_inside: bool,
    /// `same`, `different` or `not-decided`.
    likeness: &'static str,
    /// Why a difference of the intervals decides nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    /// What was found in A; null where it was not looked for.
    a: Option<Outcome<'a>>,
    /// What was found in B; null where it was not looked for.
    b: Option<Outcome<'a>>,
}

/// What was found of a structure.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Outcome<'a> {
    /// Its value.
    Identified { value: f64, interval: [f64; 2], unit: &'static str },
    /// Why it has none.
    Refused { not_identifiable: &'a str },
}

fn document<'a>(
    cards: [&'a Card; 2],
    compared: &'a [Compared],
    sentence: &'a str,
    warnings: &'a [String],
) -> Document<'a> {
    let structures = compared.iter().map(|Compared { structure, outcomes, likeness, reason }| {
        let of = |outcome: &'a Option<Identified>| match outcome.as_ref()? {
            Ok(value) => Some(Outcome::Identified {
                value: value.value,
                interval: [value.low, value.high],
                unit: structure.unit().key(),
            }),
            Err(reason) => Some(Outcome::Refused { not_identifiable: &reason.0 }),
        };
        ComparedStructure {
            structure: structure.key(),
            is_inside: structure.is_inside(),
            likeness: match likeness {
                Likeness::NotDecided => "not-decided",
                Likeness::Same | Likeness::Different => word(*likeness),
            },
            reason: reason.as_deref(),
            a: of(&outcomes[0]),
            b: of(&outcomes[1]),
        }
    });
    Document {
        schema_version: 1,
        drives: cards.map(|card| ComparedDrive { drive: &card.drive, is_model: card.is_model }),
        sentence,
        structures: structures.collect(),
        warnings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_xray::{Answer, Value};

    fn answer(structure: Structure, value: f64) -> Answer {
        Answer { structure, outcome: Ok(Value::within(value, 0.0, 0.05)), celsius: None }
    }

    #[test]
    fn the_published_schema_is_that_of_the_types() {
        crate::published::check::<Document<'static>>("xray-compare.json");
    }

    #[test]
    fn the_sentence_names_what_differs_inside_and_counts_the_rest() {
        let one = [answer(Structure::Cache, 1e9), answer(Structure::PageRead, 40.0)];
        let two = [answer(Structure::Cache, 2e9), answer(Structure::PageRead, 40.5)];
        assert_eq!(sentence(&compare(&one, &two), &[]), "not the same inside: fast cache, empty");
        let counted = sentence(&compare(&one, &[answer(Structure::PageRead, 40.5)]), &[]);
        assert!(counted.contains("1 structures are the same, 1 are not"), "{counted}");
        assert!(sentence(&compare(&one, &[]), &[]).starts_with("not decided"));
    }
}
