//! Which loads may be left out of a fit: those inside the range of the others of their kind.

use crate::bands::{FEWEST, Range};
use crate::evidence::{Evidence, Load, Measured};
use crate::kind::Kind;
use crate::number::Number;
use std::collections::{BTreeMap, BTreeSet};

/// Returns `evidence` with the place of each load that may be left out. Outside the range of its loads nothing is
/// predicted of a kind, so the loads at its ends stay in every fit. Of a kind with too few others none has a place: it is
/// left out as a whole.
pub(crate) fn placed(evidence: &Evidence) -> Evidence {
    let mut placed = evidence.clone();
    for kind in Kind::ALL {
        let mut inside: BTreeMap<usize, BTreeSet<Number>> = BTreeMap::new();
        for number in Number::ALL {
            for place in places(evidence, kind, number) {
                inside.entry(place).or_default().insert(number);
            }
        }
        if inside.len() < FEWEST {
            continue;
        }
        let mut loads: Vec<&mut Load> =
            placed.tests.iter_mut().flat_map(Measured::loads_mut).collect();
        for (next, (place, numbers)) in inside.into_iter().enumerate() {
            (loads[place].place, loads[place].inside) = (Some(next), numbers);
        }
    }
    placed
}

/// Returns the places in `evidence` of the loads of `kind` without which the range of `number` is the same.
fn places(evidence: &Evidence, kind: Kind, number: Number) -> Vec<usize> {
    let is_judge = |load: &Load| load.kind == Some(kind) && load.is_judged_by(number);
    let all: Vec<(usize, (&Measured, &Load))> =
        evidence.loads().enumerate().filter(|(_, (_, load))| is_judge(load)).collect();
    let range = |without: Option<usize>| {
        let rest = all.iter().filter(|(place, _)| Some(*place) != without);
        Range::of(&rest.map(|(_, load)| *load).collect::<Vec<_>>(), evidence.capacity)
    };
    let whole = range(None);
    all.iter().map(|(place, _)| *place).filter(|place| range(Some(*place)) == whole).collect()
}
