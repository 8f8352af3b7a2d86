//! `export --parquet` and `export --jsonl`.

use crate::support::{Bench, open_to_change, query, text};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Two runs on different virtual drives.
fn bench() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("runs")).unwrap();
    for (name, seed) in [("a", "1"), ("b", "2")] {
        let target = "sim:tiny";
        let out = format!("runs/{name}.ssdg");
        bench.print(&["quick", target, "--shorten", "5", "--seed", seed, "--out", &out]);
    }
    bench
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

/// Returns the 99th percentile of the merged histograms of `steps`, in nanoseconds, as the documented
/// query computes it.
fn merged_p99(steps: &[&Value]) -> i64 {
    let mut buckets: Vec<(i64, i64)> = Vec::new();
    for step in steps {
        let list = |key: &str| step[key].as_array().unwrap().iter().map(|n| n.as_i64().unwrap());
        buckets.extend(list("bucket_ns").zip(list("bucket_requests")));
    }
    buckets.sort_unstable();
    let total: i64 = buckets.iter().map(|(_, n)| n).sum();
    let rank = (0.99 * total as f64).ceil() as i64;
    let mut seen = 0;
    let reaches = |(_, n): &&(i64, i64)| {
        seen += n;
        seen >= rank
    };
    let most = steps.iter().map(|step| step["max_ns"].as_i64().unwrap()).max().unwrap();
    buckets.iter().find(reaches).unwrap().0.min(most)
}

#[test]
fn rows_of_tables_have_the_numbers_of_the_report() {
    let bench = bench();
    let lines = bench.print(&["export", "--jsonl", "--seconds", "runs"]);
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows[0]["program"], "ssdgauge tables");
    let of = |table: &str| rows.iter().filter(|row| row["table"] == table).collect::<Vec<_>>();
    assert_eq!(of("run").len(), 2);
    assert!(of("second").len() > 20);
    assert!(rows[1..].iter().all(|row| row["model_data"] == "MODEL"));
    for (whole, parts) in [
        ("iops", ["read_iops", "write_iops", "flush_iops", "trim_iops"].as_slice()),
        ("throughput_mb_s", &["read_mb_s", "write_mb_s", "trim_mb_s"]),
    ] {
        for second in of("second") {
            let sum: f64 = parts.iter().filter_map(|key| second[*key].as_f64()).sum();
            let all = second[whole].as_f64().unwrap();
            assert!((sum - all).abs() <= 1e-9 * all, "{whole}: {second}");
        }
        let moved = |key: &str| of("second").iter().any(|second| second[key].is_f64());
        assert!(moved(parts[0]) && moved(parts[1]), "{parts:?}");
        assert!(!parts[2..].iter().any(|key| moved(key)), "{parts:?}");
    }

    let seconds = of("second");
    let metered: Vec<&&Value> = seconds.iter().filter(|one| one["power_w"].is_f64()).collect();
    assert!(metered.len() > 10, "{} seconds with power", metered.len());
    for second in metered {
        assert_eq!(second["power_scope"], "drive");
        let readings = format!(
            "SELECT count(*) FROM reading WHERE quantity = 'power_w' AND abs(value - {}) < 1e-9",
            second["power_w"]
        );
        let found =
            ["a", "b"].map(|name| query(&bench.path(&format!("runs/{name}.ssdg")), &readings));
        assert!(found.iter().sum::<i64>() > 0, "{second}");
    }

    let report = bench.print(&["report", "runs/a.ssdg", "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let run = &report["runs"][0];
    let mut compared = 0;
    for test in run["tests"].as_array().unwrap() {
        for point in test["points"].as_array().unwrap() {
            let is_here = |row: &&&Value| {
                row["run_id"] == run["id"]
                    && row["test_id"] == test["id"]
                    && row["step"] == point["label"]
            };
            let values = of("value");
            let p99 = values.iter().filter(is_here).find(|row| row["metric"] == "lat_p99_us");
            let Some(p99) = p99.and_then(|row| row["value"].as_f64()) else { continue };
            assert_eq!(point["metrics"]["lat_p99_us"].as_f64(), Some(p99));
            let steps = of("step");
            let steps: Vec<&Value> = steps.iter().filter(is_here).copied().collect();
            assert_eq!(merged_p99(&steps) as f64 / 1e3, p99);
            compared += 1;
        }
    }
    assert!(compared >= 2, "only {compared} points were compared");
}

#[test]
fn rows_with_a_latency_name_its_requests() {
    let bench = Bench::new();
    let drive = "sim:tiny?nand.t_prog_us=2000&slc.t_prog_us=2000";
    let run = ["run", "commit", drive, "--test", "etcd", "--scale-spans", "--shorten", "20"];
    bench.print(&[run.as_slice(), &["--out", "a.ssdg"]].concat());
    let lines = bench.print(&["export", "--jsonl", "--seconds", "a.ssdg"]);
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |table: &'static str| rows.iter().filter(move |row| row["table"] == table);
    assert!(of("second").count() >= 2);
    for second in of("second") {
        // A write takes 20 us, a flush waits for a program operation of 2 ms.
        assert!(second["lat_mean_us"].as_f64().unwrap() > 1_900.0, "{second}");
        assert_eq!(second["latency_of"], "flushes");
    }
    for value in of("value") {
        let requests = match value["metric"].as_str().unwrap() {
            "lat_p99_us" | "flush_lat_p99_us" | "lat_max_us" => "flushes",
            "write_lat_p99_us" => "writes",
            "iops" | "flush_iops" => {
                assert!(value["latency_of"].is_null(), "{value}");
                continue;
            }
            _ => continue,
        };
        assert_eq!(value["latency_of"], requests, "{value}");
    }
}

#[test]
fn a_run_that_is_exported_again_replaces_its_own_files_alone() {
    let bench = bench();
    let export = ["export", "--parquet", "tables", "runs"];
    bench.print(&export);
    let written = files(&bench.path("tables"));
    assert_eq!(written.len(), 8, "{written:?}");
    bench.print(&export);
    assert_eq!(files(&bench.path("tables")), written);

    let output = bench.call(&["export", "--parquet", "/dev/tables", "runs"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("no file is created below /dev"));
    assert!(!Path::new("/dev/tables").exists());

    // A damaged run file and a foreign file cost their own run.
    std::fs::write(bench.path("runs/c.ssdg"), "no run").unwrap();
    let foreign = written.iter().find(|path| path.starts_with(bench.path("tables/run"))).unwrap();
    std::fs::write(foreign, "a file of the user").unwrap();
    let output = bench.call(&export);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("runs/c.ssdg: left out"), "{stderr}");
    assert!(stderr.contains("exists and is not a table of ssdgauge"), "{stderr}");
    assert!(stderr.contains("error: 2 of 3 runs were left out"), "{stderr}");
    assert_eq!(std::fs::read(foreign).unwrap(), b"a file of the user");
}

/// Returns every file below `folder` by its path in it.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let of_file = |file: &PathBuf| {
        (file.strip_prefix(folder).unwrap().to_owned(), std::fs::read(file).unwrap())
    };
    files(folder).iter().map(of_file).collect()
}

