//! One load of a rig: the checks before it, the engine, and what is recorded and judged after it.

use super::LinuxRig;
use crate::monitor::{self, Counted, DisturbanceMonitor, LatencyWatch, PauseMonitor};
use ssdgauge_core::{
    EndedBy, Finding, FindingKind, RigError, Severity, Sink, Stream, Until, Workload,
};
use ssdgauge_engine::io_errors;
use ssdgauge_engine::{self as engine, Load, Outcome, RingFlags, SentBy};
use ssdgauge_guard::StepBytes;
use std::time::Instant;

impl LinuxRig {
    /// Runs `workload` `until` a limit; `covering` says that each block of its span is written
    /// once.
    pub(super) fn load(
        &mut self,
        workload: &Workload,
        until: &Until,
        covering: bool,
        sink: &mut dyn Sink,
    ) -> Result<Outcome, RigError> {
        if workload.changes_data() {
            self.budget.before_writing(&self.target, until.bytes, sink)?;
        }
        self.begin_verification(workload, covering);
        let depths = workload.streams.iter().map(|one| u64::from(one.total_depth()));
        // At queue depth 1 a query for SMART data would delay the one request in flight.
        let may_query = depths.sum::<u64>() > 1;
        let counted = self.counted(workload, covering);
        self.supervise((workload, counted), may_query, sink, |rig, sink| {
            rig.run_engine(workload, until, covering, sink)
        })
    }

    /// Lets the engine `send` the requests of `workload` while other uses of the drive, its health and
    /// the latencies are observed; `may_query` permits queries for SMART data meanwhile. `send` returns
    /// its outcome and the bytes that it wrote.
    pub(super) fn supervise(
        &mut self,
        (workload, counted): (&Workload, Counted),
        may_query: bool,
        sink: &mut dyn Sink,
        send: impl FnOnce(&mut LinuxRig, &mut dyn Sink) -> Result<(Outcome, StepBytes), RigError>,
    ) -> Result<Outcome, RigError> {
        self.report_pause(sink);
        let folder = self.backing.as_ref().map(|backing| backing.folder.as_path());
        let node = self.backing.as_ref().and_then(|backing| backing.node.as_deref());
        let disturbance = DisturbanceMonitor::begin(folder, node);
        if let Some(health) = &mut self.health {
            health.begin(may_query, sink);
        }
        let since = Instant::now();
        let mut latencies = LatencyWatch::new(sink);
        let (mut outcome, bytes) = send(self, &mut latencies)?;
        let step = monitor::Step {
            kind: self.info.kind,
            workload,
            elapsed: outcome.elapsed,
            ios: outcome.ios.iter().sum(),
            in_flight: outcome.report.in_flight,
            whole: outcome.faults.is_empty() && outcome.silence.is_none(),
            stopped: outcome.by == EndedBy::Stop,
            polled: outcome.report.ios_per_enter.filter(|_| self.is_polled()),
            page_cached: self.page_cache_reason.is_some(),
            counted,
        };
        let (findings, kernel) = disturbance.end(&step, &latencies);
        self.between = Some(PauseMonitor::begin());
        outcome.report.kernel = kernel;
        if let Some(health) = &mut self.health {
            health.end(since, outcome.elapsed, (step.whole, bytes.written()), sink);
        }
        findings.into_iter().for_each(|finding| sink.finding(finding));
        self.record_failures(workload, &outcome);
        let size = || self.current_size();
        io_errors::judge(&self.info, self.opened_size, size, &outcome, sink)?;
        self.budget.after_writing(&self.info.target, bytes, sink)?;
        Ok(outcome)
    }

    /// Reports what happened to this program since the step before.
    pub(super) fn report_pause(&mut self, sink: &mut dyn Sink) {
        let findings = self.between.take().map(PauseMonitor::end);
        findings.into_iter().flatten().for_each(|finding| sink.finding(finding));
    }

