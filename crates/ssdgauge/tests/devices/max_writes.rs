//! The bytes that a run may write: a lot to a scratch file is permitted once, and the limit holds.

use crate::support::{
    Bench, Loop, measures, open_to_change, query, signal, text, unfolded, wait_for,
};
use std::io::{Read, Write};
use std::process::{ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Writes for a minute.
const WRITES: &str = "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"Mine\"\n\n[[test]]\nid = \"a\"\n\
    revision = 1\ntitle = \"A\"\n\
    stream = { access = \"sequential\", block_size = \"128KiB\", read_percent = 0, queue_depth = 8 }\n\
    until = { time = \"60s\" }\nscore = { mean_of = \"throughput_mb_s\" }\n";

/// The option that makes it 100 GB and more, only for the estimate.
const RATE: [&str; 2] = ["--write-rate", "1TB"];

/// Writes at 26 MB/s for ten minutes.
const AT_A_RATE: &str = "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"Mine\"\n\n[[test]]\nid = \"a\"\n\
    revision = 1\ntitle = \"A\"\n\
    stream = { access = \"random\", block_size = \"64KiB\", read_percent = 0, per_second = 400 }\n\
    until = { time = \"10min\" }\nscore = { mean_of = \"throughput_mb_s\" }\n";

fn bench(suite: &str) -> Bench {
    let bench = Bench::new();
    std::fs::write(bench.path("mine.toml"), suite).unwrap();
    bench
}

/// Calls the program without a terminal.
fn call(bench: &Bench, arguments: &[&str]) -> Output {
    bench.command(arguments).stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn check(output: &Output, code: i32, parts: &[&str]) {
    let stderr = unfolded(&text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    for part in parts {
        assert!(stderr.contains(part), "'{part}' is missing in: {stderr}");
    }
}

/// The limit that the run file `name` states last, in bytes.
fn recorded(bench: &Bench, name: &str) -> i64 {
    let sql = "SELECT CAST(value AS INTEGER) FROM property WHERE key='max_writes_bytes' \
               ORDER BY rowid DESC LIMIT 1";
    query(&bench.path(name), sql)
}

#[test]
fn a_scratch_file_run_that_writes_a_lot_needs_a_limit_without_a_terminal() {
    let bench = bench(WRITES);
    std::fs::create_dir(bench.path("folder")).unwrap();
    let before = bench.names();
    let run = ["--size", "16MiB", "--out", "a.ssdg"];
    for targets in [&["folder"][..], &["new.bin"], &["folder", "sim:tiny"]] {
        let line = [&["run", "mine.toml"], targets, &run, &RATE].concat();
        let parts = ["mine would write about ", " to a scratch file: ", "nothing was written"];
        let output = call(&bench, &line);
        check(&output, 3, &parts);
        // The option of the hint is enough.
        let stderr = unfolded(&text(&output.stderr));
        let option = stderr.split("add --max-writes ").nth(1).unwrap();
        let size = option.split([';', ' ']).next().unwrap();
        assert!(size.ends_with("GB"), "{stderr}");
        let small = call(&bench, &[&line[..], &["--max-writes", "1GB"]].concat());
        check(&small, 3, &["--max-writes allows 1.00 GB", "nothing was written; permit more"]);
        assert_eq!(bench.names(), before, "a file was created");
        if targets == ["folder"] {
            interrupt(&bench, &[&line[..], &["--max-writes", size]].concat());
            let bytes = size.trim_end_matches("GB").parse::<i64>().unwrap() * 1_000_000_000;
            assert_eq!(recorded(&bench, "a.ssdg"), bytes);
            // What was permitted holds for the rest, without the option.
            interrupt(&bench, &["resume", "a.ssdg"]);
            interrupt(&bench, &[&line[..], &["--or-resume"]].concat());
            assert_eq!(recorded(&bench, "a.ssdg"), bytes);
            // An interrupted run has a page too.
            for name in ["a.ssdg", "a.html"] {
                std::fs::remove_file(bench.path(name)).unwrap();
            }
        }
    }
    // A virtual drive needs none, and a limit that is given holds for it as well.
    let virtual_run = [&["run", "mine.toml", "sim:tiny", "--out", "v.ssdg"], &RATE[..]].concat();
    check(
        &call(&bench, &[&virtual_run[..], &["--max-writes", "1GB"]].concat()),
        3,
        &["allows 1.00 GB"],
    );
    check(&call(&bench, &virtual_run), 0, &[]);
}

/// Starts a run or its rest without a terminal, and ends it as Ctrl-C does when it measures.
#[track_caller]
fn interrupt(bench: &Bench, arguments: &[&str]) {
    let file = bench.path("a.ssdg");
    let begun = || if file.exists() { query(&file, "SELECT count(*) FROM step") } else { 0 };
    let before = begun();
    let mut command = bench.command(arguments);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("a measuring step", || {
        let is_over = child.try_wait().unwrap().is_some();
        is_over || measures(&file) && begun() > before
    });
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    check(&output, 75, &[]);
}

#[test]
fn the_smaller_one_of_limit_and_share_of_the_endurance_rules() {
    let bench = bench(WRITES);
    let line = ["run", "mine.toml", ".", "--size", "16MiB", "--out", "a.ssdg", "--max-writes"];
    let run = |limit: &str, endurance: &str| {
        call(&bench, &[&line[..], &[limit, "--endurance", endurance], &RATE].concat())
    };
    check(&run("100TB", "1TB"), 3, &["raise --endurance-share"]);
    check(&run("1GB", "1000000TB"), 3, &["--max-writes allows 1.00 GB"]);
    assert_eq!(bench.names(), ["mine.toml"]);
}

const QUESTION: &str = "Type yes to permit it (--max-writes ";

/// What a terminal has shown so far.
struct Shown {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Shown {
    fn read(mut terminal: ChildStdout) -> Shown {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut part = [0; 4_096];
            while let Ok(length @ 1..) = terminal.read(&mut part) {
                shared.lock().unwrap().extend(&part[..length]);
            }
        });
        Shown { bytes, reader }
    }

    fn text(&self) -> String {
        unfolded(&String::from_utf8_lossy(&self.bytes.lock().unwrap()))
    }

    /// Returns all that it has shown, when the program has ended.
    fn at_end(self) -> String {
        self.reader.join().unwrap();
        unfolded(&String::from_utf8_lossy(&self.bytes.lock().unwrap()))
    }
}

#[test]
fn on_a_terminal_it_asks_once() {
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: no script(1)");
        return;
    }
    let bench = bench(WRITES);
    for (answer, code) in [("no", 3), ("", 3), ("yes", 75)] {
        // Without `exec` some shells stay in the foreground and end by the Ctrl-C themselves.
        let line = format!(
            "exec {} run mine.toml . --size 16MiB --out a.ssdg --write-rate 1TB",
            env!("CARGO_BIN_EXE_ssdgauge")
        );
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(bench.folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let shown = Shown::read(child.stdout.take().unwrap());
        // The terminal echoes the answer into what the program writes at that moment.
        wait_for("the question", || {
            shown.text().contains(QUESTION) || child.try_wait().unwrap().is_some()
        });
        writeln!(input, "{answer}").unwrap();
        if code == 75 {
            wait_for("a measuring step", || {
                measures(&bench.path("a.ssdg")) || child.try_wait().unwrap().is_some()
            });
            input.write_all(b"\x03").unwrap();
        }
        let status = child.wait().unwrap();
        drop(input);
        let shown = shown.at_end();
        assert_eq!(status.code(), Some(code), "{answer}: {shown}");
        assert_eq!(shown.matches(QUESTION).count(), 1, "{shown}");
        assert_eq!(bench.path("a.ssdg").exists(), code == 75, "{shown}");
    }
    assert!(recorded(&bench, "a.ssdg") > 100_000_000_000);
}

#[test]
fn a_run_is_stopped_before_it_writes_more_than_its_limit_and_resume_keeps_it() {
    let bench = bench(AT_A_RATE);
    const LIMIT: i64 = 64_000_000;
    // The estimate is wrong: 1 MB/s is assumed.
    let run =
        ["run", "mine.toml", ".", "--size", "16MiB", "--out", "a.ssdg", "--write-rate", "50kB"];
    let output = call(&bench, &[&run[..], &["--max-writes", "64MB"]].concat());
    check(&output, 1, &["could exceed the 64.0 MB", "ssdgauge resume a.ssdg --max-writes"]);
    let file = bench.path("a.ssdg");
    let written = "SELECT sum(bytes) FROM interval WHERE direction='write'";
    let sum = query(&file, written);
    assert!((1..=LIMIT).contains(&sum), "{sum} bytes");
    let found = "SELECT count(*) FROM finding WHERE kind='over-budget' AND severity='warning'";
    assert_eq!(query(&file, found), 1);
    assert_eq!(recorded(&bench, "a.ssdg"), LIMIT);
    for line in [&["resume", "a.ssdg"][..], &[&run[..], &["--or-resume"]].concat()] {
        check(&call(&bench, line), 3, &["--max-writes allows 64.0 MB", "nothing was written"]);
        assert_eq!(query(&file, written), sum);
    }
}

#[test]
fn the_share_of_the_endurance_is_held_while_a_run_writes() {
    let bench = bench(AT_A_RATE);
    // 0.1 % of 64 GB, where 1 MB/s is assumed at most.
    let run =
        ["run", "mine.toml", ".", "--size", "16MiB", "--out", "a.ssdg", "--write-rate", "50kB"];
    let share = ["--endurance", "64GB", "--endurance-share", "0.1"];
    let output = call(&bench, &[&run[..], &share].concat());
    check(
        &output,
        1,
        &["could exceed the 64.0 MB (64,000,000 bytes) of --max-writes or --endurance-share"],
    );
    let written = "SELECT sum(bytes) FROM interval WHERE direction='write'";
    let sum = query(&bench.path("a.ssdg"), written);
    assert!((1..=64_000_000).contains(&sum), "{sum} bytes");
    check(&call(&bench, &["resume", "a.ssdg"]), 3, &["--max-writes allows 64.0 MB"]);
}

#[test]
fn bench_and_crosscheck_ask_before_they_write_a_lot_and_keep_the_limit() {
    let bench = bench(&WRITES.replace("60s", "1s"));
    let load = ["bench", ".", "--read-percent", "0", "--seconds", "600", "--runs"];
    let output = call(&bench, &[&load[..], &["100"]].concat());
    check(&output, 3, &["bench would write about", "to a scratch file", "nothing was written"]);
    let output = call(&bench, &[&load[..], &["1", "--max-writes", "1GB"]].concat());
    check(&output, 3, &["--max-writes allows 1.00 GB", "nothing was written"]);
    let few = ["--requests", "8192", "--size", "16MiB", "--no-fill", "--max-writes", "60MB"];
    let output = call(&bench, &[&load[..], &["1"], &few].concat());
    check(&output, 0, &[]);
    let run = call(&bench, &["run", "mine.toml", ".", "--size", "16MiB", "--out", "a.ssdg"]);
    check(&run, 0, &[]);
    if Command::new("fio").arg("--version").output().is_err() {
        println!("skipped: no fio");
        return;
    }
    let checked = ["crosscheck", "a.ssdg", "--writes", "--turns", "100", "--max-writes", "1GB"];
    let parts =
        ["the check would write about", "--max-writes allows 1.00 GB", "nothing was written"];
    check(&call(&bench, &checked), 3, &parts);
}

#[test]
fn a_proof_of_a_drive_keeps_its_limit_when_it_is_resumed() {
    const SIZE: u64 = 64 << 20;
    let bench = Bench::new();
    let Some(device) = Loop::attach(bench.folder.path(), SIZE) else { return };
    let serial = format!("{}:{SIZE}", device.name());
    let consent = ["--confirm", &serial, "--confined", &serial, "--erase", &serial];
    let proof = ["prove", &device.path, "--out", "a.ssdg", "--max-writes"];
    check(&call(&bench, &[&proof[..], &["1MB"], &consent].concat()), 3, &["allows 1.00 MB"]);
    check(&call(&bench, &[&proof[..], &["1GB"], &consent].concat()), 0, &[]);
    assert_eq!(recorded(&bench, "a.ssdg"), 1_000_000_000);
    // As where it was killed after its first operation.
    let file = open_to_change(bench.path("a.ssdg"));
    let first = "SELECT min(rowid) FROM property WHERE key='proof_event'";
    let rest = format!("DELETE FROM property WHERE key='proof_event' AND rowid > ({first})");
    file.execute(&rest, []).unwrap();
    drop(file);
    let resume = ["resume", "a.ssdg"];
    let given = [&resume[..], &["--max-writes", "2MB"], &consent].concat();
    check(&call(&bench, &given), 3, &["--max-writes allows 2.00 MB", "nothing was written"]);
    let (mut writer, run) = ssdgauge_runfile::Writer::resume(&bench.path("a.ssdg")).unwrap();
    writer.property(None, ssdgauge_runfile::MAX_WRITES, "3000000").unwrap();
    writer.commit().unwrap();
    drop((writer, run));
    let kept = [&resume[..], &consent].concat();
    check(&call(&bench, &kept), 3, &["--max-writes allows 3.00 MB", "nothing was written"]);
}

#[test]
fn a_virtual_drive_is_not_written_beyond_the_limit_either() {
    const LIMIT: i64 = 10_000_000_000;
    let mixed = WRITES.replace("read_percent = 0", "read_percent = 50");
    // The estimate is wrong: 1 MB/s is assumed. A load that only writes ends with its last whole request.
    for (suite, target, allowance) in [
        (WRITES, "sim:tlc-client", 0),
        (WRITES, "sim:tiny?slc.fixed_gb=0", 0),
        (WRITES, "null:", i64::MAX),
        (mixed.as_str(), "sim:tlc-client", i64::MAX),
    ] {
        let bench = bench(suite);
        let run = ["run", "mine.toml", target, "--out", "a.ssdg", "--write-rate", "1MB"];
        let output = call(&bench, &[&run[..], &["--max-writes", "10GB"]].concat());
        let slow = target.contains("tiny");
        let (code, words) =
            if slow { (0, "run file: a.ssdg") } else { (1, "could exceed the 10.0 GB") };
        check(&output, code, &[words]);
        let file = bench.path("a.ssdg");
        let most = "SELECT max(bytes) FROM interval WHERE direction='write'";
        let most = query(&file, most).min(allowance);
        let sum = query(&file, "SELECT sum(bytes) FROM interval WHERE direction='write'");
        assert!(sum <= LIMIT + most, "{target}: {sum} bytes");
        let found = "SELECT count(*) FROM finding WHERE kind='over-budget' AND severity='warning'";
        assert_eq!(query(&file, found), i64::from(!slow), "{target}");
        if target == "sim:tlc-client" && allowance == 0 {
            assert!(sum > LIMIT - 128 * 1_024, "{sum} bytes");
            let resume = ["resume", "a.ssdg", "--max-writes", "1TB"];
            check(&call(&bench, &resume), 0, &["run file: a.ssdg"]);
            let all = "SELECT sum(bytes) FROM interval WHERE direction='write'";
            assert!(query(&file, all) > 2 * LIMIT, "the step was carried out again, in full");
        }
    }
}

#[test]
fn readme_and_start_screen_name_the_bytes_of_a_quick_look() {
    let quick = ssdgauge_lab::listed().into_iter().find(|suite| suite.id == "quick").unwrap();
    let written = quick.cost.unwrap().1.about();
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"));
    let readme = unfolded(&readme.unwrap());
    assert!(readme.contains(&format!("writes about {written} to it")), "{written}");
    let bench = Bench::new();
    let screen = unfolded(&text(&bench.call(&[]).stderr));
    assert!(screen.contains(&format!(" writes {written}, erases nothing")), "{screen}");
}
