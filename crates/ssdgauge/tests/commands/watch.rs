//! Runs are watched by their files, as they grow and after their end.

use crate::support::{Bench, measures, query, signal, text, unfolded, wait_for};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A run of some seconds with little load.
const SUITE: &str = r#"
[suite]
id = "mine"
revision = 1
title = "Mine"
[[test]]
id = "load"
revision = 1
title = "Load"
stream = { access = "random", block_size = "4KiB", read_percent = 50, span = "16MiB", per_second = 100 }
sweep = { per_second = [100, 200] }
until = { time = "TIME" }
score = { mean_of = "iops" }
"#;

/// Starts the run `a.ssdg` of two steps of `time` each, and waits for its first one.
pub(crate) fn start(bench: &Bench, time: &str) -> Child {
    std::fs::write(bench.path("mine.toml"), SUITE.replace("TIME", time)).unwrap();
    let child = bench
        .command(&["run", "mine.toml", "null:", "--size", "16MiB", "--out", "a.ssdg"])
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(bench.path("stderr")).unwrap())
        .spawn()
        .unwrap();
    let file = bench.path("a.ssdg");
    wait_for("the first step", || file.exists() && measures(&file));
    child
}

/// Makes the run file `name` of a virtual drive.
fn virtual_run(bench: &Bench, name: &str) {
    bench.print(&["quick", "sim:tlc-client?capacity=16GB", "--shorten", "5", "--out", name]);
}

