//! Results of fio with several documents, and with jobs that end early, fail or report sums.

use crate::commands::import::{agrees, output, refuses_text, report};
use crate::support::{Bench, text};
use serde_json::{Value, json};
use std::process::Command;

/// A job of a synthetic output: `count` requests of `direction` within `runtime` milliseconds.
fn job(name: &str, direction: &str, count: u64, runtime: u64) -> Value {
    let mut job = output("fio-3.33")["jobs"][0].clone();
    job["jobname"] = name.into();
    job["job options"]["rw"] = format!("rand{direction}").into();
    let side = json!({ "io_bytes": count * 4_096, "runtime": runtime, "total_ios": count, "clat_ns":
        { "min": 257, "max": 259, "mean": 258.0, "N": count, "bins": { "258": count } } });
    job["read"] = json!({ "io_bytes": 0, "runtime": 0, "total_ios": 0 });
    job["write"] = job["read"].clone();
    job[direction] = side;
    job
}

/// An output at `elapsed` seconds from the begin of the run.
fn document(jobs: &[Value], elapsed: u64) -> Value {
    let mut document = output("fio-3.33");
    document["timestamp_ms"] = (1_700_000_000_000_u64 + elapsed * 1_000).into();
    document["jobs"] = jobs.into();
    for job in document["jobs"].as_array_mut().unwrap() {
        job["elapsed"] = elapsed.into();
    }
    document
}

/// Imports `text`; returns the report and the messages.
fn imported(text_of_file: &str) -> (Value, String) {
    let bench = Bench::new();
    std::fs::write(bench.path("out.json"), text_of_file).unwrap();
    let call = bench.call(&["import", "--fio", "out.json", "-o", "fio.ssdg"]);
    assert_eq!(call.status.code(), Some(0), "{}", text(&call.stderr));
    (report(&bench, "fio.ssdg")["runs"][0].take(), text(&call.stderr))
}

fn metric<'a>(run: &'a Value, test: usize, key: &str) -> &'a Value {
    &run["tests"][test]["points"][0]["metrics"][key]
}

/// Returns the requests per second of a stream in a report, over all directions.
fn iops_of(stream: &Value) -> f64 {
    let rates = ["read_iops", "write_iops"].map(|key| stream["metrics"][key].as_f64());
    rates.into_iter().flatten().sum()
}

#[test]
fn of_the_documents_of_one_run_the_last_is_the_result() {
    let at = |second: u64| document(&[job("a", "read", second * 1_000, second * 1_000)], second);
    let all = format!("{:#}\nfio: a message\n{:#}\n{:#}\nend\n", at(1), at(2), at(4));
    let (run, messages) = imported(&all);
    assert_eq!(run["tests"][0]["points"][0]["ios"], 4_000);
    assert!(messages.contains("3 documents of one run"), "{messages}");
    // fio was killed while it wrote: the last whole document is a status.
    let cut = all.rfind("\"io_bytes\"").unwrap();
    let (run, messages) = imported(&all[..cut]);
    assert_eq!(run["tests"][0]["points"][0]["ios"], 2_000);
    assert!(messages.contains("ends within document 3"), "{messages}");
    // A ramp resets the counts.
    let mut ramp = [at(3), at(4)];
    for one in &mut ramp {
        one["global options"] = json!({ "ramp_time": "3" });
    }
    ramp[1]["jobs"][0]["read"] = at(1)["jobs"][0]["read"].clone();
    let (run, _) = imported(&format!("{}\n{}\n", ramp[0], ramp[1]));
    assert_eq!(run["tests"][0]["points"][0]["ios"], 1_000);
    // Outputs of several runs, one of them with a status before it: each run is a test.
    let mut later = at(4);
    later["timestamp_ms"] = 1_700_000_100_000_u64.into();
    for other in [later, at(1), document(&[job("b", "read", 9_000, 9_000)], 4)] {
        let (run, messages) = imported(&format!("{}\n{}\nnext\n{other}\n", at(1), at(2)));
        let ios = |test: usize| run["tests"][test]["points"][0]["ios"].clone();
        assert_eq!([ios(0), ios(1)], [json!(2_000), other["jobs"][0]["read"]["total_ios"].clone()]);
        assert!(messages.contains("results of 2 runs"), "{messages}");
        assert!(messages.contains("2 documents of one run"), "{messages}");
    }
}

