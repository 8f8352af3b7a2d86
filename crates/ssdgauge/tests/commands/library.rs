//! The library of runs: numbers that stay, lists, and the words that name runs.

use crate::support::{Bench, text, unfolded};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A bench whose folder is the library, with shortened runs of virtual drives of these seeds in their order.
struct Library {
    bench: Bench,
}

impl Library {
    fn new(seeds: &[u32]) -> Library {
        let library = Library { bench: Bench::new() };
        for (place, seed) in seeds.iter().enumerate() {
            library.add(&format!("run-{place}.ssdg"), *seed);
        }
        library
    }

    fn add(&self, file: &str, seed: u32) {
        let seed = seed.to_string();
        self.bench.print(&[
            "quick",
            "sim:tiny",
            "--shorten",
            "10",
            "--test",
            "sequential-write",
            "--seed",
            &seed,
            "--out",
            file,
        ]);
    }

    fn list(&self) -> Value {
        serde_json::from_str(&self.bench.print(&["list", "--json"])).unwrap()
    }

    /// Returns the numbers with the names of their files.
    fn numbers(&self) -> Vec<(u64, String)> {
        let list = self.list();
        let row = |row: &Value| {
            (row["number"].as_u64().unwrap(), row["file"].as_str().unwrap().to_owned())
        };
        list["runs"].as_array().unwrap().iter().map(row).collect()
    }

    fn fails(&self, line: &[&str], words: &[&str]) {
        let output = self.bench.call(line);
        assert_eq!(output.status.code(), Some(2), "{line:?}: {}", text(&output.stderr));
        let message = unfolded(&text(&output.stderr));
        for word in words {
            assert!(message.contains(word), "{line:?}: {message}");
        }
    }
}

fn named(numbers: &[(u64, String)]) -> Vec<(u64, &str)> {
    numbers.iter().map(|(number, file)| (*number, file.as_str())).collect()
}

#[test]
fn a_number_belongs_to_its_run_whatever_happens_to_files_and_index() {
    let library = Library::new(&[1, 2, 3]);
    let path = |name: &str| library.bench.path(name);
    let all = [(1, "run-0.ssdg"), (2, "run-1.ssdg"), (3, "run-2.ssdg")];
    assert_eq!(named(&library.numbers()), all);
    // Of a run that moves, and of one that goes and comes again.
    std::fs::rename(path("run-0.ssdg"), path("zz.ssdg")).unwrap();
    std::fs::rename(path("run-1.ssdg"), path("kept")).unwrap();
    assert_eq!(named(&library.numbers()), [(1, "zz.ssdg"), (3, "run-2.ssdg")]);
    library.fails(&["show", "2"], &["the file of run 2 is no longer in the library", "1, 3"]);
    library.add("new.ssdg", 4);
    assert_eq!(named(&library.numbers()), [(1, "zz.ssdg"), (3, "run-2.ssdg"), (4, "new.ssdg")]);
    std::fs::rename(path("kept"), path("back.ssdg")).unwrap();
    let later = [(1, "zz.ssdg"), (2, "back.ssdg"), (3, "run-2.ssdg"), (4, "new.ssdg")];
    assert_eq!(named(&library.numbers()), later);
    // Each line alone is enough for the number of its run, and the last number is not given again.
    let index = path(".ssdgauge-index");
    let lines = std::fs::read_to_string(&index).unwrap();
    let is_number = |line: &&str| line.contains("ssdgauge-number");
    for kept in [true, false] {
        let some: Vec<&str> = lines.lines().filter(|line| is_number(line) == kept).collect();
        std::fs::write(&index, format!("{}\n{{\"torn", some.join("\n"))).unwrap();
        assert_eq!(named(&library.numbers()), later, "numbers kept: {kept}");
    }
    // The index of another program keeps its numbers, and every file is read again.
    let other = lines.replace("\"program\":\"ssdgauge", "\"program\":\"another");
    std::fs::write(&index, other.replace("tiny", "stale")).unwrap();
    let list = library.list();
    assert_eq!(list["runs"][1]["number"], 2);
    assert!(!list["runs"][1]["drive"].as_str().unwrap().contains("stale"));
    // One of a newer format is read and not changed.
    let newer = lines.replace("\"format\":1", "\"format\":9");
    std::fs::write(&index, &newer).unwrap();
    library.add("newest.ssdg", 5);
    let list = library.list();
    assert_eq!(list["unnumbered"], "a newer ssdgauge wrote the index");
    assert_eq!(list["runs"][4]["number"], Value::Null);
    assert_eq!(std::fs::read_to_string(&index).unwrap(), newer);
}

