//! What a run asks of its surroundings, and what it tells them while it goes.

use ssdgauge_core::{
    Bytes, Finding, Interval, Nanos, Phase, Prepared, Reading, RecordedRequests,
    Replay as TraceReplay, Step, Test, Verified,
};
use ssdgauge_runfile::StepId;

/// The surroundings of a run: time of day, stop requests and progress display.
///
/// The lab has no clock and no signals; the binary implements them here.
pub trait Watcher {
    /// Returns the time of day in milliseconds since 1970 (UTC).
    fn unix_ms(&mut self) -> i64;

    /// Returns the boot of the machine; the default, `None`, is unknown.
    fn boot(&mut self) -> Option<Boot> {
        None
    }

    /// Returns whether a stop of the run is requested.
    fn stop(&mut self) -> bool;

    /// Returns the requests of a trace, from the first on, for each step that replays it.
    ///
    /// # Errors
    /// The cause in words; the default has no traces.
    fn recorded_requests(&mut self, _: &TraceReplay) -> Result<Box<dyn RecordedRequests>, String> {
        Err("the run has no trace".into())
    }

    /// Called at the start of each step.
    fn step_began(&mut self, test: &Test, phase: &Phase, step: &Step);

    /// Called before each pause after a step.
    fn pause_began(&mut self, duration: Nanos);

    /// Called with each finding.
    fn finding_recorded(&mut self, finding: &Finding);

    /// Called while the file system of the run file is full: waits a moment and returns whether to
    /// check again; false ends the run. The default does not wait.
    fn wait_for_room(&mut self) -> bool {
        false
    }

    /// Called while another process reads the run file, so that a commit cannot end: waits a moment
    /// and returns whether to try again; false ends the run. The default does not wait.
    fn wait_for_reader(&mut self) -> bool {
        false
    }

    /// Returns the interval between commits within a step: a kill loses at most the samples of this
    /// time, and a reader of the run file is behind by at most this time. The default is
    /// [`SHARED_COMMIT_INTERVAL`].
    fn commit_interval(&self) -> Nanos {
        SHARED_COMMIT_INTERVAL
    }

    /// Called after each turn of a run that ends when the intervals between its repetitions are
    /// narrow, with the widest of them in words. The default shows nothing.
    fn turn_ended(&mut self, _text: &str) {}

    /// Called before the recorded steps of a run on a virtual drive are repeated, with their number.
    /// The default shows nothing.
    fn replay_began(&mut self, _steps: usize) {}

    /// Called when a recorded step was repeated with equal samples. The default shows nothing.
    fn step_replayed(&mut self, _test: &Test, _step: &Step) {}

    /// Called several times a second while everything that the run wrote is verified, with the bytes
    /// that were read and their total. The default shows nothing.
    fn verifying(&mut self, _read: Bytes, _total: Bytes) {}

    /// Called at the end of a verification. The default shows nothing.
    fn verification_ended(&mut self, _verified: &Verified) {}

    /// Called with each second of each stream and direction in a step that is carried out. The default does
    /// nothing with it.
    fn interval_recorded(&mut self, _step: StepId, _interval: &Interval) {}

    /// Called with each reading of a step that is carried out. The default does nothing with it.
    fn reading_recorded(&mut self, _step: StepId, _reading: &Reading) {}

    /// Called at the end of each preparation that is finished, before [`Watcher::step_ended`]. The default
    /// does nothing with it.
    fn preparation_ended(&mut self, _step: &Step, _prepared: &Prepared) {}

    /// Called several times a second by a proof, with what it does, the bytes that are written and read, and the most
    /// that will be. The default shows nothing.
    fn progress(&mut self, _doing: &str, _done: Bytes, _most: Bytes) {}

    /// Called with what a step does next, in words. The default shows nothing.
    fn doing(&mut self, _what: &str) {}

    /// Called at the end of each step that is finished.
    fn step_ended(&mut self, test: &Test, step: &Step, elapsed: Nanos);

    /// Called at the end of a step that a stop request ended; it is repeated by a resumed run. The default
    /// shows nothing.
    fn step_interrupted(&mut self, _test: &Test, _step: &Step, _elapsed: Nanos) {}
}

/// A boot of the machine. Within one boot, its time changes only where the time of day is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boot {
    /// The id that the kernel gives each boot.
    pub id: String,
    /// The time of day less the time since the boot, suspended time included, in milliseconds since 1970
    /// (UTC).
    pub unix_ms: i64,
}

impl Boot {
    /// The key of the property of a run in which each process that carries it out records its boot.
    pub const KEY: &'static str = "booted";

    /// Returns the value of the property.
    pub(crate) fn text(&self) -> String {
        format!("{} {}", self.id, self.unix_ms)
    }

    /// Returns the boot of the value `text`; `None` for a damaged one.
    pub(crate) fn parse(text: &str) -> Option<Boot> {
        let (id, unix_ms) = text.split_once(' ')?;
        Some(Boot { id: id.to_owned(), unix_ms: unix_ms.parse().ok()? })
    }
}

/// The interval between commits within a step where the run file may lie on the drive under test: each
/// commit costs several syncs, which must not disturb the measured drive. Chosen.
pub const SHARED_COMMIT_INTERVAL: Nanos = Nanos::from_secs(10);

/// The same where the run file lies on another drive. Chosen: a reader of a running test is never
/// further behind than two seconds.
pub const SEPARATE_COMMIT_INTERVAL: Nanos = Nanos::from_secs(2);