#[test]
fn each_stream_and_direction_has_the_rate_over_its_own_time() {
    let [short, long] = [job("short", "read", 3_000, 1_000), job("long", "write", 3_000, 3_000)];
    let mut verified = job("verified", "write", 8_000, 4_000);
    verified["read"] = job("", "read", 8_000, 1_000)["read"].take();
    verified["groupid"] = 1.into();
    let (run, messages) = imported(&document(&[short, long, verified], 8).to_string());
    let streams = run["tests"][0]["points"][0]["streams"].as_array().unwrap();
    let rates: Vec<f64> = streams.iter().map(iops_of).collect();
    assert_eq!(rates, [3_000.0, 1_000.0]);
    assert_eq!(metric(&run, 0, "iops"), 4_000.0);
    assert_eq!(metric(&run, 0, "read_iops"), 3_000.0);
    assert_eq!(metric(&run, 0, "write_iops"), 1_000.0);
    assert_eq!(metric(&run, 1, "read_iops"), 8_000.0);
    assert_eq!(metric(&run, 1, "write_iops"), 2_000.0);
    assert!(messages.contains("ran for 1 s to 3 s"), "{messages}");
    // Processes of one job are one stream, whose rate is the sum of theirs.
    let processes = [job("one", "read", 3_000, 1_000), job("one", "read", 3_000, 3_000)];
    let (run, _) = imported(&document(&processes, 3).to_string());
    assert_eq!(metric(&run, 0, "iops"), 4_000.0);
    // Equal times: no finding.
    let equal = [job("a", "read", 3_000, 2_000), job("b", "write", 3_000, 2_001)];
    let (_, messages) = imported(&document(&equal, 2).to_string());
    assert!(!messages.contains("ran for"), "{messages}");
}

#[test]
fn a_failed_job_takes_no_other_one_with_it() {
    let mut failed = job("failed", "write", 0, 0);
    failed["error"] = 28.into();
    let jobs = [job("good", "read", 3_000, 3_000), failed];
    let (run, messages) = imported(&document(&jobs, 3).to_string());
    assert!(messages.contains("job 'failed' failed with error 28"), "{messages}");
    assert_eq!(
        (iops_of(&run["tests"][0]["points"][0]), &run["tests"][0]["title"]),
        (1_000.0, &json!("good"))
    );
}

#[test]
fn a_job_without_results_is_left_out_and_named_and_the_others_are_imported() {
    let good = job("good", "read", 3_000, 3_000);
    let mut failed = job("failed", "write", 0, 0);
    failed["error"] = 28.into();
    // fio counts the request that failed.
    failed["write"]["total_ios"] = 1.into();
    let mut stopped = job("stopped", "write", 1_024, 1_024);
    stopped["error"] = 5.into();
    stopped["write"]["total_ios"] = 1_025.into();
    let mut sum = job("sum", "read", 500, 1_000);
    sum["job options"]["rw"] = "randrw".into();
    sum["mixed"] = sum["read"].take();
    for side in ["read", "write"] {
        sum.as_object_mut().unwrap().remove(side);
    }
    let mut reads = sum.clone();
    reads["jobname"] = "reads".into();
    reads["job options"]["rw"] = "randread".into();
    let jobs = [good, failed.clone(), stopped, sum.clone(), reads];
    let (run, messages) = imported(&document(&jobs, 3).to_string());
    for part in [
        "job 'failed' failed with error 28 (No space left on device)",
        "job 'stopped' ended with error 5 (Input/output error)",
        "job 'sum' reports its reads and writes as one sum (unified_rw_reporting=1)",
    ] {
        assert!(messages.contains(part), "{part}: {messages}");
    }
    let ios = |stream: usize| &run["tests"][0]["points"][0]["streams"][stream]["ios"];
    assert_eq!([ios(0), ios(1), ios(2), ios(3)], [3_000, 1_024, 500, 500]);
    assert_eq!(run["tests"][0]["title"], "good, stopped, sum, reads");
    let findings = run["findings"].to_string();
    assert!(findings.contains("\"faults\"") && findings.contains("'failed'"), "{findings}");
    // Without any other job there is no result, for the same reason.
    let alone = |job: &Value| document(std::slice::from_ref(job), 1).to_string();
    refuses_text(&alone(&failed), "it has no result: job 'failed' failed with error 28");
    failed.as_object_mut().unwrap().remove("read");
    refuses_text(&alone(&failed), "not an output of fio in JSON: job 'failed' has no reads");
}

