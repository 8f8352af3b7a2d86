//! Opening of a run file: the checks before SQLite sees it, and those of its structure.

use super::{Rows, RunFile};
use crate::error::RunFileError;
use crate::histogram::Decoder;
use crate::journal::Journal;
use crate::{header, neighbours, schema, untrusted};
use rusqlite::{Connection, OpenFlags};
use std::cell::RefCell;
use std::path::Path;

impl RunFile {
    /// Opens `path` and reads the opening record.
    ///
    /// A foreign or newer file is refused and not changed. Where a killed program has left a
    /// journal, SQLite first rolls back to the last commit; a journal of another file is refused.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Missing`], [`RunFileError::Foreign`] or [`RunFileError::Newer`] by the
    /// header of the file; [`RunFileError::Neighbour`] by the files next to it;
    /// [`RunFileError::Damaged`] where its structure, its opening record or a
    /// step is not sound; [`RunFileError::Busy`] where a commit holds it for more than 5 s.
    pub fn open(path: &Path) -> Result<RunFile, RunFileError> {
        let format = header::recognise(path)?;
        RunFile::after_recognition(path, format, neighbours::check(path)?)
    }

    /// Opens `path`, a file of `format`, for the process that has locked it, and checks all of it.
    ///
    /// # Errors
    ///
    /// Those of [`RunFile::open`].
    pub(crate) fn open_as_writer(path: &Path, format: u32) -> Result<RunFile, RunFileError> {
        let run = RunFile::after_recognition(path, format, neighbours::check_as_writer(path)?)?;
        run.budget.renew();
        schema::check_all(&run.connection, path).map_err(untrusted::while_reading)?;
        run.check_chain()?;
        Ok(run)
    }

    /// Opens `path`, and says with an error whether an interrupted write was undone before.
    fn after_recognition(
        path: &Path,
        format: u32,
        journal: Journal,
    ) -> Result<RunFile, RunFileError> {
        let is_undone = journal == Journal::Interrupted;
        let changed = |error| match error {
            error @ (RunFileError::Foreign { .. }
            | RunFileError::Newer { .. }
            | RunFileError::Damaged { .. }
            | RunFileError::Impossible { .. }
            | RunFileError::TooLarge { .. })
                if is_undone =>
            {
                RunFileError::AfterRollback(Box::new(error))
            }
            other => other,
        };
        RunFile::read(path, format, journal).map_err(changed)
    }

    /// Opens `path`, where an interrupted write is undone first, and reads it.
    fn read(path: &Path, format: u32, journal: Journal) -> Result<RunFile, RunFileError> {
        // A rollback writes to the file, also where a running writer ends within its commit; without a
        // journal the file is opened read-only.
        let flags = match journal {
            Journal::None => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Journal::Complete | Journal::Interrupted | Journal::Foreign(_) => {
                OpenFlags::SQLITE_OPEN_READ_WRITE
            }
        };
        RunFile::of(schema::open(path, flags).map_err(untrusted::while_reading)?, path, format)
    }

    /// Reads the opening record of `path`, a file of `format`, by its `connection`.
    pub(super) fn of(
        mut connection: Connection,
        path: &Path,
        format: u32,
    ) -> Result<RunFile, RunFileError> {
        let budget = untrusted::guard(&mut connection, path, format)?;
        schema::check_small(&connection, path, format).map_err(untrusted::while_reading)?;
        let head = Rows { connection: &connection, path, budget: &budget }.head()?;
        if let Some(defect) = head.plan_defect() {
            let what = format!("its plan cannot be carried out: {defect}");
            return Err(RunFileError::Damaged { path: path.to_owned(), what });
        }
        let decoder = RefCell::new(Decoder::new(untrusted::unpacked_at_most(path)));
        let ranges = RefCell::default();
        let path = path.to_owned();
        let run = RunFile { connection, path, format, head, budget, decoder, ranges };
        run.check_steps()?;
        run.check_links()?;
        Ok(run)
    }
}
