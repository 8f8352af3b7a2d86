//! The submissions of a site: read, and compared with each other and with the run files.

use super::known::Known;
use ssdgauge_analysis::bench::record::Record;
use ssdgauge_analysis::bench::submission::{MAX_BYTES, Submission, contradiction};
use ssdgauge_watch::terminal;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// How the names of submissions end.
pub(super) const SUFFIX: &str = ".ssdgauge.json";

pub(super) fn is_submission(file: &Path) -> bool {
    file.as_os_str().as_encoded_bytes().ends_with(SUFFIX.as_bytes())
}

/// Returns the record of a submission, or why there is none.
pub(super) fn read(file: &Path, now_unix_ms: i64) -> Result<Record, String> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::InvalidData => "it is not a text in UTF-8".to_owned(),
        _ => format!("it cannot be read: {error}"),
    };
    // Nobody may ever write to a FIFO: it is not opened.
    if !file.metadata().map_err(failed)?.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(failed)?;
    opened.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_BYTES {
        return Err("it is longer than 1 MiB".to_owned());
    }
    Ok(Submission::parse(&text, now_unix_ms)?.record)
}

/// Leaves out the submissions that cannot be right, and states why: those that contradict the samples of their own run, and
/// several of which nothing tells which one is right.
pub(super) fn refuse_contradictions(known: &mut Known, files: &[PathBuf]) {
    for find in [contradicted, differing, copied] {
        for (file, why) in find(known, files) {
            state(&file, &why);
            known.forget(&file);
        }
    }
}

/// States why a submission is not on the site.
pub(super) fn state(file: &Path, why: &str) {
    terminal::print_message(&format!("{}: refused: {why}", file.display()));
}

/// A file with the reason why it is refused.
type Refused = (PathBuf, String);

fn submissions<'a>(
    known: &'a Known,
    files: &'a [PathBuf],
) -> impl Iterator<Item = (&'a PathBuf, &'a Record)> {
    let own = files.iter().filter(|file| is_submission(file));
    own.filter_map(|file| Some((file, known.record(file)?)))
}

/// Returns the submissions that say something else than the samples of their own run, whose file is there too.
fn contradicted(known: &Known, files: &[PathBuf]) -> Vec<Refused> {
    let runs = files.iter().filter(|file| !is_submission(file));
    let of_runs: BTreeMap<&str, &Record> = runs
        .filter_map(|file| known.record(file))
        .map(|record| (record.id.as_str(), record))
        .collect();
    let refused = submissions(known, files).filter_map(|(file, record)| {
        let what = contradiction(record, of_runs.get(record.id.as_str())?)?;
        Some((file.clone(), format!("the samples of its run contradict it: {what}")))
    });
    refused.collect()
}

/// Returns the submissions of one run that differ.
fn differing(known: &Known, files: &[PathBuf]) -> Vec<Refused> {
    let run = |record: &Record| Some(record.id.clone());
    several(known, files, &run, &|one, other| one != other, "has the same run id and differs")
}

/// Returns the submissions of measured drives with the same numbers under another run id. Equal virtual drives have equal
/// numbers; two runs of real ones never have.
fn copied(known: &Known, files: &[PathBuf]) -> Vec<Refused> {
    let numbers = |record: &Record| {
        let is_measured = !record.marks.iter().any(|mark| mark == "MODEL");
        is_measured.then(|| serde_json::to_string(&record.tests).ok()).flatten()
    };
    let why = "has another run id and the same numbers to the last digit";
    several(known, files, &numbers, &|one, other| one.id != other.id, why)
}

/// Returns the submissions for which there is another one with the same `key` that differs by `is_other`.
fn several(
    known: &Known,
    files: &[PathBuf],
    key: &dyn Fn(&Record) -> Option<String>,
    is_other: &dyn Fn(&Record, &Record) -> bool,
    why: &str,
) -> Vec<Refused> {
    let mut alike: BTreeMap<String, Vec<(&PathBuf, &Record)>> = BTreeMap::new();
    for (file, record) in submissions(known, files) {
        if let Some(key) = key(record) {
            alike.entry(key).or_default().push((file, record));
        }
    }
    let mut refused = Vec::new();
    for group in alike.values() {
        for (file, record) in group {
            if let Some((other, _)) = group.iter().find(|(_, other)| is_other(record, other)) {
                let other = other.display();
                refused.push((
                    (*file).clone(),
                    format!("{other} {why}: nothing tells which is right"),
                ));
            }
        }
    }
    refused
}
