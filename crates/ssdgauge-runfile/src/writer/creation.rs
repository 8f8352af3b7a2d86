//! New run files: they take their name when the opening record is durable.

use super::names::{
    give_name, lock, remove_own, remove_stale_files, remove_with_journal, temporary_name,
};
use super::statements::{DRIVE, ENVIRONMENT, RUN};
use super::{Opening, Writer, room};
use crate::error::RunFileError;
use crate::neighbours::{check_new, journal_of};
use crate::origin;
use crate::record::reader::ORIGIN;
use crate::record::{integer, optional, text};
use crate::schema;
use crate::untrusted;
use ssdgauge_os::outputs;
use std::fs::File;
use std::path::Path;

impl Writer {
    /// Creates `path`, which must not exist, with the opening record.
    ///
    /// The file is written under a temporary name and takes its name when the record is durable:
    /// after a kill at any point there is either a readable run file or none.
    ///
    /// # Errors
    ///
    /// Those of [`check_new`] where `path`, or the name of one of its companion files, is taken, [`RunFileError::Full`] where the file system
    /// is full, [`RunFileError::System`] or [`RunFileError::Sqlite`] for other failures.
    pub fn create(path: &Path, opening: &Opening<'_>) -> Result<Writer, RunFileError> {
        check_new(path)?;
        // A file that no program reads again must not be begun.
        if let Some(what) = untrusted::excess(opening.plan, opening.drive) {
            return Err(RunFileError::Excess { path: path.to_owned(), what });
        }
        remove_stale_files(path);
        let temporary = temporary_name(path);
        let created = Writer::write_opening(&temporary, path, opening).and_then(|lock| {
            // Its transaction is complete. A journal without its file would never be found again.
            let _ = std::fs::remove_file(journal_of(&temporary));
            give_name(&temporary, path)?;
            Ok(lock)
        });
        // An incomplete file after a failure.
        remove_with_journal(&temporary);
        let lock = created?;
        let system = |cause| RunFileError::System { path: path.to_owned(), cause };
        let own = lock.metadata().map_err(system)?;
        Writer::begin_under(path, lock).inspect_err(|_| remove_own(path, &own))
    }

    /// Returns the writer of the new file `path` with room for its journal.
    fn begin_under(path: &Path, lock: File) -> Result<Writer, RunFileError> {
        let mut writer = Writer::over(path, lock)?;
        // The first transaction under this name creates the journal, for which room is allocated
        // here and not in the first step. It changes no value.
        writer.batch(&format!("BEGIN IMMEDIATE; PRAGMA user_version = {}", schema::FORMAT))?;
        match writer.commit() {
            // The transaction stays open, and the first step waits for the reader.
            Ok(()) | Err(RunFileError::BeingRead(_)) => room::reserve_journal(path),
            Err(error) => return Err(error),
        }
        Ok(writer)
    }

    /// Writes the opening record into `temporary`, the later `path`, and returns the locked file.
    fn write_opening(
        temporary: &Path,
        path: &Path,
        opening: &Opening<'_>,
    ) -> Result<File, RunFileError> {
        let system = |cause| RunFileError::System { path: path.to_owned(), cause };
        let file = outputs::create_file(temporary, 0o600).map_err(system)?;
        lock(path, &file)?;
        let mut writer = Writer::over(temporary, file)?;
        schema::create(&writer.connection)
            .map_err(|cause| RunFileError::from_sqlite(path, cause))?;
        writer.open_record(opening)?;
        if let Some(identity) = origin::identity(&writer.lock) {
            writer.property(None, ORIGIN, &identity)?;
        }
        writer.batch("COMMIT")?;
        // The clone shares the lock: no second writer can take the file between its two names.
        writer.lock.try_clone().map_err(system)
    }

    fn open_record(&mut self, opening: &Opening<'_>) -> Result<(), RunFileError> {
        let json = "plans and drives always serialise";
        let plan = opening.plan;
        let drive = opening.drive;
        self.insert(
            RUN,
            vec![
                text(opening.id),
                text(opening.program),
                integer(opening.unix_ms),
                text(&plan.suite.id),
                integer(plan.suite.revision),
                text(&plan.suite.title),
                integer(plan.shortened),
                // As text: a seed has 64 bits, and an integer of SQLite 63 and a sign.
                text(plan.seed.to_string()),
                text(serde_json::to_string(plan).expect(json)),
            ],
        )?;
        self.insert(
            DRIVE,
            vec![
                text(drive.kind.name()),
                text(&drive.target),
                optional(drive.model.as_ref().map(text)),
                optional(drive.serial.as_ref().map(text)),
                optional(drive.firmware.as_ref().map(text)),
                integer(drive.capacity.0),
                integer(drive.logical_block.0),
                integer(drive.physical_block.0),
                text(drive.fingerprint()),
                text(serde_json::to_string(drive).expect(json)),
            ],
        )?;
        for (key, value) in opening.environment {
            self.insert(ENVIRONMENT, vec![text(key), text(value)])?;
        }
        for (key, value) in opening.properties {
            self.property(None, key, value)?;
        }
        Ok(())
    }
}
