//! How a rig comes to its target, and what it finds out on the way.

use super::instruments::Instruments;
use super::prepare::asked;
use super::{Below, LinuxRig, size_of};
use crate::privileges::{self, Dropped};
use crate::settings::power_saving::{self, PowerControl};
use crate::settings::write_cache::{CacheSwitch, Way};
use ssdgauge_core::{Bytes, DriveInfo, TargetKind};
use ssdgauge_drive::health_monitor::{self, Vitals};
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_drive::pass_through::Wire;
use ssdgauge_engine::{self as engine, Pool, Stamps};
use ssdgauge_guard::signatures;
use ssdgauge_guard::{Candidate, Custody, Mandate, OpenPlace, Opened, TargetError};
use ssdgauge_os::clock;
use ssdgauge_os::sysfs::block_device_of;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

impl Below {
    /// Returns the device that `place` is, or lies on.
    pub(super) fn of(place: &OpenPlace) -> Option<Below> {
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
        let Opened { mut place, cached } = candidate.open(mandate)?;
        match &place {
            OpenPlace::Null => {}
            OpenPlace::Scratch(file) => keep_access_time(file),
            OpenPlace::Drive(drive) => keep_access_time(drive.file()),
        }
        let mut dropped = None;
        if let (true, Some(results)) = (mandate.give_up_rights, mandate.results) {
            let device = match &place {
                OpenPlace::Drive(drive) => Some(drive.number()),
                OpenPlace::Null | OpenPlace::Scratch(_) => None,
            };
            dropped = Some(privileges::give_up(device, results).map_err(TargetError::Rights)?);
        }
        let (helper, privileges) = match dropped {
            Some(Dropped { helper, words }) => (helper, Some(words)),
            None => (None, None),
        };
        if let (OpenPlace::Drive(drive), Some(helper)) = (&mut place, &helper) {
            drive.look_through(helper.clone());
        }
        clock::calibrate();
        let pool = Pool::begin();
        let info = candidate.info;
        let written = match &place {
            OpenPlace::Null | OpenPlace::Drive(_) => u64::MAX,
            OpenPlace::Scratch(_) => 0,
        };
        let custody = Custody::new(mandate.writes_at_most);
        let below = Below::of(&place);
        let folder = below.as_ref().map(|below| below.folder.clone());
        let power = match (&place, &folder) {
            (OpenPlace::Drive(drive), Some(folder)) => PowerControl::of(
                folder,
                power_saving::states_of(folder, drive.file(), helper.clone()),
                helper.clone(),
            ),
            (OpenPlace::Null | OpenPlace::Scratch(_) | OpenPlace::Drive(_), _) => {
                PowerControl::none()
            }
        };
        let write_cache = CacheSwitch::of(cache_of(&place, helper.as_ref()));
        let instruments = Instruments::of_drive(folder.as_deref());
        let random = engine::random_tag()
            .map_err(|cause| TargetError::System { path: "/dev/urandom".into(), cause })?;
        let tag = mandate.run_id.map_or(random, |run_id| signatures::tag(run_id, random));
        let mut info = info;
        let (vitals, health_every_s) = vitals_of(&place, mandate.health_every_s, helper.as_ref());
        // The run file shows how often the drive was interrupted by commands beside the load.
        if let Some(seconds) = health_every_s {
            info.details.insert(DriveInfo::HEALTH_EVERY.into(), seconds.to_string());
        }
        if let Some(period) = instruments.temperature_period() {
            info.details.insert(DriveInfo::TEMPERATURE_EVERY.into(), period.as_secs().to_string());
        }
        Ok(LinuxRig {
            vitals,
            helper,
            privileges,
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
            helper: None,
            privileges: None,
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
}

/// Returns the way to the write cache of a whole drive. One that is no NVMe drive may be a SATA
/// drive, and says so when it is asked.
fn cache_of(place: &OpenPlace, helper: Option<&HelperClient>) -> Option<(Way, Arc<dyn Wire>)> {
    let OpenPlace::Drive(drive) = place else { return None };
    let (place, wire) = asked(drive.file(), helper)?;
    let way = if place.controller.is_some() { Way::Nvme } else { Way::Ata };
    Some((way, wire))
}

/// Returns what reads the health of a whole drive, and every how many seconds it does; `every_s` is
/// the period that was chosen, if any.
fn vitals_of(
    place: &OpenPlace,
    every_s: Option<u64>,
    helper: Option<&HelperClient>,
) -> (Option<Vitals>, Option<u64>) {
    let OpenPlace::Drive(drive) = place else { return (None, None) };
    let asked = asked(drive.file(), helper);
    let Some(mut vitals) = asked.and_then(|(place, wire)| Vitals::of(&place, wire)) else {
        return (None, None);
    };
    let seconds = every_s.unwrap_or(health_monitor::USUAL.as_secs());
    vitals.ask_every((seconds > 0).then(|| Duration::from_secs(seconds)));
    (Some(vitals), Some(seconds))
}
