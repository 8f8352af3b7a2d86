//! Results of fio as run files: the numbers of fio come out again, marked in every output.

use crate::support::{Bench, query, text};
use serde_json::{Value, json};
use std::process::Command;

/// Two groups of jobs on a file: reads alone, then a mix with synchronous writes. The times are short;
/// the counts are large enough for a 99th percentile on a slow machine.
const JOBS: &str = "[global]\ndirectory=.\nsize=4m\nioengine=psync\n\
    [reads]\nrw=randread\nbs=4k\nio_size=8m\n\
    [mix]\nstonewall\nrw=randrw\nrwmixread=70\nbs=16k\niodepth=1\nio_size=16m\n\
    [log]\nrw=write\nbs=64k\nio_size=32m\nlat_percentiles=1\n";

/// Runs the jobs; `None` without fio.
fn run_fio(bench: &Bench, options: &[&str]) -> Option<Value> {
    std::fs::write(bench.path("jobs.fio"), JOBS).unwrap();
    let fio = Command::new("fio")
        .args(["--output-format=json+", "--output=out.json"])
        .args(options)
        .arg("jobs.fio")
        .current_dir(bench.folder.path())
        .output();
    let Ok(fio) = fio else {
        println!("skipped: no fio");
        return None;
    };
    assert!(fio.status.success(), "{}", text(&fio.stderr));
    let output = std::fs::read_to_string(bench.path("out.json")).unwrap();
    Some(serde_json::from_str(&output[output.find('{').unwrap()..]).unwrap())
}

pub(crate) fn report(bench: &Bench, file: &str) -> Value {
    serde_json::from_str(&bench.print(&["report", file, "--json"])).unwrap()
}

#[track_caller]
pub(crate) fn agrees(ours: &Value, theirs: f64, tolerance: f64, what: &str) {
    let ours = ours.as_f64().unwrap_or_else(|| panic!("{what}: {ours}"));
    assert!((ours / theirs - 1.0).abs() <= tolerance, "{what}: ours {ours}, theirs {theirs}");
}

#[test]
fn the_numbers_of_fio_come_out_of_the_run_file_and_are_marked() {
    let bench = Bench::new();
    let Some(fio) = run_fio(&bench, &[]) else { return };
    let call = bench.call(&["import", "--fio", "out.json", "-o", "fio.ssdg", "--model", "Drive X"]);
    assert_eq!(call.status.code(), Some(0), "{}", text(&call.stderr));
    assert!(text(&call.stderr).contains("2 tests, imported from fio-3"), "{}", text(&call.stderr));
    let ours = report(&bench, "fio.ssdg");
    let run = &ours["runs"][0];
    assert_eq!(run["imported_from"], fio["fio version"]);
    assert_eq!(run["complete"], true);
    let reads = &fio["jobs"][0]["read"];
    let point = &run["tests"][0]["points"][0];
    agrees(&point["metrics"]["iops"], reads["iops"].as_f64().unwrap(), 1e-3, "IOPS");
    let us = |latency: &Value| latency.as_f64().unwrap() / 1e3;
    agrees(&point["metrics"]["lat_mean_us"], us(&reads["clat_ns"]["mean"]), 1e-4, "mean");
    let p99 = us(&reads["clat_ns"]["percentile"]["99.000000"]);
    agrees(&point["metrics"]["lat_p99_us"], p99, 0.016, "p99");
    agrees(&point["metrics"]["lat_max_us"], us(&reads["clat_ns"]["max"]), 1e-9, "maximum");
    // Jobs of one group are the streams of one step; what fio counted is counted.
    let count = |stream: u32, direction: &str| {
        let sql = format!(
            "SELECT ios FROM interval JOIN step ON step.id = step_id WHERE test_id = 'mix-log' \
             AND stream = {stream} AND direction = '{direction}'"
        );
        json!(query(&bench.path("fio.ssdg"), &sql))
    };
    assert_eq!(count(0, "read"), fio["jobs"][1]["read"]["total_ios"]);
    assert_eq!(count(0, "write"), fio["jobs"][1]["write"]["total_ios"]);
    assert_eq!(count(1, "write"), fio["jobs"][2]["write"]["total_ios"]);
    // Latencies with the option, from the creation of the request.
    let sum = "SELECT lat_sum_ns FROM interval WHERE stream = 1";
    let sum = query(&bench.path("fio.ssdg"), sum) as f64;
    let whole = &fio["jobs"][2]["write"]["lat_ns"];
    let expected = whole["mean"].as_f64().unwrap() * whole["N"].as_f64().unwrap();
    assert!((sum / expected - 1.0).abs() < 1e-6, "{sum} {expected}");
    let findings = serde_json::to_string(&run["findings"]).unwrap();
    assert!(findings.contains("\"imported\"") && findings.contains("64 for each octave"));
    // Marked on the page, in Markdown, CSV and comparisons.
    bench.print(&["report", "fio.ssdg", "-o", "page.html"]);
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    // What fio measured is not said to be measured as ours, and one number is not a line over time.
    assert!(page.contains("Imported numbers are those of the program that measured them"));
    assert!(page.contains("measured it; the notes say from when to when"));
    assert!(!page.contains("from before the submission of a request"));
    assert!(!page.contains("p99 latency of each second over time"));
    assert!(page.contains("<strong>IMPORTED</strong>"));
    assert!(bench.print(&["report", "fio.ssdg", "--markdown"]).contains("IMPORTED from fio-3"));
    bench.print(&["import", "--fio", "out.json", "-o", "same.ssdg", "--label", "again"]);
    let compared = bench.print(&["compare", "fio.ssdg", "same.ssdg"]);
    assert!(compared.contains("IMPORTED from fio-3"), "{compared}");
    // With a run of our own.
    bench.print(&["quick", "sim:tiny", "--shorten", "20", "--out", "own.ssdg"]);
    let both = bench.print(&["report", "own.ssdg", "fio.ssdg", "--markdown", "-o", "both.html"]);
    assert!(both.contains("IMPORTED from fio-3") && both.contains("MODEL"), "{both}");
}

