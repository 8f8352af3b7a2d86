//! Accesses to a block device that may never answer: its open, its contents, its health.
//!
//! They are called only through `look`. [`open_exclusively`] is the one place in the program that
//! opens a block device for writing; everything else here opens it for reading.

use crate::identity::{Identity, difference};
use crate::refusal::Refusal;
use crate::signatures::{self, Owner};
use crate::text::shown;
use serde::{Deserialize, Serialize};
use ssdgauge_drive::pass_through::OpenDevice;
use ssdgauge_drive::query;
use ssdgauge_drive::sysfs_device::SysfsDevice;
use ssdgauge_os::block_device::is_locked;
use ssdgauge_os::file_io::read_at;
use ssdgauge_os::memory::Region;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The bytes that are read to check that a device answers: a page, which every device can read.
const SAMPLE: usize = 4_096;

/// Returns when the device, the file or the file system at `path` has answered; any error is an
/// answer. Of a device and a file the first block is read, of a folder the free space is queried.
pub(crate) fn wait_for_answer(path: &Path) {
    let parent = || path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let Ok(facts) = fs::metadata(path) else {
        let _ = rustix::fs::statvfs(parent().unwrap_or(Path::new(".")));
        return;
    };
    if !facts.is_file() && !facts.file_type().is_block_device() {
        let _ = rustix::fs::statvfs(path);
        return;
    }
    // O_NONBLOCK: the open of a removable drive must not wait for a medium. Without O_DIRECT: on a
    // mounted drive it would write back what the file system has in the page cache. The cache of a
    // drive that no other program has open is empty.
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let (Ok(file), Ok(region)) = (opened, Region::new(SAMPLE)) else { return };
    // A run that holds the drive measures it: a foreign read would count in its results.
    if !is_locked(&file) {
        let _ = read_at(&file, region.at(0), SAMPLE, 0);
    }
}

/// The contents and the health of a device, as far as they forbid writing to it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Condition {
    /// How the opened device differs from the one that was inspected.
    pub(crate) changed: Option<String>,
    /// The formats that were found, each with its place in bytes.
    pub(crate) contents: Vec<String>,
    /// The critical warning that it reports.
    pub(crate) warning: Option<String>,
}

/// Reads the contents and the health of the device `path`, which was inspected as `identity`, by a
/// descriptor of its own: a process that is given up must not hold the one that may write.
///
/// # Errors
/// The device cannot be opened or read.
pub(crate) fn condition(path: &Path, identity: &Identity, owner: &Owner) -> io::Result<Condition> {
    // O_DIRECT: what the drive returns counts, not what the page cache holds. Without O_EXCL: at an
    // admission another descriptor holds the claim already.
    let flags = libc::O_DIRECT | libc::O_NOFOLLOW;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if let Some(changed) = difference(&file, identity)? {
        return Ok(Condition { changed: Some(changed), ..Condition::default() });
    }
    let contents = signatures::contents(&file, identity.size, owner)?;
    let warning = critical_warning(&Arc::new(file), &identity.number);
    Ok(Condition { changed: None, contents, warning })
}

/// The critical warnings of an NVMe drive that forbid writing (NVM Express Base Specification 2.0,
/// figure 207): spare below its threshold, reliability degraded, media read-only, backup of
/// volatile memory failed. Bit 1, temperature, affects only the results and is reported as a
/// finding.
const CRITICAL_WARNINGS: u8 = 0b1_1101;

/// Returns the critical warning of an NVMe drive with the device number `number`. A drive that
/// rejects the query has none: many USB bridges and virtual drives have no SMART log.
fn critical_warning(file: &Arc<File>, number: &str) -> Option<String> {
    let folder = fs::canonicalize(format!("/sys/dev/block/{number}")).ok()?;
    SysfsDevice::from_folder(Path::new("/sys"), &folder).controller.as_ref()?;
    let health = query::health(&OpenDevice::new(Arc::clone(file))).ok()?;
    (health.warning & CRITICAL_WARNINGS != 0)
        .then(|| format!("it reports a critical warning: {}", health.warnings().join(", ")))
}

/// How often a claimed device is opened again: the kernel releases the descriptors of a killed
/// program shortly after its end, so a run that follows directly would be refused.
const TRIES: u32 = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// Opens the device `path` for writing, if no other program claims it. The one place in the program
/// that opens a block device for writing.
///
/// # Errors
/// The device is in use, read-only, or cannot be opened.
pub(crate) fn open_exclusively(path: &Path) -> Result<File, Refusal> {
    // O_EXCL without O_CREAT on a block device: EBUSY for every claimed device. O_NOFOLLOW: the
    // path is resolved already, and a link that replaced it must not lead elsewhere.
    let flags = libc::O_EXCL | libc::O_DIRECT | libc::O_NOFOLLOW;
    let open = || OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
    let is_busy = |result: &std::io::Result<File>| {
        result.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
    };
    let mut result = open();
    for _ in 1..TRIES {
        if !is_busy(&result) {
            break;
        }
        std::thread::sleep(BETWEEN_TRIES);
        result = open();
    }
    result.map_err(|error| match error.raw_os_error() {
        Some(libc::EBUSY) => {
            let holder = "the kernel reports that it is claimed (EBUSY)".into();
            Refusal::InUse { path: shown(path), holder }
        }
        Some(libc::EROFS) => Refusal::ReadOnly { path: shown(path) },
        _ => Refusal::Denied { path: shown(path), cause: error.to_string() },
    })
}
