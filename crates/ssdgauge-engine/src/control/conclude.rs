//! The outcome of the I/O threads, and findings about conditions that affect its numbers.

use super::io_threads::{IntervalBuckets, IoThreads, ThreadEnd};
use crate::load::pace::Lag;
use crate::load::request_log::{Log, LogOutcome};
use crate::recorder::outcome::Outcome;
use ssdgauge_core::rounded::count;
use ssdgauge_core::{
    EndedBy, Engine, EngineReport, Finding, FindingKind, Nanos, OpenLoop, Severity, Sink, Stream,
};
use ssdgauge_os::clock::MAX_DRIFT;
use std::collections::BTreeMap;

impl IoThreads {
    /// Emits the remaining seconds and the findings, and returns the outcome.
    pub(super) fn conclude(mut self, engine: Engine, sink: &mut dyn Sink) -> Outcome {
        while let Ok(message) = self.messages.try_recv() {
            self.receive(message);
        }
        // Up to the last completion, not to now: the time in which threads end is not part of the
        // load.
        let ends = self.threads.iter().filter_map(|thread| thread.ended.as_ref());
        let last = ends.map(|end| end.tick).max().unwrap_or(self.start).max(self.start);
        // Threads that hang have no last completion: the time until now counts.
        let end = if self.unresponsive.is_some() { self.clock.now() } else { last };
        let elapsed = at_whole_second(Nanos(self.clock.nanos(end - self.start)));
        self.emit_remaining(elapsed, sink);
        self.report_conditions(sink);
        let processor_time = ssdgauge_os::process::cpu_time().saturating_sub(self.processor_time);
        let total: u64 = self.ios.iter().sum();
        let enters: u64 =
            self.threads.iter().filter_map(|one| one.ended.as_ref()).map(|end| end.enters).sum();
        let report = EngineReport {
            engine: engine.name().into(),
            setup: self.setup.clone(),
            in_flight_asked: self.requested_depth(),
            // Little's law: the sum of the latencies over the time.
            in_flight: Some(self.latency_sum as f64 / elapsed.0.max(1) as f64)
                .filter(|_| total > 0),
            // The rig reads the counters of its device.
            kernel: None,
            ios_per_enter: (enters > 0).then(|| total as f64 / enters as f64),
            cpu_per_io: (total > 0).then(|| Nanos(processor_time / total)),
            clock: self.clock.name().into(),
            open_loop: self.open_loops(elapsed, sink),
        };
        let (by, sent_by, ios) = (self.ended_by(), self.sent_by, self.ios);
        Outcome {
            by,
            elapsed,
            report,
            sent_by,
            ios,
            faults: self.faults,
            silence: self.unresponsive,
        }
    }

    /// Returns what ended the workload: the cause that affects the result most, where there are
    /// several.
    fn ended_by(&self) -> EndedBy {
        let any = |test: fn(&ThreadEnd) -> bool| {
            self.threads.iter().filter_map(|thread| thread.ended.as_ref()).any(test)
        };
        let failed = any(|end| end.failure.is_some()) || self.unresponsive.is_some();
        if self.stopped {
            EndedBy::Stop
        } else if failed || !self.faults.is_empty() {
            EndedBy::Faults
        } else if any(|end| end.lag == Some(Lag::Host)) {
            EndedBy::HostLag
        } else if any(|end| end.lag == Some(Lag::Device)) {
            EndedBy::DeviceLag
        } else if any(|end| end.budget_exhausted) {
            EndedBy::Bytes
        } else {
            EndedBy::Time
        }
    }

    /// Ends the log of this load and reports records that are missing in it.
    pub(super) fn end_log(&mut self, log: &mut Log, sink: &mut dyn Sink) {
        let LogOutcome { lost, failure } = log.end(self.unlogged);
        let mut report = |severity, text: String, advice: &str| {
            sink.finding(Finding::new(FindingKind::LogIncomplete, severity, text, advice));
        };
        if let Some(failure) = failure {
            let text = format!("the log of requests ended early: {failure}");
            let advice = "the results are complete; log to a file system with more free space";
            report(Severity::Warning, text, advice);
        } else if lost > 0 {
            let text = format!(
                "{} requests are missing in the log: it was written too slowly",
                count(lost)
            );
            let advice = "the results are complete; log to memory or to a faster drive";
            report(Severity::Note, text, advice);
        }
    }

    /// Returns the requests that closed loops keep in flight.
    fn requested_depth(&self) -> u32 {
        let closed = self.streams.iter().filter(|stream| stream.arrival.per_second().is_none());
        closed.map(Stream::total_depth).sum()
    }

    /// Returns the figures of every open-loop stream, and emits the findings about them.
    fn open_loops(&self, elapsed: Nanos, sink: &mut dyn Sink) -> Vec<OpenLoop> {
        let mut open_loops = Vec::new();
        for ((stream, count), latencies) in
            self.streams.iter().zip(&self.open_loop_counts).zip(&self.open_loop_latencies)
        {
            if stream.arrival.per_second().is_some() {
                let open_loop = OpenLoop::from_count(stream, elapsed, count);
                let findings = open_loop.findings(count, latencies);
                findings.into_iter().for_each(|finding| sink.finding(finding));
                open_loops.push(open_loop);
            }
        }
        open_loops
    }

