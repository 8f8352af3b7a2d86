//! What is checked of a site before its first file is written.

use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use std::path::Path;

/// Checks that the file `path` of a site can be written as `format`: nothing has its name, or ssdgauge wrote it so.
///
/// # Errors
///
/// As [`output::check`].
pub(super) fn check(path: &Path, format: Format) -> Result<(), Failure> {
    // Its folder may still be missing.
    if path.symlink_metadata().is_err() { Ok(()) } else { output::check(path, format, &[]) }
}

/// Checks that those of the folders `names` that exist in `folder` are folders, and lie in it.
///
/// # Errors
///
/// Refuses others, such as links that lead elsewhere.
pub(super) fn check_folders(folder: &Path, names: &[&str]) -> Result<(), Failure> {
    for path in names.iter().map(|name| folder.join(name)) {
        if path.symlink_metadata().is_err() {
            continue;
        }
        let is_within = match (folder.canonicalize(), path.canonicalize()) {
            (Ok(folder), Ok(path)) => path.is_dir() && path.starts_with(folder),
            _ => false,
        };
        if !is_within {
            let text = format!("{} is not a folder of the site", path.display());
            let hint = "nothing was written; name another folder for the site, or remove this one";
            return Err(Failure::new(FailureKind::Refused, text, hint));
        }
    }
    Ok(())
}
