//! Execution of one action of a plan on a rig.

use super::rounds::RoundValues;
use super::sink::StepSink;
use super::slices::Slices;
use ssdgauge_core::{
    Action, EndedBy, Histogram, Nanos, OpenLoop, Rig, RigError, Sink, SteadyRounds,
};

/// Result of an action.
pub(super) struct Done {
    /// What ended it.
    pub(super) by: By,
    /// Its duration by the clock of the rig.
    pub(super) elapsed: Nanos,
    /// Report of the engine or the preparation, as JSON.
    pub(super) report: String,
    /// Service times of the first stream, from submission to completion, where it is an open loop.
    pub(super) service: Option<Histogram>,
}

/// End of an action.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// At a limit of its workload.
    Limit(EndedBy),
    /// At a steady state.
    Steady,
    /// When an attempt of a search could no longer pass.
    TooSlow,
    /// Complete, without a limit.
    Done,
}

impl By {
    /// Returns the value of `ended_by` in run files and pages.
    pub(super) fn name(self) -> &'static str {
        match self {
            By::Limit(limit) => limit.name(),
            By::Steady => "steady",
            By::TooSlow => "too-slow",
            By::Done => "done",
        }
    }

    fn from_stopped(stopped: bool) -> By {
        if stopped { By::Limit(EndedBy::Stop) } else { By::Done }
    }
}

/// Executes `action` and passes its samples to `sink`.
pub(super) fn act(
    rig: &mut dyn Rig,
    action: &Action,
    sink: &mut StepSink<'_>,
) -> Result<Done, RigError> {
    let json = "reports always serialise";
    match action {
        Action::Prepare(preparation) => {
            let prepared = rig.prepare(preparation, sink)?;
            let by = By::from_stopped(prepared.stopped);
            let report = serde_json::to_string(&prepared).expect(json);
            Ok(Done { by, elapsed: prepared.elapsed, report, service: None })
        }
        Action::Run { workload, until, steady } => {
            sink.rounds = steady.map(SteadyRounds::new);
            let ended = rig.run(workload, until, sink)?;
            let rounds = sink.rounds.take();
            let verdict = rounds.as_ref().and_then(SteadyRounds::steady);
            // The sink ends a steady step by a stop request, so a stop with a verdict is the rule; a
            // step that cannot pass likewise.
            let is_too_slow = sink.slices.as_ref().is_some_and(Slices::cannot_pass);
            let by = match (ended.by, verdict) {
                (EndedBy::Stop, Some(_)) => By::Steady,
                (EndedBy::Stop, None) if is_too_slow => By::TooSlow,
                (by, _) => By::Limit(by),
            };
            let report = serde_json::to_string(&ended.engine).expect(json);
            // A step that was stopped or failed is executed again: it has no verdict.
            match (steady.zip(rounds), by) {
                (Some(_), By::Limit(EndedBy::Stop | EndedBy::Faults)) | (None, _) => {}
                (Some((rule, rounds)), By::Limit(_) | By::Steady | By::TooSlow | By::Done) => {
                    let round = format!("rounds of {}", rule.describe_round());
                    sink.finding(RoundValues::from_step(rule, &rounds).finding(&round));
                }
            }
            let service = ended.engine.open_loop.first().and_then(OpenLoop::service);
            Ok(Done { by, elapsed: ended.elapsed, report, service })
        }
        Action::Rest(duration) => {
            rig.rest(*duration, sink)?;
            Ok(paused(*duration, sink))
        }
        Action::Idle(duration) => {
            rig.idle(*duration, sink)?;
            Ok(paused(*duration, sink))
        }
    }
}

/// Returns the result of a pause without a load.
fn paused(duration: Nanos, sink: &mut StepSink<'_>) -> Done {
    Done {
        by: By::from_stopped(sink.stop()),
        elapsed: duration,
        report: "{}".into(),
        service: None,
    }
}
