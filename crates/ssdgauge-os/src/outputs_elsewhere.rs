//! Creates the files and folders that the program leaves for its user, on systems other than Linux.
//!
//! Windows has no folder of device nodes, and macOS creates no file in its own, so no place is refused.

use std::fs::File;
use std::io;
use std::path::{Component, Path};

/// Returns whether `error` is that of an output among the device nodes: never.
pub fn is_among_device_nodes(_: &io::Error) -> bool {
    false
}

/// Checks that no `..` of `path` follows a folder that does not exist. Nothing is created.
///
/// # Errors
/// `NotFound` where one does.
pub fn check(path: &Path) -> io::Result<()> {
    let leads_back = |folder: &Path| {
        let is_parent = |part| part == Component::ParentDir;
        folder.components().next_back().is_some_and(is_parent) && !folder.is_dir()
    };
    match path.ancestors().skip(1).any(leads_back) {
        true => Err(io::ErrorKind::NotFound.into()),
        false => Ok(()),
    }
}

/// Creates the file `path`, and opens it for reads and writes. The permissions are those of the system.
///
/// # Errors
/// It exists, or another error of the system.
pub fn create_file(path: &Path, _mode: u32) -> io::Result<File> {
    File::options().read(true).write(true).create_new(true).open(path)
}

/// Creates the folder `path` and those above it that do not exist.
///
/// # Errors
/// As [`check`], or another error of the system.
pub fn create_folders(path: &Path) -> io::Result<()> {
    check(path)?;
    std::fs::create_dir_all(path)
}

/// Gives the file `temporary` the name `path` in the same folder, and never replaces another file.
///
/// # Errors
/// `AlreadyExists` where the name is taken; otherwise an error of the system.
pub fn name(temporary: &Path, path: &Path) -> io::Result<()> {
    match std::fs::hard_link(temporary, path) {
        Ok(()) => std::fs::remove_file(temporary),
        // The file system has no hard links, such as exFAT. A rename replaces a file that appears between the two.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !path.exists() => {
            std::fs::rename(temporary, path)
        }
        Err(error) => Err(error),
    }
}

/// Gives the file `temporary` the name `path` in the same folder, in place of the file that has it.
///
/// # Errors
/// An error of the system.
pub fn replace(temporary: &Path, path: &Path) -> io::Result<()> {
    std::fs::rename(temporary, path)
}

/// Returns whether `a` and `b` are one file, by any name of it.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
