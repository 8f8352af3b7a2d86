//! `ssdgauge claims --every-profile`: every check on every built-in profile, as a page in Markdown.

use crate::arguments::ClaimsArguments;
use crate::build_identity;
use crate::failure::Failure;
use ssdgauge_analysis::Run;
use ssdgauge_claims::{Claim, Review, RunNeed, Substitute, Tried, every_profile, substitutes};
use ssdgauge_sim::{MODEL_REVISION, profiles, reviewed_profiles};
use ssdgauge_watch::terminal;
use std::collections::{BTreeMap, BTreeSet};

/// Tries the checks of `reviews` on every profile and prints the page.
///
/// # Errors
///
/// As the runs of claims.
pub(super) fn execute(
    reviews: &[Review],
    arguments: &ClaimsArguments,
    can_run: &dyn Fn(&RunNeed) -> bool,
    find_runs: &dyn Fn(BTreeSet<RunNeed>) -> Result<BTreeMap<RunNeed, Run>, Failure>,
) -> Result<(), Failure> {
    let names: Vec<&str> =
        profiles().into_iter().chain(reviewed_profiles()).map(|profile| profile.name).collect();
    let of_claims: Vec<(&Claim, Vec<Substitute<'_>>)> = reviews
        .iter()
        .flat_map(|review| review.claims.iter().map(move |claim| (review, claim)))
        .filter(|(_, claim)| claim.is_checked())
        .map(|(review, claim)| (claim, substitutes(review, claim, &names, can_run)))
        .collect();
    let needs: BTreeSet<RunNeed> = of_claims
        .iter()
        .flat_map(|(_, all)| all.iter().flat_map(Substitute::needs))
        .cloned()
        .collect();
    let runs = find_runs(needs)?;
    let tried: BTreeMap<&str, Tried<'_>> = of_claims
        .iter()
        .map(|(claim, all)| (claim.id.as_str(), every_profile(&claim.id, all, &runs)))
        .collect();
    let claims: Vec<&Claim> = of_claims.iter().map(|(claim, _)| *claim).collect();
    terminal::print(&page(&claims, &tried, &names, arguments));
    Ok(())
}

/// Returns the page: how it was made, and a row for each claim.
fn page(
    claims: &[&Claim],
    tried: &BTreeMap<&str, Tried<'_>>,
    profiles: &[&str],
    arguments: &ClaimsArguments,
) -> String {
    let ids: String = arguments.ids.iter().map(|id| format!(" {id}")).collect();
    let mut text = format!(
        "# Every check on every profile\n\nMade by `ssdgauge claims{ids} --every-profile --seed {}` of {}, \
         model revision {MODEL_REVISION}: the profile of the drive that a check names first is replaced by each of \
         {} profiles. A claim that fails on none of them cannot fail, and is not counted.\n\n\
         | claim | label | fails on | of | holds on |\n|---|---|---|---|---|\n",
        arguments.seed,
        build_identity::program(),
        profiles.len(),
    );
    for claim in claims {
        let found = &tried[claim.id.as_str()];
        let count = found.holds.len() + found.fails.len();
        let holds = match (found.cannot_fail(), count) {
            (true, _) => "all: cannot fail".to_owned(),
            (false, 0) => "not run".to_owned(),
            (false, _) => found.holds.iter().copied().collect::<Vec<_>>().join(", "),
        };
        let label = claim.label.map_or("", ssdgauge_claims::Label::word);
        text.push_str(&format!(
            "| {} | {label} | {} | {count} | {holds} |\n",
            claim.id,
            found.fails.len()
        ));
    }
    text
}
