//! Resolution of the name of a target, and its description before it is opened.
//!
//! This module only reads. It may block for as long as a device or a file system does not answer,
//! so the program calls it in a process that can be given up (`look`).

use crate::identity::{TargetFacts, folder_of};
use crate::look_place::LookPlace;
use crate::refusal::Refusal;
use crate::text::shown;
use serde::{Deserialize, Serialize};
use ssdgauge_core::{Bytes, Detail, DriveInfo, TargetKind};
use ssdgauge_os::mounts::file_system_of;
use ssdgauge_os::sysfs::block_device_of;
use ssdgauge_os::sysfs::device_facts;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// O_DIRECT needs memory, offsets and lengths on this grid; no drive in use has a larger one.
pub(crate) const ALIGNMENT: u64 = 4_096;

/// The prefix of the path of a new scratch file. A path with a suffix needs none.
const FILE: &str = "file:";

/// The default size of a scratch file.
const USUAL_SCRATCH: Bytes = Bytes(4 << 30);

/// Reason why a target cannot be tested. Nothing was written.
#[derive(Debug, Error, Serialize, Deserialize)]
pub enum TargetError {
    /// The path does not exist.
    #[error("{0} does not exist")]
    Missing(PathBuf),
    /// The path leads to no folder, and is not a new scratch file either.
    #[error("folder {path} does not exist; the nearest existing folder is {nearest}")]
    NoFolder {
        /// The folder that is missing.
        path: PathBuf,
        /// The nearest existing folder above it.
        nearest: PathBuf,
        /// The name in `nearest` that is missing.
        name: String,
        /// Folders in `nearest` with names of about the same length.
        others: Vec<String>,
    },
    /// The path is an existing file, which is never overwritten.
    #[error("{0} exists already")]
    Exists(PathBuf),
    /// The name leads to something that cannot be tested.
    #[error("{path} is {what}")]
    Unfit {
        /// The name.
        path: PathBuf,
        /// What it is instead.
        what: String,
    },
    /// The size is not possible for the target.
    #[error("{0}")]
    Size(String),
    /// The file system has too little free space.
    #[error(
        "a scratch file of {} does not fit into {path}: {} are free",
        requested.about(), free.about()
    )]
    NoRoom {
        /// The folder.
        path: PathBuf,
        /// The size of the scratch file.
        requested: Bytes,
        /// The free space.
        free: Bytes,
    },
    /// A run file asks for a scratch file in a folder that only its author chose.
    #[error(
        "the run file asks for a scratch file of {} in {path}; it is not the one that a run of this \
         user created here (a copy, or a file of another user), and does not lie in that folder",
        size.about()
    )]
    OtherFolder {
        /// The path of the scratch file, or its folder.
        path: PathBuf,
        /// The size of the scratch file.
        size: Bytes,
    },
    /// The guard does not admit the drive.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The privileges that a run does not need could not be dropped.
    #[error("the privileges of root could not be dropped: {0}")]
    Privileges(#[serde(with = "kernel_error")] io::Error),
    /// A system call failed.
    #[error("{path}: {cause}")]
    System {
        /// The name.
        path: PathBuf,
        /// The error of the call.
        #[serde(with = "kernel_error")]
        cause: io::Error,
    },
}

/// The kind of target that a name leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetPlace {
    /// `null:`, the engine alone.
    Null,
    /// A folder in which a scratch file is created.
    Folder(PathBuf),
    /// A scratch file at a path that does not exist yet.
    NewFile(PathBuf),
    /// A block device, by its resolved path.
    Block(PathBuf),
}

/// A resolved target that was inspected but not opened. Nothing has been written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Candidate {
    /// The place.
    pub place: TargetPlace,
    /// Its description. The capacity is that of the scratch file, or of the device.
    pub info: DriveInfo,
    /// The facts by which a block device is recognised when it is opened.
    pub(crate) facts: Option<TargetFacts>,
    /// Where the target is looked at.
    #[serde(skip)]
    pub(crate) look: LookPlace,
}

impl Candidate {
    /// Resolves `name`. A scratch file has the default size until [`Candidate::sized`] sets
    /// another; of any other target the whole capacity is used. It may block for as long as the target
    /// does not answer; see [`Candidate::find_in`].
    ///
    /// # Errors
    /// The name leads to nothing that can be tested, or the device cannot be inspected.
    pub fn find(name: &str) -> Result<Candidate, TargetError> {
        let place = resolve(name)?;
        let info = match &place {
            TargetPlace::Null => null_info(name),
            TargetPlace::Folder(folder) => scratch_info(folder, folder),
            TargetPlace::NewFile(file) => {
                let mut info = scratch_info(file, parent(file));
                if !has_suffix(file) {
                    info.target.insert_str(0, FILE);
                }
                info
            }
            TargetPlace::Block(path) => return Candidate::block(path.clone()),
        };
        Ok(Candidate { place, info, facts: None, look: LookPlace::this_process() })
    }

