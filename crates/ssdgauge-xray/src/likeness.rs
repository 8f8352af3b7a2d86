//! Two drives side by side: whether a structure is the same in both, by the intervals of its values.

use crate::answer::{Answer, Identified};
use crate::structure::Structure;

/// The width of an interval, as a share of its value, from which equality is not decided. Chosen.
const MOST_WIDTH: f64 = 0.5;

/// Whether a structure is the same in two drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// Each value lies within the interval of the other one.
    Same,
    /// The intervals have no value in common.
    Different,
    /// A structure is not identified, or its intervals are too wide.
    NotDecided,
}

/// A structure of two drives.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The structure.
    pub structure: Structure,
    /// What was found in each drive; `None` where it was not looked for.
    pub outcomes: [Option<Identified>; 2],
    /// Whether it is the same.
    pub likeness: Likeness,
}

/// Compares the structures that were looked for in one of two drives.
pub fn compare(one: &[Answer], two: &[Answer]) -> Vec<Compared> {
    let outcome = |answers: &[Answer], structure| {
        let answer = answers.iter().find(|answer| answer.structure == structure);
        answer.map(|answer| answer.outcome.clone())
    };
    let mut all = Vec::new();
    for structure in Structure::ALL {
        let outcomes = [outcome(one, structure), outcome(two, structure)];
        if outcomes.iter().any(Option::is_some) {
            let likeness = likeness(&outcomes);
            all.push(Compared { structure, outcomes, likeness });
        }
    }
    all
}

fn likeness(outcomes: &[Option<Identified>; 2]) -> Likeness {
    let [Some(Ok(one)), Some(Ok(two))] = outcomes else { return Likeness::NotDecided };
    if one.high < two.low || two.high < one.low {
        return Likeness::Different;
    }
    let is_narrow = one.width().max(two.width()) <= MOST_WIDTH;
    match is_narrow && one.contains(two.value) && two.contains(one.value) {
        true => Likeness::Same,
        false => Likeness::NotDecided,
    }
}

/// Returns the structures of `compared` with `likeness` that are inside of a drive: the link also depends on the
/// slot, and throttle points on the cooling.
pub fn inside(compared: &[Compared], likeness: Likeness) -> Vec<Structure> {
    let of = compared.iter().filter(|one| one.likeness == likeness);
    of.map(|one| one.structure).filter(|structure| structure.is_inside()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Refusal, Value};

    fn answer(structure: Structure, low: f64, high: f64) -> Answer {
        Answer { structure, outcome: Ok(Value { value: 0.5 * (low + high), low, high }) }
    }

    #[test]
    fn a_structure_is_the_same_different_or_not_decided_by_the_intervals() {
        let cache = |low, high| vec![answer(Structure::Cache, low, high)];
        for (one, two, expected) in [
            (cache(9.0, 11.0), cache(9.5, 11.0), Likeness::Same),
            (cache(9.0, 11.0), cache(12.0, 13.0), Likeness::Different),
            (cache(9.0, 11.0), cache(10.5, 13.0), Likeness::NotDecided),
            (cache(2.0, 18.0), cache(3.0, 17.0), Likeness::NotDecided),
            (cache(9.0, 11.0), Vec::new(), Likeness::NotDecided),
        ] {
            let found = compare(&one, &two);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].likeness, expected, "{one:?} {two:?}");
            assert_eq!(compare(&two, &one)[0].likeness, expected);
        }
        let refused =
            Answer { structure: Structure::Cache, outcome: Err(Refusal("no drop".into())) };
        assert_eq!(compare(&[refused], &cache(1.0, 2.0))[0].likeness, Likeness::NotDecided);
    }

    #[test]
    fn what_depends_on_slot_or_cooling_is_not_inside() {
        let one = [answer(Structure::Link, 1.0, 2.0), answer(Structure::Units, 16.0, 16.0)];
        let two = [answer(Structure::Link, 3.0, 4.0), answer(Structure::Units, 8.0, 8.0)];
        let found = compare(&one, &two);
        assert_eq!(inside(&found, Likeness::Different), [Structure::Units]);
    }
}
