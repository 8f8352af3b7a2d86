//! The rig on real targets, in real time.

use crate::clock;
use crate::conditions;
use crate::custody::Custody;
use crate::drive;
use crate::drive::sysfs::Place as DrivePlace;
use crate::drive::vitals::{self, Vitals};
use crate::drive::wire::{Port, Wire};
use crate::engine::{self, Choice, Device, Load, Log, Outcome, Pool, RingFlags, Stamps};
use crate::environment::block_device_of;
use crate::faults;
use crate::guard::Mandate;
use crate::instruments::{Instruments, Quiet};
use crate::meter::folder_of;
use crate::power::{self, PowerControl};
use crate::preparation::{self, Subject};
use crate::rights;
use crate::sys;
use crate::target::{Candidate, OpenPlace, Opened, TargetError};
use crate::unwritten;
use crate::witness::{self, Seen, Witness};
use crate::write_cache::{CacheSwitch, Way};
use ssdgauge_core::{
    Access, Arrival, Bytes, Data, DriveInfo, Ended, EndedBy, Engine, Finding, FindingKind, Nanos,
    PowerSaving, Preparation, Prepared, PurgeMethod, Rig, RigError, Severity, Sink, Stream,
    TargetKind, Until, Workload, WriteCache,
};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::time::Instant;

/// Why a target that is no block device cannot be purged or trimmed.
const NO_DRIVE: &str = "a scratch file cannot make its drive fresh";

/// A file, a block device or nothing, with the engines to load it.
#[derive(Debug)]
pub struct LinuxRig {
    pub(crate) info: DriveInfo,
    place: OpenPlace,
    custody: Custody,
    cached: Option<String>,
    seed: u64,
    runs: u64,
    /// Up to where a scratch file was written; its reads must not go beyond.
    written: u64,
    power: PowerControl,
    write_cache: CacheSwitch,
    pub(crate) instruments: Instruments,
    /// Whether the drive was left alone unasked in the step before.
    pub(crate) was_idle: bool,
    pool: Pool,
    stamps: Stamps,
    log: Option<Log>,
    /// Whether the run shall stop.
    wish: Arc<AtomicBool>,
    /// How rings are set up, once it was tried.
    ring: Option<Choice>,
    /// The size that a block device had when it was opened.
    opened_size: Bytes,
    /// The block device below the target.
    below: Option<Below>,
    /// How the drive feels, where it is a whole drive that can be asked.
    pub(crate) vitals: Option<Vitals>,
}

/// A block device: its number, and its folder in /sys.
#[derive(Debug)]
struct Below {
    number: u64,
    folder: PathBuf,
}

impl Below {
    /// Returns the device that `place` is, or lies on.
    fn of(place: &OpenPlace) -> Option<Below> {
        let number = match place {
            OpenPlace::Null => return None,
            OpenPlace::Scratch(file) => file.metadata().ok()?.dev(),
            OpenPlace::Drive(drive) => drive.file().metadata().ok()?.rdev(),
        };
        Some(Below { number, folder: block_device_of(number)? })
    }
}

/// Asks the kernel not to note when `file` is read: looking at the time took 40 ns of each read,
/// and behind writes the note itself would be written to the drive under test. Refused, and then
/// done without, where the file belongs to somebody else.
fn keep_access_time(file: &File) {
    if let Ok(flags) = rustix::fs::fcntl_getfl(file) {
        let _ = rustix::fs::fcntl_setfl(file, flags | rustix::fs::OFlags::NOATIME);
    }
}

