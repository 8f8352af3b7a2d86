//! X-rays in run files: a complete one counts so everywhere, and a changed one shows no card.

use crate::support::{Bench, text};
use std::process::Command;

/// Changes `file` with the sqlite3 shell.
fn change(bench: &Bench, file: &str, sql: &str) {
    let status = Command::new("sqlite3").arg(bench.path(file)).arg(sql).status().unwrap();
    assert!(status.success(), "{sql}");
}

#[test]
fn a_complete_x_ray_that_wrote_last_is_finished_for_whoever_watches_it() {
    let bench = Bench::new();
    bench.print(&["xray", "sim:tlc-client?capacity=16GB", "--only=cache", "--out", "x.ssdg"]);
    let output = bench.call(&["watch", "x.ssdg", "--jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("\"state\":\"finished\""), "{}", text(&output.stdout));
}

#[test]
fn an_x_ray_that_was_changed_later_shows_no_card() {
    if Command::new("sqlite3").arg("--version").output().is_err() {
        println!("skipped: no sqlite3");
        return;
    }
    let bench = Bench::new();
    bench.print(&["xray", "sim:tlc-client?capacity=16GB", "--only=cache", "--out", "x.ssdg"]);
    bench.print(&["report", "x.ssdg", "--json"]);
    // The other links stay as they are, and no longer follow from their records.
    change(&bench, "x.ssdg", "DELETE FROM link WHERE rowid = (SELECT min(rowid) FROM link)");
    let output = bench.call(&["report", "x.ssdg", "--json"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("do not match the hash"), "{stderr}");
    assert!(output.stdout.is_empty());
}
