//! `ssdgauge drives --from`: drives described from stored outputs of smartctl or nvme-cli.

use super::drive_description;
use crate::failure::{Failure, FailureKind};
use ssdgauge_drive::{MAX_LENGTH, describe_stored};
use ssdgauge_watch::terminal;
use ssdgauge_watch::terminal::colour::Paint;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Prints each drive of `files`, as an attached one is printed. A file without a drive does not keep the others
/// from being printed.
///
/// # Errors
///
/// Fails where a file describes no drive.
pub(crate) fn print(files: &[PathBuf], as_json: bool) -> Result<(), Failure> {
    let (width, paint) = (terminal::width::columns(), Paint::of_stdout());
    let mut failures = Vec::new();
    let mut is_first = true;
    for file in files {
        let name = file.display().to_string();
        let cards = match read(file).and_then(|bytes| described(&name, &bytes)) {
            Ok(cards) => cards,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        };
        let several = cards.len() > 1;
        for (number, mut card) in cards.into_iter().enumerate() {
            card.target =
                if several { format!("{name}, drive {}", number + 1) } else { name.clone() };
            if as_json {
                terminal::print_json(&drive_description::json_of(&card));
                continue;
            }
            if !is_first {
                terminal::print("\n");
            }
            is_first = false;
            terminal::print_folded(&drive_description::to_text(&card, paint, width));
        }
    }
    let number = failures.len();
    match (failures.pop(), files.len()) {
        (None, _) => Ok(()),
        (Some(failure), 1) => Err(failure),
        (Some(last), all) => {
            failures.iter().chain([&last]).for_each(|one| terminal::print_lines(one.lines()));
            let error = format!("{number} of {all} files describe no drive");
            let hint = match number == all {
                true => last.hint.clone(),
                false => "the others were printed".to_owned(),
            };
            Err(Failure::new(FailureKind::Usage, error, hint))
        }
    }
}

fn described(name: &str, bytes: &[u8]) -> Result<Vec<ssdgauge_core::DriveDescription>, Failure> {
    describe_stored(bytes)
        .map_err(|error| Failure::new(FailureKind::Usage, format!("{name}, {error}"), error.remedy))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let name = path.display();
    let failed = |cause: std::io::Error| {
        let hint = "name files that smartctl or nvme-cli have written";
        Failure::new(FailureKind::Usage, format!("{name}: {cause}"), hint)
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_LENGTH + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    match bytes.len() as u64 > MAX_LENGTH {
        true => Err(Failure::new(
            FailureKind::Usage,
            format!("{name} is longer than {} MiB", MAX_LENGTH >> 20),
            "an output of one drive has less than 1 MB: divide the file",
        )),
        false => Ok(bytes),
    }
}
