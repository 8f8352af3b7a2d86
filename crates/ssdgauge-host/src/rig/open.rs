//! Opening a target: the descriptor, the privileges, the settings and the instruments of a rig.

use super::instruments::Instruments;
use super::pass_through::Passage;
use super::prepare::command_path;
use super::{BackingDevice, LinuxRig, TimedCounts};
use crate::privileges::{self, ClaimedDevice, DroppedPrivileges};
use crate::settings::power_saving::{self, PowerControl};
use crate::settings::write_cache::{CachePath, CacheSwitch};
use rustix::thread::CapabilitySet;
use ssdgauge_core::{Bytes, Detail, DriveInfo, StepNumbers, TargetKind};
use ssdgauge_drive::health_monitor::{self, HealthMonitor};
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_drive::pass_through::PassThrough;
use ssdgauge_engine::{self as engine, Pool, Verification};
use ssdgauge_guard::signatures;
use ssdgauge_guard::{
    Candidate, OpenTarget, OpenedTarget, TargetError, TargetOptions, WriteBudget,
};
use ssdgauge_os::clock;
use ssdgauge_os::sysfs::{block_device_of, block_node_of};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

impl LinuxRig {
    /// Opens `candidate`. A block device is admitted only as far as `options` permit.
    ///
    /// # Errors
    /// The target cannot be opened, the guard refuses it, or privileges could not be dropped.
    /// Nothing was written.
    pub fn open_with(
        candidate: Candidate,
        options: &TargetOptions<'_>,
        seed: u64,
    ) -> Result<LinuxRig, TargetError> {
        let OpenedTarget { mut target, page_cache_reason } = candidate.open(options)?;
        // Its process of looks has the privileges of this one: it ends before they are dropped.
        let info = candidate.into_info();
        skip_access_times(&target);
        let passage = Passage::open(&target, &info.target)?;
        // Privileges belong to threads: they are dropped before the pool and the clock start any.
        let (helper, privileges) = drop_privileges(&mut target, options, passage.as_ref())?;
        clock::calibrate();
        let random = engine::random_tag()
            .map_err(|cause| TargetError::System { path: "/dev/urandom".into(), cause })?;
        let tag = options.run_id.map_or(random, signatures::run_tag);
        let pool = Pool::begin(tag);

        let mut rig = LinuxRig::on_target(info, target);
        rig.page_cache_reason = page_cache_reason;
        rig.seed = seed;
        let earlier = options.continues.map_or(Bytes(0), |continued| continued.written);
        rig.budget =
            WriteBudget::new(options.writes_at_most).allowing(options.allowed_writes, earlier);
        rig.filled_to = match rig.target {
            OpenTarget::Null | OpenTarget::Drive(_) => u64::MAX,
            OpenTarget::Scratch(_) => 0,
        };
        rig.pool = pool;
        // Each step runs at most one workload.
        let earlier = options.continues.map_or(0, |continued| continued.steps);
        rig.verification = Verification::after(tag, earlier);
        rig.helper = helper;
        rig.privileges = privileges;
        rig.pass_through(passage);
        rig.open_settings();
        rig.open_instruments(options.health_every_s);
        Ok(rig)
    }

