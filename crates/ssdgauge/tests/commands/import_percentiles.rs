//! Results of fio in plain JSON: every number of the file comes out again, and no percentile is merged.

use crate::commands::import::report;
use crate::support::{Bench, text};
use serde_json::{Map, Value, json};
use ssdgauge_fio::Imported;
use std::path::Path;
use std::process::Command;

/// What fio stated of one direction of a job.
struct Stated {
    /// Options that matter here.
    options: &'static [(&'static str, &'static str)],
    direction: &'static str,
    ios: u64,
    bytes: u64,
    runtime_ms: u64,
    min: u64,
    max: u64,
    mean: f64,
    percentiles: &'static [(&'static str, u64)],
}

/// Facts from results of others: the first two from stonet-research/icpe24_io_scheduler_study_artifact (Samsung
/// 980 PRO, fio 3.35, MIT), the others from nicktehrany/ZNS-Study (Optane and a zoned drive, fio 3.28, MIT).
const FACTS: [Stated; 4] = [
    Stated {
        options: &[("rw", "randread"), ("bs", "4kb"), ("iodepth", "4"), ("ramp_time", "30s")],
        direction: "read",
        ios: 6_972_302,
        bytes: 28_558_561_280,
        runtime_ms: 120_001,
        min: 180,
        max: 1_420_256,
        mean: 66_502.804_68,
        percentiles: &[("1.000000", 21_632), ("50.000000", 63_232), ("99.000000", 107_008)],
    },
    Stated {
        options: &[("rw", "randwrite"), ("bs", "4k"), ("iodepth", "128"), ("size", "100%")],
        direction: "write",
        ios: 145_981_917,
        bytes: 597_942_456_320,
        runtime_ms: 600_001,
        min: 166,
        max: 32_903_473,
        mean: 522_277.821_799,
        percentiles: &[("50.000000", 509_952), ("99.900000", 692_224), ("99.990000", 23_461_888)],
    },
    Stated {
        options: &[("rw", "randread"), ("bs", "4Ki"), ("iodepth", "4"), ("ioengine", "libaio")],
        direction: "read",
        ios: 1_540_344,
        bytes: 6_309_265_408,
        runtime_ms: 30_001,
        min: 10_176,
        max: 219_805,
        mean: 74_817.396_898,
        percentiles: &[("50.000000", 72_192), ("95.000000", 87_552)],
    },
    Stated {
        options: &[("rw", "write"), ("bs", "4Ki"), ("zonemode", "zbd"), ("size", "3z")],
        direction: "write",
        ios: 1_385_363,
        bytes: 5_674_446_848,
        runtime_ms: 30_001,
        min: 15_571,
        max: 1_236_090,
        mean: 21_159.449_427,
        percentiles: &[("99.999000", 107_008), ("99.999990", 1_236_992), ("100.000000", 1_236_992)],
    },
];

/// Returns a document of fio with one job.
fn document(name: &str, stated: &Stated) -> Value {
    let none = json!({ "io_bytes": 0, "runtime": 0, "total_ios": 0 });
    let percentiles = stated.percentiles.iter().map(|(key, ns)| ((*key).into(), json!(ns)));
    let percentiles: Map<String, Value> = percentiles.collect();
    let side = json!({ "io_bytes": stated.bytes, "runtime": stated.runtime_ms, "total_ios": stated.ios,
        "clat_ns": { "min": stated.min, "max": stated.max, "mean": stated.mean, "N": stated.ios,
            "percentile": percentiles } });
    let options: Map<String, Value> =
        stated.options.iter().map(|(key, value)| ((*key).into(), json!(value))).collect();
    let mut job = json!({ "jobname": name, "groupid": 0, "error": 0, "job options": options,
        "read": none, "write": none });
    job[stated.direction] = side;
    json!({ "fio version": "fio-3.35", "timestamp_ms": 1_700_000_000_000_u64, "jobs": [job] })
}

/// Compares every number of an imported result with those of `fio`, the document that it is of.
#[track_caller]
fn equals(imported: &Imported, fio: &Value) {
    let mut intervals = imported.steps.iter().flat_map(|step| &step.intervals);
    for job in fio["jobs"].as_array().unwrap() {
        for direction in ["read", "write", "trim"] {
            let side = &job[direction];
            if side["total_ios"].as_u64().is_none_or(|ios| ios == 0) {
                continue;
            }
            let ours = intervals.next().expect("an interval for each direction with requests");
            assert_eq!(ours.direction.name(), direction);
            assert_eq!(
                [Some(ours.ios), Some(ours.bytes)],
                [&side["total_ios"], &side["io_bytes"]].map(Value::as_u64)
            );
            assert_eq!(Some(ours.length.0), side["runtime"].as_u64().map(|ms| ms * 1_000_000));
            let clat = &side["clat_ns"];
            let latency = &ours.latency;
            assert_eq!(
                [latency.min(), latency.max()],
                [&clat["min"], &clat["max"]].map(Value::as_u64)
            );
            // The sum is a whole number of nanoseconds; fio prints six digits of the mean.
            let (mean, theirs) = (latency.mean().unwrap(), clat["mean"].as_f64().unwrap());
            assert!((mean - theirs).abs() <= 0.5 / ours.ios as f64 + 1e-6, "{mean} {theirs}");
            let percentiles = clat["percentile"].as_object().unwrap();
            let theirs =
                percentiles.iter().map(|(key, ns)| (key.parse().unwrap(), ns.as_u64().unwrap()));
            let theirs: Vec<(f64, u64)> = theirs.collect();
            let mut ours = latency.stated().to_vec();
            ours.sort_by_key(|(percent, _)| format!("{percent:.6}"));
            assert_eq!(ours, theirs);
        }
    }
    assert!(intervals.next().is_none(), "an interval that fio did not state");
}

