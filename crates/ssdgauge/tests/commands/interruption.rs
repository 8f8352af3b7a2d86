//! Stops and kills: nothing that was finished is lost, and every run can be completed.

use crate::support::{Bench, query};
use ssdgauge_core::Random;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// About three seconds of work in fourteen steps.
const RUN: [&str; 8] = ["quick", ".", "--size", "16MiB", "--shorten", "50", "--out", "a.ssdg"];

fn begin(bench: &Bench, arguments: &[&str]) -> Child {
    bench.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn finished(bench: &Bench) -> i64 {
    query(
        &bench.path("a.ssdg"),
        "SELECT count(*) FROM (SELECT DISTINCT test, phase, step FROM step WHERE state='finished')",
    )
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let status = std::process::Command::new("kill").args(["-s", name, &pid]).status();
    assert!(status.unwrap().success());
}

/// Waits until the run file has its first record, so that there is something to lose.
fn wait_for_run_file(bench: &Bench) {
    let since = Instant::now();
    let path = bench.path("a.ssdg");
    while std::fs::metadata(&path).map_or(0, |file| file.len()) == 0 {
        assert!(since.elapsed() < Duration::from_secs(20), "no run file appears");
        std::thread::yield_now();
    }
}

#[test]
fn a_run_that_is_killed_again_and_again_is_completed_and_loses_no_finished_step() {
    let bench = Bench::new();
    let seed = 20_261_120;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let mut child = begin(&bench, &RUN);
    wait_for_run_file(&bench);
    let mut safe = 0;
    for _ in 0..12 {
        let moment = Duration::from_millis(20 + random.below(400));
        let since = Instant::now();
        while since.elapsed() < moment && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Reading it rolls back what the kill cut off.
        bench.print(&["report", "a.ssdg", "--json"]);
        let now = finished(&bench);
        assert!(now >= safe, "{now} finished steps, {safe} before");
        safe = now;
        child = begin(&bench, &["resume", "a.ssdg"]);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    bench.print(&["resume", "a.ssdg"]);
    assert_eq!(finished(&bench), 14);
    let resumed = "SELECT count(*) FROM finding WHERE kind='resumed'";
    assert!(query(&bench.path("a.ssdg"), resumed) > 0);
    let broken = "SELECT count(*) FROM (SELECT test, phase, step FROM step WHERE state='finished' \
                  AND phase_kind='measure' GROUP BY test, phase, step HAVING count(*) > 1)";
    assert_eq!(query(&bench.path("a.ssdg"), broken), 0, "a measured step was done twice");
    assert_eq!(bench.names(), ["a.html", "a.ssdg"], "nothing else is left behind");
}

#[test]
fn signals_stop_a_run_in_time_and_leave_it_resumable() {
    for name in ["INT", "TERM", "HUP"] {
        let bench = Bench::new();
        let long = ["quick", ".", "--size", "16MiB", "--shorten", "2", "--out", "a.ssdg"];
        let mut child = begin(&bench, &long);
        wait_for_run_file(&bench);
        let since = Instant::now();
        while since.elapsed() < Duration::from_millis(700) {
            std::thread::yield_now();
        }
        let since = Instant::now();
        signal(&child, name);
        let status = child.wait().unwrap();
        assert!(since.elapsed() < Duration::from_secs(5), "{name}: {:?}", since.elapsed());
        assert_eq!(status.code(), Some(75), "{name}");
        let broken = "SELECT count(*) FROM step WHERE state='running'";
        assert_eq!(query(&bench.path("a.ssdg"), broken), 0, "{name}");
        // The half-finished run can be looked at.
        bench.print(&["report", "a.ssdg", "-o", "half.html"]);
    }
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

#[test]
fn results_that_find_no_room_end_the_run_without_pretending() {
    let bench = Bench::new();
    let small = bench.path("small");
    std::fs::create_dir(&small).unwrap();
    let mount = |arguments: &[&str]| {
        std::process::Command::new(arguments[0]).args(&arguments[1..]).arg(&small).status()
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=64k", "none"]).is_ok_and(|s| s.success()) {
        println!("skipped: no small file system to be had (run as root)");
        return;
    }
    let out = small.join("a.ssdg");
    let output = bench.call(&["quick", "sim:tiny", "--out", out.to_str().unwrap()]);
    let words = crate::support::text(&output.stderr);
    mount(&["umount"]).unwrap();
    assert_eq!(output.status.code(), Some(75), "{words}");
    assert!(words.contains("no space left"), "{words}");
}
