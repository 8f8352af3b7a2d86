//! Programs that were killed: what they started ends with them, and no other program gets a drive
//! that one of their processes could still write.

use crate::support::{Bench, Loop, measures, query, signal, text, wait_for};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SIZE: u64 = 16 << 20;

/// Returns the processes that `pid` has started, and those that these have started.
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        let tasks = std::fs::read_dir(format!("/proc/{parent}/task"));
        for task in tasks.into_iter().flatten().flatten() {
            let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            parents.extend(list.split_whitespace().map(|pid| pid.parse::<u32>().unwrap()));
        }
        found.push(parent);
    }
    found.retain(|one| *one != pid);
    found
}

fn signal_process(pid: u32, name: &str) {
    let status = Command::new("kill").args(["-s", name, &pid.to_string()]).status();
    assert!(status.unwrap().success());
}

/// Returns the child of `parent` with the name `named`.
fn child(parent: u32, named: &str) -> u32 {
    let found = descendants(parent).into_iter().find(|pid| name(*pid).starts_with(named));
    found.expect("the process has that child")
}

/// Returns the name of the program of `pid`; empty where it has ended.
pub(crate) fn name(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

/// Returns whether the process runs: not one that has ended and is not awaited by its new parent.
fn runs(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.contains(") Z ") && !stat.contains(") X "))
}

/// Kills `child` as the kernel does when memory runs out, and waits for its end.
fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Returns the other processes that have `device` open for writing.
fn writers(device: &str) -> Vec<u32> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let writes = |pid: &u32| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd"));
        files.into_iter().flatten().flatten().any(|entry| {
            let is_device =
                std::fs::read_link(entry.path()).is_ok_and(|to| to == Path::new(device));
            let number = entry.file_name().into_string().unwrap();
            let facts = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}"));
            let flags = facts.unwrap_or_default();
            let flags = flags.lines().find_map(|line| line.strip_prefix("flags:"));
            let flags = flags.map(|text| u32::from_str_radix(text.trim(), 8).unwrap());
            is_device && flags.is_some_and(|flags| flags & OFlags::RWMODE.bits() != 0)
        })
    };
    numbers.filter(|pid| *pid != std::process::id()).filter(writes).collect()
}

/// Opens `device` as a program does that wants it for itself, such as mkfs or mount.
fn claim(device: &str) -> std::io::Result<File> {
    let exclusive = OFlags::EXCL.bits() as i32;
    OpenOptions::new().read(true).write(true).custom_flags(exclusive).open(device)
}

/// Claims `device` as soon as the kernel permits it. No other process may have it open for writing
/// then, however long that took.
fn claim_without_writers(device: &str) {
    let mut claimed = None;
    wait_for("the end of all claims", || {
        claimed = claim(device).ok();
        claimed.is_some()
    });
    // Read after the claim: a process that is seen here could write to the drive of another program.
    let late = writers(device);
    assert!(late.is_empty(), "{device} is claimed, and {late:?} can write to it");
}

/// A check against fio that writes for ten minutes, and the process of fio.
struct WritingCheck {
    device: Loop,
    child: Child,
    fio: u32,
}