    /// Runs the engine, and returns its outcome and the bytes that it wrote.
    fn run_engine(
        &mut self,
        workload: &Workload,
        until: &Until,
        covering: bool,
        sink: &mut dyn Sink,
    ) -> Result<(Outcome, StepBytes), RigError> {
        let mut counting = self.budget.count_writes(workload, until, sink);
        let number = self.step_numbers.next(workload, until);
        let until = &self.budget.limited(workload, until);
        let load = Load {
            device: &self.device(),
            workload,
            until,
            seed: self.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9)),
            covering,
            pool: &self.pool,
            verification: &self.verification,
            ring_flags: self.ring_flags(covering),
            pass_through: self.namespace.as_ref().filter(|_| !covering),
            stop_requested: &self.stop_requested,
            log: self.log.as_mut().filter(|_| !covering),
        };
        let outcome = engine::run(load, &mut counting);
        let bytes = counting.bytes();
        if workload.changes_data() {
            self.forget_cached_pages();
        }
        let mut outcome = outcome.map_err(|cause| RigError::System {
            what: format!("cannot run the load on {}", self.info.target),
            cause,
        })?;
        let sent_by = outcome.sent_by;
        let chosen = self.ring.as_ref().filter(|choice| match choice.flags {
            // A step whose requests cannot be polled is not polled as requested.
            RingFlags::Polled(_) => sent_by == SentBy::Ring(choice.flags),
            RingFlags::Plain | RingFlags::Cooperative | RingFlags::Deferred => {
                matches!(sent_by, SentBy::Ring(_))
            }
        });
        let reason = match sent_by {
            SentBy::Commands => Some("passed through as requested"),
            SentBy::Ring(_) | SentBy::Calls => chosen.map(|choice| choice.seen.as_str()),
        };
        if let Some(reason) = reason {
            outcome.report.setup += &format!("; {reason}");
        }
        Ok((outcome, bytes))
    }

    /// Reports requests that go through the page cache.
    pub(super) fn report_page_cache(&self, sink: &mut dyn Sink) {
        if let Some(reason) = &self.page_cache_reason {
            sink.finding(Finding::new(
                FindingKind::PageCache,
                Severity::Invalid,
                format!("requests went through the page cache: {reason}"),
                "name a folder on a file system with O_DIRECT, such as ext4 or xfs on the drive",
            ));
        }
    }

    /// Prepares the expected contents of the blocks for a load with `workload`.
    fn begin_verification(&mut self, workload: &Workload, covering: bool) {
        self.verification.advance();
        self.invalidate_unverified(workload);
        self.verification.write(workload, covering);
        self.verification.trim(workload);
        if !self.is_block() {
            // Reads of a hole are completed by the file system.
            let trims = workload.streams.iter().filter(|stream| stream.trims());
            let first = trims.map(|stream| stream.offset.0).min().unwrap_or(u64::MAX);
            self.filled_to = self.filled_to.min(first);
        }
    }

    /// Expects nothing of the spans that `workload` overwrites with data that has no verification header.
    pub(super) fn invalidate_unverified(&mut self, workload: &Workload) {
        let is_unverified = |stream: &&Stream| stream.writes() && !stream.data.is_verified();
        for stream in workload.streams.iter().filter(is_unverified) {
            self.verification.invalidate(stream.offset.0, (stream.offset + stream.span).0);
        }
    }

    /// Takes failed requests of a load into account.
    pub(super) fn record_failures(&mut self, workload: &Workload, outcome: &Outcome) {
        if !outcome.faults.is_empty() || outcome.silence.is_some() {
            self.budget.record_failure();
        }
        // A failed write leaves the old data, the new data or a mixture. None of them is wrong data
        // when it is read later, so these spans are no longer verified. A fault with a content is a
        // failed verification of a read, which changes nothing.
        let io_failed = outcome.faults.iter().any(|(_, fault)| fault.mismatch.is_none());
        if outcome.silence.is_some() || io_failed {
            for stream in workload.streams.iter().filter(|stream| stream.writes()) {
                self.verification.invalidate(stream.offset.0, (stream.offset + stream.span).0);
            }
        }
    }

    /// Chooses the flags of the rings by measurement, before the first workload that is long enough
    /// to repay the time.
    pub(super) fn tune_rings(&mut self, workload: &Workload, until: &Until) {
        if self.ring.is_some() || self.namespace.is_some() || !engine::tuning_pays(workload, until)
        {
            return;
        }
        self.ring = Some(engine::tune_rings(&Load {
            device: &self.device(),
            workload,
            until,
            seed: self.seed,
            covering: false,
            pool: &self.pool,
            verification: &self.verification,
            ring_flags: RingFlags::Plain,
            pass_through: None,
            stop_requested: &self.stop_requested,
            log: None,
        }));
    }

    /// Refuses reads of unwritten blocks of a scratch file: the file system returns zeros for them
    /// without any request to the drive.
    pub(super) fn check_filled(&self, workload: &Workload) -> Result<(), RigError> {
        let trims = workload.streams.iter().filter(|stream| stream.trims());
        let trimmed_from = trims.map(|stream| stream.offset.0).min().unwrap_or(u64::MAX);
        let filled_to = match self.is_block() {
            true => self.filled_to,
            false => self.filled_to.min(trimmed_from),
        };
        let beyond =
            |stream: &&Stream| stream.reads() && (stream.offset + stream.span).0 > filled_to;
        match workload.streams.iter().find(beyond) {
            Some(stream) => Err(RigError::Refused(format!(
                "stream '{}' would read beyond byte {}, where the scratch file is not written",
                stream.name, filled_to
            ))),
            None => Ok(()),
        }
    }
}
