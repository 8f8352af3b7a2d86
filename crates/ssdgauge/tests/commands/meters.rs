//! Power meters from the command line to the report.

use crate::support::{Bench, measures, query, signal, text, wait_for};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Stdio;

/// A test of a few seconds whose headline is an efficiency.
const SUITE: &str = r#"
[suite]
id = "efficiency"
revision = 1
title = "Efficiency"

[[test]]
id = "read"
revision = 1
title = "Read"
prepare = [{ fill = "sequential", span = "8MiB", block_size = "128KiB" }]
stream = { access = "random", block_size = "4KiB", read_percent = 100, queue_depth = 4, span = "8MiB" }
until = { time = "3s" }
score = { mean_of = "efficiency_mb_s_w" }
figures = ["ranking"]

[[test]]
id = "idle"
revision = 1
title = "Idle"
idle = "3s"
score = { metric = "power_w", mean_of_last = "2s" }
"#;

/// Runs the suite with meters; returns the exit code and stderr.
fn run(bench: &Bench, meters: &[&str]) -> (Option<i32>, String) {
    std::fs::write(bench.path("suite.toml"), SUITE).unwrap();
    let mut arguments = vec!["run", "suite.toml", ".", "--size", "8MiB", "--out", "a.ssdg"];
    meters.iter().for_each(|meter| arguments.extend(["--power", meter]));
    let output = bench.call(&arguments);
    (output.status.code(), text(&output.stderr))
}

fn report(bench: &Bench) -> serde_json::Value {
    serde_json::from_str(&bench.print(&["report", "a.ssdg", "--json"])).unwrap()
}

#[test]
fn power_from_a_program_is_stored_every_second_and_used_for_the_efficiency() {
    let bench = Bench::new();
    let meter =
        "name=shunt,scale=0.001@command:sh -c 'while :; do echo 4000; echo 6000; sleep 0.1; done'";
    let wall = "name=plug,scope=host-ac@command:sh -c 'while :; do echo 80; sleep 0.2; done'";
    let (code, stderr) = run(&bench, &[meter, wall]);
    assert_eq!(code, Some(0), "{stderr}");
    let report = report(&bench);
    let run = &report["runs"][0];
    let facts = run["environment"].to_string();
    assert!(facts.contains("power_meter shunt") && facts.contains("host-ac"), "{facts}");
    let read = &run["tests"][0];
    let metrics = &read["points"][0]["metrics"];
    let power = metrics["power_w"].as_f64().unwrap();
    assert!((4.0..=6.0).contains(&power), "the meter with the narrower scope is used: {power}");
    let throughput = metrics["throughput_mb_s"].as_f64().unwrap();
    let efficiency = read["headline"]["value"].as_f64().unwrap();
    assert!((efficiency - throughput / power).abs() < 1e-6 * efficiency);
    let energy = metrics["energy_j"].as_f64().unwrap();
    assert!((energy / power - 3.0).abs() < 0.1, "{energy} J at {power} W in 3 s");
    let idle = run["tests"][1]["headline"]["value"].as_f64().unwrap();
    assert!((4.0..=6.0).contains(&idle), "{idle}");
    let page = std::fs::read_to_string(bench.path("a.html")).unwrap();
    assert!(page.contains("Read: power over time"));
    assert!(page.contains("scope of the power meter: drive; instrument: shunt"));
    let count = "SELECT count(*) FROM reading WHERE quantity = 'power_w'";
    let seconds = query(&bench.path("a.ssdg"), count);
    assert!(seconds >= 6, "{seconds} seconds have a reading");
}

#[test]
fn a_meter_that_ends_during_a_test_causes_a_finding_and_the_run_completes() {
    let bench = Bench::new();
    let meter =
        "name=frail@command:sh -c 'for n in 1 2 3 4 5; do echo 5.$n; sleep 0.1; done; exit 7'";
    let (code, stderr) = run(&bench, &[meter]);
    assert_eq!(code, Some(0), "{stderr}");
    let report = report(&bench);
    assert_eq!(report["runs"][0]["complete"], true);
    let findings = report["runs"][0]["tests"].to_string();
    assert!(findings.contains("frail is gone: the program ended: exit status: 7"), "{findings}");
}

