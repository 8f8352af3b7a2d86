//! What a io_threads came to, and what bears on its numbers.

use super::io_threads::{End, IoThreads};
use crate::outcome::Outcome;
use crate::pace::Lag;
use crate::request_log::{Log, LogOutcome};
use ssdgauge_core::{
    EndedBy, Engine, EngineReport, Finding, FindingKind, Nanos, OpenLoop, Severity, Sink, Stream,
};
use ssdgauge_os::clock::MAX_DRIFT;

impl IoThreads {
    pub(super) fn conclude(mut self, engine: Engine, sink: &mut dyn Sink) -> Outcome {
        while let Ok(message) = self.messages.try_recv() {
            self.take(message);
        }
        let last = self.threads.iter().filter_map(|thread| thread.ended.as_ref().map(|e| e.tick));
        let last = last.max().unwrap_or(self.start).max(self.start);
        let end = if self.silence.is_some() { self.clock.now() } else { last };
        let elapsed = Nanos(self.clock.nanos(end - self.start));
        self.finish_seconds(elapsed, sink);
        self.tell(sink);
        let used = ssdgauge_os::process::cpu_time().saturating_sub(self.processor_time);
        let ios = self.ios;
        let all: u64 = ios.iter().sum();
        let ended: Vec<&End> = self.threads.iter().filter_map(|t| t.ended.as_ref()).collect();
        let enters: u64 = ended.iter().map(|end| end.enters).sum();
        let errors = self.faults.len() as u64;
        let failed = ended.iter().any(|end| end.failure.is_some()) || self.silence.is_some();
        let by = if self.stopped {
            EndedBy::Stop
        } else if failed || errors > 0 {
            EndedBy::Faults
        } else if ended.iter().any(|end| end.lag == Some(Lag::Host)) {
            EndedBy::HostLag
        } else if ended.iter().any(|end| end.lag == Some(Lag::Device)) {
            EndedBy::DeviceLag
        } else if ended.iter().any(|end| end.used_up) {
            EndedBy::Bytes
        } else {
            EndedBy::Time
        };
        let report = EngineReport {
            engine: engine.name().into(),
            setup: self.setup.clone(),
            in_flight_asked: self.asked(),
            in_flight: Some(self.busy as f64 / elapsed.0.max(1) as f64).filter(|_| all > 0),
            ios_per_enter: (enters > 0).then(|| all as f64 / enters as f64),
            cpu_per_io: (all > 0).then(|| Nanos(used / all)),
            clock: self.clock.name().into(),
            open_loop: self.tell_open_loops(elapsed, sink),
        };
        Outcome { by, elapsed, report, ios, faults: self.faults, silence: self.silence }
    }

    /// Ends the log of this load and tells what is missing in it.
    pub(super) fn tell_log(&mut self, log: &mut Log, sink: &mut dyn Sink) {
        let LogOutcome { lost, failure } = log.end(self.unlogged);
        let mut tell = |severity, text: String, advice: &str| {
            sink.finding(Finding::new(FindingKind::LogIncomplete, severity, text, advice));
        };
        if let Some(failure) = failure {
            let text = format!("the log of requests ended early: {failure}");
            tell(Severity::Warning, text, "results are whole; log to a place with more room");
        } else if lost > 0 {
            let text = format!("{lost} requests are missing in their log: it was too slow");
            tell(Severity::Note, text, "results are whole; log to memory or to a faster drive");
        }
    }

    /// Returns the requests that closed loops keep in flight.
    fn asked(&self) -> u32 {
        let closed = self.streams.iter().filter(|stream| stream.arrival.per_second().is_none());
        closed.map(Stream::total_depth).sum()
    }

    /// Returns the figures of every open-loop stream, and tells what bears on them.
    fn tell_open_loops(&self, elapsed: Nanos, sink: &mut dyn Sink) -> Vec<OpenLoop> {
        let mut open_loops = Vec::new();
        for ((stream, count), response) in
            self.streams.iter().zip(&self.counts).zip(&self.responses)
        {
            if stream.arrival.per_second().is_some() {
                let open = OpenLoop::of(stream, elapsed, count);
                let p99 = response.percentile(0.99).map(|nanos| nanos as f64 / 1e3);
                open.finding(p99).into_iter().for_each(|finding| sink.finding(finding));
                open_loops.push(open);
            }
        }
        open_loops
    }

    /// Emits the seconds that are left, the last one with its true length.
    fn finish_seconds(&mut self, elapsed: Nanos, sink: &mut dyn Sink) {
        let whole = (elapsed.0 / Nanos::SECOND.0) as u32;
        while self.emitted < whole {
            self.emit_second(Nanos::SECOND, sink);
        }
        let rest = Nanos(elapsed.0 - u64::from(whole) * Nanos::SECOND.0);
        if rest > Nanos::ZERO || !self.pending.is_empty() {
            self.emit_second(rest, sink);
        }
    }

    /// Tells what bears on the numbers.
    fn tell(&self, sink: &mut dyn Sink) {
        let mut tell = |kind, severity, text: String, advice: &str| {
            sink.finding(Finding::new(kind, severity, text, advice));
        };
        for failure in
            self.threads.iter().filter_map(|thread| thread.ended.as_ref()?.failure.as_ref())
        {
            let text = format!("an I/O thread ended early: {failure}");
            tell(FindingKind::Faults, Severity::Invalid, text, "see the kernel's log");
        }
        let drift = self.clock.drift_since(self.clock_pair);
        if drift > MAX_DRIFT {
            let text = format!("the clock drifted by {:.0} millionths", drift * 1e6);
            tell(FindingKind::Disturbed, Severity::Invalid, text, "run the step again");
        }
        if let Some(refusal) = &self.refusal {
            let text = format!("the buffers of the ring could not be registered ({refusal})");
            let advice = "raise the limit of locked memory (ulimit -l): each request costs more \
                          processor time without";
            tell(FindingKind::EngineFallback, Severity::Note, text, advice);
        }
        if self.punted {
            let text = "the kernel handed requests to worker threads: the target cannot take them \
                        without blocking";
            let advice = "the synchronous engine costs less processor time on such a target";
            tell(FindingKind::Punted, Severity::Note, text.into(), advice);
        }
    }
}
