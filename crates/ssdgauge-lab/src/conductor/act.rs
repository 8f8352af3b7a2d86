//! One action of a plan, carried out on a rig.

use super::rounds::Rounds;
use super::sink::StepSink;
use ssdgauge_core::{Action, EndedBy, Histogram, Nanos, OpenLoop, Rig, RigError, Sink};

/// What an action came to.
pub(super) struct Done {
    pub(super) by: By,
    pub(super) elapsed: Nanos,
    pub(super) report: String,
    /// The times of the first stream from sending to completion, where it is an open loop.
    pub(super) service: Option<Histogram>,
}

/// What ended an action.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A limit of its workload.
    Limit(EndedBy),
    /// The rule of steadiness.
    Steady,
    /// It was done.
    Done,
}

impl By {
    /// Returns the word used in run files and pages.
    pub(super) fn name(self) -> &'static str {
        match self {
            By::Limit(limit) => limit.name(),
            By::Steady => "steady",
            By::Done => "done",
        }
    }

    fn stopped(stopped: bool) -> By {
        if stopped { By::Limit(EndedBy::Stop) } else { By::Done }
    }
}

/// Carries out `action`, and writes what happens into `sink`.
pub(super) fn act(
    rig: &mut dyn Rig,
    action: &Action,
    sink: &mut StepSink<'_>,
) -> Result<Done, RigError> {
    let json = "reports always serialise";
    match action {
        Action::Prepare(preparation) => {
            let prepared = rig.prepare(preparation, sink)?;
            let by = By::stopped(prepared.stopped);
            let report = serde_json::to_string(&prepared).expect(json);
            Ok(Done { by, elapsed: prepared.elapsed, report, service: None })
        }
        Action::Run { workload, until, steady } => {
            sink.rounds = steady.map(Rounds::new);
            let ended = rig.run(workload, until, sink)?;
            let rounds = sink.rounds.take();
            let verdict = rounds.as_ref().and_then(Rounds::steady);
            let by = match (ended.by, verdict) {
                (EndedBy::Stop, Some(_)) => By::Steady,
                (by, _) => By::Limit(by),
            };
            let report = serde_json::to_string(&ended.engine).expect(json);
            match (rounds, by) {
                (Some(_), By::Limit(EndedBy::Stop | EndedBy::Faults)) | (None, _) => {}
                (Some(rounds), By::Limit(_) | By::Steady | By::Done) => {
                    sink.finding(rounds.finding());
                }
            }
            let service = ended.engine.open_loop.first().and_then(OpenLoop::service);
            Ok(Done { by, elapsed: ended.elapsed, report, service })
        }
        Action::Rest(duration) => {
            rig.rest(*duration, sink)?;
            Ok(left_alone(*duration, sink))
        }
        Action::Idle(duration) => {
            rig.idle(*duration, sink)?;
            Ok(left_alone(*duration, sink))
        }
    }
}

fn left_alone(duration: Nanos, sink: &mut StepSink<'_>) -> Done {
    Done { by: By::stopped(sink.stop()), elapsed: duration, report: "{}".into(), service: None }
}
