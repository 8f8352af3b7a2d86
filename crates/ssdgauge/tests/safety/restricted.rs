//! What each command may still do when it begins to answer: those that read files of others, or compute with a
//! virtual drive, have no privilege of root but to read files.
//!
//! The standard output and the messages of the command lead into a pipe that is full. So its first answer waits, and
//! the process is looked at while it has all of its inputs.

use crate::safety::bench::Bench;
use rustix::fs::{OFlags, fcntl_setfl};
use std::collections::BTreeSet;
use std::io::{PipeReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// CAP_DAC_READ_SEARCH and CAP_DAC_OVERRIDE: files of other users.
const FILES_OF_OTHERS: u64 = 1 << 2 | 1 << 1;

/// The commands that are restricted from their begin, each with a command line.
const RESTRICTED: &[&[&str]] = &[
    &["quick", "sim:tiny", "--shorten", "50", "--out", "b.ssdg"],
    &["run", "quick", "sim:tiny", "--shorten", "50", "--out", "c.ssdg"],
    &["run", "./suite.toml", "sim:tiny", "--out", "own.ssdg"],
    &["run", "trace:trace.csv", "sim:tiny", "--out", "replay.ssdg"],
    &["run", "quick", "sim:tiny", "sim:tiny", "--shorten", "50", "--out", "several"],
    &["plan", "./suite.toml", "sim:tiny"],
    &["resume", "a.ssdg"],
    &["watch", "a.ssdg"],
    &["watch", "a.ssdg", "--openmetrics", "127.0.0.1:0"],
    &["prove", "sim:tiny?capacity=256MB", "--quick", "--out", "proof.ssdg"],
    &["xray", XRAY, "--only=command", "--out", "xray2.ssdg"],
    &["xray", "--from", "xray.ssdg"],
    &["xray", "--compare", "xray.ssdg", "xray.ssdg"],
    &["suites", "./suite.toml"],
    &["config"],
    &["drives", "sim:"],
    &["drives", "sim:tiny"],
    &["doctor", "sim:tiny"],
    &["list"],
    &["list", "a.ssdg"],
    &["show", "a.ssdg"],
    &["report", "a.ssdg"],
    &["report", "a.ssdg", "--json"],
    &["report", "a.ssdg", "--svg", "charts", "--share-image", "share.png", "--csv"],
    &["claims", "--runs", "claims", "--no-runs"],
    &["demo", "-o", "demo.html"],
    &["twin", "whole.ssdg", "-o", "twin.toml"],
    &["twin", "--ask", "reads", "drive.toml"],
    &["compare", "a.ssdg", "a.ssdg"],
    &["export", "--jsonl", "a.ssdg"],
    &["export", "--parquet", "tables", "a.ssdg"],
    &["export", "--fio", "a.ssdg"],
    &["export", "--fio", "./suite.toml", "sim:tiny"],
    &["fleet", "drift", "a.ssdg"],
    &["fleet", "page", "a.ssdg", "-o", "fleet.html"],
    &["site", "a.ssdg", "-o", "site"],
    &["submit", "whole.ssdg", "-o", "collection", "--yes"],
    &["import", "--fio", "fio.json", "-o", "fio.ssdg"],
    &["serve", "sim:tiny", "--nbd", "unix:drive.sock"],
    &["reader", "suite", "--", "suite.toml"],
    &["completions", "bash"],
    &["manual"],
    &["log", "log.bin"],
    &["trace", "info", "trace.csv"],
    &["trace", "convert", "trace.csv", "trace.packed"],
];

/// The commands that keep the privileges of their caller, with the reason.
const UNRESTRICTED: &[(&str, &str)] = &[
    ("bench", "opens a target, with the privileges that are measured"),
    ("crosscheck", "starts fio on a drive"),
    ("look", "looks at drives for the guard"),
    ("meters", "opens the devices of meters"),
    ("notifier", "calls a command with the rights of the caller"),
    ("open", "starts the browser of its user; another process of the program writes the page"),
    ("privileged-helper", "restricts itself; see the module privileges"),
    ("privileged-search", "restricts itself; see the module privileges"),
];

const XRAY: &str = "sim:tlc-client?capacity=8GB&slc.fixed_gb=25&slc.dynamic_gb=0";

const TWIN: &str = "inherits = \"tiny\"\n[twin]\nof = \"a\"\nmodel_revision = 3\ncommand = \"-\"\n";

const SUITE: &str = include_str!("../reads.toml");

const TRACE: &str = "128166372003061629,hm,1,Read,383496192,32768,113736\n\
    128166372016382155,hm,1,Write,310378496,32768,64510\n";

/// Writes the inputs.
fn prepare(bench: &Bench) {
    let write = |name: &str, text: &str| std::fs::write(bench.path(name), text).unwrap();
    write("suite.toml", SUITE);
    write("trace.csv", TRACE);
    write("fio.json", FIO);
    write("drive.toml", TWIN);
    std::fs::create_dir(bench.path("claims")).unwrap();
    for line in [
        &["quick", "sim:tiny", "--shorten", "50", "--out", "a.ssdg", "--log-ios", "log.bin"][..],
        &["xray", XRAY, "--only=command", "--out", "xray.ssdg"],
        &["quick", "sim:nvme-datacentre?capacity=16GB", "--out", "whole.ssdg"],
    ] {
        let output = command(bench, line).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

const FIO: &str = r#"{ "fio version": "fio-3.33", "timestamp_ms": 1700000000000, "jobs": [{
    "jobname": "reads", "groupid": 0, "error": 0,
    "job options": { "rw": "randread", "bs": "4k", "filename": "/dev/nvme9n1", "size": "1g" },
    "read": { "io_bytes": 12288, "runtime": 1000, "total_ios": 3, "clat_ns": { "min": 90,
        "max": 400, "mean": 230.0, "N": 3, "bins": { "90": 1, "200": 1, "404": 1 } } },
    "write": { "io_bytes": 0, "runtime": 0, "total_ios": 0 } }] }"#;

