//! Drives that do not complete any request: every command ends in time, can be interrupted, and
//! leaves nothing behind that could write.
//!
//! A test program of its own: looks at other drives of the machine take longer meanwhile.

// A test ends at the first error.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use crate::support;

mod file_system;

use crate::tiers::write_figure;
use file_system::{Drives, SIZE};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use support::{Bench, Loop, signal, text, wait_for};

/// The tests run one after the other: a look at all drives is a use of those of the others.
static TURN: Mutex<()> = Mutex::new(());

/// The reason in the list, and in the errors.
const REASON: &str = "does not answer (after 5 s)";

fn confirmation(path: &str) -> String {
    format!("{}:{SIZE}", path.strip_prefix("/dev/").unwrap())
}

/// Starts the program with piped output.
fn start(bench: &Bench, line: &[&str]) -> Child {
    let mut command = bench.command(line);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Returns the states of all threads of a process, such as `D` for an uninterruptible call.
fn states(process: u32) -> String {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let stat = |task: &Path| std::fs::read_to_string(task.join("stat")).ok();
    let state = |stat: String| stat.rsplit_once(") ")?.1.chars().next();
    tasks.filter_map(|task| stat(&task.path()).and_then(state)).collect()
}

/// Returns the processes that the process `parent` started and that have not ended.
fn children(parent: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    list.unwrap_or_default().split_whitespace().map(|id| id.parse().unwrap()).collect()
}

#[test]
fn drives_that_do_not_respond_are_listed_together_with_the_others() {
    const COUNT: usize = 8;
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Bench::new();
    let Some(other) = Loop::attach(bench.folder.path(), 1 << 20) else { return };
    let Some(drives) = Drives::attach(COUNT) else { return };
    drives.set_silent(true);
    let since = Instant::now();
    let json = bench.print(&["drives", "--json"]);
    let elapsed = since.elapsed();
    // One after the other they would take 8 times 5 s.
    assert!(elapsed < Duration::from_secs(30), "{elapsed:?}");
    // What the first look has left behind does not count as a use.
    let listed = bench.print(&["drives"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let of = |path: &str| {
        let mut all = json["drives"].as_array().unwrap().iter();
        all.find(|drive| drive["path"] == path).unwrap().clone()
    };
    let lines: Vec<&str> = listed.lines().collect();
    for path in &drives.paths {
        let name = path.strip_prefix("/dev/").unwrap();
        let at = lines.iter().position(|line| line.starts_with(&format!("{name} "))).unwrap();
        assert!(lines[at].ends_with(" no") && lines[at].contains("16.8 MB"), "{listed}");
        assert_eq!(lines[at + 1].trim(), REASON, "{listed}");
        let drive = of(path);
        assert_eq!(
            (&drive["testable"], drive["confirm"].as_str()),
            (&false.into(), Some(&*confirmation(path)))
        );
        assert_eq!(drive["reasons"][0]["kind"], "no-answer");
        assert_eq!(drive["reasons"][0]["words"], REASON);
    }
    let reasons = of(&other.path)["reasons"].to_string();
    assert!(!reasons.contains("no-answer"), "{reasons}");
    // Whether another loop device is over the same file is not known of this one.
    let name = drives.paths[0].strip_prefix("/dev/").unwrap();
    assert!(reasons.contains(&format!("the file behind {name}")), "{reasons}");
    write_figure(
        "drives that do not answer",
        &format!("{COUNT} at once"),
        "listed in the time of one",
        "cargo test -p ssdgauge --test it no_answer::",
    );
}

#[test]
fn every_command_refuses_a_target_that_does_not_answer_and_writes_nothing() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Bench::new();
    let Some(drives) = Drives::attach(1) else { return };
    let path = drives.paths[0].as_str();
    let confirm = confirmation(path);
    // A finished run, which `resume` would continue on the drive.
    let quick = |out| {
        let line = ["quick", path, "--size", "1MiB", "--shorten", "100", "--confirm", &confirm];
        [&line[..], &["--confined", &confirm, "--out", out]].concat()
    };
    assert!(bench.call(&quick("earlier.ssdg")).status.success());
    let before = bench.names();
    // The blocks that this run has left in the page cache of the file would still be answered.
    std::fs::write("/proc/sys/vm/drop_caches", "1").unwrap();
    drives.set_silent(true);
    let confirmed = ["--confirm", &confirm, "--confined", &confirm];
    let lines: Vec<Vec<&str>> = vec![
        quick("a.ssdg"),
        [&["run", "quick", path, "--out", "b.ssdg"][..], &confirmed].concat(),
        [&["resume", "earlier.ssdg"][..], &confirmed].concat(),
        [&["bench", path, "--no-fill"][..], &confirmed].concat(),
        vec!["plan", "quick", path],
        vec!["drives", path],
        vec!["doctor", path],
        vec!["meters", "nvme", "--drive", path],
    ];
    let calls: Vec<(&Vec<&str>, Child)> =
        lines.iter().map(|line| (line, start(&bench, line))).collect();
    for (line, call) in calls {
        let output = call.wait_with_output().unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{line:?}: {stderr}");
        for part in [&format!("error: {path} {REASON}"), "hint: nothing was written"] {
            assert!(stderr.contains(part), "{line:?}: {stderr}");
        }
        assert!(output.stdout.is_empty(), "{line:?}");
    }
    assert_eq!(bench.names(), before);
    drives.set_silent(false);
    // As soon as it answers, it can be tested, and no process of the refused calls is left.
    wait_for("the end of the processes that looked at the drive", || holders(path) == 0);
    let output = bench.call(&quick("after.ssdg"));
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_file_system_that_does_not_answer_is_asked_once() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Bench::new();
    let Some(drives) = Drives::attach(1) else { return };
    let file = drives.point.join("new.bin");
    let file = file.to_str().unwrap();
    drives.set_silent(true);
    let mut call = start(&bench, &["plan", "quick", file]);
    let is_look = |process: &u32| {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"look")
    };
    let mut looks = BTreeSet::new();
    while call.try_wait().unwrap().is_none() {
        looks.extend(children(call.id()).into_iter().filter(is_look));
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = call.wait_with_output().unwrap();
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains(&format!("error: {file} {REASON}")), "{stderr}");
    // A second process would wait for the limit again.
    assert_eq!(looks.len(), 1);
}

#[test]
fn a_signal_ends_a_command_that_waits_for_a_drive_and_the_look_ends_with_the_answer() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Bench::new();
    let Some(drives) = Drives::attach(1) else { return };
    let path = drives.paths[0].as_str();
    let confirm = confirmation(path);
    drives.set_silent(true);
    let quick = ["quick", path, "--confirm", &confirm, "--confined", &confirm, "--out", "a.ssdg"];
    for (line, name, number) in [
        (&["drives"][..], "INT", 2),
        (&quick, "INT", 2),
        (&["plan", "quick", path], "TERM", 15),
        (&["drives", path], "INT", 2),
    ] {
        let mut call = start(&bench, line);
        // A process also waits for other things, such as its own pages, before it has the drive open.
        let waits = |process: &u32| {
            let folder = Path::new("/proc").join(process.to_string());
            states(*process).contains('D') && has_open(&folder, path)
        };
        wait_for("a look that waits for the drive in the kernel", || {
            // A look has 5 s. On a busy machine they may be over before it has the drive open.
            if call.try_wait().unwrap().is_some() {
                let ended = std::mem::replace(&mut call, start(&bench, line)).wait_with_output();
                println!("{line:?} is started again: {}", text(&ended.unwrap().stderr));
            }
            children(call.id()).iter().any(waits)
        });
        // The process of the user itself does not wait for the drive; for its own pages it can, a moment.
        let is_stuck = (0..20).all(|_| {
            std::thread::sleep(Duration::from_millis(20));
            states(call.id()).contains('D')
        });
        assert!(!is_stuck, "{line:?}");
        signal(&call, name);
        let status = call.wait().unwrap();
        assert_eq!(status.signal(), Some(number), "{line:?}: {status}");
    }
    assert!(holders(path) > 0, "the list reads past the page cache, where no signal ends a call");
    assert!(bench.names().is_empty(), "{:?}", bench.names());
    let written = written(path);
    // What is left has neither a lock nor a descriptor for writing.
    let exclusive = Command::new("flock").args(["--nonblock", path, "true"]).status();
    assert!(exclusive.unwrap().success(), "a look that was given up holds a lock");
    drives.set_silent(false);
    wait_for("the end of the processes that looked at the drive", || holders(path) == 0);
    assert_eq!(self::written(path), written);
}

