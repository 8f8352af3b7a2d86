//! Targets: resolution of a name, and opening of the folder, file or drive that it leads to.

use crate::admission::{self, Admitted};
use crate::identity::TargetFacts;
use crate::options::TargetOptions;
use crate::refusal::Refusal;
use ssdgauge_core::{Bytes, DriveInfo, TargetKind};
use ssdgauge_os::mounts::file_system_of;
use ssdgauge_os::sysfs::block_device_of;
use ssdgauge_os::sysfs::device_facts;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// O_DIRECT needs memory, offsets and lengths on this grid; no drive in use has a larger one.
pub(crate) const ALIGNMENT: u64 = 4_096;

/// The default size of a scratch file.
const USUAL_SCRATCH: Bytes = Bytes(4 << 30);

/// The largest share of the free space that a scratch file may take: other programs on the file
/// system need room as well, and most file systems slow down when they are full.
const MOST_OF_FREE_SPACE: f64 = 0.9;

/// Reason why a target cannot be tested. Nothing was written.
#[derive(Debug, Error)]
pub enum TargetError {
    /// The path does not exist.
    #[error("{0} does not exist")]
    Missing(PathBuf),
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
    #[error("a scratch file of {requested} does not fit into {path}: {} are free", free.about())]
    NoRoom {
        /// The folder.
        path: PathBuf,
        /// The size of the scratch file.
        requested: Bytes,
        /// The free space.
        free: Bytes,
    },
    /// The guard does not admit the drive.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The privileges that a run does not need could not be dropped.
    #[error("the privileges of root could not be dropped: {0}")]
    Privileges(io::Error),
    /// A system call failed.
    #[error("{path}: {cause}")]
    System {
        /// The name.
        path: PathBuf,
        /// The error of the call.
        cause: io::Error,
    },
}

/// The kind of target that a name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The place.
    pub place: TargetPlace,
    /// Its description. The capacity is that of the scratch file, or of the device.
    pub info: DriveInfo,
    /// The facts by which a block device is recognised when it is opened.
    facts: Option<TargetFacts>,
}

/// A target that was opened.
#[derive(Debug)]
pub struct OpenedTarget {
    /// The file or the drive that requests go to.
    pub target: OpenTarget,
    /// The reason why requests go through the page cache, where they do.
    pub page_cache_reason: Option<String>,
}

/// The file or the drive that requests go to.
#[derive(Debug)]
pub enum OpenTarget {
    /// No file: measures the upper limit of the engine.
    Null,
    /// A scratch file without a name.
    Scratch(Arc<File>),
    /// A block device that the guard has admitted.
    Drive(Box<Admitted>),
}

impl Candidate {
    /// Resolves `name`. A scratch file has the default size until [`Candidate::sized`] sets
    /// another; of any other target the whole capacity is used.
    ///
    /// # Errors
    /// The name leads to nothing that can be tested, or the device cannot be inspected.
    pub fn find(name: &str) -> Result<Candidate, TargetError> {
        let place = resolve(name)?;
        let info = match &place {
            TargetPlace::Null => null_info(name),
            TargetPlace::Folder(folder) => scratch_info(folder, folder),
            TargetPlace::NewFile(file) => scratch_info(file, parent(file)),
            TargetPlace::Block(path) => return Candidate::block(path.clone()),
        };
        Ok(Candidate { place, info, facts: None })
    }

    /// Returns the same target with `size`: the size of the scratch file, or the used part of any
    /// other target, from its start. The name is not resolved again.
    ///
    /// # Errors
    /// The size is below the alignment, or above that of the device.
    pub fn sized(mut self, size: Bytes) -> Result<Candidate, TargetError> {
        if size.0 < ALIGNMENT {
            let least = Bytes(ALIGNMENT);
            return Err(TargetError::Size(format!("a size must be at least {least}")));
        }
        let aligned = Bytes(size.0 - size.0 % ALIGNMENT);
        match &self.place {
            TargetPlace::Null => self.info.capacity = size,
            TargetPlace::Folder(_) | TargetPlace::NewFile(_) => {
                self.info.capacity = aligned;
                self.info.details.insert("scratch_file".into(), scratch_text(size));
            }
            TargetPlace::Block(_) => {
                let most = self.info.capacity;
                if size > most {
                    let name = &self.info.target;
                    let text = format!("{size} is more than {name} holds ({})", most.about());
                    return Err(TargetError::Size(text));
                }
                self.info.capacity = aligned;
            }
        }
        Ok(self)
    }

