//! `ssdgauge prove`: exit codes, the evidence, kill and resume, and what is read later.

use crate::support::{Bench, Loop, open_to_change, text, unfolded, wait_for};
use serde_json::Value;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Stdio;

const SIZE: u64 = 64 << 20;

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

/// Returns the number of recorded operations in `file`.
fn events(file: &Path) -> i64 {
    let sql = "SELECT count(*) FROM property WHERE key = 'proof_event'";
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    rusqlite::Connection::open_with_flags(file, flags)
        .and_then(|connection| connection.query_row(sql, [], |row| row.get(0)))
        .unwrap_or(0)
}

#[test]
fn the_exit_code_says_whether_a_drive_stores_what_it_states() {
    let bench = Bench::new();
    for (number, (target, code)) in [
        ("sim:tiny?capacity=256MB", 0),
        ("sim:tiny?capacity=256MB&fake=wrap:100MB", 4),
        ("sim:tiny?capacity=256MB&fake=dying:20MB", 1),
        ("sim:tiny?capacity=256MB&fake=hole:20MB", 2),
        ("null:", 2),
    ]
    .into_iter()
    .enumerate()
    {
        let file = format!("{number}.ssdg");
        let output = bench.call(&["prove", target, "--quick", "--json", "--out", &file]);
        assert_eq!(output.status.code(), Some(code), "{target}: {}", text(&output.stderr));
        if code == 1 {
            let value = json(&output.stdout);
            crate::schema::check("prove.json", &value);
            assert_eq!(value["verdict"]["result"], "holds-so-far", "{value:#}");
            assert_eq!(value["complete"], false);
        }
        if code == 4 {
            let value = json(&output.stdout);
            crate::schema::check("prove.json", &value);
            assert_eq!(value["verdict"]["result"], "wraps");
            assert_eq!(value["stores"]["most_bytes"].as_u64().unwrap() / 1_000_000, 99);
            assert_eq!(value["is_model"], true);
            assert!(value["evidence"][0]["block_of_offset"].is_u64(), "{value:#}");
        }
    }
    // A name that exists is kept.
    let output = bench.call(&["prove", "sim:tiny?capacity=256MB", "--quick", "--out", "0.ssdg"]);
    assert_eq!(output.status.code(), Some(3));
    // The run file alone prints the same result.
    let again = bench.print(&["report", "1.ssdg", "--json"]);
    assert_eq!(json(again.as_bytes())["verdict"]["result"], "wraps");
    // The text of the card accuses no maker, and names other causes.
    let output =
        bench.call(&["prove", "sim:tiny?capacity=256MB&fake=limbo:99MB", "--out", "a.ssdg"]);
    let card = unfolded(&text(&output.stdout));
    assert!(card.contains("MODEL") && card.contains("possible causes"), "{card}");
    assert!(card.contains("another program that wrote"), "{card}");
    assert!(!card.to_lowercase().contains("counterfeit"), "{card}");
}

#[test]
fn a_failure_at_a_moment_is_not_an_end_of_the_capacity() {
    let bench = Bench::new();
    for (number, fault) in ["drop_at_s=0.05", "drop_at_s=0.1", "drop_at_s=0.2", "flip_at_s=0.1"]
        .into_iter()
        .enumerate()
    {
        let target = format!("sim:tiny?capacity=1GB&fault.{fault}");
        let file = format!("{number}.ssdg");
        let output = bench.call(&["prove", &target, "--quick", "--json", "--out", &file]);
        assert_eq!(output.status.code(), Some(4), "{fault}: {}", text(&output.stderr));
        let value = json(&output.stdout);
        assert_eq!(value["verdict"]["result"], "damaged", "{fault}: {value:#}");
    }
    // What was written is on the media only after a flush.
    let target = "sim:tiny?capacity=256MB&fault.flush_fails=true";
    let output = bench.call(&["prove", target, "--quick", "--out", "flush.ssdg"]);
    let words = unfolded(&text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("cannot flush"), "{words}");
}

