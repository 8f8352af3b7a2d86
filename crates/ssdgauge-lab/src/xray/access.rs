//! Access of the experiments to the drive: every question goes through one place, which takes the answer
//! from the drive or from the record, and keeps it.

mod thermal;

use super::error::{Ended, XrayError};
use super::exchange::{Exchange, Reply, decimal, of_lanes, of_requests, of_rest, of_trim};
use super::experiment::Experiment;
use super::recorded::RecordedXray;
use super::sizes::{MIB, Sizes};
use ssdgauge_core::{
    Bytes, Direction, DriveInfo, Finding, FindingKind, Flush, Interval, Lane, LaneLimits,
    LanesEnded, MediaWrites, Nanos, Preparation, Reading, Rig, RigError, Sink, TargetKind,
    ThermalReport, TimedRequest, Timings,
};
use ssdgauge_runfile::RunFileError;
use std::collections::{BTreeMap, VecDeque};

/// The quantity of readings that experiments use.
const TEMPERATURE: &str = "temperature_c";

/// The observer of an X-ray, who may end it, and who keeps its record. Where nobody does, the defaults
/// keep nothing.
pub trait XrayWatcher {
    /// Returns whether it has to stop; called several times a second.
    fn stop(&mut self) -> bool;

    /// Takes what is done next, and the bytes written so far.
    fn doing(&mut self, what: &str, written: Bytes);

    /// Takes a doubt about the conditions.
    fn finding(&mut self, _: Finding) {}

    /// Called before the first question of an experiment that is not recorded.
    ///
    /// # Errors
    /// The record cannot be written.
    fn experiment_began(&mut self, _: Experiment) -> Result<(), RunFileError> {
        Ok(())
    }

    /// Takes the answers of an experiment that has begun and ended. Not one by one: the time of a
    /// record between two questions would be a rest of the drive.
    ///
    /// # Errors
    /// The record cannot be written.
    fn experiment_ended(&mut self, _: &EndedExperiment) -> Result<(), RunFileError> {
        Ok(())
    }
}

/// An experiment that has ended, with what it recorded.
#[derive(Debug)]
pub struct EndedExperiment {
    /// The experiment.
    pub experiment: Experiment,
    /// Its questions and answers.
    pub exchanges: Vec<Exchange>,
    /// Readings meanwhile, from the start of its first load, rests included.
    pub readings: Vec<Reading>,
    /// The time of its loads and rests.
    pub elapsed: Nanos,
    /// The bytes that it wrote; where it ended early, those that it may have written.
    pub written: Bytes,
    /// Why it ended early; `None` where it is finished.
    pub cut_short: Option<CutShort>,
}

/// Why an experiment ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutShort {
    /// The watcher stopped it.
    Stop,
    /// The drive or the host failed, with the error.
    Fault(String),
}

/// The drive with what was observed of it.
pub(super) struct Access<'a> {
    /// The drive; `None` where only what is recorded counts.
    rig: Option<&'a mut dyn Rig>,
    watcher: &'a mut dyn XrayWatcher,
    info: DriveInfo,
    /// Whether the drive is only read.
    gentle: bool,
    seed: u64,
    /// The experiments that are recorded.
    recorded: BTreeMap<Experiment, Vec<Exchange>>,
    current: Current,
    written: u64,
    read: u64,
    /// The findings so far: loads are repeated, and so are theirs.
    known: Vec<FindingKind>,
    /// Temperatures of the last load, from its start.
    temperatures: Vec<(Nanos, f64)>,
    /// The temperature that was read last, in degrees Celsius.
    celsius: Option<f64>,
    /// The lowest and the highest temperature since the experiment began, or since its last rest ended.
    range: Option<[f64; 2]>,
}

/// The experiment in progress.
#[derive(Default)]
struct Current {
    experiment: Option<Experiment>,
    /// Its recorded exchanges that lie ahead; `None` where it is not recorded.
    recorded: Option<VecDeque<Exchange>>,
    exchanges: Vec<Exchange>,
    readings: Vec<Reading>,
    /// The time of its loads and rests so far.
    elapsed: Nanos,
    /// The bytes that its loads may have written.
    written: u64,
    /// Whether the watcher knows that it began.
    has_begun: bool,
    /// What the drive stated about its temperature before its first question, or later; `None` before that.
    thermal: Option<Option<ThermalReport>>,
}

