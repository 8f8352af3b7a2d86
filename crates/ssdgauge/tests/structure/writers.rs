//! The guard is the only way to a writable descriptor of a drive: every place in the source that
//! can write to a file, or send a command that changes a drive, is listed here with its reason.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The words that open for writing, change a drive by a call, or start another program.
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

/// Each file, the number of such words outside its tests, and the reason why none of them reaches a
/// drive without the guard.
const KNOWN: [(&str, usize, &str); 15] = [
    ("ssdgauge-guard/src/access.rs", 1, "the guard: `open_exclusively`"),
    (
        "ssdgauge-guard/src/command_node.rs",
        1,
        "the guard: the character device of the namespace that is admitted and held",
    ),
    ("ssdgauge-guard/src/lease.rs", 1, "a lock file in /run/ssdgauge; links are not followed"),
    (
        "ssdgauge-host/src/helper/saved_settings.rs",
        2,
        "listed attributes in /sys, and their restore",
    ),
    ("ssdgauge-host/src/settings/power_saving.rs", 1, "an attribute of the drive in /sys"),
    ("ssdgauge-host/src/system_calls.rs", 1, "a filter of the kernel that names the mode"),
    ("ssdgauge-os/src/block_device.rs", 5, "calls on descriptors that others opened"),
    ("ssdgauge-os/src/child.rs", 1, "the start of every process, for the places in `STARTS`"),
    ("ssdgauge-os/src/child/kept.rs", 1, "the list of children in /proc, for reading"),
    (
        "ssdgauge-os/src/outputs.rs",
        2,
        "new files, relative to a folder that is no folder of device nodes",
    ),
    ("ssdgauge-os/src/outputs_elsewhere.rs", 2, "new files, where no drive is opened"),
    ("ssdgauge-os/src/ioctl.rs", 3, "calls on descriptors that others opened"),
    (
        "ssdgauge-runfile/src/record/reader/opening.rs",
        1,
        "a run file, to undo an interrupted write",
    ),
    ("ssdgauge-runfile/src/writer.rs", 2, "run files that exist"),
    ("ssdgauge-runfile/src/writer/room.rs", 1, "the journal of a run file"),
];

#[test]
fn every_place_that_can_write_is_known() {
    let known: BTreeMap<String, usize> =
        KNOWN.iter().map(|(name, count, _)| ((*name).to_owned(), *count)).collect();
    assert_eq!(counts(&WORDS), known, "a new place needs a reason why it cannot reach a drive");
}

/// The words that create a file, a folder, a link or a socket, or give a file a name.
const CREATING: [&str; 24] = [
    "File::create",
    ".create(true)",
    ".create_new(true)",
    "fs::write(",
    "fs::copy(",
    "fs::rename(",
    "fs::hard_link(",
    "fs::symlink(",
    "create_dir",
    "DirBuilder",
    "UnixListener::bind",
    "UnixDatagram::bind",
    "net::bind(",
    "OFlags::CREATE",
    "O_CREAT",
    "O_TMPFILE",
    "OFlags::TMPFILE",
    "mkdirat(",
    "mknodat(",
    "linkat(",
    "renameat",
    "SQLITE_OPEN_CREATE",
    "Connection::open(",
    "tempfile::",
];

/// The places that create something without `ssdgauge_os::outputs`, or are it.
const CREATORS: [(&str, usize, &str); 7] = [
    ("ssdgauge-guard/src/lease.rs", 4, "a lock file in /run/ssdgauge, no output"),
    ("ssdgauge-host/src/helper/saved_settings.rs", 2, "existing attributes in /sys"),
    ("ssdgauge-host/src/settings/power_saving.rs", 1, "an existing attribute in /sys"),
    ("ssdgauge-host/src/system_calls/lists.rs", 2, "the numbers of calls"),
    ("ssdgauge-meter/src/source/quarch.rs", 1, "a connection to a meter in the network"),
    ("ssdgauge-os/src/outputs.rs", 11, "the creator of every output"),
    (
        "ssdgauge-os/src/outputs_elsewhere.rs",
        5,
        "the creator of every output on systems other than Linux",
    ),
];

#[test]
fn every_output_is_created_by_the_module_that_checks_its_folder() {
    let known: BTreeMap<String, usize> =
        CREATORS.iter().map(|(name, count, _)| ((*name).to_owned(), *count)).collect();
    assert_eq!(counts(&CREATING), known, "outputs are created by `ssdgauge_os::outputs`");
}

/// Returns how often each source file contains `words`, outside comments and tests.
pub(crate) fn counts(words: &[&str]) -> BTreeMap<String, usize> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = BTreeMap::new();
    for file in sources(crates) {
        let text = fs::read_to_string(&file).unwrap();
        // Unit tests are at the end of their files.
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let count: usize = code
            .map(|line| words.iter().map(|word| line.matches(word).count()).sum::<usize>())
            .sum();
        let name = file.strip_prefix(crates).unwrap().display().to_string();
        if count > 0 {
            found.insert(name, count);
        }
    }
    found
}

