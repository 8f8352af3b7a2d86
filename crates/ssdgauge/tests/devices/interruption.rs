//! Interrupted runs: no finished step is lost, and every run can be completed.

use crate::support::{Bench, Loop, measures, open_to_change, query, text, wait_for};
use crate::tiers::{repetitions, write_figure};
use ssdgauge_core::Random;
use ssdgauge_runfile::{RunFile, StepPlace, StepState};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn start(bench: &Bench, arguments: &[&str]) -> Child {
    bench.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns the number of finished steps.
fn finished_steps(bench: &Bench) -> i64 {
    query(
        &bench.path("a.ssdg"),
        "SELECT count(*) FROM (SELECT DISTINCT test, phase, step FROM step WHERE state='finished')",
    )
}

/// Waits until the run file has its first record.
fn wait_for_run_file(bench: &Bench) {
    let path = bench.path("a.ssdg");
    wait_for("a run file", || std::fs::metadata(&path).map_or(0, |file| file.len()) > 0);
}

#[test]
fn a_run_that_is_killed_again_and_again_is_completed_and_loses_no_finished_step() {
    let kills = repetitions(20, 200, 10_000);
    let seed = 20_261_120;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let (mut killed, mut early, mut completed, mut lost, mut unreadable) = (0, 0, 0, 0, 0);
    let folder = tempfile::tempdir().unwrap();
    let stderr_path = folder.path().join("stderr");
    while killed < kills {
        let bench = Bench::new();
        let file = bench.path("a.ssdg");
        // One run in four writes a scratch file; the others use null: and are shorter.
        let on_file = killed % 4 == 0;
        let target = if on_file { "." } else { "null:" };
        // The time to settle, 100 ms, is shorter than most of the times between two kills.
        let run = ["quick", target, "--size", "16MiB", "--shorten", "300", "--out", "a.ssdg"];
        let mut safe = BTreeSet::new();
        // Kills in a row without a new finished step: on a slow machine they come too early.
        let mut fruitless = 0;
        loop {
            // Without a run file the kill came too early: the run is started again.
            let line = if file.exists() { &["resume", "a.ssdg"][..] } else { &run };
            let stderr = std::fs::File::create(&stderr_path).unwrap();
            let mut command = bench.command(line);
            let mut child = command.stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
            let most = match (file.exists(), on_file) {
                (false, _) => 50,
                (true, true) => 600,
                (true, false) => 300,
            };
            let moment = Duration::from_millis(random.below(most + 25 * fruitless));
            let since = Instant::now();
            while since.elapsed() < moment && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(200));
            }
            if let Some(ended) = child.try_wait().unwrap() {
                let stderr = std::fs::read_to_string(&stderr_path).unwrap();
                assert_eq!(ended.code(), Some(0), "after {killed} kills: {stderr}");
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
            fruitless += 1;
            if !file.exists() {
                early += 1;
                assert!(safe.is_empty(), "a run file disappeared");
                continue;
            }
            // Opening the file rolls back the transaction that the kill interrupted.
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
            if now.len() > safe.len() {
                fruitless = 0;
            }
            safe = now;
        }
        if unreadable > 0 {
            break;
        }
        completed += 1;
        let twice = "SELECT count(*) FROM (SELECT 1 FROM step WHERE state='finished' AND \
                     phase_kind='measure' GROUP BY test, phase, step HAVING count(*) > 1)";
        assert_eq!(query(&file, twice), 0, "a measured step ran twice");
        assert_eq!(finished_steps(&bench), 15);
        assert_eq!(bench.names(), ["a.html", "a.ssdg"], "no other file remains");
        if completed % 100 == 0 {
            println!("{killed} kills, {completed} runs completed");
        }
    }
    assert_eq!((lost, unreadable), (0, 0), "after {killed} kills");
    assert!(completed > 0, "no run was completed between {killed} kills");
    write_figure(
        "kill -9",
        &format!("{killed} at random moments, {early} of them before the run file was created"),
        &format!(
            "{lost} finished steps lost, {unreadable} unreadable files, {completed} runs completed"
        ),
        "cargo test -p ssdgauge --test it killed_again",
    );
}

