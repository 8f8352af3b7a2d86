//! The first 100 bytes of a run file, read without SQLite: opening a foreign database with SQLite could
//! change it.

use crate::error::RunFileError;
use crate::schema::{APPLICATION, FORMAT};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The first bytes of an SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Checks the header of `path` without SQLite, because opening a foreign database with SQLite could
/// roll back its journal and so change it. Returns the format of the file.
///
/// Offsets 18 and 19 (journal), 60 (`user_version`) and 68 (`application_id`) are those of the SQLite file format, 1.3.
pub(crate) fn recognise(path: &Path) -> Result<u32, RunFileError> {
    let foreign =
        |why: &str| Err(RunFileError::Foreign { path: path.to_owned(), why: why.to_owned() });
    let system = |cause: io::Error| RunFileError::of_reading(path, &cause);
    let kind = std::fs::metadata(path).map_err(system)?;
    // An open of a FIFO waits for a writer, and one of a device can act on it.
    if !kind.is_file() {
        return foreign("it is not a regular file");
    }
    let mut file = open(path).map_err(system)?;
    // Again, of the file that is open: another one can have taken the name since.
    if !file.metadata().map_err(system)?.is_file() {
        return foreign("it is not a regular file");
    }
    let mut head = Vec::new();
    file.by_ref().take(100).read_to_end(&mut head).map_err(system)?;
    if head.is_empty() {
        return foreign("it is empty; the run ended before its first record");
    }
    if head.len() < 100 || !head.starts_with(MAGIC) {
        return foreign("it is not an SQLite file");
    }
    let format = number(&head, 60);
    if !is_run_file(&head) {
        return foreign("it is an SQLite file of another program");
    }
    // Offsets 18 and 19: 1 for a rollback journal, 2 for a write-ahead log. Reading the latter
    // creates files next to it.
    if head[18..20] != [1, 1] {
        return foreign("it uses a write-ahead log; run files never do");
    }
    // SQLite keeps it as a signed number.
    if (format as i32) < 1 {
        return foreign(&format!("its format number is {}", format as i32));
    }
    if format > FORMAT {
        return Err(RunFileError::Newer { path: path.to_owned(), found: format, known: FORMAT });
    }
    Ok(format)
}

/// Returns whether `head`, the first 100 bytes of an SQLite file, is that of a run file.
pub(crate) fn is_run_file(head: &[u8]) -> bool {
    head.starts_with(MAGIC) && number(head, 68) == APPLICATION
}

/// Returns the bytes of a page of the SQLite file with the first 100 bytes `head`: offset 16, where 1
/// stands for 65,536.
pub(crate) fn page_size(head: &[u8]) -> u32 {
    match u16::from_be_bytes([head[16], head[17]]) {
        1 => 65_536,
        size => size.into(),
    }
}

/// Returns the count of transactions in the header of an SQLite file, offset 24; `None` where the file
/// is shorter.
#[cfg(target_os = "linux")]
pub(crate) fn transactions(file: &File) -> io::Result<Option<[u8; 4]>> {
    let mut count = [0; 4];
    match std::os::unix::fs::FileExt::read_exact_at(file, &mut count, 24) {
        Ok(()) => Ok(Some(count)),
        Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(cause) => Err(cause),
    }
}

fn number(head: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(head[at..at + 4].try_into().expect("four bytes"))
}

/// Opens the regular file `path` for reading, and never waits for the other end of a FIFO.
#[cfg(target_os = "linux")]
pub(crate) fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::fs::OpenOptions;
    use std::os::unix::fs::OpenOptionsExt;
    // NOCTTY: a terminal that is opened could become the controlling one of this process.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Opens the regular file `path` for reading.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}
