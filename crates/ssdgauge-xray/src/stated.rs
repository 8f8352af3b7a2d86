//! Stated figures beside what was found: a figure of a data sheet agrees, is contradicted, or is not decided.

use crate::answer::Answer;
use crate::structure::Structure;
use serde::{Deserialize, Serialize};

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

/// What an answer says about a stated figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The whole interval meets the bound, or contains the value.
    Agrees,
    /// No value of the interval does.
    Contradicts,
    /// The structure is not identified, or the bound lies within its interval.
    NotDecided,
}

/// Judges `stated` by `answers`.
pub fn judge(stated: Stated, answers: &[Answer]) -> Agreement {
    let answer = answers.iter().find(|answer| answer.structure == stated.structure);
    let Some(Ok(found)) = answer.map(|answer| answer.outcome.as_ref()) else {
        return Agreement::NotDecided;
    };
    let (agrees, contradicts) = match stated.figure {
        Figure::Exactly(value) => (found.contains(value), !found.contains(value)),
        Figure::AtLeast(value) => (found.low >= value, found.high < value),
        Figure::AtMost(value) => (found.high <= value, found.low > value),
    };
    match (agrees, contradicts) {
        (true, _) => Agreement::Agrees,
        (false, true) => Agreement::Contradicts,
        (false, false) => Agreement::NotDecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Refusal, Value};

    #[test]
    fn a_figure_agrees_is_contradicted_or_is_not_decided_by_the_interval() {
        let structure = Structure::NativeRate;
        let found = Value { value: 720.0, low: 700.0, high: 740.0 };
        let answers = [Answer { structure, outcome: Ok(found) }];
        for (figure, expected) in [
            (Figure::Exactly(730.0), Agreement::Agrees),
            (Figure::Exactly(800.0), Agreement::Contradicts),
            (Figure::AtLeast(650.0), Agreement::Agrees),
            (Figure::AtLeast(720.0), Agreement::NotDecided),
            (Figure::AtLeast(900.0), Agreement::Contradicts),
            (Figure::AtMost(740.0), Agreement::Agrees),
            (Figure::AtMost(710.0), Agreement::NotDecided),
            (Figure::AtMost(600.0), Agreement::Contradicts),
        ] {
            assert_eq!(judge(Stated { structure, figure }, &answers), expected, "{figure:?}");
        }
        let refused = [Answer { structure, outcome: Err(Refusal("no drop".into())) }];
        let stated = Stated { structure, figure: Figure::AtLeast(1.0) };
        assert_eq!(judge(stated, &refused), Agreement::NotDecided);
        assert_eq!(judge(stated, &[]), Agreement::NotDecided);
    }
}
