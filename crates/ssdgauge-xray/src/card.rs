//! Cards of earlier X-rays: the JSON of `ssdgauge xray`, read again. Their values are not trusted.

use crate::answer::{Answer, Refusal, Value};
use crate::negotiated::NegotiatedLink;
use crate::series::{MOST_POINTS, Series, axes};
use crate::structure::{Structure, Unit};
use serde::Deserialize;
use thiserror::Error;

/// The value of `format` in a card.
pub const CARD_FORMAT: &str = "ssdgauge-xray";
/// The version of the format.
pub const CARD_VERSION: u32 = 1;

/// The highest temperature that a sensor states, in degrees Celsius.
const MOST_C: f64 = 300.0;

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
    /// The negotiated link, where it is known; cards of earlier versions have none.
    #[serde(default)]
    pub negotiated_link: Option<NegotiatedLink>,
    /// The bytes that were written.
    #[serde(default)]
    pub written_bytes: u64,
    /// The bytes that were read.
    #[serde(default)]
    pub read_bytes: u64,
    /// Doubts about the conditions.
    #[serde(default)]
    pub findings: Vec<CardFinding>,
    structures: Vec<Entry>,
    /// Cards of earlier versions of the program have none.
    #[serde(default)]
    series: Vec<Points>,
}

/// A card whose structures and series are known and possible.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedCard {
    /// The card.
    pub card: Card,
    /// Its answers.
    pub answers: Vec<Answer>,
    /// The series that they were read from.
    pub series: Vec<Series>,
}

/// A doubt about the conditions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct CardFinding {
    /// How much it matters: `note`, `warning` or `invalid`.
    pub severity: String,
    /// What was observed.
    pub text: String,
    /// What can be done.
    #[serde(default)]
    pub advice: String,
}

/// A series of a card.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Points {
    structure: String,
    line: String,
    points: Vec<(f64, f64)>,
}

/// A structure of a card.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Entry {
    structure: String,
    unit: String,
    value: Option<f64>,
    interval: Option<[f64; 2]>,
    not_identifiable: Option<String>,
    /// The lowest and the highest temperature of the drive meanwhile; cards of earlier versions have none.
    #[serde(default)]
    celsius: Option<[f64; 2]>,
}

/// Error of a file that is not a card.
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
    /// A structure in another unit, with a value that the unit does not have, or one that contradicts its interval.
    #[error(
        "'{0}' has neither a reason nor a value within its interval that is possible in the unit of the structure"
    )]
    Value(String),
    /// More bytes than the drive has.
    #[error("'{0}' is larger than the capacity of the drive")]
    Capacity(String),
    /// A text with control characters, which could look like other lines of the card.
    #[error("its {0} has a control character")]
    Text(&'static str),
    /// A series of an unknown structure or line, with too many points, or with numbers that are none.
    #[error(
        "the series of '{0}' belongs to no chart, is there twice, or has more than {MOST_POINTS} points"
    )]
    Series(String),
}

impl Card {
    /// Returns the card with its answers and series.
    ///
    /// # Errors
    /// [`CardError`].
    pub fn checked(self) -> Result<CheckedCard, CardError> {
        let answers = self.answers()?;
        let series = self.series()?;
        Ok(CheckedCard { card: self, answers, series })
    }

    /// Checks that no text of a card that anybody may have written looks like other lines of the card.
    ///
    /// # Errors
    /// [`CardError::Text`].
    pub fn check_texts(&self) -> Result<(), CardError> {
        let reasons = self.structures.iter().filter_map(|entry| entry.not_identifiable.as_ref());
        let findings = self.findings.iter().flat_map(|finding| [&finding.text, &finding.advice]);
        let link = self.negotiated_link.iter().map(|link| ("link", &link.name));
        let mut texts = std::iter::once(("drive", &self.drive))
            .chain(link)
            .chain(reasons.map(|text| ("reason", text)))
            .chain(findings.map(|text| ("finding", text)));
        match texts.find(|(_, text)| text.chars().any(char::is_control)) {
            Some((what, _)) => Err(CardError::Text(what)),
            None => Ok(()),
        }
    }

    fn series(&self) -> Result<Vec<Series>, CardError> {
        let mut all: Vec<Series> = Vec::new();
        for one in &self.series {
            let series = one.series().filter(|series| {
                let is_same = |known: &Series| {
                    (known.structure, known.line) == (series.structure, series.line)
                };
                !all.iter().any(is_same)
            });
            let name = || one.structure.chars().take(40).collect();
            all.push(series.ok_or_else(|| CardError::Series(name()))?);
        }
        Ok(all)
    }

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
            let answer = entry.answer(structure).ok_or_else(|| CardError::Value(name.clone()))?;
            if structure.unit() == Unit::Bytes
                && answer
                    .outcome
                    .as_ref()
                    .is_ok_and(|value| value.value > self.capacity_bytes as f64)
            {
                return Err(CardError::Capacity(name));
            }
            answers.push(answer);
        }
        Ok(answers)
    }
}

