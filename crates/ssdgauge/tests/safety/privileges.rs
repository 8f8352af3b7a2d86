//! Privileges of the processes of a run, in every thread.

use crate::safety::bench::{Bench, confirmation};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// CAP_IPC_LOCK: memory of the rings, where RLIMIT_MEMLOCK cannot be raised.
const LOCK_MEMORY: u64 = 1 << 14;
/// CAP_SYS_ADMIN: query commands. Only a SCSI device needs CAP_SYS_RAWIO.
const OF_THE_HELPER: u64 = 1 << 21;
/// CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE and CAP_SYS_ADMIN: the open files of other processes.
const OF_THE_SEARCH: u64 = 1 << 2 | 1 << 19 | 1 << 21;
/// A file that the caller of the program has open.
const CALLERS_FILE: &str = "/etc/hostname";
/// A user id without any other use on the machine.
const OWNER: u32 = 4_321;

/// A run on a loop device.
struct Run {
    bench: Bench,
    device: String,
    out: PathBuf,
    child: Child,
}

impl Run {
    /// Starts a run with its results in a folder of `owner`, and waits for its run file.
    fn start(owner: u32, shorten: &str) -> Option<Run> {
        Run::start_with(owner, |_, device| {
            ["quick", device, "--shorten", shorten, "--size", "8MiB"].map(str::to_owned).to_vec()
        })
    }

    /// The same for the suite with the text `suite`.
    fn start_suite(owner: u32, suite: &str) -> Option<Run> {
        Run::start_with(owner, |bench, device| {
            let file = bench.path("suite.toml");
            std::fs::write(&file, suite).unwrap();
            vec!["run".into(), file.to_str().unwrap().into(), device.into()]
        })
    }

    fn start_with(owner: u32, words: impl FnOnce(&Bench, &str) -> Vec<String>) -> Option<Run> {
        let mut bench = Bench::new();
        let Some((device, _)) = bench.drive() else {
            println!("skipped: no loop device available (run as root)");
            return None;
        };
        std::os::unix::fs::chown(bench.folder.path(), Some(owner), Some(owner)).unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(bench.folder.path(), open).unwrap();
        let out = bench.path("a.ssdg");
        // With an open descriptor of the caller, as a lock of a shell script.
        let mut command = Command::new("sh");
        let line = "exec 9<\"$0\"; exec \"$@\"";
        command.args(["-c", line, CALLERS_FILE, env!("CARGO_BIN_EXE_ssdgauge")]);
        let confirm = confirmation(&device);
        command.args(words(&bench, &device)).args(["--confirm", &confirm, "--confined", &confirm]);
        command.arg("--out").arg(&out);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let run = Run { bench, device, out, child };
        let started = || std::fs::metadata(&run.out).map_or(0, |file| file.len()) > 0;
        wait_for(started, "no run file is created");
        Some(run)
    }

    /// Returns the status of every thread.
    fn threads(&self) -> Vec<Status> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        threads.filter_map(|thread| Status::read(&thread.unwrap().path())).collect()
    }

    /// Returns the process id of the privileged helper.
    fn helper(&self) -> u32 {
        // Meanwhile, a look at the drive may be in progress.
        child(self.child.id(), "privileged-helper")
    }

    /// Waits for the end; returns the exit code and stderr.
    fn end(mut self) -> (Option<i32>, String, Bench) {
        let mut stderr = String::new();
        let mut pipe = self.child.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut pipe, &mut stderr).unwrap();
        (self.child.wait().unwrap().code(), stderr, self.bench)
    }
}

/// The status of a thread in /proc.
#[derive(Debug)]
struct Status {
    users: Vec<u32>,
    capabilities: [u64; 5],
    no_new_privileges: bool,
    has_filter: bool,
}

impl Status {
    fn read(folder: &Path) -> Option<Status> {
        let text = std::fs::read_to_string(folder.join("status")).ok()?;
        let line = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim();
        let set = |key: &str| u64::from_str_radix(line(key), 16).unwrap();
        Some(Status {
            users: line("Uid:").split_whitespace().map(|id| id.parse().unwrap()).collect(),
            capabilities: ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"].map(set),
            no_new_privileges: line("NoNewPrivs:") == "1",
            has_filter: line("Seccomp:") == "2",
        })
    }
}

/// Returns the process id of the child of `parent` that was started with `command`.
fn child(parent: u32, command: &str) -> u32 {
    let list = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
    let is_it = |id: &&str| {
        let line = std::fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.split('\0').nth(1) == Some(command)
    };
    list.split_whitespace().find(is_it).expect("the process has that child").parse().unwrap()
}

/// Returns the paths that the process has open.
fn open_files(process: &Path) -> Vec<PathBuf> {
    let open = std::fs::read_dir(process.join("fd")).unwrap();
    open.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok()).collect()
}

