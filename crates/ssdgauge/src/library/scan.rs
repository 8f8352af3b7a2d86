//! The files of a library.

use crate::failure::{Failure, FailureKind};
use std::fs::{DirEntry, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// How many folders below that of the settings are searched.
const DEPTH: usize = 8;
/// How many below the current one, which may be a whole disk.
const DEPTH_OF_CURRENT: usize = 1;
/// The time after the last change of a file within which a program may still be writing it: a run commits at least
/// every minute.
const RECENT_S: i64 = 600;

/// A file with the name of a run file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its path below the folder of the library.
    pub(super) name: PathBuf,
    /// Its length in bytes.
    pub(super) size: u64,
    /// Its last change, in nanoseconds since 1970.
    pub(super) changed_ns: i64,
}

impl Found {
    fn new(name: PathBuf, facts: &Metadata) -> Found {
        let changed = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let changed_ns =
            changed.map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
        Found { name, size: facts.len(), changed_ns }
    }

    /// Returns its path; that of a file in the current folder is its name.
    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        match folder == Path::new(".") {
            true => self.name.clone(),
            false => folder.join(&self.name),
        }
    }

    pub(super) fn is_named_in_utf8(&self) -> bool {
        self.name.to_str().is_some()
    }

    /// Returns whether it changed within the last minutes.
    pub(super) fn is_recent(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64;
        now - self.changed_ns / 1_000_000_000 < RECENT_S
    }
}

/// Returns the files with names of run files in `folder` and below, sorted by name.
///
/// # Errors
///
/// Fails where the folder itself cannot be read.
pub(super) fn files(folder: &Path, is_whole: bool) -> Result<Vec<Found>, Failure> {
    let depth = if is_whole { DEPTH } else { DEPTH_OF_CURRENT };
    let mut found = Vec::new();
    add(folder, Path::new(""), depth, &mut found).map_err(|error| {
        let text = match error.kind() {
            ErrorKind::NotFound => format!("folder {}, the library, does not exist", folder.display()),
            _ => format!("cannot read the library {}: {error}", folder.display()),
        };
        Failure::new(
            FailureKind::Usage,
            text,
            "create the folder, or name another one with --library; `ssdgauge config` shows where it comes from",
        )
    })?;
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn add(folder: &Path, below: &Path, depth: usize, found: &mut Vec<Found>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder.join(below))? {
        let Ok(entry) = entry else { continue };
        let name = below.join(entry.file_name());
        if is_folder(&entry) {
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if depth > 0 && !is_hidden {
                // A folder below that cannot be read hides its own runs only.
                let _ = add(folder, &name, depth - 1, found);
            }
        } else if name.extension().is_some_and(|suffix| suffix == "ssdg") {
            // Through a link: its run is in the library as well.
            if let Ok(facts) = folder.join(&name).metadata().or_else(|_| entry.metadata()) {
                found.push(Found::new(name, &facts));
            }
        }
    }
    Ok(())
}

/// Returns whether it is a folder. Links to folders are not followed: they may form a circle.
fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}
