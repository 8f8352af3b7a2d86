//! The index of a library: the number of each run, and what each file held when it was last read.
//!
//! It is a text of JSON lines. Numbers have lines of their own: they are kept when a file vanishes, moves or changes, and
//! when another version of the program reads every file again.

use super::facts::Content;
use super::scan::Found;
use crate::build_identity;
use crate::failure::Failure;
use crate::output::{self, Format};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name of the index in its folder.
const NAME: &str = ".ssdgauge-index";
/// The version of the lines.
const FORMAT: u32 = 1;
/// The largest index that is read, in bytes: a million runs.
const MAX_BYTES: u64 = 1 << 30;
/// The time for which another process may hold the lock, which it does while it writes the index.
const PATIENCE: Duration = Duration::from_secs(5);

/// A line of the index. The first one has the versions.
#[derive(Debug, Serialize, Deserialize)]
enum Line {
    /// The head.
    #[serde(rename = "ssdgauge-index")]
    Head {
        format: u32,
        /// The program that read the files.
        program: String,
        /// The number of the next run.
        next: u32,
    },
    /// The number of a run.
    #[serde(rename = "ssdgauge-number")]
    Number { number: u32, id: String },
    /// What a file held.
    #[serde(rename = "ssdgauge-file")]
    File(Box<Row>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    /// The number of its run once more, for an index whose other line is damaged.
    number: Option<u32>,
    name: String,
    size: u64,
    changed_ns: i64,
    content: Content,
}

/// The index, as it was read and as it changes.
#[derive(Debug)]
pub(super) struct Index {
    program: String,
    next: u32,
    numbers: BTreeMap<String, u32>,
    rows: BTreeMap<PathBuf, Row>,
    /// Whether it differs from the file.
    is_changed: bool,
    /// Whether a newer program wrote it, whose lines this one would lose.
    is_newer: bool,
}

impl Index {
    /// Reads the index of `folder`; an empty one where there is none. Lines that are damaged are left out.
    pub(super) fn load(folder: &Path) -> Index {
        let program = build_identity::program();
        let mut index = Index {
            program: program.clone(),
            next: 1,
            numbers: BTreeMap::new(),
            rows: BTreeMap::new(),
            is_changed: false,
            is_newer: false,
        };
        let mut read_by = String::new();
        for line in text(folder).lines() {
            match serde_json::from_str(line) {
                Ok(Line::Head { program, next, format }) => {
                    index.is_newer |= format > FORMAT;
                    (read_by, index.next) = (program, index.next.max(next));
                }
                Ok(Line::Number { number, id }) => index.set_number(&id, number),
                Ok(Line::File(row)) => {
                    if let (Some(number), Some(facts)) = (row.number, row.content.facts()) {
                        index.set_number(&facts.id, number);
                    }
                    index.rows.insert(PathBuf::from(&row.name), *row);
                }
                Err(_) => index.is_changed = true,
            }
        }
        if read_by != program {
            // Another program may find other things in the same files.
            index.is_changed |= !index.rows.is_empty();
            index.rows.clear();
        }
        index
    }

    fn set_number(&mut self, id: &str, number: u32) {
        self.next = self.next.max(number.saturating_add(1));
        self.numbers.entry(id.to_owned()).or_insert(number);
    }

    /// Keeps what is known of `files` and forgets every other file. Returns those that have to be read.
    pub(super) fn take(&mut self, files: &[Found]) -> Vec<Found> {
        let present: BTreeSet<&PathBuf> = files.iter().map(|file| &file.name).collect();
        let before = self.rows.len();
        self.rows.retain(|name, _| present.contains(name));
        self.is_changed |= self.rows.len() != before;
        let is_known = |file: &&Found| {
            let row = self.rows.get(&file.name);
            row.is_some_and(|row| (row.size, row.changed_ns) == (file.size, file.changed_ns))
        };
        files.iter().filter(|file| !is_known(file)).cloned().collect()
    }

    /// Adds what `file` holds.
    pub(super) fn add(&mut self, file: &Found, content: Content) {
        // A file that another program writes is read again next time; so is one whose name no line can have.
        let is_lasting = content.is_lasting() && file.is_named_in_utf8();
        self.is_changed |= is_lasting;
        let name = file.name.to_string_lossy().into_owned();
        let changed_ns = if is_lasting { file.changed_ns } else { i64::MIN };
        self.rows.insert(
            file.name.clone(),
            Row { number: None, name, size: file.size, changed_ns, content },
        );
    }

