//! Devices that are made for one scenario, and unmade in the opposite order.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The size of every image: enough for ext4 and for all labels of ZFS.
pub(crate) const SIZE: u64 = 16 << 20;

/// What was made for a scenario.
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

/// What a scenario has prepared: the target, what must not change, and what a refusal must say.
pub(crate) struct Case {
    pub(crate) target: String,
    /// Files and devices whose bytes are compared.
    pub(crate) victims: Vec<PathBuf>,
    pub(crate) words: String,
    pub(crate) out: Option<PathBuf>,
    /// Another copy of the program than the one that was built.
    pub(crate) program: Option<PathBuf>,
    /// Whether the owner gives up what the drive holds.
    pub(crate) erase: bool,
    /// The words that confirm it; those of the target where there are none.
    pub(crate) confirm: Option<String>,
}

impl Case {
    pub(crate) fn new(target: &str, victim: &Path, words: &str) -> Case {
        Case {
            target: target.into(),
            victims: vec![victim.to_owned()],
            words: words.into(),
            out: None,
            program: None,
            erase: true,
            confirm: None,
        }
    }
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap(), undo: Vec::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes an image of zeros.
    pub(crate) fn image(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::File::create(&path).unwrap().set_len(SIZE).unwrap();
        path
    }

    /// Attaches a loop device, or says why there is none.
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

    /// Makes an image with a loop device over it.
    pub(crate) fn drive(&mut self) -> Option<(String, PathBuf)> {
        let image = self.image("image");
        Some((self.attach(&image, &["--direct-io=on"])?, image))
    }

    /// Makes a zram device.
    pub(crate) fn zram(&mut self) -> Option<String> {
        let number = std::fs::read_to_string("/sys/class/zram-control/hot_add").ok()?;
        let number = number.trim().to_owned();
        std::fs::write(format!("/sys/block/zram{number}/disksize"), SIZE.to_string()).ok()?;
        self.undo.push(Undo::Zram(number.clone()));
        Some(format!("/dev/zram{number}"))
    }

    /// Runs a program that has to succeed.
    pub(crate) fn run(&self, words: &[&str]) {
        assert!(self.tries(words), "{words:?}");
    }

    pub(crate) fn tries(&self, words: &[&str]) -> bool {
        let output = Command::new(words[0]).args(&words[1..]).output();
        output.is_ok_and(|output| output.status.success())
    }

    /// Makes a file system that writes nothing on its own once it is mounted.
    pub(crate) fn format(&self, device: &str) {
        let options = "lazy_itable_init=0,lazy_journal_init=0";
        self.run(&["mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-E", options, device]);
    }

    /// Mounts `device` at a new folder `name`.
    pub(crate) fn mount(&mut self, device: &str, name: &str, options: &str) -> PathBuf {
        let point = self.path(name);
        std::fs::create_dir_all(&point).unwrap();
        let words = ["mount", "-o", options, device, point.to_str().unwrap()];
        self.run(&words);
        self.undo.push(Undo::Run(vec!["umount".into(), point.display().to_string()]));
        self.run(&["sync", "-f", point.to_str().unwrap()]);
        point
    }

    /// Does `words` when everything is unmade.
    pub(crate) fn later(&mut self, words: &[&str]) {
        self.undo.push(Undo::Run(words.iter().map(|word| (*word).to_owned()).collect()));
    }

    pub(crate) fn remove_later(&mut self, path: &Path) {
        self.undo.push(Undo::Remove(path.to_owned()));
    }

    /// Starts a shell line that prints `ready` and stays, and waits for that word.
    pub(crate) fn stays(&mut self, line: &str) {
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

    /// Starts the program on a target and waits until its run file holds something.
    pub(crate) fn runs(&mut self, arguments: &[&str]) {
        let out = self.path("first.ssdg");
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssdgauge"));
        command.args(arguments).arg("--out").arg(&out);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        self.undo.push(Undo::Kill(command.spawn().unwrap()));
        let since = Instant::now();
        while std::fs::metadata(&out).map_or(0, |file| file.len()) == 0 {
            assert!(since.elapsed() < Duration::from_secs(20), "{arguments:?} does not begin");
            std::thread::yield_now();
        }
    }

    /// Calls the program with the strongest words that its case allows.
    pub(crate) fn test(&self, case: &Case) -> Output {
        let built = PathBuf::from(env!("CARGO_BIN_EXE_ssdgauge"));
        let out = case.out.clone().unwrap_or_else(|| self.path("second.ssdg"));
        let words = case.confirm.clone().unwrap_or_else(|| confirmation(&case.target));
        let mut command = Command::new(case.program.clone().unwrap_or(built));
        command.args(["quick", &case.target, "--size", "1MiB", "--shorten", "50"]);
        command.args(["--confirm", &words]).arg("--out").arg(&out).stdin(Stdio::null());
        if case.erase {
            command.args(["--erase", &words]);
        }
        let output = command.output().unwrap();
        assert!(!out.exists(), "{}: a run file was made", case.target);
        output
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for undo in std::mem::take(&mut self.undo).into_iter().rev() {
            match undo {
                Undo::Run(words) => {
                    let _ = Command::new(&words[0]).args(&words[1..]).output();
                }
                Undo::Kill(mut child) => {
                    // Its own children too: each is a group.
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

/// Returns the words that confirm the device behind `target`; of its name, where it has no serial.
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

/// Returns the writes that the kernel has finished on the device `path`.
pub(crate) fn writes(path: &str) -> Option<u64> {
    let name = std::fs::canonicalize(path).ok()?;
    let name = name.file_name()?.to_str()?.to_owned();
    let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).ok()?;
    stat.split_whitespace().nth(4)?.parse().ok()
}
