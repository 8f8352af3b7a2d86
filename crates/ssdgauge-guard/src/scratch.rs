//! Scratch files: the check of the free space, and a new file without a name.
//!
//! A file system can stop answering as a drive can, so these functions are called through `look`
//! alone.

use crate::place::{Candidate, TargetError, TargetPlace, parent, system};
use rustix::fs::OFlags;
use ssdgauge_core::Bytes;
use ssdgauge_os::outputs;
use std::fs::File;
use std::io;
use std::path::Path;

/// The largest share of the free space that a scratch file may take: other programs on the file
/// system need room as well, and most file systems slow down when they are full.
const MAX_OF_FREE_SPACE: f64 = 0.9;

/// Checks that there is free space for the scratch file of `candidate`.
///
/// # Errors
/// The file is larger than 90 % of the free space, or the free space is not reported.
pub(crate) fn check_room(candidate: &Candidate) -> Result<(), TargetError> {
    let folder = match &candidate.place {
        TargetPlace::Null | TargetPlace::Block(_) => return Ok(()),
        TargetPlace::Folder(folder) => folder,
        TargetPlace::NewFile(file) => parent(file),
    };
    let free = rustix::fs::statvfs(folder).map_err(|cause| system(folder, cause.into()))?;
    // Not `f_bfree`: the reserve of root keeps services of the system alive, also where root measures.
    let free = Bytes(free.f_bavail * free.f_frsize);
    let requested = candidate.info.capacity;
    match requested.0 as f64 > free.0 as f64 * MAX_OF_FREE_SPACE {
        true => Err(TargetError::NoRoom { path: folder.to_owned(), requested, free }),
        false => Ok(()),
    }
}

/// Opens and allocates the scratch file of `candidate`; returns it, and the reason why requests go
/// through the page cache, where they do.
///
/// # Errors
/// There is too little free space, or a system call failed.
pub(crate) fn open(candidate: &Candidate) -> Result<(File, Option<String>), TargetError> {
    // Again: other programs may have filled the file system since the plan was confirmed.
    check_room(candidate)?;
    let (path, folder, name) = match &candidate.place {
        TargetPlace::Folder(folder) => {
            // Used where the file system has no unnamed files. The number keeps runs in one folder apart.
            let name = format!(".ssdgauge-scratch-{}", std::process::id());
            (folder, folder.as_path(), folder.join(name))
        }
        TargetPlace::NewFile(file) => (file, parent(file), file.clone()),
        TargetPlace::Null | TargetPlace::Block(_) => {
            let cause = io::ErrorKind::InvalidInput.into();
            return Err(system(Path::new(&candidate.info.target), cause));
        }
    };
    let open = |flags| open_nameless(folder, &name, flags);
    let (file, page_cache_reason) = match open(OFlags::DIRECT) {
        Ok(file) => (file, None),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            let file = open(OFlags::empty()).map_err(|cause| system(path, cause))?;
            (file, Some("the file system refuses O_DIRECT".to_owned()))
        }
        Err(cause) => return Err(system(path, cause)),
    };
    allocate(&file, candidate.info.capacity.0).map_err(|cause| system(path, cause))?;
    Ok((file, page_cache_reason))
}

fn allocate(file: &File, length: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, length) {
        Ok(()) => Ok(()),
        // Some file systems cannot allocate in advance; the fill then fails if there is no room.
        Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(length),
        Err(error) => Err(error.into()),
    }
}

/// Opens a new file in `folder` that never has a name; on file systems without such files one that
/// is called `name` for a moment.
fn open_nameless(folder: &Path, name: &Path, flags: OFlags) -> io::Result<File> {
    match outputs::create_nameless(folder, flags) {
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
            let file = outputs::create_file_with(name, 0o600, flags)?;
            std::fs::remove_file(name)?;
            Ok(file)
        }
        other => other,
    }
}