#[test]
fn resuming_a_complete_run_runs_no_step() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "50", "--out", "a.ssdg"]);
    let steps = "SELECT count(*) FROM step";
    let before = query(&bench.path("a.ssdg"), steps);
    bench.print(&["resume", "a.ssdg"]);
    assert_eq!(query(&bench.path("a.ssdg"), steps), before);
}

#[test]
fn a_complete_run_is_shown_although_its_drive_holds_the_data_of_another_one() {
    let bench = Bench::new();
    let Some(device) = Loop::attach(bench.folder.path(), 16 << 20) else { return };
    let suite = r#"
[suite]
id = "writes"
revision = 1
title = "Writes"
[[test]]
id = "t"
revision = 1
title = "T"
stream = { access = "random", block_size = "4KiB", read_percent = 0 }
until = { time = "50ms" }
score = { best_of = "iops" }
"#;
    std::fs::write(bench.path("writes.toml"), suite).unwrap();
    let serial = format!("{}:16777216", device.name());
    let run = |file: &str, more: &[&str]| {
        let line =
            ["run", "writes.toml", &device.path, "--confirm", &serial, "--confined", &serial];
        let output = bench.call(&[&line[..], &["--out", file], more].concat());
        assert!(output.status.success(), "{file}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let card = run("a.ssdg", &[]);
    run("b.ssdg", &["--erase", &serial]);
    let written = device.writes();
    std::fs::remove_file(bench.path("a.html")).unwrap();
    // Slurm repeats the command of a job whose end it lost.
    assert_eq!(run("a.ssdg", &["--or-resume"]), card);
    assert!(bench.path("a.html").exists());
    assert_eq!(bench.print(&["resume", "a.ssdg"]), card);
    assert_eq!(device.writes(), written);
}

#[test]
fn a_resumed_run_states_how_many_steps_have_finished_and_what_its_rest_takes() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "50", "--out", "a.ssdg"]);
    let file = bench.path("a.ssdg");
    let all = query(&file, "SELECT count(*) FROM step");
    let connection = open_to_change(&file);
    for table in ["interval", "reading", "finding", "property"] {
        connection.execute(&format!("DELETE FROM {table} WHERE step_id > 5"), []).unwrap();
    }
    connection.execute("DELETE FROM step WHERE id > 5", []).unwrap();
    drop(connection);
    let output = bench.call(&["resume", "a.ssdg"]);
    let said = crate::support::unfolded(&crate::support::text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.starts_with("resume quick on MODEL tiny"), "{said}");
    let expected = format!(" ago 5 of {all} steps are finished; ");
    let rest = said.split(&expected).nth(1).unwrap_or_else(|| panic!("{said}"));
    assert!(rest.split(" left").next().unwrap().len() < 20, "a time: {said}");
    // The step after the five, and the last one.
    for number in [format!("[ 6/{all}]"), format!("[{all:>2}/{all}]")] {
        assert!(said.contains(&number), "{number}: {said}");
    }
    assert_eq!(query(&file, "SELECT count(*) FROM step WHERE state = 'finished'"), all);
}

