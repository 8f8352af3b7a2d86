//! Tests that were carried out several times: one result of all repetitions.

use crate::error::ReportError;
use crate::run::{
    NO_LOAD, PointRun, Repetition, StepFinding, TestRun, counted, read_point, window,
};
use ssdgauge_core::statistics::repetition;
use ssdgauge_core::{Action, Finding, FindingKind, Headline, PhaseKind, Severity};
use ssdgauge_runfile::{RunFile, StepRecord};

/// Returns `tests`, each with its number in the plan, with the repetitions of a test made one.
pub(crate) fn gathered(
    file: &RunFile,
    steps: &[StepRecord],
    tests: Vec<(usize, TestRun)>,
) -> Result<Vec<TestRun>, ReportError> {
    let mut groups: Vec<Vec<(usize, TestRun)>> = Vec::new();
    for (number, test) in tests {
        let same = |group: &&mut Vec<(usize, TestRun)>| {
            let first = &group[0].1.test;
            let next = group.len() as u32 + 1;
            (&first.id, first.revision, next)
                == (&test.test.id, test.test.revision, test.test.repetition)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push((number, test)),
            None => groups.push(vec![(number, test)]),
        }
    }
    groups.into_iter().map(|group| one(file, steps, group)).collect()
}

/// Makes one test of its repetitions.
fn one(
    file: &RunFile,
    steps: &[StepRecord],
    mut group: Vec<(usize, TestRun)>,
) -> Result<TestRun, ReportError> {
    let repetitions: Vec<Repetition> = group
        .iter()
        .map(|(_, test)| Repetition { headline: test.headline.clone(), also: test.also.clone() })
        .collect();
    if group.len() == 1 {
        return Ok(group.remove(0).1);
    }
    let numbers: Vec<usize> = group.iter().map(|(number, _)| *number).collect();
    let complete = group.iter().all(|(_, test)| test.complete);
    let findings: Vec<StepFinding> =
        group.iter_mut().flat_map(|(_, test)| std::mem::take(&mut test.findings)).collect();
    let mut run = group.swap_remove(middle(&repetitions)).1;
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
    merge_totals(file, steps, &numbers, &mut run)?;
    Ok(run)
}

/// Returns the place of the repetition whose headline lies in the middle: its seconds are shown.
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

/// Gives every point of `run` the samples of all repetitions, whose tests have these numbers.
fn merge_totals(
    file: &RunFile,
    steps: &[StepRecord],
    numbers: &[usize],
    run: &mut TestRun,
) -> Result<(), ReportError> {
    let mut points = run.points.iter_mut().peekable();
    let mut attempts = Vec::new();
    for number in numbers {
        let of_test: Vec<&StepRecord> =
            steps.iter().filter(|step| step.place.test == *number).collect();
        attempts.push(counted(&run.test, &of_test));
    }
    for (phase_index, phase) in run.test.phases.iter().enumerate() {
        for (step_index, step) in phase.steps.iter().enumerate() {
            let workload = match &step.action {
                Action::Run { workload, .. } => workload.clone(),
                Action::Idle(_) => NO_LOAD,
                Action::Prepare(_) | Action::Rest(_) => continue,
            };
            if phase.kind != PhaseKind::Measure {
                continue;
            }
            let place = (phase_index, step_index);
            let all = attempts.iter().filter_map(|counted| counted.get(&place));
            let all: Vec<&StepRecord> =
                all.flat_map(|records| window(&run.test, records)).copied().collect();
            // A step that the shown repetition has not reached has no point.
            let is_here = |point: &&mut PointRun| {
                point.point.label == step.label && point.point.position == step.position
            };
            if let Some(point) = points.next_if(is_here) {
                point.point.totals = read_point(file, step, &workload, &all)?.point.totals;
            }
        }
    }
    Ok(())
}

/// Returns what is found of the order in which the repetitions were carried out.
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
                "the result {way} from each of {} repetitions to the next, by {:.1} % of the mean \
                 in all: they are no repetitions of one state",
                values.len(),
                share.abs() * 100.0
            ),
            "look for what changes: heat, the state of the drive, other work on the host; the \
             interval between repetitions takes the drift for chance",
        ),
    })
}
