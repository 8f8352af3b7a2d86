//! Conclusions: the sentences at the top of a comparison, derived from numbers and findings only.

use crate::analysis::compare::CompareOptions;
use crate::analysis::group::{Group, Member};
use crate::analysis::report_drives::ReportDrives;
use crate::model::{Run, TestRun};
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{Ratio, Severity, TargetKind};
use std::collections::BTreeSet;

/// Returns the conclusions: the leading drive of each of `groups`, invalid results, and limits of
/// the host.
pub(crate) fn sentences(runs: &[Run], drives: &ReportDrives, groups: &[&Group<'_>]) -> Vec<String> {
    let contested = groups.iter().filter(|group| measured(group).len() > 1);
    // Tests with intervals come first, each kind in the order of the tests.
    let (judged, open): (Vec<_>, Vec<_>) =
        contested.map(|group| leader(group, drives)).partition(|conclusion| conclusion.judged);
    let mut sentences: Vec<String> =
        judged.into_iter().chain(open).map(|conclusion| conclusion.sentence).collect();
    sentences.extend(unusable(runs, drives));
    sentences.extend(ceilings(runs, drives));
    sentences.extend(other_hosts(runs));
    sentences
}

/// Returns the criterion for a lead, for the small print below the conclusions.
pub(crate) fn rule() -> String {
    let noise = number::text(CompareOptions::default().noise * 100.0);
    format!(
        "A drive leads if the 95 % interval of the ratio, over the seconds of both runs or between \
         their repetitions, lies above 1 by more than {} % of noise between runs. This noise \
         allowance is chosen, not measured.",
        noise.trim_end_matches('0').trim_end_matches('.')
    )
}

fn measured<'a>(group: &'a Group<'_>) -> Vec<&'a Member<'a>> {
    group.members.iter().filter(|member| member.test.headline.value.is_some()).collect()
}

/// The conclusion for one test.
struct TestConclusion {
    sentence: String,
    /// True if all intervals are known.
    judged: bool,
}

/// Returns the leading drive of `group` and its lead, or that the drives do not differ.
fn leader(group: &Group<'_>, drives: &ReportDrives) -> TestConclusion {
    let metric = group.first().test.headline.metric;
    let value = |member: &Member<'_>| member.test.headline.value.unwrap_or(f64::NAN);
    let mut members = measured(group);
    members.sort_by(|a, b| match metric.more_is_better() {
        true => value(b).total_cmp(&value(a)),
        false => value(a).total_cmp(&value(b)),
    });
    let best = members[0];
    let ratios: Vec<Option<Ratio>> =
        members.iter().skip(1).map(|other| ratio(best, other)).collect();
    let title = group.title();
    let name = |member: &Member<'_>| {
        format!("{} ({})", drives.names[member.index], number::with_unit(value(member), metric))
    };
    let all: Vec<String> = members.iter().map(|member| name(member)).collect();
    if ratios.iter().any(|ratio| ratio.and_then(|ratio| ratio.interval).is_none()) {
        let sentence = format!(
            "{title}: {}, in this order; not each has a 95 % interval, so no lead is claimed.",
            all.join(", ")
        );
        return TestConclusion { sentence, judged: false };
    }
    let (tied, behind): (Vec<_>, Vec<_>) =
        all.iter().skip(1).zip(&ratios).partition(|(_, ratio)| !is_lead(**ratio));
    if !tied.is_empty() {
        let behind = match behind.as_slice() {
            [] => String::new(),
            [(one, _)] => format!("; they are ahead of {one}"),
            others => format!("; they are ahead of the other {}", others.len()),
        };
        let tied = tied.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let sentence =
            format!("{title}: {} and {tied} do not differ significantly{behind}.", all[0]);
        return TestConclusion { sentence, judged: true };
    }
    let by = ratios[0].map_or_else(|| number::NOTHING.to_owned(), |ratio| number::ratio(ratio, 2));
    let sentence = match metric.more_is_better() {
        true => format!("{title}: {} leads with {by} times the result of {}.", all[0], all[1]),
        false => {
            format!("{title}: {} leads; the result of {} is {by} times as high.", all[0], all[1])
        }
    };
    TestConclusion { sentence, judged: true }
}

