//! Every check on every profile: a check that holds on all of them cannot fail, and proves nothing.
//!
//! The drive that a check names first is its subject. Its profile is replaced by each profile, in all drives of the
//! check that have it: they keep the keys of their targets where the other profile can have them, otherwise their
//! capacity, otherwise none. The other drives of the check stay. A profile that cannot have the test is left out.

use crate::catalogue::RunNeed;
use crate::check::{Check, Data};
use crate::claim::{Claim, Review};
use crate::measure::Measurements;
use crate::parameters::profile_of;
use crate::reference::Needs;
use ssdgauge_analysis::Run;
use ssdgauge_core::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// One check of a claim with another profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Substitute<'a> {
    /// The profile in the place of the one of the subject.
    pub profile: &'a str,
    check: &'a Check,
    /// Drive and test of the check, and the run; `None` where no drive of the profile can have this test.
    runs: Option<Vec<(String, String, RunNeed)>>,
}

/// What the checks of a claim found on every profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried<'a> {
    /// The claim.
    pub id: &'a str,
    /// The profiles on which each of its checks holds.
    pub holds: BTreeSet<&'a str>,
    /// The profiles on which a check fails or cannot be decided.
    pub fails: BTreeSet<&'a str>,
    /// Whether a run is missing: `holds` and `fails` leave its profiles out.
    pub is_incomplete: bool,
}

impl Tried<'_> {
    /// Returns whether all of its checks hold on all profiles.
    pub fn cannot_fail(&self) -> bool {
        !self.is_incomplete && self.fails.is_empty()
    }
}

/// Returns every check of `claim` with each of `profiles`; `can_run` says whether a run can be planned.
pub fn substitutes<'a>(
    review: &Review,
    claim: &'a Claim,
    profiles: &[&'a str],
    can_run: &dyn Fn(&RunNeed) -> bool,
) -> Vec<Substitute<'a>> {
    let with = |check: &'a Check, profile: &'a str| {
        let runs = Keys::ALL.into_iter().map(|keys| runs_of(review, check, profile, keys));
        let is_possible =
            |runs: &Vec<(String, String, RunNeed)>| runs.iter().all(|(_, _, need)| can_run(need));
        Substitute { profile, check, runs: runs.into_iter().find(is_possible) }
    };
    let of_check = |check: &'a Check| profiles.iter().map(move |profile| with(check, profile));
    claim.checks.iter().flat_map(of_check).collect()
}

/// What another profile keeps of the keys of a target.
#[derive(Clone, Copy)]
enum Keys {
    All,
    Capacity,
    None,
}

impl Keys {
    const ALL: [Keys; 3] = [Keys::All, Keys::Capacity, Keys::None];
}

/// Returns drive, test and run of each reference of `check`, with `profile` in the place of that of its subject.
fn runs_of(
    review: &Review,
    check: &Check,
    profile: &str,
    keys: Keys,
) -> Vec<(String, String, RunNeed)> {
    let mut needs = Needs::new();
    check.add_needs(&mut needs);
    let subject = profile_of(&review.drives[check.subject()]);
    let run = |(drive, test): (String, String)| {
        let target = &review.drives[&drive];
        let target = match profile_of(target) == subject {
            true => replaced(target, profile, keys),
            false => target.clone(),
        };
        let need = RunNeed { drive: target, test: review.tests[&test].clone() };
        (drive, test, need)
    };
    needs.into_iter().map(run).collect()
}

/// Returns `target` with another profile.
fn replaced(target: &str, profile: &str, keys: Keys) -> String {
    let own = target.split_once('?').map_or("", |(_, keys)| keys);
    let kept: Vec<&str> = match keys {
        Keys::All => own.split('&').filter(|key| !key.is_empty()).collect(),
        Keys::Capacity => own.split('&').filter(|key| key.starts_with("capacity=")).collect(),
        Keys::None => Vec::new(),
    };
    match kept.is_empty() {
        true => profile.to_owned(),
        false => format!("{profile}?{}", kept.join("&")),
    }
}

/// Evaluates `substitutes`, which are all of the claim `id`, by `runs`.
pub fn every_profile<'a>(
    id: &'a str,
    substitutes: &[Substitute<'a>],
    runs: &BTreeMap<RunNeed, Run>,
) -> Tried<'a> {
    let mut tried =
        Tried { id, holds: BTreeSet::new(), fails: BTreeSet::new(), is_incomplete: false };
    let (mut missing, mut impossible) = (BTreeSet::new(), BTreeSet::new());
    for one in substitutes {
        match one.verdict(runs) {
            None if one.runs.is_none() => _ = impossible.insert(one.profile),
            None => _ = missing.insert(one.profile),
            Some(Verdict::Holds) => _ = tried.holds.insert(one.profile),
            Some(Verdict::NotDecided | Verdict::Fails) => _ = tried.fails.insert(one.profile),
        }
    }
    // A profile counts where all checks were tried, and fails with one of them.
    missing.retain(|profile| !impossible.contains(profile));
    tried.is_incomplete = !missing.is_empty();
    let is_tried = |profile: &&str| !missing.contains(profile) && !impossible.contains(profile);
    tried.fails.retain(is_tried);
    tried.holds.retain(|profile| is_tried(profile) && !tried.fails.contains(profile));
    tried
}

impl Substitute<'_> {
    /// Returns the runs that it needs.
    pub fn needs(&self) -> impl Iterator<Item = &RunNeed> {
        self.runs.iter().flatten().map(|(_, _, need)| need)
    }

    /// Returns what the check finds; `None` where a run is missing.
    fn verdict(&self, runs: &BTreeMap<RunNeed, Run>) -> Option<Verdict> {
        let mut measurements = Measurements::default();
        for (drive, test, need) in self.runs.as_ref()? {
            let run = runs.get(need).filter(|run| run.complete)?;
            measurements.insert(drive, test, run);
        }
        let data = Data {
            value: &|value| measurements.value(value),
            curve: &|curve| measurements.curve(curve),
            positions: &|curve| measurements.positions(curve),
        };
        Some(self.check.evaluate(&data).verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::measured;

    #[test]
    fn the_profile_of_the_subject_is_replaced_in_all_of_its_drives() {
        let review = measured().unwrap();
        let claim = review.claims.iter().find(|claim| claim.id == "R-22").unwrap();
        let drives = |can_run: &dyn Fn(&RunNeed) -> bool| -> Vec<String> {
            let all = substitutes(&review, claim, &["tiny"], can_run);
            all.iter().flat_map(Substitute::needs).map(|need| need.drive.clone()).collect()
        };
        let all = ["tiny?capacity=256GB&nand.dies=8", "tiny?capacity=512GB"];
        assert_eq!(drives(&|_| true), all);
        let no_dies = |need: &RunNeed| !need.drive.contains("dies");
        assert_eq!(drives(&no_dies), ["tiny?capacity=256GB", "tiny?capacity=512GB"]);
        assert_eq!(drives(&|need| !need.drive.contains('?')), ["tiny", "tiny"]);
        assert_eq!(drives(&|_| false), [""; 0]);
    }

    #[test]
    fn without_runs_nothing_holds_and_nothing_cannot_fail() {
        let review = measured().unwrap();
        for claim in &review.claims {
            let all = substitutes(&review, claim, &["tiny", "qlc-client"], &|_| true);
            assert_eq!(all.len(), claim.checks.len() * 2);
            let tried = every_profile(&claim.id, &all, &BTreeMap::new());
            assert!(tried.is_incomplete && tried.holds.is_empty() && !tried.cannot_fail());
        }
    }
}
