//! The rig on real targets, in real time.

mod instruments;
mod meters;
mod open;
mod prepare;

pub use meters::look_at_meters;

use crate::monitor::{self, InterferenceMonitor, LatencyWatch};
use crate::settings::power_saving::PowerControl;
use crate::settings::write_cache::CacheSwitch;
use instruments::{Instruments, PollPolicy};
use ssdgauge_core::{
    Bytes, Data, DriveInfo, Ended, EndedBy, Finding, FindingKind, Nanos, Preparation, Prepared,
    Rig, RigError, Severity, Sink, Stream, Until, Workload,
};
use ssdgauge_drive::health_monitor::HealthMonitor;
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_engine::io_errors;
use ssdgauge_engine::{
    self as engine, Device, Load, Log, Outcome, Pool, RingChoice, RingFlags, Verification,
};
use ssdgauge_guard::{OpenTarget, WriteBudget};
use ssdgauge_os::clock;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// A file, a block device or nothing, with the engines to load it.
#[derive(Debug)]
pub struct LinuxRig {
    pub(crate) info: DriveInfo,
    place: OpenTarget,
    budget: WriteBudget,
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
    verification: Verification,
    log: Option<Log>,
    /// Whether the run shall stop.
    stop_requested: Arc<AtomicBool>,
    /// How rings are set up, once it was tried.
    ring: Option<RingChoice>,
    /// The size that a block device had when it was opened.
    opened_size: Bytes,
    /// The block device below the target.
    backing: Option<BackingDevice>,
    /// How the drive feels, where it is a whole drive that can be asked.
    pub(crate) health: Option<HealthMonitor>,
    /// Carries out what needs privileges, where this process has dropped them.
    helper: Option<HelperClient>,
    /// Which privileges the process kept, in words, where it dropped any.
    privileges: Option<String>,
}

/// A block device: its number, and its folder in /sys.
#[derive(Debug)]
struct BackingDevice {
    number: u64,
    folder: PathBuf,
}

impl LinuxRig {
    /// Lets the threads that load the drive see `stop_requested` themselves: once it is true they send nothing
    /// more, even while the run file is being written.
    pub fn stop_on(&mut self, stop_requested: Arc<AtomicBool>) {
        self.stop_requested = stop_requested;
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
        let queue = self.backing.as_ref().map(|backing| backing.folder.join("queue/io_poll"));
        let polls = queue.and_then(|path| std::fs::read_to_string(path).ok());
        match polls.as_deref().map(str::trim) {
            Some("1") if self.cached.is_none() => {
                let seen = "by wish".to_owned();
                self.ring = Some(RingChoice { flags: RingFlags::Polled, seen });
                Ok(())
            }
            Some("1") => Err(format!("{} is read through the page cache", self.info.target)),
            Some(_) | None => Err(format!("the queue of {} does not poll", self.info.target)),
        }
    }

    /// Returns which privileges the process kept, in words; `None` where it dropped none.
    pub fn privileges(&self) -> Option<&str> {
        self.privileges.as_deref()
    }

    pub(crate) fn file(&self) -> Option<&Arc<File>> {
        match &self.place {
            OpenTarget::Null => None,
            OpenTarget::Scratch(file) => Some(file),
            OpenTarget::Drive(drive) => Some(drive.file()),
        }
    }

