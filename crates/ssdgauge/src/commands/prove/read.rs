//! `ssdgauge prove --read`: what a drive, or an image of it, still holds of an earlier proof.

use super::card;
use crate::failure::{Failure, FailureKind};
use crate::process::{self, StopFlag};
use crate::restriction;
use serde::Serialize;
use ssdgauge_core::proof::PROOF_BLOCK;
use ssdgauge_core::{Bytes, Nanos, TargetKind, rounded};
use ssdgauge_host::DriveReader;
use ssdgauge_lab::{ConductError, Fate, Fated, Recorded};
use ssdgauge_runfile::RunFile;
use ssdgauge_watch::terminal;
use ssdgauge_watch::terminal::live_lines::LiveLines;
use std::path::Path;

/// Reads what the proof in `file` wrote to `target`. Nothing is written.
///
/// # Errors
///
/// Fails where `file` is not a proof, `target` cannot be read or has another size, blocks are lost, or the
/// read is interrupted.
pub(super) fn execute(file: &Path, target: &str, as_json: bool) -> Result<(), Failure> {
    let usage = |error: String, hint: &str| Failure::new(FailureKind::Usage, error, hint);
    let mut reader = DriveReader::open_image(Path::new(target)).map_err(|error| {
        let text = format!("cannot read {target}: {error}");
        usage(text, "nothing was written; name the drive of the proof, or an image of it")
    })?;
    // The run file can come from a stranger, and nothing but the open target is needed from here on.
    restriction::confine_to_read(file)?;
    let run = RunFile::open(file)?;
    let Some(recorded) = Recorded::read(&run)? else {
        let error = format!("{} is not the run file of a proof", file.display());
        return Err(usage(error, "name the file that `ssdgauge prove` wrote"));
    };
    run.check_chain()?;
    if run.head().drive.kind != TargetKind::Block {
        let error = format!("{} is not a proof of a drive", file.display());
        return Err(usage(error, "a virtual drive and a scratch file end with their run"));
    }
    let stated = Bytes(recorded.settings.capacity_bytes);
    if reader.size() != stated {
        return Err(Failure::new(
            FailureKind::Refused,
            format!(
                "{target} has {}; the proof wrote to a drive of {}",
                reader.size().about_and_exact(),
                stated.about_and_exact()
            ),
            "nothing was written; name the drive of the proof, or a whole image of it",
        ));
    }
    let stop = StopFlag::new();
    stop.listen()?;
    let lines = LiveLines::of_stderr();
    let result = ssdgauge_lab::read_kept(&recorded, &mut reader, &mut |done, most| {
        if lines.is_due() {
            lines.show(vec![format!(
                "reading what was written: {} of {}",
                done.about(),
                most.about()
            )]);
        }
        !stop.is_set()
    });
    lines.remove();
    let now = process::unix_ms();
    let Some(fates) = result.map_err(ConductError::from)? else {
        let hint = "nothing was written; read again from the start with the same command";
        return Err(Failure::new(FailureKind::Interrupted, "interrupted", hint));
    };
    match as_json {
        true => terminal::print_document(&document(&fates, target, file, now)),
        false => terminal::print_text(&text_of(&fates, target, reader.is_block(), now)),
    }
    judge(&fates, target)
}

/// Returns the failure of a target that does not hold what was written.
fn judge(fates: &[Fated], target: &str) -> Result<(), Failure> {
    let sum = |is_counted: fn(Fate) -> bool| -> u64 {
        fates.iter().filter(|one| is_counted(one.fate)).map(|one| one.blocks).sum()
    };
    let lost = sum(Fate::is_loss);
    let all = sum(|_| true);
    match lost {
        0 => Ok(()),
        lost => Err(Failure::new(
            FailureKind::Criterion,
            format!(
                "{} of {} blocks on {target} do not hold what was written there",
                rounded::count(lost),
                rounded::count(all)
            ),
            "other causes than the drive: another program wrote to it, or it is another drive",
        )),
    }
}

fn text_of(fates: &[Fated], target: &str, is_block: bool, now: i64) -> String {
    let kind = if is_block { "block device" } else { "image" };
    let mut facts = vec![("target", format!("{target} ({kind}), read only"))];
    if fates.is_empty() {
        facts.push(("result", "the proof had written nothing".to_owned()));
    }
    for one in fates {
        let (label, meaning) = meaning(one.fate);
        facts.push((
            label,
            format!(
                "{} blocks of 4 KiB, {}; the first at byte {}; {meaning}",
                rounded::count(one.blocks),
                age(one, now),
                rounded::count(one.first * PROOF_BLOCK.0)
            ),
        ));
    }
    card::lines(&facts)
}

fn meaning(fate: Fate) -> (&'static str, &'static str) {
    match fate {
        Fate::Kept => ("kept", "as written last"),
        Fate::Lost => ("lost", "zeros, ones or foreign data"),
        Fate::Torn => ("torn", "a part of what was written"),
        Fate::Stale => ("stale", "what was written there before"),
        Fate::Misplaced => ("misplaced", "the block of another address"),
        Fate::Unreadable => ("unreadable", "the read failed"),
        Fate::Unsettled => ("unsettled", "being written as the proof ended, so not counted"),
    }
}

/// Returns how long ago the blocks were written.
fn age(one: &Fated, now: i64) -> String {
    let since = |written: i64| {
        Nanos((now.saturating_sub(written).max(0) as u64).saturating_mul(1_000_000)).about()
    };
    let (oldest, newest) = one.written_unix_ms;
    match (since(oldest), since(newest)) {
        (oldest, newest) if oldest == newest => format!("written {oldest} ago"),
        (oldest, newest) => format!("written {newest} to {oldest} ago"),
    }
}

/// `prove --read --json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Document<'a> {
    /// Raised by an incompatible change.
    schema_version: u32,
    /// The target as it was named.
    target: &'a str,
    /// The file of the proof.
    run_file: String,
    /// The blocks of each fate.
    blocks: Vec<Blocks>,
}

/// The blocks of one fate.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Blocks {
    /// `kept`, `lost`, `torn`, `stale`, `misplaced` or `unreadable`.
    #[cfg_attr(test, schemars(with = "String"))]
    fate: Fate,
    /// Their number.
    blocks: u64,
    /// The first byte of the first of them.
    first_offset: u64,
    /// When the first and the last of them were written.
    written_unix_ms: [i64; 2],
    /// Since the last and the first of these.
    age_ms: [i64; 2],
}

fn document<'a>(fates: &[Fated], target: &'a str, file: &Path, now: i64) -> Document<'a> {
    let blocks = fates.iter().map(|one| {
        let (oldest, newest) = one.written_unix_ms;
        Blocks {
            fate: one.fate,
            blocks: one.blocks,
            first_offset: one.first * PROOF_BLOCK.0,
            written_unix_ms: [oldest, newest],
            age_ms: [now - newest, now - oldest],
        }
    });
    Document {
        schema_version: 1,
        target,
        run_file: file.display().to_string(),
        blocks: blocks.collect(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_published_schema_is_that_of_the_types() {
        crate::published::check::<super::Document<'static>>("prove-read.json");
    }
}
