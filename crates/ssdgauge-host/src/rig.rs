//! The rig on real targets, in real time.
//!
//! [`LinuxRig`] connects what the other modules and crates provide: the admitted target, the
//! engine, the monitors during a step, the settings of the drive and its preparation. `open` makes
//! it, `load` runs a workload, `prepare` brings the target into a state, `meters` reads instruments
//! during each of them.

mod durability;
mod instruments;
mod lend;
mod load;
mod meters;
mod open;
mod pass_through;
mod polling;
mod prepare;
mod queue_limits;
mod replay;
mod stamped;
mod timed;

pub use meters::open_meters;
pub use pass_through::check_pass_through;
pub use polling::check_polling;

use crate::monitor::{self, PauseMonitor};
use crate::settings::power_saving::PowerControl;
use crate::settings::write_cache::CacheSwitch;
use instruments::{Instruments, PollPolicy};
use ssdgauge_core::{
    Action, Bytes, DriveInfo, Ended, Finding, FindingKind, Flush, MediaWrites, Nanos, Preparation,
    Prepared, ReadBack, RecordedRequests, Replay, Rig, RigError, Severity, Sink, StampedBlocks,
    StepNumbers, ThermalReport, TimedLoads, Until, Verified, Workload,
};
use ssdgauge_drive::health_monitor::HealthMonitor;
use ssdgauge_drive::helper::{EndOfHelper, HelperClient};
use ssdgauge_engine::{Device, Log, Namespace, Pool, RequestError, RingChoice, Verification};
use ssdgauge_guard::{OpenTarget, WriteBudget};
use ssdgauge_os::clock;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A file, a block device or nothing, with the engines that load it.
#[derive(Debug)]
pub struct LinuxRig {
    pub(crate) info: DriveInfo,
    target: OpenTarget,
    budget: WriteBudget,
    /// The reason why requests go through the page cache, where they do.
    page_cache_reason: Option<String>,
    seed: u64,
    /// The numbers of the steps, from which their random requests follow.
    step_numbers: StepNumbers,
    /// The end of the written part of a scratch file: reads must not go beyond it.
    filled_to: u64,
    power: PowerControl,
    write_cache: CacheSwitch,
    pub(crate) instruments: Instruments,
    /// Whether the step before was an idle one, in which nothing polled the drive.
    pub(crate) idle_before: bool,
    pool: Pool,
    /// The length of the pool that earlier processes of the run may have used, in bytes.
    earlier_pool: usize,
    verification: Verification,
    /// Watches this program from the end of a step to the begin of the next.
    between: Option<PauseMonitor>,
    log: Option<Log>,
    /// Set to true by the binary when the run has to stop.
    stop_requested: Arc<AtomicBool>,
    /// The flags of the rings, once they were tuned.
    ring: Option<RingChoice>,
    /// The namespace to which measured loads are passed through as commands.
    namespace: Option<Namespace>,
    /// The size of a block device when it was opened.
    opened_size: Bytes,
    /// The block device that the target is, or lies on.
    backing: Option<BackingDevice>,
    /// Reads SMART data, where the target is a whole drive that supports it.
    pub(crate) health: Option<HealthMonitor>,
    timed: TimedCounts,
    /// Carries out what needs privileges, where this process has dropped them.
    helper: Option<HelperClient>,
    /// A summary of the privileges that the process kept, where it dropped any.
    privileges: Option<String>,
    /// Ends the helper, after all fields above that restore settings through it.
    end_of_helper: Option<EndOfHelper>,
}

/// What timed loads have done so far.
#[derive(Debug, Default)]
struct TimedCounts {
    /// The loads; the random addresses of each follow from its number.
    loads: u64,
    /// Bytes that were written since the counters of the drive were read last.
    unread: u64,
}

impl TimedCounts {
    /// Returns the bytes that were written since the last call.
    fn take_unread(&mut self) -> u64 {
        std::mem::take(&mut self.unread)
    }
}

