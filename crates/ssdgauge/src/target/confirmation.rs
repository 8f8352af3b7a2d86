//! The confirmation of a drive whose data would be lost, typed at the terminal.

use crate::failure::Failure;
use ssdgauge_core::DriveInfo;
use ssdgauge_guard::{Candidate, Refusal, TargetError, TargetOptions};
use ssdgauge_watch::terminal;
use std::io::BufRead;

/// The confirmations that were typed at the terminal.
#[derive(Debug, Default)]
pub(super) struct TypedConfirmation {
    pub(super) confirm: Option<String>,
    pub(super) erase: Option<String>,
}

/// The minimum number of final characters of a serial that are accepted at the terminal.
const MIN_TYPED: usize = 4;
/// The time to cancel after all checks, in seconds.
const COUNTDOWN_S: u32 = 5;

/// Prints which data would be lost, and reads the confirmation from the terminal. A drive that is
/// refused whatever is confirmed is refused before the prompt.
pub(super) fn prompt(
    candidate: &Candidate,
    given: &TargetOptions<'_>,
    about: &str,
) -> Result<TypedConfirmation, Failure> {
    let info = &candidate.info;
    let Some(expected) = candidate.confirmation() else { return Ok(TypedConfirmation::default()) };
    let (objections, _) = candidate.objections(given);
    let final_refusal = objections.iter().find(|objection| !objection.needs_only_confirmation());
    if let Some(refusal) = final_refusal {
        return Err(TargetError::Refused(refusal.clone()).into());
    }
    let drive = of_drive(info, &objections);
    terminal::print_lines(about.lines().chain([""]).chain(drive.iter().map(String::as_str)));
    terminal::print_alarm(&format!("  ! ALL DATA ON {} WILL BE LOST", info.target));
    terminal::print_message(&format!(
        "Type {expected} (or at least its last {MIN_TYPED} characters) to erase it; Ctrl-C: nothing is \
         written:"
    ));
    let confirm = Some(read_confirmation(expected));
    let mut erase = None;
    let may_erase = given.erase.is_some();
    for objection in
        objections.iter().filter(|_| !may_erase && confirm.as_deref() == Some(expected))
    {
        terminal::print_lines([
            format!("{objection}."),
            format!("Type {expected} again to allow erasing this data:"),
        ]);
        erase = Some(read_confirmation(expected));
    }
    if confirm.as_deref() == Some(expected) {
        count_down();
    }
    Ok(TypedConfirmation { confirm, erase })
}

/// Returns the lines about the drive whose data would be lost: identity, and what was found on it.
fn of_drive(info: &DriveInfo, objections: &[Refusal]) -> Vec<String> {
    let mut facts = vec![info.model.clone().unwrap_or_else(|| "unknown model".into())];
    facts.push(match &info.serial {
        Some(serial) => format!("serial {serial}"),
        None => "no serial".to_owned(),
    });
    facts.extend(info.firmware.iter().map(|firmware| format!("firmware {firmware}")));
    let size = info.capacity.about();
    facts.push(match info.whole_capacity() {
        Some(whole) if whole > info.capacity => format!("the first {size} of {}", whole.about()),
        Some(_) | None => size,
    });
    let found = objections.iter().map(|one| format!("  found: {one}"));
    std::iter::once(format!("  {}", facts.join(", "))).chain(found).collect()
}

/// Reads a line from stdin; the last [`MIN_TYPED`] or more characters of `expected` count as all of
/// it.
fn read_confirmation(expected: &str) -> String {
    let mut line = String::new();
    // An input that cannot be read is an empty line, which confirms nothing.
    let _ = std::io::stdin().lock().read_line(&mut line);
    let line = line.trim();
    let suffices = line.chars().count() >= MIN_TYPED && expected.ends_with(line);
    if suffices { expected.to_owned() } else { line.to_owned() }
}

/// Counts down before the first write. Ctrl-C stops the run, which has written nothing.
fn count_down() {
    for left in (1..=COUNTDOWN_S).rev() {
        terminal::print_message(&format!("Writing starts in {left} s; Ctrl-C cancels."));
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}
