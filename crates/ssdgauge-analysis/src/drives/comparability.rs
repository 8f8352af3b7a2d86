//! What readers of several runs must know before they compare: invalid results, limits of the host, and
//! hosts that differ. Derived from numbers and findings only.

use crate::drives::report_drives::ReportDrives;
use crate::findings::trust;
use crate::model::{Run, TestRun};
use crate::text::labels::LABEL;
use crate::text::sanitize;
use ssdgauge_core::TargetKind;
use std::collections::BTreeSet;

/// Returns the sentences: invalid results, results near the ceiling of the host, and differing hosts.
pub fn sentences(runs: &[Run], drives: &ReportDrives) -> Vec<String> {
    let mut sentences = unusable(runs, drives);
    sentences.extend(ceilings(runs, drives));
    sentences.extend(other_hosts(runs));
    sentences
}

/// Returns the tests whose results are invalid.
fn unusable(runs: &[Run], drives: &ReportDrives) -> Vec<String> {
    let mut sentences = Vec::new();
    for (run, name) in runs.iter().zip(&drives.names) {
        if trust::is_invalid(run) {
            sentences.push(format!("{name}: all results are invalid; see the findings."));
            continue;
        }
        let titles: Vec<String> = run
            .tests
            .iter()
            .filter(|test| trust::invalid(run, test).is_some())
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
    const MAX_KEYS: usize = 6;
    let keys: BTreeSet<&String> = runs.iter().flat_map(|run| run.head.environment.keys()).collect();
    let first = runs.first()?;
    let differs = |key: &&String| {
        let value = |run: &Run| run.head.environment.get(*key).cloned();
        runs.iter().any(|run| value(run) != value(first))
    };
    // A label is stated with the name, and is not a property of a host.
    let differing: Vec<String> = keys
        .into_iter()
        .filter(|key| *key != LABEL)
        .filter(differs)
        .map(|key| sanitize::prose(key).replace('_', " "))
        .collect();
    if differing.is_empty() {
        return None;
    }
    let shown = differing[..differing.len().min(MAX_KEYS)].join(", ");
    Some(format!(
        "The test environments differ ({shown}); differences between drives may come \
                  from the host."
    ))
}
