//! System calls that fail: each write, sync, allocation, rename and open of a run file fails once, and
//! no announced step is lost.

use crate::support::{Bench, query, text};
use crate::tiers::write_figure;
use ssdgauge_core::Random;
use ssdgauge_runfile::RunFile;
use std::collections::BTreeMap;
use std::process::Command;

/// The calls that change a run file, or open it.
const CALLS: [&str; 8] =
    ["pwrite64", "fsync", "fdatasync", "ftruncate", "fallocate", "linkat", "unlink", "openat"];

const RUN: [&str; 8] =
    ["quick", "null:", "--size", "16MiB", "--shorten", "1000", "--out", "a.ssdg"];
const STEPS: i64 = 15;

/// A command of the program under strace, with `options`.
fn traced(bench: &Bench, options: &[&str]) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "trace"]).args(options);
    command.arg(env!("CARGO_BIN_EXE_ssdgauge")).args(RUN).current_dir(bench.folder.path());
    command
}

/// Returns which occurrences of each call concern a run file, counted from 1 in the first thread, the
/// only one that has it open.
fn calls_of_a_run() -> BTreeMap<&'static str, Vec<usize>> {
    let bench = Bench::new();
    let filter = format!("trace={}", CALLS.join(","));
    let output = traced(&bench, &["-y", "-e", &filter]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let trace = std::fs::read_to_string(bench.path("trace")).unwrap();
    let first = trace.split_whitespace().next().unwrap().to_owned();
    let mut counts = BTreeMap::new();
    let mut found: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let call = CALLS.iter().find(|call| rest.trim_start().starts_with(&format!("{call}(")));
        let Some(call) = call.filter(|_| thread == first) else { continue };
        let count = counts.entry(*call).or_insert(0usize);
        *count += 1;
        if rest.contains("a.ssdg") {
            found.entry(*call).or_default().push(*count);
        }
    }
    found
}

/// Lets occurrence `number` of `call` fail with `error`, and returns the exit code of the run.
fn fail(call: &str, number: usize, error: &str) -> i32 {
    let what = format!("{call} {number} fails with {error}");
    let bench = Bench::new();
    let injection = format!("inject={call}:error={error}:when={number}");
    let filter = format!("trace={call}");
    let output = traced(&bench, &["-e", &filter, "-e", &injection]).output().unwrap();
    let message = text(&output.stderr);
    let code = output.status.code().unwrap_or_else(|| panic!("{what}: a signal: {message}"));
    assert!([0, 1, 3, 75].contains(&code), "{what}: exit code {code}: {message}");
    assert!(code == 0 || message.contains("hint: "), "{what}: {message}");
    let announced = message.lines().filter(|line| line.starts_with('[')).count();
    let file = bench.path("a.ssdg");
    if code == 3 {
        assert_eq!(announced, 0, "{what}: {message}");
    }
    if !file.exists() {
        assert!(code == 3 || (code == 1 && announced == 0), "{what}: no run file: {message}");
        return code;
    }
    let finished = |file| {
        let run = RunFile::open(file).unwrap_or_else(|error| panic!("{what}: {error}: {message}"));
        run.steps().unwrap().iter().filter(|step| step.ended_by.is_some()).count()
    };
    assert!(finished(&file) >= announced, "{what}: an announced step is lost: {message}");
    if code != 0 {
        let resumed = bench.call(&["resume", "a.ssdg"]);
        assert_eq!(resumed.status.code(), Some(0), "{what}: {}", text(&resumed.stderr));
    }
    let steps = "SELECT count(*) FROM step WHERE state='finished'";
    assert_eq!(query(&file, steps), STEPS, "{what}: {message}");
    code
}

#[test]
fn a_failing_call_on_the_run_file_loses_no_announced_step() {
    if !Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: no strace");
        return;
    }
    let long = std::env::var_os("SSDGAUGE_LONG").is_some();
    let calls = calls_of_a_run();
    assert!(calls["pwrite64"].len() > 100 && calls["fsync"].len() > 50, "{calls:?}");
    let mut random = Random::new(20_261_122, 1);
    let mut codes: BTreeMap<i32, usize> = BTreeMap::new();
    let mut count = 0;
    for (call, numbers) in &calls {
        // In the short form the first, the last and some between of each call.
        let few: Vec<usize> = match long || numbers.len() <= 3 {
            true => numbers.clone(),
            false => {
                let between = |_| numbers[random.below(numbers.len() as u64) as usize];
                let ends = [numbers[0], numbers[numbers.len() - 1]];
                ends.into_iter().chain((0..1).map(between)).collect()
            }
        };
        for (at, number) in few.into_iter().enumerate() {
            let error = ["EIO", "ENOSPC"][at % 2];
            *codes.entry(fail(call, number, error)).or_default() += 1;
            count += 1;
        }
    }
    println!("{count} failing calls, exit codes {codes:?}");
    write_figure(
        "failing calls",
        &format!("{count} calls on the run file, each failing once"),
        &format!("0 announced steps lost; exit codes {codes:?}"),
        "cargo test -p ssdgauge --test it failing_call",
    );
}
