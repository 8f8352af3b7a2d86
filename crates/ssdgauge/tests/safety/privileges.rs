//! What a run may do once it has its drive: nothing that it does not need, in any thread.

use crate::bench::{Bench, confirmation};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Locking memory for the rings, where its limit is out of reach.
const LOCK_MEMORY: u64 = 1 << 14;
/// Questions to the drive, other processes' files, and passing ATA commands.
const OF_THE_PART: u64 = 1 << 2 | 1 << 17 | 1 << 19 | 1 << 21;
const OWNER: u32 = 4_321;

/// A run on a loop device.
struct Run {
    bench: Bench,
    device: String,
    out: PathBuf,
    child: Child,
}

impl Run {
    /// Begins a run whose results lie in a folder of `owner`, and waits for its run file.
    fn begin(owner: u32, shorten: &str) -> Option<Run> {
        let mut bench = Bench::new();
        let Some((device, _)) = bench.drive() else {
            println!("skipped: no loop device to be had (run as root)");
            return None;
        };
        std::os::unix::fs::chown(bench.folder.path(), Some(owner), Some(owner)).unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(bench.folder.path(), open).unwrap();
        let out = bench.path("a.ssdg");
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssdgauge"));
        command.args(["quick", &device, "--confirm", &confirmation(&device), "--shorten", shorten]);
        command.args(["--size", "8MiB"]).arg("--out").arg(&out);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let run = Run { bench, device, out, child };
        let started = || std::fs::metadata(&run.out).map_or(0, |file| file.len()) > 0;
        wait(started, "no run file appears");
        Some(run)
    }

    /// Returns the status of every thread.
    fn threads(&self) -> Vec<Status> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        threads.filter_map(|thread| Status::read(&thread.unwrap().path())).collect()
    }

    /// Returns the privileged part.
    fn part(&self) -> u32 {
        let own = self.child.id();
        let list = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap();
        list.trim().parse().expect("the run has one child")
    }

    /// Waits for the end; returns the exit code and what was said.
    fn end(mut self) -> (Option<i32>, String, Bench) {
        let mut words = String::new();
        let mut pipe = self.child.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut pipe, &mut words).unwrap();
        (self.child.wait().unwrap().code(), words, self.bench)
    }
}

/// What /proc says of a thread.
#[derive(Debug)]
struct Status {
    users: Vec<u32>,
    capabilities: [u64; 5],
    no_new_rights: bool,
}

impl Status {
    fn read(folder: &Path) -> Option<Status> {
        let text = std::fs::read_to_string(folder.join("status")).ok()?;
        let line = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim();
        let set = |key: &str| u64::from_str_radix(line(key), 16).unwrap();
        Some(Status {
            users: line("Uid:").split_whitespace().map(|id| id.parse().unwrap()).collect(),
            capabilities: ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"].map(set),
            no_new_rights: line("NoNewPrivs:") == "1",
        })
    }
}

fn wait(until: impl Fn() -> bool, problem: &str) {
    let since = Instant::now();
    while !until() {
        assert!(since.elapsed() < Duration::from_secs(20), "{problem}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn no_thread_of_a_run_keeps_a_right_and_the_part_that_does_ends_with_it() {
    for owner in [0, OWNER] {
        let Some(mut run) = Run::begin(owner, "4") else { return };
        // Engines are started and ended meanwhile: all of their threads are looked at.
        let since = Instant::now();
        let mut seen = 0;
        while since.elapsed() < Duration::from_millis(700) {
            for thread in run.threads() {
                assert!(thread.users.iter().all(|user| *user == owner), "{thread:?}");
                let held = thread.capabilities.iter().fold(0, |all, set| all | set);
                assert_eq!(held & !LOCK_MEMORY, 0, "{thread:?}");
                assert!(thread.no_new_rights, "{thread:?}");
                seen += 1;
            }
        }
        assert!(seen > 1, "only {seen} threads were seen");
        let part = PathBuf::from(format!("/proc/{}", run.part()));
        let status = Status::read(&part).unwrap();
        let [inherited, permitted, effective, _, ambient] = status.capabilities;
        assert_eq!((inherited, ambient), (0, 0), "{status:?}");
        assert_eq!((permitted | effective) & !OF_THE_PART, 0, "{status:?}");
        assert!(status.no_new_rights);
        run.child.kill().unwrap();
        run.child.wait().unwrap();
        let gone = || {
            std::fs::read_to_string(part.join("stat")).map_or(true, |stat| stat.contains(") Z "))
        };
        wait(gone, "the privileged part outlives its run");
    }
}

#[test]
fn results_belong_to_the_owner_of_their_folder_and_the_run_can_go_on() {
    let Some(mut run) = Run::begin(OWNER, "20") else { return };
    run.child.kill().unwrap();
    run.child.wait().unwrap();
    let words = confirmation(&run.device);
    let output = Command::new(env!("CARGO_BIN_EXE_ssdgauge"))
        .args(["resume", run.out.to_str().unwrap(), "--confirm", &words])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["a.ssdg", "a.html"] {
        assert_eq!(std::fs::metadata(run.bench.path(name)).unwrap().uid(), OWNER, "{name}");
    }
    let file = rusqlite::Connection::open(&run.out).unwrap();
    let rights: String = file
        .query_row("SELECT value FROM environment WHERE key = 'rights'", [], |row| row.get(0))
        .unwrap();
    assert!(rights.contains(&format!("user {OWNER} ")), "{rights}");
    let journal = run.bench.path("a.ssdg-journal");
    assert!(!journal.exists(), "the journal is left behind");
}

#[test]
fn a_program_that_opens_the_drive_during_a_run_stops_it_before_its_next_write() {
    for owner in [0, OWNER] {
        let Some(mut run) = Run::begin(owner, "10") else { return };
        let line = format!("exec 7<>{}; READY; exec sleep 60", run.device);
        run.bench.stays(&line);
        let out = run.out.clone();
        let (code, words, _bench) = run.end();
        assert_eq!(code, Some(1), "{words}");
        assert!(words.contains("is open in sleep (process"), "{words}");
        let file = rusqlite::Connection::open(out).unwrap();
        let told = "SELECT count(*) FROM finding WHERE kind = 'drive-changed'";
        let told: i64 = file.query_row(told, [], |row| row.get(0)).unwrap();
        assert_eq!(told, 1);
    }
}
