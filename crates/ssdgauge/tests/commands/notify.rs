//! `--notify`: a command at the end of a run, however that ended.

use crate::support::{Bench, measures, signal, text, unfolded, wait_for};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const SMALL: [&str; 4] = ["--size", "16MiB", "--shorten", "100"];

/// Writes outcome, file and drive into a file next to the run.
const WRITE: &str = "echo \"$SSDGAUGE_OUTCOME|$SSDGAUGE_FILE|$SSDGAUGE_DRIVE\" >> notified";

fn notified(bench: &Bench) -> Vec<String> {
    let text = std::fs::read_to_string(bench.path("notified")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn start(bench: &Bench, line: &[&str]) -> Child {
    let mut command = bench.command(line);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn the_command_is_called_after_a_run_on_a_folder_or_a_virtual_drive_and_not_before_one() {
    let bench = Bench::new();
    for (number, target) in [".", "sim:tiny"].into_iter().enumerate() {
        let out = format!("{number}.ssdg");
        let line = [&["quick", target, "--out", &out, "--notify", WRITE], &SMALL[..]].concat();
        bench.print(&line);
        let lines = notified(&bench);
        let file = bench.folder.path().canonicalize().unwrap().join(&out);
        let begin = format!("complete|{}|", file.display());
        assert_eq!(lines.len(), number + 1);
        assert!(
            lines[number].starts_with(&begin) && lines[number].len() > begin.len(),
            "{lines:?}"
        );
    }
    // A run that was refused did not begin, and one that is complete already has no end again.
    let line = [&["quick", ".", "--out", "0.ssdg", "--notify", WRITE], &SMALL[..]].concat();
    assert_eq!(bench.call(&line).status.code(), Some(3));
    assert_eq!(notified(&bench).len(), 2);
    let prove =
        ["prove", "sim:tiny?capacity=256MB", "--quick", "--out", "p.ssdg", "--notify", WRITE];
    bench.print(&prove);
    assert!(notified(&bench)[2].contains("p.ssdg"));
    // The directions of several runs go to the process of each.
    let several = ["run", "quick", "sim:tiny", "sim:tiny?seed=2", "--shorten", "100", "--out", "s"];
    bench.print(&[&several[..], &["--notify", WRITE]].concat());
    assert_eq!(notified(&bench).len(), 5, "{:?}", notified(&bench));
}

#[test]
fn the_command_has_the_outcome_of_a_run_that_failed_was_stopped_or_was_killed() {
    let bench = Bench::new();
    let gone = "sim:tiny?fault.gone_at_s=10";
    let output = bench.call(&["quick", gone, "--out", "gone.ssdg", "--notify", WRITE]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(notified(&bench)[0].starts_with("failed|"), "{:?}", notified(&bench));
    for (number, name) in ["INT", "KILL"].into_iter().enumerate() {
        let out = format!("{name}.ssdg");
        let line = ["quick", ".", "--size", "16MiB", "--shorten", "10"];
        let run = [&line[..], &["--out", &out, "--notify", WRITE]].concat();
        let mut child = start(&bench, &run);
        wait_for("a measurement", || measures(&bench.path(&out)));
        signal(&child, name);
        child.wait().unwrap();
        wait_for("the notification", || notified(&bench).len() == number + 2);
        let lines = notified(&bench);
        let last = lines.last().unwrap();
        assert!(last.starts_with("unfinished|") && last.contains(&out), "{lines:?}");
    }
    let resume = ["resume", "INT.ssdg", "--notify", WRITE];
    let mut child = start(&bench, &resume);
    wait_for("a measurement", || measures(&bench.path("INT.ssdg")));
    signal(&child, "INT");
    child.wait().unwrap();
    assert_eq!(notified(&bench).len(), 4);
}

#[test]
fn a_failure_of_the_command_is_a_warning_and_leaves_the_exit_code() {
    let bench = Bench::new();
    let call = |out: &str, command: &str| {
        let line = ["quick", "sim:tiny", "--out", out, "--notify", command];
        let since = Instant::now();
        let output = bench.call(&[&line[..], &SMALL].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        (unfolded(&text(&output.stderr)), since.elapsed())
    };
    let (stderr, _) = call("a.ssdg", "exit 3");
    assert!(stderr.contains("warning: --notify: the command failed (exit status: 3)"), "{stderr}");
    // What it has started ends with it.
    let slow = "sleep 600 & echo $! > process; sleep 600";
    let (stderr, elapsed) = call("b.ssdg", slow);
    assert!(stderr.contains("did not end within 10 s, and was ended"), "{stderr}");
    assert!(elapsed >= Duration::from_secs(10) && elapsed < Duration::from_secs(60), "{elapsed:?}");
    let process = std::fs::read_to_string(bench.path("process")).unwrap();
    assert!(!Path::new("/proc").join(process.trim()).exists());
}

#[test]
fn the_command_has_the_rights_of_the_caller() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root drops privileges");
        return;
    }
    let bench = Bench::new();
    let whole = "id -u > user; grep CapEff /proc/self/status > rights; grep NoNewPrivs /proc/self/status >> rights";
    // A run has neither root nor its rights when it ends.
    std::os::unix::fs::chown(bench.folder.path(), Some(65_534), Some(65_534)).unwrap();
    let call = |sudo: &str, out: &str| {
        let line = ["quick", ".", "--out", out, "--notify", whole];
        let mut command = bench.command(&[&line[..], &SMALL].concat());
        command.env("SUDO_UID", sudo).env("SUDO_GID", sudo);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let read = |name| std::fs::read_to_string(bench.path(name)).unwrap();
        (read("user").trim().to_owned(), read("rights"))
    };
    let (user, rights) = call("0", "a.ssdg");
    assert_eq!(user, "0");
    assert!(rights.contains("NoNewPrivs:\t0") && !rights.contains("0000000000000000"), "{rights}");
    for name in ["user", "rights"] {
        std::fs::remove_file(bench.path(name)).unwrap();
    }
    // Under sudo, the caller is the one of sudo.
    let (user, rights) = call("65534", "b.ssdg");
    assert!(user == "65534" && rights.contains("0000000000000000"), "{user} {rights}");
}