fn wait_for(condition: impl Fn() -> bool, problem: &str) {
    let since = Instant::now();
    while !condition() {
        assert!(since.elapsed() < Duration::from_secs(20), "{problem}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn no_thread_of_a_run_has_privileges_and_the_privileged_helper_ends_with_it() {
    for owner in [0, OWNER] {
        let Some(mut run) = Run::start(owner, "4") else { return };
        // Engines start and end in this time: all of their threads are checked.
        let since = Instant::now();
        let mut checked = 0;
        while since.elapsed() < Duration::from_millis(700) {
            for thread in run.threads() {
                assert!(thread.users.iter().all(|user| *user == owner), "{thread:?}");
                let held = thread.capabilities.iter().fold(0, |all, set| all | set);
                assert_eq!(held & !LOCK_MEMORY, 0, "{thread:?}");
                assert!(thread.no_new_privileges && thread.has_filter, "{thread:?}");
                checked += 1;
            }
        }
        assert!(checked > 1, "only {checked} threads were checked");
        let search = child(run.helper(), "privileged-search");
        let [helper, search] =
            [run.helper(), search].map(|id| PathBuf::from(format!("/proc/{id}")));
        // The process with the drive cannot look into others, and the one that can has no drive.
        for (process, capabilities, has_drive) in
            [(&helper, OF_THE_HELPER, true), (&search, OF_THE_SEARCH, false)]
        {
            let status = Status::read(process).unwrap();
            let [inherited, permitted, effective, bounding, ambient] = status.capabilities;
            assert_eq!((inherited, ambient), (0, 0), "{status:?}");
            assert_eq!((permitted | effective | bounding) & !capabilities, 0, "{status:?}");
            assert!(status.no_new_privileges && status.has_filter, "{status:?}");
            let open = open_files(process);
            assert_eq!(open.iter().any(|path| path == Path::new(&run.device)), has_drive);
            assert!(open.iter().all(|path| path != Path::new(CALLERS_FILE)), "{open:?}");
        }
        run.child.kill().unwrap();
        run.child.wait().unwrap();
        for process in [helper, search] {
            let stat = || std::fs::read_to_string(process.join("stat"));
            let is_gone = || stat().map_or(true, |stat| stat.contains(") Z "));
            wait_for(is_gone, "a privileged process outlives its run");
        }
    }
}

/// Opens `device` as a program does that wants it for itself, such as mkfs or mount.
fn claim(device: &str) -> std::io::Result<std::fs::File> {
    let exclusive = rustix::fs::OFlags::EXCL.bits() as i32;
    let mut options = std::fs::OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true), exclusive).open(device)
}

#[test]
fn a_drive_stays_claimed_as_long_as_the_helper_of_a_killed_run_works() {
    let Some(mut run) = Run::start(0, "4") else { return };
    // Its next parent: the kernel wakes and ends a stopped process whose group has none in its session.
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own)).unwrap();
    let helper = rustix::process::Pid::from_raw(run.helper() as i32).unwrap();
    let signal = |signal| rustix::process::kill_process(helper, signal).unwrap();
    // As within a command that takes minutes, such as a format: it does not end.
    signal(rustix::process::Signal::STOP);
    run.child.kill().unwrap();
    run.child.wait().unwrap();
    let claimed = claim(&run.device);
    signal(rustix::process::Signal::CONT);
    let refused = claimed.expect_err("the helper can still change the claimed drive");
    assert_eq!(refused.kind(), std::io::ErrorKind::ResourceBusy);
    wait_for(|| claim(&run.device).is_ok(), "the drive stays claimed");
    rustix::process::set_child_subreaper(None).unwrap();
}

/// A fill that waits for the check of the drive through the helper: the one before it takes long enough to stop that.
const TWO_FILLS: &str = r#"
[suite]
id = "fills"
revision = 1
title = "Two fills"
[[test]]
id = "load"
revision = 1
title = "Load"
prepare = [{ fill = "sequential", span = "4MiB" }, { rest = "5s" }, { fill = "random", span = "8MiB" }]
stream = { access = "random", block_size = "4KiB", read_percent = 100, queue_depth = 1, span = "4MiB" }
until = { time = "1h" }
score = { mean_of = "iops" }
"#;