#[test]
fn an_imported_run_is_not_resumed_and_replaces_no_file() {
    let bench = Bench::new();
    std::fs::write(bench.path("out.json"), output("fio-3.33").to_string()).unwrap();
    let import = ["import", "--fio", "out.json", "-o", "fio.ssdg"];
    bench.print(&import);
    let before = std::fs::read(bench.path("fio.ssdg")).unwrap();
    let resumed = bench.call(&["resume", "fio.ssdg"]);
    assert_eq!(resumed.status.code(), Some(2));
    assert!(text(&resumed.stderr).contains("was imported from fio-3.33"));
    let again = bench.call(&import);
    assert_eq!(again.status.code(), Some(3), "{}", text(&again.stderr));
    assert!(std::fs::read(bench.path("fio.ssdg")).unwrap() == before);
    let over_input = bench.call(&["import", "--fio", "out.json", "-o", "out.json"]);
    assert_eq!(over_input.status.code(), Some(2));
    assert_eq!(bench.names(), ["fio.ssdg", "out.json"]);
}

/// Returns a small output of fio: one job with three reads.
pub(crate) fn output(version: &str) -> Value {
    let latency = json!({ "min": 90, "max": 400, "mean": 230.0, "N": 3,
        "bins": { "90": 1, "200": 1, "404": 1 } });
    let none = json!({ "io_bytes": 0, "runtime": 0, "total_ios": 0 });
    json!({ "fio version": version, "timestamp_ms": 1_700_000_000_000_u64, "jobs": [{
        "jobname": "reads", "groupid": 0, "error": 0,
        "job options": { "rw": "randread", "bs": "4k", "filename": "/dev/nvme9n1", "size": "1g" },
        "read": { "io_bytes": 12_288, "runtime": 1_000, "total_ios": 3, "clat_ns": latency },
        "write": none,
    }]})
}

/// Changes a small output by `change`, and checks that it is refused with the words `part`.
#[track_caller]
fn refuses(change: impl Fn(&mut Value), part: &str) {
    let mut changed = output("fio-3.33");
    change(&mut changed);
    refuses_text(&changed.to_string(), part);
}

#[track_caller]
pub(crate) fn refuses_text(text_of_file: &str, part: &str) {
    let bench = Bench::new();
    std::fs::write(bench.path("out.json"), text_of_file).unwrap();
    let call = bench.call(&["import", "--fio", "out.json", "-o", "fio.ssdg"]);
    let messages = text(&call.stderr);
    assert_eq!(call.status.code(), Some(2), "{part}: {messages}");
    assert!(
        messages.contains(part) && messages.contains("hint: nothing was written"),
        "{messages}"
    );
    assert_eq!(bench.names(), ["out.json"]);
}

