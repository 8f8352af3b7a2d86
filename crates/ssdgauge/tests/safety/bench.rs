//! The test bench: devices of one scenario, removed in reverse order.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The size of every image, in bytes: enough for ext4 and for all labels of ZFS.
pub(crate) const SIZE: u64 = 16 << 20;

/// The devices, mounts and processes of a scenario.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    undo: Vec<Undo>,
}

enum Undo {
    Run(Vec<String>),
    Kill(Child),
    Remove(PathBuf),
    Zram(String),
}

/// A prepared scenario: the target, the files that must not change, and the expected refusal.
pub(crate) struct Case {
    pub(crate) target: String,
    /// Files and devices whose bytes are compared.
    pub(crate) victims: Vec<PathBuf>,
    /// Whether the target is swap, to which the kernel itself may write.
    pub(crate) kernel_writes: bool,
    /// A part of the expected error.
    pub(crate) expected: String,
    /// The expected exit code: 3, or 75 where the drive is free later.
    pub(crate) code: i32,
    pub(crate) out: Option<PathBuf>,
    /// A copy of the program; the one that was built if `None`.
    pub(crate) program: Option<PathBuf>,
    /// Whether the command has `--erase`.
    pub(crate) erase: bool,
    /// Whether the command has `--confined`, for machines that hide processes from the tests.
    pub(crate) confined: bool,
    /// The argument of `--confirm`; that of the target if `None`.
    pub(crate) confirm: Option<String>,
}

impl Case {
    pub(crate) fn new(target: &str, victim: &Path, expected: &str) -> Case {
        Case {
            target: target.into(),
            victims: vec![victim.to_owned()],
            kernel_writes: false,
            expected: expected.into(),
            code: 3,
            out: None,
            program: None,
            erase: true,
            confined: true,
            confirm: None,
        }
    }

    /// As [`Case::new`], for a drive that another run uses.
    pub(crate) fn busy(target: &str, victim: &Path, expected: &str) -> Case {
        Case { code: 75, ..Case::new(target, victim, expected) }
    }
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap(), undo: Vec::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Creates an image of zeros.
    pub(crate) fn image(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::File::create(&path).unwrap().set_len(SIZE).unwrap();
        path
    }

    /// Attaches a loop device; `None` where that is not possible.
    pub(crate) fn attach(&mut self, file: &Path, options: &[&str]) -> Option<String> {
        let output =
            Command::new("losetup").args(options).args(["--show", "-f"]).arg(file).output();
        let output = output.ok().filter(|output| output.status.success())?;
        let path = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        if !options.contains(&"-r") {
            self.run(&["blockdev", "--setrw", &path]);
        }
        self.undo.push(Undo::Run(vec!["losetup".into(), "-d".into(), path.clone()]));
        Some(path)
    }

    /// Creates an image and attaches a loop device to it.
    pub(crate) fn drive(&mut self) -> Option<(String, PathBuf)> {
        let image = self.image("image");
        Some((self.attach(&image, &["--direct-io=on"])?, image))
    }

    /// Creates a zram device.
    pub(crate) fn zram(&mut self) -> Option<String> {
        let number = std::fs::read_to_string("/sys/class/zram-control/hot_add").ok()?;
        let number = number.trim().to_owned();
        std::fs::write(format!("/sys/block/zram{number}/disksize"), SIZE.to_string()).ok()?;
        self.undo.push(Undo::Zram(number.clone()));
        Some(format!("/dev/zram{number}"))
    }

    /// Runs a program that has to succeed.
    pub(crate) fn run(&self, command: &[&str]) {
        assert!(self.succeeds(command), "{command:?}");
    }

    /// Runs a program and returns whether it succeeds.
    pub(crate) fn succeeds(&self, command: &[&str]) -> bool {
        let output = Command::new(command[0]).args(&command[1..]).output();
        output.is_ok_and(|output| output.status.success())
    }

    /// Creates a file system without journal and without lazy initialization: while it is mounted
    /// and idle, the kernel writes nothing.
    pub(crate) fn format(&self, device: &str) {
        let options = "lazy_itable_init=0,lazy_journal_init=0";
        self.run(&["mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-E", options, device]);
    }

    /// Mounts `device` at a new folder `name`.
    pub(crate) fn mount(&mut self, device: &str, name: &str, options: &str) -> PathBuf {
        let point = self.path(name);
        std::fs::create_dir_all(&point).unwrap();
        self.run(&["mount", "-o", options, device, point.to_str().unwrap()]);
        self.undo.push(Undo::Run(vec!["umount".into(), point.display().to_string()]));
        self.run(&["sync", "-f", point.to_str().unwrap()]);
        point
    }

