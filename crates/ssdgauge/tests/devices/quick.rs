//! `ssdgauge quick` and `ssdgauge plan`.

use crate::support::{Bench, Loop, query};
use serde_json::Value;

const SMALL: [&str; 4] = ["--size", "16MiB", "--shorten", "100"];

fn arguments<'a>(first: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [first, &SMALL, rest].concat()
}

#[test]
fn quick_prints_a_summary_and_leaves_a_run_file_and_a_page_only() {
    let bench = Bench::new();
    let summary = bench.print(&arguments(&["quick", "."], &["--out", "a.ssdg"]));
    for row in ["SEQ1M Q8", "SEQ1M Q1", "SEQ128K Q8", "RND4K Q32", "RND4K Q1", "70/30"] {
        assert!(summary.contains(row), "{row} is missing:\n{summary}");
    }
    assert!(summary.contains("SHORTENED"), "{summary}");
    assert_eq!(bench.names(), ["a.html", "a.ssdg"]);
    let page = std::fs::read_to_string(bench.path("a.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"));
    assert_eq!(
        query(&bench.path("a.ssdg"), "SELECT count(*) FROM step WHERE state='finished'"),
        15
    );
}

#[test]
fn json_has_the_documented_keys_and_every_null_has_a_finding() {
    let bench = Bench::new();
    let text = bench.print(&arguments(&["quick", "."], &["--out", "a.ssdg", "--json"]));
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["schema_version"], 1);
    let run = &json["runs"][0];
    assert_eq!(run["suite"]["id"], "quick");
    assert_eq!(run["suite"]["shortened"], 100);
    let tests = run["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 5);
    for test in tests {
        let headline = &test["headline"];
        assert!(headline["value"].as_f64().unwrap() > 0.0, "{headline}");
        let keys: Vec<&str> = test["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|f| f["kind"].as_str())
            .collect();
        for point in test["points"].as_array().unwrap() {
            let metrics = &point["metrics"];
            assert!(metrics["iops"].as_f64().unwrap() > 0.0);
            assert!(metrics["throughput_mb_s"].as_f64().unwrap() > 0.0);
            assert!(metrics["lat_mean_us"].as_f64().unwrap() > 0.0);
            assert!(metrics["power_w"].is_null());
            assert!(keys.contains(&"not-measured"), "{keys:?}");
        }
    }
    // A report of the run file alone has the same numbers.
    let again: Value = serde_json::from_str(&bench.print(&["report", "a.ssdg", "--json"])).unwrap();
    assert_eq!(again, json);
}

#[test]
fn results_of_a_virtual_drive_are_reproducible_and_marked_model() {
    let bench = Bench::new();
    let numbers = |out: &str| {
        let mut json: Value = serde_json::from_str(&bench.print(&[
            "quick",
            "sim:tiny",
            "--shorten",
            "10",
            "--out",
            out,
            "--json",
        ]))
        .unwrap();
        let run = json["runs"][0].as_object_mut().unwrap();
        assert!(run["drive"].to_string().contains("MODEL"));
        run.remove("id");
        run.remove("started");
        run.remove("started_unix_ms");
        run.remove("environment");
        json
    };
    assert_eq!(numbers("a.ssdg"), numbers("b.ssdg"));
    assert!(std::fs::read_to_string(bench.path("a.html")).unwrap().contains("MODEL"));
    assert!(bench.print(&["report", "a.ssdg", "--markdown"]).contains("MODEL"));
    assert!(bench.print(&["report", "a.ssdg", "--csv"]).contains("MODEL"));
}

#[test]
fn a_block_device_without_a_serial_is_confirmed_by_name_and_size() {
    let bench = Bench::new();
    let size = 64 << 20;
    let Some(device) = Loop::attach(bench.folder.path(), size) else { return };
    let confirm = format!("{}:{size}", device.name());
    let before = std::fs::read(bench.path("image")).unwrap();
    let refused = bench.call(&arguments(&["quick", &device.path], &["--out", "a.ssdg"]));
    assert_eq!(refused.status.code(), Some(3));
    let stderr = crate::support::text(&refused.stderr);
    assert!(stderr.contains(&format!("--confirm {confirm}")), "{stderr}");
    assert!(std::fs::read(bench.path("image")).unwrap() == before, "a byte was written");
    assert_eq!(bench.names(), ["image"]);
    let confirmed = ["--out", "a.ssdg", "--confirm", &confirm, "--confined", &confirm];
    bench.print(&arguments(&["quick", &device.path], &confirmed));
    assert!(std::fs::read(bench.path("image")).unwrap() != before);
}

#[test]
fn quick_runs_on_the_null_target() {
    let bench = Bench::new();
    let summary = bench.print(&arguments(&["quick", "null:"], &["--out", "n.ssdg"]));
    assert!(summary.contains("RND4K Q32"), "{summary}");
}

#[test]
fn a_plan_lists_steps_time_and_bytes_and_writes_nothing() {
    let bench = Bench::new();
    let plan = bench.print(&["plan", "client-2018", "sim:tlc-client?capacity=250GB", "--all"]);
    for expected in ["mixed-random", "70 % read", "duty cycle of 50 %", "chosen", "at most"] {
        assert!(plan.contains(expected), "{expected} is missing:\n{plan}");
    }
    let json = bench.print(&["plan", "quick", ".", "--size", "64MiB", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    // 30 s to settle, 13 steps of 10 s, and rests of 30 s after the seven that write.
    assert_eq!(json["estimate"]["timed_s"], 370.0);
    assert!(bench.names().is_empty());
}

#[test]
fn quick_reads_before_it_writes_and_rests_after_each_write() {
    let bench = Bench::new();
    let plan: Value =
        serde_json::from_str(&bench.print(&["plan", "quick", "sim:tlc-client", "--json"])).unwrap();
    let mut steps = Vec::new();
    for test in plan["plan"]["tests"].as_array().unwrap() {
        for phase in test["phases"].as_array().unwrap() {
            steps.extend(phase["steps"].as_array().unwrap());
        }
    }
    // A write that came first would leave a cache that every later step meets in another state.
    let measured = steps.iter().filter(|step| step["action"]["run"].is_object());
    let writes: Vec<bool> = measured
        .clone()
        .map(|step| step["action"]["run"]["workload"]["streams"][0]["read_percent"] != 100)
        .collect();
    assert!(writes.len() > 10 && writes.is_sorted(), "{writes:?}");
    for step in measured
        .filter(|step| step["action"]["run"]["workload"]["streams"][0]["read_percent"] != 100)
    {
        assert!(step["rest"]["duty-cycle"]["busy"].as_f64().unwrap() <= 0.25, "{step:#}");
    }
}

#[test]
fn without_direct_io_every_test_has_a_page_cache_finding() {
    let bench = Bench::new();
    if std::process::Command::new("strace").arg("--version").output().is_err() {
        println!("skipped: no strace to fail O_DIRECT with");
        return;
    }
    let scratch = bench.path("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let folder = scratch.canonicalize().unwrap();
    let log = bench.path("log");
    // The first open call on the folder is that of the scratch file, O_TMPFILE with O_DIRECT.
    let output = std::process::Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=openat", "-e", "inject=openat:error=EINVAL:when=1", "-P"])
        .arg(&folder)
        .arg("-o")
        .arg(&log)
        .arg(env!("CARGO_BIN_EXE_ssdgauge"))
        .args(["quick", "scratch", "--out", "a.ssdg", "--json"])
        .args(SMALL)
        .current_dir(bench.folder.path())
        .output()
        .unwrap();
    let stderr = crate::support::text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let opened = std::fs::read_to_string(&log).unwrap();
    assert!(opened.contains("O_DIRECT") && opened.contains("INJECTED"), "{opened}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    for test in json["runs"][0]["tests"].as_array().unwrap() {
        let reported = test["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|finding| finding["kind"] == "page-cache" && finding["severity"] == "invalid");
        assert!(reported, "{test}");
    }
    let page = std::fs::read_to_string(bench.path("a.html")).unwrap();
    assert!(page.contains("requests went through the page cache"));
}

#[test]
fn a_drive_can_be_confirmed_by_typing_its_name_at_the_terminal() {
    let bench = Bench::new();
    let size = 64 << 20;
    let Some(device) = Loop::attach(bench.folder.path(), size) else { return };
    let program = env!("CARGO_BIN_EXE_ssdgauge");
    let words = format!("{}:{size}", device.name());
    let small = SMALL.join(" ");
    let line = format!("{program} quick {} {small} --confined {words} --out a.ssdg", device.path);
    for (typed, code) in [("no", "3"), (&*words, "0")] {
        // `script` provides a terminal for the prompt.
        let shell = format!("printf '{typed}\\n' | script -qec '{line}' /dev/null; echo =$?");
        let output = std::process::Command::new("bash")
            .args(["-c", &shell])
            .current_dir(bench.folder.path())
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.contains("not found") {
            println!("skipped: no script");
            return;
        }
        assert!(output.contains("WILL BE LOST") && output.contains("no serial"), "{output}");
        assert!(output.trim_end().ends_with(&format!("={code}")), "{output}");
        assert_eq!(bench.path("a.ssdg").exists(), code == "0");
    }
}