    /// Returns what `file` holds, which was taken or added.
    pub(super) fn content(&self, file: &Found) -> Content {
        self.rows[&file.name].content.clone()
    }

    /// Returns the number of the run `id`.
    pub(super) fn number(&self, id: &str) -> Option<u32> {
        self.numbers.get(id).copied()
    }

    /// Returns the numbers of runs that no file holds, ascending.
    pub(super) fn gone(&self) -> Vec<u32> {
        let facts = self.rows.values().filter_map(|row| row.content.facts());
        let held: BTreeSet<&str> = facts.map(|facts| facts.id.as_str()).collect();
        let gone = self.numbers.iter().filter(|(id, _)| !held.contains(id.as_str()));
        let mut gone: Vec<u32> = gone.map(|(_, number)| *number).collect();
        gone.sort_unstable();
        gone
    }

    /// Gives the runs without a number theirs, in the order of their starts, and writes the index where it changed.
    ///
    /// # Errors
    ///
    /// The folder cannot be written, or another process holds its lock. No run has got a number then.
    pub(super) fn store(&mut self, folder: &Path) -> Result<(), String> {
        if !self.is_changed && self.unnumbered().is_empty() {
            return Ok(());
        }
        if self.is_newer {
            return Err("a newer ssdgauge wrote the index".to_owned());
        }
        let lock = lock(folder)?;
        // Another process may have given numbers since.
        let current = Index::load(folder);
        let (next, numbers) = (self.next, self.numbers.clone());
        self.next = self.next.max(current.next);
        self.numbers.extend(current.numbers);
        for (_, id) in self.unnumbered() {
            self.numbers.insert(id, self.next);
            self.next += 1;
        }
        let written = self.write(folder);
        drop(lock);
        if written.is_err() {
            (self.next, self.numbers) = (next, numbers);
        }
        written.map_err(|failure| failure.error)
    }

    /// Returns start and identity of the runs that have no number, in this order.
    fn unnumbered(&self) -> BTreeSet<(i64, String)> {
        let facts = self.rows.values().filter_map(|row| row.content.facts());
        let without = facts.filter(|facts| !self.numbers.contains_key(&facts.id));
        without.map(|facts| (facts.started_unix_ms, facts.id.clone())).collect()
    }

    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let mut lines =
            vec![Line::Head { format: FORMAT, program: self.program.clone(), next: self.next }];
        let mut numbers: Vec<(&String, u32)> =
            self.numbers.iter().map(|(id, number)| (id, *number)).collect();
        numbers.sort_by_key(|(_, number)| *number);
        lines.extend(
            numbers.iter().map(|(id, number)| Line::Number { number: *number, id: (*id).clone() }),
        );
        let lasting = self.rows.values().filter(|row| row.changed_ns != i64::MIN);
        lines.extend(lasting.cloned().map(|row| {
            let number = row.content.facts().and_then(|facts| self.number(&facts.id));
            Line::File(Box::new(Row { number, ..row }))
        }));
        output::write_with(&folder.join(NAME), Format::Index, &[], |file| {
            let mut file = std::io::BufWriter::new(file);
            for line in &lines {
                serde_json::to_writer(&mut file, line)?;
                file.write_all(b"\n")?;
            }
            file.flush()
        })
    }
}

/// Returns the text of the index; empty where it cannot be read.
fn text(folder: &Path) -> String {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read =
        File::open(folder.join(NAME)).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
    match read {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(),
    }
}

/// Locks `folder` for the one process that writes its index.
fn lock(folder: &Path) -> Result<Option<File>, String> {
    /// The time between two tries.
    const PAUSE: Duration = Duration::from_millis(20);
    if cfg!(windows) {
        // It opens no folder as a file: as on NFS, below.
        return Ok(None);
    }
    let file = File::open(folder).map_err(|error| error.to_string())?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => {
                std::thread::sleep(PAUSE)
            }
            Err(TryLockError::WouldBlock) => {
                return Err(format!("another process holds the lock of {}", folder.display()));
            }
            // NFS locks no folder. The rename alone keeps the index whole; two processes at the same moment could
            // give one number twice there, and the one that is second wins.
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}