/// Starts a check in which fio writes to a loop device. `wrapper` stands between both where it is not
/// empty.
fn writing_check(bench: &Bench, wrapper: &str) -> Option<WritingCheck> {
    if Command::new("fio").arg("--version").output().is_err() {
        println!("skipped: no fio");
        return None;
    }
    let device = Loop::attach(bench.folder.path(), SIZE)?;
    let suite = "[suite]\nid = \"w\"\nrevision = 1\ntitle = \"W\"\n[[test]]\nid = \"w\"\nrevision = 1\n\
                 title = \"W\"\nstream = { access = \"random\", block_size = \"4KiB\", \
                 read_percent = 0 }\nuntil = { time = \"600ms\" }\nscore = { mean_of = \"iops\" }\n";
    std::fs::write(bench.path("w.toml"), suite).unwrap();
    let serial = format!("{}:{SIZE}", device.name());
    let consent = ["--confirm", &serial, "--confined", &serial];
    let run = ["run", "w.toml", &device.path, "--out", "w.ssdg"];
    bench.print(&[&run[..], &consent].concat());
    let mut check = vec!["crosscheck", "w.ssdg", "--writes", "--time", "600s"];
    check.extend(consent);
    let program = bench.path("wrapped-fio");
    if !wrapper.is_empty() {
        std::fs::write(&program, wrapper).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        check.extend(["--fio", program.to_str().unwrap()]);
    }
    let errors = File::create(bench.path("errors")).unwrap();
    let mut child = bench.command(&check).stdout(Stdio::null()).stderr(errors).spawn().unwrap();
    let mut fio = 0;
    wait_for("fio", || {
        let errors = || std::fs::read_to_string(bench.path("errors")).unwrap();
        assert_eq!(child.try_wait().unwrap(), None, "{}", errors());
        let writers = writers(&device.path);
        let found = descendants(child.id()).into_iter();
        fio = found.filter(|pid| name(*pid) == "fio" && writers.contains(pid)).max().unwrap_or(0);
        fio > 0
    });
    let before = device.writes();
    wait_for("writes of fio", || device.writes() > before + 10);
    Some(WritingCheck { device, child, fio })
}

#[test]
fn fio_ends_with_a_killed_check_and_nobody_gets_the_drive_before() {
    let bench = Bench::new();
    let Some(mut check) = writing_check(&bench, "") else { return };
    kill(&mut check.child);
    claim_without_writers(&check.device.path);
    wait_for("the end of fio", || !runs(check.fio));
}

#[test]
fn a_drive_stays_claimed_as_long_as_a_process_that_a_killed_check_started_writes() {
    let bench = Bench::new();
    let Some(mut check) = writing_check(&bench, WRAPPER) else { return };
    // As long as its keeper does not end it, fio writes.
    let keeper = child(check.child.id(), "ssdgauge");
    signal_process(keeper, "STOP");
    kill(&mut check.child);
    let before = check.device.writes();
    wait_for("further writes of fio", || check.device.writes() > before + 10);
    assert!(runs(check.fio) && writers(&check.device.path).contains(&check.fio));
    let refused = claim(&check.device.path).expect_err("fio still writes to the claimed drive");
    assert_eq!(refused.kind(), std::io::ErrorKind::ResourceBusy);
    signal_process(keeper, "CONT");
    claim_without_writers(&check.device.path);
    wait_for("the end of fio", || !runs(check.fio));
}

/// A program between a check and fio, so that fio is not started by the check.
const WRAPPER: &str = "#!/bin/sh\n[ \"$1\" = --version ] && exec fio --version\ncat | fio \"$@\"\n";

#[test]
fn fio_that_another_program_started_ends_with_a_killed_check() {
    let bench = Bench::new();
    let Some(mut check) = writing_check(&bench, WRAPPER) else { return };
    let started = descendants(check.child.id());
    assert!(started.contains(&check.fio) && started.len() >= 4, "{started:?}");
    kill(&mut check.child);
    claim_without_writers(&check.device.path);
    wait_for("the end of all", || !started.iter().any(|one| runs(*one)));
}