/// Imports `written` by the program; returns the report and the messages.
fn reported(written: &str) -> (Value, String) {
    let bench = Bench::new();
    std::fs::write(bench.path("out.json"), written).unwrap();
    let call = bench.call(&["import", "--fio", "out.json", "-o", "fio.ssdg"]);
    assert_eq!(call.status.code(), Some(0), "{}", text(&call.stderr));
    (report(&bench, "fio.ssdg")["runs"][0].take(), text(&call.stderr))
}

#[test]
fn every_number_of_a_result_in_plain_json_comes_out_again() {
    for stated in &FACTS {
        let fio = document("job", stated);
        equals(&ssdgauge_fio::import(&fio.to_string()).unwrap(), &fio);
        let (run, messages) = reported(&format!("note: a message\n{fio}\njob: (groupid=0)\n"));
        assert!(messages.contains("percentiles without the histogram"), "{messages}");
        assert!(run["tests"][0]["findings"].to_string().contains("\"imported-percentiles\""));
        let point = &run["tests"][0]["points"][0];
        assert_eq!([&point["ios"], &point["bytes"]], [&json!(stated.ios), &json!(stated.bytes)]);
        let near = |key: &str, theirs: f64| {
            let ours = point["metrics"][key].as_f64().unwrap();
            assert!((ours / theirs - 1.0).abs() < 1e-9, "{key}: {ours} {theirs}");
        };
        near("lat_mean_us", stated.mean / 1e3);
        near("iops", stated.ios as f64 * 1e3 / stated.runtime_ms as f64);
        let of_list = |key: &str| {
            let found = stated.percentiles.iter().find(|(percent, _)| *percent == key);
            found.map(|(_, ns)| *ns as f64 / 1e3)
        };
        // Those that the file does not state are not made up.
        for (key, percent) in [("lat_p50_us", "50.000000"), ("lat_p99_us", "99.000000")] {
            match of_list(percent) {
                Some(theirs) => near(key, theirs),
                None => assert_eq!(point["metrics"][key], Value::Null, "{key}"),
            }
        }
        let rows = point["stated_percentiles"].as_array().unwrap().iter();
        let rows: Vec<(f64, u64)> = rows
            .map(|row| (row["percent"].as_f64().unwrap(), row["lat_ns"].as_u64().unwrap()))
            .collect();
        let theirs: Vec<(f64, u64)> =
            stated.percentiles.iter().map(|(key, ns)| (key.parse().unwrap(), *ns)).collect();
        assert_eq!(rows, theirs);
        let is_zoned = stated.options.iter().any(|(key, _)| *key == "zonemode");
        assert_eq!(
            messages.contains("zones of a zoned drive by its rules"),
            is_zoned,
            "{messages}"
        );
    }
}

#[test]
fn percentiles_without_a_histogram_are_never_merged() {
    let mut fio = document("a", &FACTS[0]);
    let process = fio["jobs"][0].clone();
    let other = document("b", &FACTS[1])["jobs"][0].take();
    fio["jobs"] = json!([process, process, other]);
    equals(&ssdgauge_fio::import(&fio.to_string()).unwrap(), &fio);
    let (run, messages) = reported(&fio.to_string());
    assert!(messages.contains("percentiles cannot be merged"), "{messages}");
    let point = &run["tests"][0]["points"][0];
    assert_eq!(run["tests"][0]["title"], "a (1 of 2), a (2 of 2), b");
    for key in ["lat_p50_us", "lat_p99_us", "read_lat_p99_us"] {
        assert_eq!(point["metrics"][key], Value::Null, "{key}");
    }
    assert_eq!(point["streams"][1]["metrics"]["read_lat_p99_us"], 107.008);
    assert_eq!(point["streams"][2]["metrics"]["write_lat_p99_9_us"], 692.224);
    assert_eq!(point["stated_percentiles"].as_array().unwrap().len(), 9);
    // More processes than a workload has streams: their requests are one stream, without percentiles.
    fio["jobs"] = vec![process; 65].into();
    let (run, messages) = reported(&fio.to_string());
    assert!(messages.contains("those of the 65 processes of 'a' are left out"), "{messages}");
    let point = &run["tests"][0]["points"][0];
    assert_eq!(point["ios"], 65 * FACTS[0].ios);
    assert_eq!(
        [&point["metrics"]["lat_p99_us"], &point["stated_percentiles"]],
        [&Value::Null, &json!([])]
    );
}