/// Jobs of unequal length, one that fails and two that report the sum of their directions.
const UNEVEN: &str = "[global]\nsize=1m\nbs=4k\nioengine=psync\nrate_iops=500\ntime_based=1\n\
    [short]\nrw=randread\nfilename=a\nruntime=1\n\
    [long]\nrw=randrw\nfilename=b\nruntime=2\nunified_rw_reporting=both\n\
    [failed]\nrw=write\nfilename=/dev/full\nruntime=2\n\
    [reads]\nrw=randread\nfilename=c\nruntime=1\nunified_rw_reporting=1\n\
    [sum]\nrw=randrw\nfilename=c\nruntime=1\nunified_rw_reporting=mixed\n";

#[test]
fn what_fio_itself_writes_of_uneven_and_failed_jobs_comes_out_again() {
    let bench = Bench::new();
    std::fs::write(bench.path("jobs.fio"), UNEVEN).unwrap();
    let fio = Command::new("fio")
        .args(["--output-format=json+", "--output=out.json", "--status-interval=1", "jobs.fio"])
        .current_dir(bench.folder.path())
        .output();
    if fio.is_err() {
        println!("skipped: no fio");
        return;
    }
    let written = std::fs::read_to_string(bench.path("out.json")).unwrap();
    let documents = serde_json::Deserializer::from_str(&written[written.find('{').unwrap()..]);
    let documents: Vec<Value> = documents.into_iter().map_while(Result::ok).collect();
    assert!(documents.len() > 1, "{} documents", documents.len());
    let (run, messages) = imported(&written);
    assert!(messages.contains("job 'failed' failed with error 28"), "{messages}");
    assert!(messages.contains("job 'sum' reports its reads and writes as one sum"), "{messages}");
    let jobs = documents.last().unwrap()["jobs"].as_array().unwrap();
    let streams = run["tests"][0]["points"][0]["streams"].as_array().unwrap();
    assert_eq!(streams.len(), 4, "{streams:?}");
    for stream in streams {
        let job = jobs.iter().find(|job| job["jobname"] == stream["name"]).unwrap();
        let sides = ["read", "write", "mixed"].map(|side| &job[side]);
        let sides: Vec<&Value> = match job["job options"]["unified_rw_reporting"].as_str() {
            Some("1" | "mixed") => vec![sides[2]],
            _ => sides[..2].to_vec(),
        };
        let sum = |key: &str| sides.iter().map(|side| side[key].as_f64().unwrap()).sum::<f64>();
        let name = stream["name"].as_str().unwrap();
        assert_eq!(stream["ios"].as_f64().unwrap(), sum("total_ios"), "{name}");
        agrees(&json!(iops_of(stream)), sum("iops"), 1e-3, name);
    }
}

/// Imports `text` with `--size`, and returns the run.
fn imported_with(text_of_file: &str, size: &str) -> Value {
    let bench = Bench::new();
    std::fs::write(bench.path("out.json"), text_of_file).unwrap();
    let import = ["import", "--fio", "out.json", "-o", "fio.ssdg", "--size", size];
    assert_eq!(bench.call(&import).status.code(), Some(0));
    report(&bench, "fio.ssdg")["runs"][0].take()
}

