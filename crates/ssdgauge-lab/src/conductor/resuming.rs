//! Continuation of a run that was interrupted.

use super::remaining::{TriedLoads, count_earlier, places, remaining, searches, step_at};
use super::replay::Replay;
use super::{Boot, Completion, ConductError, Conductor, Watcher};
use crate::pause::Pause;
use crate::proof::Recorded;
use crate::xray::RecordedXray;
use ssdgauge_core::{
    Action, DriveInfo, FindingKind, Plan, ReadBack, Restart, Rig, RigError, TargetKind,
};
use ssdgauge_runfile::{
    PropertyRecord, RunFile, RunFileError, StepId, StepPlace, StepRecord, StepState, VERIFIED,
    Writer,
};
use std::collections::{BTreeMap, VecDeque};

/// Continues the run of `run`, which `writer` has open.
///
/// Finished steps are kept. A virtual drive repeats them without a record, and continues where the run
/// was interrupted: its samples are those of an uninterrupted run. On other targets a test with
/// [`Restart::Test`] is executed again from its preparation, because its steps depend on each other
/// without a pause, and the content of a scratch file is written again. The pause is recorded as a
/// finding, and `program`, which continues the run, as the property `resumed_by`.
///
/// # Errors
///
/// [`ConductError::OtherDrive`] before anything is written, where the drive is not that of the run,
/// and [`ConductError::Differs`] where a virtual drive does not repeat a recorded step;
/// otherwise those of [`super::conduct`].
pub fn resume(
    run: &RunFile,
    rig: &mut dyn Rig,
    writer: &mut Writer,
    watcher: &mut dyn Watcher,
    program: &str,
) -> Result<Completion, ConductError> {
    let head = run.head();
    let (began_with, now) = (head.drive.fingerprint(), rig.drive().fingerprint());
    if began_with != now {
        return Err(ConductError::OtherDrive { began_with, now });
    }
    let records = run.steps()?;
    let attempts: BTreeMap<_, _> =
        records.iter().map(|record| (record.place, record.attempt)).collect();
    let adaptive = Adaptive::read(run)?;
    let rest = match &adaptive {
        Some(adaptive) => (!adaptive.is_over()).then(Rest::default),
        None => Rest::read(run, &records, false)?,
    };
    let Some(mut rest) = rest else { return complete(run) };
    let last = records.iter().map(|record| record.ended_unix_ms.unwrap_or(record.started_unix_ms));
    let last = last.chain(adaptive.as_ref().and_then(Adaptive::last_unix_ms));
    let last = last.max().unwrap_or(head.started_unix_ms);
    let pause = Pause::between(last, watcher.unix_ms(), clock_shift(run, watcher)?);
    let resumed = |again: &str| (pause.finding(again), program.to_owned());
    if let Some(mut adaptive) = adaptive {
        // A virtual drive ends with its process, and repeats everything.
        let again = match &mut adaptive {
            Adaptive::Xray(xray) if !rig.drive().is_model() => xray.keep_over_pause(),
            Adaptive::Xray(_) | Adaptive::Proof(_) => String::new(),
        };
        let mut conductor = Conductor::new(&head.plan, rig, writer, watcher);
        (conductor.attempts, conductor.resumed) = (attempts, Some(resumed(&again)));
        conductor.record_resumed()?;
        if let Some(finding) = pause.clock_finding() {
            conductor.find(finding)?;
        }
        return match &adaptive {
            Adaptive::Xray(xray) => conductor.examine(xray),
            Adaptive::Proof(proof) => conductor.prove(proof),
        };
    }
    if rig.drive().is_model() {
        let finished: VecDeque<StepRecord> =
            records.into_iter().filter(|record| record.state == StepState::Finished).collect();
        watcher.replay_began(finished.len());
        let replay = Replay::new(run, finished)?;
        let mut conductor = Conductor::new(&head.plan, rig, writer, watcher);
        (conductor.attempts, conductor.replay) = (attempts, Some(replay));
        conductor.resumed = Some(resumed(""));
        return conductor.execute(&places(&head.plan), 0);
    }
    let lost = match rest.todo.is_empty() {
        true => None,
        false => lost_contents(&head.plan, &records, rig)?,
    };
    if lost.is_some() {
        rest = Rest::read(run, &records, true)?.unwrap_or(rest);
    }
    let Rest { from, todo, tried, unsecured } = rest;
    count_earlier(&head.plan, &records, &todo, rig);
    let mut conductor = Conductor::new(&head.plan, rig, writer, watcher);
    (conductor.attempts, conductor.tried) = (attempts, tried);
    let was_begun = records.iter().any(|record| record.place.test == from);
    let is_over = todo.is_empty() && from == head.plan.tests.len();
    conductor.written_by = unsecured.filter(|_| is_over);
    // Another version of the program may have written other data: what it wrote is flushed only. A
    // scratch file ended with its process. Reads of what was filled are verified from now on.
    let is_ours = head.program == program && conductor.rig.drive().kind == TargetKind::Block;
    if is_ours && lost.is_none() {
        for record in &records {
            let is_finished = record.state == StepState::Finished;
            let action = &step_at(&head.plan, record.place).action;
            conductor.rig.carried_out_earlier(action, is_finished);
        }
    }
    let again = match head.plan.tests.get(from) {
        Some(test) if lost.is_some() => format!(
            "; {}: test '{}' was started again with its preparation",
            lost.unwrap_or_default(),
            test.title
        ),
        Some(test) if test.restart == Restart::Test && was_begun => format!(
            "; test '{}' was started again with its preparation, because its steps depend on each \
             other without a pause",
            test.title
        ),
        Some(_) | None => String::new(),
    };
    conductor.resumed = Some(resumed(&again));
    conductor.record_resumed()?;
    if let Some(finding) = pause.clock_finding() {
        conductor.find(finding)?;
    }
    conductor.execute(&todo, from)
}