/// Each file that starts a process by `child::start` or `child::start_kept`, the number of calls, and the reason why the
/// process writes to no drive that was not admitted. No other place names a type that starts one.
const STARTS: [(&str, usize, &str); 8] = [
    ("ssdgauge-meter/src/source/command.rs", 1, "the program that its user names as a meter"),
    ("ssdgauge-os/src/own_process.rs", 1, "starts this program itself"),
    (
        "ssdgauge/src/commands/crosscheck/fio_process.rs",
        2,
        "fio, on the descriptor that the guard has admitted; its jobs come from the plan",
    ),
    ("ssdgauge/src/browser.rs", 1, "the browser"),
    ("ssdgauge/src/commands/open.rs", 1, "starts this program itself, which writes a page"),
    ("ssdgauge/src/notification.rs", 1, "the command of --notify, which the user gave"),
    ("ssdgauge/src/reader.rs", 1, "starts this program itself, restricted, for files of others"),
    (
        "ssdgauge/src/commands/run/several/process.rs",
        1,
        "starts this program itself, which admits its target like any run",
    ),
];

/// The words that start a process without `child::start`.
const UNGUARDED_STARTS: [&str; 8] = [
    "Command::new(",
    "use std::process::Command",
    "libc::fork",
    "libc::vfork",
    "libc::exec",
    "posix_spawn",
    "libc::system",
    "SYS_clone",
];

#[test]
fn every_process_is_started_by_one_function() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut starts, mut others) = (BTreeMap::new(), BTreeMap::new());
    for file in sources(crates) {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let name = file.strip_prefix(crates).unwrap().display().to_string();
        let count =
            code.matches("child::start(").count() + code.matches("child::start_kept(").count();
        if count > 0 {
            starts.insert(name.clone(), count);
        }
        // A filter of system calls names them.
        let is_list = name.starts_with("ssdgauge-host/src/system_calls");
        let count: usize = UNGUARDED_STARTS.iter().map(|word| code.matches(word).count()).sum();
        if count > 0 && !is_list {
            others.insert(name, count);
        }
    }
    let known: BTreeMap<String, usize> =
        STARTS.iter().map(|(name, count, _)| ((*name).to_owned(), *count)).collect();
    assert_eq!(starts, known, "a new process needs a reason why it writes to no drive");
    // The keeper of a program is a fork.
    let two = ["ssdgauge-os/src/child.rs", "ssdgauge-os/src/child/kept.rs"];
    let two = two.map(|name| (name.to_owned(), 1));
    assert_eq!(others, BTreeMap::from(two), "`ssdgauge_os::child` starts every process");
}

/// Each implementation of `Sink` outside tests: the ones between a rig and its sink
/// (decorators), whose unit test calls `check_forwarding`, and the ones at the end.
const SINKS: [(&str, usize, bool); 10] = [
    ("ssdgauge-core/src/rig/recording.rs", 1, false),
    ("ssdgauge-engine/src/control/ring_tuning.rs", 1, false),
    ("ssdgauge-guard/src/write_budget.rs", 1, true),
    ("ssdgauge-host/src/monitor/disturbance.rs", 1, true),
    ("ssdgauge-host/src/rig/instruments.rs", 1, true),
    ("ssdgauge-lab/src/conductor/sink.rs", 1, false),
    ("ssdgauge-lab/src/xray/access.rs", 1, false),
    ("ssdgauge-sim/src/rig/write_limit.rs", 1, true),
    ("ssdgauge-twin/src/replay.rs", 1, false),
    ("ssdgauge/src/commands/bench.rs", 1, false),
];

#[test]
fn every_sink_is_known_and_every_decorator_is_tested_to_forward_announcements() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = BTreeMap::new();
    for file in sources(crates) {
        let text = fs::read_to_string(&file).unwrap();
        let (code, tests) = text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((&text, ""));
        let count = code.matches("impl Sink for ").count();
        if count > 0 {
            let name = file.strip_prefix(crates).unwrap().display().to_string();
            found.insert(name, (count, tests.contains("check_forwarding")));
        }
    }
    let known: BTreeMap<String, (usize, bool)> =
        SINKS.iter().map(|(name, count, tested)| ((*name).to_owned(), (*count, *tested))).collect();
    assert_eq!(found, known, "a new decorator needs a test with `check_forwarding`");
}

/// Returns every source file of all crates, except those that are compiled only for tests.
fn sources(crates: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_test = name.ends_with("tests.rs") || name == "fixture.rs";
            if path.is_dir() && name != "tests" && name != "fixture" {
                folders.push(path);
            } else if name.ends_with(".rs") && !is_test {
                files.push(path);
            }
        }
    }
    files
}
