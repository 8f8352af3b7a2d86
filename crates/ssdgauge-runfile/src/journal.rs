//! The rollback journal of a run file, examined before SQLite undoes an interrupted write with it.
//!
//! SQLite sets the size of the database to the one in the journal and copies its pages, whatever they
//! are. A journal of another file would so destroy a run file. The form is that of the SQLite file
//! format, section 3.

use crate::header;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// The first bytes of a journal, and the last ones of a journal that names a super-journal.
const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// The bytes of the header that have a meaning.
const HEADER: usize = 28;

/// The bytes of a record next to its page: the number of the page, and the checksum.
const FRAME: u64 = 8;

/// The maximum number of bytes of a journal beyond one record for each page of the database. Chosen: several times
/// the largest header (64 KiB) and the room that is allocated for a journal.
const SLACK: u64 = 1 << 20;

/// What a journal means for its run file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Journal {
    /// There is none, or an empty one.
    None,
    /// It is marked as completed: SQLite does not use it.
    Complete,
    /// An interrupted write, which SQLite undoes.
    Interrupted,
    /// It is not one of this run file; the reason as a clause.
    Foreign(String),
}

/// The header of a journal.
struct Header {
    records: u32,
    nonce: u32,
    /// The pages of the database before the transaction.
    pages: u32,
    sector: u32,
    page_size: u32,
}

/// Returns what the file `journal`, which is not empty, means for the run file `database`.
///
/// # Errors
///
/// The error of a read.
pub(crate) fn examine(journal: &mut File, database: &mut File) -> io::Result<Journal> {
    let mut start = Vec::new();
    journal.by_ref().take(HEADER as u64).read_to_end(&mut start)?;
    // A writer overwrites the header with zeros when a transaction is complete, and writes the magic
    // number when all records are durable.
    if start.iter().take(MAGIC.len()).all(|byte| *byte == 0) {
        return Ok(Journal::Complete);
    }
    let defect = defect(&start, journal, database)?;
    Ok(defect.map_or(Journal::Interrupted, Journal::Foreign))
}

/// Returns why `journal`, which begins with `start`, is not one of `database`, as a clause.
fn defect(start: &[u8], journal: &mut File, database: &mut File) -> io::Result<Option<String>> {
    if start.len() < HEADER || !start.starts_with(&MAGIC) {
        return Ok(Some("it is not a rollback journal".into()));
    }
    let number = |at: usize| u32::from_be_bytes(start[at..at + 4].try_into().expect("four bytes"));
    let header = Header {
        records: number(8),
        nonce: number(12),
        pages: number(16),
        sector: number(20),
        page_size: number(24),
    };
    let mut head = Vec::new();
    database.by_ref().take(100).read_to_end(&mut head)?;
    if head.len() < 100 {
        return Ok(Some("the run file has no header".into()));
    }
    let page_size = u64::from(header::page_size(&head));
    let sizes = (journal.metadata()?.len(), database.metadata()?.len() / page_size.max(1));
    if let Some(why) = header.defect(page_size, sizes) {
        return Ok(Some(why));
    }
    let mut end = [0; MAGIC.len()];
    journal.seek(SeekFrom::End(-(MAGIC.len() as i64)))?;
    journal.read_exact(&mut end)?;
    if end == MAGIC {
        return Ok(Some("it names other files; the journal of a run file never does".into()));
    }
    first_page_defect(journal, &header, &head)
}

impl Header {
    /// Returns what contradicts a database with pages of `page_size`; `sizes` are the bytes of the
    /// journal and the pages of the database.
    fn defect(&self, page_size: u64, (length, pages): (u64, u64)) -> Option<String> {
        let stated = u64::from(self.pages);
        match () {
            () if u64::from(self.page_size) != page_size => Some(format!(
                "its pages have {} bytes, those of the run file {page_size}",
                self.page_size
            )),
            () if !self.sector.is_power_of_two() || !(32..=65_536).contains(&self.sector) => {
                Some("its header is damaged".into())
            }
            // A run file never becomes shorter, so that an interrupted write can have added pages only.
            () if stated == 0 || stated > pages => Some(format!(
                "it belongs to a file of {stated} pages, and the run file has {pages}"
            )),
            () if length > (pages + 1) * (page_size + FRAME) + SLACK => {
                Some(format!("it has {length} bytes, too many for a run file of {pages} pages"))
            }
            () => None,
        }
    }
}

/// Returns what contradicts the first page of the database in `journal`. Each transaction changes this
/// page, so its former contents are in each journal; `head` is its present start.
fn first_page_defect(
    journal: &mut File,
    header: &Header,
    head: &[u8],
) -> io::Result<Option<String>> {
    let stride = u64::from(header.page_size) + FRAME;
    let length = journal.metadata()?.len();
    // The length is limited by that of the database, and so is the number of records.
    let fit = length.saturating_sub(header.sector.into()) / stride;
    for index in 0..fit.min(header.records.into()) {
        journal.seek(SeekFrom::Start(u64::from(header.sector) + index * stride))?;
        let mut number = [0; 4];
        journal.read_exact(&mut number)?;
        if u32::from_be_bytes(number) != 1 {
            continue;
        }
        let mut page = vec![0; header.page_size as usize];
        journal.read_exact(&mut page)?;
        journal.read_exact(&mut number)?;
        let is_sound = checksum(header.nonce, &page) == u32::from_be_bytes(number);
        return Ok(match is_sound && is_former(&page, head, header.pages) {
            true => None,
            false => {
                Some("it is the journal of another file, or of another state of this one".into())
            }
        });
    }
    Ok(Some("it has no record of the first page".into()))
}

/// Returns the checksum of a record: the nonce of the header, and every 200th byte from the end.
fn checksum(nonce: u32, page: &[u8]) -> u32 {
    let bytes = (1..page.len()).rev().skip(199).step_by(200).map(|at| u32::from(page[at]));
    bytes.fold(nonce, u32::wrapping_add)
}

/// Returns whether `page` is the first page of the database with the start `head` before its last
/// transaction, when it had `pages` pages.
///
/// Offset 24 counts the transactions, offset 28 the pages. The page may be written already, or not.
fn is_former(page: &[u8], head: &[u8], pages: u32) -> bool {
    let number = |bytes: &[u8], at: usize| {
        u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    };
    let newer = number(head, 24).wrapping_sub(number(page, 24));
    header::is_run_file(&page[..100]) && number(page, 28) == pages && newer <= 1
}