#[test]
fn a_signal_ends_a_run_within_seconds_whose_privileged_process_is_stopped() {
    for (owner, is_search) in [(0, false), (OWNER, false), (0, true), (OWNER, true)] {
        let Some(mut run) = Run::start_suite(owner, TWO_FILLS) else { return };
        let has = |what: &str| {
            let query = format!("SELECT count(*) FROM step WHERE {what}");
            let file = rusqlite::Connection::open(&run.out);
            file.and_then(|file| file.query_row(&query, [], |row| row.get(0))).unwrap_or(0)
        };
        wait_for(|| has("phase_kind='rest' AND state='running'") == 1, "no rest begins");
        let helper = run.helper();
        let stopped = if is_search { child(helper, "privileged-search") } else { helper };
        let pid = |number: u32| rustix::process::Pid::from_raw(number as i32).unwrap();
        rustix::process::kill_process(pid(stopped), rustix::process::Signal::STOP).unwrap();
        let waits = || has("phase_kind='fill' AND state='running'") == 1;
        wait_for(waits, "the second fill does not begin");
        let since = Instant::now();
        let of_run = rustix::process::Pid::from_child(&run.child);
        rustix::process::kill_process(of_run, rustix::process::Signal::TERM).unwrap();
        let mut stderr = String::new();
        std::io::Read::read_to_string(&mut run.child.stderr.take().unwrap(), &mut stderr).unwrap();
        let code = run.child.wait().unwrap().code();
        // A reply was awaited for 60 s.
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
        // What was stopped continues, so that the run ends in order.
        assert_eq!(code, Some(75), "{owner} {is_search}: {stderr}");
        claim(&run.device).unwrap();
    }
}

#[test]
fn a_run_that_has_ended_leaves_its_drive_free() {
    let Some(run) = Run::start(0, "50") else { return };
    let device = run.device.clone();
    let (code, stderr, _bench) = run.end();
    assert_eq!(code, Some(0), "{stderr}");
    claim(&device).unwrap();
}

#[test]
fn results_belong_to_the_owner_of_their_folder_and_the_run_can_be_resumed() {
    let Some(mut run) = Run::start(OWNER, "20") else { return };
    run.child.kill().unwrap();
    run.child.wait().unwrap();
    let confirm = confirmation(&run.device);
    let output = Command::new(env!("CARGO_BIN_EXE_ssdgauge"))
        .args(["resume", run.out.to_str().unwrap(), "--confirm", &confirm])
        .args(["--confined", &confirm])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["a.ssdg", "a.html"] {
        assert_eq!(std::fs::metadata(run.bench.path(name)).unwrap().uid(), OWNER, "{name}");
    }
    let file = rusqlite::Connection::open(&run.out).unwrap();
    let kept: String = file
        .query_row("SELECT value FROM environment WHERE key = 'rights'", [], |row| row.get(0))
        .unwrap();
    assert!(kept.contains(&format!("user {OWNER} ")), "{kept}");
    // The helper states what the kernel enforced in its own process. A kernel has Landlock for both, or
    // for neither.
    let has_landlock = kept.contains("writes only below the results (Landlock");
    let of_helper = "requests to the drive (only the attributes of the plan (Landlock";
    assert_eq!(kept.contains(of_helper), has_landlock, "{kept}");
    assert_eq!(kept.matches("system calls of a list only (seccomp)").count(), 2, "{kept}");
    let journal = run.bench.path("a.ssdg-journal");
    assert!(!journal.exists(), "the journal is not removed");
}

#[test]
fn a_program_that_opens_the_drive_during_a_run_stops_it_before_its_next_write() {
    for owner in [0, OWNER] {
        let Some(mut run) = Run::start(owner, "10") else { return };
        let line = format!("exec 7<>{}; READY; exec sleep 60", run.device);
        run.bench.start_until_ready(&line);
        let out = run.out.clone();
        let (code, stderr, _bench) = run.end();
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains("is open in sleep (process"), "{stderr}");
        let file = rusqlite::Connection::open(out).unwrap();
        let count = "SELECT count(*) FROM finding WHERE kind = 'drive-changed'";
        let count: i64 = file.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(count, 1);
    }
}

#[test]
fn root_without_capabilities_as_in_a_container_runs_on_a_scratch_file() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: not root");
        return;
    }
    // The results belong to another user, whom root without SETUID cannot become.
    for (owner, mode) in [(0, 0o755), (OWNER, 0o777)] {
        let bench = Bench::new();
        std::os::unix::fs::chown(bench.folder.path(), Some(owner), Some(owner)).unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(bench.folder.path(), open).unwrap();
        let out = bench.path("a.ssdg");
        let output = Command::new("setpriv")
            .args(["--bounding-set", "-all", "--inh-caps", "-all"])
            .args([env!("CARGO_BIN_EXE_ssdgauge"), "quick", "."])
            .args(["--size", "8MiB", "--shorten", "100", "--out"])
            .arg(&out)
            .current_dir(bench.folder.path())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "owner {owner}: {stderr}");
        let file = rusqlite::Connection::open(&out).unwrap();
        let kept: String = file
            .query_row("SELECT value FROM environment WHERE key = 'rights'", [], |row| row.get(0))
            .unwrap();
        assert!(kept.contains("user 0 without capabilities"), "{kept}");
    }
}