#[test]
fn outputs_that_are_not_understood_are_refused_with_their_reason() {
    let job = |key: &'static str, value: Value| {
        move |output: &mut Value| output["jobs"][0][key] = value.clone()
    };
    let clat = |key: &'static str, value: Value| {
        move |output: &mut Value| output["jobs"][0]["read"]["clat_ns"][key] = value.clone()
    };
    refuses(|output| output["fio version"] = "fio-2.21".into(), "written by fio-2.21");
    refuses(|output| output["fio version"] = "fio-4.0".into(), "written by fio-4.0");
    refuses(|output| output["jobs"] = json!([]), "0 groups of jobs");
    refuses(|output| output["client_stats"] = json!([{}]), "several machines");
    refuses(clat("bins", json!({ "90": 1, "200": 1 })), "contradicts itself");
    refuses(clat("max", json!(10)), "contradicts itself");
    refuses(clat("N", json!(-1)), "not an output of fio in JSON");
    refuses(clat("bins", json!({ "x": 3 })), "not an output of fio in JSON");
    refuses(clat("bins", json!({ "90": u64::MAX, "91": u64::MAX })), "contradicts itself");
    refuses(job("read", json!({ "io_bytes": 0, "runtime": 0, "total_ios": 0 })), "took no time");
    refuses(|output| output["jobs"][0]["read"]["runtime"] = 0.into(), "took no time");
    refuses(
        |output| output["jobs"][0]["read"]["io_bytes"] = (1u64 << 62).into(),
        "beyond those of any drive",
    );
    refuses_text("", "no line begins with '{'");
    refuses_text("fio-3.33\nJobs: 1 (f=1)\n", "no line begins with '{'");
    refuses_text("{ \"jobs\": [] }", "missing field `fio version`");
    refuses_text("{ \"fio version\": \"fio-3.33\", \"jobs\": [{", "EOF while parsing");
    refuses_text("{ \"fio version\": \"fio-2.21\", \"jobs\": [{ \"read\": {} }] }", "by fio-2.21");
    // fio before its JSON prints the lines of its engines, as with a missing file of options.
    let bench = Bench::new();
    std::fs::write(bench.path("a.json"), format!("fio: a line\n{}\n", output("fio-3.1"))).unwrap();
    bench.print(&["import", "--fio", "a.json"]);
    assert_eq!(bench.names(), ["a.json", "a.ssdg"]);
    let missing = bench.call(&["import", "--fio", "none.json", "-o", "b.ssdg"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("none.json: No such file"));
}

#[test]
fn what_a_plan_does_not_express_is_a_finding_by_its_option() {
    let bench = Bench::new();
    let mut rated = output("fio-3.41");
    let options = &mut rated["jobs"][0]["job options"];
    options["rate_iops"] = "100".into();
    options["ioengine"] = "libaio".into();
    rated["jobs"][0]["total_err"] = 7.into();
    // Writes in place of the reads.
    let (reads, writes) = (rated["jobs"][0]["read"].take(), rated["jobs"][0]["write"].take());
    (rated["jobs"][0]["write"], rated["jobs"][0]["read"]) = (reads, writes);
    std::fs::write(bench.path("out.json"), rated.to_string()).unwrap();
    let call = bench.call(&["import", "--fio", "out.json", "-o", "fio.ssdg"]);
    let messages = text(&call.stderr);
    for part in ["rate_iops=100", "ioengine=libaio", "7 requests of job 'reads' failed"] {
        assert!(messages.contains(part), "{part}: {messages}");
    }
    let findings = "SELECT count(*) FROM finding WHERE text LIKE '%rate_iops=100%'";
    assert_eq!(query(&bench.path("fio.ssdg"), findings), 1);
    // Written to a drive, and not by this program: no flush is missing.
    assert_eq!(report(&bench, "fio.ssdg")["runs"][0]["complete"], true);
}

/// A result of one job with 3 s, and its log: in each second `count` reads in the bin of 258 ns.
fn logged(count: u64, seconds: &[u64]) -> (Value, String) {
    let mut result = output("fio-3.33");
    let total = count * 3;
    let latency =
        json!({ "min": 257, "max": 259, "mean": 258.0, "N": total, "bins": { "258": total } });
    let side = json!({ "io_bytes": total * 4096, "runtime": 3_004, "total_ios": total, "clat_ns": latency });
    result["jobs"][0]["read"] = side;
    result["jobs"][0]["job options"]["log_hist_msec"] = "1000".into();
    let line = |second: &u64| {
        let bins: Vec<String> =
            (0..1_856).map(|bin| if bin == 192 { count } else { 0 }.to_string()).collect();
        format!("{}, 0, 4096, {}\n", second * 1_000 + 3, bins.join(", "))
    };
    (result, seconds.iter().map(line).collect())
}

fn import_logged(bench: &Bench, result: &Value, log: &str) -> std::process::Output {
    std::fs::write(bench.path("out.json"), result.to_string()).unwrap();
    std::fs::write(bench.path("hist.log"), log).unwrap();
    bench.call(&["import", "--fio", "out.json", "--hist-log", "hist.log", "-o", "fio.ssdg"])
}

