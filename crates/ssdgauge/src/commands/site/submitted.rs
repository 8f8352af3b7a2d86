//! The submissions of a site: read, and compared with each other and with the run files.

use super::known::Known;
use crate::failure::{Failure, FailureKind};
use crate::terminal;
use ssdgauge_analysis::bench::record::Record;
use ssdgauge_analysis::bench::submission::{MAX_BYTES, Submission, contradiction};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How the names of submissions end.
pub(super) const SUFFIX: &str = ".ssdgauge.json";

pub(super) fn is_submission(file: &Path) -> bool {
    file.as_os_str().as_encoded_bytes().ends_with(SUFFIX.as_bytes())
}

/// Returns the record of a submission, or why there is none.
pub(super) fn read(file: &Path) -> Result<Record, String> {
    // Nobody may ever write to a FIFO: it is not opened.
    if !file.metadata().map_err(|error| error.to_string())?.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(|error| error.to_string())?;
    opened.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_BYTES {
        return Err("it is longer than 1 MiB".to_owned());
    }
    Ok(Submission::parse(&text)?.record)
}

/// Leaves out the submissions that say something else than the samples of their own run, whose file is there too.
pub(super) fn refuse_contradictions(known: &mut Known, files: &[PathBuf]) {
    let of_runs: BTreeMap<String, Record> = files
        .iter()
        .filter(|file| !is_submission(file))
        .filter_map(|file| known.record(file))
        .map(|record| (record.id.clone(), record.clone()))
        .collect();
    for file in files.iter().filter(|file| is_submission(file)) {
        let Some(record) = known.record(file) else { continue };
        let computed = of_runs.get(&record.id);
        if let Some(what) = computed.and_then(|computed| contradiction(record, computed)) {
            terminal::print_message(&format!(
                "{}: refused: the samples of its run contradict it: {what}",
                file.display()
            ));
            known.forget(file);
        }
    }
}

/// Checks that all submissions of one run say the same: nothing tells which of them is right.
///
/// # Errors
///
/// Fails where two differ.
pub(super) fn check_agreement(known: &Known, files: &[PathBuf]) -> Result<(), Failure> {
    let mut first: BTreeMap<&str, (&PathBuf, &Record)> = BTreeMap::new();
    let submitted = files.iter().filter(|file| is_submission(file));
    for (file, record) in submitted.filter_map(|file| Some((file, known.record(file)?))) {
        let (other, same) = first.entry(&record.id).or_insert((file, record));
        if *same != record {
            let (other, file) = (other.display(), file.display());
            let text = format!("{other} and {file} have the same run id and differ");
            let hint = "nothing was written; remove the one that is wrong";
            return Err(Failure::new(FailureKind::Failed, text, hint));
        }
    }
    Ok(())
}