    /// Returns the confirmation of the drive: its serial, or for a device without one its kernel
    /// name and size in bytes. `None` where the target is not a drive.
    pub fn confirmation(&self) -> Option<&str> {
        self.facts.as_ref().map(|facts| facts.confirmation.as_str())
    }

    fn block(path: PathBuf) -> Result<Candidate, TargetError> {
        let facts = admission::inspect(&path)?;
        let whole = facts.identity.size;
        let capacity = Bytes(whole.0 - whole.0 % ALIGNMENT);
        let mut details = facts.details.clone();
        details.insert("confirm".into(), facts.confirmation.clone());
        let sequence = facts.identity.sequence.map(|number| number.to_string());
        details.extend(sequence.map(|number| ("disk_sequence".into(), number)));
        details.extend(facts.identity.wwid.clone().map(|name| ("wwid".into(), name)));
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
        Ok(Candidate { place: TargetPlace::Block(path), info, facts: Some(facts) })
    }

    /// Returns the reasons against writing to a block device, the most severe first, and which
    /// checks were not possible; both empty for other targets. Nothing is written.
    pub fn objections(&self, options: &TargetOptions<'_>) -> (Vec<Refusal>, Vec<String>) {
        match (&self.place, &self.facts) {
            (TargetPlace::Block(path), Some(facts)) => admission::objections(path, facts, options),
            (
                TargetPlace::Block(_)
                | TargetPlace::Null
                | TargetPlace::Folder(_)
                | TargetPlace::NewFile(_),
                _,
            ) => (Vec::new(), Vec::new()),
        }
    }

    /// Checks that there is free space for the scratch file, before anything is written.
    ///
    /// # Errors
    /// The file is larger than 90 % of the free space, or the free space is not reported.
    pub fn check_room(&self) -> Result<(), TargetError> {
        let folder = match &self.place {
            TargetPlace::Null | TargetPlace::Block(_) => return Ok(()),
            TargetPlace::Folder(folder) => folder,
            TargetPlace::NewFile(file) => parent(file),
        };
        let system = |cause: rustix::io::Errno| TargetError::System {
            path: folder.to_owned(),
            cause: cause.into(),
        };
        let free = rustix::fs::statvfs(folder).map_err(system)?;
        let free = Bytes(free.f_bavail * free.f_frsize);
        if self.info.capacity.0 as f64 > free.0 as f64 * MOST_OF_FREE_SPACE {
            let requested = self.info.capacity;
            return Err(TargetError::NoRoom { path: folder.to_owned(), requested, free });
        }
        Ok(())
    }

    /// Opens the target. A block device has to pass admission. A scratch file never has a name, so
    /// that the kernel removes it when the process ends, in whatever way it ends.
    ///
    /// # Errors
    /// The first rule that refuses the drive, too little free space, or a failed system call.
    pub fn open(&self, options: &TargetOptions<'_>) -> Result<OpenedTarget, TargetError> {
        match &self.place {
            TargetPlace::Null => {
                Ok(OpenedTarget { target: OpenTarget::Null, page_cache_reason: None })
            }
            TargetPlace::Folder(folder) => {
                self.check_room()?;
                self.scratch(folder, &|flags| open_nameless(folder, flags))
            }
            TargetPlace::NewFile(file) => {
                self.check_room()?;
                self.scratch(file, &|flags| open_and_unlink(file, flags))
            }
            TargetPlace::Block(path) => {
                let facts = match &self.facts {
                    Some(facts) => facts,
                    None => &admission::inspect(path)?,
                };
                let drive = admission::admit(path, facts, options)?;
                let target = OpenTarget::Drive(Box::new(drive));
                Ok(OpenedTarget { target, page_cache_reason: None })
            }
        }
    }