#[test]
fn a_meter_that_only_reads_zero_gives_no_power() {
    let bench = Bench::new();
    let meter = "name=open@command:sh -c 'while :; do echo 0; sleep 0.1; done'";
    let (code, stderr) = run(&bench, &[meter]);
    assert_eq!(code, Some(0), "{stderr}");
    let report = report(&bench);
    let read = &report["runs"][0]["tests"][0];
    for key in ["power_w", "energy_j", "efficiency_mb_s_w"] {
        assert!(read["points"][0]["metrics"][key].is_null(), "{key}: {read:#}");
    }
    assert!(read["headline"]["value"].is_null(), "{}", read["headline"]);
    let findings = read["findings"].to_string();
    assert!(findings.contains("open read 0 W in all"), "{findings}");
    let stored =
        query(&bench.path("a.ssdg"), "SELECT count(*) FROM reading WHERE quantity = 'power_w'");
    assert_eq!(stored, 0);
}

#[test]
fn readings_without_a_number_and_negative_ones_are_counted_in_findings() {
    let bench = Bench::new();
    let lines = "for line in 3.0 -0.5 3.2 nan inf \"error 7\"; do echo $line; sleep 0.05; done";
    let meter = format!("name=torn@command:sh -c 'while :; do {lines}; done'");
    let (code, stderr) = run(&bench, &[&meter]);
    assert_eq!(code, Some(0), "{stderr}");
    let report = report(&bench);
    let findings = report["runs"][0]["tests"][0]["findings"].to_string();
    assert!(findings.contains("torn gave no number in "), "{findings}");
    assert!(findings.contains("torn read -0.50, outside -0.05 to 150 W"), "{findings}");
}

#[test]
fn missing_meters_and_readings_in_milliwatts_are_refused_before_the_run() {
    let bench = Bench::new();
    for (meter, code, expected) in [
        ("command:/nonexistent/meter", 3, "cannot be started"),
        ("command:sh -c 'while :; do echo 4000; sleep 0.1; done'", 3, "scale=0.001@"),
        ("command:echo 1e308", 3, "reads 1.00e308 W, but"),
        ("hwmon:nothing/power1", 3, "cannot be read"),
        ("http://127.0.0.1:1/#/w", 3, "127.0.0.1:1"),
        ("nvme", 3, "not an NVMe drive"),
        ("watts", 2, "kind of meter is missing"),
        ("missing.toml", 2, "missing.toml"),
    ] {
        let (found, stderr) = run(&bench, &[meter]);
        assert_eq!(found, Some(code), "{meter}: {stderr}");
        assert!(stderr.contains(expected) && stderr.contains("hint:"), "{meter}: {stderr}");
        assert!(!bench.path("a.ssdg").exists());
    }
    let (code, stderr) = run(&bench, &["command:cat /dev/null", "command:cat /dev/null"]);
    assert_eq!(code, Some(2), "{stderr}");
    let output = bench.call(&["quick", "sim:tiny", "--power", "command:true"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_meters_command_reads_the_meters_of_a_meter_file() {
    let bench = Bench::new();
    let meters = r#"
[[power]]
spec = "command:echo '{\"w\":42}'"
name = "plug"
scope = "host-ac"
pointer = "/w"
period = "50ms"
"#;
    std::fs::write(bench.path("meters.toml"), meters).unwrap();
    let lines = bench.print(&["meters", "meters.toml", "--for", "2s", "--json"]);
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!((&last["meter"], &last["scope"]), (&"plug".into(), &"host-ac".into()));
    assert_eq!(last["most_w"], 42.0);
    std::fs::write(bench.path("meters.toml"), "[[power]]\nspecs = \"nvme\"\n").unwrap();
    let wrong = bench.call(&["meters", "meters.toml"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("specs"));
}

/// Starts a QIS server with one module at 12 V and a varying current, which closes the connection
/// once `is_over`. Returns its address.
fn start_qis(is_over: impl Fn() -> bool + Send + 'static) -> String {
    const HEADER: &str = "<header><mainPeriod>100000us</mainPeriod><channels>\
        <channel><name>12V</name><units>mV</units></channel>\
        <channel><name>12V</name><units>mA</units></channel></channels></header>\r\n>";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut sample = 0u32;
        let _ = (&stream).write_all(b"Welcome\r\n>");
        for line in BufReader::new(&stream).lines() {
            let Ok(line) = line else { return };
            let response = if line.ends_with("$list") {
                "1) usb::QTL1\r\n>".to_owned()
            } else if line.ends_with("header") {
                HEADER.to_owned()
            } else if line.ends_with("stream text all") {
                if is_over() {
                    return;
                }
                sample += 1;
                format!("{sample} 0 12000 {}\r\neof\r\n>", 400 + 10 * (sample % 3))
            } else {
                "OK\r\n>".to_owned()
            };
            if (&stream).write_all(response.as_bytes()).is_err() {
                return;
            }
        }
    });
    address
}

/// Starts an HTTP server that reports 80 W, like a smart plug. Returns its address.
fn start_plug() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let mut line = String::new();
            let mut reader = BufReader::new(&stream);
            while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                line.clear();
            }
            let body = "{\"id\":0,\"apower\":80.0,\"aenergy\":{\"total\":7}}";
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", body.len());
            let _ = write!(&stream, "{head}Connection: close\r\n\r\n{body}");
        }
    });
    address
}