#[test]
fn runs_with_other_options_or_another_begin_are_tests_of_their_own() {
    // Two outputs in one file: the second run began half a second after the first.
    let at = |ms: u64, ios: u64, number: &str| {
        let mut one = document(&[job("a", "read", ios, ms)], ms / 1_000);
        one["jobs"][0]["job options"]["number_ios"] = number.into();
        one
    };
    let mut later = at(1_500, 6_000, "6000");
    later["timestamp_ms"] = (later["timestamp_ms"].as_u64().unwrap() + 1_000).into();
    let (run, _) = imported(&format!("{}\n{later}\n", at(1_000, 2_000, "2000")));
    assert_eq!(run["tests"].as_array().unwrap().len(), 2);
    // The same job twice: the second one began 1.5 s later.
    let (first, mut again) = (at(1_000, 2_000, "9"), at(1_000, 3_000, "9"));
    again["timestamp_ms"] = (first["timestamp_ms"].as_u64().unwrap() + 1_500).into();
    let (run, _) = imported(&format!("{first}\n{again}\n"));
    assert_eq!(run["tests"].as_array().unwrap().len(), 2);
}

#[test]
fn a_capacity_that_no_one_states_is_unknown_and_no_span_follows_from_the_bytes_moved() {
    let with_size = |size: Option<&str>, ios: u64| {
        let mut one = document(&[job("a", "read", ios, 1_000)], 1);
        let options = &mut one["jobs"][0]["job options"];
        options["filename"] = "/dev/nvme9n1".into();
        match size {
            Some(size) => options["size"] = size.into(),
            None => drop(options.as_object_mut().unwrap().remove("size")),
        }
        one.to_string()
    };
    for size in [None, Some("100%"), Some("3z")] {
        let (run, _) = imported(&with_size(size, 1_000));
        assert!(run["drive"]["capacity_bytes"].is_null(), "{size:?}: {:#}", run["drive"]);
    }
    let (run, _) = imported(&with_size(Some("1g"), 1_000));
    assert_eq!(run["drive"]["capacity_bytes"], 1_u64 << 30);
    let run = imported_with(&with_size(None, 1_000), "2TB");
    assert_eq!(run["drive"]["capacity_bytes"], 2_000_000_000_000_u64);
    // One job, on a faster and on a slower drive.
    let bench = Bench::new();
    for (name, ios) in [("slow", 1_000), ("fast", 2_000)] {
        std::fs::write(bench.path(&format!("{name}.json")), with_size(None, ios)).unwrap();
        bench.print(&["import", "--fio", &format!("{name}.json")]);
    }
    let compared = bench.print(&["compare", "slow.ssdg", "fast.ssdg"]);
    assert!(!compared.contains("the spans differ"), "{compared}");
}

#[test]
fn what_verify_reads_back_is_not_added_to_the_writes() {
    let mut verified = job("a", "write", 8_000, 4_000);
    verified["read"] = job("", "read", 8_000, 1_000)["read"].take();
    verified["job options"]["verify"] = "crc32c".into();
    verified["job options"]["rw"] = "write".into();
    let (run, messages) = imported(&document(&[verified], 5).to_string());
    assert_eq!(metric(&run, 0, "iops"), 2_000.0);
    assert!(metric(&run, 0, "read_iops").is_null() || metric(&run, 0, "read_iops") == 0.0);
    assert!(messages.contains("8,000 reads of job 'a' read back"), "{messages}");
}

#[test]
fn failed_requests_are_errors_of_the_step() {
    let errors = |key: &str, value: u64| {
        let mut failed = job("a", "read", 3_000, 3_000);
        failed[key] = value.into();
        imported(&document(&[failed], 3).to_string()).0["tests"][0]["points"][0]["errors"].take()
    };
    assert_eq!(errors("total_err", 700), 700);
    // An error that ends a job is that of one request.
    assert_eq!(errors("error", 28), 1);
}

#[test]
fn a_mean_or_a_percentile_beyond_the_largest_latency_is_refused() {
    for change in [
        |clat: &mut Value| clat["mean"] = 1e9.into(),
        |clat: &mut Value| clat["percentile"] = json!({ "99.000000": 1_000_000_000_000_u64 }),
    ] {
        let mut one = super::import::output("fio-3.33");
        change(&mut one["jobs"][0]["read"]["clat_ns"]);
        super::import::refuses_text(&one.to_string(), "is not between its smallest and largest");
    }
}