    /// Runs `command` at the end of the scenario.
    pub(crate) fn run_at_end(&mut self, command: &[&str]) {
        self.undo.push(Undo::Run(command.iter().map(|part| (*part).to_owned()).collect()));
    }

    /// Removes `path` at the end of the scenario.
    pub(crate) fn remove_at_end(&mut self, path: &Path) {
        self.undo.push(Undo::Remove(path.to_owned()));
    }

    /// Starts a shell line in the background, and waits until it has run its command `READY`.
    pub(crate) fn start_until_ready(&mut self, line: &str) {
        let flag = self.path(&format!("ready-{}", self.undo.len()));
        let line = line.replace("READY", &format!("touch {}", flag.display()));
        let mut command = Command::new("sh");
        command.args(["-c", &line]).stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        self.undo.push(Undo::Kill(command.spawn().unwrap()));
        let since = Instant::now();
        while !flag.exists() {
            assert!(since.elapsed() < Duration::from_secs(20), "'{line}' does not become ready");
            std::thread::yield_now();
        }
    }

    /// Starts the program on a target and waits until its run file has content.
    pub(crate) fn start_run(&mut self, arguments: &[&str]) {
        let out = self.path("first.ssdg");
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssdgauge"));
        command.args(arguments).arg("--out").arg(&out);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        self.undo.push(Undo::Kill(command.spawn().unwrap()));
        let since = Instant::now();
        while std::fs::metadata(&out).map_or(0, |file| file.len()) == 0 {
            assert!(since.elapsed() < Duration::from_secs(20), "{arguments:?} does not start");
            std::thread::yield_now();
        }
    }

    /// Runs `quick` with every confirmation that the case allows.
    pub(crate) fn quick(&self, case: &Case) -> Output {
        let built = PathBuf::from(env!("CARGO_BIN_EXE_ssdgauge"));
        let out = case.out.clone().unwrap_or_else(|| self.path("second.ssdg"));
        let confirm = case.confirm.clone().unwrap_or_else(|| confirmation(&case.target));
        let mut command = Command::new(case.program.clone().unwrap_or(built));
        command.args(["quick", &case.target, "--size", "1MiB", "--shorten", "50"]);
        command.args(["--confirm", &confirm]).arg("--out").arg(&out).stdin(Stdio::null());
        if case.confined {
            command.args(["--confined", &confirm]);
        }
        if case.erase {
            command.args(["--erase", &confirm]);
        }
        let output = command.output().unwrap();
        assert!(!out.exists(), "{}: a run file was created", case.target);
        output
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for undo in std::mem::take(&mut self.undo).into_iter().rev() {
            match undo {
                Undo::Run(command) => {
                    let _ = Command::new(&command[0]).args(&command[1..]).output();
                }
                Undo::Kill(mut child) => {
                    // The whole process group, so that its children end too.
                    let group = format!("-{}", child.id());
                    let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
                    let _ = child.wait();
                }
                Undo::Remove(path) => {
                    let _ = std::fs::remove_file(path);
                }
                Undo::Zram(number) => {
                    let _ = std::fs::write(format!("/sys/block/zram{number}/reset"), "1");
                    let _ = std::fs::write("/sys/class/zram-control/hot_remove", number);
                }
            }
        }
    }
}

/// Returns the argument of `--confirm` for `target`: its serial, or name and size without one.
pub(crate) fn confirmation(target: &str) -> String {
    let real = std::fs::canonicalize(target).unwrap_or_else(|_| target.into());
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let read = |attribute: &str| std::fs::read_to_string(format!("/sys/block/{name}/{attribute}"));
    let serial = read("serial").or_else(|_| read("device/serial")).unwrap_or_default();
    if !serial.trim().is_empty() {
        return serial.trim().to_owned();
    }
    let sectors: u64 = read("size").unwrap_or_default().trim().parse().unwrap_or(0);
    format!("{name}:{}", sectors * 512)
}

/// Returns the number of writes that the kernel has completed on the device `path`.
pub(crate) fn writes(path: &str) -> Option<u64> {
    let name = std::fs::canonicalize(path).ok()?;
    let name = name.file_name()?.to_str()?.to_owned();
    let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).ok()?;
    stat.split_whitespace().nth(4)?.parse().ok()
}
