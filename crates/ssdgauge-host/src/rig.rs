//! The rig on real targets, in real time.

use crate::clock;
use crate::custody::Custody;
use crate::engine::{self, Device, Fault, Outcome};
use crate::guard::Mandate;
use crate::power::PowerControl;
use crate::sys;
use crate::target::{Candidate, OpenPlace, Opened, TargetError};
use ssdgauge_core::{
    Access, Arrival, Bytes, Data, DriveInfo, Ended, EndedBy, Engine, Finding, FindingKind, Nanos,
    PowerSaving, Preparation, Prepared, Rig, RigError, Severity, Sink, Stream, Until, Workload,
};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file, a block device or nothing, with the engines to load it.
#[derive(Debug)]
pub struct LinuxRig {
    info: DriveInfo,
    place: OpenPlace,
    custody: Custody,
    cached: Option<String>,
    seed: u64,
    runs: u64,
    /// Up to where a scratch file was written; its reads must not go beyond.
    written: u64,
    power: PowerControl,
}

impl LinuxRig {
    /// Opens `candidate`. A block device is admitted only with the words that `confirm` it.
    pub fn open(
        candidate: Candidate,
        confirm: Option<&str>,
        seed: u64,
    ) -> Result<LinuxRig, TargetError> {
        LinuxRig::open_with(candidate, &Mandate { confirm, ..Mandate::default() }, seed)
    }

    /// Opens `candidate`. A block device is admitted only within `mandate`.
    pub fn open_with(
        candidate: Candidate,
        mandate: &Mandate<'_>,
        seed: u64,
    ) -> Result<LinuxRig, TargetError> {
        let Opened { place, cached } = candidate.open(mandate)?;
        clock::calibrate();
        engine::prepare_pool();
        let info = candidate.info;
        let written = match &place {
            OpenPlace::Null | OpenPlace::Drive(_) => u64::MAX,
            OpenPlace::Scratch(_) => 0,
        };
        let custody = Custody::new(mandate.writes_at_most);
        let power = match (&place, info.details.get("kernel_name")) {
            (OpenPlace::Drive(_), Some(name)) => {
                PowerControl::of(&Path::new("/sys/class/block").join(name), None)
            }
            _ => PowerControl::none(),
        };
        Ok(LinuxRig { info, place, custody, cached, seed, runs: 0, written, power })
    }

    fn file(&self) -> Option<&Arc<File>> {
        match &self.place {
            OpenPlace::Null => None,
            OpenPlace::Scratch(file) => Some(file),
            OpenPlace::Drive(drive) => Some(drive.file()),
        }
    }

    fn is_block(&self) -> bool {
        matches!(self.place, OpenPlace::Drive(_))
    }

    fn device(&self) -> Device {
        self.file().cloned().map_or(Device::Null, Device::File)
    }

    fn load(
        &mut self,
        workload: &Workload,
        until: &Until,
        covering: bool,
        sink: &mut dyn Sink,
    ) -> Result<Outcome, RigError> {
        self.runs += 1;
        let seed = self.seed.wrapping_add(self.runs.wrapping_mul(0x9e37_79b9));
        if workload.streams.iter().any(Stream::writes) {
            self.custody.before_writing(&self.place, until.bytes, sink)?;
        }
        let mut watch = self.custody.watch(until, sink);
        let outcome = engine::run(&self.device(), workload, until, seed, covering, &mut watch);
        let count = watch.count();
        let outcome = outcome.map_err(|cause| RigError::System {
            what: format!("cannot load {}", self.info.target),
            cause,
        })?;
        if !outcome.faults.is_empty() || outcome.silence.is_some() {
            self.custody.doubt();
        }
        self.tell_faults(&outcome, sink);
        if let Some(silence) = outcome.silence {
            sink.finding(Finding::new(
                FindingKind::Hung,
                Severity::Invalid,
                format!("the drive did not answer for {silence} and was given up"),
                "look at the kernel's log; a drive that hangs may need its power cut",
            ));
            let drive = self.info.target.clone();
            return Err(RigError::Hung { drive, silence });
        }
        if outcome.faults.iter().any(|fault| self.means_gone(fault)) {
            sink.finding(Finding::new(
                FindingKind::DriveGone,
                Severity::Invalid,
                "the drive is gone: it answers with nothing",
                "look at the kernel's log, at the connector and at the power supply",
            ));
            return Err(RigError::Gone(self.info.target.clone()));
        }
        self.custody.after_writing(&self.info.target, count, sink)?;
        Ok(outcome)
    }

    /// A drive that vanished answers reads with nothing and writes with "no space".
    fn means_gone(&self, fault: &Fault) -> bool {
        match fault.result {
            Ok(0) => true,
            Ok(_) => false,
            Err(libc::ENODEV | libc::ENXIO) => true,
            Err(libc::ENOSPC) => self.is_block(),
            Err(_) => false,
        }
    }

    fn tell_faults(&self, outcome: &Outcome, sink: &mut dyn Sink) {
        for fault in outcome.faults.iter().take(3) {
            let direction = fault.direction.name();
            let offset = fault.offset;
            let what = match fault.result {
                Ok(moved) => format!("moved only {moved} bytes"),
                Err(number) => {
                    format!("failed: {}", std::io::Error::from_raw_os_error(number))
                }
            };
            sink.finding(Finding::new(
                FindingKind::Faults,
                Severity::Invalid,
                format!("a {direction} at byte {offset} {what}"),
                "see the kernel's log and the drive's health before you trust any number",
            ));
        }
    }

