//! Durability of what a run writes: drives that drop writes or fail flushes, and runs on virtual drives
//! that are killed and resumed.

use crate::support::{Bench, Loop, open_to_change, query, text};
use ssdgauge_core::Random;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn a_drive_that_drops_writes_fails_the_run() {
    let bench = Bench::new();
    // The fill takes 13 s; its writes are kept, and those of the measured steps are not.
    let target = "sim:tiny?fault.drop_at_s=30";
    let output = bench.call(&["quick", target, "--shorten", "5", "--out", "a.ssdg"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("do not hold the data that was written last"), "{stderr}");
    assert!(stderr.contains("hint: do not use the results of this run"), "{stderr}");
    let found = "SELECT count(*) FROM finding WHERE kind='lost-writes' AND severity='invalid'";
    assert_eq!(query(&bench.path("a.ssdg"), found), 1);
    let report = bench.print(&["report", "a.ssdg", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let durability = &report["runs"][0]["durability"];
    assert!(durability["blocks_lost"].as_u64().unwrap() >= 32, "{durability}");
    assert_eq!(durability["flushes_sent"], 2, "behind the fill, and at the end");
}

#[test]
fn a_changed_bit_passes_every_check_but_that_of_every_byte() {
    let bench = Bench::new();
    let target = "sim:tiny?fault.flip_at_s=30";
    let line = ["quick", target, "--shorten", "5", "--out"];
    bench.print(&[&line[..], &["a.ssdg"]].concat());
    let output = bench.call(&[&line[..], &["b.ssdg", "--verify"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let found = "SELECT count(*) FROM finding WHERE kind='verify-failed' AND severity='invalid'";
    assert_eq!(query(&bench.path("b.ssdg"), found), 1);
}

#[test]
fn a_flush_that_fails_ends_the_run() {
    let bench = Bench::new();
    let target = "sim:tiny?fault.flush_fails=true";
    let output = bench.call(&["quick", target, "--shorten", "5", "--out", "a.ssdg"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("error: cannot flush sim:tiny"), "{stderr}");
    let found = "SELECT count(*) FROM finding WHERE kind='flush-failed' AND severity='invalid'";
    assert_eq!(query(&bench.path("a.ssdg"), found), 1);
    // Nothing was measured after it.
    let steps = "SELECT count(*) FROM step WHERE phase_kind='measure'";
    assert_eq!(query(&bench.path("a.ssdg"), steps), 0);
}

#[test]
fn writes_to_a_scratch_file_are_flushed_and_read_back() {
    let bench = Bench::new();
    let line = ["quick", ".", "--size", "16MiB", "--shorten", "100", "--out", "a.ssdg"];
    bench.print(&line);
    let file = bench.path("a.ssdg");
    assert!(query(&file, "SELECT sum(value ->> 'sent') FROM property WHERE key='flush'") >= 2);
    // Through a page cache nothing is read back.
    if query(&file, "SELECT count(*) FROM finding WHERE kind='page-cache'") == 0 {
        let read = "SELECT sum(value ->> 'read') FROM property WHERE key='read_back'";
        assert!(query(&file, read) >= 64);
    }
}

/// Returns every sample of the finished steps, as text.
fn samples(file: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(file).unwrap();
    let rows = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let interval = "SELECT format('%d %d %d|%d %d %s|%d %d %d %d %d %s', test, phase, step, second, \
                    stream, direction, length_ns, ios, bytes, lat_sum_ns, lat_max_ns, \
                    hex(lat_histogram)) FROM interval JOIN step ON step.id = step_id \
                    WHERE state = 'finished' ORDER BY step.id, interval.rowid";
    let reading = "SELECT format('%d %d %d|%d %s %s %!.17g', test, phase, step, at_ns, instrument, \
                   quantity, value) FROM reading JOIN step ON step.id = step_id \
                   WHERE state = 'finished' ORDER BY step.id, reading.rowid";
    [rows(interval), rows(reading)].concat()
}

#[test]
fn a_virtual_run_that_is_killed_again_and_again_has_the_samples_of_the_uninterrupted_one() {
    let bench = Bench::new();
    let run = ["quick", "sim:tiny", "--shorten", "4", "--out"];
    bench.print(&[&run[..], &["whole.ssdg"]].concat());
    let whole = samples(&bench.path("whole.ssdg"));
    assert!(!whole.is_empty());
    let kills = if std::env::var_os("SSDGAUGE_LONG").is_some() { 500 } else { 12 };
    let seed = 20_261_122;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let (mut killed, mut completed) = (0, 0);
    while killed < kills {
        let name = format!("{completed}.ssdg");
        let file = bench.path(&name);
        loop {
            let first = [&run[..], &[name.as_str()]].concat();
            let line = if file.exists() { vec!["resume", &name] } else { first };
            let mut command = bench.command(&line);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(50 + random.below(600)));
            match child.try_wait().unwrap() {
                Some(ended) => {
                    assert_eq!(ended.code(), Some(0), "after {killed} kills");
                    break;
                }
                // Each part repeats the earlier ones, so a run is not killed for ever.
                None if killed % 4 == 3 => {
                    killed += 1;
                    assert_eq!(child.wait().unwrap().code(), Some(0), "after {killed} kills");
                    break;
                }
                None => {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    killed += 1;
                }
            }
        }
        completed += 1;
        assert!(samples(&file) == whole, "after {killed} kills, {completed} runs");
    }
}

/// A fill of the whole drive, and a second of writes.
const FILLS: &str = "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"Mine\"\n\n[[test]]\nid = \"a\"\n\
    revision = 1\ntitle = \"A\"\nprepare = [{ fill = \"sequential\" }]\n\
    stream = { access = \"random\", block_size = \"4KiB\", read_percent = 0 }\n\
    until = { time = \"1s\" }\nscore = { mean_of = \"iops\" }\n";

#[test]
fn a_run_that_was_killed_before_its_last_flush_is_flushed_and_checked_when_it_is_resumed() {
    const SIZE: u64 = 64 << 20;
    let bench = Bench::new();
    let Some(drive) = Loop::attach(bench.folder.path(), SIZE) else { return };
    std::fs::write(bench.path("mine.toml"), FILLS).unwrap();
    let serial = format!("{}:{SIZE}", drive.name());
    let consent = ["--confirm", &serial, "--confined", &serial];
    let run = ["run", "mine.toml", &drive.path, "--out", "a.ssdg"];
    bench.print(&[&run[..], &consent].concat());
    let recorded = "SELECT count(*) FROM property WHERE key IN ('flush', 'read_back')";
    // A kill after the last step leaves a file like this.
    let cut_off = || {
        let connection = open_to_change(bench.path("a.ssdg"));
        let sql = "DELETE FROM property WHERE key IN ('flush', 'read_back')";
        assert_eq!(connection.execute(sql, []).unwrap(), 2);
    };
    let resume = || bench.call(&[&["resume", "a.ssdg"], &consent[..]].concat());
    cut_off();
    let output = resume();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(query(&bench.path("a.ssdg"), recorded), 2);

    // The writes never reached the drive.
    cut_off();
    let image = std::fs::OpenOptions::new().write(true).open(bench.path("image")).unwrap();
    image.write_all_at(&vec![0; 32 << 20], 2 << 20).unwrap();
    image.sync_all().unwrap();
    // An open image is a use of the drive.
    drop(image);
    std::process::Command::new("blockdev").args(["--flushbufs", &drive.path]).status().unwrap();
    let output = resume();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let messages = text(&output.stderr);
    assert!(messages.contains("do not hold the data that was written last"), "{messages}");
}

#[test]
fn a_run_without_its_last_flush_is_not_complete_on_card_page_and_in_json() {
    let bench = Bench::new();
    std::fs::write(bench.path("mine.toml"), FILLS).unwrap();
    bench.print(&["run", "mine.toml", "sim:tiny", "--out", "a.ssdg"]);
    let outputs = || {
        let card = bench.print(&["report", "a.ssdg", "--markdown"]);
        let json = bench.print(&["report", "a.ssdg", "--json"]);
        bench.print(&["report", "a.ssdg", "-o", "a.html"]);
        let page = std::fs::read_to_string(bench.path("a.html")).unwrap();
        (card, serde_json::from_str::<serde_json::Value>(&json).unwrap(), page)
    };
    const WORDS: &str = "before the flush after its last step";
    let (card, json, page) = outputs();
    let run = &json["runs"][0];
    assert_eq!((&run["complete"], &run["awaits_flush"]), (&true.into(), &false.into()));
    assert!(!card.contains("UNFINISHED") && !card.contains(WORDS), "{card}");
    assert!(!page.contains("the last flush is missing") && !page.contains(WORDS));

    let connection = open_to_change(bench.path("a.ssdg"));
    let sql = "DELETE FROM property WHERE key IN ('flush', 'read_back')";
    assert!(connection.execute(sql, []).unwrap() > 0);
    drop(connection);
    let (card, json, page) = outputs();
    let run = &json["runs"][0];
    assert_eq!((&run["complete"], &run["awaits_flush"]), (&false.into(), &true.into()));
    assert!(card.contains("UNFINISHED") && card.contains(WORDS), "{card}");
    assert!(page.contains("the last flush is missing") && page.contains(WORDS));
}

/// A step of six seconds: three commits at an interval of 2 s, none at 10 s.
const SIX_SECONDS: &str = "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"Mine\"\n\n[[test]]\n\
    id = \"a\"\nrevision = 1\ntitle = \"A\"\n\
    stream = { access = \"random\", block_size = \"4KiB\", read_percent = 0 }\n\
    until = { time = \"6500ms\" }\nscore = { mean_of = \"iops\" }\n";

#[test]
fn samples_are_stored_more_often_where_run_file_and_target_lie_on_different_drives() {
    const SIZE: u64 = 64 << 20;
    let bench = Bench::new();
    let in_memory = tempfile::tempdir_in("/dev/shm").unwrap();
    // Device numbers with major 0 belong to file systems without a block device.
    let has_drive = |path: &Path| std::fs::metadata(path).unwrap().dev() >= 1 << 8;
    if !has_drive(bench.folder.path()) || has_drive(in_memory.path()) {
        println!("skipped: temporary files need a drive, and /dev/shm none");
        return;
    }
    let drives = [bench.folder.path(), in_memory.path()].map(|folder| Loop::attach(folder, SIZE));
    let [Some(shared), Some(separate)] = &drives else { return };
    std::fs::write(bench.path("mine.toml"), SIX_SECONDS).unwrap();
    let runs = [(shared, "shared.ssdg"), (separate, "separate.ssdg")].map(|(drive, out)| {
        let serial = format!("{}:{SIZE}", drive.name());
        let line = ["run", "mine.toml", &drive.path, "--out", out, "--confirm", &serial];
        let mut command = bench.command(&[&line[..], &["--confined", &serial]].concat());
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        (child, out)
    });
    let [shared, separate] = runs.map(|(child, out)| {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        // The change counter of an SQLite file counts its commits (file format, section 1.3.3).
        let file = std::fs::read(bench.path(out)).unwrap();
        u32::from_be_bytes(file[24..28].try_into().unwrap())
    });
    assert!(separate >= shared + 2, "{separate} commits, and {shared} on one drive");
}