#[test]
fn a_run_file_in_use_by_another_process_is_refused() {
    let bench = Bench::new();
    let long = ["quick", ".", "--size", "16MiB", "--shorten", "2", "--out", "a.ssdg"];
    let mut child = start(&bench, &long);
    wait_for_run_file(&bench);
    let second = bench.call(&["resume", "a.ssdg"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(second.status.code(), Some(75), "{}", crate::support::text(&second.stderr));
}

#[test]
fn a_scratch_file_in_a_folder_that_only_the_run_file_names_needs_a_confirmation() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("drive")).unwrap();
    let folder = bench.path("drive").canonicalize().unwrap();
    let folder = folder.to_str().unwrap();
    let run = ["quick", "drive", "--size", "16MiB", "--shorten", "100", "--out", "a.ssdg"];
    let mut child = start(&bench, &run);
    wait_for("the first step", || measures(&bench.path("a.ssdg")));
    crate::support::signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(75));
    // A copy names the same folder and the same boot, which every user can read.
    std::fs::copy(bench.path("a.ssdg"), bench.path("copy.ssdg")).unwrap();
    let refuse = |file: &str, more: &[&str]| {
        let refused = bench.call(&[&["resume", file], more].concat());
        let message = crate::support::text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(3), "{message}");
        for part in ["asks for a scratch file of 16.8 MB", "nothing was written", folder] {
            assert!(message.contains(part), "'{part}' is missing in: {message}");
        }
    };
    refuse("copy.ssdg", &[]);
    refuse("copy.ssdg", &["--confirm", "yes"]);
    // The file itself, once another user may write to it or owns it.
    let file = bench.path("a.ssdg");
    let mode = |mode| std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    for others in [0o620, 0o602] {
        mode(others);
        refuse("a.ssdg", &[]);
    }
    mode(0o600);
    if std::os::unix::fs::chown(&file, Some(65_534), None).is_ok() {
        // It may not even be read.
        assert_ne!(bench.call(&["resume", "a.ssdg"]).status.code(), Some(0));
        std::os::unix::fs::chown(&file, Some(0), None).unwrap();
    }
    // One without a record of its origin, as of an earlier version.
    std::fs::copy(&file, bench.path("b.ssdg")).unwrap();
    let connection = open_to_change(bench.path("b.ssdg"));
    let removed = connection.execute("DELETE FROM property WHERE key='file_origin'", []).unwrap();
    drop(connection);
    refuse("b.ssdg", &[]);
    // In its own folder, confirmed, and as its own run.
    std::fs::copy(&file, bench.path("drive/a.ssdg")).unwrap();
    bench.print(&["resume", "drive/a.ssdg"]);
    bench.print(&["resume", "copy.ssdg", "--confirm", folder]);
    match removed {
        0 => println!("skipped: the file system does not state the time of creation"),
        _ => drop(bench.print(&["resume", "a.ssdg"])),
    }
}

#[test]
fn a_command_that_is_started_again_continues_its_run() {
    let bench = Bench::new();
    let run = ["run", "quick", "null:", "--shorten", "20", "--out", "a.ssdg", "--or-resume"];
    let mut child = start(&bench, &run);
    wait_for("the first step", || measures(&bench.path("a.ssdg")));
    child.kill().unwrap();
    child.wait().unwrap();
    bench.print(&run);
    assert_eq!(finished_steps(&bench), 15);
    // A complete run ends at once; another suite or target is not mixed with it.
    let steps = query(&bench.path("a.ssdg"), "SELECT count(*) FROM step");
    bench.print(&run);
    assert_eq!(query(&bench.path("a.ssdg"), "SELECT count(*) FROM step"), steps);
    for other in [["run", "quick", "sim:tiny"], ["run", "as-ssd", "null:"]] {
        let refused = bench.call(&[&other[..], &["--out", "a.ssdg", "--or-resume"]].concat());
        let message = crate::support::text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(3), "{message}");
        assert!(message.contains("is a run of quick"), "{message}");
    }
    let alone = bench.call(&["run", "quick", "null:", "--or-resume"]);
    assert_eq!(alone.status.code(), Some(2), "{}", crate::support::text(&alone.stderr));
}