fn command(bench: &Bench, line: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssdgauge"));
    command.args(line).current_dir(bench.folder.path()).stdin(Stdio::null());
    command
}

/// A command whose first answer waits.
struct Waiting {
    /// It starts processes that write files of root, so that its user stays.
    starts: bool,
    child: Child,
    pipe: PipeReader,
    filled: usize,
}

impl Waiting {
    /// Starts the command, and waits until it writes its first answer.
    fn start(bench: &Bench, line: &[&str]) -> Waiting {
        let (pipe, mut writer) = std::io::pipe().unwrap();
        fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
        let mut filled = 0;
        for size in [4_096, 1] {
            while let Ok(written) = writer.write(&vec![b' '; size]) {
                filled += written;
            }
        }
        // The child shares the open pipe, and this flag of it.
        fcntl_setfl(&writer, OFlags::empty()).unwrap();
        let stderr = writer.try_clone().unwrap();
        let child = command(bench, line).stdout(writer).stderr(stderr).spawn().unwrap();
        let starts = line.iter().filter(|word| word.starts_with("sim:")).count() > 1;
        let waiting = Waiting { starts, child, pipe, filled };
        let began = Instant::now();
        while !waiting.writes() {
            assert!(began.elapsed() < Duration::from_secs(120), "{line:?} does not answer");
            std::thread::sleep(Duration::from_millis(2));
        }
        waiting
    }

    /// Returns whether a thread of the process is within a write to its standard output or messages.
    fn writes(&self) -> bool {
        self.tasks().iter().any(|task| {
            // proc_pid_syscall(5): the number of the call, and its arguments.
            let call = std::fs::read_to_string(format!("{task}/syscall")).unwrap_or_default();
            let mut words = call.split_whitespace();
            let is_write = words.next() == Some("1");
            is_write && matches!(words.next(), Some("0x1" | "0x2"))
        })
    }

    fn tasks(&self) -> Vec<String> {
        let folder = format!("/proc/{}/task", self.child.id());
        let tasks = std::fs::read_dir(&folder).unwrap().flatten();
        tasks.map(|task| task.path().display().to_string()).collect()
    }