#[test]
fn tables_of_several_runs_in_a_file_are_refused_because_their_rows_would_count_twice() {
    let bench = bench();
    bench.print(&["export", "--parquet", "tables", "runs/a.ssdg"]);
    let single = files(&bench.path("tables/value")).remove(0);
    std::fs::rename(&single, single.with_file_name("runs+1.parquet")).unwrap();
    let before = contents(&bench.path("tables"));
    let output = bench.call(&["export", "--parquet", "tables", "runs/a.ssdg"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("runs+1.parquet has the rows of several runs"), "{stderr}");
    assert!(stderr.contains("no table was written"), "{stderr}");
    assert!(contents(&bench.path("tables")) == before);
}

#[test]
fn of_copies_of_a_run_the_most_complete_one_is_exported() {
    let bench = bench();
    bench.print(&["export", "--parquet", "whole", "runs"]);
    let lines = bench.print(&["export", "--jsonl", "runs"]);
    let part = |name: &str| {
        let part = bench.path(name);
        std::fs::copy(bench.path("runs/a.ssdg"), &part).unwrap();
        let part = open_to_change(part);
        for table in ["interval", "reading", "finding", "property"] {
            part.execute(&format!("DELETE FROM {table} WHERE step_id > 4"), []).unwrap();
        }
        part.execute("DELETE FROM step WHERE id > 4", []).unwrap();
    };
    part("runs/0-copy.ssdg");
    part("runs/z-copy.ssdg");
    let output = bench.call(&["export", "--parquet", "tables", "runs"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("runs/z-copy.ssdg has the same run as runs/a.ssdg"), "{stderr}");
    assert!(stderr.contains("2 runs in tables"), "{stderr}");
    assert!(contents(&bench.path("tables")) == contents(&bench.path("whole")));
    assert_eq!(bench.print(&["export", "--jsonl", "runs"]), lines);
}

#[test]
fn a_killed_export_leaves_nothing_that_the_next_one_does_not_remove() {
    let bench = bench();
    bench.print(&["export", "--parquet", "tables", "runs"]);
    let written = files(&bench.path("tables"));
    let folder = written[0].parent().unwrap();
    // Above the kernel's largest process number (PID_MAX_LIMIT, 4,194,304).
    std::fs::write(folder.join("20260101-000000-00000001.parquet.4194305.partial"), "").unwrap();
    bench.print(&["export", "--parquet", "tables", "runs"]);
    assert_eq!(files(&bench.path("tables")), written);
}

#[test]
fn a_wrong_form_of_export_is_refused() {
    let bench = Bench::new();
    let cases: [(&[&str], &str); 6] = [
        (
            &["export", "--parquet", "x", "--compact", "a.ssdg"],
            "COPY (FROM read_parquet('FOLDER/value/",
        ),
        (&["export", "a.ssdg"], "--fio|--parquet <FOLDER>|--jsonl"),
        (&["export", "--fio", "--jsonl", "a.ssdg"], "cannot be used with"),
        (&["export", "--jsonl", "-o", "x", "a.ssdg"], "cannot be used with"),
        (&["export", "--jsonl", "."], "no run file is in the folder"),
        (&["export", "--fio", "quick", "sim:tiny", "more"], "one source and one target"),
    ];
    for (line, expected) in cases {
        let output = bench.call(line);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line:?}: {stderr}");
        assert!(stderr.contains(expected), "{line:?}: {stderr}");
    }
}
