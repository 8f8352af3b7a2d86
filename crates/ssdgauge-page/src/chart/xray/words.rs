//! Values, intervals and reasons of a card in the words of pages and pictures.

use ssdgauge_analysis::text::sanitize;
use ssdgauge_xray::{Answer, CheckedCard, Identified, Refusal, Structure, Value};
use ssdgauge_xray::{shown, shown_interval};

/// Returns the outcome of `structure`; `None` where it was not looked for.
pub(crate) fn outcome(card: &CheckedCard, structure: Structure) -> Option<&Identified> {
    let answer: Option<&Answer> = card.answers.iter().find(|one| one.structure == structure);
    answer.map(|answer| &answer.outcome)
}

/// Returns the value of `structure`, where it is identified.
pub(crate) fn value_of(card: &CheckedCard, structure: Structure) -> Option<Value> {
    outcome(card, structure)?.as_ref().ok().copied()
}

/// Returns `value` with its unit.
pub(crate) fn value(structure: Structure, value: &Value) -> String {
    typeset(&shown(value.value, structure.unit()))
}

/// Returns the interval of `value`; empty for yes and no.
pub(crate) fn interval(structure: Structure, value: &Value) -> String {
    typeset(&shown_interval(value, structure.unit()).replace('-', "–"))
}

/// Returns `words` with the sign for micro, which reasons of earlier cards do not have.
pub(crate) fn typeset(words: &str) -> String {
    let is_micro = |word: &str| word == "us";
    let words: Vec<&str> =
        words.split(' ').map(|word| if is_micro(word) { "µs" } else { word }).collect();
    words.join(" ")
}

/// Returns the title of `structure` at the start of a sentence.
pub(crate) fn title(structure: Structure) -> String {
    let title = structure.title();
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns why there is no value, as a clause that follows "not identifiable,".
pub(crate) fn because(Refusal(reason): &Refusal) -> String {
    let reason = typeset(&sanitize::prose(reason));
    if reason.starts_with("no ") {
        format!("because there is {reason}")
    } else if reason.starts_with("needs ") {
        format!("because it {reason}")
    } else {
        format!("because {reason}")
    }
}

/// Returns the same without the reason of another structure, which is shown with it.
pub(crate) fn because_in_short(refusal: &Refusal) -> String {
    let needed = refusal.0.strip_prefix("needs the ").and_then(|rest| rest.split_once(": "));
    match needed {
        Some((needed, _)) => {
            let needed = needed.split(',').next().unwrap_or(needed);
            format!("because the {} is not", sanitize::prose(needed))
        }
        None => because(refusal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_clauses_and_inherited_ones_are_short() {
        let refusal = |reason: &str| Refusal(reason.into());
        for (reason, long, short) in [
            (
                "needs the fast cache, empty: the rate never drops",
                "because it needs the fast cache, empty: the rate never drops",
                "because the fast cache is not",
            ),
            (
                "no throttling up to 47 °C",
                "because there is no throttling up to 47 °C",
                "because there is no throttling up to 47 °C",
            ),
            (
                "waits of 40 us fit neither\u{202e}",
                "because waits of 40 µs fit neither\\u{202E}",
                "because waits of 40 µs fit neither\\u{202E}",
            ),
        ] {
            assert_eq!(because(&refusal(reason)), long);
            assert_eq!(because_in_short(&refusal(reason)), short);
        }
    }

    #[test]
    fn values_have_the_signs_of_the_page() {
        let one = Value { value: 40.0, low: 38.0, high: 42.0 };
        assert_eq!(value(Structure::PageRead, &one), "40.0 µs");
        assert_eq!(interval(Structure::PageRead, &one), "38.0–42.0 µs");
        assert_eq!(typeset("us for two reads, of us"), "µs for two reads, of µs");
        assert_eq!(title(Structure::Cache), "Fast cache, empty");
    }
}
