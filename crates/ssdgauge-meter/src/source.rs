//! The sources of readings: the list of power meters, and the temperature sensors of the drive.
//!
//! A power meter is one file below `source/` and one line in [`KINDS`] (with its `mod` line, which
//! Rust requires, next to it). Its file defines a [`SourceKind`], the specification that is parsed
//! from `--power`, and the open meter. Specifications, hints, sampler threads and the run file take
//! everything else from these definitions, so that no other file names a kind of meter.

pub(crate) mod command;
pub(crate) mod http;
pub(crate) mod hwmon;
pub(crate) mod interface;
pub(crate) mod nvme;
pub(crate) mod powercap;
pub(crate) mod quarch;
pub(crate) mod thermometer;

use interface::SourceKind;

/// Every kind of power meter, in the order of the hint.
pub(crate) const KINDS: [&SourceKind; 6] =
    [&hwmon::KIND, &powercap::KIND, &quarch::KIND, &nvme::KIND, &command::KIND, &http::KIND];

/// Folders with files as sysfs has them.
#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// Creates the folder `place` below `class` with `files`, each with its name and its text.
    pub(super) fn create(class: &Path, place: &str, files: &[(&str, &str)]) {
        let folder = class.join(place);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), format!("{text}\n")).unwrap();
        }
    }
}