/// Returns the size of a block device as it is now; it sends no request.
fn size_of(place: &OpenPlace) -> Option<Bytes> {
    match place {
        OpenPlace::Null | OpenPlace::Scratch(_) => None,
        OpenPlace::Drive(drive) => sys::device_size(drive.file()).ok().map(Bytes),
    }
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
        match &place {
            OpenPlace::Null => {}
            OpenPlace::Scratch(file) => keep_access_time(file),
            OpenPlace::Drive(drive) => keep_access_time(drive.file()),
        }
        if let (true, Some(results)) = (mandate.give_up_rights, mandate.results) {
            let device = match &place {
                OpenPlace::Drive(drive) => Some(drive.number()),
                OpenPlace::Null | OpenPlace::Scratch(_) => None,
            };
            rights::give_up(device, results).map_err(TargetError::Rights)?;
        }
        clock::calibrate();
        let pool = Pool::begin();
        let info = candidate.info;
        let written = match &place {
            OpenPlace::Null | OpenPlace::Drive(_) => u64::MAX,
            OpenPlace::Scratch(_) => 0,
        };
        let custody = Custody::new(mandate.writes_at_most);
        let folder = info.details.get("kernel_name").map(|name| folder_of(name));
        let power = match (&place, &folder) {
            (OpenPlace::Drive(drive), Some(folder)) => {
                PowerControl::of(folder, power::states_of(folder, drive.file()))
            }
            (OpenPlace::Null | OpenPlace::Scratch(_) | OpenPlace::Drive(_), _) => {
                PowerControl::none()
            }
        };
        let write_cache = CacheSwitch::of(cache_of(&place));
        let instruments = Instruments::of_drive(folder.as_deref());
        let tag = engine::random_tag()
            .map_err(|cause| TargetError::System { path: "/dev/urandom".into(), cause })?;
        let below = Below::of(&place);
        let mut info = info;
        let vitals = vitals_of(&place, &mut info);
        if vitals.is_none() {
            info.details.remove(HEALTH_EVERY);
        }
        if let Some(period) = instruments.temperature_period() {
            info.details.insert(TEMPERATURE_EVERY.into(), period.as_secs().to_string());
        }
        Ok(LinuxRig {
            vitals,
            opened_size: size_of(&place).unwrap_or_default(),
            below,
            info,
            place,
            custody,
            cached,
            seed,
            runs: 0,
            written,
            power,
            write_cache,
            instruments,
            was_idle: false,
            pool,
            stamps: Stamps::new(tag),
            log: None,
            wish: Arc::default(),
            ring: None,
        })
    }

    /// Returns a rig on an existing file that can only be read, for the benchmark of the engine;
    /// `direct` keeps the page cache out. Fails where `path` is no regular file.
    pub fn reading(path: &Path, direct: bool) -> std::io::Result<LinuxRig> {
        clock::calibrate();
        let flags = if direct { libc::O_DIRECT } else { 0 };
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        keep_access_time(&file);
        let facts = file.metadata()?;
        if !facts.is_file() {
            return Err(std::io::Error::other("no regular file"));
        }
        let info = DriveInfo {
            kind: TargetKind::File,
            target: path.display().to_string(),
            model: None,
            serial: None,
            firmware: None,
            capacity: Bytes(facts.len()),
            logical_block: Bytes(512),
            physical_block: Bytes(512),
            details: BTreeMap::new(),
        };
        let place = OpenPlace::Scratch(Arc::new(file));
        Ok(LinuxRig {
            info,
            vitals: None,
            opened_size: Bytes::default(),
            below: Below::of(&place),
            place,
            custody: Custody::new(None),
            cached: (!direct).then(|| "the file is read through it by wish".to_owned()),
            seed: 1,
            runs: 0,
            written: facts.len(),
            power: PowerControl::none(),
            write_cache: CacheSwitch::of(None),
            instruments: Instruments::default(),
            was_idle: false,
            pool: Pool::default(),
            stamps: Stamps::new(0),
            log: None,
            wish: Arc::default(),
            ring: None,
        })
    }

    /// Lets the threads that load the drive see `wish` themselves: once it is true they send nothing
    /// more, even while the run file is being written.
    pub fn stop_on(&mut self, wish: Arc<AtomicBool>) {
        self.wish = wish;
    }

    /// Writes down every request that is measured from now on: sixteen bytes each, in the format
    /// of [`ssdgauge_core::io_log`]. Fails where `path` exists or cannot be made.
    pub fn log_ios(&mut self, path: &Path) -> std::io::Result<()> {
        self.log = Some(Log::create(path)?);
        Ok(())
    }

    /// Waits until the best clock is ready, so that even the first load is measured by it.
    pub fn settle(&self) {
        clock::settle();
    }

    /// Asks the drive for its completions from now on instead of letting it interrupt. Fails where
    /// its queue does not poll: the kernel would fail such requests, or interrupt all the same.
    pub fn poll(&mut self) -> Result<(), String> {
        let queue = self.below.as_ref().map(|below| below.folder.join("queue/io_poll"));
        let polls = queue.and_then(|path| std::fs::read_to_string(path).ok());
        match polls.as_deref().map(str::trim) {
            Some("1") if self.cached.is_none() => {
                let seen = "by wish".to_owned();
                self.ring = Some(Choice { flags: RingFlags::Polled, seen });
                Ok(())
            }
            Some("1") => Err(format!("{} is read through the page cache", self.info.target)),
            Some(_) | None => Err(format!("the queue of {} does not poll", self.info.target)),
        }
    }

    pub(crate) fn file(&self) -> Option<&Arc<File>> {
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
            wish: &self.wish,
            log: self.log.as_mut().filter(|_| !covering),
        };
        let folder = self.below.as_ref().map(|below| below.folder.as_path());
        let witness = Witness::begin(folder);
        let depths = workload.streams.iter().map(|one| u64::from(one.total_depth()));
        if let Some(vitals) = &mut self.vitals {
            // With a single request in flight, a question would stand in its way.
            vitals.begin(depths.sum::<u64>() > 1, sink);
        }
        let since = Instant::now();
        let mut seen = Seen::on_the_way_to(sink);
        let mut watch = self.custody.watch(until, &mut seen);
        let outcome = engine::run(load, &mut watch);
        let count = watch.count();
        let mut outcome = outcome.map_err(|cause| RigError::System {
            what: format!("cannot load {}", self.info.target),
            cause,
        })?;
        let step = witness::Step {
            kind: self.info.kind,
            workload,
            elapsed: outcome.elapsed,
            whole: outcome.faults.is_empty() && outcome.silence.is_none(),
            cached: self.cached.is_some(),
        };
        let findings = witness.end(&step, &seen);
        if let Some(vitals) = &mut self.vitals {
            vitals.end(since, outcome.elapsed, step.whole, sink);
        }
        findings.into_iter().for_each(|finding| sink.finding(finding));
        if let Some(choice) = self.ring.as_ref().filter(|_| outcome.report.engine == "io_uring") {
            outcome.report.setup = format!("{}; {}", outcome.report.setup, choice.seen);
        }
        if !outcome.faults.is_empty() || outcome.silence.is_some() {
            self.custody.doubt();
        }
        if outcome.silence.is_some()
            || outcome.faults.iter().any(|(_, fault)| fault.content.is_none())
        {
            // What a failed write left behind is unknown, not wrong.
            for stream in workload.streams.iter().filter(|stream| stream.writes()) {
                self.stamps.forget(stream.offset.0, (stream.offset + stream.span).0);
            }
        }
        let size = || size_of(&self.place);
        faults::judge(&self.info, self.opened_size, size, &outcome, sink)?;
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
            wish: &self.wish,
            log: None,
        }));
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
        if outcome.by == EndedBy::Faults {
            return Err(RigError::System {
                what: format!("cannot fill {}", self.info.target),
                cause: format!("{} requests failed", outcome.faults.len()),
            });
        }
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

    /// Returns the drive for its preparation; `None` where the target is no whole drive.
    fn subject(&self) -> Option<Subject> {
        let file = self.file().filter(|_| self.is_block())?.clone();
        let (place, wire) = asked(&file)?;
        Some(Subject { file, wire, place, used: self.info.capacity })
    }

    fn purge(
        &mut self,
        method: Option<PurgeMethod>,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        self.custody.before_writing(&self.place, None, sink)?;
        match (self.subject(), method) {
            (Some(subject), method) => {
                self.stamps.forget(0, u64::MAX);
                let prepared = preparation::purge(&subject, method, sink);
                if !prepared.as_ref().is_ok_and(|prepared| !prepared.stopped) {
                    // What the drive is at now is its own business: nothing more is sent to it.
                    self.custody.doubt();
                }
                prepared
            }
            (None, None) => Ok(self.not_fresh(sink)),
            (None, Some(method)) => Err(RigError::CannotPurge {
                drive: self.info.target.clone(),
                method: method.name().into(),
                reason: NO_DRIVE.into(),
            }),
        }
    }

    fn trim(
        &mut self,
        offset: Bytes,
        span: Bytes,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        self.custody.before_writing(&self.place, None, sink)?;
        match self.subject() {
            Some(subject) => {
                self.stamps.forget(offset.0, (offset + span).0);
                preparation::trim(&subject, offset, span, sink)
            }
            None => Ok(self.not_fresh(sink)),
        }
    }

    /// Says that a target without a drive of its own cannot be made fresh.
    fn not_fresh(&self, sink: &mut dyn Sink) -> Prepared {
        sink.finding(Finding::new(
            FindingKind::PurgeNotPossible,
            Severity::Warning,
            format!("the drive was not made fresh: {NO_DRIVE}"),
            "results depend on what was written before; test a whole drive to purge it",
        ));
        let (written, elapsed) = (Bytes(0), Nanos::ZERO);
        Prepared { method: "none".into(), written, elapsed, stopped: false }
    }

    fn choose_power(&mut self, saving: PowerSaving, sink: &mut dyn Sink) -> Prepared {
        let since = Instant::now();
        let (method, findings) = self.power.choose(saving);
        findings.into_iter().for_each(|finding| sink.finding(finding));
        let elapsed = Nanos(since.elapsed().as_nanos() as u64);
        Prepared { method, written: Bytes(0), elapsed, stopped: false }
    }

    fn switch_cache(&mut self, switch: WriteCache, sink: &mut dyn Sink) -> Prepared {
        let since = Instant::now();
        let (method, finding) = self.write_cache.choose(switch);
        finding.into_iter().for_each(|finding| sink.finding(finding));
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

/// Returns the way to ask the drive that is open as `file`, and its place in /sys.
fn asked(file: &Arc<File>) -> Option<(DrivePlace, Arc<dyn Wire>)> {
    let number = file.metadata().ok()?.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let place = DrivePlace::of_number(Path::new("/sys"), major, minor)?;
    Some((place, Arc::new(Port(Arc::clone(file)))))
}

/// Returns the way to the write cache of a whole drive. One that is no NVMe drive may be a SATA
/// drive, and says so when it is asked.
fn cache_of(place: &OpenPlace) -> Option<(Way, Arc<dyn Wire>)> {
    let OpenPlace::Drive(drive) = place else { return None };
    let (place, wire) = asked(drive.file())?;
    let way = if place.controller.is_some() { Way::Nvme } else { Way::Ata };
    Some((way, wire))
}

/// The detail that says how often, in seconds, the health of a drive is read within a step; 0 is
/// never.
const HEALTH_EVERY: &str = "health_every_s";
/// The detail that says how often, in seconds, the kernel's sensors of a drive are read.
const TEMPERATURE_EVERY: &str = "temperature_every_s";

/// Returns what reads the health of a whole drive, and writes down how often it does.
fn vitals_of(place: &OpenPlace, info: &mut DriveInfo) -> Option<Vitals> {
    let OpenPlace::Drive(drive) = place else { return None };
    let (place, wire) = asked(drive.file())?;
    let mut vitals = Vitals::of(&place, wire)?;
    let wish = info.details.get(HEALTH_EVERY).and_then(|text| text.parse::<u64>().ok());
    let seconds = wish.unwrap_or(vitals::USUAL.as_secs());
    vitals.ask_every((seconds > 0).then(|| Duration::from_secs(seconds)));
    info.details.insert(HEALTH_EVERY.into(), seconds.to_string());
    Some(vitals)
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

    fn conditions(&mut self) -> Vec<Finding> {
        let number = self.below.as_ref().map(|below| below.number);
        let mut findings = conditions::conditions(Path::new("/"), number, self.is_block());
        if let Some(subject) = self.subject() {
            findings.extend(drive::doubts(&subject.place, subject.wire.as_ref()));
        }
        findings
    }

    fn prepare(
        &mut self,
        preparation: &Preparation,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        match *preparation {
            Preparation::Purge => self.purge(None, sink),
            Preparation::PurgeBy(method) => self.purge(Some(method), sink),
            Preparation::Trim { offset, span } => self.trim(offset, span, sink),
            Preparation::Fill { access, block_size, offset, span } => {
                self.watched(Quiet::No, sink, |rig, sink| {
                    let prepared = rig.fill(access, block_size, (offset, span), sink)?;
                    let elapsed = prepared.elapsed;
                    Ok((prepared, elapsed))
                })
            }
            Preparation::Power(saving) => Ok(self.choose_power(saving, sink)),
            Preparation::WriteCache(switch) => Ok(self.switch_cache(switch, sink)),
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
        // A drive that rests shall be woken by the step itself.
        if !self.was_idle {
            let found = unwritten::look(&self.place, &self.stamps, workload);
            found.into_iter().for_each(|finding| sink.finding(finding));
        }
        self.try_rings(workload, until);
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
