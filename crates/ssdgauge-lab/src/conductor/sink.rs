//! Sink of a step: passes the samples of the rig to the run file, the watcher, the rounds and the
//! slices of a search.

use super::Watcher;
use super::comparison::{Comparison, Samples};
use super::durability;
use super::slices::Slices;
use ssdgauge_core::{
    Finding, Interval, LogPage, Nanos, Reading, RecordedRequests, Replay, Sink, SteadyRounds,
    Totals, Workload,
};
use ssdgauge_runfile::{FindingRecord, RunFileError, StepId, Writer};

/// Records the samples of one step and shows its progress.
pub(super) struct StepSink<'a> {
    writer: &'a mut Writer,
    watcher: &'a mut dyn Watcher,
    id: StepId,
    offset: Nanos,
    committed_ms: i64,
    commit_every_ms: i64,
    /// The first error of the run file. The rig stops at its next call of `stop`, because a sink
    /// returns no errors.
    pub(super) failure: Option<RunFileError>,
    /// The current second: its number, and the length of its last interval.
    second: u32,
    length: Nanos,
    /// Duration of the recorded seconds.
    pub(super) elapsed: Nanos,
    /// The rounds, where the step ends at a steady state.
    pub(super) rounds: Option<SteadyRounds>,
    /// Sums of all intervals, without buckets.
    pub(super) totals: Totals,
    /// The slices, where the step is an attempt of a search.
    pub(super) slices: Option<Slices>,
    /// The comparison with the recorded step, where the step is repeated: nothing is recorded then.
    pub(super) comparison: Option<Comparison>,
}

impl<'a> StepSink<'a> {
    /// Returns a sink for the step `id`; `offset` is added to the times of its readings.
    pub(super) fn new(
        writer: &'a mut Writer,
        watcher: &'a mut dyn Watcher,
        id: StepId,
        offset: Nanos,
    ) -> StepSink<'a> {
        let committed_ms = watcher.unix_ms();
        let commit_every_ms = (watcher.commit_interval().0 / 1_000_000) as i64;
        StepSink {
            writer,
            watcher,
            id,
            offset,
            committed_ms,
            commit_every_ms,
            failure: None,
            second: 0,
            length: Nanos::ZERO,
            elapsed: Nanos::ZERO,
            rounds: None,
            totals: Totals::default(),
            slices: None,
            comparison: None,
        }
    }

    /// Begins a load with `workload`, which decides whose latency is that of the step.
    pub(super) fn begin_load(&mut self, workload: &Workload) {
        self.totals = Totals::of_workload(workload);
    }

    /// Returns a sink that compares a step with its `recorded` samples, and records nothing.
    pub(super) fn comparing(
        writer: &'a mut Writer,
        watcher: &'a mut dyn Watcher,
        id: StepId,
        recorded: Samples,
    ) -> StepSink<'a> {
        let comparison = Some(Comparison::new(recorded));
        StepSink { comparison, ..StepSink::new(writer, watcher, id, Nanos::ZERO) }
    }

    /// Returns the requests of a trace.
    pub(super) fn recorded_requests(
        &mut self,
        replay: &Replay,
    ) -> Result<Box<dyn RecordedRequests>, String> {
        self.watcher.recorded_requests(replay)
    }

    /// Keeps the first error.
    fn keep_error(&mut self, result: Result<(), RunFileError>) {
        if let (Err(error), None) = (result, &self.failure) {
            self.failure = Some(error);
        }
    }

    /// Records an interval, or compares it with the recorded one.
    fn record_interval(&mut self, interval: &Interval) {
        if let Some(comparison) = &mut self.comparison {
            comparison.interval(interval);
            return;
        }
        let result = self.writer.interval(self.id, interval);
        self.keep_error(result);
    }

    /// Commits at intervals.
    fn commit_at_intervals(&mut self) {
        if self.comparison.is_some() {
            return;
        }
        let now = self.watcher.unix_ms();
        if now - self.committed_ms >= self.commit_every_ms {
            self.committed_ms = now;
            // While the file system is full, records stay in memory: a commit would lose them, and
            // the end of the step waits for room. It also waits for readers of the file.
            let result = match self.writer.has_room().map(|room| room.then(|| self.writer.commit()))
            {
                Ok(Some(Err(RunFileError::BeingRead(_))) | None) => Ok(()),
                Ok(Some(result)) => result,
                Err(error) => Err(error),
            };
            self.keep_error(result);
        }
    }
}

impl Sink for StepSink<'_> {
    fn interval(&mut self, interval: &Interval) {
        self.record_interval(interval);
        if self.comparison.is_none() {
            self.watcher.interval_recorded(self.id, interval);
        }
        if let Some(rounds) = &mut self.rounds {
            rounds.add(interval);
        }
        let latency = interval.latency.without_buckets();
        self.totals.add(&Interval { latency, ..interval.clone() });
        if let Some(slices) = &mut self.slices {
            slices.interval(interval);
        }
        if interval.second != self.second {
            self.commit_at_intervals();
            (self.second, self.length) = (interval.second, Nanos::ZERO);
            self.elapsed = Nanos::SECOND * u64::from(interval.second);
        }
        // The first interval of a second adds its length; the others cover the same second.
        if self.length == Nanos::ZERO {
            self.elapsed += interval.length;
        }
        self.length = interval.length;
    }

    fn reading(&mut self, reading: &Reading) {
        let moved = Reading { at: reading.at + self.offset, ..reading.clone() };
        if let Some(comparison) = &mut self.comparison {
            comparison.reading(&moved);
            return;
        }
        self.watcher.reading_recorded(self.id, &moved);
        let result = self.writer.reading(self.id, &moved);
        self.keep_error(result);
    }

    fn log_page(&mut self, page: LogPage) {
        // A virtual drive, which repeats its steps, has none.
        let moved = LogPage { at: page.at + self.offset, ..page };
        let result = self.writer.log_page(self.id, &moved);
        self.keep_error(result);
    }

    fn finding(&mut self, finding: Finding) {
        if self.comparison.is_some() {
            return;
        }
        self.watcher.finding_recorded(&finding);
        let unix_ms = self.watcher.unix_ms();
        let record = FindingRecord { step: Some(self.id), unix_ms, finding };
        let result = self.writer.finding(&record);
        self.keep_error(result);
    }

    fn announce(&mut self, finding: Finding) -> bool {
        self.finding(finding);
        if self.comparison.is_some() {
            return true;
        }
        let result = durability::commit(self.writer, self.watcher).map(drop);
        self.keep_error(result);
        self.failure.is_none()
    }

    fn stop(&mut self) -> bool {
        let steady = self.rounds.as_ref().is_some_and(|rounds| rounds.steady().is_some());
        let cannot_pass = self.slices.as_ref().is_some_and(Slices::cannot_pass);
        steady || cannot_pass || self.failure.is_some() || self.watcher.stop()
    }
}