/// A block device: its number, and its folder in sysfs.
#[derive(Debug)]
struct BackingDevice {
    number: u64,
    folder: PathBuf,
    /// The folder in sysfs of the target itself: the device or a partition; `None` for files.
    node: Option<PathBuf>,
}

impl LinuxRig {
    /// Gives the I/O threads the flag `stop_requested`: once it is true they submit nothing more,
    /// even while the control thread writes the run file, and the privileged helper is awaited for seconds only.
    /// `report` gets a message at the end of the rig where the helper does not end.
    pub fn stop_on(&mut self, stop_requested: Arc<AtomicBool>, report: fn(&str)) {
        if let Some(helper) = &self.helper {
            helper.stop_on(Arc::clone(&stop_requested));
            self.end_of_helper = Some(helper.end_by(report));
        }
        self.stop_requested = stop_requested;
    }

    /// Logs every measured request from now on: 16 bytes each, in the format of
    /// [`ssdgauge_core::io_log`].
    ///
    /// # Errors
    /// `path` exists, or cannot be created.
    pub fn log_ios(&mut self, path: &Path) -> std::io::Result<()> {
        self.log = Some(Log::create(path)?);
        Ok(())
    }

    /// Waits until the clock is calibrated, so that the first load is measured with it as well.
    pub fn settle(&self) {
        clock::settle();
    }

    /// Returns a summary of the privileges that the process kept; `None` where it dropped none.
    pub fn privileges(&self) -> Option<&str> {
        self.privileges.as_deref()
    }

    pub(crate) fn file(&self) -> Option<&Arc<File>> {
        match &self.target {
            OpenTarget::Null => None,
            OpenTarget::Scratch(file) => Some(file),
            OpenTarget::Drive(drive) => Some(drive.file()),
        }
    }

    fn is_block(&self) -> bool {
        matches!(self.target, OpenTarget::Drive(_))
    }

    /// Returns the finding that uses of the drive may have been hidden from this process.
    fn uses_unknown(&self) -> Option<Finding> {
        let OpenTarget::Drive(drive) = &self.target else { return None };
        let unseen = drive.unseen();
        (!unseen.is_empty()).then(|| {
            let text = format!(
                "whether other programs used the drive is unknown: this process could not see {}",
                unseen.join(", nor ")
            );
            let hint = "run it on the host, as root, where nothing is hidden";
            Finding::new(FindingKind::UsesUnknown, Severity::Warning, text, hint)
        })
    }

    fn device(&self) -> Device {
        self.file().cloned().map_or(Device::Null, Device::File)
    }

    /// Notes that requests failed, and returns what `error` means for a run that could not `what` its drive.
    fn failed(&mut self, what: &str, error: &RequestError) -> RigError {
        self.budget.record_failure();
        error.of_drive(what, &self.info.target, self.has_vanished())
    }

    fn has_vanished(&self) -> bool {
        self.is_block() && self.current_size().is_none_or(|size| size == Bytes(0))
    }

    /// Returns the present size of a block device; `None` for other targets. The kernel reports it
    /// without a request to the drive.
    fn current_size(&self) -> Option<Bytes> {
        match &self.target {
            OpenTarget::Null | OpenTarget::Scratch(_) => None,
            OpenTarget::Drive(drive) => {
                ssdgauge_os::block_device::device_size(drive.file()).ok().map(Bytes)
            }
        }
    }
}

impl Drop for LinuxRig {
    fn drop(&mut self) {
        self.budget.write_final_label(&self.target);
    }
}

impl Rig for LinuxRig {
    fn drive(&self) -> &DriveInfo {
        &self.info
    }

