//! A confirmation is valid for the contents that were confirmed: `resume` overwrites nothing but the
//! test data of its own run.

use crate::safety::bench::{Bench, SIZE, confirmation, writes};
use crate::safety::table::write_figure;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A loop device with a run that was killed in a measuring step.
struct Killed {
    bench: Bench,
    device: String,
    image: PathBuf,
    confirm: String,
}

impl Killed {
    /// Starts a run on a new loop device and kills it in a measuring step; `None` without root.
    fn start() -> Option<Killed> {
        let mut bench = Bench::new();
        let (device, image) = bench.drive()?;
        let confirm = confirmation(&device);
        let killed = Killed { bench, device, image, confirm };
        let size = SIZE.to_string();
        let run = ["quick", &killed.device, "--size", &size, "--shorten", "25"];
        let mut child = killed.command(&run).arg("--out").arg(killed.file()).spawn().unwrap();
        let since = Instant::now();
        while !killed.measures() {
            assert!(since.elapsed() < Duration::from_secs(60), "no measuring step starts");
            assert!(child.try_wait().unwrap().is_none(), "the run ended early");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        Some(killed)
    }

    fn file(&self) -> PathBuf {
        self.bench.path("a.ssdg")
    }

    fn measures(&self) -> bool {
        let sql = "SELECT 1 FROM step WHERE phase_kind='measure' AND state='running'";
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        rusqlite::Connection::open_with_flags(self.file(), flags)
            .is_ok_and(|connection| connection.query_row(sql, [], |_| Ok(())).is_ok())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssdgauge"));
        command.args(arguments);
        command.args(["--confirm", &self.confirm, "--confined", &self.confirm]);
        command.stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command
    }

    fn resume(&self, more: &[&str]) -> Output {
        let file = self.file();
        self.command(&["resume", file.to_str().unwrap()]).args(more).output().unwrap()
    }

    /// Resumes the run, which has to be refused with `expected`; no byte of `image` may change.
    fn check_refused(&self, image: &Path, expected: &str) {
        self.bench.run(&["sync", image.to_str().unwrap()]);
        let before = std::fs::read(image).unwrap();
        let counted = writes(&self.device);
        let output = self.resume(&[]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{stderr}");
        for part in [expected, "nothing was written", "--erase"] {
            assert!(stderr.contains(part), "'{part}' is missing in: {stderr}");
        }
        assert_eq!(writes(&self.device), counted, "the kernel counted writes");
        assert!(std::fs::read(image).unwrap() == before, "bytes changed on the drive");
    }

    /// Waits until the kernel has released the device of the killed run.
    fn wait_until_free(&self) {
        let since = Instant::now();
        while self.is_claimed() {
            assert!(since.elapsed() < Duration::from_secs(20), "{} stays busy", self.device);
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn is_claimed(&self) -> bool {
        let flags = rustix::fs::OFlags::EXCL.bits() as i32;
        std::fs::File::options().write(true).custom_flags(flags).open(&self.device).is_err()
    }

    /// Attaches the loop device again, over `image`.
    fn attach_again(&self, image: &Path) {
        self.wait_until_free();
        self.bench.run(&["losetup", "-d", &self.device]);
        let image = image.to_str().unwrap();
        let since = Instant::now();
        // The kernel releases a device some time after it was detached.
        while !self.bench.succeeds(&["losetup", "--direct-io=on", &self.device, image]) {
            assert!(since.elapsed() < Duration::from_secs(20), "{} stays busy", self.device);
            std::thread::sleep(Duration::from_millis(50));
        }
        self.bench.run(&["blockdev", "--setrw", &self.device]);
    }
}

fn write(image: &Path, at: u64, bytes: &[u8]) {
    std::fs::File::options().write(true).open(image).unwrap().write_all_at(bytes, at).unwrap();
}

#[test]
fn a_resumed_run_overwrites_only_its_own_test_data() {
    let Some(killed) = Killed::start() else {
        println!("skipped: no loop device available");
        return;
    };
    // Its own data, whether the first block holds the ownership label or a block of the workload.
    let run = killed.resume(&[]);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));

    let mut scenarios = 0;
    let mut refused = |killed: &Killed, image: &Path, expected: &str| {
        killed.check_refused(image, expected);
        scenarios += 1;
    };
    // A file system that was created after the kill, with a file in it.
    let mut killed = Killed::start().unwrap();
    killed.wait_until_free();
    killed.bench.format(&killed.device);
    let device = killed.device.clone();
    let point = killed.bench.mount(&device, "point", "rw");
    std::fs::write(point.join("diary"), "dear diary").unwrap();
    killed.bench.run(&["umount", point.to_str().unwrap()]);
    refused(&killed, &killed.image, "ext4 file system");
    // With --erase it is overwritten.
    let confirm = killed.confirm.clone();
    let run = killed.resume(&["--erase", &confirm]);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));