#[test]
fn results_of_different_jobs_are_not_compared_and_the_options_that_differ_are_named() {
    let bench = Bench::new();
    let import = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut fio = document("job", &FACTS[0]);
        fio["jobs"][0]["job options"]["filename"] = "/dev/nvme0n1".into();
        change(&mut fio["jobs"][0]["job options"]);
        std::fs::write(bench.path("out.json"), fio.to_string()).unwrap();
        bench.print(&["import", "--fio", "out.json", "-o", name, "--label", name]);
    };
    import("one.ssdg", &|_| ());
    import("same.ssdg", &|options| options["filename"] = "/dev/nvme1n1".into());
    import("other.ssdg", &|options| options["iodepth"] = "32".into());
    bench.print(&["compare", "one.ssdg", "same.ssdg"]);
    let refused = bench.call(&["compare", "one.ssdg", "other.ssdg"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = "the jobs of fio differ: iodepth=4 in the first run, iodepth=32 in the second";
    assert!(text(&refused.stderr).contains(message), "{}", text(&refused.stderr));
    // Neither do they share a chart.
    bench.print(&["report", "one.ssdg", "other.ssdg", "-o", "page.html"]);
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.contains("job (iodepth=4)") && page.contains("job (iodepth=32)"));
}

#[test]
fn what_versions_and_options_of_fio_leave_out_is_left_out() {
    let import = |fio: &Value| ssdgauge_fio::import(&fio.to_string()).unwrap();
    let whole = document("job", &FACTS[0]);
    // The first versions count no latencies, and fill the list of percentiles.
    let mut early = whole.clone();
    let clat = early["jobs"][0]["read"]["clat_ns"].as_object_mut().unwrap();
    clat.remove("N");
    clat["percentile"]["0.00"] = 0.into();
    equals(&import(&early), &whole);
    // No percentiles (clat_percentiles=0), no latencies (disable_clat=1 and disable_lat=1).
    let mut means = whole.clone();
    means["jobs"][0]["read"]["clat_ns"].as_object_mut().unwrap().remove("percentile");
    let (means, latency) =
        (import(&means), |of: &Imported| of.steps[0].intervals[0].latency.clone());
    assert_eq!((latency(&means).percentile(0.5), latency(&means).max()), (None, Some(1_420_256)));
    let mut none = whole.clone();
    none["jobs"][0]["read"]["clat_ns"] = json!({ "min": 0, "max": 0, "mean": 0.0, "N": 0 });
    let none = import(&none);
    assert_eq!((latency(&none).count(), none.steps[0].intervals[0].ios), (0, FACTS[0].ios));
    assert!(
        format!("{:?}", none.steps[0].findings).contains("latencies, which fio did not measure")
    );
    // Numbers over no time that JSON does not have, and a message that begins like a document.
    let printed = format!("{{ a message\n{whole:#}").replace("\"error\": 0", "\"usr_cpu\": -nan");
    equals(&ssdgauge_fio::import(&printed).unwrap(), &whole);
}

#[test]
fn real_results_are_imported_with_every_number_of_fio() {
    let Some(corpus) = std::env::var_os("SSDGAUGE_CORPUS") else {
        println!("skipped: SSDGAUGE_CORPUS names no folder of real results");
        return;
    };
    let mut read = 0;
    for archive in std::fs::read_dir(Path::new(&corpus).join("fio")).unwrap() {
        let archive = archive.unwrap().path();
        let folder = tempfile::tempdir().unwrap();
        let tar =
            Command::new("tar").arg("-C").arg(folder.path()).arg("-xJf").arg(&archive).status();
        assert!(tar.unwrap().success(), "{}", archive.display());
        let mut folders = vec![folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let Ok(text) = std::fs::read_to_string(&path) else { continue };
                if text.contains("\"fio version\"") {
                    read += 1;
                    check_real(&path, &text, read % 100 == 1);
                }
            }
        }
    }
    println!("{read} results of fio");
    assert!(read > 1_400, "{read}");
}

/// Compares a real result with what is imported: alone, and as one of two documents of its run; with
/// `by_program` also with its report.
#[track_caller]
fn check_real(path: &Path, text: &str, by_program: bool) {
    println!("{}", path.display());
    let fio: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    for text in [text, &format!("{text}\n{text}")] {
        equals(&ssdgauge_fio::import(text).unwrap(), &fio);
    }
    if by_program {
        let (run, messages) = reported(text);
        let jobs = fio["jobs"].as_array().unwrap().iter();
        let ios =
            jobs.flat_map(|job| ["read", "write"].map(|side| job[side]["total_ios"].as_u64()));
        assert_eq!(run["tests"][0]["points"][0]["ios"], ios.flatten().sum::<u64>());
        assert!(messages.contains("percentiles without the histogram"), "{messages}");
        assert_eq!(
            text.contains("\"zonemode\" : \"zbd\""),
            messages.contains("zoned drive by its rules")
        );
    }
}