#[test]
fn numbers_and_folders_name_runs_in_every_command() {
    let library = Library::new(&[1, 2]);
    let bench = &library.bench;
    library.numbers();
    let by_name = bench.print(&["compare", "run-0.ssdg", "run-1.ssdg"]);
    assert_eq!(bench.print(&["compare", "1", "2"]), by_name);
    assert_eq!(bench.print(&["compare", "--last", "2"]), by_name);
    assert_eq!(bench.print(&["compare", "."]), by_name);
    library.fails(&["compare", "1"], &["one run is given, and two are compared"]);
    library.fails(&["compare", "--last", "3"], &["has 2 complete runs of the suite"]);
    assert_eq!(bench.print(&["show", "2"]), bench.print(&["show", "run-1.ssdg"]));
    assert_eq!(bench.print(&["show"]), bench.print(&["show", "2"]));
    let json = bench.print(&["report", "run-0.ssdg", "run-1.ssdg", "--json"]);
    assert_eq!(bench.print(&["report", "1", "2", "--json"]), json);
    assert_eq!(bench.print(&["report", ".", "--json"]), json);
    let rows = bench.print(&["export", "--jsonl", "run-1.ssdg"]);
    assert_eq!(bench.print(&["export", "--jsonl", "2"]), rows);
    let job = bench.print(&["export", "--fio", "run-1.ssdg"]);
    assert_eq!(bench.print(&["export", "--fio", "2"]), job);
    assert_eq!(bench.print(&["watch", "1"]), bench.print(&["watch", "run-0.ssdg"]));
    assert!(bench.print(&["fleet", "drift", "1", "2"]).starts_with("2 runs of 2 drives"));
    assert!(bench.print(&["resume", "2"]).contains("MODEL"));
    for line in [["show", "9"], ["report", "9"], ["resume", "9"], ["watch", "9"]] {
        library.fails(&line, &["run 9 is not in the library .", "the nearest numbers are 1, 2"]);
    }
    library.fails(&["resume", "."], &["no run in . is unfinished"]);
    library.fails(&["watch"], &["no run in . is in progress"]);
    library.fails(&["crosscheck", "."], &["has 2 such run files, and one is meant"]);
    // A file with that name is meant.
    std::fs::copy(bench.path("run-0.ssdg"), bench.path("2")).unwrap();
    assert_eq!(bench.print(&["show", "2"]), bench.print(&["show", "run-0.ssdg"]));
}