/// Returns how many times the better of the two is the other, above 1 where it leads.
fn ratio(best: &Member<'_>, other: &Member<'_>) -> Option<Ratio> {
    match best.test.headline.metric.more_is_better() {
        true => best.test.over(other.test),
        false => other.test.over(best.test),
    }
}

fn is_lead(ratio: Option<Ratio>) -> bool {
    let noise = CompareOptions::default().noise;
    ratio.and_then(|ratio| ratio.interval).is_some_and(|(low, _)| low > 1.0 + noise)
}

/// Returns the tests whose results are invalid.
fn unusable(runs: &[Run], drives: &ReportDrives) -> Vec<String> {
    let mut sentences = Vec::new();
    for (run, name) in runs.iter().zip(&drives.names) {
        let invalid = |finding: &ssdgauge_core::Finding| finding.severity == Severity::Invalid;
        if run.findings.iter().any(invalid) {
            sentences.push(format!("{name}: all results are invalid; see the findings."));
            continue;
        }
        let titles: Vec<String> = run
            .tests
            .iter()
            .filter(|test| test.findings.iter().any(|of_step| invalid(&of_step.finding)))
            .map(|test| sanitize::prose(&test.test.title))
            .collect();
        if !titles.is_empty() {
            let titles = titles.join(", ");
            sentences
                .push(format!("{name}: the results of {titles} are invalid; see the findings."));
        }
    }
    sentences
}

/// A result above this share of the host's ceiling gets a warning (definition D16).
const NEAR_CEILING: f64 = 0.5;

/// Returns the results near the ceiling of the engine, where the report has a run of the same test
/// without a drive (`null:`).
fn ceilings(runs: &[Run], drives: &ReportDrives) -> Vec<String> {
    const MOST: usize = 4;
    let is_null = |run: &Run| run.head.drive.kind == TargetKind::Null;
    let ceiling = |test: &TestRun| {
        let same = |other: &&TestRun| {
            other.test.id == test.test.id && other.test.revision == test.test.revision
        };
        let bare = runs.iter().filter(|run| is_null(run)).flat_map(|run| &run.tests);
        bare.filter(same).find_map(|other| other.headline.value)
    };
    let mut sentences = Vec::new();
    for (run, name) in runs.iter().zip(&drives.names) {
        let is_measured = matches!(run.head.drive.kind, TargetKind::Block | TargetKind::File);
        for test in run.tests.iter().filter(|_| is_measured) {
            let metric = test.headline.metric;
            let (Some(value), Some(most)) = (test.headline.value, ceiling(test)) else { continue };
            if metric.more_is_better() && most > 0.0 && value > NEAR_CEILING * most {
                sentences.push(format!(
                    "{name}, {}: {:.0} % of the result of this engine and host without a drive \
                     (null:); the host may limit the drive.",
                    sanitize::prose(&test.test.title),
                    100.0 * value / most
                ));
            }
        }
    }
    sentences.truncate(MOST);
    sentences
}

/// Returns a warning where the runs come from different hosts: a rank across hosts would need the
/// ceilings of both.
fn other_hosts(runs: &[Run]) -> Option<String> {
    const MOST_KEYS: usize = 6;
    let keys: BTreeSet<&String> = runs.iter().flat_map(|run| run.head.environment.keys()).collect();
    let first = runs.first()?;
    let differs = |key: &&String| {
        let value = |run: &Run| run.head.environment.get(*key).cloned();
        runs.iter().any(|run| value(run) != value(first))
    };
    let differing: Vec<String> = keys
        .into_iter()
        .filter(differs)
        .map(|key| sanitize::prose(key).replace('_', " "))
        .collect();
    if differing.is_empty() {
        return None;
    }
    let shown = differing[..differing.len().min(MOST_KEYS)].join(", ");
    Some(format!(
        "The test environments differ ({shown}); differences between drives may come \
                  from the host."
    ))
}