#[test]
fn a_power_cut_of_a_virtual_drive_is_refused_before_a_proof_begins() {
    let bench = Bench::new();
    let target = "sim:tiny?capacity=256MB&fault.power_cut_at_s=1";
    let output = bench.call(&["prove", target, "--out", "a.ssdg"]);
    let words = unfolded(&text(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("would take nothing") && words.contains("run --verify"), "{words}");
    assert!(!bench.path("a.ssdg").exists());
}

#[test]
fn a_killed_proof_of_a_drive_is_resumed_and_its_data_is_read_later() {
    let bench = Bench::new();
    let Some(drive) = Loop::attach(bench.folder.path(), SIZE) else { return };
    let serial = format!("{}:{SIZE}", drive.name());
    let consent = ["--confirm", &serial, "--confined", &serial];
    let refused = bench.call(&["prove", &drive.path, "--out", "a.ssdg"]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));

    let line = [&["prove", &drive.path, "--out", "a.ssdg"], &consent[..]].concat();
    let mut child =
        bench.command(&line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let file = bench.path("a.ssdg");
    wait_for("some operations", || events(&file) > 20 || child.try_wait().unwrap().is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    let before = events(&file);
    let output = bench.call(&[&["resume", "a.ssdg", "--json"], &consent[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(events(&file) > before, "{before} operations");
    let value = json(&output.stdout);
    assert_eq!(value["tested_bytes"], SIZE - 4_096);
    assert_eq!((&value["complete"], &value["answers"]["own"].is_u64()), (&true.into(), &true));

    let read = |target: &str| {
        let output = bench.call(&["prove", target, "--read", "a.ssdg", "--json"]);
        let value = json(&output.stdout);
        crate::schema::check("prove-read.json", &value);
        let blocks = value["blocks"].clone();
        let fates =
            blocks.as_array().unwrap().iter().map(|one| {
                (one["fate"].as_str().unwrap().to_owned(), one["blocks"].as_u64().unwrap())
            });
        (output.status.code(), fates.collect::<Vec<_>>())
    };
    let all = SIZE / 4_096 - 1;
    assert_eq!(read(&drive.path), (Some(0), vec![("kept".into(), all)]));
    drop(drive);
    // The image of the drive, in which blocks are lost, torn and misplaced.
    let image = bench.path("image");
    let device = std::fs::OpenOptions::new().read(true).write(true).open(&image).unwrap();
    device.write_all_at(&[0; 8_192], 40_960).unwrap();
    device.write_all_at(&[7; 512], 81_920 + 1_024).unwrap();
    let mut block = [0; 4_096];
    device.read_exact_at(&mut block, 409_600).unwrap();
    device.write_all_at(&block, 819_200).unwrap();
    drop(device);
    let expected = [("kept", all - 4), ("lost", 2), ("torn", 1), ("misplaced", 1)];
    let expected = expected.map(|(fate, blocks)| (fate.to_owned(), blocks)).to_vec();
    assert_eq!(read("image"), (Some(4), expected));
    // A file of another size is not an image of the drive.
    std::fs::File::options().write(true).open(&image).unwrap().set_len(SIZE / 2).unwrap();
    let other = bench.call(&["prove", "image", "--read", "a.ssdg"]);
    assert_eq!(other.status.code(), Some(3), "{}", text(&other.stderr));
}

#[test]
fn a_proof_on_a_page_of_several_runs_is_unfinished_only_until_it_ends() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "50", "--out", "quick.ssdg"]);
    bench.print(&["prove", "sim:tiny?capacity=256MB", "--quick", "--out", "proof.ssdg"]);
    let page = || {
        bench.print(&["report", "quick.ssdg", "proof.ssdg", "-o", "both.html"]);
        std::fs::read_to_string(bench.path("both.html")).unwrap()
    };
    let ended = page();
    assert!(!ended.contains("UNFINISHED") && !ended.contains("no step of this test has finished"));
    let row = "Proof of the capacity</th><td>every block that was read held what was written there";
    assert!(ended.contains(row));
    let sql = "DELETE FROM property WHERE value LIKE '%\"event\":\"ended\"%'";
    let file = open_to_change(bench.path("proof.ssdg"));
    assert_eq!(file.execute(sql, []).unwrap(), 1);
    let cut = page();
    assert!(cut.contains("<strong>UNFINISHED</strong> 1 of 2 runs"));
    assert!(cut.contains("Proof of the capacity</th><td>not complete"));
}

#[test]
fn a_run_that_is_not_a_proof_is_not_read_as_one() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "50", "--out", "a.ssdg"]);
    let output = bench.call(&["prove", "a.ssdg", "--read", "a.ssdg"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}