#[test]
fn what_the_program_of_a_meter_has_started_ends_with_a_killed_run() {
    let bench = Bench::new();
    // A pipe, a process in a session of its own, and one that its parent has left.
    let script = "echo 5; setsid sleep 600 >&2 & (sleep 600 >&2 &); sleep 600 | cat";
    let meter = format!("name=shunt@command:sh -c '{script}'");
    let run = ["quick", "null:", "--power", &meter, "--out", "a.ssdg"];
    let errors = File::create(bench.path("errors")).unwrap();
    let mut child = bench.command(&run).stdout(Stdio::null()).stderr(errors).spawn().unwrap();
    let sleeping = |run: u32| {
        descendants(run).into_iter().filter(|pid| name(*pid) == "sleep").collect::<Vec<_>>()
    };
    wait_for("the programs of the meter", || {
        assert_eq!(child.try_wait().unwrap(), None, "{:?}", std::fs::read(bench.path("errors")));
        sleeping(child.id()).len() == 3 && measures(&bench.path("a.ssdg"))
    });
    let started = descendants(child.id());
    kill(&mut child);
    wait_for("their end", || !started.iter().any(|one| runs(*one)));
}

#[test]
fn the_program_of_a_meter_that_never_prints_again_ends_with_a_killed_run() {
    let bench = Bench::new();
    let meter = "name=shunt@command:sh -c 'echo 5; exec sleep 600'";
    let run = ["quick", "null:", "--power", meter, "--out", "a.ssdg"];
    let errors = File::create(bench.path("errors")).unwrap();
    let mut child = bench.command(&run).stdout(Stdio::null()).stderr(errors).spawn().unwrap();
    let mut program = None;
    wait_for("the program of the meter", || {
        assert_eq!(child.try_wait().unwrap(), None, "{:?}", std::fs::read(bench.path("errors")));
        program = descendants(child.id()).into_iter().find(|pid| name(*pid) == "sleep");
        program.is_some() && measures(&bench.path("a.ssdg"))
    });
    kill(&mut child);
    wait_for("its end", || !program.is_some_and(runs));
}

