//! Files that take their names together: what cannot be written is found before the first one is replaced.

use super::{Format, Partial, check_existing};
use crate::failure::{Failure, FailureKind};
use ssdgauge_core::rounded::count_of;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A complete file that does not have its name yet; dropped, it is removed.
pub(crate) struct Staged {
    path: PathBuf,
    format: Format,
    /// Whether a file that it may replace had its name.
    exists: bool,
    partial: Partial,
}

impl Staged {
    /// Writes a file of `format` for the name `path` by `write`; the files that the command reads are `inputs`.
    ///
    /// # Errors
    ///
    /// As [`super::write_with`]. No file has changed.
    pub(crate) fn write(
        path: &Path,
        format: Format,
        inputs: &[&Path],
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<Staged, Failure> {
        let exists = check_existing(path, format, inputs)?;
        // Thousands of files that the same command makes again are not waited for, each on its own.
        let is_durable = format != Format::Site;
        let partial = Partial::write(path, is_durable, write)
            .map_err(|error| Failure::not_created(path, &error))?;
        Ok(Staged { path: path.to_owned(), format, exists, partial })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    ///
    /// As [`super::write_with`].
    pub(crate) fn take_name(&self, inputs: &[&Path]) -> Result<(), Failure> {
        let mut exists = self.exists;
        loop {
            match self.partial.take_name(&self.path, exists) {
                // Another process has written it since the check: it is replaced if it may be.
                Err(error) if !exists && error.kind() == io::ErrorKind::AlreadyExists => {
                    exists = check_existing(&self.path, self.format, inputs)?;
                }
                result => {
                    return result.map_err(|error| Failure::not_created(&self.path, &error));
                }
            }
        }
    }
}

/// Gives all of `files` their names.
///
/// # Errors
///
/// Fails at the first one that does not get it, and says how many had theirs.
pub(crate) fn take_names(files: &[Staged]) -> Result<(), Failure> {
    for (done, file) in files.iter().enumerate() {
        file.take_name(&[]).map_err(|failure| {
            let all = count_of(files.len(), "file");
            let hint = format!("{done} of {all} were written before; call it again to write all");
            Failure::new(FailureKind::Failed, failure.error, hint)
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::io::Write;

    #[test]
    fn staged_files_have_their_names_together_and_a_failure_says_how_many() {
        let folder = tempfile::tempdir().unwrap();
        let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let old = format!("{} old", ssdgauge_page::SITE_MARK);
        std::fs::write(folder.path().join("a"), &old).unwrap();
        let stage = |name: &str| {
            let path = folder.path().join(name);
            Staged::write(&path, Format::Site, &[], |file| file.write_all(b"new")).unwrap()
        };
        let files = [stage("a"), stage("b"), stage("c")];
        assert_eq!(text("a"), old);
        // A stranger's file takes the second name meanwhile.
        std::fs::write(folder.path().join("b"), "mine").unwrap();
        let failure = take_names(&files).unwrap_err();
        assert!(failure.hint.starts_with("1 of 3 files were written before"), "{}", failure.hint);
        drop(files);
        assert_eq!((text("a"), text("b")), ("new".to_owned(), "mine".to_owned()));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "no partial file is left");
    }
}
