//! The guard: the only way to a writable descriptor of a block device.
//!
//! It asks the descriptor, never the name: a name is resolved once, and from then on device
//! number, size and serial are those of the open device. It opens exclusively, which the kernel
//! refuses for everything that is mounted, swapped to, or held by another driver, and it keeps
//! that descriptor for the whole run. It never creates anything.

use crate::environment::{attribute, block_device_of, device_facts, device_size, unescape};
use crate::sys;
use rustix::fs::{FlockOperation, flock};
use ssdgauge_core::{Bytes, DriveInfo};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why the guard does not admit a drive. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The drive is in use.
    #[error("{path} is in use: {holder}")]
    InUse {
        /// The device.
        path: String,
        /// What holds it.
        holder: String,
    },
    /// The drive cannot be written.
    #[error("{path} is read-only")]
    ReadOnly {
        /// The device.
        path: String,
    },
    /// The device is not what it was a moment ago.
    #[error("{path} is no longer the device that was looked at: {what}")]
    Changed {
        /// The device.
        path: String,
        /// What differs.
        what: String,
    },
    /// The plan writes to the drive and nobody confirmed that.
    #[error("{path} would be overwritten, and nobody has confirmed that")]
    NotConfirmed {
        /// The device.
        path: String,
        /// The words that confirm it.
        expected: String,
    },
    /// The confirmation names another drive.
    #[error("the confirmation '{given}' does not name {path}")]
    WrongConfirmation {
        /// The device.
        path: String,
        /// What was given.
        given: String,
        /// The words that confirm it.
        expected: String,
    },
    /// The system denied something.
    #[error("{path}: {cause}")]
    Denied {
        /// The device.
        path: String,
        /// What the system answered.
        cause: String,
    },
}

/// What is known of a block device before it is admitted.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) size: Bytes,
    pub(crate) logical_block: Bytes,
    pub(crate) physical_block: Bytes,
    pub(crate) model: Option<String>,
    pub(crate) serial: Option<String>,
    pub(crate) firmware: Option<String>,
    pub(crate) details: BTreeMap<String, String>,
    pub(crate) confirmation: String,
}

/// Returns the words that confirm the drive of `info`: its serial, or for a device that has
/// none, its kernel name and size in bytes.
pub fn confirmation_of(info: &DriveInfo) -> Option<&str> {
    info.details.get("confirm").map(String::as_str)
}

/// Looks at the block device `path` without opening it for writing.
pub(crate) fn inspect(path: &Path) -> Result<Facts, Refusal> {
    let folder = folder_of(path)?;
    let facts = device_facts(&folder);
    let denied = |cause: &str| Refusal::Denied { path: shown(path), cause: cause.into() };
    let size = device_size(&folder).filter(|size| size.0 > 0);
    let size = size.ok_or_else(|| denied("the device holds nothing"))?;
    let number = |name: &str| attribute(&folder.join(name))?.parse().ok().map(Bytes);
    let name = facts.details.get("kernel_name").cloned().unwrap_or_default();
    let confirmation = facts.serial.clone().unwrap_or_else(|| format!("{name}:{}", size.0));
    Ok(Facts {
        size,
        logical_block: number("queue/logical_block_size").unwrap_or(Bytes(512)),
        physical_block: number("queue/physical_block_size").unwrap_or(Bytes(512)),
        model: facts.model,
        serial: facts.serial,
        firmware: facts.firmware,
        details: facts.details,
        confirmation,
    })
}

/// Admits the device that `info` describes, and returns the one descriptor to write to it.
pub(crate) fn admit(path: &Path, info: &DriveInfo, confirm: Option<&str>) -> Result<File, Refusal> {
    let name = shown(path);
    let expected = confirmation_of(info).unwrap_or_default().to_owned();
    match confirm {
        None => return Err(Refusal::NotConfirmed { path: name, expected }),
        Some(given) if given != expected || given.is_empty() => {
            return Err(Refusal::WrongConfirmation { path: name, given: given.into(), expected });
        }
        Some(_) => {}
    }
    let folder = folder_of(path)?;
    if let Some(holder) = holder_of(&folder) {
        return Err(Refusal::InUse { path: name, holder });
    }
    let file = open_exclusively(path)?;
    check_descriptor(&file, path, info)?;
    // The lock that udev and systemd honour for whole disks: they leave the device alone.
    flock(&file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| in_use(path, "another program holds its lock"))?;
    Ok(file)
}

