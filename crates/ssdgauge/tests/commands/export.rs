//! Plans as job files of fio: fio itself reads them, and a job does the work of the step.

use crate::support::{Bench, text};
use std::process::Command;

fn has_fio() -> bool {
    let found = Command::new("fio").arg("--version").output().is_ok();
    if !found {
        println!("skipped: no fio");
    }
    found
}

#[test]
fn fio_reads_the_job_file_of_every_suite() {
    if !has_fio() {
        return;
    }
    let bench = Bench::new();
    let suites: serde_json::Value =
        serde_json::from_str(&bench.print(&["suites", "--json"])).unwrap();
    let suites = suites["suites"].as_array().unwrap();
    assert!(suites.len() > 10, "{suites:?}");
    for suite in suites {
        let id = suite["id"].as_str().unwrap();
        let drive = "sim:tlc-client?capacity=64GB";
        bench.print(&["export", "--fio", id, drive, "--scale-spans", "-o", "suite.fio"]);
        let written = std::fs::read_to_string(bench.path("suite.fio")).unwrap();
        assert!(written.matches("\n[").count() > 1, "{id}: {written}");
        let fio = Command::new("fio")
            .args(["--parse-only", "suite.fio"])
            .env("TARGET", "/dev/null")
            .current_dir(bench.folder.path())
            .output()
            .unwrap();
        let errors = text(&fio.stderr);
        assert!(fio.status.success() && errors.is_empty(), "{id}: {errors}");
    }
}

#[test]
fn a_job_of_fio_does_the_work_of_the_step() {
    if !has_fio() {
        return;
    }
    let bench = Bench::new();
    let suite = r#"
        [suite]
        id = "work"
        revision = 1
        title = "Work"
        prepare = [{ fill = "sequential", span = "16MiB", block_size = "128KiB" }]

        [[test]]
        id = "mixed"
        revision = 1
        title = "Mixed"
        stream = { access = "random", block_size = "8KiB", read_percent = 70, queue_depth = 4, span = "8MiB" }
        until = { bytes = "32MiB" }
        score = { mean_of = "iops" }
    "#;
    std::fs::write(bench.path("work.toml"), suite).unwrap();
    std::fs::create_dir(bench.path("drive")).unwrap();
    let line = ["export", "--fio", "./work.toml", "drive", "--size", "16MiB", "-o", "work.fio"];
    bench.print(&line);
    let output = Command::new("fio")
        .args(["--output-format=json", "work.fio"])
        .current_dir(bench.folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let jobs = result["jobs"].as_array().unwrap();
    let sum = |job: usize, key: &str| {
        let of = |direction: &str| jobs[job][direction][key].as_u64().unwrap();
        of("read") + of("write")
    };
    assert_eq!((jobs.len(), sum(0, "io_bytes"), sum(0, "total_ios")), (2, 16 << 20, 128));
    assert_eq!((sum(1, "io_bytes"), sum(1, "total_ios")), (32 << 20, 4_096));
    let reads = jobs[1]["read"]["total_ios"].as_u64().unwrap();
    assert!((2_700..3_050).contains(&reads), "{reads} of 4,096 are reads, 70 % expected");
    assert_eq!(jobs[1]["job options"]["iodepth"], "4");
    let scratch = std::fs::metadata(bench.path("drive/fio-scratch")).unwrap();
    assert_eq!(scratch.len(), 16 << 20);
}

#[test]
fn a_run_is_exported_by_its_stored_plan_and_no_other_file_is_replaced() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "100", "--out", "a.ssdg"]);
    let job = bench.print(&["export", "--fio", "a.ssdg"]);
    for part in ["filename=${TARGET}", "divided by 100", "rw=randrw", "rwmixread=70"] {
        assert!(job.contains(part), "'{part}' is missing in: {job}");
    }
    // A pause is carried out before the next job.
    assert!(job.contains("exec_prerun=sleep "), "{job}");
    std::fs::write(bench.path("other"), "precious").unwrap();
    for output in ["a.ssdg", "a.html", "other"] {
        let refused = bench.call(&["export", "--fio", "a.ssdg", "-o", output]);
        assert_eq!(refused.status.code(), Some(3), "{output}: {}", text(&refused.stderr));
    }
    assert_eq!(std::fs::read_to_string(bench.path("other")).unwrap(), "precious");
    let usage = bench.call(&["export", "--fio", "quick"]);
    assert_eq!(usage.status.code(), Some(2), "{}", text(&usage.stderr));
}
