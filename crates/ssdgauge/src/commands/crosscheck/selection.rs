//! The steps of a run file that are checked, and why others are not.

use crate::failure::{Failure, FailureKind};
use ssdgauge_core::{Action, Bytes, Nanos, PhaseKind, Plan, Step, Test, Until, Workload};
use ssdgauge_runfile::{StepRecord, StepState};
use std::collections::BTreeSet;

/// The shortest repetition that is judged. fio states its time in whole milliseconds, and both programs need some to
/// begin and to end: a few of them are a large part of the limit of 2 % below this time. Chosen.
pub(super) const LEAST_TIME: Nanos = Nanos(500_000_000);

/// A step that both programs run.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckedStep<'a> {
    /// Its number in the run file.
    pub(super) number: i64,
    pub(super) test: &'a Test,
    pub(super) step: &'a Step,
    pub(super) workload: &'a Workload,
    /// Its limits, with the longest time of a repetition.
    pub(super) until: Until,
}

impl CheckedStep<'_> {
    /// Returns its name, as `--step` takes it.
    pub(super) fn name(&self) -> String {
        name_of(self.test, self.step)
    }
}

/// A step that is not checked.
#[derive(Debug)]
pub(super) struct LeftOutStep {
    pub(super) number: i64,
    pub(super) name: String,
    /// The reasons, one text each.
    pub(super) reasons: Vec<String>,
    /// Whether it is too short, and nothing else is in the way.
    pub(super) is_short: bool,
}

/// The steps of a run file.
#[derive(Debug, Default)]
pub(super) struct Selection<'a> {
    pub(super) checked: Vec<CheckedStep<'a>>,
    pub(super) left_out: Vec<LeftOutStep>,
}

/// What is to be checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// The steps by number or name; empty for all measured ones.
    pub(super) steps: &'a [String],
    /// Whether steps that write are included.
    pub(super) writes: bool,
    /// The longest time of a repetition.
    pub(super) time: Nanos,
}

/// Selects the finished steps of `records` that are `wanted`, each once.
///
/// # Errors
///
/// Fails where a named step is not a finished one of the run.
pub(super) fn select<'a>(
    plan: &'a Plan,
    records: &[StepRecord],
    wanted: Wanted<'_>,
) -> Result<Selection<'a>, Failure> {
    let mut selection = Selection::default();
    let mut seen = BTreeSet::new();
    let mut named: BTreeSet<&str> = BTreeSet::new();
    let mut known = Vec::new();
    for record in records.iter().filter(|record| record.state == StepState::Finished) {
        let place = record.place;
        let test = &plan.tests[place.test];
        let phase = &test.phases[place.phase];
        let step = &phase.steps[place.step];
        let number = record.id.0;
        let is_measured = phase.kind == PhaseKind::Measure && step.action.workload().is_some();
        if is_measured {
            known.push((number, name_of(test, step)));
        }
        let names: Vec<&str> = wanted
            .steps
            .iter()
            .map(String::as_str)
            .filter(|name| {
                let is_whole_test = is_measured && *name == test.id;
                is_whole_test || *name == name_of(test, step) || name.parse() == Ok(number)
            })
            .collect();
        named.extend(&names);
        let is_wanted = if wanted.steps.is_empty() { is_measured } else { !names.is_empty() };
        // Repetitions of a test have equal steps; a step is attempted again after an interruption.
        if !is_wanted || !seen.insert((&test.id, place.phase, place.step)) {
            continue;
        }
        let mut reasons = ssdgauge_fio::limitations(test, place.phase, step);
        reasons.iter_mut().for_each(|reason| *reason = format!("fio cannot do {reason}"));
        if step.action.is_destructive() && !wanted.writes {
            reasons.push("it writes, and --writes is not given".into());
        }
        let time = match &step.action {
            Action::Run { until, .. } => limited(*until, wanted.time).time,
            Action::Replay(_) | Action::Prepare(_) | Action::Rest(_) | Action::Idle(_) => None,
        };
        let mut is_short = false;
        if let Some(time) = time.filter(|time| *time < LEAST_TIME) {
            is_short = reasons.is_empty();
            reasons.push(too_short(time));
        }
        match &step.action {
            Action::Run { workload, until, .. } if reasons.is_empty() => {
                let until = limited(*until, wanted.time);
                selection.checked.push(CheckedStep { number, test, step, workload, until });
            }
            Action::Run { .. }
            | Action::Replay(_)
            | Action::Prepare(_)
            | Action::Rest(_)
            | Action::Idle(_) => {
                let name = name_of(test, step);
                selection.left_out.push(LeftOutStep { number, name, reasons, is_short });
            }
        }
    }
    match wanted.steps.iter().find(|name| !named.contains(name.as_str())) {
        Some(missing) => Err(unknown(missing, &known)),
        None => Ok(selection),
    }
}

/// Returns the reason for which a repetition of `time` is not judged.
pub(super) fn too_short(time: Nanos) -> String {
    format!(
        "a repetition takes {}, and one below {} is too short to judge",
        time.about(),
        LEAST_TIME.about()
    )
}

/// Returns the end of the range that the checked steps address.
pub(super) fn extent(checked: &[CheckedStep<'_>]) -> Bytes {
    checked.iter().map(|one| one.step.action.end()).max().unwrap_or_default()
}

fn limited(until: Until, time: Nanos) -> Until {
    Until { time: Some(until.time.map_or(time, |own| own.min(time))), bytes: until.bytes }
}

fn name_of(test: &Test, step: &Step) -> String {
    format!("{}/{}", test.id, step.label)
}

fn unknown(name: &str, known: &[(i64, String)]) -> Failure {
    /// The maximum number of names in a message.
    const MOST: usize = 6;
    let error = format!("the run has no finished step '{name}'");
    let names = known.iter().take(MOST).map(|(number, name)| format!("{number} {name}"));
    let names = names.collect::<Vec<_>>().join(", ");
    let more = if known.len() > MOST { ", …" } else { "" };
    let hint = format!(
        "nothing was written; name a step by its number, as TEST or as TEST/LABEL; measured steps: \
         {names}{more}"
    );
    Failure::new(FailureKind::Usage, error, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_takes_the_time_of_the_step_or_the_limit_whichever_is_shorter() {
        let limit = Nanos::from_secs(30);
        let until = |time: Option<u64>, bytes| Until { time: time.map(Nanos::from_secs), bytes };
        assert_eq!(limited(until(Some(5), None), limit), until(Some(5), None));
        assert_eq!(limited(until(Some(600), None), limit), until(Some(30), None));
        let bytes = Some(Bytes(1 << 30));
        assert_eq!(limited(until(None, bytes), limit), until(Some(30), bytes));
    }
}
