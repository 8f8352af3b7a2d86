//! Stated figures compared with what was found: a figure of a data sheet agrees, is contradicted, or is not decided.

use crate::answer::Answer;
use crate::baseline::{depends_on_heat, is_hot};
use crate::structure::Structure;
use serde::{Deserialize, Serialize};
use ssdgauge_core::Verdict;

/// A stated figure, in the unit of its structure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Figure {
    /// The value.
    Exactly(f64),
    /// The value is not below this.
    AtLeast(f64),
    /// The value is not above this: "up to".
    AtMost(f64),
}

/// A stated figure of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stated {
    /// The structure.
    pub structure: Structure,
    /// The figure.
    pub figure: Figure,
}

impl Figure {
    /// Returns the smallest and the largest value that it admits.
    fn range(self) -> (f64, f64) {
        match self {
            Figure::Exactly(value) => (value, value),
            Figure::AtLeast(value) => (value, f64::INFINITY),
            Figure::AtMost(value) => (f64::NEG_INFINITY, value),
        }
    }
}

/// Judges `stated` by `answers`, as every stated number is judged ([`ssdgauge_core::Estimate::lies_in`]); not
/// decided where the structure is not identified, or where a drive misses the figure that was hot.
pub fn judge(stated: Stated, answers: &[Answer]) -> Verdict {
    let answer = answers.iter().find(|answer| answer.structure == stated.structure);
    let found = answer.and_then(|answer| answer.outcome.as_ref().ok());
    let (from, until) = stated.figure.range();
    let verdict = found.map_or(Verdict::NotDecided, |found| found.lies_in(from, until));
    let was_hot =
        answer.is_some_and(|answer| answer.celsius.is_some_and(|[_, high]| is_hot(high, None)));
    match was_hot && verdict == Verdict::Fails && depends_on_heat(stated.structure) {
        true => Verdict::NotDecided,
        false => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Refusal, Value};

    #[test]
    fn a_figure_that_a_hot_drive_misses_is_not_decided() {
        let structure = Structure::NativeRate;
        let found = Value { value: 260.0, low: 250.0, high: 270.0 };
        let stated = Stated { structure, figure: Figure::AtLeast(650.0) };
        for (celsius, expected) in [(45.0, Verdict::Fails), (72.0, Verdict::NotDecided)] {
            let answer = Answer { structure, outcome: Ok(found), celsius: Some([40.0, celsius]) };
            assert_eq!(judge(stated, &[answer]), expected);
        }
    }

    #[test]
    fn a_figure_agrees_is_contradicted_or_is_not_decided_by_the_interval() {
        let structure = Structure::NativeRate;
        let found = Value { value: 720.0, low: 700.0, high: 740.0 };
        let answers = [Answer { structure, outcome: Ok(found), celsius: None }];
        for (figure, expected) in [
            (Figure::Exactly(730.0), Verdict::Holds),
            (Figure::Exactly(800.0), Verdict::Fails),
            (Figure::AtLeast(650.0), Verdict::Holds),
            (Figure::AtLeast(720.0), Verdict::NotDecided),
            (Figure::AtLeast(900.0), Verdict::Fails),
            (Figure::AtMost(740.0), Verdict::Holds),
            (Figure::AtMost(710.0), Verdict::NotDecided),
            (Figure::AtMost(600.0), Verdict::Fails),
        ] {
            assert_eq!(judge(Stated { structure, figure }, &answers), expected, "{figure:?}");
        }
        let refused =
            [Answer { structure, outcome: Err(Refusal("no drop".into())), celsius: None }];
        let stated = Stated { structure, figure: Figure::AtLeast(1.0) };
        assert_eq!(judge(stated, &refused), Verdict::NotDecided);
        assert_eq!(judge(stated, &[]), Verdict::NotDecided);
    }
}
