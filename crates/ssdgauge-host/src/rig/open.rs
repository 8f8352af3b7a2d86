//! How a rig comes to its target, and what it finds out on the way.

use super::instruments::Instruments;
use super::prepare::asked;
use super::{BackingDevice, LinuxRig, size_of};
use crate::privileges::{self, Dropped};
use crate::settings::power_saving::{self, PowerControl};
use crate::settings::write_cache::{CachePath, CacheSwitch};
use ssdgauge_core::{Bytes, DriveInfo, TargetKind};
use ssdgauge_drive::health_monitor::{self, HealthMonitor};
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_drive::pass_through::PassThrough;
use ssdgauge_engine::{self as engine, Pool, Verification};
use ssdgauge_guard::signatures;
use ssdgauge_guard::{
    Candidate, OpenTarget, OpenedTarget, TargetError, TargetOptions, WriteBudget,
};
use ssdgauge_os::clock;
use ssdgauge_os::sysfs::block_device_of;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

impl BackingDevice {
    /// Returns the device that `place` is, or lies on.
    pub(super) fn of(place: &OpenTarget) -> Option<BackingDevice> {
        let number = match place {
            OpenTarget::Null => return None,
            OpenTarget::Scratch(file) => file.metadata().ok()?.dev(),
            OpenTarget::Drive(drive) => drive.file().metadata().ok()?.rdev(),
        };
        Some(BackingDevice { number, folder: block_device_of(number)? })
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

impl LinuxRig {
    /// Opens `candidate`. A block device is admitted only with the words that `confirm` it.
    pub fn open(
        candidate: Candidate,
        confirm: Option<&str>,
        seed: u64,
    ) -> Result<LinuxRig, TargetError> {
        LinuxRig::open_with(candidate, &TargetOptions { confirm, ..TargetOptions::default() }, seed)
    }

    /// Opens `candidate`. A block device is admitted only within `options`.
    pub fn open_with(
        candidate: Candidate,
        options: &TargetOptions<'_>,
        seed: u64,
    ) -> Result<LinuxRig, TargetError> {
        let OpenedTarget { mut place, cached } = candidate.open(options)?;
        match &place {
            OpenTarget::Null => {}
            OpenTarget::Scratch(file) => keep_access_time(file),
            OpenTarget::Drive(drive) => keep_access_time(drive.file()),
        }
        let mut dropped = None;
        if let (true, Some(results)) = (options.drop_privileges, options.results) {
            let device = match &place {
                OpenTarget::Drive(drive) => Some(drive.number()),
                OpenTarget::Null | OpenTarget::Scratch(_) => None,
            };
            dropped =
                Some(privileges::drop_privileges(device, results).map_err(TargetError::Rights)?);
        }
        let (helper, privileges) = match dropped {
            Some(Dropped { helper, words }) => (helper, Some(words)),
            None => (None, None),
        };
        if let (OpenTarget::Drive(drive), Some(helper)) = (&mut place, &helper) {
            drive.look_through(helper.clone());
        }
        clock::calibrate();
        let pool = Pool::begin();
        let info = candidate.info;
        let written = match &place {
            OpenTarget::Null | OpenTarget::Drive(_) => u64::MAX,
            OpenTarget::Scratch(_) => 0,
        };
        let budget = WriteBudget::new(options.writes_at_most);
        let backing = BackingDevice::of(&place);
        let folder = backing.as_ref().map(|backing| backing.folder.clone());
        let power = match (&place, &folder) {
            (OpenTarget::Drive(drive), Some(folder)) => PowerControl::of(
                folder,
                power_saving::states_of(folder, drive.file(), helper.clone()),
                helper.clone(),
            ),
            (OpenTarget::Null | OpenTarget::Scratch(_) | OpenTarget::Drive(_), _) => {
                PowerControl::none()
            }
        };
        let write_cache = CacheSwitch::of(cache_of(&place, helper.as_ref()));
        let instruments = Instruments::of_drive(folder.as_deref());
        let random = engine::random_tag()
            .map_err(|cause| TargetError::System { path: "/dev/urandom".into(), cause })?;
        let tag = options.run_id.map_or(random, |run_id| signatures::tag(run_id, random));
        let mut info = info;
        let (health, health_every_s) = vitals_of(&place, options.health_every_s, helper.as_ref());
        // The run file shows how often the drive was interrupted by commands beside the load.
        if let Some(seconds) = health_every_s {
            info.details.insert(DriveInfo::HEALTH_EVERY.into(), seconds.to_string());
        }
        if let Some(period) = instruments.temperature_period() {
            info.details.insert(DriveInfo::TEMPERATURE_EVERY.into(), period.as_secs().to_string());
        }
        Ok(LinuxRig {
            health,
            helper,
            privileges,
            opened_size: size_of(&place).unwrap_or_default(),
            backing,
            info,
            place,
            budget,
            cached,
            seed,
            runs: 0,
            written,
            power,
            write_cache,
            instruments,
            was_idle: false,
            pool,
            verification: Verification::new(tag),
            log: None,
            stop_requested: Arc::default(),
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
        let place = OpenTarget::Scratch(Arc::new(file));
        Ok(LinuxRig {
            info,
            health: None,
            helper: None,
            privileges: None,
            opened_size: Bytes::default(),
            backing: BackingDevice::of(&place),
            place,
            budget: WriteBudget::new(None),
            cached: (!direct).then(|| "the file is read through it by wish".to_owned()),
            seed: 1,
            runs: 0,
            written: facts.len(),
            power: PowerControl::none(),
            write_cache: CacheSwitch::of(None),
            instruments: Instruments::default(),
            was_idle: false,
            pool: Pool::default(),
            verification: Verification::new(0),
            log: None,
            stop_requested: Arc::default(),
            ring: None,
        })
    }
}

/// Returns the way to the write cache of a whole drive. One that is no NVMe drive may be a SATA
/// drive, and says so when it is asked.
fn cache_of(
    place: &OpenTarget,
    helper: Option<&HelperClient>,
) -> Option<(CachePath, Arc<dyn PassThrough>)> {
    let OpenTarget::Drive(drive) = place else { return None };
    let (place, pass_through) = asked(drive.file(), helper)?;
    let way = if place.controller.is_some() { CachePath::Nvme } else { CachePath::Ata };
    Some((way, pass_through))
}

/// Returns what reads the health of a whole drive, and every how many seconds it does; `every_s` is
/// the period that was chosen, if any.
fn vitals_of(
    place: &OpenTarget,
    every_s: Option<u64>,
    helper: Option<&HelperClient>,
) -> (Option<HealthMonitor>, Option<u64>) {
    let OpenTarget::Drive(drive) = place else { return (None, None) };
    let asked = asked(drive.file(), helper);
    let Some(mut health) =
        asked.and_then(|(place, pass_through)| HealthMonitor::for_device(&place, pass_through))
    else {
        return (None, None);
    };
    let seconds = every_s.unwrap_or(health_monitor::DEFAULT_PERIOD.as_secs());
    health.set_period((seconds > 0).then(|| Duration::from_secs(seconds)));
    (Some(health), Some(seconds))
}