fn objects(stdout: &[u8]) -> Vec<Value> {
    text(stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn count(objects: &[Value], event: &str) -> i64 {
    objects.iter().filter(|one| one["event"] == event).count() as i64
}

#[test]
fn watchers_of_a_running_run_see_every_second_and_neither_delay_nor_change_it() {
    let bench = Bench::new();
    let mut run = start(&bench, "3s");
    let watch = |arguments: &[&str]| {
        let mut command = bench.command(&[&["watch", "a.ssdg"], arguments].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let whole = [watch(&["--jsonl"]), watch(&["--jsonl"])];
    let lines = watch(&[]);
    let mut stopped = watch(&["--jsonl"]);
    signal(&stopped, "STOP");
    let mut killed = watch(&["--jsonl"]);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(0));
    stopped.kill().unwrap();
    stopped.wait().unwrap();
    let file = bench.path("a.ssdg");
    let seconds =
        query(&file, "SELECT count(*) FROM (SELECT DISTINCT step_id, second FROM interval)");
    for child in whole {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let objects = objects(&output.stdout);
        assert_eq!(count(&objects, "second"), seconds);
        assert_eq!((count(&objects, "step"), count(&objects, "step_end")), (2, 2));
        let findings = query(&file, "SELECT count(*) FROM finding");
        assert_eq!(count(&objects, "finding"), findings);
        let (first, last) = (&objects[0], objects.last().unwrap());
        assert_eq!((&first["event"], &first["suite_id"]), (&"run".into(), &"mine".into()));
        assert_eq!((&last["event"], &last["state"]), (&"end".into(), &"finished".into()));
        let ios: f64 = objects
            .iter()
            .flat_map(|one| [&one["read"], &one["write"]].map(|side| (one, side)))
            .filter_map(|(one, side)| Some(side["iops"].as_f64()? * one["length_s"].as_f64()?))
            .sum();
        assert_eq!(ios.round() as i64, query(&file, "SELECT sum(ios) FROM interval"));
    }
    let output = lines.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(printed.contains("step 2 of 2") || printed.contains("step 2: load"), "{printed}");
    assert!(printed.trim_end().ends_with("run finished"), "{printed}");
    let stderr = std::fs::read_to_string(bench.path("stderr")).unwrap();
    assert!(!stderr.contains("reads the run file"), "the run has waited: {stderr}");
    assert_eq!(bench.names(), ["a.html", "a.ssdg", "mine.toml", "stderr"]);
}

#[test]
fn the_page_of_a_running_run_follows_it_and_becomes_its_report() {
    let bench = Bench::new();
    let mut run = start(&bench, "3s");
    let mut command = bench.command(&["watch", "a.ssdg", "--page", "live.html"]);
    let watch = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let page = bench.path("live.html");
    wait_for("the page", || page.exists());
    let live = std::fs::read_to_string(&page).unwrap();
    for part in
        ["Running", "0 of 1 test", "step 1 of 2", r#"data-every="5""#, "script-src 'sha256-"]
    {
        assert!(live.contains(part), "{part}");
    }
    assert!(!live.contains("ssdgauge resume"), "a run that goes on is not to be continued");
    assert_eq!(run.wait().unwrap().code(), Some(0));
    let output = watch.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report = std::fs::read_to_string(bench.path("a.html")).unwrap();
    assert_eq!(std::fs::read_to_string(&page).unwrap(), report);
    let stderr = std::fs::read_to_string(bench.path("stderr")).unwrap();
    assert!(!stderr.contains("reads the run file"), "the run has waited: {stderr}");
}

#[test]
fn a_run_file_that_is_removed_while_its_page_is_kept_is_a_failure_and_the_page_says_so() {
    let bench = Bench::new();
    let mut run = start(&bench, "1min");
    let mut command = bench.command(&["watch", "a.ssdg", "--page", "live.html"]);
    let watch = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the page", || bench.path("live.html").exists());
    std::fs::remove_file(bench.path("a.ssdg")).unwrap();
    let output = watch.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(bench.path("live.html")).unwrap();
    assert!(page.contains("a.ssdg has vanished while it was watched"), "{page}");
    for part in ["Running", "data-every", "script-src"] {
        assert!(!page.contains(part), "{part}");
    }
    run.kill().unwrap();
    run.wait().unwrap();
}

#[test]
fn a_page_on_the_drive_under_test_one_of_several_runs_and_a_foreign_file_are_refused() {
    let bench = Bench::new();
    // Reads would need data in the scratch file.
    let suite = SUITE.replace("TIME", "30s").replace("read_percent = 50", "read_percent = 0");
    std::fs::write(bench.path("mine.toml"), suite).unwrap();
    let mut command =
        bench.command(&["run", "mine.toml", ".", "--size", "64MiB", "--out", "a.ssdg"]);
    let stderr = std::fs::File::create(bench.path("stderr")).unwrap();
    let mut run = command.stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
    wait_for("the run file", || {
        let ended = run.try_wait().unwrap();
        assert!(ended.is_none(), "{}", std::fs::read_to_string(bench.path("stderr")).unwrap());
        bench.path("a.ssdg").exists()
    });
    virtual_run(&bench, "b.ssdg");
    std::fs::write(bench.path("notes.html"), "mine").unwrap();
    for (arguments, code, words) in [
        (&["a.ssdg", "--page", "live.html"][..], 3, "on the drive under test"),
        (&["a.ssdg", "b.ssdg", "--page", "live.html"], 2, "one run"),
        (&["b.ssdg", "--page", "notes.html"], 3, "notes.html"),
    ] {
        let output = bench.command(&[&["watch"], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(unfolded(&text(&output.stderr)).contains(words), "{}", text(&output.stderr));
    }
    assert!(!bench.path("live.html").exists());
    assert_eq!(std::fs::read_to_string(bench.path("notes.html")).unwrap(), "mine");
    run.kill().unwrap();
    run.wait().unwrap();
}

/// Returns the last object of `watch --jsonl`, its exit code and its message, where `happens` to the watched file.
fn end_of_watch_when(happens: impl FnOnce(&Path)) -> (Value, Option<i32>, String) {
    let bench = Bench::new();
    let mut run = start(&bench, "1min");
    let mut command = bench.command(&["watch", "a.ssdg", "--jsonl"]);
    let mut watch = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(watch.stdout.take().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    happens(&bench.path("a.ssdg"));
    let last = reader.lines().map(Result::unwrap).last().unwrap();
    let output = watch.wait_with_output().unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    (serde_json::from_str(&last).unwrap(), output.status.code(), text(&output.stderr))
}

#[test]
fn a_watch_whose_file_is_lost_ends_with_an_object_and_the_reason() {
    let cut =
        |path: &Path| std::fs::File::options().write(true).open(path).unwrap().set_len(0).unwrap();
    let replace = |path: &Path| {
        std::fs::copy(path, path.with_extension("copy")).unwrap();
        std::fs::rename(path.with_extension("copy"), path).unwrap();
    };
    let remove = |path: &Path| std::fs::remove_file(path).unwrap();
    for (words, happens) in
        [("was cut", &cut as &dyn Fn(&Path)), ("vanished", &remove), ("was replaced", &replace)]
    {
        let (last, code, stderr) = end_of_watch_when(happens);
        assert_eq!(
            (&last["event"], &last["state"]),
            (&"end".into(), &"unreadable".into()),
            "{last}"
        );
        assert!(last["error"].as_str().unwrap().contains(words), "{last}");
        assert!(stderr.contains(words), "{stderr}");
        assert_eq!(code, Some(1), "{stderr}");
    }
}

#[test]
fn a_run_whose_file_is_lost_states_that_and_leaves_the_file_of_its_name_as_it_is() {
    for (words, is_replaced) in
        [("was removed or moved while the run", false), ("was replaced by another file", true)]
    {
        let bench = Bench::new();
        virtual_run(&bench, "other.ssdg");
        let mut run = start(&bench, "1min");
        let file = bench.path("a.ssdg");
        if is_replaced {
            std::fs::rename(bench.path("other.ssdg"), &file).unwrap();
        } else {
            std::fs::remove_file(&file).unwrap();
        }
        let before = std::fs::read(&file).ok();
        signal(&run, "INT");
        assert_eq!(run.wait().unwrap().code(), Some(1));
        let stderr = std::fs::read_to_string(bench.path("stderr")).unwrap();
        assert!(unfolded(&stderr).contains(words), "{stderr}");
        assert_eq!(std::fs::read(&file).ok(), before);
    }
}

/// The time between two commits of a run on `null:`, less a second.
const BEFORE_COMMIT: Duration = Duration::from_secs(9);

#[test]
fn a_second_comes_by_the_socket_before_it_is_committed_and_the_socket_of_a_killed_run_is_replaced()
{
    let bench = Bench::new();
    let began = Instant::now();
    let mut run = start(&bench, "60s");
    let (file, socket) = (bench.path("a.ssdg"), bench.path("a.ssdg.live"));
    let mut lines = BufReader::new(UnixStream::connect(&socket).unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let id = next()["run_id"].as_str().unwrap().to_owned();
    assert_eq!(query(&file, &format!("SELECT count(*) FROM run WHERE id = '{id}'")), 1);
    let second = next()["load"].take();
    let (number, sides) = (second["number"].as_i64().unwrap(), second["sides"].as_array().unwrap());
    assert!(sides.iter().any(|side| side["ios"].as_i64().unwrap() > 0), "{second}");
    let committed = "SELECT count(*) FROM interval WHERE second =";
    let is_committed = query(&file, &format!("{committed} {number}")) > 0;
    assert!(!is_committed || began.elapsed() > BEFORE_COMMIT, "{second}");
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(socket.exists());
    let mut resumed = bench
        .command(&["resume", "a.ssdg"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the socket of the resumed run", || UnixStream::connect(&socket).is_ok());
    signal(&resumed, "INT");
    assert_eq!(resumed.wait().unwrap().code(), Some(75));
    assert!(!socket.exists());
}

#[test]
fn a_file_in_which_commits_are_in_progress_is_tried_again_until_they_end() {
    let bench = Bench::new();
    virtual_run(&bench, "a.ssdg");
    // The journal of a commit in progress, as SQLite writes it (file format, section 3).
    let journal = bench.path("a.ssdg-journal");
    let magic = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    std::fs::write(&journal, [&magic[..], &[0; 504]].concat()).unwrap();
    let mut watch = bench
        .command(&["watch", "a.ssdg", "--jsonl", "--wait", "5min"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One look at a file makes twenty attempts with a pause after each; the commit outlasts several.
    let status = format!("/proc/{}/status", watch.id());
    let pauses = || -> u64 {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    };
    wait_for("sixty pauses, or the end of the watcher", || {
        pauses() >= 60 || watch.try_wait().unwrap().is_some()
    });
    std::fs::remove_file(&journal).unwrap();
    let output = watch.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let objects = objects(&output.stdout);
    assert_eq!(objects.last().unwrap()["state"], "finished");
    assert!(objects.iter().all(|one| one["schema_version"] == 1));
}

#[test]
fn a_purge_that_is_not_possible_is_not_shown_as_one() {
    let bench = Bench::new();
    let suite =
        SUITE.replace("TIME", "1s").replace("stream =", "prepare = [{ purge = true }]\nstream =");
    std::fs::write(bench.path("mine.toml"), suite).unwrap();
    let run = bench.call(&["run", "mine.toml", "null:", "--size", "16MiB", "--out", "a.ssdg"]);
    let stderr = text(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{stderr}");
    let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("] purge")).collect();
    assert!(!lines.is_empty(), "{stderr}");
    for line in lines {
        assert!(line.ends_with("nothing was purged"), "{line}");
    }
    let watched = objects(&bench.call(&["watch", "a.ssdg", "--jsonl"]).stdout);
    let purges = |one: &&Value| one["event"] == "step_end" && one["phase"] == "purge";
    assert!(watched.iter().any(|one| purges(&one)), "{watched:?}");
    assert!(watched.iter().filter(purges).all(|one| one["had_effect"] == false), "{watched:?}");
}

#[test]
fn a_part_of_a_second_below_a_half_has_no_rate_in_the_lines() {
    let bench = Bench::new();
    // Steps of 1.43 s and 0.71 s, and those that end by their bytes.
    let mut parts = [0, 0];
    for shorten in ["7", "14"] {
        let run = ["quick", "sim:tiny", "--shorten", shorten, "--out", "a.ssdg"];
        bench.print(&run);
        let watched = objects(&bench.call(&["watch", "a.ssdg", "--jsonl"]).stdout);
        for second in watched.iter().filter(|one| one["event"] == "second") {
            let length = second["length_s"].as_f64().unwrap();
            for side in ["read", "write"].iter().filter_map(|side| second[side].as_object()) {
                let rates = ["iops", "throughput_mb_s"].map(|rate| side.get(rate));
                match length < 0.5 {
                    true => assert_eq!(rates, [None, None], "{second}"),
                    false => assert!(rates.iter().all(Option::is_some), "{second}"),
                }
                parts[usize::from(length >= 0.5)] += 1;
            }
        }
        for name in ["a.ssdg", "a.html"] {
            std::fs::remove_file(bench.path(name)).unwrap();
        }
    }
    assert!(parts.iter().all(|count| *count > 0), "{parts:?}");
}

#[test]
fn a_finished_an_interrupted_and_a_killed_run_have_their_words_and_exit_codes() {
    let bench = Bench::new();
    virtual_run(&bench, "done.ssdg");
    let output = bench.call(&["watch", "done.ssdg"]);
    assert_eq!(output.status.code(), Some(0));
    let printed = text(&output.stdout);
    assert!(printed.contains("MODEL") && printed.contains("finished"), "{printed}");
    let output = bench.call(&["watch", "done.ssdg", "--jsonl"]);
    let all = objects(&output.stdout);
    assert!(all.iter().all(|one| one["model_data"] == "MODEL"));
    let seconds = "SELECT count(*) FROM (SELECT DISTINCT step_id, second FROM interval)";
    assert!(count(&all, "second") >= query(&bench.path("done.ssdg"), seconds));

    for (name, sent, word) in [("b.ssdg", "INT", "interrupted"), ("c.ssdg", "KILL", "killed")] {
        let mut run = start(&bench, "60s");
        signal(&run, sent);
        run.wait().unwrap();
        for suffix in ["", "-journal"] {
            let from = bench.path(&format!("a.ssdg{suffix}"));
            if from.exists() {
                std::fs::rename(from, bench.path(&format!("{name}{suffix}"))).unwrap();
            }
        }
        // The page of the interrupted run; a killed one writes none.
        assert_eq!(std::fs::remove_file(bench.path("a.html")).is_ok(), word == "interrupted");
        let before = std::fs::read(bench.path(name)).unwrap();
        let names = bench.names();
        let output = bench.call(&["watch", name]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(75), "{stderr}");
        assert!(stderr.contains(&format!("was {word} in load")), "{stderr}");
        assert!(unfolded(&stderr).contains(&format!("ssdgauge resume {name}")), "{stderr}");
        assert!(std::fs::read(bench.path(name)).unwrap() == before);
        assert_eq!(bench.names(), names);
    }
    // The worst of several decides, and all are stated.
    let output = bench.call(&["watch", "done.ssdg", "b.ssdg"]);
    assert_eq!(output.status.code(), Some(75));
    assert!(text(&output.stdout).contains("done.ssdg: run finished"), "{}", text(&output.stdout));
}

#[test]
fn a_file_that_is_missing_foreign_or_cut_is_an_error_with_a_hint() {
    let bench = Bench::new();
    virtual_run(&bench, "a.ssdg");
    std::fs::write(bench.path("text.ssdg"), "no run").unwrap();
    let whole = std::fs::read(bench.path("a.ssdg")).unwrap();
    std::fs::write(bench.path("cut.ssdg"), &whole[..whole.len() / 2]).unwrap();
    for (name, code, word) in [
        ("missing.ssdg", 2, "file missing.ssdg does not exist"),
        ("text.ssdg", 2, "is not a run file"),
        ("cut.ssdg", 1, "cut.ssdg"),
    ] {
        for form in [&[][..], &["--jsonl"]] {
            let output = bench.call(&[&["watch", name], form].concat());
            let stderr = text(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{name}: {stderr}");
            assert!(stderr.contains(word) && stderr.contains("hint:"), "{name}: {stderr}");
        }
    }
}

#[test]
fn a_file_that_vanishes_ends_the_observation_and_not_the_run() {
    let bench = Bench::new();
    let mut run = start(&bench, "60s");
    let mut watch = bench
        .command(&["watch", "a.ssdg", "--jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0];
    std::io::Read::read_exact(watch.stdout.as_mut().unwrap(), &mut first).unwrap();
    std::fs::rename(bench.path("a.ssdg"), bench.path("b.ssdg")).unwrap();
    let output = watch.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("\"unreadable\""));
    assert!(run.try_wait().unwrap().is_none());
    run.kill().unwrap();
    run.wait().unwrap();
}

/// Starts `ssdgauge` with `line` on a terminal of `width` columns and 30 lines, which `script` provides;
/// `None` where there is no such program.
pub(crate) fn on_terminal(
    bench: &Bench,
    line: &str,
    width: u32,
    variables: &[(&str, &str)],
) -> Option<Child> {
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: no script");
        return None;
    }
    let program = env!("CARGO_BIN_EXE_ssdgauge");
    let shell = format!("stty cols {width} rows 30; exec {program} {line}");
    let mut command = Command::new("script");
    command.args(["-qefc", &shell, "/dev/null"]).current_dir(bench.folder.path());
    command
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .env("TERM", "xterm")
        .env("LC_ALL", "C.UTF-8");
    command.envs(variables.iter().copied());
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    Some(child.spawn().unwrap())
}

/// Reads what the terminal shows until `done` holds, and returns it.
pub(crate) fn read_until(child: &mut Child, done: impl Fn(&str) -> bool) -> String {
    let mut shown = Vec::new();
    let mut part = [0; 4_096];
    loop {
        let read = std::io::Read::read(child.stdout.as_mut().unwrap(), &mut part).unwrap();
        shown.extend_from_slice(&part[..read]);
        let text = String::from_utf8_lossy(&shown).into_owned();
        if done(&text) {
            return text;
        }
        assert!(read > 0, "the terminal was closed: {text}");
    }
}

#[test]
fn the_screen_of_a_running_run_can_be_left_and_gives_the_terminal_back() {
    let bench = Bench::new();
    let mut run = start(&bench, "60s");
    for (width, variables) in [(60, &[("NO_COLOR", "1")][..]), (80, &[]), (200, &[])] {
        let Some(mut watch) = on_terminal(&bench, "watch a.ssdg", width, variables) else { break };
        let shown = read_until(&mut watch, |text| text.contains("q leave"));
        assert!(shown.contains("\u{1b}[?1049h"), "an alternate screen: {shown}");
        assert!(shown.contains("mine") && shown.contains("step 1 of 2"), "{shown}");
        // Red to cyan; bold and dim stay with NO_COLOR.
        let coloured = (31..=36).any(|code| shown.contains(&format!("\u{1b}[{code}m")))
            || shown.contains("\u{1b}[38;5;");
        assert_eq!(coloured, variables.is_empty(), "{shown:?}");
        watch.stdin.as_mut().unwrap().write_all(b"wq").unwrap();
        let rest = read_until(&mut watch, |text| text.contains("\u{1b}[?1049l"));
        assert!(rest.contains("\u{1b}[?1049l"), "{rest}");
        assert_eq!(watch.wait().unwrap().code(), Some(0));
        assert!(run.try_wait().unwrap().is_none(), "the run goes on");
    }
    run.kill().unwrap();
    run.wait().unwrap();
}

/// Returns how many programs watch in the folder of `bench`.
fn watchers(bench: &Bench) -> usize {
    let folder = bench.folder.path().canonicalize().unwrap();
    let is_watcher = |process: &Path| {
        let command = std::fs::read(process.join("cmdline")).unwrap_or_default();
        std::fs::read_link(process.join("cwd")).is_ok_and(|own| own == folder)
            && command.split(|byte| *byte == 0).nth(1) == Some(b"watch")
    };
    let processes = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    processes.filter(|process| is_watcher(process)).count()
}

#[test]
fn a_watcher_whose_terminal_is_closed_ends() {
    let bench = Bench::new();
    let mut run = start(&bench, "60s");
    if let Some(mut terminal) = on_terminal(&bench, "watch a.ssdg", 80, &[]) {
        read_until(&mut terminal, |text| text.contains("q leave"));
        assert_eq!(watchers(&bench), 1);
        terminal.kill().unwrap();
        terminal.wait().unwrap();
        wait_for("the end of the watcher", || watchers(&bench) == 0);
        assert!(run.try_wait().unwrap().is_none(), "the run goes on");
    }
    run.kill().unwrap();
    run.wait().unwrap();
}

#[test]
fn several_runs_are_shown_on_one_screen_aligned_by_step() {
    let bench = Bench::new();
    for name in ["a.ssdg", "b.ssdg", "c.ssdg"] {
        virtual_run(&bench, name);
    }
    let line = "watch a.ssdg b.ssdg c.ssdg";
    let Some(mut watch) = on_terminal(&bench, line, 120, &[]) else { return };
    let shown = read_until(&mut watch, |text| text.contains("q leave"));
    assert!(shown.contains("MODEL quick SHORTENED on 3 drives"), "{shown}");
    watch.stdin.as_mut().unwrap().write_all(b"q").unwrap();
    read_until(&mut watch, |text| text.contains("\u{1b}[?1049l"));
    assert_eq!(watch.wait().unwrap().code(), Some(0));
}
