//! The rig on real targets, in real time.

use crate::clock;
use crate::engine::{self, Device, Fault, Outcome};
use crate::instruments::{Instruments, Quiet, Watched};
use crate::meter::{self, MeterError, MeterSpec, Meters, Thermometer};
use crate::power::PowerControl;
use crate::sys;
use crate::target::{Candidate, Opened, Place, TargetError};
use ssdgauge_core::{
    Access, Arrival, Bytes, Data, DriveInfo, Ended, EndedBy, Engine, Finding, FindingKind, Nanos,
    PowerSaving, Preparation, Prepared, Rig, RigError, Severity, Sink, Stream, Until, Workload,
};
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file, a block device or nothing, with the engines to load it.
#[derive(Debug)]
pub struct LinuxRig {
    info: DriveInfo,
    file: Option<Arc<File>>,
    is_block: bool,
    cached: Option<String>,
    seed: u64,
    runs: u64,
    /// Up to where a scratch file was written; its reads must not go beyond.
    written: u64,
    power: PowerControl,
    instruments: Instruments,
    /// Whether the drive was left alone unasked in the step before.
    was_idle: bool,
}

impl LinuxRig {
    /// Opens `candidate`. A block device is admitted only with the words that `confirm` it.
    pub fn open(
        candidate: Candidate,
        confirm: Option<&str>,
        seed: u64,
    ) -> Result<LinuxRig, TargetError> {
        clock::calibrate();
        engine::prepare_pool();
        let Opened { file, cached } = candidate.open(confirm)?;
        let is_block = matches!(candidate.place, Place::Block(_));
        let mut info = candidate.info;
        if let Some(sequence) = file.as_ref().filter(|_| is_block).and_then(sys::disk_sequence) {
            info.details.insert("disk_sequence".into(), sequence.to_string());
        }
        let written = if matches!(candidate.place, Place::Null) { u64::MAX } else { 0 };
        let written = if is_block { u64::MAX } else { written };
        let folder = info.details.get("kernel_name").map(|name| meter::folder_of(name));
        let power = match folder.as_ref().filter(|_| is_block) {
            Some(folder) => PowerControl::of(folder, None),
            None => PowerControl::none(),
        };
        let mut meters = Meters::default();
        if let Some(thermometer) = folder.as_deref().and_then(Thermometer::of) {
            meters.add_thermometer(thermometer);
        }
        let instruments = Instruments::new(meters);
        let file = file.map(Arc::new);
        Ok(LinuxRig {
            info,
            file,
            is_block,
            cached,
            seed,
            runs: 0,
            written,
            power,
            instruments,
            was_idle: false,
        })
    }

    /// Opens the power meters of `specs` and lets them read from now on; returns how each is read.
    ///
    /// # Errors
    /// The first meter that is not there, does not speak, or reads what cannot be.
    pub fn attach(&mut self, specs: &[MeterSpec]) -> Result<Vec<(String, String)>, MeterError> {
        let meters = Meters::open_with(specs, || None)?;
        let manners = meters.described(specs);
        self.instruments.add(meters);
        Ok(manners)
    }

    /// Does `work` with the instruments reading; `quiet` says whether nothing may ask the drive.
    fn watched<T>(
        &mut self,
        quiet: Quiet,
        sink: &mut dyn Sink,
        work: impl FnOnce(&mut LinuxRig, &mut dyn Sink) -> Result<(T, Nanos), RigError>,
    ) -> Result<T, RigError> {
        self.was_idle = quiet == Quiet::Yes;
        let mut instruments = std::mem::take(&mut self.instruments);
        instruments.begin(quiet);
        let since = Instant::now();
        let mut watched = Watched { sink, instruments: &mut instruments };
        let result = work(self, &mut watched);
        let elapsed = match &result {
            Ok((_, elapsed)) => *elapsed,
            Err(_) => Nanos(since.elapsed().as_nanos() as u64),
        };
        instruments.finish(elapsed, sink);
        self.instruments = instruments;
        result.map(|(value, _)| value)
    }

    fn leave_alone(
        &mut self,
        duration: Nanos,
        quiet: Quiet,
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        self.watched(quiet, sink, |_, sink| {
            let begin = Instant::now();
            let end = begin + Duration::from(duration);
            while !sink.stop() {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                std::thread::sleep(left.min(Duration::from_millis(50)));
            }
            Ok(((), Nanos(begin.elapsed().as_nanos() as u64).min(duration)))
        })
    }

    fn device(&self) -> Device {
        self.file.clone().map_or(Device::Null, Device::File)
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
        let outcome = engine::run(&self.device(), workload, until, seed, covering, sink);
        let outcome = outcome.map_err(|cause| RigError::System {
            what: format!("cannot load {}", self.info.target),
            cause,
        })?;
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
        Ok(outcome)
    }

    /// A drive that vanished answers reads with nothing and writes with "no space".
    fn means_gone(&self, fault: &Fault) -> bool {
        match fault.result {
            Ok(0) => true,
            Ok(_) => false,
            Err(libc::ENODEV | libc::ENXIO) => true,
            Err(libc::ENOSPC) => self.is_block,
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
        let Some(file) = self.file.as_ref().filter(|_| length > 0) else { return Ok(()) };
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
        let result = match self.file.as_ref().filter(|_| self.is_block) {
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
                self.watched(Quiet::No, sink, |rig, sink| {
                    let prepared = rig.fill(access, block_size, (offset, span), sink)?;
                    let elapsed = prepared.elapsed;
                    Ok((prepared, elapsed))
                })
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
        let quiet = if self.was_idle { Quiet::AtFirst } else { Quiet::No };
        let outcome = self.watched(quiet, sink, |rig, sink| {
            let outcome = rig.load(workload, until, false, sink)?;
            let elapsed = outcome.elapsed;
            Ok((outcome, elapsed))
        })?;
        Ok(Ended { by: outcome.by, elapsed: outcome.elapsed, engine: outcome.report })
    }

    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<(), RigError> {
        self.leave_alone(duration, Quiet::No, sink)
    }

    fn idle(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<(), RigError> {
        self.leave_alone(duration, Quiet::Yes, sink)
    }
}
