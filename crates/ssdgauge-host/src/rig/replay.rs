//! One replay of a trace: the checks of a load before it, the engine, and what is judged after it.

use super::LinuxRig;
use super::instruments::PollPolicy;
use crate::monitor::{self, InterferenceMonitor, LatencyWatch};
use ssdgauge_core::{
    Ended, EndedBy, Finding, FindingKind, RecordedRequests, Replay, RigError, Severity, Sink,
};
use ssdgauge_engine::io_errors;
use ssdgauge_engine::{Outcome, ReplayLoad, run_replay};
use std::time::Instant;

impl LinuxRig {
    /// Replays `requests`, those of `replay`.
    pub(super) fn replay_requests(
        &mut self,
        replay: &Replay,
        requests: Box<dyn RecordedRequests>,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        let workload = &replay.workload;
        self.check_filled(workload)?;
        if let Some(reason) = &self.page_cache_reason {
            sink.finding(Finding::new(
                FindingKind::PageCache,
                Severity::Invalid,
                format!("requests went through the page cache: {reason}"),
                "name a folder on a file system with O_DIRECT, such as ext4 or xfs on the drive",
            ));
        }
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
        if workload.writes() {
            self.budget.before_writing(&self.target, Some(replay.bytes[1]), sink)?;
            self.verification.advance();
            // What each block holds behind a replay is not followed, so it is not verified.
            self.verification.invalidate(0, workload.end().0);
        }
        let folder = self.backing.as_ref().map(|backing| backing.folder.as_path());
        let node = self.backing.as_ref().and_then(|backing| backing.node.as_deref());
        let interference = InterferenceMonitor::begin(folder, node);
        if let Some(health) = &mut self.health {
            health.begin(true, sink);
        }
        let since = Instant::now();
        let mut latencies = LatencyWatch::new(sink);
        let mut counting = self.budget.count_writes(workload, &replay.until, &mut latencies);
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
        let mut outcome = outcome.map_err(|cause| RigError::System {
            what: format!("cannot replay the trace on {}", self.info.target),
            cause,
        })?;
        let step = monitor::Step {
            kind: self.info.kind,
            workload,
            elapsed: outcome.elapsed,
            ios: outcome.ios.iter().sum(),
            in_flight: outcome.report.in_flight,
            whole: outcome.faults.is_empty() && outcome.silence.is_none(),
            stopped: outcome.by == EndedBy::Stop,
            page_cached: self.page_cache_reason.is_some(),
        };
        let (findings, kernel) = interference.end(&step, &latencies);
        outcome.report.kernel = kernel;
        if let Some(health) = &mut self.health {
            health.end(since, outcome.elapsed, step.whole, sink);
        }
        findings.into_iter().for_each(|finding| sink.finding(finding));
        self.record_failures(workload, &outcome);
        let size = || self.current_size();
        io_errors::judge(&self.info, self.opened_size, size, &outcome, sink)?;
        self.budget.after_writing(&self.info.target, bytes, sink)?;
        Ok(outcome)
    }
}
