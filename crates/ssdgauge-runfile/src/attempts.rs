//! Selection of the recorded attempts that count.

use crate::record::{StepId, StepRecord, StepState};
use ssdgauge_core::search::{Search, TRIALS};
use ssdgauge_core::{PhaseKind, Restart, Test};
use ssdgauge_statistics::steady;
use std::collections::BTreeMap;

/// The attempts that count, by phase and step.
pub type CountedAttempts<'a> = BTreeMap<(usize, usize), Vec<&'a StepRecord>>;

/// Returns the finished attempts of each step that count, by phase and step: the last one, or all
/// of them where the test goes through rounds.
///
/// A test that makes sense only without a pause counts from its last beginning that led to a measured
/// step: where the target has lost its content, a resumed run carries out the preparation of a
/// complete test again, for the tests that follow.
pub fn counted<'a>(test: &Test, attempts: &[&'a StepRecord]) -> CountedAttempts<'a> {
    let place = |step: &StepRecord| (step.place.phase, step.place.step);
    let begun = match test.restart {
        Restart::Step => StepId(i64::MIN),
        Restart::Test => {
            let first = attempts.iter().map(|step| place(step)).min();
            let measured = |step: &&&StepRecord| {
                let phase = test.phases.get(step.place.phase);
                phase.is_some_and(|phase| phase.kind == PhaseKind::Measure)
            };
            let last_measured = attempts.iter().filter(measured).map(|step| step.id).max();
            let beginnings = attempts.iter().filter(|step| Some(place(step)) == first);
            let beginnings = beginnings.map(|step| step.id);
            let led = beginnings.filter(|begun| last_measured.is_none_or(|last| *begun <= last));
            led.max().unwrap_or(StepId(i64::MIN))
        }
    };
    let mut counted = CountedAttempts::new();
    let finished = attempts.iter().filter(|step| step.state == StepState::Finished);
    for step in finished.filter(|step| step.id >= begun) {
        counted.entry(place(step)).or_default().push(step);
    }
    counted
}

/// Returns the records of a step that are its result: the five rounds of a window are one, and so are the
/// trials of a load.
pub fn window<'a, 'b>(test: &Test, records: &'a [&'b StepRecord]) -> &'a [&'b StepRecord] {
    let is_of = |phase: usize| records.first().is_some_and(|record| record.place.phase == phase);
    let is_repeated = |search: &Search| search.repeats && is_of(search.attempts);
    let rounds = match (test.rounds, test.search.as_ref().filter(|one| is_repeated(one))) {
        (Some(_), _) => steady::WINDOW,
        (None, Some(_)) => TRIALS,
        (None, None) => 1,
    };
    &records[records.len().saturating_sub(rounds)..]
}
