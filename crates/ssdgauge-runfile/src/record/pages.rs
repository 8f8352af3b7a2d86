//! The rows of a table straight from the pages of its file. The chain of hashes covers every sample, and SQLite
//! takes several times longer to hand out the values of a row than it takes to hash them.
//!
//! By <https://www.sqlite.org/fileformat2.html>, sections 1.6 and 2.1. A file that is not as this program writes
//! it is left to SQLite ([`Stop::Unusual`]): what is read here counts only where it has the recorded hashes.

use crate::header;
use crate::schema::MOST_COLUMNS;
use rusqlite::types::ValueRef;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The deepest tree. Chosen: pages of 4 KiB with 400 entries make two million million rows at six.
const DEEPEST: usize = 6;

/// The first bytes of a page of a table: leaf, and inner page.
const LEAF: u8 = 13;
const INNER: u8 = 5;

/// Why the rows of a table are not read to their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// No further row is wanted.
    Enough,
    /// SQLite has to read them.
    Unusual,
}

/// What gets the number and the record of each row.
type Take<'a> = dyn FnMut(i64, &[u8]) -> Result<(), Stop> + 'a;

/// The pages of a file that nobody writes meanwhile: the caller is in a transaction of SQLite.
#[derive(Debug)]
pub(crate) struct Pages {
    file: File,
    /// The bytes of a page.
    size: usize,
    /// How many pages may still be read: a sound tree has each of them once.
    left: u64,
    /// A page for each level of the tree, kept to be filled again.
    levels: [Vec<u8>; DEEPEST],
    /// A record that is longer than its page, and a further page of it.
    record: Vec<u8>,
    further: Vec<u8>,
}

impl Pages {
    /// Opens the run file `path`; `None` where it cannot be read or its pages are not those of a writer of ours.
    pub(crate) fn open(path: &Path) -> Option<Pages> {
        let mut file = header::open(path).ok()?;
        let known = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let mut head = [0; 100];
        file.read_exact(&mut head).ok()?;
        let size = header::page_size(&head) as usize;
        // Offset 20: unused bytes of each page; 56: the encoding of texts, 1 for UTF-8.
        let is_usual = head[20] == 0 && head[56..60] == [0, 0, 0, 1];
        let is_usual = is_usual && size >= 512 && header::is_run_file(&head);
        is_usual.then(|| Pages {
            file,
            size,
            left: known.len() / size as u64,
            levels: Default::default(),
            record: Vec::new(),
            further: Vec::new(),
        })
    }

    /// Calls `take` with every row of the table at page `root`, in the order of their numbers.
    pub(crate) fn rows(&mut self, root: u32, take: &mut Take<'_>) -> Result<(), Stop> {
        self.visit(root, 0, (i64::MIN, i64::MAX), take)
    }

    /// Visits the page `number` at `level` of a tree, whose rows are those after `low` up to `high`.
    fn visit(
        &mut self,
        number: u32,
        level: usize,
        range: (i64, i64),
        take: &mut Take<'_>,
    ) -> Result<(), Stop> {
        let mut page = std::mem::take(self.levels.get_mut(level).ok_or(Stop::Unusual)?);
        self.read(number, &mut page).ok_or(Stop::Unusual)?;
        let visited = match page.first() {
            Some(&LEAF) => self.leaf(&page, range, take),
            Some(&INNER) => self.inner(&page, level, range, take),
            Some(_) | None => Err(Stop::Unusual),
        };
        self.levels[level] = page;
        visited
    }

    fn inner(
        &mut self,
        page: &[u8],
        level: usize,
        (mut low, high): (i64, i64),
        take: &mut Take<'_>,
    ) -> Result<(), Stop> {
        for mut cell in cells(page, 12) {
            let cell = &mut cell;
            let child = be_u32(cell).ok_or(Stop::Unusual)?;
            let key = varint(cell).ok_or(Stop::Unusual)? as i64;
            if !(low..=high).contains(&key) {
                return Err(Stop::Unusual);
            }
            self.visit(child, level + 1, (low, key), take)?;
            low = key;
        }
        let last = page.get(8..).and_then(|mut rest| be_u32(&mut rest)).ok_or(Stop::Unusual)?;
        self.visit(last, level + 1, (low, high), take)
    }

