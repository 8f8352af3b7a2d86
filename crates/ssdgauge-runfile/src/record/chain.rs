//! The chain of hashes over all records of a run file: a record that is changed, added or removed later
//! contradicts the link that covers it.
//!
//! A link covers everything that was recorded since the one before it. All of its input is in the file, so
//! that the writer keeps no state, and a resumed run continues the chain.

use crate::record::pages::{Pages, Stop, decode};
use crate::record::{StepId, encode, optional, text};
use crate::schema::MOST_COLUMNS;
use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The tables that links cover, in the order in which they are hashed.
pub(crate) const COVERED: [&str; 13] = [
    "run",
    "drive",
    "environment",
    "step",
    "interval",
    "reading",
    "finding",
    "property",
    "answer",
    "percentile",
    "log_page",
    "digest",
    "outcome",
];

/// How many records of each table are covered. Records are never removed, so this is also the row number of
/// the last one.
pub(crate) type Covers = [i64; COVERED.len()];

/// A SHA-256.
pub(crate) type Hash = [u8; 32];

/// What gets the table, the values and the hashed bytes of a record. The bytes are also those of its checksum.
pub(crate) type Seen<'a> = dyn FnMut(&str, &[ValueRef<'_>], &[u8]) + 'a;

/// One link: what the chain up to it covers, and its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The step at the end of which it was made; `None` at the end of a run.
    pub(crate) step: Option<StepId>,
    pub(crate) covers: Covers,
    pub(crate) hash: Hash,
}

impl Link {
    /// What the first link follows.
    pub(crate) const START: Link = Link { step: None, covers: [0; COVERED.len()], hash: [0; 32] };

    /// Returns the link that covers everything that was recorded since `self`.
    pub(crate) fn next(
        &self,
        connection: &Connection,
        step: Option<StepId>,
    ) -> rusqlite::Result<Link> {
        let covers = recorded(connection)?;
        let by_sqlite = |_: &str| None;
        let hash = self.hash_to(connection, &covers, &by_sqlite, &mut |_, _, _| {})?;
        Ok(Link { step, covers, hash })
    }

    /// Returns the hash of the records after this link, up to those that `covers` counts; `known` returns the
    /// hash of those of a table where it is known. Calls `see` with the table, the values and the hashed bytes of
    /// each record that it reads.
    pub(crate) fn hash_to(
        &self,
        connection: &Connection,
        covers: &Covers,
        known: &dyn Fn(&str) -> Option<Hash>,
        see: &mut Seen<'_>,
    ) -> rusqlite::Result<Hash> {
        let mut chain = Sha256::new_with_prefix(self.hash);
        for (at, table) in COVERED.into_iter().enumerate() {
            let rows = (self.covers[at], covers[at]);
            let hash = known(table).map_or_else(|| hash_of(connection, table, rows, see), Ok);
            chain.update(hash?);
        }
        Ok(chain.finalize().into())
    }

    /// Returns the values of its record.
    pub(crate) fn values(&self) -> Vec<Value> {
        let covers: BTreeMap<_, _> = COVERED.into_iter().zip(self.covers).collect();
        let covers = serde_json::to_string(&covers).expect("numbers by name always serialise");
        let step = optional(self.step.map(|step| Value::Integer(step.0)));
        vec![step, text(covers), Value::Blob(self.hash.to_vec())]
    }

    /// Returns the link with these values; `None` where they are not those of a link.
    pub(crate) fn from_values(step: Option<StepId>, covers: &str, hash: &[u8]) -> Option<Link> {
        let counts: BTreeMap<String, i64> = serde_json::from_str(covers).ok()?;
        let mut covers = [0; COVERED.len()];
        for (count, table) in covers.iter_mut().zip(COVERED) {
            *count = *counts.get(table)?;
        }
        let link = Link { step, covers, hash: hash.try_into().ok()? };
        (counts.len() == COVERED.len()).then_some(link)
    }
}

