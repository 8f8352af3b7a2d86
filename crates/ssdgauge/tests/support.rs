//! Support of the tests: calls of the program, run files, loop devices.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot be set up has failed"
)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The test bench: a folder for one test.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a command that calls the program in this folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssdgauge"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            // The configuration of whoever runs the tests does not count.
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS");
        command
    }

    /// Calls the program.
    pub(crate) fn call(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Calls the program, which must succeed, and returns its stdout.
    pub(crate) fn print(&self, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Returns the sorted names of the files in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns `text` with single spaces between its words, without the folds of its lines.
pub(crate) fn unfolded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the number that the query `sql` selects from a run file.
pub(crate) fn query(file: &Path, sql: &str) -> i64 {
    rusqlite::Connection::open(file).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Opens the run file `file` to change its records: as one of format 2, which has no chain of hashes that a
/// change contradicts.
pub(crate) fn open_to_change(file: impl AsRef<Path>) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(file).unwrap();
    for table in ["answer", "percentile", "log_page", "digest", "outcome", "link"] {
        connection.execute_batch(&format!("DROP TABLE IF EXISTS {table}")).unwrap();
    }
    connection.execute_batch("PRAGMA user_version = 2").unwrap();
    connection
}

/// Sends a signal by its name.
pub(crate) fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let status = Command::new("kill").args(["-s", name, &pid]).status();
    assert!(status.unwrap().success());
}

/// Waits until `condition` holds, 60 s at most.
pub(crate) fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let since = Instant::now();
    while !condition() {
        assert!(since.elapsed() < Duration::from_secs(60), "not within 60 s: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns whether a measuring step of a run is running.
pub(crate) fn measures(file: &Path) -> bool {
    let sql = "SELECT 1 FROM step WHERE phase_kind='measure' AND state='running'";
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    rusqlite::Connection::open_with_flags(file, flags)
        .is_ok_and(|connection| connection.query_row(sql, [], |_| Ok(())).is_ok())
}

/// A loop device, detached when it is dropped.
pub(crate) struct Loop {
    pub(crate) path: String,
}

impl Loop {
    /// Attaches a loop device of `size` bytes to a new file in `folder`; prints why where that is not
    /// possible.
    pub(crate) fn attach(folder: &Path, size: u64) -> Option<Loop> {
        let image = folder.join("image");
        std::fs::File::create(&image).unwrap().set_len(size).unwrap();
        let output =
            Command::new("losetup").args(["--direct-io=on", "--show", "-f"]).arg(&image).output();
        match output {
            Ok(output) if output.status.success() => {
                let path = text(&output.stdout).trim().to_owned();
                let _ = Command::new("blockdev").args(["--setrw", &path]).status();
                Some(Loop { path })
            }
            other => {
                println!("skipped: no loop device available ({other:?})");
                None
            }
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.path.strip_prefix("/dev/").unwrap()
    }

    /// Returns the number of writes that the kernel has completed on it.
    pub(crate) fn writes(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/sys/block/{}/stat", self.name())).unwrap();
        stat.split_whitespace().nth(4).unwrap().parse().unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.path]).status();
    }
}

/// A control group that throttles one block device, removed when it is dropped.
pub(crate) struct Throttle {
    folder: PathBuf,
}

impl Throttle {
    /// Limits `device` to `rate` reads and `rate` writes a second for programs inside the group;
    /// prints why where that is not possible.
    pub(crate) fn new(device: &Loop, rate: u64) -> Option<Throttle> {
        let throttle = Throttle::limit(device, rate);
        if throttle.is_none() {
            println!("skipped: no control group that throttles block devices (cgroup v1 blkio)");
        }
        throttle
    }

    /// Limits `device` in the same group; returns whether that is possible.
    pub(crate) fn also(&self, device: &Loop, rate: u64) -> bool {
        self.limit_in(device, rate).is_some()
    }

    fn limit(device: &Loop, rate: u64) -> Option<Throttle> {
        let folder = PathBuf::from(format!(
            "/sys/fs/cgroup/blkio/ssdgauge-{}-{}",
            std::process::id(),
            device.name()
        ));
        std::fs::create_dir(&folder).ok()?;
        let throttle = Throttle { folder };
        throttle.limit_in(device, rate)?;
        Some(throttle)
    }

    fn limit_in(&self, device: &Loop, rate: u64) -> Option<()> {
        let number = std::fs::read_to_string(format!("/sys/block/{}/dev", device.name())).ok()?;
        let limit = format!("{} {rate}", number.trim());
        for direction in ["read", "write"] {
            let file = format!("blkio.throttle.{direction}_iops_device");
            std::fs::write(self.folder.join(file), &limit).ok()?;
        }
        Some(())
    }

    /// Returns a shell that runs `program` inside the group.
    pub(crate) fn inside(&self, program: &str) -> Command {
        let mut command = Command::new("sh");
        let tasks = self.folder.join("tasks");
        command.args(["-c", &format!("echo $$ > {}; exec {program}", tasks.display())]);
        command
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.folder);
    }
}
