//! The chain of hashes over all records of a run file: a record that is changed, added or removed later
//! contradicts the link that covers it.
//!
//! A link covers everything that was recorded since the one before it. All of its input is in the file, so
//! that the writer keeps no state, and a resumed run continues the chain.

use crate::record::{StepId, encode, optional, text};
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

/// A table has at most so many columns.
pub(crate) const MOST_COLUMNS: usize = 16;

/// How many records of each table are covered. Records are never removed, so this is also the row number of
/// the last one.
pub(crate) type Covers = [i64; COVERED.len()];

/// What gets the table, the values and the hashed bytes of a record. The bytes are also those of its checksum.
pub(crate) type Seen<'a> = dyn FnMut(&str, &[ValueRef<'_>], &[u8]) + 'a;

/// One link: what the chain up to it covers, and its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The step at the end of which it was made; `None` at the end of a run.
    pub(crate) step: Option<StepId>,
    pub(crate) covers: Covers,
    pub(crate) hash: [u8; 32],
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
        Ok(Link { step, covers, hash: self.hash_to(connection, &covers, &mut |_, _, _| {})? })
    }

    /// Returns the hash of the records after this link, up to those that `covers` counts. Calls `see` with the
    /// table, the values and the hashed bytes of each of them.
    pub(crate) fn hash_to(
        &self,
        connection: &Connection,
        covers: &Covers,
        see: &mut Seen<'_>,
    ) -> rusqlite::Result<[u8; 32]> {
        let mut chain = Sha256::new_with_prefix(self.hash);
        for (at, table) in COVERED.into_iter().enumerate() {
            let rows = (self.covers[at], covers[at]);
            chain.update(hash_of(connection, table, rows, see)?);
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
) -> rusqlite::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    if from == to {
        return Ok(hash.finalize().into());
    }
    let sql = format!("SELECT * FROM {table} WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid");
    let mut statement = connection.prepare_cached(&sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([from, to])?;
    let mut gathered = Vec::new();
    while let Some(row) = rows.next()? {
        let mut values = [ValueRef::Null; MOST_COLUMNS];
        let values = values.get_mut(..columns).ok_or(rusqlite::Error::InvalidQuery)?;
        for (at, value) in values.iter_mut().enumerate() {
            *value = row.get_ref(at)?;
        }
        // The checksum in the last column follows from the others.
        let covered = values[..columns - 1].iter().copied();
        encode(covered, |bytes| gathered.extend_from_slice(bytes));
        hash.update(&gathered);
        see(table, values, &gathered);
        gathered.clear();
    }
    Ok(hash.finalize().into())
}
