//! Access of the experiments to the drive: loads, rests and trims, with their bytes and temperatures.

use super::error::{Ended, XrayError};
use super::options::XrayOptions;
use super::sizes::{MIB, Sizes};
use ssdgauge_core::{
    Bytes, Direction, DriveInfo, Finding, FindingKind, Flush, Interval, Lane, LaneLimits,
    LanesEnded, MediaWrites, Nanos, Preparation, Reading, Rig, RigError, Severity, Sink,
    TargetKind, TimedLoads, TimedRequest, Timings,
};

/// The quantity of readings that experiments use.
const TEMPERATURE: &str = "temperature_c";

/// The drive of an X-ray.
pub enum XrayTarget<'a> {
    /// A rig that writes as well.
    Rig(&'a mut dyn Rig),
    /// Reads alone.
    Reads(&'a mut dyn TimedLoads, &'a DriveInfo),
}

/// The observer of an X-ray, who may end it.
pub trait XrayWatcher {
    /// Returns whether it has to stop; called several times a second.
    fn stop(&mut self) -> bool;

    /// Takes what is done next, and the bytes written so far.
    fn doing(&mut self, what: &str, written: Bytes);
}

/// The drive with what was observed beside its loads.
pub(super) struct Access<'a> {
    target: XrayTarget<'a>,
    watcher: &'a mut dyn XrayWatcher,
    info: DriveInfo,
    seed: u64,
    /// Whether a trim of the whole drive was begun.
    is_trimmed: bool,
    written: u64,
    read: u64,
    findings: Vec<Finding>,
    /// Temperatures of the last load, from its start.
    temperatures: Vec<(Nanos, f64)>,
}

impl<'a> Access<'a> {
    /// Returns the access to `target`, and the sizes of its experiments.
    pub(super) fn open(
        target: XrayTarget<'a>,
        options: &XrayOptions,
        watcher: &'a mut dyn XrayWatcher,
    ) -> Result<(Access<'a>, Sizes), XrayError> {
        let mut target = target;
        let info = match &target {
            XrayTarget::Rig(rig) => rig.drive().clone(),
            XrayTarget::Reads(_, info) => (*info).clone(),
        };
        if info.capacity < Sizes::LEAST {
            let (drive, capacity) = (info.target, info.capacity);
            return Err(XrayError::TooSmall { drive, capacity });
        }
        let mut findings = Vec::new();
        if let XrayTarget::Rig(rig) = &mut target {
            findings = rig.conditions();
            if rig.timed_loads().is_none() {
                return Err(XrayError::NoReads(info.target));
            }
        }
        if info.is_model() {
            findings.push(Finding::new(
                FindingKind::Model,
                Severity::Note,
                "all figures are results of a virtual drive, not measurements",
                "do not quote them as results of a product",
            ));
        }
        let sizes = Sizes::new(info.capacity);
        let seed = options.seed;
        let access = Access {
            target,
            watcher,
            info,
            seed,
            is_trimmed: false,
            written: 0,
            read: 0,
            findings,
            temperatures: Vec::new(),
        };
        Ok((access, sizes))
    }

    pub(super) fn kind(&self) -> TargetKind {
        self.info.kind
    }

    pub(super) fn logical_block(&self) -> u64 {
        self.info.logical_block.0
    }

    /// Returns whether a trim of the whole drive was begun.
    pub(super) fn is_trimmed(&self) -> bool {
        self.is_trimmed
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) fn temperatures(&self) -> &[(Nanos, f64)] {
        &self.temperatures
    }

    pub(super) fn into_totals(self) -> (Bytes, Bytes, Vec<Finding>) {
        (Bytes(self.written), Bytes(self.read), self.findings)
    }

    pub(super) fn doing(&mut self, what: &str) {
        self.watcher.doing(what, Bytes(self.written));
    }

    /// Trims the whole drive; returns false where it cannot be trimmed.
    pub(super) fn trim(&mut self) -> Result<bool, Ended> {
        self.doing("trim");
        // Until it has ended: one that fails may have discarded data.
        self.is_trimmed = matches!(self.target, XrayTarget::Rig(_));
        let Access { target, watcher, findings, info, .. } = self;
        let XrayTarget::Rig(rig) = target else { return Ok(false) };
        let mut sink = Observations { watcher: *watcher, findings, temperatures: Vec::new() };
        let trim = Preparation::Trim { offset: Bytes(0), span: info.capacity };
        let prepared = rig.prepare(&trim, &mut sink)?;
        let takes_trim = prepared.method != "none";
        self.is_trimmed = takes_trim;
        match prepared.stopped {
            true => Err(Ended::Stopped),
            false => Ok(takes_trim),
        }
    }

