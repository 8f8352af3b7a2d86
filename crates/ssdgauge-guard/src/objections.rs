//! Objections: every reason against writing to a drive, without opening it for writing.

use crate::admission::{
    attached_again, check_node, check_state, check_unseen, condition_question, condition_refusals,
    or_busy, refusals,
};
use crate::identity::TargetFacts;
use crate::look::{self, UsesQuestion};
use crate::look_place::LookPlace;
use crate::options::TargetOptions;
use crate::refusal::Refusal;
use crate::text::shown;
use crate::uses::{Openers, Uses};
use ssdgauge_os::sysfs::attribute;
use std::path::{Path, PathBuf};

/// The reasons against writing to one drive, the most severe first, and which checks were not
/// possible with the privileges of this process.
pub(crate) type Objections = (Vec<Refusal>, Vec<String>);

/// The objections so far.
#[derive(Debug, Default)]
struct Known {
    found: Vec<Refusal>,
    /// The refusal for what this process cannot see.
    unknown: Option<Refusal>,
    unchecked: Vec<String>,
}

/// Returns the objections against each of `drives`, in their order. They are looked at in `place`, side by
/// side, so that several that do not answer take as long as one.
pub(crate) fn find(
    place: &LookPlace,
    drives: &[(&Path, &TargetFacts)],
    options: &TargetOptions<'_>,
) -> Vec<Objections> {
    let nodes: Vec<Result<PathBuf, Refusal>> =
        drives.iter().map(|(path, _)| check_node(path)).collect();
    let questions = drives.iter().zip(&nodes).filter_map(|((path, _), node)| {
        let folder = node.as_deref().ok()?;
        Some(UsesQuestion::new(path, folder, options.results, Openers::All))
    });
    let mut uses = look::find_uses(place, questions.collect()).into_iter();
    let mut all: Vec<Known> = Vec::new();
    for ((path, facts), node) in drives.iter().zip(nodes) {
        let uses =
            |folder| uses.next().expect("one answer for each node").map(|uses| (folder, uses));
        all.push(match node.and_then(uses) {
            Ok((folder, uses)) => Known::new(path, &folder, facts, options, &uses),
            Err(refusal) => Known { found: vec![refusal], ..Known::default() },
        });
    }
    add_conditions(place, drives, options, &mut all);
    all.into_iter().map(Known::finish).collect()
}

/// Adds contents and health of the drives against which nothing else was found: a drive in use is
/// refused whatever its contents, and opening it could disturb its user.
fn add_conditions(
    place: &LookPlace,
    drives: &[(&Path, &TargetFacts)],
    options: &TargetOptions<'_>,
    all: &mut [Known],
) {
    let mut idle: Vec<_> =
        drives.iter().zip(all).filter(|(_, known)| known.found.is_empty()).collect();
    let questions = idle.iter().map(|((path, facts), _)| condition_question(path, facts, options));
    let conditions = look::read_conditions(place, questions.collect());
    for (((path, facts), known), condition) in idle.iter_mut().zip(conditions) {
        known.found.extend(attached_again(path, facts, options));
        match condition {
            Ok(Ok(condition)) => known.found.extend(condition_refusals(path, facts, condition)),
            Ok(Err(error)) => {
                known.unchecked.push(format!("its contents and its health ({error})"));
            }
            Err(refusal) => known.found.push(refusal),
        }
    }
}

impl Known {
    /// Returns the objections that need no access to the drive.
    fn new(
        path: &Path,
        folder: &Path,
        facts: &TargetFacts,
        options: &TargetOptions<'_>,
        uses: &Uses,
    ) -> Known {
        let mut found: Vec<Refusal> =
            refusals(path, uses).into_iter().map(|refusal| or_busy(refusal, facts)).collect();
        found.extend(check_state(path, folder).err());
        // By sysfs: the ioctl needs an open drive.
        if attribute(&folder.join("ro")).is_some_and(|flag| flag != "0") {
            found.push(Refusal::ReadOnly { path: shown(path) });
        }
        let unknown = check_unseen(path, &uses.unseen, facts, options).err();
        Known { found, unknown, unchecked: Vec::new() }
    }

    fn finish(mut self) -> Objections {
        // Of a drive that is refused in any case, it does not matter what else is unknown.
        if self.found.iter().all(Refusal::needs_only_confirmation) {
            self.found.extend(self.unknown);
        }
        (self.found, self.unchecked)
    }
}