#[test]
fn the_list_is_filtered_and_states_damaged_and_foreign_files() {
    let library = Library::new(&[1]);
    let bench = &library.bench;
    bench.print(&[
        "run",
        "load-curve",
        "sim:tiny",
        "--scale-spans",
        "--shorten",
        "600",
        "--label",
        "shelf",
        "--out",
        "t.ssdg",
    ]);
    let good = std::fs::read(bench.path("run-0.ssdg")).unwrap();
    std::fs::write(bench.path("foreign.ssdg"), "no run").unwrap();
    std::fs::write(bench.path("cut.ssdg"), &good[..good.len() / 2]).unwrap();
    let list = library.list();
    let defects: Vec<(&str, &str)> = list["defective"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["file"].as_str().unwrap(), one["defect"].as_str().unwrap()))
        .collect();
    assert!(defects.contains(&("foreign.ssdg", "foreign")), "{defects:?}");
    assert!(defects.iter().any(|(file, defect)| *file == "cut.ssdg" && *defect != "foreign"));
    // What the list shows of a run is what its report says.
    let report: Value = serde_json::from_str(&bench.print(&["report", "1", "--json"])).unwrap();
    let (row, run) = (&list["runs"][0], &report["runs"][0]);
    for key in ["id", "outcome", "model", "started_unix_ms"] {
        assert_eq!(row[key], run[key], "{key}");
    }
    assert_eq!((&row["suite"], &row["serial"]), (&run["suite"]["id"], &run["drive"]["serial"]));
    let printed = bench.print(&["list"]);
    assert!(printed.contains("foreign.ssdg: foreign: ") && printed.contains("cut.ssdg: "));
    assert!(printed.lines().all(|line| line.chars().count() <= 100), "{printed}");
    let count = |filter: &[&str]| {
        let line = [&["list", "--json"], filter].concat();
        let list: Value = serde_json::from_str(&bench.print(&line)).unwrap();
        (list["runs"].as_array().unwrap().len(), list["defective"].as_array().unwrap().len())
    };
    assert_eq!(count(&[]), (2, 2));
    assert_eq!(count(&["--drive", "SHELF"]), (1, 0));
    assert_eq!(count(&["--suite", "quick"]), (1, 0));
    assert_eq!(count(&["--outcome", "defective"]), (0, 2));
    assert_eq!(count(&["--outcome", "failed"]), (0, 0));
    assert_eq!(count(&["--since", "1h"]), (2, 0));
    assert_eq!(count(&["--since", "2999-01-01"]), (0, 0));
    library.fails(&["list", "--suite", "quikc"], &["did you mean 'quick'?"]);
    library.fails(&["list", "--since", "soon"], &["use a day such as 2026-11-20"]);
}

#[test]
fn the_settings_name_the_library_and_new_runs_are_written_into_it() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("library/2026")).unwrap();
    let with = |line: &[&str]| {
        let mut command = bench.command(line);
        command.env("SSDGAUGE_LIBRARY", bench.path("library"));
        command
    };
    let line = ["quick", "sim:tiny", "--shorten", "10", "--test", "sequential-write"];
    assert!(with(&line).output().unwrap().status.success());
    assert_eq!(bench.names(), ["library"], "nothing is written into the current folder");
    let files = || std::fs::read_dir(bench.path("library")).unwrap().map(|one| one.unwrap().path());
    let run = files().find(|file| file.extension().is_some_and(|one| one == "ssdg")).unwrap();
    std::fs::rename(&run, bench.path("library/2026/a.ssdg")).unwrap();
    let list = text(&with(&["list", "--json"]).output().unwrap().stdout);
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["runs"][0]["number"], 1);
    let page = text(&with(&["open", "1"]).env("SSH_CONNECTION", "1").output().unwrap().stdout);
    assert_eq!(Path::new(page.trim()), bench.path("library/2026/a.html"));
    assert!(bench.path("library/2026/a.html").exists());
}

#[test]
fn a_library_that_cannot_be_written_is_read_without_numbers() {
    let library = Library::new(&[1]);
    let folder = library.bench.folder.path();
    // A folder has the name of the index: nobody, root included, can replace it by a file.
    std::fs::create_dir(folder.join(".ssdgauge-index")).unwrap();
    let list = library.list();
    assert_eq!(list["runs"][0]["number"], Value::Null);
    assert!(list["unnumbered"].as_str().unwrap().contains(".ssdgauge-index"), "{list}");
    library.fails(&["show", "1"], &["its runs have no numbers", "name the run file"]);
    assert!(library.bench.print(&["list"]).contains("run-0.ssdg"));
}

#[test]
fn processes_that_list_at_once_agree_on_every_number() {
    let library = Library::new(&[1, 2, 3]);
    for round in 0..5 {
        let _ = std::fs::remove_file(library.bench.path(".ssdgauge-index"));
        let start = |_| {
            let mut command: Command = library.bench.command(&["list", "--json"]);
            command.stdout(std::process::Stdio::piped()).spawn().unwrap()
        };
        let all: Vec<_> = (0..4).map(start).collect();
        for one in all {
            let output = one.wait_with_output().unwrap();
            let list: Value = serde_json::from_slice(&output.stdout).unwrap();
            let numbers: Vec<&Value> =
                list["runs"].as_array().unwrap().iter().map(|run| &run["number"]).collect();
            assert_eq!(numbers, [1, 2, 3], "round {round}");
        }
        let names = library.bench.names();
        assert!(!names.iter().any(|name| name.contains("partial")), "{names:?}");
    }
}
