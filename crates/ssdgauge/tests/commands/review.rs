//! `ssdgauge report`, `compare` and `demo`.

use crate::support::{Bench, text};
use serde_json::Value;

const CLAIMS: &str = "[drive]\nmodel = \"tlc-client\"\nsource = \"an invented data sheet\"\n\n[[claim]]\n\
    metric = \"iops\"\nvalue = 500000\naccess = \"random\"\nblock_size = \"4KiB\"\nread_percent = 100\n\
    queue_depth = 32\n";

/// Returns a test bench with quick runs of two virtual drives.
fn bench_with_two_runs() -> Bench {
    bench_with_runs("1")
}

fn bench_with_runs(repeat: &str) -> Bench {
    let bench = Bench::new();
    for drive in ["tlc-client", "mlc-client"] {
        let target = format!("sim:{drive}?capacity=16GB");
        bench.print(&[
            "quick",
            &target,
            "--shorten",
            "2",
            "--repeat",
            repeat,
            "--out",
            &format!("{drive}.ssdg"),
        ]);
    }
    bench
}

const RUNS: [&str; 3] = ["report", "tlc-client.ssdg", "mlc-client.ssdg"];

/// Calls the program, which has to fail with `code`; returns stderr.
fn fail(bench: &Bench, arguments: &[&str], code: i32) -> String {
    let output = bench.call(arguments);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    stderr
}

#[test]
fn a_report_is_written_in_every_format() {
    let bench = bench_with_two_runs();
    std::fs::write(bench.path("claims.toml"), CLAIMS).unwrap();
    let more = ["-o", "both.html", "--png", "png", "--svg", "svg"];
    let spec = ["--spec", "claims.toml", "--highlight", "mlc"];
    bench.print(&[&RUNS[..], &more, &spec].concat());
    let page = std::fs::read_to_string(bench.path("both.html")).unwrap();
    assert!(page.contains("Specification against measurement") && page.contains("\" selected>mlc"));
    let names = |folder: &str| {
        let entries = std::fs::read_dir(bench.path(folder)).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.split(['.', '@']).next().unwrap().to_owned()
        };
        let names: std::collections::BTreeSet<String> = entries.map(name).collect();
        names
    };
    assert_eq!(names("png"), names("svg"));
    assert!(names("png").len() > 10);
    for name in names("svg").iter().filter(|name| *name != "index") {
        for file in [format!("svg/{name}.dark.svg"), format!("png/{name}@2x.png")] {
            assert!(bench.path(&file).exists(), "{file}");
        }
        let svg = std::fs::read_to_string(bench.path(&format!("svg/{name}.svg"))).unwrap();
        assert!(svg.contains("firmware ") && svg.contains("run 2"), "{name}");
    }
    let json: Value =
        serde_json::from_str(&bench.print(&[&RUNS[..], &spec, &["--json"]].concat())).unwrap();
    assert_eq!(json["specifications"][0]["claims"][0]["verdict"], "not-comparable");
    assert_eq!(json["runs"].as_array().unwrap().len(), 2);
    let csv = bench.print(&[&RUNS[..], &["--csv"]].concat());
    assert!(csv.lines().count() > 100);
    assert!(bench.print(&[&RUNS[..], &["--openmetrics"]].concat()).ends_with("# EOF\n"));
}

#[test]
fn report_options_without_a_counterpart_in_the_runs_are_usage_errors() {
    let bench = bench_with_two_runs();
    std::fs::write(bench.path("bad.toml"), CLAIMS.replace("500000", "-1")).unwrap();
    let with = |more: &[&str]| fail(&bench, &[&RUNS[..], more].concat(), 2);
    let stderr = with(&["--spec", "bad.toml"]);
    assert!(stderr.contains("bad.toml:7") && stderr.contains("hint: "), "{stderr}");
    let stderr = with(&["--vega", "charts"]);
    assert!(stderr.contains("unknown option '--vega'"), "{stderr}");
    assert!(stderr.contains("hint: `--svg` and `--png` write every chart"), "{stderr}");
    let stderr = with(&["--spec", "none.toml"]);
    assert!(stderr.contains("none.toml") && stderr.contains("hint: "), "{stderr}");
    let stderr = with(&["--highlight", "client"]);
    assert!(stderr.contains("the drives are"), "{stderr}");
    let stderr = with(&["--fill-level", "80"]);
    assert!(stderr.contains("80 % full") && stderr.contains("fill-ladder"), "{stderr}");
    assert_eq!(bench.names().iter().filter(|name| name.ends_with(".html")).count(), 2);
}

#[test]
fn an_exceeded_threshold_ends_with_exit_code_4() {
    // Steps shorter than 10 s have no interval within a run: repetitions give one.
    let bench = bench_with_runs("3");
    let pair = ["compare", "mlc-client.ssdg", "tlc-client.ssdg"];
    let output = bench.call(&[&pair[..], &["--threshold", "5", "--junit"]].concat());
    let xml = text(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{xml}");
    assert!(
        xml.starts_with("<?xml") && xml.contains("<testsuite") && xml.contains("MODEL"),
        "{xml}"
    );
    let same = ["compare", "tlc-client.ssdg", "tlc-client.ssdg", "--threshold", "5"];
    let equal = bench.print(&same);
    assert!(equal.contains(" 0.0 %") && equal.contains("gate at 5 %: passed"), "{equal}");
    assert!(!equal.contains("\nbetter ") && !equal.contains("\nworse "), "{equal}");
    let stderr = fail(&bench, &[&pair[..], &["--noise=-1"]].concat(), 2);
    assert!(stderr.contains("from 0 to 1000"), "{stderr}");
}

#[test]
fn the_demo_replaces_no_existing_file() {
    let bench = Bench::new();
    std::fs::write(bench.path("demo.html"), "mine").unwrap();
    let stderr = fail(&bench, &["demo", "-o", "demo.html"], 3);
    assert!(
        stderr.contains("exists already") && stderr.contains("nothing was written"),
        "{stderr}"
    );
    std::fs::create_dir(bench.path("other-runs")).unwrap();
    let stderr = fail(&bench, &["demo", "-o", "other.html"], 3);
    assert!(stderr.contains("other-runs"), "{stderr}");
    assert_eq!(bench.names(), ["demo.html", "other-runs"]);
}