/// Returns by how much the time of day was set since the last process of `run` began, in milliseconds;
/// `None` where the machine was booted meanwhile, or that is not known.
fn clock_shift(run: &RunFile, watcher: &mut dyn Watcher) -> Result<Option<i64>, RunFileError> {
    let properties = run.properties()?;
    let of_run = |property: &&PropertyRecord| property.step.is_none() && property.key == Boot::KEY;
    let last = properties.iter().rfind(of_run).and_then(|property| Boot::parse(&property.value));
    let same = watcher.boot().zip(last).filter(|(now, last)| now.id == last.id);
    Ok(same.map(|(now, last)| now.unix_ms - last.unix_ms))
}

/// Returns what the drive holds in place of the data that the run had filled, in words; `None` where it
/// holds that data, as far as a sample shows it, or where nothing was filled.
fn lost_contents(
    plan: &Plan,
    records: &[StepRecord],
    rig: &mut dyn Rig,
) -> Result<Option<String>, RigError> {
    let earlier: Vec<(&Action, bool)> = records
        .iter()
        .map(|record| {
            let is_finished = record.state == StepState::Finished;
            (&step_at(plan, record.place).action, is_finished)
        })
        .collect();
    let Some(ReadBack { read, lost, .. }) = rig.read_earlier(&earlier)? else { return Ok(None) };
    Ok(lost.first().map(|first| {
        format!(
            "the drive was changed meanwhile, {} of {read} sampled blocks no longer hold what the \
             run had filled ({} at byte {})",
            lost.len(),
            first.found,
            first.offset
        )
    }))
}

/// Returns how the run of `run` ended, if nothing of it is left to do: nothing is written then. `None`
/// where [`resume`] continues it.
///
/// # Errors
///
/// As [`resume`] returns them.
pub fn ended(run: &RunFile) -> Result<Option<Completion>, ConductError> {
    if let Some(adaptive) = Adaptive::read(run)? {
        return Ok(adaptive.is_over().then_some(Completion::Finished));
    }
    match Rest::read(run, &run.steps()?, false)? {
        None => complete(run).map(Some),
        Some(_) => Ok(None),
    }
}