    /// Opens and allocates the scratch file.
    fn scratch(
        &self,
        path: &Path,
        open: &dyn Fn(libc::c_int) -> io::Result<File>,
    ) -> Result<OpenedTarget, TargetError> {
        let (file, page_cache_reason) = match open(libc::O_DIRECT) {
            Ok(file) => (file, None),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                let file = open(0).map_err(|cause| system(path, cause))?;
                (file, Some("the file system refuses O_DIRECT".to_owned()))
            }
            Err(cause) => return Err(system(path, cause)),
        };
        let length = self.info.capacity.0;
        match rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, length) {
            Ok(()) => {}
            // Some file systems cannot allocate in advance; the fill then fails if there is no
            // room.
            Err(rustix::io::Errno::OPNOTSUPP) => {
                file.set_len(length).map_err(|cause| system(path, cause))?;
            }
            Err(error) => return Err(system(path, error.into())),
        }
        let target = OpenTarget::Scratch(Arc::new(file));
        Ok(OpenedTarget { target, page_cache_reason })
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
    let path = Path::new(name);
    let kind = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return new_file(path),
        Err(cause) => return Err(system(path, cause)),
    };
    let unfit = |what: &str| TargetError::Unfit { path: path.to_owned(), what: what.into() };
    let real = path.canonicalize().map_err(|cause| system(path, cause))?;
    let file_type = kind.file_type();
    if file_type.is_dir() && lies_in_dev(&real) {
        Err(unfit("a folder of device nodes, where no scratch file belongs"))
    } else if file_type.is_dir() {
        Ok(TargetPlace::Folder(real))
    } else if file_type.is_block_device() {
        Ok(TargetPlace::Block(real))
    } else if file_type.is_char_device() {
        Err(unfit("a character device; name the block device (for NVMe: /dev/nvme0n1)"))
    } else if file_type.is_file() {
        Err(TargetError::Exists(path.to_owned()))
    } else {
        Err(unfit("neither a folder nor a block device"))
    }
}

fn new_file(path: &Path) -> Result<TargetPlace, TargetError> {
    let missing = || TargetError::Missing(path.to_owned());
    // A broken link is not a new file, and `name:` is a mistyped prefix such as `sim:`.
    let folder = parent(path).canonicalize().map_err(|_| missing())?;
    let name = path.file_name().ok_or_else(missing)?;
    if path.is_symlink() || lies_in_dev(&folder) || name.as_encoded_bytes().ends_with(b":") {
        return Err(missing());
    }
    Ok(TargetPlace::NewFile(folder.join(name)))
}

/// Returns whether `path` lies in /dev: a mistyped device name must not create a file in memory,
/// which would be tested in place of the drive.
fn lies_in_dev(path: &Path) -> bool {
    path.starts_with("/dev") && !path.starts_with("/dev/shm")
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn scratch_text(size: Bytes) -> String {
    format!("{size}, removed when the run ends")
}

fn open_nameless(folder: &Path, flags: libc::c_int) -> io::Result<File> {
    let open = |flags| OpenOptions::new().read(true).write(true).custom_flags(flags).open(folder);
    match open(flags | libc::O_TMPFILE) {
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
            let name = format!(".ssdgauge-scratch-{}", std::process::id());
            open_and_unlink(&folder.join(name), flags)
        }
        other => other,
    }
}

fn open_and_unlink(path: &Path, flags: libc::c_int) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600).custom_flags(flags);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) => {
            // O_CREAT may create the file before O_DIRECT is refused. `create_new` guarantees that
            // it is ours and empty.
            if error.raw_os_error() == Some(libc::EINVAL) {
                let _ = std::fs::remove_file(path);
            }
            return Err(error);
        }
    };
    std::fs::remove_file(path)?;
    Ok(file)
}

fn system(path: &Path, cause: io::Error) -> TargetError {
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