/// Runs on two folders, whose files belong to `owner` if any: the runs change their user then, with
/// which the kernel forgets the signal at the end of the parent process.
fn killed_parent_of_runs(owner: Option<u32>) {
    let bench = Bench::new();
    let suite = "[suite]\nid = \"r\"\nrevision = 1\ntitle = \"R\"\n[[test]]\nid = \"r\"\nrevision = 1\n\
                 title = \"R\"\nstream = { access = \"random\", block_size = \"4KiB\", \
                 read_percent = 0 }\nuntil = { time = \"600s\" }\nscore = { mean_of = \"iops\" }\n";
    std::fs::write(bench.path("r.toml"), suite).unwrap();
    let folders = ["one", "two", "out"].map(|name| bench.path(name));
    for folder in &folders {
        std::fs::create_dir(folder).unwrap();
        if owner.is_some() && std::os::unix::fs::chown(folder, owner, owner).is_err() {
            println!("skipped: no other user without root");
            return;
        }
    }
    std::fs::set_permissions(bench.folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let run = ["run", "r.toml", "one", "two", "--size", "16MiB", "--out", "out/a"];
    let run = [&run[..], &["--max-writes", "100TB"]].concat();
    let errors = File::create(bench.path("errors")).unwrap();
    let mut child = bench.command(&run).stdout(Stdio::null()).stderr(errors).spawn().unwrap();
    let errors = || text(&std::fs::read(bench.path("errors")).unwrap());
    wait_for("both runs", || {
        assert_eq!(child.try_wait().unwrap(), None, "{}", errors());
        ["out/a-one.ssdg", "out/a-two.ssdg"].iter().all(|file| measures(&bench.path(file)))
    });
    let started = descendants(child.id());
    let users = |pid: &u32| {
        std::fs::metadata(format!("/proc/{pid}"))
            .map(|facts| std::os::unix::fs::MetadataExt::uid(&facts))
    };
    if let Some(owner) = owner {
        assert!(
            started.iter().any(|pid| users(pid).is_ok_and(|user| user == owner)),
            "{started:?}"
        );
    }
    assert!(started.len() >= 2, "{started:?}");
    kill(&mut child);
    wait_for("the end of both runs and of all that they started", || {
        !started.iter().any(|pid| runs(*pid))
    });
    // They have stored what they had measured.
    for file in ["out/a-one.ssdg", "out/a-two.ssdg"] {
        let sql = "SELECT count(*) FROM step WHERE state='running'";
        assert_eq!(query(&bench.path(file), sql), 0, "{file}");
    }
}

#[test]
fn runs_on_several_targets_end_with_the_process_that_started_them() {
    killed_parent_of_runs(None);
}

#[test]
fn runs_that_changed_their_user_end_with_the_process_that_started_them() {
    killed_parent_of_runs(Some(65_534));
}

/// Returns whether the process has the file at `path` open.
fn has_open(pid: u32, path: &Path) -> bool {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut targets = files.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    targets.any(|target| target == path)
}

#[test]
fn descriptors_of_the_caller_are_open_neither_in_a_run_nor_in_what_it_starts() {
    let bench = Bench::new();
    let path = bench.folder.path().canonicalize().unwrap().join("lock");
    std::fs::write(&path, "").unwrap();
    let meter = "name=shunt@command:sh -c 'echo 5; exec sleep 600'";
    // The shell leaves its descriptor to the run, with a lock on it.
    let program = env!("CARGO_BIN_EXE_ssdgauge");
    let line = "exec 9<lock; flock -n 9 || exit 99; exec \"$@\"";
    let mut command = Command::new("sh");
    command
        .args(["-c", line, "sh", program, "quick", "null:", "--power", meter, "--out", "a.ssdg"]);
    command.current_dir(bench.folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut program = None;
    wait_for("the program of the meter", || {
        assert_eq!(child.try_wait().unwrap(), None);
        program = descendants(child.id()).into_iter().find(|pid| name(*pid) == "sleep");
        program.is_some() && measures(&bench.path("a.ssdg"))
    });
    let all: Vec<u32> = descendants(child.id()).into_iter().chain([child.id()]).collect();
    let holders: Vec<&u32> = all.iter().filter(|pid| has_open(**pid, &path)).collect();
    assert!(has_open(child.id(), &bench.folder.path().canonicalize().unwrap().join("a.ssdg")));
    assert!(holders.is_empty(), "{holders:?} of {all:?}");
    let lock = File::open(&path).unwrap();
    let is_free = rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive);
    assert!(is_free.is_ok(), "the run keeps the lock of its caller");
    kill(&mut child);
    // A descriptor that is named is not a rest of the caller: a shell passes one for <(program).
    let suite = "[suite]\nid = \"n\"\nrevision = 1\ntitle = \"N\"\n[[test]]\nid = \"n\"\nrevision = 1\n\
                 title = \"N\"\nstream = { access = \"random\", block_size = \"4KiB\", read_percent = 0 }\n\
                 until = { time = \"50ms\" }\nscore = { mean_of = \"iops\" }\n";
    std::fs::write(bench.path("n.toml"), suite).unwrap();
    let line = "exec 9<n.toml; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", line, "sh", env!("CARGO_BIN_EXE_ssdgauge"), "plan", "/dev/fd/9", "null:"]);
    let output = command.current_dir(bench.folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn an_interrupted_rest_is_stored_with_the_time_that_it_took() {
    let bench = Bench::new();
    let suite = "[suite]\nid = \"r\"\nrevision = 1\ntitle = \"R\"\n[[test]]\nid = \"r\"\nrevision = 1\n\
                 title = \"R\"\nprepare = [{ rest = \"3h\" }]\nstream = { access = \"random\", \
                 block_size = \"4KiB\", read_percent = 0 }\nuntil = { time = \"50ms\" }\n\
                 score = { mean_of = \"iops\" }\n";
    std::fs::write(bench.path("r.toml"), suite).unwrap();
    let run = ["run", "r.toml", "null:", "--out", "a.ssdg"];
    let errors = File::create(bench.path("errors")).unwrap();
    let since = std::time::Instant::now();
    let mut child = bench.command(&run).stdout(Stdio::null()).stderr(errors).spawn().unwrap();
    let file = bench.path("a.ssdg");
    wait_for("the rest", || {
        assert_eq!(child.try_wait().unwrap(), None);
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let sql = "SELECT 1 FROM step WHERE state = 'running'";
        rusqlite::Connection::open_with_flags(&file, flags)
            .is_ok_and(|connection| connection.query_row(sql, [], |_| Ok(())).is_ok())
    });
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(75));
    let most = since.elapsed().as_nanos() as i64;
    let elapsed = query(&file, "SELECT elapsed_ns FROM step WHERE state = 'broken'");
    assert!(elapsed <= most, "{elapsed} ns of a rest, in a run of {most} ns");
    let errors = text(&std::fs::read(bench.path("errors")).unwrap());
    assert!(!errors.contains("interrupted after 3 h"), "{errors}");
}