    fn is_block(&self) -> bool {
        matches!(self.place, OpenTarget::Drive(_))
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
            self.budget.before_writing(&self.place, until.bytes, sink)?;
        }
        self.verification.advance();
        for stream in workload.streams.iter().filter(|one| one.writes() && one.data == Data::Zeros)
        {
            self.verification.forget(stream.offset.0, (stream.offset + stream.span).0);
        }
        let load = Load {
            device: &self.device(),
            workload,
            until,
            seed,
            covering,
            pool: &self.pool,
            verification: &self.verification,
            ring_flags: self.ring.as_ref().map_or(RingFlags::Plain, |choice| choice.flags),
            stop_requested: &self.stop_requested,
            log: self.log.as_mut().filter(|_| !covering),
        };
        let folder = self.backing.as_ref().map(|backing| backing.folder.as_path());
        let interference = InterferenceMonitor::begin(folder);
        let depths = workload.streams.iter().map(|one| u64::from(one.total_depth()));
        if let Some(health) = &mut self.health {
            // With a single request in flight, a question would stand in its way.
            health.begin(depths.sum::<u64>() > 1, sink);
        }
        let since = Instant::now();
        let mut seen = LatencyWatch::on_the_way_to(sink);
        let mut watch = self.budget.watch(until, &mut seen);
        let outcome = engine::run(load, &mut watch);
        let count = watch.count();
        let mut outcome = outcome.map_err(|cause| RigError::System {
            what: format!("cannot load {}", self.info.target),
            cause,
        })?;
        let step = monitor::Step {
            kind: self.info.kind,
            workload,
            elapsed: outcome.elapsed,
            in_flight: outcome.report.in_flight,
            whole: outcome.faults.is_empty() && outcome.silence.is_none(),
            stopped: outcome.by == EndedBy::Stop,
            cached: self.cached.is_some(),
        };
        let findings = interference.end(&step, &seen);
        if let Some(health) = &mut self.health {
            health.end(since, outcome.elapsed, step.whole, sink);
        }
        findings.into_iter().for_each(|finding| sink.finding(finding));
        if let Some(choice) = self.ring.as_ref().filter(|_| outcome.report.engine == "io_uring") {
            outcome.report.setup = format!("{}; {}", outcome.report.setup, choice.seen);
        }
        if !outcome.faults.is_empty() || outcome.silence.is_some() {
            self.budget.doubt();
        }
        if outcome.silence.is_some()
            || outcome.faults.iter().any(|(_, fault)| fault.content.is_none())
        {
            // What a failed write left behind is unknown, not wrong.
            for stream in workload.streams.iter().filter(|stream| stream.writes()) {
                self.verification.forget(stream.offset.0, (stream.offset + stream.span).0);
            }
        }
        let size = || size_of(&self.place);
        io_errors::judge(&self.info, self.opened_size, size, &outcome, sink)?;
        self.budget.after_writing(&self.info.target, count, sink)?;
        Ok(outcome)
    }

    /// Chooses the flags of rings by a trial, at the first workload that repays it.
    fn try_rings(&mut self, workload: &Workload, until: &Until) {
        if self.ring.is_some() || !engine::tuning_pays(workload, until) {
            return;
        }
        self.ring = Some(engine::tune_rings(&Load {
            device: &self.device(),
            workload,
            until,
            seed: self.seed,
            covering: false,
            pool: &self.pool,
            verification: &self.verification,
            ring_flags: RingFlags::Plain,
            stop_requested: &self.stop_requested,
            log: None,
        }));
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
        self.budget.leave(&self.place);
    }
}

impl Rig for LinuxRig {
    fn drive(&self) -> &DriveInfo {
        &self.info
    }

    fn conditions(&mut self) -> Vec<Finding> {
        let number = self.backing.as_ref().map(|backing| backing.number);
        let mut findings = monitor::conditions(Path::new("/"), number, self.is_block());
        if let Some(target) = self.target() {
            findings.extend(ssdgauge_drive::drive_findings(
                &target.place,
                target.pass_through.as_ref(),
            ));
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
                self.watched(PollPolicy::Poll, sink, |rig, sink| {
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
            let found = monitor::look(&self.place, &self.verification, workload);
            found.into_iter().for_each(|finding| sink.finding(finding));
        }
        self.try_rings(workload, until);
        let quiet = if self.was_idle { PollPolicy::AfterFirstSecond } else { PollPolicy::Poll };
        let outcome = self.watched(quiet, sink, |rig, sink| {
            let outcome = rig.load(workload, until, false, sink)?;
            let elapsed = outcome.elapsed;
            Ok((outcome, elapsed))
        })?;
        Ok(Ended { by: outcome.by, elapsed: outcome.elapsed, engine: outcome.report })
    }

    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<(), RigError> {
        self.leave_alone(duration, PollPolicy::Poll, sink)
    }

    fn idle(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<(), RigError> {
        self.leave_alone(duration, PollPolicy::Silent, sink)
    }
}

/// Returns the size of a block device as it is now; it sends no request.
fn size_of(place: &OpenTarget) -> Option<Bytes> {
    match place {
        OpenTarget::Null | OpenTarget::Scratch(_) => None,
        OpenTarget::Drive(drive) => {
            ssdgauge_os::block_device::device_size(drive.file()).ok().map(Bytes)
        }
    }
}