/// Returns how many records each table has.
fn recorded(connection: &Connection) -> rusqlite::Result<Covers> {
    let mut covers = [0; COVERED.len()];
    for (count, table) in covers.iter_mut().zip(COVERED) {
        let sql = format!("SELECT coalesce(max(rowid), 0) FROM {table}");
        *count = connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
    }
    Ok(covers)
}

/// Returns the hash of the records of `table` after number `from`, up to number `to`, each of which `see` gets.
fn hash_of(
    connection: &Connection,
    table: &str,
    (from, to): (i64, i64),
    see: &mut Seen<'_>,
) -> rusqlite::Result<Hash> {
    let mut records = Records::default();
    if from == to {
        return Ok(records.hash());
    }
    let sql = format!("SELECT * FROM {table} WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid");
    let mut statement = connection.prepare_cached(&sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([from, to])?;
    while let Some(row) = rows.next()? {
        let mut values = [ValueRef::Null; MOST_COLUMNS];
        let values = values.get_mut(..columns).ok_or(rusqlite::Error::InvalidQuery)?;
        for (at, value) in values.iter_mut().enumerate() {
            *value = row.get_ref(at)?;
        }
        records.add(table, values, see);
    }
    Ok(records.hash())
}

/// A table with samples, for a reader of its pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleTable {
    pub(crate) name: &'static str,
    /// Its first page.
    pub(crate) root: u32,
    pub(crate) columns: usize,
    /// The column of real numbers: SQLite stores whole ones as integers.
    pub(crate) real: Option<usize>,
}

/// Returns the hash of the records of `table` from one of the ascending `ends` to the next, from 1 on, and calls
/// `see` with each; `None` where SQLite has to read them.
pub(crate) fn hashes_by_pages(
    pages: &mut Pages,
    table: SampleTable,
    ends: &[i64],
    see: &mut Seen<'_>,
) -> Option<Vec<Hash>> {
    let mut hashes = Vec::with_capacity(ends.len());
    let mut records = Records::default();
    let mut before = 0;
    let stop = pages.rows(table.root, &mut |row, record| {
        while ends.get(hashes.len()).is_some_and(|end| row > *end) {
            hashes.push(records.hash());
        }
        if hashes.len() == ends.len() {
            return Err(Stop::Enough);
        }
        let mut values = [ValueRef::Null; MOST_COLUMNS];
        let n = decode(record, &mut values).filter(|n| *n == table.columns);
        if n.is_none() || row != before + 1 {
            return Err(Stop::Unusual);
        }
        before = row;
        if let Some(value) = table.real.and_then(|at| values.get_mut(at))
            && let ValueRef::Integer(number) = *value
        {
            *value = ValueRef::Real(number as f64);
        }
        records.add(table.name, &values[..table.columns], see);
        Ok(())
    });
    let is_whole = stop != Err(Stop::Unusual) && ends.last().is_none_or(|last| before >= *last);
    while hashes.len() < ends.len() {
        hashes.push(records.hash());
    }
    is_whole.then_some(hashes)
}

/// The records of a table between two links.
#[derive(Default)]
struct Records {
    hash: Sha256,
    /// The bytes of records that are not hashed yet.
    gathered: Vec<u8>,
}

/// The bytes that are gathered before they are hashed: the hasher takes as long for a call as for a hundred bytes.
const GATHERED: usize = 8 << 10;

impl Records {
    /// Adds a record, which `see` gets.
    fn add(&mut self, table: &str, values: &[ValueRef<'_>], see: &mut Seen<'_>) {
        let start = self.gathered.len();
        // The checksum in the last column follows from the others.
        let covered = values[..values.len() - 1].iter().copied();
        encode(covered, |bytes| self.gathered.extend_from_slice(bytes));
        see(table, values, &self.gathered[start..]);
        if self.gathered.len() > GATHERED {
            self.hash.update(&self.gathered);
            self.gathered.clear();
        }
    }

    /// Returns the hash of the records, and begins again without any.
    fn hash(&mut self) -> Hash {
        self.hash.update(&self.gathered);
        self.gathered.clear();
        self.hash.finalize_reset().into()
    }
}

#[cfg(test)]
mod tests;
