//! Identity of a block device: read from sysfs by device number, and from the open descriptor.

use crate::refusal::Refusal;
use crate::text::{printable, shown};
use rustix::fs::{major, minor};
use serde::{Deserialize, Serialize};
use ssdgauge_core::{Bytes, Detail};
use ssdgauge_os::sysfs::attribute;
use ssdgauge_os::sysfs::device_facts;
use ssdgauge_os::sysfs::{device_size, name_of, siblings, wwid};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns the kernel's random id of this boot.
pub(crate) fn boot_id() -> Option<String> {
    attribute(Path::new("/proc/sys/kernel/random/boot_id"))
}

/// The properties that distinguish a device from every other, and one attachment of it from the
/// next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The device number, such as `259:0`.
    pub(crate) number: String,
    /// The disk sequence number of this attachment (`diskseq`), from Linux 5.15 on.
    pub(crate) sequence: Option<u64>,
    /// The size in bytes.
    pub(crate) size: Bytes,
    /// The serial.
    pub(crate) serial: Option<String>,
    /// The worldwide name.
    pub(crate) wwid: Option<String>,
}

/// Facts about a block device that was inspected but not admitted yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TargetFacts {
    pub(crate) folder: PathBuf,
    pub(crate) identity: Identity,
    pub(crate) logical_block: Bytes,
    pub(crate) physical_block: Bytes,
    pub(crate) model: Option<String>,
    pub(crate) firmware: Option<String>,
    pub(crate) details: BTreeMap<String, String>,
    /// The confirmation: the serial, or kernel name and size.
    pub(crate) confirmation: String,
}

impl TargetFacts {
    /// Reads the facts about the device whose folder in sysfs is `folder`.
    pub(crate) fn read(folder: &Path) -> TargetFacts {
        let facts = device_facts(folder);
        let number = |name: &str| attribute(&folder.join(name))?.parse().ok();
        let size = device_size(folder).unwrap_or_default();
        let name = name_of(folder);
        let identity = Identity {
            number: attribute(&folder.join("dev")).unwrap_or_default(),
            sequence: number("diskseq"),
            size,
            serial: facts.serial,
            wwid: wwid(folder),
        };
        let confirmation = match &identity.serial {
            Some(serial) => confirmation_from_serial(serial, folder),
            None => format!("{name}:{}", size.0),
        };
        // A partition has the queue of its disk.
        let discard = |at: &str| number(&format!("{at}queue/discard_max_bytes"));
        let mut details = facts.details;
        if discard("").or_else(|| discard("../")) == Some(0) {
            let reason = "the kernel reports discard_max_bytes 0".to_owned();
            details.insert(Detail::WithoutTrim.key().into(), reason);
        }
        TargetFacts {
            folder: folder.to_owned(),
            logical_block: number("queue/logical_block_size").map_or(Bytes(512), Bytes),
            physical_block: number("queue/physical_block_size").map_or(Bytes(512), Bytes),
            model: facts.model,
            firmware: facts.firmware,
            details,
            confirmation,
            identity,
        }
    }
}

/// Returns the confirmation of a drive with `serial`: the serial, and where another device has the
/// same one, its namespace number or kernel name after a colon. The namespaces of one controller
/// share a serial, and so do some USB enclosures: without the suffix the confirmation of one drive
/// would admit the other.
fn confirmation_from_serial(serial: &str, folder: &Path) -> String {
    // One word, which a shell passes to `--confirm` without quotes.
    let text = printable(serial.trim().as_bytes()).replace(' ', "_");
    let shared =
        siblings(folder).any(|other| device_facts(&other).serial.as_deref() == Some(serial));
    let suffix = || attribute(&folder.join("nsid")).unwrap_or_else(|| name_of(folder));
    if shared { format!("{text}:{}", suffix()) } else { text }
}

/// Returns the folder in sysfs of the device behind the node `path`.
///
/// # Errors
/// The node cannot be read, or the kernel has no device with its number.
pub(crate) fn folder_of(path: &Path) -> Result<PathBuf, Refusal> {
    let denied = |cause: String| Refusal::Denied { path: shown(path), cause };
    let number = fs::metadata(path).map_err(|error| denied(error.to_string()))?.rdev();
    let (major, minor) = (major(number), minor(number));
    fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"))
        .map_err(|_| denied("the kernel has no device with this number".into()))
}

/// Refuses the open device `file`, called `path`, where it is not the one that was inspected as `expected`.
pub(crate) fn check_identity(file: &File, path: &Path, expected: &Identity) -> Result<(), Refusal> {
    let differs = difference(file, expected)
        .map_err(|error| Refusal::Denied { path: shown(path), cause: error.to_string() })?;
    match differs {
        Some(what) => Err(Refusal::Changed { path: shown(path), what }),
        None => Ok(()),
    }
}

/// Reads the identity of the open device `file` and returns how it differs from `expected`, if at
/// all. The descriptor is read, not the path, because the path may lead to another device
/// meanwhile.
///
/// # Errors
/// The kernel does not report the number or the size of the open device.
pub(crate) fn difference(file: &File, expected: &Identity) -> std::io::Result<Option<String>> {
    let metadata = file.metadata()?;
    let number = format!("{}:{}", major(metadata.rdev()), minor(metadata.rdev()));
    // Serial and worldwide name are reported by number only. A removed drive keeps its number in the
    // descriptor, so that they can be those of its successor; the sequence number then differs.
    let folder = fs::canonicalize(format!("/sys/dev/block/{number}"));
    let Ok(folder) = folder else { return Ok(Some("the device was removed".into())) };
    let now = Identity {
        number,
        // A kernel without the call has no attribute in sysfs either, so both are `None`.
        sequence: ssdgauge_os::block_device::disk_sequence(file),
        size: Bytes(ssdgauge_os::block_device::device_size(file)?),
        serial: device_facts(&folder).serial,
        wwid: wwid(&folder),
    };
    Ok(now.difference(expected))
}

impl Identity {
    fn difference(&self, expected: &Identity) -> Option<String> {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".into());
        let differs = |what: &str, was: String, is: String| {
            (was != is).then(|| format!("its {what} was {was} and is {is}"))
        };
        let number = |value: Option<u64>| value.map_or("unknown".into(), |value| value.to_string());
        differs("device number", expected.number.clone(), self.number.clone())
            .or_else(|| {
                let (was, is) = (number(expected.sequence), number(self.sequence));
                differs("disk sequence", was, is)
            })
            .or_else(|| differs("serial", text(&expected.serial), text(&self.serial)))
            .or_else(|| differs("worldwide name", text(&expected.wwid), text(&self.wwid)))
            .or_else(|| differs("size", expected.size.0.to_string(), self.size.0.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_in_any_field_of_the_identity_is_reported() {
        let identity = Identity {
            number: "7:1".into(),
            sequence: Some(69),
            size: Bytes(1 << 20),
            serial: Some("S1".into()),
            wwid: None,
        };
        assert_eq!(identity.difference(&identity), None);
        for (other, words) in [
            (Identity { number: "7:2".into(), ..identity.clone() }, "number was 7:2 and is 7:1"),
            (Identity { sequence: Some(71), ..identity.clone() }, "disk sequence was 71 and is 69"),
            (Identity { size: Bytes(1), ..identity.clone() }, "size was 1 and is 1048576"),
            (Identity { serial: None, ..identity.clone() }, "serial was none and is S1"),
            (Identity { wwid: Some("w".into()), ..identity.clone() }, "name was w and is none"),
        ] {
            let difference = identity.difference(&other).unwrap_or_default();
            assert!(difference.ends_with(words), "{difference}");
        }
    }
}