    /// Returns what is wrong with the privileges of a thread.
    fn problem(&self) -> Option<String> {
        self.tasks().iter().find_map(|task| {
            let text = std::fs::read_to_string(format!("{task}/status")).ok()?;
            let line =
                |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim();
            let set = |key: &str| u64::from_str_radix(line(key), 16).unwrap();
            let held = set("CapInh:") | set("CapPrm:") | set("CapEff:") | set("CapAmb:");
            match (held & !FILES_OF_OTHERS, line("NoNewPrivs:"), line("Seccomp:")) {
                (0, "1", "2") if set("CapBnd:") == 0 => {}
                other => return Some(format!("{other:x?}, bounding set {:x}", set("CapBnd:"))),
            }
            // The user by whom services and processes judge it: the last number is that of files.
            let users: Vec<&str> = line("Uid:").split_whitespace().collect();
            let groups: Vec<&str> = line("Gid:").split_whitespace().collect();
            let is_root =
                users.iter().chain(&groups).enumerate().any(|(n, id)| n % 4 < 3 && *id == "0");
            (is_root && !self.starts).then(|| format!("users {users:?}, groups {groups:?}"))
        })
    }

    /// Lets it answer; returns its exit code and what it printed. One that does not end by itself is stopped.
    fn end(mut self, ends: bool) -> (Option<i32>, String) {
        if !ends {
            let pid = rustix::process::Pid::from_child(&self.child);
            rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        }
        let mut printed = Vec::new();
        self.pipe.read_to_end(&mut printed).unwrap();
        let code = self.child.wait().unwrap().code();
        (code, String::from_utf8_lossy(&printed[self.filled..]).into_owned())
    }
}

