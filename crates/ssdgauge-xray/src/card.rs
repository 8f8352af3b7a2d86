//! Cards of earlier X-rays: the JSON of `ssdgauge xray`, read again. Their values are not trusted.

use crate::answer::{Answer, Refusal, Value};
use crate::structure::Structure;
use serde::Deserialize;
use thiserror::Error;

/// The value of `format` in a card.
pub const CARD_FORMAT: &str = "ssdgauge-xray";
/// The version of the format.
pub const CARD_VERSION: u32 = 1;

/// A card, as far as it is read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Card {
    format: String,
    version: u32,
    /// The name of the drive.
    pub drive: String,
    /// Whether the drive is a virtual one.
    pub is_model: bool,
    /// The capacity in bytes.
    pub capacity_bytes: u64,
    /// Whether every experiment was carried out.
    pub is_complete: bool,
    structures: Vec<Entry>,
}

/// A structure of a card.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Entry {
    structure: String,
    unit: String,
    value: Option<f64>,
    interval: Option<[f64; 2]>,
    not_identifiable: Option<String>,
}

/// Error of a file that is no card.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CardError {
    /// Another format.
    #[error("its format is '{0}', not '{CARD_FORMAT}'")]
    Format(String),
    /// Another version.
    #[error("its version is {0}; this program reads version {CARD_VERSION}")]
    Version(u32),
    /// A structure that is not known, or is there twice.
    #[error("structure '{0}' is not known, or is there twice")]
    Structure(String),
    /// A structure in another unit, or with a value that contradicts its interval.
    #[error(
        "'{0}' has neither a reason nor a value within its interval, in the unit of the structure"
    )]
    Value(String),
}

impl Card {
    /// Returns the answers of the card.
    ///
    /// # Errors
    /// [`CardError`].
    pub fn answers(&self) -> Result<Vec<Answer>, CardError> {
        if self.format != CARD_FORMAT {
            return Err(CardError::Format(self.format.chars().take(40).collect()));
        }
        if self.version != CARD_VERSION {
            return Err(CardError::Version(self.version));
        }
        let mut answers: Vec<Answer> = Vec::new();
        for entry in &self.structures {
            let name: String = entry.structure.chars().take(40).collect();
            let is_new = |one: &Structure| answers.iter().all(|answer| answer.structure != *one);
            let structure = Structure::from_key(&entry.structure).filter(is_new);
            let structure = structure.ok_or_else(|| CardError::Structure(name.clone()))?;
            let answer = entry.answer(structure).ok_or(CardError::Value(name))?;
            answers.push(answer);
        }
        Ok(answers)
    }
}

impl Entry {
    /// Returns the answer for `structure`; `None` where the entry contradicts itself.
    fn answer(&self, structure: Structure) -> Option<Answer> {
        let outcome = match (self.value, self.interval, &self.not_identifiable) {
            (Some(value), Some([low, high]), None) => {
                let is_possible =
                    (low..=high).contains(&value) && low.is_finite() && high.is_finite();
                Ok(Some(Value { value, low, high }).filter(|_| is_possible)?)
            }
            (None, None, Some(reason)) => Err(Refusal(reason.clone())),
            _ => return None,
        };
        (self.unit == structure.unit().key()).then_some(Answer { structure, outcome })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(structures: Vec<Entry>) -> Card {
        Card {
            format: CARD_FORMAT.into(),
            version: CARD_VERSION,
            drive: "a".into(),
            is_model: true,
            capacity_bytes: 1,
            is_complete: true,
            structures,
        }
    }

    fn entry(key: &str, unit: &str, value: f64, interval: [f64; 2]) -> Entry {
        Entry {
            structure: key.into(),
            unit: unit.into(),
            value: Some(value),
            interval: Some(interval),
            not_identifiable: None,
        }
    }

    #[test]
    fn a_card_that_contradicts_itself_is_refused() {
        let good = entry("units", "count", 16.0, [16.0, 16.0]);
        let answers = card(vec![good.clone()]).answers().unwrap();
        assert_eq!(answers[0].outcome, Ok(Value::exact(16.0)));
        for (bad, error) in [
            (vec![good.clone(), good.clone()], CardError::Structure("units".into())),
            (
                vec![entry("planes", "count", 1.0, [1.0, 1.0])],
                CardError::Structure("planes".into()),
            ),
            (vec![entry("units", "us", 1.0, [1.0, 1.0])], CardError::Value("units".into())),
            (vec![entry("units", "count", 3.0, [1.0, 2.0])], CardError::Value("units".into())),
            (
                vec![entry("units", "count", 1.0, [0.0, f64::INFINITY])],
                CardError::Value("units".into()),
            ),
            (
                vec![Entry { not_identifiable: Some("no".into()), ..good.clone() }],
                CardError::Value("units".into()),
            ),
        ] {
            assert_eq!(card(bad).answers(), Err(error));
        }
        let newer = Card { version: 2, ..card(Vec::new()) };
        assert_eq!(newer.answers(), Err(CardError::Version(2)));
        let other = Card { format: "x".into(), ..card(Vec::new()) };
        assert_eq!(other.answers(), Err(CardError::Format("x".into())));
    }
}