impl<'a> Access<'a> {
    /// Returns the access to the drive `info` by `rig`, and the sizes of its experiments.
    pub(super) fn open(
        rig: Option<&'a mut dyn Rig>,
        info: &DriveInfo,
        recorded: &RecordedXray,
        watcher: &'a mut dyn XrayWatcher,
    ) -> Result<(Access<'a>, Sizes), XrayError> {
        let (mut rig, info) = (rig, info.clone());
        if info.capacity < Sizes::LEAST {
            let (drive, capacity) = (info.target, info.capacity);
            return Err(XrayError::TooSmall { drive, capacity });
        }
        if rig.as_mut().is_some_and(|rig| rig.timed_loads().is_none()) {
            return Err(XrayError::NoReads(info.target));
        }
        let sizes = Sizes::new(info.capacity);
        let access = Access {
            rig,
            watcher,
            info,
            gentle: recorded.options.gentle,
            seed: recorded.options.seed,
            recorded: recorded.experiments.clone(),
            current: Current::default(),
            written: 0,
            read: 0,
            known: Vec::new(),
            temperatures: Vec::new(),
            celsius: None,
            range: None,
        };
        Ok((access, sizes))
    }

    pub(super) fn kind(&self) -> TargetKind {
        self.info.kind
    }

    pub(super) fn logical_block(&self) -> u64 {
        self.info.logical_block.0
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn read(&self) -> u64 {
        self.read
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) fn temperatures(&self) -> &[(Nanos, f64)] {
        &self.temperatures
    }

    /// Returns the temperature that was read last, in degrees Celsius.
    pub(super) fn celsius(&self) -> Option<f64> {
        self.celsius
    }

    /// Returns the lowest and the highest temperature since the experiment began, or since its last rest ended.
    pub(super) fn range(&self) -> Option<[f64; 2]> {
        self.range
    }

    pub(super) fn doing(&mut self, what: &str) {
        if self.rig.is_some() {
            self.watcher.doing(what, Bytes(self.written));
        }
    }

    /// Begins `experiment`.
    pub(super) fn begin(&mut self, experiment: Experiment) {
        self.range = self.celsius.map(|celsius| [celsius, celsius]);
        self.current = Current {
            experiment: Some(experiment),
            recorded: self.recorded.remove(&experiment).map(VecDeque::from),
            ..Current::default()
        };
    }

    /// Ends the experiment in progress, which ended with `result`.
    pub(super) fn end(&mut self, result: Result<(), Ended>) -> Result<(), Ended> {
        let current = std::mem::take(&mut self.current);
        let Current {
            experiment, recorded, exchanges, readings, elapsed, written, has_begun, ..
        } = current;
        if let (Some(experiment), true) = (experiment, has_begun) {
            let cut_short = match &result {
                Ok(()) => None,
                Err(Ended::Stopped) => Some(CutShort::Stop),
                Err(Ended::Failed(error)) => Some(CutShort::Fault(error.to_string())),
            };
            let written = Bytes(written);
            let ended =
                EndedExperiment { experiment, exchanges, readings, elapsed, written, cut_short };
            self.watcher.experiment_ended(&ended)?;
        }
        match recorded.is_some_and(|left| !left.is_empty()) && result.is_ok() {
            true => Err(differs(experiment)),
            false => result,
        }
    }

    /// Trims the whole drive; returns false where it cannot be trimmed.
    pub(super) fn trim(&mut self) -> Result<bool, Ended> {
        self.doing("trim");
        let capacity = self.info.capacity;
        let reply = self.ask(of_trim(capacity.0), 0, |rig, sink| {
            let trim = Preparation::Trim { offset: Bytes(0), span: capacity };
            let prepared = rig.prepare(&trim, sink)?;
            let has_effect = prepared.had_effect();
            Ok((!prepared.stopped).then_some((Reply::Trimmed(has_effect), prepared.elapsed)))
        })?;
        let Reply::Trimmed(has_effect) = reply else { return Err(self.differs()) };
        Ok(has_effect)
    }

    /// Waits until everything that was written is on the media; returns how the flush went.
    pub(super) fn flush(&mut self) -> Result<Option<Flush>, Ended> {
        if self.gentle {
            return Ok(None);
        }
        let reply = self.ask("{\"flush\":1}".into(), 0, |rig, sink| {
            let flush = rig.flush(sink)?;
            let elapsed = flush.as_ref().map_or(Nanos::ZERO, |flush| flush.elapsed);
            Ok(Some((Reply::Flushed(flush), elapsed)))
        })?;
        let Reply::Flushed(flush) = reply else { return Err(self.differs()) };
        Ok(flush)
    }

    /// Adds a doubt, where it is new.
    pub(super) fn find(&mut self, finding: Finding) {
        // What is recorded has its findings.
        if self.current.recorded.is_none() {
            take_finding(finding, &mut self.known, &mut *self.watcher);
        }
    }

    /// Sends no load for `duration`. A drive that is only read is not left alone.
    pub(super) fn rest(&mut self, duration: Nanos) -> Result<(), Ended> {
        if self.gentle {
            return Ok(());
        }
        let reply = self.ask(of_rest(duration), 0, |rig, sink| {
            let rested = rig.rest(duration, sink)?;
            Ok((!sink.stop()).then(|| (Reply::rested(&sink.temperatures), rested)))
        })?;
        let (Reply::Rested | Reply::RestedAt { .. }) = reply else { return Err(self.differs()) };
        self.range = self.celsius.map(|celsius| [celsius, celsius]);
        Ok(())
    }

    /// Returns what was written to the media and by hosts since the last call, where the drive reports it.
    pub(super) fn media_writes(&mut self) -> Result<Option<MediaWrites>, Ended> {
        if self.gentle {
            return Ok(None);
        }
        let reply = self.ask("{\"media\":1}".into(), 0, |rig, sink| {
            Ok(Some((Reply::Counted(rig.media_writes(sink)), Nanos::ZERO)))
        })?;
        let Reply::Counted(counted) = reply else { return Err(self.differs()) };
        Ok(counted)
    }

    /// Sends requests, and returns their times.
    pub(super) fn send(&mut self, requests: &[TimedRequest], depth: u32) -> Result<Timings, Ended> {
        let reply = self.load(requests, depth, Reply::sent)?;
        let timings = reply.timings(requests.len());
        timings.ok_or_else(|| self.differs())
    }

    /// Sends requests whose times are not needed.
    pub(super) fn send_before(
        &mut self,
        requests: &[TimedRequest],
        depth: u32,
    ) -> Result<(), Ended> {
        self.load(requests, depth, |_, _| Reply::Loaded).map(drop)
    }

    fn load(
        &mut self,
        requests: &[TimedRequest],
        depth: u32,
        kept: fn(&Timings, &[(Nanos, f64)]) -> Reply,
    ) -> Result<Reply, Ended> {
        let bytes: u64 = requests.iter().map(|one| u64::from(one.length)).sum();
        let writes = requests.iter().filter(|one| one.direction == Direction::Write);
        let written: u64 = writes.map(|one| u64::from(one.length)).sum();
        let reply = self.ask(of_requests(requests, depth), written, |rig, sink| {
            let Some(loads) = rig.timed_loads() else { return Ok(None) };
            let timings = loads.send(requests, depth, sink)?;
            Ok(timings.map(|timings| {
                let last = timings.requests.iter().map(|one| one.completed).max();
                (kept(&timings, &sink.temperatures), last.unwrap_or_default())
            }))
        })?;
        self.written = self.written.saturating_add(written);
        self.read = self.read.saturating_add(bytes - written);
        Ok(reply)
    }

    /// Runs lanes, and returns their records.
    pub(super) fn run(&mut self, lanes: &[Lane], limits: LaneLimits) -> Result<LanesEnded, Ended> {
        let reads_alone = lanes.iter().all(|lane| lane.direction == Direction::Read);
        let most = if reads_alone { 0 } else { limits.written.0 };
        let reply = self.ask(of_lanes(lanes, limits), most, |rig, sink| {
            let Some(loads) = rig.timed_loads() else { return Ok(None) };
            let ended = loads.run_lanes(lanes, limits, sink)?;
            Ok(ended.map(|ended| {
                let elapsed = ended.elapsed;
                (Reply::ran(ended, &sink.temperatures), elapsed)
            }))
        })?;
        let Reply::Ran { lanes: records, elapsed_ns, temperatures_c } = reply else {
            return Err(self.differs());
        };
        self.temperatures = temperatures_c;
        if records.len() != lanes.len() {
            return Err(self.differs());
        }
        let mut written = 0;
        for (lane, record) in lanes.iter().zip(&records) {
            // A prepared file can state any number.
            let bytes = record.bytes.iter().copied().fold(0, u64::saturating_add);
            let sum = match lane.direction {
                Direction::Read => &mut self.read,
                Direction::Write | Direction::Flush | Direction::Trim => &mut written,
            };
            *sum = sum.saturating_add(bytes);
        }
        self.written = self.written.saturating_add(written);
        // What was written is known now.
        let before = self.current.written.saturating_sub(most);
        self.current.written = before.saturating_add(written);
        Ok(LanesEnded { lanes: records, elapsed: elapsed_ns })
    }

    fn differs(&self) -> Ended {
        differs(self.current.experiment)
    }

    /// Asks `question`, and takes note of the temperatures of the answer.
    fn ask(
        &mut self,
        question: String,
        written: u64,
        call: impl FnOnce(
            &mut dyn Rig,
            &mut Observations<'_>,
        ) -> Result<Option<(Reply, Nanos)>, RigError>,
    ) -> Result<Reply, Ended> {
        if self.current.thermal.is_none() {
            self.current.thermal = Some(self.thermal_report()?);
        }
        let reply = self.answer(question, written, call)?;
        for (_, celsius) in reply.temperatures() {
            self.celsius = Some(*celsius);
            let [low, high] = self.range.unwrap_or([*celsius; 2]);
            self.range = Some([low.min(*celsius), high.max(*celsius)]);
        }
        Ok(reply)
    }

    /// Asks `question`, which writes up to `written` bytes, by `call`, which returns the answer and the time that it
    /// took, and `None` after a stop. An answer that is recorded is taken from there; a virtual drive, which ends with its process,
    /// is asked again and has to give the same one.
    fn answer(
        &mut self,
        question: String,
        written: u64,
        call: impl FnOnce(
            &mut dyn Rig,
            &mut Observations<'_>,
        ) -> Result<Option<(Reply, Nanos)>, RigError>,
    ) -> Result<Reply, Ended> {
        let experiment = self.current.experiment;
        let recorded = match &mut self.current.recorded {
            None => None,
            Some(ahead) => {
                let next = ahead.pop_front().filter(|next| next.asked == question);
                Some(next.ok_or_else(|| differs(experiment))?.reply)
            }
        };
        let repeats = self.info.is_model();
        let rig = self.rig.as_deref_mut().filter(|_| recorded.is_none() || repeats);
        let (Some(rig), Some(experiment)) = (rig, experiment) else {
            // Without a drive, an X-ray ends where its record does.
            return recorded.ok_or(Ended::Stopped);
        };
        if recorded.is_none() && !self.current.has_begun {
            self.watcher.experiment_began(experiment)?;
            self.current.has_begun = true;
        }
        self.current.written += written;
        let mut sink = Observations {
            watcher: &mut *self.watcher,
            known: &mut self.known,
            takes_findings: recorded.is_none(),
            offset: self.current.elapsed,
            readings: &mut self.current.readings,
            temperatures: Vec::new(),
        };
        let (reply, elapsed) = call(rig, &mut sink)?.ok_or(Ended::Stopped)?;
        self.current.elapsed += elapsed;
        match recorded {
            Some(recorded) if recorded != reply => Err(differs(Some(experiment))),
            Some(recorded) => Ok(recorded),
            None => {
                self.current.exchanges.push(Exchange { asked: question, reply: reply.clone() });
                Ok(reply)
            }
        }
    }
}

/// Returns the end of an X-ray whose record belongs to other questions, or to another virtual drive.
fn differs(experiment: Option<Experiment>) -> Ended {
    Ended::Failed(XrayError::Differs(experiment.map_or("", Experiment::key)))
}

fn take_finding(finding: Finding, known: &mut Vec<FindingKind>, watcher: &mut dyn XrayWatcher) {
    if !known.contains(&finding.kind) {
        known.push(finding.kind);
        watcher.finding(finding);
    }
}

/// Returns the request for `length` bytes at `offset`, due at once.
pub(super) fn read(offset: u64, length: u64) -> TimedRequest {
    TimedRequest { due: Nanos::ZERO, direction: Direction::Read, offset, length: length as u32 }
}

/// Returns `count` ascending reads of `length` bytes from `from` on, which begin again after `span`.
pub(super) fn ascending(from: u64, span: u64, length: u64, count: u64) -> Vec<TimedRequest> {
    debug_assert!(from.is_multiple_of(MIB) && span >= length, "a range of whole requests");
    (0..count).map(|number| read(from + number % (span / length) * length, length)).collect()
}

/// Takes what is observed during a load: temperatures, readings and findings.
struct Observations<'a> {
    watcher: &'a mut dyn XrayWatcher,
    known: &'a mut Vec<FindingKind>,
    /// Whether findings are new: those of what is repeated are recorded.
    takes_findings: bool,
    /// The time of the experiment at which the load began.
    offset: Nanos,
    readings: &'a mut Vec<Reading>,
    temperatures: Vec<(Nanos, f64)>,
}

impl Sink for Observations<'_> {
    fn interval(&mut self, _: &Interval) {}

    fn reading(&mut self, reading: &Reading) {
        if reading.quantity == TEMPERATURE {
            self.temperatures.push((reading.at, decimal(reading.value)));
        }
        self.readings.push(Reading { at: reading.at + self.offset, ..reading.clone() });
    }

    fn finding(&mut self, finding: Finding) {
        if self.takes_findings {
            take_finding(finding, self.known, &mut *self.watcher);
        }
    }

    // An X-ray trims and writes; it sends no command that has to be announced.
    fn announce(&mut self, _: Finding) -> bool {
        false
    }

    fn stop(&mut self) -> bool {
        self.watcher.stop()
    }
}
