//! The guard is the only way to a writable descriptor of a drive: whatever in the program's source
//! could write to a file, or send a command that changes a drive, is on this list with its reason.

// A test ends at the first thing that does not work.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What opens for writing, changes a drive by a call, or starts another program.
const WORDS: [&str; 14] = [
    ".write(true)",
    ".append(true)",
    "File::create",
    "File::options",
    "fs::write(",
    "fs::copy(",
    "O_RDWR",
    "O_WRONLY",
    "OFlags::RDWR",
    "OFlags::WRONLY",
    "libc::open",
    "libc::ioctl(",
    "SQLITE_OPEN_READ_WRITE",
    "Command::new(",
];

/// Each place, how many such words stand there outside its tests, and why none of them reaches a
/// drive beside the guard.
const KNOWN: [(&str, usize, &str); 13] = [
    ("ssdgauge-host/src/guard.rs", 1, "the guard: `open_exclusively`"),
    ("ssdgauge-host/src/guard/lease.rs", 1, "a lock file in /run/ssdgauge, links not followed"),
    ("ssdgauge-host/src/target.rs", 2, "scratch files: O_TMPFILE in a folder, or a new file"),
    ("ssdgauge-host/src/engine/log.rs", 1, "a new file"),
    ("ssdgauge-host/src/rights.rs", 1, "an attribute of a drive in /sys, by the power control"),
    ("ssdgauge-host/src/rights/part.rs", 1, "ourselves once more"),
    ("ssdgauge-host/src/rights/traces.rs", 2, "attributes of a list in /sys, and what was there"),
    ("ssdgauge-host/src/meter/command.rs", 1, "the program that its user names as a meter"),
    ("ssdgauge-host/src/sys.rs", 7, "calls on descriptors that others opened"),
    (
        "ssdgauge-runfile/src/record/reader.rs",
        1,
        "a regular file with our mark, to undo what a kill cut off",
    ),
    ("ssdgauge-runfile/src/writer.rs", 4, "new files, and regular files with our mark"),
    ("ssdgauge/src/world.rs", 1, "a new file"),
    ("ssdgauge/src/demo.rs", 1, "the browser"),
];

#[test]
fn every_place_that_could_write_is_known() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = BTreeMap::new();
    for file in sources(crates) {
        let text = fs::read_to_string(&file).unwrap();
        // Unit tests stand at the end of their files.
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let count: usize = WORDS.iter().map(|word| text.matches(word).count()).sum();
        let name = file.strip_prefix(crates).unwrap().display().to_string();
        if count > 0 {
            found.insert(name, count);
        }
    }
    let known: BTreeMap<String, usize> =
        KNOWN.iter().map(|(name, count, _)| ((*name).to_owned(), *count)).collect();
    assert_eq!(found, known, "a new place needs a reason why it cannot reach a drive");
}

/// Returns every file of the source of all crates, but not what is only compiled for tests.
fn sources(crates: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_test = name.ends_with("tests.rs") || name == "fixture.rs";
            if path.is_dir() && name != "tests" {
                folders.push(path);
            } else if name.ends_with(".rs") && !is_test {
                files.push(path);
            }
        }
    }
    files
}