#[test]
fn a_signal_ends_a_command_that_waits_for_a_file_system_and_no_file_is_left() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Bench::new();
    let Some(device) = Loop::attach(bench.folder.path(), 64 << 20) else { return };
    let point = bench.path("mounted");
    std::fs::create_dir(&point).unwrap();
    let point = point.to_str().unwrap();
    let run = |line: &[&str]| Command::new(line[0]).args(&line[1..]).status().unwrap().success();
    assert!(run(&["mkfs.ext4", "-q", &device.path]) && run(&["mount", &device.path, point]));
    let names = || std::fs::read_dir(point).unwrap().count();
    let before = names();
    let frozen = run(&["fsfreeze", "-f", point]);
    let file = format!("{point}/new.bin");
    let mut results = Vec::new();
    for target in [point, &file] {
        let line = ["quick", target, "--size", "8MiB", "--shorten", "100", "--out", "a.ssdg"];
        let mut call = start(&bench, &line);
        let waits = |process: &u32| states(*process).contains('D');
        let since = Instant::now();
        while !children(call.id()).iter().any(waits) && since.elapsed() < Duration::from_secs(30) {
            std::thread::yield_now();
        }
        let is_free = !states(call.id()).contains('D');
        signal(&call, "INT");
        results.push((is_free, call.wait().unwrap().signal()));
    }
    // Before any assertion: a frozen file system cannot be unmounted.
    assert!(frozen && run(&["fsfreeze", "-u", point]));
    wait_for("the end of the scratch files", || {
        let output = Command::new("umount").arg(point).output().unwrap();
        output.status.success()
    });
    assert_eq!(results, [(true, Some(2)), (true, Some(2))]);
    assert!(run(&["mount", &device.path, point]));
    let after = names();
    assert!(run(&["umount", point]));
    assert_eq!(after, before);
}

