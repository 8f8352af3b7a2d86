//! Repetitions of a test, merged into one result.

use crate::model::plan::measured_steps;
use crate::model::{PointRun, Repetition, StepFinding, TestRun};
use ssdgauge_core::statistics::repetition;
use ssdgauge_core::{Finding, FindingKind, Headline, Severity, Totals};
use std::collections::BTreeMap;

/// Merges the repetitions of a test: headlines become means, and each point takes the samples of
/// all repetitions from `totals`, which is keyed by the number of the measured step.
///
/// Returns `None` where `tests` is empty.
pub(crate) fn merge(mut tests: Vec<TestRun>, totals: &BTreeMap<usize, Totals>) -> Option<TestRun> {
    if tests.len() < 2 {
        return tests.pop();
    }
    let repetitions: Vec<Repetition> = tests
        .iter()
        .map(|test| Repetition { headline: test.headline.clone(), also: test.also.clone() })
        .collect();
    let complete = tests.iter().all(|test| test.complete);
    let findings: Vec<StepFinding> =
        tests.iter_mut().flat_map(|test| std::mem::take(&mut test.findings)).collect();
    let mut run = tests.swap_remove(middle(&repetitions));
    run.complete = complete;
    run.findings = distinct(findings);
    let headlines: Vec<Headline> = repetitions.iter().map(|each| each.headline.clone()).collect();
    run.headline = Headline::of_repetitions(&headlines).unwrap_or(run.headline);
    for (place, also) in run.also.iter_mut().enumerate() {
        let each: Vec<Headline> =
            repetitions.iter().filter_map(|each| each.also.get(place).cloned()).collect();
        *also = Headline::of_repetitions(&each).unwrap_or_else(|| also.clone());
    }
    run.findings.extend(drift(&headlines));
    run.repetitions = repetitions;
    merge_totals(totals, &mut run);
    Some(run)
}

/// Returns the index of the repetition with the median headline; its seconds are shown.
fn middle(repetitions: &[Repetition]) -> usize {
    let mut places: Vec<usize> = (0..repetitions.len()).collect();
    let value = |place: &usize| repetitions[*place].headline.value.unwrap_or(f64::INFINITY);
    places.sort_by(|a, b| value(a).total_cmp(&value(b)));
    let known = repetitions.iter().filter(|each| each.headline.value.is_some()).count();
    places[known.saturating_sub(1) / 2]
}

/// Returns `findings` without those that several repetitions share word for word.
fn distinct(findings: Vec<StepFinding>) -> Vec<StepFinding> {
    let mut distinct: Vec<StepFinding> = Vec::with_capacity(findings.len());
    for finding in findings {
        if !distinct.contains(&finding) {
            distinct.push(finding);
        }
    }
    distinct
}

/// Gives every point of `run` the samples of all repetitions.
fn merge_totals(totals: &BTreeMap<usize, Totals>, run: &mut TestRun) {
    let mut points = run.points.iter_mut().peekable();
    for (order, step) in measured_steps(&run.test).enumerate() {
        // A step that the shown repetition has not reached has no point.
        let is_here = |point: &&mut PointRun| {
            point.point.label == step.label && point.point.position == step.position
        };
        let Some(point) = points.next_if(is_here) else { continue };
        if let Some(all) = totals.get(&order) {
            point.point.totals = all.clone();
        }
    }
}

/// Returns a finding where the result drifts over the repetitions.
fn drift(headlines: &[Headline]) -> Option<StepFinding> {
    let values: Option<Vec<f64>> = headlines.iter().map(|headline| headline.value).collect();
    let within: Vec<Option<(f64, f64)>> =
        headlines.iter().map(|headline| headline.low.zip(headline.high)).collect();
    let values = values?;
    let share = repetition::drift(&values, &within)?;
    let way = if share > 0.0 { "rises" } else { "falls" };
    Some(StepFinding {
        step: None,
        metrics: vec![headlines.first()?.metric.key().to_owned()],
        finding: Finding::new(
            FindingKind::OrderEffect,
            Severity::Warning,
            format!(
                "the result {way} monotonically over {} repetitions, by {:.1} % of the mean in \
                 total: they do not repeat one state",
                values.len(),
                share.abs() * 100.0
            ),
            "check temperature, drive state and other load on the host; the interval between \
             repetitions counts this drift as random variation",
        ),
    })
}
