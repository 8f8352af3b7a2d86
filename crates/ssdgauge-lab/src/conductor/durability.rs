//! Durability of the records: waits for room on the file system, and for readers of the run file.

use super::Watcher;
use ssdgauge_core::{Finding, FindingKind, Nanos, Severity};
use ssdgauge_runfile::{RunFileError, Writer};

/// Makes all records of `writer` durable. Waits for readers of the run file as long as the watcher
/// permits; returns a finding where that took a second or longer.
pub(super) fn commit(
    writer: &mut Writer,
    watcher: &mut dyn Watcher,
) -> Result<Option<Finding>, RunFileError> {
    let mut since = None;
    loop {
        match writer.commit() {
            Err(RunFileError::BeingRead(path)) => {
                since = since.or_else(|| Some(watcher.unix_ms()));
                if !watcher.wait_for_reader() {
                    return Err(RunFileError::BeingRead(path));
                }
            }
            result => {
                let waited = since.map(|since| time_since(since, watcher));
                let finding = waited.filter(|waited| *waited >= Nanos::SECOND).map(|waited| {
                    Finding::new(
                        FindingKind::ResultsRead,
                        Severity::Note,
                        format!(
                            "another process read the run file for {}; no data was lost",
                            waited.about()
                        ),
                        "the drive was idle meanwhile: copy the file, and read the copy",
                    )
                });
                return result.map(|()| finding);
            }
        }
    }
}

/// Waits until the file system of the run file has room, or the watcher ends the wait; returns a
/// finding where it was full.
///
/// Called before each commit at the border of a step: a commit that fails loses its records, a wait
/// loses nothing.
pub(super) fn wait_for_room(
    writer: &mut Writer,
    watcher: &mut dyn Watcher,
) -> Result<Option<Finding>, RunFileError> {
    if writer.has_room()? {
        return Ok(None);
    }
    let since = watcher.unix_ms();
    while watcher.wait_for_room() {
        if writer.has_room()? {
            let waited = time_since(since, watcher);
            return Ok(Some(Finding::new(
                FindingKind::ResultsFull,
                Severity::Note,
                format!(
                    "the results file system was full for {}; no data was lost",
                    waited.about()
                ),
                "the drive was idle meanwhile: provide more space for the results",
            )));
        }
    }
    Err(writer.shortage())
}

/// Returns the time since `since`, 0 where the clock was set back meanwhile.
fn time_since(since: i64, watcher: &mut dyn Watcher) -> Nanos {
    Nanos((watcher.unix_ms() - since).max(0) as u64 * 1_000_000)
}
