//! How a rig comes to its target, and what it finds out on the way.

use super::prepare::asked;
use super::{Below, LinuxRig};
use crate::clock;
use crate::custody::Custody;
use crate::drive::vitals::{self, Vitals};
use crate::drive::wire::Wire;
use crate::engine::{self, Pool, Stamps};
use crate::environment::block_device_of;
use crate::guard::{Mandate, signatures};
use crate::instruments::Instruments;
use crate::meter::folder_of;
use crate::power::{self, PowerControl};
use crate::rights;
use crate::sys;
use crate::target::{Candidate, OpenPlace, Opened, TargetError};
use crate::write_cache::{CacheSwitch, Way};
use ssdgauge_core::{Bytes, DriveInfo, TargetKind};
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

/// Returns the size of a block device as it is now; it sends no request.
pub(super) fn size_of(place: &OpenPlace) -> Option<Bytes> {
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
        let random = engine::random_tag()
            .map_err(|cause| TargetError::System { path: "/dev/urandom".into(), cause })?;
        let tag = mandate.run_id.map_or(random, |run_id| signatures::tag(run_id, random));
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