    fn leaf(
        &mut self,
        page: &[u8],
        (mut low, high): (i64, i64),
        take: &mut Take<'_>,
    ) -> Result<(), Stop> {
        for mut cell in cells(page, 8) {
            let cell = &mut cell;
            let length = varint(cell).ok_or(Stop::Unusual)?;
            let row = varint(cell).ok_or(Stop::Unusual)? as i64;
            if row <= low || row > high {
                return Err(Stop::Unusual);
            }
            low = row;
            let length = usize::try_from(length).map_err(|_| Stop::Unusual)?;
            match length <= self.size - 35 {
                true => take(row, cell.get(..length).ok_or(Stop::Unusual)?)?,
                false => {
                    self.gather(cell, length).ok_or(Stop::Unusual)?;
                    take(row, &self.record)?;
                }
            }
        }
        Ok(())
    }

    /// Gathers a record of `length` bytes that begins in `cell` and continues on further pages.
    fn gather(&mut self, cell: &[u8], length: usize) -> Option<()> {
        let most = self.size - 35;
        let least = (self.size - 12) * 32 / 255 - 23;
        let each = self.size - 4;
        let here = least + (length - least) % each;
        let here = if here <= most { here } else { least };
        let (begin, mut rest) = cell.split_at_checked(here)?;
        self.record.clear();
        self.record.extend_from_slice(begin);
        let mut next = be_u32(&mut rest)?;
        while self.record.len() < length {
            let mut page = std::mem::take(&mut self.further);
            self.read(next, &mut page)?;
            let mut content = page.as_slice();
            next = be_u32(&mut content)?;
            let part = each.min(length - self.record.len());
            self.record.extend_from_slice(content.get(..part)?);
            self.further = page;
        }
        Some(())
    }

    fn read(&mut self, number: u32, page: &mut Vec<u8>) -> Option<()> {
        // The first page, which has the header of the file, is that of no table of ours.
        let before = u64::from(number).checked_sub(1).filter(|before| *before > 0)?;
        self.left = self.left.checked_sub(1)?;
        page.resize(self.size, 0);
        self.file.seek(SeekFrom::Start(before * self.size as u64)).ok()?;
        self.file.read_exact(page).ok()
    }
}

/// Returns the cells of `page`, each up to the end of the page; their places follow a head of `head` bytes.
fn cells(page: &[u8], head: usize) -> impl Iterator<Item = &[u8]> {
    let n = usize::from(u16::from_be_bytes([page[3], page[4]]));
    let places = page.get(head..head + 2 * n).unwrap_or_default().chunks_exact(2);
    // An empty cell is refused where it is read.
    places.map(|place| {
        page.get(usize::from(u16::from_be_bytes([place[0], place[1]]))..).unwrap_or_default()
    })
}

/// Decodes the values of `record` into `values`. Returns their number.
pub(crate) fn decode<'a>(
    record: &'a [u8],
    values: &mut [ValueRef<'a>; MOST_COLUMNS],
) -> Option<usize> {
    let mut rest = record;
    let head = usize::try_from(varint(&mut rest)?).ok()?;
    let mut kinds = record.get(record.len() - rest.len()..head)?;
    let mut body = record.get(head..)?;
    let mut n = 0;
    while !kinds.is_empty() {
        *values.get_mut(n)? = value(varint(&mut kinds)?, &mut body)?;
        n += 1;
    }
    body.is_empty().then_some(n)
}

/// Takes a value of the type `kind` from `body`.
fn value<'a>(kind: u64, body: &mut &'a [u8]) -> Option<ValueRef<'a>> {
    let length = match kind {
        0 | 8 | 9 => 0,
        1..=4 => kind as usize,
        5 => 6,
        6 | 7 => 8,
        10 | 11 => return None,
        _ => usize::try_from((kind - 12) / 2).ok()?,
    };
    let (bytes, rest) = body.split_at_checked(length)?;
    *body = rest;
    let number = || {
        let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
        bytes.iter().fold(sign, |number, byte| number << 8 | i64::from(*byte))
    };
    Some(match kind {
        0 => ValueRef::Null,
        1..=6 => ValueRef::Integer(number()),
        7 => ValueRef::Real(f64::from_bits(number() as u64)),
        8 | 9 => ValueRef::Integer(kind as i64 - 8),
        _ if kind.is_multiple_of(2) => ValueRef::Blob(bytes),
        _ => ValueRef::Text(bytes),
    })
}

fn be_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_be_bytes(*number))
}

/// Takes a number of one to nine bytes of seven bits, the highest first; a ninth one has eight.
#[inline]
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 1..=9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if place == 9 {
            return Some(number << 8 | u64::from(*byte));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}