/// Returns whether `value` is a number that a drive can have: above the bytes of every drive, none has.
fn is_number(value: f64) -> bool {
    value.abs() < 1e18
}

impl Points {
    /// Returns the series; `None` where it belongs to no chart, or cannot be drawn.
    fn series(&self) -> Option<Series> {
        let structure = Structure::from_key(&self.structure)?;
        let line = axes(structure)?.lines.iter().position(|line| *line == self.line)?;
        let is_possible = self.points.len() <= MOST_POINTS
            && self.points.iter().all(|point| is_number(point.0) && is_number(point.1));
        is_possible.then(|| Series { structure, line, points: self.points.clone() })
    }
}

impl Entry {
    /// Returns the answer for `structure`; `None` where the entry contradicts itself.
    fn answer(&self, structure: Structure) -> Option<Answer> {
        let outcome = match (self.value, self.interval, &self.not_identifiable) {
            (Some(value), Some([low, high]), None) => {
                let is_possible = (low..=high).contains(&value)
                    && is_number(low)
                    && is_number(high)
                    && structure.unit().has(value);
                Ok(Some(Value { value, low, high }).filter(|_| is_possible)?)
            }
            (None, None, Some(reason)) => Err(Refusal(reason.clone())),
            _ => return None,
        };
        let celsius = self.celsius;
        let is_possible = celsius
            .is_none_or(|[low, high]| low <= high && high.abs() < MOST_C && low.abs() < MOST_C);
        (self.unit == structure.unit().key() && is_possible).then_some(Answer {
            structure,
            outcome,
            celsius,
        })
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
            capacity_bytes: 1_000,
            is_complete: true,
            negotiated_link: None,
            written_bytes: 0,
            read_bytes: 0,
            findings: Vec::new(),
            structures,
            series: Vec::new(),
        }
    }

    fn entry(key: &str, unit: &str, value: f64, interval: [f64; 2]) -> Entry {
        Entry {
            structure: key.into(),
            unit: unit.into(),
            value: Some(value),
            interval: Some(interval),
            not_identifiable: None,
            celsius: None,
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
            (vec![entry("units", "count", 2.5, [2.0, 3.0])], CardError::Value("units".into())),
            (vec![entry("cache", "bytes", -1.0, [-2.0, 3.0])], CardError::Value("cache".into())),
            (vec![entry("flush", "yes-no", 0.5, [0.0, 1.0])], CardError::Value("flush".into())),
            (vec![entry("cache", "bytes", 2e3, [1e3, 3e3])], CardError::Capacity("cache".into())),
            (
                vec![entry("units", "count", 1.0, [0.0, f64::INFINITY])],
                CardError::Value("units".into()),
            ),
            (
                vec![Entry { celsius: Some([50.0, 40.0]), ..good.clone() }],
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

    #[test]
    fn a_text_that_could_look_like_another_line_is_refused() {
        assert_eq!(card(Vec::new()).check_texts(), Ok(()));
        let forged = Card { drive: "a\n  link ceiling".into(), ..card(Vec::new()) };
        assert_eq!(forged.check_texts(), Err(CardError::Text("drive")));
        let link = NegotiatedLink { name: "a\n".into(), mb_s: 1.0 };
        let forged = Card { negotiated_link: Some(link), ..card(Vec::new()) };
        assert_eq!(forged.check_texts(), Err(CardError::Text("link")));
        let reason = Some("no\n  cache".to_owned());
        let refused = entry("units", "count", 1.0, [1.0, 1.0]);
        let refused = Entry { value: None, interval: None, not_identifiable: reason, ..refused };
        assert_eq!(card(vec![refused]).check_texts(), Err(CardError::Text("reason")));
    }

    #[test]
    fn a_series_of_no_chart_with_too_many_or_impossible_points_is_refused() {
        let points = |structure: &str, line: &str, points: Vec<(f64, f64)>| Points {
            structure: structure.into(),
            line: line.into(),
            points,
        };
        let of = |series: Vec<Points>| Card { series, ..card(Vec::new()) }.checked();
        let good = points("link", "512 KiB", vec![(1.0, 2.0); MOST_POINTS]);
        let checked = of(vec![good.clone()]).unwrap();
        assert_eq!((checked.series[0].structure, checked.series[0].line), (Structure::Link, 1));
        for bad in [
            vec![points("link", "1 MiB", Vec::new())],
            vec![points("overflow", "", Vec::new())],
            vec![points("planes", "", Vec::new())],
            vec![points("cache", "fill", vec![(1.0, 2.0); MOST_POINTS + 1])],
            vec![points("cache", "fill", vec![(1.0, f64::NAN)])],
            vec![points("cache", "fill", vec![(1.0, -1e300)])],
            vec![good.clone(), good.clone()],
        ] {
            assert!(matches!(of(bad.clone()), Err(CardError::Series(_))), "{bad:?}");
        }
    }
}
