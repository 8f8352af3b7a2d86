//! From a run file to the model: every sample that counts, and no number made of them.

mod durability;
mod engine_report;
mod point;
mod proof;
mod repetitions;
mod shown;
mod tracked;
mod wear;

use crate::model::{PointRun, RecordedRepetition, RecordedRun, ReportError, StepFinding};
use durability::RecordedDurability;
use ssdgauge_core::{PhaseKind, Plan, Step, Test};
use ssdgauge_runfile::{
    Contradictions, Digests, FindingRecord, Outcome, Room, RunFile, StepId, StepRecord, attempts,
};
use std::path::Path;

/// What the numbers of a run are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Its samples.
    Samples,
    /// The digest of each step where it matches the samples; otherwise the samples.
    Digests,
}

/// Reads the run file at `path`. The file is left as it was.
pub(crate) fn read(path: &Path, source: Source) -> Result<RecordedRun, ReportError> {
    read_open(&RunFile::open(path)?, path, source)
}

/// Reads the open run file `file`, whose path is `path`.
pub(crate) fn read_open(
    file: &RunFile,
    path: &Path,
    source: Source,
) -> Result<RecordedRun, ReportError> {
    let steps = file.steps()?;
    let findings = file.findings()?;
    let (chain_finding, digests) = match source {
        Source::Samples => (file.chain_finding()?, Digests::default()),
        Source::Digests => file.chain_finding_and_digests(&steps)?,
    };
    let mut room = file.room();
    room.take_steps(&steps)?;
    room.take_findings(&findings)?;
    let head = file.head().clone();
    let durability = durability::read(file)?;
    let proof = proof::read(file, &steps)?;
    let has_ended = match proof {
        Some(proof) => Some(proof.has_ended),
        None => proof::has_xray_ended(file)?,
    };
    let wear = wear::read(file, &steps)?;
    let ended_after = file.repetitions()?;
    let counted = counted_repetitions(&head.plan, &steps, ended_after);
    let mut tests: Vec<(usize, RecordedRepetition)> = Vec::with_capacity(head.plan.tests.len());
    for (index, test) in head.plan.tests.iter().enumerate() {
        if test.repetition > counted {
            continue;
        }
        let attempts: Vec<&StepRecord> =
            steps.iter().filter(|step| step.place.test == index).collect();
        let is_searched = file.is_searched(index)?;
        let from = (file, &digests);
        let mut run = read_repetition(from, &mut room, test, &attempts, (&findings, &durability))?;
        run.is_searched = is_searched;
        run.complete &= is_searched;
        run.complete = has_ended.unwrap_or(run.complete);
        if let Some(rounds) = test.rounds {
            run.complete &= file.has_steadiness_verdict(index, rounds.phase)?;
        }
        tests.push((index, run));
    }
    let is_judged = head.plan.repeat_until.is_none() || ended_after.is_some();
    let is_measured = is_judged && tests.iter().all(|(_, test)| test.complete);
    let awaits_flush = is_measured && file.unflushed(&steps)?.is_some();
    let complete = is_measured && !awaits_flush;
    let tests = repetitions::group(file, &mut room, &steps, tests)?;
    shown::take(&mut room, &tests)?;
    let findings = findings
        .into_iter()
        .filter(|record| record.step.is_none())
        .map(|record| record.finding)
        .chain(chain_finding)
        .collect();
    let durability = durability.of_run();
    // An outcome before the last step is that of an earlier process: the run was continued.
    let is_last = |one: &Outcome| steps.iter().all(|step| step.started_unix_ms <= one.unix_ms);
    let recorded_outcome = file.outcome()?.filter(is_last);
    let file_name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    Ok(RecordedRun {
        head,
        file_name,
        tests,
        findings,
        complete,
        recorded_outcome,
        awaits_flush,
        ended_after,
        durability,
        proof,
        wear,
    })
}

/// Returns how many repetitions of each test belong to the run: all of the plan, or those after which
/// it has ended. A run that has not ended has those that it began, and at least the minimum number of its
/// rule.
fn counted_repetitions(plan: &Plan, steps: &[StepRecord], ended_after: Option<u32>) -> u32 {
    let Some(rule) = plan.repeat_until else { return u32::MAX };
    let begun = steps.iter().filter_map(|step| plan.tests.get(step.place.test));
    let begun = begun.map(|test| test.repetition).max().unwrap_or(0);
    ended_after.unwrap_or(begun.max(rule.at_least))
}

fn read_repetition(
    from @ (file, _): (&RunFile, &Digests),
    room: &mut Room,
    test: &Test,
    attempts: &[&StepRecord],
    (findings, durability): (&[FindingRecord], &RecordedDurability),
) -> Result<RecordedRepetition, ReportError> {
    let counted = attempts::counted(test, attempts);
    let mut points = Vec::new();
    let mut checks = Vec::new();
    let mut contradictory = Vec::new();
    let mut planned = 0;
    let mut complete = true;
    for (phase_index, phase) in test.phases.iter().enumerate() {
        for (step_index, step) in phase.steps.iter().enumerate() {
            let records = counted.get(&(phase_index, step_index));
            complete &= records.is_some() || !test.is_in_order(phase_index);
            let Some(workload) = step.action.measured_workload() else { continue };
            if let (PhaseKind::Check, Some(records)) = (phase.kind, records) {
                let window = attempts::window(test, records);
                let mut found = Contradictions::default();
                checks.push(point::read(from, room, step, workload, window, &mut found)?);
                contradictory.extend(found_in(step, &found));
            }
            if phase.kind == PhaseKind::Measure {
                let is_search = test.search.is_some() && !test.is_in_order(phase_index);
                planned += usize::from(records.is_some() || !is_search);
                if let Some(records) = records {
                    let window = attempts::window(test, records);
                    let flush = durability.flush_after(window);
                    let mut found = Contradictions::default();
                    let point = point::read(from, room, step, workload, window, &mut found)?;
                    contradictory.extend(found_in(step, &found));
                    points.push(PointRun { flush, ..point });
                }
            }
        }
    }
    contradictory.extend(step_findings(test, attempts, findings));
    Ok(RecordedRepetition {
        test: test.clone(),
        points,
        checks,
        planned,
        findings: contradictory,
        complete,
        is_searched: true,
        tracked: tracked::tracked(file, test, &counted)?,
    })
}

/// Returns the findings on what the samples of `step` contradict.
fn found_in(step: &Step, found: &Contradictions) -> impl Iterator<Item = StepFinding> {
    let label = step.label.clone();
    found.findings().into_iter().map(move |finding| StepFinding {
        step: Some(label.clone()),
        metrics: Vec::new(),
        finding,
    })
}

/// Returns the findings of a test's steps, each with the label of its step.
fn step_findings(
    test: &Test,
    attempts: &[&StepRecord],
    findings: &[FindingRecord],
) -> Vec<StepFinding> {
    let label = |step: StepId| {
        let place = attempts.iter().find(|attempt| attempt.id == step)?.place;
        Some(test.phases.get(place.phase)?.steps.get(place.step)?.label.clone())
    };
    findings
        .iter()
        .filter_map(|record| {
            let step = label(record.step?)?;
            let finding = record.finding.clone();
            Some(StepFinding { step: Some(step), metrics: Vec::new(), finding })
        })
        .collect()
}
