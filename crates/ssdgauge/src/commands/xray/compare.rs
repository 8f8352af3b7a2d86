//! The cards of two drives side by side.

use super::card::{interval, one};
use crate::failure::{Failure, FailureKind};
use crate::terminal;
use crate::text_file::read_text_file;
use serde_json::json;
use ssdgauge_xray::{Answer, Card, Compared, Identified, Likeness, Structure, compare, inside};
use std::path::{Path, PathBuf};

/// The width of the column of names.
const NAME: usize = 18;
/// The width of the column of a drive.
const DRIVE: usize = 32;
/// The most that is shown of the name of a drive.
const NAME_SHOWN: usize = 60;

/// Compares the two `cards`, and prints what is the same.
///
/// # Errors
/// A file is no card; with [`FailureKind::Criterion`], the drives are not the same inside.
pub(super) fn execute(cards: &[PathBuf], as_json: bool) -> Result<(), Failure> {
    let read: Vec<(Card, Vec<Answer>)> =
        cards.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    let [one, two] = &read[..] else {
        return Err(Failure::new(FailureKind::Usage, "two cards are compared", "name two files"));
    };
    let compared = compare(&one.1, &two.1);
    let (cards, doubts) = ([&one.0, &two.0], doubts(&one.0, &two.0));
    let sentence = sentence(&compared);
    match as_json {
        true => terminal::print_json(&to_json(cards, &compared, &sentence, &doubts)),
        false => terminal::print_text(&to_text(cards, &compared, &sentence, &doubts)),
    }
    match inside(&compared, Likeness::Different).is_empty() {
        true => Ok(()),
        false => Err(Failure::new(
            FailureKind::Criterion,
            "the two drives are not the same inside",
            "compare further drives of the model: firmware and age change structures as well",
        )),
    }
}

/// Reads the card at `path`.
fn read(path: &Path) -> Result<(Card, Vec<Answer>), Failure> {
    let hint = "name two files that `ssdgauge xray TARGET --out FILE` wrote";
    let fail = |text: String| Failure::new(FailureKind::Usage, text, hint);
    let text = read_text_file(&path.display().to_string()).map_err(fail)?;
    let not_a_card = |reason: String| fail(format!("{} is no card: {reason}", path.display()));
    let card: Card = serde_json::from_str(&text).map_err(|error| not_a_card(error.to_string()))?;
    let answers = card.answers().map_err(|error| not_a_card(error.to_string()))?;
    Ok((card, answers))
}

/// Returns what keeps the cards from being compared like for like.
fn doubts(one: &Card, two: &Card) -> Vec<String> {
    let mut doubts = Vec::new();
    if one.is_model != two.is_model {
        doubts.push("one of the drives is a virtual one (MODEL), the other one is real".into());
    }
    if one.capacity_bytes != two.capacity_bytes {
        let (one, two) = (one.capacity_bytes, two.capacity_bytes);
        doubts.push(format!("the capacities differ: {one} and {two} bytes"));
    }
    if !one.is_complete || !two.is_complete {
        doubts.push("an X-ray was not completed".into());
    }
    doubts
}

/// Returns what the comparison amounts to.
fn sentence(compared: &[Compared]) -> String {
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

fn to_text(cards: [&Card; 2], compared: &[Compared], sentence: &str, doubts: &[String]) -> String {
    let mut lines = vec![sentence.to_owned(), String::new()];
    for (mark, card) in ["A", "B"].iter().zip(cards) {
        let name: String = card.drive.chars().take(NAME_SHOWN).collect();
        let model = if card.is_model { " (MODEL)" } else { "" };
        lines.push(format!("  {mark}  {name}{model}"));
    }
    lines.push(String::new());
    for Compared { structure, outcomes, likeness } in compared {
        let [one, two] = outcomes.each_ref().map(|outcome| shown(*structure, outcome.as_ref()));
        let outside = match *likeness == Likeness::Different && !structure.is_inside() {
            true => " (also by slot, host or cooling)",
            false => "",
        };
        lines.push(format!(
            "  {:<NAME$}{one:<DRIVE$}{two:<DRIVE$}{}{outside}",
            structure.title(),
            word(*likeness)
        ));
    }
    lines.extend(doubts.iter().map(|doubt| format!("warning: {doubt}")));
    lines.join("\n")
}

/// Returns the value with its interval.
fn shown(structure: Structure, outcome: Option<&Identified>) -> String {
    match outcome {
        Some(Ok(value)) => {
            let unit = structure.unit();
            let (value, interval) = (one(value.value, unit), interval(value, unit));
            if interval.is_empty() { value } else { format!("{value} ({interval})") }
        }
        Some(Err(_)) => "not identifiable".into(),
        None => "not looked for".into(),
    }
}

fn to_json(
    cards: [&Card; 2],
    compared: &[Compared],
    sentence: &str,
    doubts: &[String],
) -> serde_json::Value {
    let of = |structure: Structure, outcome: Option<&Identified>| match outcome {
        Some(Ok(value)) => {
            json!({ "value": value.value, "interval": [value.low, value.high], "unit": structure.unit().key() })
        }
        Some(Err(reason)) => json!({ "not_identifiable": reason.0 }),
        None => serde_json::Value::Null,
    };
    let structures: Vec<serde_json::Value> = compared
        .iter()
        .map(|Compared { structure, outcomes, likeness }| {
            let [one, two] = outcomes.each_ref().map(|outcome| of(*structure, outcome.as_ref()));
            json!({
                "structure": structure.key(),
                "is_inside": structure.is_inside(),
                "likeness": word(*likeness).replace(' ', "-"),
                "a": one,
                "b": two,
            })
        })
        .collect();
    let drives = cards.map(|card| json!({ "drive": card.drive, "is_model": card.is_model }));
    json!({ "drives": drives, "sentence": sentence, "structures": structures, "warnings": doubts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_xray::Value;

    fn answer(structure: Structure, value: f64) -> Answer {
        Answer { structure, outcome: Ok(Value::within(value, 0.0, 0.05)) }
    }

    #[test]
    fn the_sentence_names_what_differs_inside_and_counts_the_rest() {
        let one = [answer(Structure::Cache, 1e9), answer(Structure::PageRead, 40.0)];
        let two = [answer(Structure::Cache, 2e9), answer(Structure::PageRead, 40.5)];
        assert_eq!(sentence(&compare(&one, &two)), "not the same inside: fast cache, empty");
        let counted = sentence(&compare(&one, &[answer(Structure::PageRead, 40.5)]));
        assert!(counted.contains("1 structures are the same, 1 are not"), "{counted}");
        assert!(sentence(&compare(&one, &[])).starts_with("not decided"));
    }
}
