//! Searches and rounds of a test: steps whose number is not known before the run.

use super::rounds::RoundValues;
use super::{ConductError, Conductor};
use ssdgauge_core::search::{Next, SearchRule};
use ssdgauge_runfile::{FindingRecord, StepPlace};

impl Conductor<'_> {
    /// Executes the rounds of `test` until five of them are steady; returns false after a stop.
    ///
    /// Rounds are not resumed in the middle: the reader of suites requires `restart = "test"`,
    /// because a pause between rounds would change the state that the rule judges.
    pub(super) fn rounds(&mut self, test: usize) -> Result<bool, ConductError> {
        let plan = self.plan;
        let Some(rounds) = plan.tests[test].rounds else { return Ok(true) };
        let steps = plan.tests[test].phases[rounds.phase].steps.len();
        let mut values = RoundValues::new(rounds.metric);
        for _ in 0..rounds.at_most {
            for step in 0..steps {
                let place = StepPlace { test, phase: rounds.phase, step };
                if self.watcher.stop() || !self.execute_step(place)? {
                    return Ok(false);
                }
                if step == rounds.tracking {
                    values.push(&self.last_totals);
                }
            }
            if values.steady().is_some() {
                break;
            }
        }
        if let Some(replay) = &self.replay
            && replay.has_verdict(test, rounds.phase)?
        {
            return Ok(true);
        }
        let finding = values.finding("rounds");
        self.watcher.finding_recorded(&finding);
        let unix_ms = self.watcher.unix_ms();
        self.writer.finding(&FindingRecord { step: self.last_step, unix_ms, finding })?;
        self.commit()?;
        Ok(true)
    }

    /// Searches for the highest load that `test` passes; returns false after a stop.
    ///
    /// Every load is a step of the plan; `Search::next` selects the next one from the attempts so
    /// far, so a resumed search continues where it was interrupted.
    pub(super) fn search(&mut self, test: usize) -> Result<bool, ConductError> {
        let plan = self.plan;
        let Some(search) = &plan.tests[test].search else { return Ok(true) };
        let loads = plan.tests[test].phases[search.attempts].steps.len();
        // A load that did not pass leaves a backlog of garbage collection, which would fail the
        // next, lower load. The state after a pause is unknown, so a resumed search reconditions
        // too.
        let mut needs_recondition = self.tried.values().any(|attempts| !attempts.is_empty());
        loop {
            let tried = |phase: usize| self.tried.get(&(test, phase)).cloned().unwrap_or_default();
            let (probes, attempts) = (tried(search.probes), tried(search.attempts));
            let (phase, step) = match search.next(loads, &probes, &attempts) {
                Next::Probe(load_index) => (search.probes, load_index),
                Next::Attempt(load_index) => (search.attempts, load_index),
                Next::Done(_) => return Ok(true),
            };
            needs_recondition = match search.rule {
                SearchRule::DownFromProbe => needs_recondition,
                // Every attempt begins in one state; probes only select the first attempt.
                SearchRule::FromOneState => phase == search.attempts,
            };
            let phases = search.recondition.iter().filter(|_| needs_recondition);
            let recondition = phases.flat_map(|phase| {
                let steps = 0..plan.tests[test].phases[*phase].steps.len();
                steps.map(|step| StepPlace { test, phase: *phase, step })
            });
            for place in recondition.chain([StepPlace { test, phase, step }]) {
                if self.watcher.stop() || !self.execute_step(place)? {
                    return Ok(false);
                }
            }
            let last = self.tried.get(&(test, phase)).and_then(|tried| tried.last());
            needs_recondition = last.is_some_and(|last| !last.passed);
        }
    }
}
