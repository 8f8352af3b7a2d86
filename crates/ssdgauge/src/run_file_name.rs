//! The name of a new run file: that of `--out`, or one that no other run has.

use crate::failure::{Failure, FailureKind};
use crate::page_file::page_next_to;
use crate::{library, process};
use ssdgauge_runfile::{Opening, RunFileError, Writer};
use std::path::{Path, PathBuf};

/// The maximum number of names of one second that are tried. Chosen: far more runs than a machine begins in it.
const MOST: u32 = 1_000;

/// The names that a new run file may have.
#[derive(Clone, Debug)]
pub(crate) enum RunFileName {
    /// The one of `--out`.
    Given(PathBuf),
    /// `STEM.ssdg`, and `STEM-2.ssdg` and so on where other runs began in the same second.
    Default {
        /// Suite and second, such as `quick-20261120-221530`, in the folder of the library.
        stem: PathBuf,
    },
}

impl RunFileName {
    /// Returns the names of a run of `suite` that begins at `unix_ms`; `given` is the one of `--out`.
    pub(crate) fn new(given: Option<&Path>, suite: &str, unix_ms: i64) -> RunFileName {
        match given {
            Some(path) => RunFileName::Given(path.to_owned()),
            None => {
                let name = format!("{suite}-{}", process::file_timestamp(unix_ms));
                let stem = library::place_of_new(&name);
                RunFileName::Default { stem }
            }
        }
    }

    /// Returns the first name that is free now. One that was given is returned as it is.
    ///
    /// # Errors
    ///
    /// Refuses where no name is free.
    pub(crate) fn find(&self) -> Result<PathBuf, Failure> {
        let RunFileName::Default { stem } = self else { return Ok(self.first()) };
        let names = std::iter::once(self.first())
            .chain((2..=MOST).map(|number| with_end(stem, &format!("-{number}.ssdg"))));
        let mut free = names.filter(|name| is_free(name));
        free.next().ok_or_else(|| {
            let text =
                format!("{}.ssdg and {} further names exist already", stem.display(), MOST - 1);
            Failure::new(FailureKind::Refused, text, "nothing was written; name another --out")
        })
    }

    /// Creates the run file at `found`, the result of [`RunFileName::find`]. Where another run has taken
    /// that name since, the next free one is used; a name that was given is refused.
    ///
    /// # Errors
    ///
    /// Fails where the file cannot be created.
    pub(crate) fn create(
        &self,
        found: PathBuf,
        opening: &Opening<'_>,
    ) -> Result<(PathBuf, Writer), Failure> {
        let mut path = found;
        for _ in 0..MOST {
            match (Writer::create(&path, opening), self) {
                (Ok(writer), _) => return Ok((path, writer)),
                (
                    Err(RunFileError::Exists(_) | RunFileError::NextTo(_)),
                    RunFileName::Default { .. },
                ) => path = self.find()?,
                (Err(error), _) => return Err(Failure::before_the_run(error)),
            }
        }
        Err(Failure::before_the_run(RunFileError::Exists(path)))
    }

    fn first(&self) -> PathBuf {
        match self {
            RunFileName::Given(path) => path.clone(),
            RunFileName::Default { stem } => with_end(stem, ".ssdg"),
        }
    }
}

fn with_end(stem: &Path, end: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Returns whether neither `path`, nor its page, nor a file of SQLite next to it exists.
fn is_free(path: &Path) -> bool {
    ssdgauge_runfile::check_new(path).is_ok() && page_next_to(path).symlink_metadata().is_err()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

    use super::*;
    use crate::suite_options::find_suite;
    use ssdgauge_core::Rig;
    use ssdgauge_sim::VirtualRig;

    #[test]
    fn runs_of_one_second_have_distinct_names_and_replace_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let suite = folder.path().join("quick").display().to_string();
        let rig = VirtualRig::open("tiny", 1).unwrap();
        let quick = find_suite("quick").unwrap();
        let plan = ssdgauge_lab::plan(&quick, rig.drive(), &Default::default()).unwrap();
        let opening = |id| Opening {
            id,
            program: "test",
            unix_ms: 0,
            plan: &plan,
            drive: rig.drive(),
            environment: &[],
            properties: &[],
        };
        let name = RunFileName::new(None, &suite, 0);
        let path = |end: &str| PathBuf::from(format!("{suite}-19700101-000000{end}"));
        // All of them have found the same name free before one of them creates its file.
        let found = name.find().unwrap();
        for (id, expected) in [("a", ".ssdg"), ("b", "-2.ssdg"), ("c", "-3.ssdg")] {
            let (created, _) = name.create(found.clone(), &opening(id)).unwrap();
            assert_eq!(created, path(expected));
            assert_eq!(ssdgauge_runfile::RunFile::open(&created).unwrap().head().id, id);
        }
        // The page of a run, and files that SQLite would take for a part of it, count as well.
        std::fs::write(path("-4.html"), "").unwrap();
        std::fs::write(path("-5.ssdg-wal"), "").unwrap();
        assert_eq!(name.find().unwrap(), path("-6.ssdg"));
        let given = RunFileName::new(Some(&found), &suite, 0);
        assert_eq!(given.find().unwrap(), found);
        let refused = given.create(found.clone(), &opening("d")).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Refused);
        assert_eq!(ssdgauge_runfile::RunFile::open(&found).unwrap().head().id, "a");
    }
}
