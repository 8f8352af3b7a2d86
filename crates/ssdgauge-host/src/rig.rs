//! The rig on real targets, in real time.

use crate::clock;
use crate::custody::Custody;
use crate::engine::{
    self, Choice, Content, Device, Fault, Load, Log, Outcome, Pool, RingFlags, Stamps,
};
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
    pool: Pool,
    stamps: Stamps,
    log: Option<Log>,
    /// How rings are set up, once it was tried.
    ring: Option<Choice>,
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
        let pool = Pool::begin();
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
        let tag = engine::random_tag()
            .map_err(|cause| TargetError::System { path: "/dev/urandom".into(), cause })?;
        Ok(LinuxRig {
            info,
            place,
            custody,
            cached,
            seed,
            runs: 0,
            written,
            power,
            pool,
            stamps: Stamps::new(tag),
            log: None,
            ring: None,
        })
    }

    /// Writes down every request that is measured from now on: sixteen bytes each, in the format
    /// of [`ssdgauge_core::io_log`]. Fails where `path` exists or cannot be made.
    pub fn log_ios(&mut self, path: &Path) -> std::io::Result<()> {
        self.log = Some(Log::create(path)?);
        Ok(())
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
        self.stamps.advance();
        for stream in workload.streams.iter().filter(|one| one.writes() && one.data == Data::Zeros)
        {
            self.stamps.forget(stream.offset.0, (stream.offset + stream.span).0);
        }
        let load = Load {
            device: &self.device(),
            workload,
            until,
            seed,
            covering,
            pool: &self.pool,
            stamps: &self.stamps,
            ring_flags: self.ring.as_ref().map_or(RingFlags::Plain, |choice| choice.flags),
            log: self.log.as_mut().filter(|_| !covering),
        };
        let mut watch = self.custody.watch(until, sink);
        let outcome = engine::run(load, &mut watch);
        let count = watch.count();
        let mut outcome = outcome.map_err(|cause| RigError::System {
            what: format!("cannot load {}", self.info.target),
            cause,
        })?;
        if let Some(choice) = self.ring.as_ref().filter(|_| outcome.report.engine == "io_uring") {
            outcome.report.setup = format!("{}; {}", outcome.report.setup, choice.seen);
        }
        if !outcome.faults.is_empty() || outcome.silence.is_some() {
            self.custody.doubt();
        }
        if outcome.silence.is_some() || outcome.faults.iter().any(|fault| fault.content.is_none()) {
            // What a failed write left behind is unknown, not wrong.
            for stream in workload.streams.iter().filter(|stream| stream.writes()) {
                self.stamps.forget(stream.offset.0, (stream.offset + stream.span).0);
            }
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

    /// Chooses the flags of rings by a trial, at the first workload that repays it.
    fn try_rings(&mut self, workload: &Workload, until: &Until) {
        if self.ring.is_some() || !engine::is_worth_it(workload, until) {
            return;
        }
        self.ring = Some(engine::choose(&Load {
            device: &self.device(),
            workload,
            until,
            seed: self.seed,
            covering: false,
            pool: &self.pool,
            stamps: &self.stamps,
            ring_flags: RingFlags::Plain,
            log: None,
        }));
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
        let (wrong, failed): (Vec<&Fault>, Vec<&Fault>) =
            outcome.faults.iter().partition(|fault| fault.content.is_some());
        wrong.into_iter().take(3).for_each(|fault| tell_wrong_data(fault, sink));
        for fault in failed.into_iter().take(3) {
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
            self.write_tail(offset + whole, offset + span)?;
            self.stamps.fill(offset.0, (offset + whole).0);
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
    fn write_tail(&self, from: Bytes, to: Bytes) -> Result<(), RigError> {
        let length = (to - from).0 as usize;
        let Some(file) = self.file().filter(|_| length > 0) else { return Ok(()) };
        let cause = |error: std::io::Error| RigError::System {
            what: format!("cannot write the last {length} bytes"),
            cause: error.to_string(),
        };
        let data = self.pool.get(length).map_err(|error| cause(std::io::Error::other(error)))?;
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
        self.stamps.forget(offset.0, (offset + span).0);
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

/// Tells of a read that did not find what this run had written.
fn tell_wrong_data(fault: &Fault, sink: &mut dyn Sink) {
    let offset = fault.offset;
    let what = match fault.content {
        Some(Content::Zeros) => "found zeros: what this run wrote there is not there".to_owned(),
        Some(Content::Elsewhere(place)) => format!(
            "found what this run wrote at byte {place}: two addresses are one place of the drive, \
             or a request went astray"
        ),
        Some(Content::Stale) => {
            "found data from before it was last filled: a later write was dropped".to_owned()
        }
        Some(Content::Foreign) => "found data that this run never wrote".to_owned(),
        None => return,
    };
    sink.finding(Finding::new(
        FindingKind::WrongData,
        Severity::Invalid,
        format!("a read at byte {offset} {what}"),
        "do not keep data on this drive; check its true capacity and whether anything else writes \
         to it",
    ));
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
        self.try_rings(workload, until);
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