#[test]
fn each_command_that_reads_files_of_others_is_restricted_before_it_does() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: the privileges of root are dropped (run as root)");
        return;
    }
    let bench = Bench::new();
    prepare(&bench);
    let mut problems = Vec::new();
    for line in RESTRICTED {
        let waiting = Waiting::start(&bench, line);
        if let Some(problem) = waiting.problem() {
            problems.push(format!("{line:?}: {problem}"));
        }
        // It does what it did with all privileges.
        let (ends, expected) = match line[0] {
            "serve" => (false, 0),
            "demo" => (false, 75),
            // Refused for what it has read: a run of a part of a drive, a profile without fits.
            "twin" => (true, 3),
            _ => (true, 0),
        };
        let (code, printed) = waiting.end(ends);
        if code != Some(expected) {
            problems.push(format!("{line:?}: exit {code:?}: {printed}"));
        }
    }
    for file in std::fs::read_dir(bench.folder.path()).unwrap().flatten() {
        let facts = file.metadata().unwrap();
        if (facts.uid(), facts.gid()) != (0, 0) {
            problems.push(format!("{}: {}:{}", file.path().display(), facts.uid(), facts.gid()));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Commands that open a target with the privileges of their caller, each with the file of others that it
/// reads, and a text of that file. Where the file is not text, only a restricted process may read it.
const OPENING: &[(&[&str], &str, Option<&str>)] = &[
    (
        &["run", "./suite.toml", "null:", "--shorten", "50", "--out", "d.ssdg"],
        "suite.toml",
        Some("id = "),
    ),
    (&["run", "trace:trace.csv", "null:", "--out", "e.ssdg"], "trace.csv", None),
    (&["run", "quick", "null:", "--out", "null.ssdg", "--or-resume"], "null.ssdg", None),
    (&["resume", "null.ssdg"], "null.ssdg", None),
    (&["plan", "./suite.toml", "."], "suite.toml", Some("id = ")),
    (&["plan", "trace:trace.csv", "."], "trace.csv", None),
    (&["prove", "--read", "null.ssdg", "image"], "null.ssdg", None),
    (&["export", "--fio", "null.ssdg", "."], "null.ssdg", None),
    (&["crosscheck", "null.ssdg"], "null.ssdg", None),
    (
        &["xray", "image", "--gentle", "--plan", "--spec", "stated.toml"],
        "stated.toml",
        Some("[stated]"),
    ),
    (
        &["quick", "null:", "--shorten", "50", "--out", "f.ssdg", "--power", "meters.toml"],
        "meters.toml",
        Some("[[power]]"),
    ),
];

#[test]
fn files_of_others_are_read_by_restricted_processes_before_a_target_is_open() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: the privileges of root are dropped (run as root)");
        return;
    }
    if Command::new("strace").arg("-V").output().is_err() {
        println!("skipped: strace is not installed");
        return;
    }
    let bench = Bench::new();
    prepare(&bench);
    let write = |name: &str, text: &str| std::fs::write(bench.path(name), text).unwrap();
    write("stated.toml", "[stated]\ncache = \"42 GB\"\n");
    write("meters.toml", "[[power]]\nspec = \"command:sh -c 'while echo 1; do sleep 1; done'\"\n");
    std::fs::File::create(bench.path("image")).unwrap().set_len(64 << 20).unwrap();
    let null =
        command(&bench, &["quick", "null:", "--shorten", "50", "--out", "null.ssdg"]).output();
    assert!(null.unwrap().status.success());
    let mut problems = Vec::new();
    for (line, name, text) in OPENING {
        let path = std::fs::canonicalize(bench.path(name)).unwrap();
        let trace = calls_of(&bench, line);
        let readers = Readers::of(&trace, &path.display().to_string(), text.unwrap_or("\0"));
        let is_read = match text {
            Some(_) => readers.of_text,
            None => readers.of_file && !readers.unrestricted,
        };
        if !is_read {
            problems.push(format!("{line:?}: {readers:?}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Returns the calls of a command and of the processes that it starts, as strace prints them.
fn calls_of(bench: &Bench, line: &[&str]) -> String {
    let list = bench.path("calls");
    let calls = "trace=read,readv,pread64,preadv,seccomp,prctl,clone,clone3,fork,vfork";
    let output = Command::new("strace")
        .args(["-f", "-y", "-qq", "-s", "200", "-e", calls, "-e", "signal=none", "-o"])
        .arg(&list)
        .arg(env!("CARGO_BIN_EXE_ssdgauge"))
        .args(line)
        .current_dir(bench.folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.code().is_some(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&std::fs::read(list).unwrap()).into_owned()
}

/// Who has read a file.
#[derive(Debug, Default)]
struct Readers {
    /// A restricted process read the file.
    of_file: bool,
    /// A restricted process read the text of the file, from the file or from a pipe.
    of_text: bool,
    /// A process read the file before it was restricted.
    unrestricted: bool,
}

impl Readers {
    fn of(calls: &str, path: &str, text: &str) -> Readers {
        let mut readers = Readers::default();
        let mut restricted = BTreeSet::new();
        for line in calls.lines() {
            let Some((process, call)) = line.split_once(char::is_whitespace) else { continue };
            let call = call.trim_start();
            let is_restricted = restricted.contains(process);
            let is_filter = call.starts_with("seccomp(SECCOMP_SET_MODE_FILTER")
                || call.starts_with("prctl(PR_SET_SECCOMP");
            if is_filter {
                restricted.insert(process.to_owned());
            }
            let starts = ["clone(", "clone3(", "fork(", "vfork(", "<... clone", "<... vfork"];
            if is_restricted && starts.iter().any(|start| call.starts_with(start)) {
                let child = call.rsplit("= ").next().unwrap_or_default();
                restricted.insert(child.trim().to_owned());
            }
            if call.starts_with("read") || call.starts_with("pread") {
                let is_file = call.contains(&format!("<{path}>"));
                readers.of_file |= is_file && is_restricted;
                readers.unrestricted |= is_file && !is_restricted;
                readers.of_text |= is_restricted && call.replace("\\", "").contains(text);
            }
            // The contents of a read that another call interrupted in the list.
            let is_rest = call.starts_with("<... read");
            readers.of_text |= is_restricted && is_rest && call.replace("\\", "").contains(text);
        }
        readers
    }
}

#[test]
fn every_command_is_restricted_or_has_a_reason() {
    let bench = Bench::new();
    let output = command(&bench, &["manual"]).output().unwrap();
    let manual = String::from_utf8(output.stdout).unwrap();
    let of_manual: BTreeSet<String> = manual
        .lines()
        .filter_map(|line| {
            Some(line.strip_prefix("ssdgauge\\-")?.split('(').next()?.replace("\\-", "-"))
        })
        .filter(|name| name != "help")
        .collect();
    assert!(of_manual.len() > 15, "{of_manual:?}");
    let restricted = RESTRICTED.iter().map(|line| line[0].to_owned());
    let known: BTreeSet<String> =
        restricted.chain(UNRESTRICTED.iter().map(|(name, _)| (*name).to_owned())).collect();
    let missing: Vec<_> = of_manual.difference(&known).collect();
    assert!(missing.is_empty(), "commands without a restriction: {missing:?}");
}