    fn fill(
        &mut self,
        access: Access,
        block_size: Bytes,
        (offset, span): (Bytes, Bytes),
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        let stream = Stream {
            name: "fill".into(),
            access,
            block_size,
            read_percent: 0,
            queue_depth: 8,
            threads: 1,
            offset,
            span,
            arrival: Arrival::Closed,
            data: Data::Incompressible,
            sync: false,
        };
        let whole = Bytes(span.blocks_of(block_size) * block_size.0);
        let until = Until { time: None, bytes: Some(whole) };
        let workload = Workload { engine: Engine::IoUring, streams: vec![stream.clone()] };
        let outcome = self.load(&workload, &until, true, sink)?;
        let stopped = outcome.by == EndedBy::Stop;
        if !stopped && outcome.faults.is_empty() {
            self.write_tail(&stream, offset + whole, offset + span)?;
            if offset.0 <= self.written {
                self.written = self.written.max((offset + span).0);
            }
        }
        let written = Bytes(outcome.ios[1] * block_size.0);
        let method = match access {
            Access::Sequential => format!("sequential writes of {block_size} at QD8"),
            Access::Random => format!("random writes of {block_size} at QD8, each block once"),
        };
        Ok(Prepared { method, written, elapsed: outcome.elapsed, stopped })
    }

    /// Writes what is left of a span behind its last whole block.
    fn write_tail(&self, stream: &Stream, from: Bytes, to: Bytes) -> Result<(), RigError> {
        let length = (to - from).0 as usize;
        let Some(file) = self.file().filter(|_| length > 0) else { return Ok(()) };
        let cause = |error: std::io::Error| RigError::System {
            what: format!("cannot write the last {length} bytes"),
            cause: error.to_string(),
        };
        let data =
            engine::write_data(stream).map_err(|error| cause(std::io::Error::other(error)))?;
        let data = data.expect("a fill writes");
        match sys::write_at(file, data.at(0), length, from.0).map_err(cause)? {
            n if n == length => Ok(()),
            n => Err(cause(std::io::Error::other(format!("only {n} were taken")))),
        }
    }

    fn trim(
        &mut self,
        range: Option<(Bytes, Bytes)>,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        let since = Instant::now();
        let (offset, span) = range.unwrap_or((Bytes(0), self.info.capacity));
        self.custody.before_writing(&self.place, None, sink)?;
        let result = match self.file().filter(|_| self.is_block()) {
            Some(file) => sys::discard(file, offset.0, span.0).map_err(|error| error.to_string()),
            None => Err("a scratch file cannot make its drive fresh".to_owned()),
        };
        let method = match result {
            Ok(()) => "discard".to_owned(),
            Err(cause) => {
                sink.finding(Finding::new(
                    FindingKind::PurgeNotPossible,
                    Severity::Warning,
                    format!("the drive was not made fresh: {cause}"),
                    "results depend on what was written before; test a whole drive to purge it",
                ));
                "none".to_owned()
            }
        };
        let elapsed = Nanos(since.elapsed().as_nanos() as u64);
        Ok(Prepared { method, written: Bytes(0), elapsed, stopped: false })
    }

    fn choose_power(&mut self, saving: PowerSaving, sink: &mut dyn Sink) -> Prepared {
        let since = Instant::now();
        let (method, findings) = self.power.choose(saving);
        findings.into_iter().for_each(|finding| sink.finding(finding));
        let elapsed = Nanos(since.elapsed().as_nanos() as u64);
        Prepared { method, written: Bytes(0), elapsed, stopped: false }
    }

    /// Refuses reads of what nobody wrote: the file system would answer them without the drive.
    fn check_written(&self, workload: &Workload) -> Result<(), RigError> {
        let beyond =
            |stream: &&Stream| stream.reads() && (stream.offset + stream.span).0 > self.written;
        match workload.streams.iter().find(beyond) {
            Some(stream) => Err(RigError::Refused(format!(
                "stream '{}' would read beyond byte {}, where the scratch file was never written",
                stream.name, self.written
            ))),
            None => Ok(()),
        }
    }
}

impl Drop for LinuxRig {
    fn drop(&mut self) {
        self.custody.leave(&self.place);
    }
}

impl Rig for LinuxRig {
    fn drive(&self) -> &DriveInfo {
        &self.info
    }

    fn prepare(
        &mut self,
        preparation: &Preparation,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        match *preparation {
            Preparation::Purge => self.trim(None, sink),
            Preparation::Trim { offset, span } => self.trim(Some((offset, span)), sink),
            Preparation::Fill { access, block_size, offset, span } => {
                self.fill(access, block_size, (offset, span), sink)
            }
            Preparation::Power(saving) => Ok(self.choose_power(saving, sink)),
        }
    }

    fn run(
        &mut self,
        workload: &Workload,
        until: &Until,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        self.check_written(workload)?;
        if let Some(cause) = &self.cached {
            sink.finding(Finding::new(
                FindingKind::PageCache,
                Severity::Invalid,
                format!("the page cache stood between the engine and the drive: {cause}"),
                "name a folder on a file system with O_DIRECT, such as ext4 or xfs on the drive",
            ));
        }
        let outcome = self.load(workload, until, false, sink)?;
        Ok(Ended { by: outcome.by, elapsed: outcome.elapsed, engine: outcome.report })
    }

    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<(), RigError> {
        let end = Instant::now() + Duration::from(duration);
        while !sink.stop() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
        Ok(())
    }
}