    /// Waits until everything that was written is on the media; returns how the flush went.
    pub(super) fn flush(&mut self) -> Result<Option<Flush>, Ended> {
        let Access { target, watcher, findings, .. } = self;
        let XrayTarget::Rig(rig) = target else { return Ok(None) };
        let mut sink = Observations { watcher: *watcher, findings, temperatures: Vec::new() };
        Ok(rig.flush(&mut sink)?)
    }

    /// Adds a doubt.
    pub(super) fn find(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Sends no load for `duration`.
    pub(super) fn rest(&mut self, duration: Nanos) -> Result<(), Ended> {
        let Access { target, watcher, findings, .. } = self;
        let XrayTarget::Rig(rig) = target else { return Ok(()) };
        let mut sink = Observations { watcher: *watcher, findings, temperatures: Vec::new() };
        rig.rest(duration, &mut sink)?;
        match self.watcher.stop() {
            true => Err(Ended::Stopped),
            false => Ok(()),
        }
    }

    /// Returns what was written to the media and by hosts since the last call, where the drive reports it.
    pub(super) fn media_writes(&mut self) -> Option<MediaWrites> {
        let Access { target, watcher, findings, .. } = self;
        let XrayTarget::Rig(rig) = target else { return None };
        let mut sink = Observations { watcher: *watcher, findings, temperatures: Vec::new() };
        rig.media_writes(&mut sink)
    }

    /// Sends reads, and returns their times.
    pub(super) fn send(&mut self, requests: &[TimedRequest], depth: u32) -> Result<Timings, Ended> {
        let bytes: u64 = requests.iter().map(|one| u64::from(one.length)).sum();
        let writes = requests.iter().filter(|one| one.direction == Direction::Write);
        let written: u64 = writes.map(|one| u64::from(one.length)).sum();
        let timings = self.with_loads(|loads, sink| loads.send(requests, depth, sink))?;
        self.written += written;
        self.read += bytes - written;
        Ok(timings)
    }

    /// Runs lanes, and returns their records.
    pub(super) fn run(&mut self, lanes: &[Lane], limits: LaneLimits) -> Result<LanesEnded, Ended> {
        let ended = self.with_loads(|loads, sink| loads.run_lanes(lanes, limits, sink))?;
        for (lane, record) in lanes.iter().zip(&ended.lanes) {
            let bytes: u64 = record.bytes.iter().sum();
            match lane.direction {
                Direction::Read => self.read += bytes,
                Direction::Write | Direction::Flush | Direction::Trim => self.written += bytes,
            }
        }
        Ok(ended)
    }

    fn with_loads<T>(
        &mut self,
        load: impl FnOnce(&mut dyn TimedLoads, &mut dyn Sink) -> Result<Option<T>, RigError>,
    ) -> Result<T, Ended> {
        let Access { target, watcher, findings, info, temperatures, .. } = self;
        let mut sink = Observations { watcher: *watcher, findings, temperatures: Vec::new() };
        let result = match target {
            XrayTarget::Rig(rig) => match rig.timed_loads() {
                Some(loads) => load(loads, &mut sink)?,
                None => return Err(Ended::Failed(XrayError::NoReads(info.target.clone()))),
            },
            XrayTarget::Reads(loads, _) => load(*loads, &mut sink)?,
        };
        *temperatures = sink.temperatures;
        result.ok_or(Ended::Stopped)
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

/// The end of a load's observations: temperatures and findings.
struct Observations<'a> {
    watcher: &'a mut dyn XrayWatcher,
    findings: &'a mut Vec<Finding>,
    temperatures: Vec<(Nanos, f64)>,
}

impl Sink for Observations<'_> {
    fn interval(&mut self, _: &Interval) {}

    fn reading(&mut self, reading: &Reading) {
        if reading.quantity == TEMPERATURE {
            self.temperatures.push((reading.at, reading.value));
        }
    }

    fn finding(&mut self, finding: Finding) {
        // Loads are repeated, and so are their findings.
        if self.findings.iter().all(|known| known.kind != finding.kind) {
            self.findings.push(finding);
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