fn open_exclusively(path: &Path) -> Result<File, Refusal> {
    // O_EXCL without O_CREAT on a block device: the kernel refuses whatever is claimed.
    let flags = libc::O_EXCL | libc::O_DIRECT | libc::O_NOFOLLOW;
    OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).map_err(|error| {
        match error.raw_os_error() {
            Some(libc::EBUSY) => in_use(path, "the kernel says that it is claimed"),
            Some(libc::EROFS) => Refusal::ReadOnly { path: shown(path) },
            _ => Refusal::Denied { path: shown(path), cause: error.to_string() },
        }
    })
}

/// Compares the open device with what was looked at and confirmed.
fn check_descriptor(file: &File, path: &Path, info: &DriveInfo) -> Result<(), Refusal> {
    let denied =
        |error: std::io::Error| Refusal::Denied { path: shown(path), cause: error.to_string() };
    let changed = |what: &str| Refusal::Changed { path: shown(path), what: what.into() };
    let metadata = file.metadata().map_err(denied)?;
    if !metadata.file_type().is_block_device() {
        return Err(changed("it is no block device"));
    }
    if sys::is_read_only(file).map_err(denied)? {
        return Err(Refusal::ReadOnly { path: shown(path) });
    }
    let number =
        format!("{}:{}", rustix::fs::major(metadata.rdev()), rustix::fs::minor(metadata.rdev()));
    let whole = block_device_of(metadata.rdev()).ok_or_else(|| changed("it left /sys"))?;
    if attribute(&whole.join("dev")).as_deref() != Some(number.as_str()) {
        return Err(Refusal::Denied {
            path: shown(path),
            cause: "it is a partition; name the whole drive".into(),
        });
    }
    let facts = device_facts(&whole);
    if info.details.get("device") != Some(&number) || facts.serial != info.serial {
        return Err(changed("its number or its serial differs"));
    }
    if device_size(&whole).is_none_or(|size| size < info.capacity) {
        return Err(changed("it became smaller"));
    }
    if let Some(holder) = holder_of(&whole) {
        return Err(in_use(path, &holder));
    }
    Ok(())
}

fn in_use(path: &Path, holder: &str) -> Refusal {
    Refusal::InUse { path: shown(path), holder: holder.into() }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn folder_of(path: &Path) -> Result<PathBuf, Refusal> {
    let denied = |cause: String| Refusal::Denied { path: shown(path), cause };
    let number = fs::metadata(path).map_err(|error| denied(error.to_string()))?.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"))
        .map_err(|_| denied("it is not known to the kernel".into()))
}

/// Returns who uses the device or a part of it, in words.
fn holder_of(folder: &Path) -> Option<String> {
    let parts = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let parts = parts.filter(|path| path.join("partition").exists());
    parts.chain([folder.to_owned()]).find_map(|part| {
        let name = part.file_name()?.to_string_lossy().into_owned();
        let number = attribute(&part.join("dev"))?;
        held(&part)
            .map(|by| format!("{name} is held by {by}"))
            .or_else(|| mount_point(&number).map(|at| format!("{name} is mounted at {at}")))
            .or_else(|| is_swap(&name).then(|| format!("{name} is used as swap")))
    })
}

fn held(part: &Path) -> Option<String> {
    let holders = fs::read_dir(part.join("holders")).ok()?;
    holders.flatten().map(|holder| holder.file_name().to_string_lossy().into_owned()).next()
}

/// Returns where the device `MAJOR:MINOR` is mounted, in the mount table of any process.
fn mount_point(number: &str) -> Option<String> {
    let processes = fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
    let own = std::iter::once(PathBuf::from("/proc/self"));
    own.chain(processes.filter(|path| is_number(path))).find_map(|process| {
        let table = fs::read_to_string(process.join("mountinfo")).ok()?;
        let mount = table.lines().find(|line| line.split(' ').nth(2) == Some(number))?;
        mount.split(' ').nth(4).map(unescape)
    })
}

fn is_number(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_swap(name: &str) -> bool {
    let table = fs::read_to_string("/proc/swaps").unwrap_or_default();
    table.lines().skip(1).any(|line| {
        let used = line.split_whitespace().next().map(unescape).unwrap_or_default();
        fs::canonicalize(used).is_ok_and(|path| path.ends_with(name))
    })
}