#[test]
fn an_x_ray_of_a_drive_that_hangs_in_an_experiment_ends_with_its_card_and_has_written_nothing() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Bench::new();
    let Some(drives) = Drives::attach_sized(1, 256 << 20) else { return };
    let path = drives.paths[0].as_str();
    let before = written(path);
    let mut call = start(&bench, &["xray", path, "--gentle", "--only=page-read", "--json"]);
    let mut lines = BufReader::new(call.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("pairs of reads by distance")));
    drives.set_silent(true);
    // What was read already would still be answered.
    std::fs::write("/proc/sys/vm/drop_caches", "1").unwrap();
    wait_for("a read that waits for the drive in the kernel", || states(call.id()).contains('D'));
    // Without a signal the drive counts as hung after 60 s.
    signal(&call, "INT");
    // The process ends only when the kernel gives its requests back, after its last message.
    let mut stderr = Vec::new();
    for line in lines.by_ref().map(Result::unwrap) {
        let is_last = line.starts_with("hint:");
        stderr.push(line);
        if is_last {
            break;
        }
    }
    let is_running = call.try_wait().unwrap().is_none();
    drives.set_silent(false);
    stderr.extend(lines.map(Result::unwrap));
    let output = call.wait_with_output().unwrap();
    let stderr = stderr.join("\n");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    for part in ["error: ", "has not answered for", "continue with `ssdgauge resume"] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    let card: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&card["is_complete"], &card["written_bytes"]), (&false.into(), &0.into()));
    for answer in card["structures"].as_array().unwrap() {
        assert!(answer["not_identifiable"].is_string(), "{answer}");
    }
    assert!(is_running, "the message came before the drive answered");
    wait_for("the end of the requests", || holders(path) == 0);
    assert_eq!(written(path), before);
}

/// Returns the number of processes that have the device `path` open.
fn holders(path: &str) -> usize {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter(|process| has_open(&process.path(), path)).count()
}

/// Returns whether the process of the folder `process` in /proc has the device `path` open.
fn has_open(process: &Path, path: &str) -> bool {
    let tasks = std::fs::read_dir(process.join("task")).into_iter().flatten().flatten();
    tasks.into_iter().any(|task| {
        let descriptors = std::fs::read_dir(task.path().join("fd"));
        descriptors.into_iter().flatten().flatten().any(|descriptor| {
            std::fs::read_link(descriptor.path()).is_ok_and(|to| to.as_os_str() == path)
        })
    })
}

/// Returns the number of writes that the kernel has completed on the device `path`.
fn written(path: &str) -> u64 {
    let name = path.strip_prefix("/dev/").unwrap();
    let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    stat.split_whitespace().nth(4).unwrap().parse().unwrap()
}