    /// Returns a rig on an existing file that is only read, for the benchmark of the engine;
    /// `direct` bypasses the page cache.
    ///
    /// # Errors
    /// `path` is not a regular file, or cannot be opened.
    pub fn reading(path: &Path, direct: bool) -> std::io::Result<LinuxRig> {
        clock::calibrate();
        let flags = if direct { libc::O_DIRECT } else { 0 };
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let facts = file.metadata()?;
        if !facts.is_file() {
            return Err(std::io::Error::other("not a regular file"));
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
        let target = OpenTarget::Scratch(Arc::new(file));
        skip_access_times(&target);
        let mut rig = LinuxRig::on_target(info, target);
        rig.page_cache_reason =
            (!direct).then(|| "the file is opened without O_DIRECT, as requested".to_owned());
        rig.filled_to = facts.len();
        Ok(rig)
    }

    /// Returns a rig without a budget, settings or instruments.
    fn on_target(info: DriveInfo, target: OpenTarget) -> LinuxRig {
        let mut rig = LinuxRig {
            info,
            backing: BackingDevice::from_target(&target),
            target,
            budget: WriteBudget::new(None),
            page_cache_reason: None,
            seed: 1,
            step_numbers: StepNumbers::default(),
            filled_to: u64::MAX,
            power: PowerControl::none(),
            write_cache: CacheSwitch::new(None),
            instruments: Instruments::default(),
            idle_before: false,
            pool: Pool::default(),
            earlier_pool: 0,
            verification: Verification::new(0),
            between: None,
            log: None,
            stop_requested: Arc::default(),
            ring: None,
            namespace: None,
            opened_size: Bytes::default(),
            health: None,
            timed: TimedCounts::default(),
            helper: None,
            privileges: None,
            end_of_helper: None,
        };
        rig.opened_size = rig.current_size().unwrap_or_default();
        rig
    }

    /// Opens the power settings and the write cache of a whole drive.
    fn open_settings(&mut self) {
        let OpenTarget::Drive(drive) = &self.target else { return };
        if let Some(backing) = &self.backing {
            let state =
                power_saving::state_setter(&backing.folder, drive.file(), self.helper.clone());
            self.power = PowerControl::new(&backing.folder, state, self.helper.clone());
        }
        let cache = cache_path(drive.file(), self.helper.as_ref());
        self.write_cache = CacheSwitch::new(cache);
    }

    /// Opens the temperature sensor and the health monitor, and records their periods: the run file
    /// shows how often the drive was polled during the load.
    fn open_instruments(&mut self, health_every_s: Option<u64>) {
        let folder = self.backing.as_ref().map(|backing| backing.folder.as_path());
        self.instruments = Instruments::for_drive(folder);
        if let OpenTarget::Drive(drive) = &self.target
            && let Some((health, seconds, media)) =
                health_monitor(drive.file(), health_every_s, self.helper.as_ref())
        {
            self.health = Some(health);
            self.info.state(Detail::HealthEvery, seconds.to_string());
            self.info.state(Detail::MediaWrites, media);
        }
        if let Some(period) = self.instruments.temperature_period() {
            self.info.state(Detail::TemperatureEvery, period.as_secs().to_string());
        }
    }
}

impl BackingDevice {
    /// Returns the block device that `target` is, or lies on.
    fn from_target(target: &OpenTarget) -> Option<BackingDevice> {
        let number = match target {
            OpenTarget::Null => return None,
            OpenTarget::Scratch(file) => file.metadata().ok()?.dev(),
            OpenTarget::Drive(drive) => drive.file().metadata().ok()?.rdev(),
        };
        let node = match target {
            OpenTarget::Drive(_) => block_node_of(number),
            // Its counters include the metadata of the file system.
            OpenTarget::Null | OpenTarget::Scratch(_) => None,
        };
        Some(BackingDevice { number, folder: block_device_of(number)?, node })
    }
}

/// Sets O_NOATIME: reading the clock for the access time costs 40 ns a read, and the access time
/// itself would be written to the drive under test. The kernel refuses it for files of other users;
/// the run then goes on without it.
fn skip_access_times(target: &OpenTarget) {
    let file = match target {
        OpenTarget::Null => return,
        OpenTarget::Scratch(file) => file,
        OpenTarget::Drive(drive) => drive.file(),
    };
    if let Ok(flags) = rustix::fs::fcntl_getfl(file) {
        let _ = rustix::fs::fcntl_setfl(file, flags | rustix::fs::OFlags::NOATIME);
    }
}

/// Drops the privileges of this process where `options` request it. Returns the client of the
/// privileged helper and a summary of the privileges that were kept.
fn drop_privileges(
    target: &mut OpenTarget,
    options: &TargetOptions<'_>,
    passage: Option<&Passage>,
) -> Result<(Option<HelperClient>, Option<String>), TargetError> {
    let (true, Some(results)) = (options.drop_privileges, options.results) else {
        return Ok((None, None));
    };
    let needed = match passage.is_some_and(|passage| passage.needs_capability) {
        true => CapabilitySet::SYS_ADMIN,
        false => CapabilitySet::empty(),
    };
    let device = match &*target {
        OpenTarget::Drive(drive) => Some(ClaimedDevice {
            number: drive.number(),
            sequence: drive.sequence(),
            claim: drive.file().as_fd(),
        }),
        OpenTarget::Null | OpenTarget::Scratch(_) => None,
    };
    let DroppedPrivileges { helper, summary } =
        privileges::drop_privileges(device, options.changes, results, needed)
            .map_err(TargetError::Privileges)?;
    if let (OpenTarget::Drive(drive), Some(helper)) = (target, &helper) {
        drive.search_writers_through(helper.clone());
    }
    Ok((helper, Some(summary)))
}

/// Returns how the write cache of a whole drive is switched. A drive without an NVMe controller is
/// taken for a SATA drive; if it is none, its IDENTIFY DEVICE query fails later with the reason.
fn cache_path(
    drive: &Arc<File>,
    helper: Option<&HelperClient>,
) -> Option<(CachePath, Arc<dyn PassThrough>)> {
    let (device, pass_through) = command_path(drive, helper)?;
    let path = if device.controller.is_some() { CachePath::Nvme } else { CachePath::Ata };
    Some((path, pass_through))
}

/// Returns the health monitor of a whole drive, its period in seconds, and what counts the media
/// writes of the drive; `every_s` is the period that was requested, if any. `None` where the drive has
/// no SMART data.
fn health_monitor(
    drive: &Arc<File>,
    every_s: Option<u64>,
    helper: Option<&HelperClient>,
) -> Option<(HealthMonitor, u64, String)> {
    let (device, pass_through) = command_path(drive, helper)?;
    let mut health = HealthMonitor::for_device(&device, pass_through)?;
    let seconds = every_s.unwrap_or(health_monitor::DEFAULT_PERIOD.as_secs());
    health.set_period((seconds > 0).then(|| Duration::from_secs(seconds)));
    let media = health.watch_media(&device);
    Some((health, seconds, media))
}