    // Signatures that leave the first block unchanged, and data that replace it.
    let signatures: [(u64, &[u8], &str); 4] = [
        (65_600, b"_BHRfS_M", "btrfs"),
        (512, b"EFI PART", "GPT"),
        (0, b"dear diary", "unknown kind"),
        (SIZE - 512, b"EFI PART", "backup partition table"),
    ];
    let killed = Killed::start().unwrap();
    for (at, bytes, expected) in signatures {
        let before = std::fs::read(&killed.image).unwrap();
        write(&killed.image, at, bytes);
        refused(&killed, &killed.image, expected);
        write(&killed.image, 0, &before);
    }

    // Another image of equal size as the backing file of the same device: with data, empty, or a copy; and the same
    // image, which without a serial cannot be distinguished from a copy.
    let other = killed.bench.image("other");
    write(&other, 700_000, b"dear diary");
    let empty = killed.bench.image("empty");
    let copy = killed.bench.path("copy");
    std::fs::copy(&killed.image, &copy).unwrap();
    for image in [&other, &empty, &copy, &killed.image] {
        killed.attach_again(image);
        refused(&killed, image, "may not be the drive of this run");
    }
    write_figure("resumed on other contents", scenarios);
}

/// Returns the kinds of the phases whose steps began after step `since`, in their order, and the texts of
/// the findings of the kind `resumed`.
fn after_resume(file: &Path, since: i64) -> (Vec<String>, Vec<String>) {
    let connection = rusqlite::Connection::open(file).unwrap();
    let texts = |sql: &str| {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>()
    };
    let kinds = texts(&format!("SELECT phase_kind FROM step WHERE id > {since} ORDER BY id"));
    (kinds, texts("SELECT text FROM finding WHERE kind = 'resumed'"))
}

fn last_step(file: &Path) -> i64 {
    let sql = "SELECT max(id) FROM step";
    rusqlite::Connection::open(file).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_resumed_run_prepares_a_drive_again_that_no_longer_holds_what_it_had_filled() {
    let Some(killed) = Killed::start() else {
        println!("skipped: no loop device available");
        return;
    };
    let check = |killed: &Killed, more: &[&str], expected: Option<&str>| {
        let since = last_step(&killed.file());
        let run = killed.resume(more);
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
        let (kinds, texts) = after_resume(&killed.file(), since);
        let [text] = texts.as_slice() else { panic!("{texts:?}") };
        match expected {
            Some(expected) => {
                assert!(text.contains("sampled blocks no longer hold"), "{text}");
                assert!(text.contains(expected) && text.contains("with its preparation"), "{text}");
                // Nothing is read before the drive is filled again.
                assert_ne!(kinds[0], "measure", "{kinds:?}");
            }
            None => {
                assert!(!text.contains("hold"), "{text}");
                assert_eq!(kinds[0], "measure", "{kinds:?}");
            }
        }
        assert!(kinds.iter().any(|kind| kind == "measure"), "{kinds:?}");
    };
    // A drive that nobody touched is not filled again.
    check(&killed, &[], None);

    let killed = Killed::start().unwrap();
    killed.wait_until_free();
    killed.bench.run(&["blkdiscard", &killed.device]);
    check(&killed, &[], Some("64 of 64"));

    // A part: an eighth of the drive, of which the sample has a share.
    let killed = Killed::start().unwrap();
    killed.wait_until_free();
    let [from, length] = [SIZE / 2, SIZE / 8].map(|bytes| bytes.to_string());
    killed.bench.run(&["blkdiscard", "-o", &from, "-l", &length, &killed.device]);
    check(&killed, &[], Some("zeros at byte"));

    // Data of somebody else: the first block and the signatures are as they were.
    let killed = Killed::start().unwrap();
    killed.wait_until_free();
    write(&killed.image, SIZE / 4, &vec![b'd'; SIZE as usize / 4]);
    killed.check_refused(&killed.image, "data that this run never wrote at byte");
    let confirm = killed.confirm.clone();
    check(&killed, &["--erase", &confirm], Some("data that this run never wrote"));

    // Another run, whose data is test data as well.
    let killed = Killed::start().unwrap();
    killed.wait_until_free();
    let size = SIZE.to_string();
    let other = killed.bench.path("other.ssdg");
    let quick = ["quick", &killed.device, "--size", &size, "--shorten", "100"];
    let confirm = killed.confirm.clone();
    let mut run = killed.command(&quick);
    let ran = run.arg("--out").arg(&other).args(["--erase", &confirm]).output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    check(&killed, &["--erase", &confirm], Some("data that this run never wrote"));
}