    /// Emits the remaining seconds, the last one with its actual length.
    fn emit_remaining(&mut self, elapsed: Nanos, sink: &mut dyn Sink) {
        let whole = (elapsed.0 / Nanos::SECOND.0) as u32;
        let remainder = Nanos(elapsed.0 - u64::from(whole) * Nanos::SECOND.0);
        while self.emitted < whole {
            if remainder == Nanos::ZERO && self.emitted + 1 == whole {
                fold_into(&mut self.pending, self.emitted);
            }
            self.emit_second(Nanos::SECOND, sink);
        }
        if remainder == Nanos::ZERO {
            // A thread may announce a second in which nothing is left to happen.
            let is_used = |bucket: &IntervalBuckets| {
                bucket.iter().any(|one| one.latency.count() > 0 || one.errors > 0)
            };
            self.pending.retain(|_, streams| streams.iter().any(is_used));
        }
        if remainder > Nanos::ZERO || !self.pending.is_empty() {
            fold_into(&mut self.pending, self.emitted);
            self.emit_second(remainder, sink);
        }
        // Every completion is in exactly one second: the sum of the seconds is the total.
        assert!(self.pending.is_empty(), "seconds after the end: {:?}", self.pending.keys());
        assert_eq!(self.ios, self.received, "the emitted seconds hold every completion");
    }

    /// Emits findings about conditions that affect the numbers.
    fn report_conditions(&self, sink: &mut dyn Sink) {
        let mut report = |kind, severity, text: String, advice: &str| {
            sink.finding(Finding::new(kind, severity, text, advice));
        };
        for failure in
            self.threads.iter().filter_map(|thread| thread.ended.as_ref()?.failure.as_ref())
        {
            let text = format!("an I/O thread ended early: {failure}");
            report(FindingKind::Faults, Severity::Invalid, text, "see the kernel log");
        }
        let drift = self.clock.drift_since(self.clock_pair);
        if drift > MAX_DRIFT {
            let text = format!("the clock drifted by {:.0} ppm", drift * 1e6);
            report(FindingKind::Disturbed, Severity::Invalid, text, "run the step again");
        }
        if let Some(error) = &self.registration_error {
            let text = format!("the buffers of the ring could not be registered ({error})");
            let advice = "raise the limit of locked memory (ulimit -l): unregistered buffers cost \
                          more processor time per request";
            report(FindingKind::EngineFallback, Severity::Note, text, advice);
        }
        if self.punted {
            let text = "the kernel passed requests to worker threads (io-wq): the target does not \
                        accept them without blocking";
            let advice = "the synchronous engine costs less processor time on such a target";
            report(FindingKind::Punted, Severity::Note, text.into(), advice);
        }
    }
}

/// Returns `elapsed`, and the whole second where it is within two nanoseconds of one: ticks of the clock are not whole
/// nanoseconds, and a step of ten seconds has ten full ones.
fn at_whole_second(elapsed: Nanos) -> Nanos {
    let nearest = (elapsed.0 + Nanos::SECOND.0 / 2) / Nanos::SECOND.0 * Nanos::SECOND.0;
    if elapsed.0.abs_diff(nearest) <= 2 { Nanos(nearest) } else { elapsed }
}

/// Adds all seconds behind `last` to it.
///
/// The threads count seconds in whole ticks and `elapsed` is rounded to nanoseconds. A completion
/// within a nanosecond of a full second may therefore be recorded in a second after the last one.
fn fold_into(pending: &mut BTreeMap<u32, Vec<IntervalBuckets>>, last: u32) {
    for (_, streams) in pending.split_off(&last.saturating_add(1)) {
        let Some(target) = pending.get_mut(&last) else {
            pending.insert(last, streams);
            continue;
        };
        for (target, bucket) in target.iter_mut().flatten().zip(streams.iter().flatten()) {
            target.latency.merge(&bucket.latency);
            target.bytes += bucket.bytes;
            target.errors += bucket.errors;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Recorder;

    #[test]
    fn an_end_close_to_a_whole_second_is_at_it() {
        let second = Nanos::SECOND.0;
        for (elapsed, expected) in [
            (10 * second - 1, 10 * second),
            (10 * second, 10 * second),
            (10 * second + 2, 10 * second),
            (10 * second - 3, 10 * second - 3),
            (second / 2, second / 2),
            (0, 0),
        ] {
            assert_eq!(at_whole_second(Nanos(elapsed)), Nanos(expected));
        }
    }

    #[test]
    fn completions_recorded_after_the_last_second_are_counted_in_it() {
        for first in [4, 5] {
            let mut pending = BTreeMap::new();
            for (second, value) in (first..=6).zip(1u64..) {
                let mut recorder = Recorder::default();
                recorder.record(value * 1_000);
                let mut stream = IntervalBuckets::default();
                recorder.drain_into(&mut stream[1].latency);
                stream[0].errors = value;
                pending.insert(second, vec![stream]);
            }
            fold_into(&mut pending, 4);
            let seconds = u64::from(6 - first) + 1;
            let [reads, writes, ..] = &pending[&4][0];
            assert_eq!(pending.len(), 1);
            assert_eq!(reads.errors, seconds * (seconds + 1) / 2);
            assert_eq!((reads.latency.count(), writes.latency.count()), (0, seconds));
        }
    }
}