    fn block(path: PathBuf) -> Result<Candidate, TargetError> {
        let facts = inspect(&path)?;
        let whole = facts.identity.size;
        // Requests lie on this grid, so the last bytes of an odd size are not tested. The guard reads them
        // nevertheless: RAID metadata is there.
        let capacity = Bytes(whole.0 - whole.0 % ALIGNMENT);
        let mut details = facts.details.clone();
        details.insert("confirm".into(), facts.confirmation.clone());
        let sequence = facts.identity.sequence.map(|number| number.to_string());
        details.extend(sequence.map(|number| (Detail::DiskSequence.key().into(), number)));
        details.extend(facts.identity.wwid.clone().map(|name| (Detail::Wwid.key().into(), name)));
        let info = DriveInfo {
            kind: TargetKind::Block,
            target: path.display().to_string(),
            model: facts.model.clone(),
            serial: facts.identity.serial.clone(),
            firmware: facts.firmware.clone(),
            capacity,
            logical_block: facts.logical_block,
            physical_block: facts.physical_block,
            details,
        };
        let look = LookPlace::this_process();
        Ok(Candidate { place: TargetPlace::Block(path), info, facts: Some(facts), look })
    }
}

/// Reads the facts about the block device `path` from sysfs, without opening it.
///
/// # Errors
/// The kernel does not know the device, or its size is 0.
pub(crate) fn inspect(path: &Path) -> Result<TargetFacts, Refusal> {
    let folder = folder_of(path)?;
    let facts = TargetFacts::read(&folder);
    match facts.identity.size.0 {
        0 => Err(Refusal::Denied { path: shown(path), cause: "its size is 0 bytes".into() }),
        _ => Ok(facts),
    }
}

fn resolve(name: &str) -> Result<TargetPlace, TargetError> {
    if name == "null:" {
        return Ok(TargetPlace::Null);
    }
    if name.is_empty() {
        return Err(TargetError::Unfit {
            path: "''".into(),
            what: "not the name of a target".into(),
        });
    }
    let (path, is_file) = match name.strip_prefix(FILE) {
        Some(rest) => (Path::new(rest), true),
        None => (Path::new(name), false),
    };
    let kind = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        // Any other error (no permission, a file as a folder) does not mean that the name is free.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return new_file(path, is_file),
        Err(cause) => return Err(system(path, cause)),
    };
    let unfit = |what: &str| TargetError::Unfit { path: path.to_owned(), what: what.into() };
    let real = path.canonicalize().map_err(|cause| system(path, cause))?;
    let file_type = kind.file_type();
    if file_type.is_file() || (is_file && !file_type.is_dir()) {
        Err(TargetError::Exists(path.to_owned()))
    } else if is_file {
        Err(unfit("a folder, and file: names a new file in one"))
    } else if file_type.is_dir() && lies_in_dev(&real) {
        Err(unfit("a folder of device nodes, where no scratch file belongs"))
    } else if file_type.is_dir() {
        Ok(TargetPlace::Folder(real))
    } else if file_type.is_block_device() {
        Ok(TargetPlace::Block(real))
    } else if file_type.is_char_device() {
        Err(unfit("a character device; name the block device (for NVMe: /dev/nvme0n1)"))
    } else {
        Err(unfit("neither a folder nor a block device"))
    }
}

/// Resolves the path of a new file, with the prefix `file:` if `is_file`. Without prefix and suffix it is
/// taken for a folder that is missing: a typo, or a file system that is not mounted, must not lead to a
/// test of the drive that holds the folder above.
fn new_file(path: &Path, is_file: bool) -> Result<TargetPlace, TargetError> {
    let missing = || TargetError::Missing(path.to_owned());
    // A broken link is not a new file, and `name:` is a mistyped prefix such as `sim:`.
    let name = path.file_name().ok_or_else(missing)?;
    let mistyped = name.as_encoded_bytes().ends_with(b":")
        || MISTYPED.iter().any(|other| path == Path::new(other));
    let above = nearest_folder(path);
    if path.is_symlink() || mistyped || above.as_ref().is_none_or(|(above, _)| lies_in_dev(above)) {
        return Err(missing());
    }
    // `Path` ignores a slash at the end: only the bytes show it.
    let is_named_as_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    let is_file = (is_file || has_suffix(path)) && !is_named_as_folder;
    let (nearest, below) = above.ok_or_else(missing)?;
    if is_file && below.components().count() == 1 {
        return Ok(TargetPlace::NewFile(nearest.join(name)));
    }
    let folder = if is_file { parent(path) } else { path };
    let first = below.components().next().map(|part| part.as_os_str());
    let name = first.unwrap_or_default().to_string_lossy().into_owned();
    let others = folders_like(&nearest, &name);
    Err(TargetError::NoFolder { path: folder.to_owned(), nearest, name, others })
}