#[test]
fn a_histogram_log_adds_the_seconds_and_what_it_lacks_is_a_finding_with_the_count() {
    for (seconds, lacks) in [(&[1, 2, 3][..], 0), (&[1, 2], 5_000), (&[1, 3], 5_000)] {
        let bench = Bench::new();
        let (result, log) = logged(5_000, seconds);
        let call = import_logged(&bench, &result, &log);
        let messages = text(&call.stderr);
        assert_eq!(call.status.code(), Some(0), "{messages}");
        let part = "lacks 5,000 of 15,000 reads (33.3 %)";
        assert_eq!(messages.contains(part), lacks > 0, "{seconds:?}: {messages}");
        let file = bench.path("fio.ssdg");
        assert_eq!(query(&file, "SELECT sum(ios) FROM interval"), 15_000);
        assert_eq!(query(&file, "SELECT sum(lat_sum_ns) FROM interval"), 15_000 * 258);
        assert_eq!(query(&file, "SELECT min(lat_min_ns) FROM interval"), 257);
        assert_eq!(query(&file, "SELECT max(lat_max_ns) FROM interval"), 259);
        for second in 0..3 {
            let in_log = seconds.contains(&(second + 1));
            let sql = format!("SELECT coalesce(sum(ios), 0) FROM interval WHERE second = {second}");
            let is_rest = !in_log && second == 2;
            assert_eq!(
                query(&file, &sql),
                if in_log || is_rest { 5_000 } else { 0 },
                "{seconds:?}"
            );
        }
        let point = &report(&bench, "fio.ssdg")["runs"][0]["tests"][0]["points"][0]["metrics"];
        agrees(&point["iops"], 15_000.0 / 3.004, 1e-3, "IOPS of the JSON");
    }
}

#[test]
fn logs_that_do_not_belong_to_the_result_are_refused() {
    let (result, log) = logged(5_000, &[1, 2, 3]);
    let refuses = |result: &Value, log: &str, part: &str| {
        let bench = Bench::new();
        let call = import_logged(&bench, result, log);
        let messages = text(&call.stderr);
        assert_eq!(call.status.code(), Some(2), "{part}: {messages}");
        assert!(messages.contains(part), "'{part}' is not in: {messages}");
        assert_eq!(bench.names(), ["hist.log", "out.json"]);
    };
    refuses(&result, &log.replace("5000", "5001"), "more requests at 258 ns");
    refuses(&result, &log.replacen("1003, 0", "1003, 1", 1), "its log has writes, its JSON none");
    refuses(&result, "", "has no line of direction read");
    refuses(&result, "1003, 0, 4096, 1, 2\n", "line 1 of its histogram log has 2 bins");
    refuses(
        &result,
        &format!("{log}fio\n"),
        "line 4 of its histogram log is not a list of numbers",
    );
    refuses(
        &result,
        &log.replace("1003,", "99999999999,"),
        "line 1 of its histogram log is later than a day",
    );
    let mut other = result.clone();
    other["jobs"][0]["job options"]["log_hist_msec"] = "5000".into();
    refuses(&other, &log, "log_hist_msec=1000 or less");
    let mut other = result.clone();
    other["jobs"][0]["read"]["lat_ns"] = other["jobs"][0]["read"]["clat_ns"].clone();
    refuses(&other, &log, "lat_percentiles=1");
    let mut other = result.clone();
    let second = other["jobs"][0].clone();
    other["jobs"].as_array_mut().unwrap().push(second);
    refuses(&other, &log, "a result with one job");
}

#[test]
fn a_log_that_fio_wrote_has_no_more_requests_than_its_result() {
    let bench = Bench::new();
    let job = "[reads]\nrw=randrw\nbs=4k\nsize=4m\nioengine=psync\ntime_based=1\nruntime=2\n\
        rate_iops=2000\nwrite_hist_log=h\nlog_hist_msec=1000\n";
    std::fs::write(bench.path("job.fio"), job).unwrap();
    let fio = Command::new("fio")
        .args(["--output-format=json+", "--output=out.json", "job.fio"])
        .current_dir(bench.folder.path())
        .output();
    let Ok(fio) = fio else {
        println!("skipped: no fio");
        return;
    };
    assert!(fio.status.success(), "{}", text(&fio.stderr));
    let log = "h_clat_hist.1.log";
    let call = bench.call(&["import", "--fio", "out.json", "--hist-log", log, "-o", "fio.ssdg"]);
    assert_eq!(call.status.code(), Some(0), "{}", text(&call.stderr));
    let output = std::fs::read_to_string(bench.path("out.json")).unwrap();
    let output: Value = serde_json::from_str(&output[output.find('{').unwrap()..]).unwrap();
    for direction in ["read", "write"] {
        let sql = format!("SELECT sum(ios) FROM interval WHERE direction = '{direction}'");
        let total = output["jobs"][0][direction]["total_ios"].as_i64().unwrap();
        assert_eq!(query(&bench.path("fio.ssdg"), &sql), total, "{direction}");
    }
    assert!(query(&bench.path("fio.ssdg"), "SELECT max(second) FROM interval") >= 1);
}