#[test]
fn without_space_for_a_run_file_no_run_starts() {
    let bench = Bench::new();
    let Some(small) = SmallFileSystem::mount(&bench, "1m") else { return };
    let filler = small.fill();
    let out = small.0.join("a.ssdg");
    let refused = bench.call(&["quick", "null:", "--out", out.to_str().unwrap()]);
    let message = crate::support::text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{message}");
    assert!(message.contains("nothing was written to the drive"), "{message}");
    assert!(!message.contains("resume"), "{message}");
    let left: Vec<_> = std::fs::read_dir(&small.0).unwrap().flatten().map(|e| e.path()).collect();
    assert_eq!(left, [filler]);
}

/// A small file system for results, unmounted when it is dropped.
pub(crate) struct SmallFileSystem(pub(crate) PathBuf);

impl SmallFileSystem {
    pub(crate) fn mount(bench: &Bench, size: &str) -> Option<SmallFileSystem> {
        let folder = bench.path("small");
        std::fs::create_dir(&folder).unwrap();
        let options = format!("size={size}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "none"]).arg(&folder);
        if !mount.status().is_ok_and(|status| status.success()) {
            println!("skipped: no small file system available (run as root)");
            return None;
        }
        Some(SmallFileSystem(folder))
    }

    /// Writes a file that takes all the free space.
    pub(crate) fn fill(&self) -> PathBuf {
        use std::io::Write;
        let path = self.0.join("filler");
        let mut file = std::fs::File::create(&path).unwrap();
        for size in [65_536, 4_096] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
        path
    }
}

impl Drop for SmallFileSystem {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn without_space_for_results_a_run_waits_and_then_stops_resumably() {
    let bench = Bench::new();
    let Some(small) = SmallFileSystem::mount(&bench, "4m") else { return };
    let out = small.0.join("a.ssdg");
    let out = out.to_str().unwrap();
    // Space is freed in time: no step is lost, and a finding reports the wait.
    let stderr = std::fs::File::create(bench.path("stderr")).unwrap();
    let line = ["quick", "null:", "--shorten", "20", "--out", out];
    let mut child = bench.command(&line).stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
    wait_for("the first step", || measures(Path::new(out)));
    let filler = small.fill();
    let messages = || std::fs::read_to_string(bench.path("stderr")).unwrap();
    wait_for("the wait for space", || messages().contains("no space left for the results"));
    std::fs::remove_file(filler).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", messages());
    assert_eq!(query(Path::new(out), "SELECT count(*) FROM finding WHERE kind='results-full'"), 1);
    assert_eq!(query(Path::new(out), "SELECT count(*) FROM step WHERE state='finished'"), 15);
    // No space is freed: the run stops with its finished steps, and can be resumed.
    std::fs::remove_file(out).unwrap();
    std::fs::remove_file(small.0.join("a.html")).unwrap();
    let stderr = std::fs::File::create(bench.path("stderr")).unwrap();
    let mut child = bench.command(&line).stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
    wait_for("the first step", || measures(Path::new(out)));
    let filler = small.fill();
    assert_eq!(child.wait().unwrap().code(), Some(75), "{}", messages());
    assert!(messages().contains("free disk space, then continue"), "{}", messages());
    check_shortage(&crate::support::unfolded(&messages()));
    let finished = query(Path::new(out), "SELECT count(*) FROM step WHERE state='finished'");
    assert!(finished < 14, "{finished}");
    std::fs::remove_file(filler).unwrap();
    bench.print(&["resume", out]);
    assert_eq!(query(Path::new(out), "SELECT count(*) FROM step WHERE state='finished'"), 15);
}

/// Checks that the error names the reserve, and that what it needs is more than what is free.
fn check_shortage(messages: &str) {
    let words = "error: no space left for the next records of ";
    let error = messages.split(words).nth(1).unwrap_or_else(|| panic!("{messages}"));
    assert!(error.contains("with a reserve of 262 kB: "), "{messages}");
    let bytes = |before: &str, after: &str| -> f64 {
        let part = error.split(before).nth(1).unwrap().split(after).next().unwrap();
        let (number, unit) = part.split_once(' ').unwrap();
        let unit = match unit {
            "B" => 1.0,
            "kB" => 1e3,
            "MB" => 1e6,
            other => panic!("{other}: {error}"),
        };
        number.parse::<f64>().unwrap() * unit
    };
    assert!(bytes("262 kB: ", " more") > bytes("needed, and ", " are free"), "{error}");
}

#[test]
fn a_run_that_only_lacks_the_reserve_of_its_file_says_so() {
    let bench = Bench::new();
    let Some(small) = SmallFileSystem::mount(&bench, "512k") else { return };
    let out = small.0.join("a.ssdg");
    let line = ["quick", "sim:tlc-client", "--shorten", "10", "--scale-spans"];
    let output = bench.call(&[&line[..], &["--out", out.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(75));
    check_shortage(&crate::support::unfolded(&crate::support::text(&output.stderr)));
    // The file itself would fit.
    let whole = bench.path("whole.ssdg");
    bench.print(&[&line[..], &["--out", whole.to_str().unwrap()]].concat());
    assert!(whole.metadata().unwrap().len() < 512 << 10);
}

#[test]
fn a_reader_that_holds_the_run_file_delays_the_run_and_loses_nothing() {
    let bench = Bench::new();
    let file = bench.path("a.ssdg");
    let stderr_path = bench.path("stderr");
    let stderr = std::fs::File::create(&stderr_path).unwrap();
    let line = ["quick", "null:", "--size", "16MiB", "--shorten", "20", "--out", "a.ssdg"];
    let mut child = bench.command(&line).stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
    wait_for_run_file(&bench);
    let reader = rusqlite::Connection::open(&file).unwrap();
    reader.busy_timeout(Duration::from_secs(20)).unwrap();
    // A read transaction: the lock is held until its end.
    reader.execute_batch("BEGIN; SELECT count(*) FROM step").unwrap();
    let told = || std::fs::read_to_string(&stderr_path).unwrap().contains("reads the run file");
    wait_for("the run to wait for the reader", told);
    // Longer than the second from which on the wait is a finding.
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(child.try_wait().unwrap().is_none(), "the run waits");
    reader.execute_batch("COMMIT").unwrap();
    drop(reader);
    let ended = child.wait().unwrap();
    assert_eq!(ended.code(), Some(0), "{}", std::fs::read_to_string(&stderr_path).unwrap());
    assert!(query(&file, "SELECT count(*) FROM finding WHERE kind='results-read'") >= 1);
    assert_eq!(query(&file, "SELECT count(*) FROM step WHERE state<>'finished'"), 0);
    assert_eq!(finished_steps(&bench), 15);
}

#[test]
fn a_drive_that_vanishes_between_two_steps_is_named_in_the_report() {
    let bench = Bench::new();
    let test = |id: &str| {
        format!(
            "[[test]]\nid = \"{id}\"\nrevision = 1\ntitle = \"Reads\"\nstream = {{ access = \"random\", \
             block_size = \"4KiB\", read_percent = 100, queue_depth = 1 }}\nuntil = {{ time = \"1s\" }}\n\
             rest = {{ time = \"5s\" }}\nscore = {{ mean_of = \"iops\" }}\n"
        )
    };
    let suite = "[suite]\nid = \"own\"\nrevision = 1\ntitle = \"Own\"\n";
    std::fs::write(bench.path("own.toml"), format!("{suite}{}{}", test("first"), test("second")))
        .unwrap();
    let run = ["run", "own.toml", "sim:tiny?fault.gone_at_s=3", "--out", "a.ssdg"];
    assert_eq!(bench.call(&run).status.code(), Some(1));
    let json: serde_json::Value =
        serde_json::from_str(&bench.print(&["report", "a.ssdg", "--json"])).unwrap();
    let findings = json["runs"][0]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|one| one["kind"] == "drive-gone"), "{findings:?}");
}
