//! One replay of a trace: the checks of a load before it, the engine, and what is judged after it.

use super::LinuxRig;
use super::instruments::PollPolicy;
use crate::monitor::{self, Counted};
use ssdgauge_core::rounded::count;
use ssdgauge_core::{
    Ended, Finding, FindingKind, RecordedRequests, Replay, RigError, Severity, Sink,
};
use ssdgauge_engine::{Outcome, ReplayLoad, run_replay};
use ssdgauge_guard::StepBytes;

impl LinuxRig {
    /// Replays `requests`, those of `replay`.
    pub(super) fn replay_requests(
        &mut self,
        replay: &Replay,
        requests: Box<dyn RecordedRequests>,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        let workload = &replay.workload;
        let mut transfers = workload.clone();
        transfers.streams.retain(|stream| !stream.trims());
        // Also where the trace discards blocks that it reads later: a finding says so.
        self.check_filled(&transfers)?;
        self.report_page_cache(sink);
        holes(self.is_block(), replay).into_iter().for_each(|finding| sink.finding(finding));
        let found = monitor::find_unwritten_reads(&self.target, &self.verification, workload);
        found.into_iter().for_each(|finding| sink.finding(finding));
        let outcome = self.with_instruments(PollPolicy::Poll, sink, |rig, sink| {
            let outcome = rig.replay_load(replay, requests, sink)?;
            let elapsed = outcome.elapsed;
            Ok((outcome, elapsed))
        })?;
        Ok(Ended { by: outcome.by, elapsed: outcome.elapsed, engine: outcome.report })
    }

    fn replay_load(
        &mut self,
        replay: &Replay,
        requests: Box<dyn RecordedRequests>,
        sink: &mut dyn Sink,
    ) -> Result<Outcome, RigError> {
        let workload = &replay.workload;
        if workload.changes_data() {
            self.budget.before_writing(&self.target, Some(replay.bytes[1]), sink)?;
            self.verification.advance();
            // What each block holds after a replay is not followed, so it is not verified.
            self.verification.invalidate(0, workload.end().0);
        }
        self.supervise((workload, Counted::All), true, sink, |rig, sink| {
            rig.run_replay(replay, requests, sink)
        })
    }

    /// Runs the engine, and returns its outcome and the bytes that it wrote.
    fn run_replay(
        &mut self,
        replay: &Replay,
        requests: Box<dyn RecordedRequests>,
        sink: &mut dyn Sink,
    ) -> Result<(Outcome, StepBytes), RigError> {
        let workload = &replay.workload;
        let mut counting = self.budget.count_writes(workload, &replay.until, sink);
        // Counted like a load, so that the requests of later steps differ from those of earlier ones.
        self.step_numbers.next(workload, &replay.until);
        let load = ReplayLoad {
            device: &self.device(),
            replay,
            pool: &self.pool,
            verification: &self.verification,
            stop_requested: &self.stop_requested,
        };
        let outcome = run_replay(&load, requests, &mut counting);
        let bytes = counting.bytes();
        let outcome = outcome.map_err(|cause| RigError::System {
            what: format!("cannot replay the trace on {}", self.info.target),
            cause,
        })?;
        Ok((outcome, bytes))
    }
}

/// Returns the finding that trims of a file make holes, where there are any.
fn holes(is_block: bool, replay: &Replay) -> Option<Finding> {
    let [trims, _] = replay.commands;
    (!is_block && trims > 0).then(|| {
        Finding::new(
            FindingKind::Unwritten,
            Severity::Warning,
            format!(
                "{} trims made holes in the scratch file ({}): the file system completes reads of \
                 them without the drive",
                count(trims),
                replay.trimmed.about()
            ),
            "replay a trace with discards on a drive",
        )
    })
}