/// Returns whether `path` has a suffix, as in `scratch.bin`.
fn has_suffix(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| !suffix.is_empty())
}

/// Returns the nearest existing folder above `path`, and the rest of the path below it.
fn nearest_folder(path: &Path) -> Option<(PathBuf, PathBuf)> {
    path.ancestors().skip(1).find_map(|above| {
        let folder = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let real = folder.canonicalize().ok().filter(|real| real.is_dir())?;
        Some((real, path.strip_prefix(above).ok()?.to_owned()))
    })
}

/// The maximum number of entries of a folder that are read for folders with similar names.
const MOST_ENTRIES: usize = 4_096;

/// Returns the folders in `folder` whose names are at most two letters longer or shorter than `name`.
fn folders_like(folder: &Path, name: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(MOST_ENTRIES).flatten();
    let names = entries.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name());
    let names = names.filter_map(|other| other.into_string().ok());
    names.filter(|other| other.len().abs_diff(name.len()) <= 2).collect()
}

/// Returns whether the folder `path` lies in /dev, also where that is mounted elsewhere: a mistyped
/// device name must not create a file in memory, which would be tested in place of the drive.
fn lies_in_dev(path: &Path) -> bool {
    let system = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.dev()).ok();
    let (of_dev, of_root) = (system(Path::new("/dev")), system(Path::new("/")));
    // Where /dev is a folder of the root file system, as in some containers, its number shows nothing.
    let mounted_elsewhere = of_dev != of_root && system(path) == of_dev;
    mounted_elsewhere || (path.starts_with("/dev") && !path.starts_with("/dev/shm"))
}

/// The names of targets without their colon, and the usual name of the standard output.
const MISTYPED: [&str; 3] = ["null", "sim", "-"];

/// Returns the path that the target `name` has, without the prefix of a scratch file.
pub(crate) fn path_of(name: &str) -> &Path {
    Path::new(name.strip_prefix(FILE).unwrap_or(name))
}

pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

pub(crate) fn scratch_text(size: Bytes) -> String {
    format!("{}, removed when the run ends", size.about())
}

/// Errors of the kernel in messages between processes: their number, else their text.
mod kernel_error {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::io;

    pub(super) fn serialize<S: Serializer>(error: &io::Error, to: S) -> Result<S::Ok, S::Error> {
        (error.raw_os_error(), error.to_string()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<io::Error, D::Error> {
        let (number, text) = <(Option<i32>, String)>::deserialize(from)?;
        Ok(number.map_or_else(|| io::Error::other(text), io::Error::from_raw_os_error))
    }
}

pub(crate) fn system(path: &Path, cause: io::Error) -> TargetError {
    TargetError::System { path: path.to_owned(), cause }
}

fn null_info(name: &str) -> DriveInfo {
    DriveInfo {
        kind: TargetKind::Null,
        target: name.into(),
        model: Some("no drive: the engine's own ceiling".into()),
        serial: None,
        firmware: None,
        capacity: Bytes(1_000_000_000_000),
        logical_block: Bytes(512),
        physical_block: Bytes(512),
        details: BTreeMap::new(),
    }
}

/// Describes a scratch file. The target is an absolute path, so that a run can be resumed from any
/// folder.
fn scratch_info(target: &Path, folder: &Path) -> DriveInfo {
    let mut details = file_system_of(folder);
    details.insert("scratch_file".into(), scratch_text(USUAL_SCRATCH));
    let mut info = DriveInfo {
        kind: TargetKind::File,
        target: target.display().to_string(),
        model: None,
        serial: None,
        firmware: None,
        capacity: USUAL_SCRATCH,
        logical_block: Bytes(512),
        physical_block: Bytes(ALIGNMENT),
        details,
    };
    let number = std::fs::metadata(folder).map(|metadata| metadata.dev()).ok();
    if let Some(device) = number.and_then(block_device_of) {
        let facts = device_facts(&device);
        info.model = facts.model;
        info.serial = facts.serial;
        info.firmware = facts.firmware;
        info.details.extend(facts.details);
    }
    info
}
