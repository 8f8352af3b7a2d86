//! Two drives side by side: whether a structure is the same in both, by the intervals of its values.

use crate::answer::{Answer, Identified};
use crate::baseline::{depends_on_heat, is_hot};
use crate::structure::Structure;

/// The difference of temperatures from which a difference of times and rates decides nothing, in kelvin. Chosen: flash
/// and controllers change by some percent within it.
const MOST_KELVIN: f64 = 15.0;
/// The share by which two intervals have to be apart. Chosen: what a year of use changes.
const AGE: f64 = 0.02;
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
    /// Why a difference of the intervals decides nothing, as a clause.
    pub reason: Option<String>,
}

/// Compares the structures that were looked for in one of two drives.
pub fn compare(one: &[Answer], two: &[Answer]) -> Vec<Compared> {
    let find = |structure| {
        let of = |answers: &'_ [Answer]| {
            answers.iter().find(|answer| answer.structure == structure).cloned()
        };
        [of(one), of(two)]
    };
    let mut all = Vec::new();
    for structure in Structure::ALL {
        let answers = find(structure);
        if answers.iter().all(Option::is_none) {
            continue;
        }
        let celsius = answers.each_ref().map(|answer| answer.as_ref().and_then(|one| one.celsius));
        let outcomes = answers.map(|answer| answer.map(|one| one.outcome));
        let reason = match likeness(&outcomes) {
            Likeness::Different if depends_on_heat(structure) => unlike_heat(celsius),
            Likeness::Different | Likeness::Same | Likeness::NotDecided => None,
        };
        let likeness = match &reason {
            Some(_) => Likeness::NotDecided,
            None => likeness(&outcomes),
        };
        all.push(Compared { structure, outcomes, likeness, reason });
    }
    all
}

/// Returns the reason why two values of a drive at these temperatures may differ: both are hot or far apart.
fn unlike_heat(celsius: [Option<[f64; 2]>; 2]) -> Option<String> {
    let [Some([low, high]), Some([other_low, other_high])] = celsius else { return None };
    let is_apart = low - other_high > MOST_KELVIN || other_low - high > MOST_KELVIN;
    (is_apart || is_hot(high, None) || is_hot(other_high, None))
        .then(|| format!("taken at {high:.0} and {other_high:.0} °C"))
}

fn likeness(outcomes: &[Option<Identified>; 2]) -> Likeness {
    let [Some(Ok(one)), Some(Ok(two))] = outcomes else { return Likeness::NotDecided };
    let apart = if one.low == one.high && two.low == two.high { 0.0 } else { AGE };
    if one.high * (1.0 + apart) < two.low || two.high * (1.0 + apart) < one.low {
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
        let outcome = Ok(Value { value: 0.5 * (low + high), low, high });
        Answer { structure, outcome, celsius: None }
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
        let refused = Answer {
            outcome: Err(Refusal("no drop".into())),
            ..answer(Structure::Cache, 1.0, 1.0)
        };
        assert_eq!(compare(&[refused], &cache(1.0, 2.0))[0].likeness, Likeness::NotDecided);
    }

    #[test]
    fn times_at_other_temperatures_and_those_of_an_aged_drive_are_not_different() {
        let command = |low, high, celsius: f64| {
            vec![Answer {
                celsius: Some([celsius - 1.0, celsius]),
                ..answer(Structure::Command, low, high)
            }]
        };
        let cold = command(2.5, 2.6, 35.0);
        for (other, expected) in [
            (command(7.0, 7.2, 82.0), Likeness::NotDecided),
            (command(7.0, 7.2, 45.0), Likeness::Different),
            (command(2.64, 2.7, 36.0), Likeness::NotDecided),
        ] {
            let found = compare(&cold, &other).remove(0);
            assert_eq!(found.likeness, expected, "{found:?}");
            assert_eq!(found.reason.is_some(), other[0].celsius > Some([80.0, 0.0]));
        }
        // A count has no temperature.
        let units = |number| {
            let celsius = Some([number, 10.0 * number]);
            vec![Answer { celsius, ..answer(Structure::Units, number, number) }]
        };
        assert_eq!(compare(&units(4.0), &units(8.0))[0].likeness, Likeness::Different);
    }

    #[test]
    fn what_depends_on_slot_or_cooling_is_not_inside() {
        let one = [answer(Structure::Link, 1.0, 2.0), answer(Structure::Units, 16.0, 16.0)];
        let two = [answer(Structure::Link, 3.0, 4.0), answer(Structure::Units, 8.0, 8.0)];
        let found = compare(&one, &two);
        assert_eq!(inside(&found, Likeness::Different), [Structure::Units]);
    }
}