    fn conditions(&mut self) -> Vec<Finding> {
        let number = self.backing.as_ref().map(|backing| backing.number);
        let mut findings = monitor::check_host(Path::new("/"), number, self.is_block());
        findings.extend(self.uses_unknown());
        if let Some(target) = self.purge_target() {
            findings.extend(ssdgauge_drive::drive_findings(
                &target.device,
                target.pass_through.as_ref(),
            ));
        }
        findings
    }

    fn count_earlier(&mut self, workload: &Workload, until: &Until) {
        self.step_numbers.next(workload, until);
    }

    fn carried_out_earlier(&mut self, action: &Action, is_finished: bool) {
        self.note_earlier(action, is_finished);
    }

    fn read_earlier(&mut self, earlier: &[(&Action, bool)]) -> Result<Option<ReadBack>, RigError> {
        self.read_earlier_fills(earlier)
    }

    fn flush(&mut self, sink: &mut dyn Sink) -> Result<Option<Flush>, RigError> {
        self.flush_target(sink)
    }

    fn read_back(&mut self, at_most: Nanos) -> Result<Option<ReadBack>, RigError> {
        self.read_places_back(at_most)
    }

    fn verify(
        &mut self,
        progress: &mut dyn FnMut(Bytes, Bytes) -> bool,
    ) -> Result<Option<Verified>, RigError> {
        self.verify_written(progress)
    }

    fn stamped_blocks(&mut self) -> Option<&mut dyn StampedBlocks> {
        self.reaches_drive().then_some(self)
    }

    fn timed_loads(&mut self) -> Option<&mut dyn TimedLoads> {
        self.reaches_drive().then_some(self)
    }

    fn media_writes(&mut self, sink: &mut dyn Sink) -> Option<MediaWrites> {
        self.read_media_writes(sink)
    }

    fn thermal_report(&mut self) -> Option<ThermalReport> {
        self.health.as_mut()?.thermal_report()
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
                self.with_instruments(PollPolicy::Poll, sink, |rig, sink| {
                    let prepared = rig.fill(access, block_size, (offset, span), sink)?;
                    let elapsed = prepared.elapsed;
                    Ok((prepared, elapsed))
                })
            }
            Preparation::Power(saving) => Ok(self.set_power_saving(saving, sink)),
            Preparation::WriteCache(wanted) => Ok(self.set_write_cache(wanted, sink)),
        }
    }

    fn run(
        &mut self,
        workload: &Workload,
        until: &Until,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        self.check_filled(workload)?;
        self.report_page_cache(sink);
        let indirect = [self.not_polled(workload), self.not_passed_through(workload)];
        indirect.into_iter().flatten().for_each(|finding| sink.finding(finding));
        // After an idle step the first request of the workload, and no other, has to wake the
        // drive: the latency of waking is what such a test measures.
        if !self.idle_before {
            let found = monitor::find_unwritten_reads(&self.target, &self.verification, workload);
            found.into_iter().for_each(|finding| sink.finding(finding));
        }
        self.tune_rings(workload, until);
        let policy = match self.idle_before {
            true => PollPolicy::AfterFirstSecond,
            false => PollPolicy::Poll,
        };
        let outcome = self.with_instruments(policy, sink, |rig, sink| {
            let outcome = rig.load(workload, until, false, sink)?;
            let elapsed = outcome.elapsed;
            Ok((outcome, elapsed))
        })?;
        Ok(Ended { by: outcome.by, elapsed: outcome.elapsed, engine: outcome.report })
    }

    fn replay(
        &mut self,
        replay: &Replay,
        requests: Box<dyn RecordedRequests>,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        self.replay_requests(replay, requests, sink)
    }

    /// A pause: no load, while instruments and health monitor go on polling the drive.
    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<Nanos, RigError> {
        self.wait_without_load(duration, PollPolicy::Poll, sink)
    }

    /// An idle time: no load, and nothing polls the drive, so that it can enter its power states.
    fn idle(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<Nanos, RigError> {
        self.wait_without_load(duration, PollPolicy::Silent, sink)
    }
}