/// Returns the texts of the findings of `kind` in the run file `file`.
fn findings(file: &Path, kind: &str) -> Vec<String> {
    let connection = rusqlite::Connection::open(file).unwrap();
    let mut statement = connection.prepare("SELECT text FROM finding WHERE kind = ?1").unwrap();
    let rows = statement.query_map([kind], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_stopped_program_is_the_one_cause_of_a_stall_and_a_finding_between_steps_too() {
    let bench = Bench::new();
    let suite = "[suite]\nid = \"s\"\nrevision = 1\ntitle = \"S\"\n[[test]]\nid = \"s\"\nrevision = 1\n\
                 title = \"S\"\nstream = { access = \"random\", block_size = \"4KiB\", \
                 read_percent = 0 }\nuntil = { time = \"6s\" }\nscore = { mean_of = \"iops\" }\n\
                 [[test]]\nid = \"t\"\nrevision = 1\ntitle = \"T\"\nprepare = [{ rest = \"6s\" }]\n\
                 stream = { access = \"random\", block_size = \"4KiB\", read_percent = 0 }\n\
                 until = { time = \"50ms\" }\nscore = { mean_of = \"iops\" }\n";
    std::fs::write(bench.path("s.toml"), suite).unwrap();
    let run = ["run", "s.toml", ".", "--size", "16MiB", "--out", "a.ssdg"];
    let errors = File::create(bench.path("errors")).unwrap();
    let mut child = bench.command(&run).stdout(Stdio::null()).stderr(errors).spawn().unwrap();
    let errors = || text(&std::fs::read(bench.path("errors")).unwrap());
    let file = bench.path("a.ssdg");
    let mut stop_in = |test: i64, sends: bool| {
        wait_for("the step", || {
            assert_eq!(child.try_wait().unwrap(), None, "{}", errors());
            let sql = format!("SELECT 1 FROM step WHERE test = {test} AND state = 'running'");
            let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
            rusqlite::Connection::open_with_flags(&file, flags)
                .is_ok_and(|connection| connection.query_row(&sql, [], |_| Ok(())).is_ok())
        });
        // The record is made before the first request is sent.
        let io_thread = |task: std::fs::DirEntry| {
            let name = std::fs::read_to_string(task.path().join("comm"));
            name.is_ok_and(|name| name.trim() == "ssdgauge-io")
        };
        wait_for("requests", || {
            let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
            !sends || tasks.flatten().any(io_thread)
        });
        signal(&child, "STOP");
        // The case itself: longer than the second from which on a latency is a stall.
        let since = std::time::Instant::now();
        wait_for("two seconds", || since.elapsed() > std::time::Duration::from_secs(2));
        signal(&child, "CONT");
    };
    stop_in(0, true);
    stop_in(1, false);
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", errors());
    let still = findings(&file, "stood-still");
    assert!(still.iter().any(|text| text.contains("of the step")), "{still:?}");
    assert!(still.iter().any(|text| text.contains("since the step before")), "{still:?}");
    assert_eq!(findings(&file, "stalled"), Vec::<String>::new(), "the drive did not stall");
}
