//! The runs that a question still needs.

use crate::answer::answer;
use crate::bands::FEWEST;
use crate::evidence::Evidence;
use crate::kind::Kind;
use crate::profile::Twin;
use crate::question::Question;
use std::collections::BTreeMap;

/// What is known already.
#[derive(Clone, Copy, Debug)]
pub enum Known<'a> {
    /// Nothing.
    Nothing,
    /// Runs that no twin was fitted to yet.
    Runs(&'a Evidence),
    /// A twin.
    Twin(&'a Twin),
}

/// Returns the kinds of load whose runs `question` still needs, the kind that is asked for first; empty where a twin
/// answers it, or should be fitted to the runs that there are. `None` for a load that no twin predicts.
pub fn missing(question: &Question, known: Known<'_>) -> Option<Vec<Kind>> {
    let kind = Kind::of(&question.workload(), question.is_steady)?;
    let loads: BTreeMap<Kind, usize> = match known {
        Known::Nothing => BTreeMap::new(),
        Known::Runs(evidence) => Kind::ALL.map(|kind| (kind, loads(evidence, kind))).into(),
        Known::Twin(twin) => {
            if !answer(twin, question).predicted.is_empty() {
                return Some(Vec::new());
            }
            let points = |kind| twin.bands_of(kind).iter().map(|band| band.points).max();
            // The loads that there are do not answer it: they are outside its range, or too badly known.
            let of = |one: Kind| points(one).filter(|_| one != kind).unwrap_or(0);
            Kind::ALL.map(|kind| (kind, of(kind))).into()
        }
    };
    let is_missing = |one: &Kind| loads.get(one).is_none_or(|count| *count < FEWEST);
    Some(kind.rests_on().iter().copied().filter(is_missing).collect())
}

/// Returns how many loads of `kind` have numbers.
fn loads(evidence: &Evidence, kind: Kind) -> usize {
    evidence.loads().filter(|(_, load)| load.kind == Some(kind) && load.has_numbers()).count()
}