/// The record of a run whose requests follow from the answers so far.
enum Adaptive {
    Xray(RecordedXray),
    Proof(Recorded),
}

impl Adaptive {
    /// Reads the record of `run`; `None` where it carries out a suite.
    fn read(run: &RunFile) -> Result<Option<Adaptive>, RunFileError> {
        if let Some(xray) = RecordedXray::read(run)? {
            return Ok(Some(Adaptive::Xray(xray)));
        }
        Ok(Recorded::read(run)?.map(Adaptive::Proof))
    }

    fn is_over(&self) -> bool {
        match self {
            Adaptive::Xray(xray) => xray.has_ended,
            Adaptive::Proof(proof) => proof.is_over(),
        }
    }

    /// Returns when the last operation of a proof was recorded; those of an X-ray are steps.
    fn last_unix_ms(&self) -> Option<i64> {
        match self {
            Adaptive::Xray(_) => None,
            Adaptive::Proof(proof) => proof.last_unix_ms(),
        }
    }
}

/// What is left to do of a run.
#[derive(Default)]
struct Rest {
    /// The test with which it begins; the number of tests where all steps are finished.
    from: usize,
    /// The steps.
    todo: Vec<StepPlace>,
    /// The loads that the searches have tried.
    tried: TriedLoads,
    /// The step whose data was not flushed.
    unsecured: Option<StepId>,
}

impl Rest {
    /// Reads what is left of `run`, whose steps are `records`, on a drive that holds what the run had
    /// filled, or where `is_lost`, no longer; `None` for nothing.
    fn read(
        run: &RunFile,
        records: &[StepRecord],
        is_lost: bool,
    ) -> Result<Option<Rest>, ConductError> {
        let head = run.head();
        let is_finished = |record: &&StepRecord| record.state == StepState::Finished;
        let finished: Vec<_> =
            records.iter().filter(is_finished).map(|record| record.place).collect();
        let (tried, unfinished) = searches(run)?;
        let is_judged = run.repetitions()?.is_some();
        // Where every step is finished, the verdict on the last turn may be missing.
        let awaits_verdict = head.plan.repeat_until.is_some() && !is_judged;
        let todo = remaining(&head.plan, &finished, unfinished, &head.drive, is_lost);
        let todo = todo.filter(|_| !is_judged);
        let unsecured = run.unflushed(records)?;
        let unverified = is_unverified(run, records, &head.drive)?;
        let waits = awaits_verdict || unsecured.is_some() || unverified;
        let todo = todo.or(waits.then(|| (head.plan.tests.len(), Vec::new())));
        Ok(todo.map(|(from, todo)| Rest { from, todo, tried, unsecured }))
    }
}

/// Returns that nothing of `run` is left to do.
///
/// # Errors
///
/// [`RigError::NotKept`] where the run found that the drive did not keep what was written: its failure
/// stays one.
fn complete(run: &RunFile) -> Result<Completion, ConductError> {
    let is_loss =
        |kind: &FindingKind| matches!(kind, FindingKind::LostWrites | FindingKind::VerifyFailed);
    match run.findings()?.into_iter().find(|record| is_loss(&record.finding.kind)) {
        None => Ok(Completion::Finished),
        Some(record) => {
            let (drive, what) = (run.head().drive.target.clone(), record.finding.text);
            Err(RigError::NotKept { drive, what }.into())
        }
    }
}

/// Returns whether `run` was to be verified, and was killed before the end of the verification. A
/// scratch file ended with its process.
fn is_unverified(
    run: &RunFile,
    records: &[StepRecord],
    drive: &DriveInfo,
) -> Result<bool, ConductError> {
    let plan = &run.head().plan;
    let wrote = |record: &StepRecord| step_at(plan, record.place).action.writes();
    let is_kept = matches!(drive.kind, TargetKind::Block | TargetKind::Virtual);
    let is_required = plan.verify && is_kept && records.iter().any(wrote);
    Ok(is_required && !run.properties()?.iter().any(|property| property.key == VERIFIED))
}
