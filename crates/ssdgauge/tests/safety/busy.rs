//! A drive that another run uses is free later: the exit code says so, and `--wait` waits for it.

use crate::safety::bench::{Bench, SIZE, confirmation};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A loop device that a run is reading until the test ends that run.
struct Used {
    bench: Bench,
    device: String,
    confirm: String,
}

impl Used {
    /// `None` where no loop device is available.
    fn start() -> Option<(Used, Child)> {
        let mut bench = Bench::new();
        let (device, _) = bench.drive()?;
        let used = Used { confirm: confirmation(&device), bench, device };
        let suite = used.bench.path("reads.toml");
        std::fs::write(&suite, crate::safety::in_use::READS).unwrap();
        let mut command = used.command(&["run", suite.to_str().unwrap(), &used.device], "first");
        let first = command.stderr(Stdio::null()).spawn().unwrap();
        let file = used.bench.path("first.ssdg");
        wait_until("the first run starts", || std::fs::metadata(&file).is_ok_and(|f| f.len() > 0));
        Some((used, first))
    }

    fn command(&self, arguments: &[&str], out: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssdgauge"));
        command.args(arguments).arg("--out").arg(self.bench.path(&format!("{out}.ssdg")));
        for option in ["--confirm", "--erase", "--confined"] {
            command.args([option, &self.confirm]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// `quick` on the drive, as a command.
    fn quick(&self, more: &[&str], out: &str) -> Command {
        let size = SIZE.to_string();
        let mut arguments = vec!["quick", &self.device, "--size", &size, "--shorten", "100"];
        arguments.extend(more);
        self.command(&arguments, out)
    }
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < Duration::from_secs(60), "not true within 60 s: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Ends a process as Ctrl-C does.
fn interrupt(child: &Child) {
    let process = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
}

#[test]
fn a_run_on_a_drive_of_another_run_ends_with_75_or_waits_for_its_end() {
    let Some((used, mut first)) = Used::start() else {
        println!("skipped: no loop device available");
        return;
    };
    let refused = used.quick(&[], "refused").output().unwrap();
    assert_eq!(refused.status.code(), Some(75), "{}", text(&refused));
    for part in ["is busy: another run of ssdgauge", "nothing was written", "--wait"] {
        assert!(text(&refused).contains(part), "'{part}' is missing in: {}", text(&refused));
    }
    // The limit of the wait ends it with the same code.
    let late = used.quick(&["--wait", "2s"], "late").output().unwrap();
    assert_eq!(late.status.code(), Some(75), "{}", text(&late));
    assert!(text(&late).contains("waiting, at most 2 s"), "{}", text(&late));

    // A run that waits can be interrupted; one that keeps waiting starts when the first one ends.
    let log = |name: &str| std::fs::read_to_string(used.bench.path(name)).unwrap_or_default();
    let start = |name: &str| {
        let errors = std::fs::File::create(used.bench.path(name)).unwrap();
        used.quick(&["--wait", "10min"], &format!("{name}-run")).stderr(errors).spawn().unwrap()
    };
    let mut stopped = start("stopped");
    let mut second = start("second");
    wait_until("both wait", || {
        ["stopped", "second"].iter().all(|name| log(name).contains("waiting, at most 10 min"))
    });
    interrupt(&stopped);
    assert!(!stopped.wait().unwrap().success());
    assert!(first.try_wait().unwrap().is_none(), "the first run ended early");
    assert!(second.try_wait().unwrap().is_none(), "{}", log("second"));
    interrupt(&first);
    assert_eq!(first.wait().unwrap().code(), Some(75));
    assert_eq!(second.wait().unwrap().code(), Some(0), "{}", log("second"));
    assert!(!used.bench.path("stopped-run.ssdg").exists());
}