#[test]
fn network_meters_are_read_and_a_closed_connection_causes_a_finding() {
    let bench = Bench::new();
    let file = bench.path("a.ssdg");
    let is_idle = move || {
        let sql = "SELECT 1 FROM step WHERE test_id = 'idle' AND state = 'running'";
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        rusqlite::Connection::open_with_flags(&file, flags)
            .is_ok_and(|file| file.query_row(sql, [], |_| Ok(())).is_ok())
    };
    let quarch = format!("name=quarch@qis:{}/usb::QTL1", start_qis(is_idle));
    let shelly = format!("name=plug@http://{}/rpc/Switch.GetStatus?id=0#/apower", start_plug());
    let (code, stderr) = run(&bench, &[&quarch, &shelly]);
    assert_eq!(code, Some(0), "{stderr}");
    let report = report(&bench);
    let run = &report["runs"][0];
    assert_eq!(run["complete"], true);
    let facts = run["environment"].to_string();
    assert!(facts.contains("means of 100000us computed by QIS"), "{facts}");
    let read = &run["tests"][0];
    let power = read["points"][0]["metrics"]["power_w"].as_f64().unwrap();
    assert!((4.8..=5.04).contains(&power), "the module is used, not the plug: {power}");
    let found = run["tests"][1].to_string();
    assert!(found.contains("quarch is gone: QIS"), "{found}");
    let plugged = "SELECT count(*) FROM reading WHERE quantity = 'host_ac_power_w' AND value = 80";
    assert!(query(&bench.path("a.ssdg"), plugged) > 0);
}

#[test]
fn a_run_resumed_without_its_meters_has_a_finding() {
    let meter = "name=shunt@command:sh -c 'while :; do echo 4; echo 5; sleep 0.1; done'";
    for (with, findings) in [(true, 0), (false, 1)] {
        let bench = Bench::new();
        std::fs::write(bench.path("suite.toml"), SUITE).unwrap();
        let arguments =
            ["run", "suite.toml", ".", "--size", "8MiB", "--out", "a.ssdg", "--power", meter];
        let mut child = bench.command(&arguments).stderr(Stdio::null()).spawn().unwrap();
        wait_for("the measuring step", || measures(&bench.path("a.ssdg")));
        signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(75));
        let same = ["resume", "a.ssdg", "--power", meter];
        let output = bench.call(if with { &same } else { &same[..2] });
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert_eq!(stderr.contains("other power meters"), !with, "{stderr}");
        let count = "SELECT count(*) FROM finding WHERE kind = 'meter' AND text LIKE '%now none%'";
        assert_eq!(query(&bench.path("a.ssdg"), count), findings);
    }
}
