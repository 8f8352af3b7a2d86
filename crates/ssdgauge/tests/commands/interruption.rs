//! Stops and kills: nothing that was finished is lost, and every run can be completed.

use crate::support::{Bench, figure, measures, query, wait_for};
use ssdgauge_core::Random;
use ssdgauge_runfile::{RunFile, StepPlace, StepState};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn begin(bench: &Bench, arguments: &[&str]) -> Child {
    bench.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn finished(bench: &Bench) -> i64 {
    query(
        &bench.path("a.ssdg"),
        "SELECT count(*) FROM (SELECT DISTINCT test, phase, step FROM step WHERE state='finished')",
    )
}

/// Waits until the run file has its first record, so that there is something to lose.
fn wait_for_run_file(bench: &Bench) {
    let path = bench.path("a.ssdg");
    wait_for("a run file", || std::fs::metadata(&path).map_or(0, |file| file.len()) > 0);
}

#[test]
fn a_run_that_is_killed_again_and_again_is_completed_and_loses_no_finished_step() {
    let kills = if std::env::var_os("SSDGAUGE_LONG").is_some() { 10_000 } else { 200 };
    let seed = 20_261_120;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let (mut killed, mut early, mut completed, mut lost, mut unreadable) = (0, 0, 0, 0, 0);
    let talk = tempfile::tempdir().unwrap();
    let said = talk.path().join("said");
    while killed < kills {
        let bench = Bench::new();
        let file = bench.path("a.ssdg");
        // One run in four writes a real file; the others load nothing, and are killed sooner.
        let real = killed % 4 == 0;
        let target = if real { "." } else { "null:" };
        let run = ["quick", target, "--size", "16MiB", "--shorten", "100", "--out", "a.ssdg"];
        let mut safe = BTreeSet::new();
        loop {
            // Killed before there was a run file: it is begun again.
            let line = if file.exists() { &["resume", "a.ssdg"][..] } else { &run };
            let talk = std::fs::File::create(&said).unwrap();
            let mut command = bench.command(line);
            let mut child = command.stdout(Stdio::null()).stderr(talk).spawn().unwrap();
            let most = match (file.exists(), real) {
                (false, _) => 50,
                (true, true) => 600,
                (true, false) => 300,
            };
            let moment = Duration::from_millis(random.below(most));
            let since = Instant::now();
            while since.elapsed() < moment && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(200));
            }
            if let Some(ended) = child.try_wait().unwrap() {
                let said = std::fs::read_to_string(&said).unwrap();
                assert_eq!(ended.code(), Some(0), "after {killed} kills: {said}");
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
            if !file.exists() {
                early += 1;
                assert!(safe.is_empty(), "a run file is gone");
                continue;
            }
            // Reading it rolls back what the kill cut off.
            let Ok(run) = RunFile::open(&file) else {
                unreadable += 1;
                break;
            };
            let now: BTreeSet<StepPlace> = run
                .steps()
                .unwrap()
                .into_iter()
                .filter(|step| step.state == StepState::Finished)
                .map(|step| step.place)
                .collect();
            lost += safe.difference(&now).count();
            safe = now;
        }
        if unreadable > 0 {
            break;
        }
        completed += 1;
        let twice = "SELECT count(*) FROM (SELECT 1 FROM step WHERE state='finished' AND \
                     phase_kind='measure' GROUP BY test, phase, step HAVING count(*) > 1)";
        assert_eq!(query(&file, twice), 0, "a measured step was done twice");
        assert_eq!(finished(&bench), 14);
        assert_eq!(bench.names(), ["a.html", "a.ssdg"], "nothing else is left behind");
        if completed % 100 == 0 {
            println!("{killed} kills, {completed} runs completed");
        }
    }
    assert_eq!((lost, unreadable), (0, 0), "after {killed} kills");
    assert!(completed > 0, "no run was completed between {killed} kills");
    figure(
        "kill -9",
        &format!("{killed} at random moments, {early} of them before there was a run file"),
        &format!(
            "{lost} finished steps lost, {unreadable} unreadable files, {completed} runs completed"
        ),
        "cargo test -p ssdgauge --test commands killed_again",
    );
}

#[test]
fn a_finished_run_is_not_run_again() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "50", "--out", "a.ssdg"]);
    let steps = "SELECT count(*) FROM step";
    let before = query(&bench.path("a.ssdg"), steps);
    bench.print(&["resume", "a.ssdg"]);
    assert_eq!(query(&bench.path("a.ssdg"), steps), before);
}

#[test]
fn two_programs_never_write_to_one_run_file() {
    let bench = Bench::new();
    let long = ["quick", ".", "--size", "16MiB", "--shorten", "2", "--out", "a.ssdg"];
    let mut child = begin(&bench, &long);
    wait_for_run_file(&bench);
    let second = bench.call(&["resume", "a.ssdg"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(second.status.code(), Some(3), "{}", crate::support::text(&second.stderr));
}

/// A file system of `size` for results, unmounted when it is dropped.
struct Small(PathBuf);

impl Small {
    fn mount(bench: &Bench, size: &str) -> Option<Small> {
        let folder = bench.path("small");
        std::fs::create_dir(&folder).unwrap();
        let options = format!("size={size}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "none"]).arg(&folder);
        if !mount.status().is_ok_and(|status| status.success()) {
            println!("skipped: no small file system to be had (run as root)");
            return None;
        }
        Some(Small(folder))
    }

    /// Takes all the room that is left.
    fn fill(&self) -> PathBuf {
        use std::io::Write;
        let path = self.0.join("filler");
        let mut file = std::fs::File::create(&path).unwrap();
        for size in [65_536, 4_096] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
        path
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn results_that_find_no_room_wait_for_some_and_end_the_run_without_pretending() {
    let bench = Bench::new();
    let Some(small) = Small::mount(&bench, "4m") else { return };
    let out = small.0.join("a.ssdg");
    let out = out.to_str().unwrap();
    // Room comes in time: nothing is lost, and the wait is told.
    let talk = std::fs::File::create(bench.path("talk")).unwrap();
    let line = ["quick", "null:", "--shorten", "20", "--out", out];
    let mut child = bench.command(&line).stdout(Stdio::null()).stderr(talk).spawn().unwrap();
    wait_for("the first step", || measures(Path::new(out)));
    let filler = small.fill();
    let said = || std::fs::read_to_string(bench.path("talk")).unwrap();
    wait_for("the wait for room", || said().contains("no space left for the results"));
    std::fs::remove_file(filler).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", said());
    assert_eq!(query(Path::new(out), "SELECT count(*) FROM finding WHERE kind='results-full'"), 1);
    assert_eq!(query(Path::new(out), "SELECT count(*) FROM step WHERE state='finished'"), 14);
    // It does not come: the run stops, what was finished is there, and it goes on later.
    std::fs::remove_file(out).unwrap();
    std::fs::remove_file(small.0.join("a.html")).unwrap();
    let talk = std::fs::File::create(bench.path("talk")).unwrap();
    let mut child = bench.command(&line).stdout(Stdio::null()).stderr(talk).spawn().unwrap();
    wait_for("the first step", || measures(Path::new(out)));
    let filler = small.fill();
    assert_eq!(child.wait().unwrap().code(), Some(75), "{}", said());
    assert!(said().contains("make room"), "{}", said());
    let finished = query(Path::new(out), "SELECT count(*) FROM step WHERE state='finished'");
    assert!(finished < 14, "{finished}");
    std::fs::remove_file(filler).unwrap();
    bench.print(&["resume", out]);
    assert_eq!(query(Path::new(out), "SELECT count(*) FROM step WHERE state='finished'"), 14);
}
