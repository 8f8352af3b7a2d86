//! What earlier calls for the same site have read: a record for each run file, and the runs of each report.

use super::targets;
use crate::build_identity;
use crate::failure::Failure;
use crate::output::{Format, Staged};
use serde::{Deserialize, Serialize};
use ssdgauge_analysis::bench::record::Record;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How the file begins.
const HEAD: &str = "{\"ssdgauge-site\":";

/// A line of the file. The first one has the program: another one may find other numbers in the same runs.
#[derive(Serialize, Deserialize)]
enum Line {
    #[serde(rename = "ssdgauge-site")]
    Head { program: String },
    #[serde(rename = "run")]
    Run(String, Stamp, Box<Record>),
    #[serde(rename = "report")]
    Report(String, Vec<String>),
}

/// The length of a file in bytes and its last change in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp(u64, i64);

/// What is known.
pub(super) struct Known {
    program: String,
    runs: BTreeMap<PathBuf, (Stamp, Record)>,
    reports: BTreeMap<String, Vec<String>>,
}

fn stamp(path: &Path) -> Option<Stamp> {
    let facts = path.metadata().ok()?;
    Some(Stamp(facts.len(), facts.mtime().saturating_mul(1_000_000_000) + facts.mtime_nsec()))
}

/// Returns the path of the file: next to the site, because it names files of this machine.
fn place(folder: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(".ssdgauge-site");
    folder.with_file_name(name)
}

/// Returns whether the regular file at `place` is neither what this module writes nor a run file: a damaged one, whose
/// name is ours.
fn is_damaged(place: &Path) -> bool {
    let mut head = Vec::new();
    let is_file = place.symlink_metadata().is_ok_and(|facts| facts.is_file());
    let mut read = || std::fs::File::open(place)?.take(4_096).read_to_end(&mut head);
    let is_read = is_file && read().is_ok();
    is_read && !head.starts_with(b"SQLite format 3\0") && !head.starts_with(HEAD.as_bytes())
}

impl Known {
    /// Checks that [`Known::stage`] can write for the site in `folder`.
    ///
    /// # Errors
    ///
    /// As [`targets::check`]; a damaged file is replaced.
    pub(super) fn check(folder: &Path) -> Result<(), Failure> {
        let place = place(folder);
        if is_damaged(&place) { Ok(()) } else { targets::check(&place, Format::Site) }
    }

    /// Reads what is known for the site in `folder`; nothing where another program wrote it, or where it is damaged. A record
    /// that no run has is not known: its file is read again.
    pub(super) fn load(folder: &Path, now_unix_ms: i64) -> Known {
        let program = build_identity::program();
        let mut known =
            Known { program: program.clone(), runs: BTreeMap::new(), reports: BTreeMap::new() };
        let place = place(folder);
        // A FIFO would be waited for.
        let is_file = place.metadata().is_ok_and(|facts| facts.is_file());
        let text = is_file.then(|| std::fs::read_to_string(&place).ok()).flatten();
        let text = text.unwrap_or_default();
        let mut lines = text.lines().map_while(|line| serde_json::from_str(line).ok());
        if !matches!(lines.next(), Some(Line::Head { program: other }) if other == program) {
            return known;
        }
        for line in lines {
            match line {
                Line::Head { .. } => {}
                Line::Run(_, _, record) if record.check(now_unix_ms).is_err() => {}
                Line::Run(file, stamp, record) => {
                    known.runs.insert(file.into(), (stamp, *record));
                }
                Line::Report(slug, runs) => {
                    known.reports.insert(slug, runs);
                }
            }
        }
        known
    }

    /// Returns those of `files` that have to be read, and forgets all others.
    pub(super) fn unread(&mut self, files: &[PathBuf]) -> Vec<PathBuf> {
        let mut known = std::mem::take(&mut self.runs);
        let mut unread = Vec::new();
        for file in files {
            match known.remove(file).filter(|(then, _)| stamp(file) == Some(*then)) {
                Some(run) => {
                    self.runs.insert(file.clone(), run);
                }
                None => unread.push(file.clone()),
            }
        }
        unread
    }

    /// Adds what `file` holds.
    pub(super) fn add(&mut self, file: &Path, record: Record) {
        // Through its text, as every later call will have it: numbers may differ in their last bit.
        let text = serde_json::to_string(&record).ok();
        let record = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(record);
        if let Some(stamp) = stamp(file) {
            // Its report is of another state of the run.
            self.reports.retain(|_, runs| !runs.contains(&record.id));
            self.runs.insert(file.to_owned(), (stamp, record));
        }
    }

    /// Returns what `file` holds; `None` where it could not be read.
    pub(super) fn record(&self, file: &Path) -> Option<&Record> {
        self.runs.get(file).map(|(_, record)| record)
    }

    /// Forgets what `file` holds.
    pub(super) fn forget(&mut self, file: &Path) {
        self.runs.remove(file);
    }

    /// Returns whether the report of a drive was made from `runs` as they are.
    pub(super) fn has_report(&self, slug: &str, runs: &[String]) -> bool {
        self.reports.get(slug).is_some_and(|known| known == runs)
    }

    /// States that the report of a drive was made from `runs`.
    pub(super) fn set_report(&mut self, slug: &str, runs: Vec<String>) {
        self.reports.insert(slug.to_owned(), runs);
    }

    /// Returns the number of known files below `folder`.
    pub(super) fn count_below(&self, folder: &Path) -> usize {
        self.runs.keys().filter(|file| file.starts_with(folder)).count()
    }

    /// Stages it for the next call.
    ///
    /// # Errors
    ///
    /// As [`Staged::write`].
    pub(super) fn stage(&self, folder: &Path) -> Result<Staged, Failure> {
        let head = Line::Head { program: self.program.clone() };
        let runs = self.runs.iter().filter_map(|(file, (stamp, record))| {
            Some(Line::Run(file.to_str()?.to_owned(), *stamp, Box::new(record.clone())))
        });
        let reports =
            self.reports.iter().map(|(slug, runs)| Line::Report(slug.clone(), runs.clone()));
        let place = place(folder);
        if is_damaged(&place) {
            // One that cannot be removed is the error of the write.
            let _ = std::fs::remove_file(&place);
        }
        Staged::write(&place, Format::Site, &[], |file| {
            let mut file = std::io::BufWriter::new(file);
            for line in [head].into_iter().chain(runs).chain(reports) {
                serde_json::to_writer(&mut file, &line)?;
                file.write_all(b"\n")?;
            }
            file.flush()
        })
    }
}
