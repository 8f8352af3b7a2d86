//! Replays: discards, flushes and streams of a trace, block devices, interruption, memory.

use crate::support::{Bench, Loop, measures, query, signal, text, unfolded, wait_for};
use serde_json::Value;
use ssdgauge_core::{Bytes, Nanos};
use ssdgauge_trace::{Kind, PackedWriter, TraceRecord};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Stdio;

/// Returns a text of blkparse: 400 requests of two devices, each after the completion of the one before;
/// of ten requests two read, two write, three discard, and one flushes.
pub(crate) fn commands_of_two_devices() -> String {
    let mut lines = String::new();
    for number in 0..400u64 {
        let (at, sector) = (number * 500_000, number % 64 * 2_048);
        let what = ["W", "W", "R", "R", "D", "D", "D", "FN", "W", "R"][(number % 10) as usize];
        let device = if number % 4 == 0 { "8,16" } else { "8,0" };
        let place = match what {
            "FN" => String::new(),
            "D" => format!("{sector} + 1024 "),
            _ => format!("{sector} + 16 "),
        };
        let line = |at: u64, event: char| {
            let at = format!("{}.{:09}", at / 1_000_000_000, at % 1_000_000_000);
            format!("  {device} 0 {number} {at} 100 {event} {what} {place}[a]\n")
        };
        lines += &line(at, 'D');
        lines += &line(at + 100_000, 'C');
    }
    lines
}

fn report(bench: &Bench, file: &str) -> Value {
    serde_json::from_str::<Value>(&bench.print(&["report", file, "--json"])).unwrap()["runs"][0]
        .clone()
}

fn kinds(run: &Value) -> Vec<String> {
    let findings = run["tests"][0]["findings"].as_array().unwrap();
    findings.iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
}

/// Returns requests and bytes of a direction in the measured steps of a run.
fn sums(file: &Path, direction: &str) -> (i64, i64) {
    let connection = rusqlite::Connection::open(file).unwrap();
    let sql = "SELECT total(ios), total(bytes) FROM interval JOIN step ON step.id = interval.step_id \
               WHERE direction = ?1 AND phase_kind = 'measure'";
    let row = connection.query_row(sql, [direction], |row| {
        Ok((row.get::<_, f64>(0)? as i64, row.get::<_, f64>(1)? as i64))
    });
    row.unwrap()
}

#[test]
fn discards_and_flushes_are_replayed_and_every_stream_has_its_figures() {
    let bench = Bench::new();
    std::fs::write(bench.path("two.txt"), commands_of_two_devices()).unwrap();
    let plan = unfolded(&bench.print(&["plan", "trace:two.txt", "sim:tiny"]));
    assert!(plan.contains("120 trims of 62.9 MB, 40 flushes"), "{plan}");
    bench.print(&["run", "trace:two.txt", "sim:tiny", "--out", "a.ssdg"]);
    let file = bench.path("a.ssdg");
    assert_eq!(sums(&file, "read"), (120, 120 * 8_192));
    assert_eq!(sums(&file, "write"), (120, 120 * 8_192));
    assert_eq!(sums(&file, "trim"), (120, 120 * 524_288));
    assert_eq!(sums(&file, "flush"), (40, 0));
    let run = report(&bench, "a.ssdg");
    let found = kinds(&run);
    assert!(!found.iter().any(|kind| kind == "requests-left-out"), "{found:?}");
    let streams = run["tests"][0]["points"][0]["streams"].as_array().unwrap();
    let named = |name: &str| {
        let found = streams.iter().find(|one| one["name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {streams:?}")).clone()
    };
    let (first, second) = (named("stream 0"), named("stream 1"));
    let ios = |stream: &Value| stream["ios"].as_u64().unwrap();
    assert_eq!(ios(&first) + ios(&second), 240);
    assert!(ios(&first) > 0 && ios(&second) > 0, "{first} {second}");
    assert!(first["metrics"]["read_lat_mean_us"].as_f64().unwrap() > 0.0, "{first}");
    assert_eq!((ios(&named("trims")), ios(&named("flushes"))), (120, 40));
    assert!(named("flushes")["metrics"]["flush_lat_mean_us"].as_f64().unwrap() > 0.0);
    let page = std::fs::read_to_string(bench.path("a.html")).unwrap();
    assert!(page.contains("replay, stream 1") && page.contains("replay, trims"));
}

#[test]
fn more_than_eight_streams_share_one() {
    let bench = Bench::new();
    let line = |number: u64| {
        // Stream n has n + 1 requests of every 78.
        let stream = (0..12u64).find(|n| number % 78 < (n + 1) * (n + 2) / 2).unwrap();
        format!("{},host,{stream},Write,{},4096,100\n", number * 10_000, number % 100 * 4_096)
    };
    std::fs::write(bench.path("many.csv"), (0..780).map(line).collect::<String>()).unwrap();
    bench.print(&["run", "trace:many.csv", "sim:tiny", "--out", "a.ssdg"]);
    let run = report(&bench, "a.ssdg");
    let finding =
        run["tests"][0]["findings"].as_array().unwrap().iter().find(|one| {
            one["kind"] == "folded" && one["text"].as_str().unwrap().contains("streams")
        });
    let words = finding.unwrap()["text"].as_str().unwrap();
    assert!(words.starts_with("4 streams of the trace share one stream"), "{words}");
    let streams = run["tests"][0]["points"][0]["streams"].as_array().unwrap();
    let names: Vec<&str> = streams.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 9);
    assert_eq!((names[0], names[7], names[8]), ("stream 4", "stream 11", "other streams"));
    assert_eq!(streams[8]["ios"], (1 + 2 + 3 + 4) * 10);
}

#[test]
fn discards_of_a_scratch_file_make_holes_and_a_finding_says_so() {
    let bench = Bench::new();
    std::fs::write(bench.path("two.txt"), commands_of_two_devices()).unwrap();
    let folder = bench.folder.path().to_str().unwrap();
    let run = ["run", "trace:two.txt", folder, "--size", "64MiB", "--shorten", "2"];
    let output = bench.call(&[&run[..], &["--out", "a.ssdg"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let file = bench.path("a.ssdg");
    assert_eq!((sums(&file, "read").0 + sums(&file, "write").0, sums(&file, "flush").0), (120, 20));
    assert_eq!(sums(&file, "trim"), (60, 60 * 524_288));
    let found = kinds(&report(&bench, "a.ssdg"));
    assert!(found.iter().any(|kind| kind == "unwritten"), "{found:?}");
}

/// Returns a trace of one request each 2 ms for `seconds`: writes, reads, discards and flushes in turn.
fn slow(seconds: u64) -> String {
    let line = |number: u64| {
        let (at, what) = (number * 2_000_000, ["W", "R", "D", "FN"][(number % 4) as usize]);
        let place = if what == "FN" { String::new() } else { format!("{} + 8 ", number % 64 * 8) };
        let at = format!("{}.{:09}", at / 1_000_000_000, at % 1_000_000_000);
        format!("  8,0 0 {number} {at} 100 D {what} {place}[a]\n")
    };
    (0..seconds * 500).map(line).collect()
}

#[test]
fn a_replay_on_a_block_device_needs_a_confirmation_and_is_resumed_after_a_stop() {
    const SIZE: u64 = 64 << 20;
    let bench = Bench::new();
    let Some(drive) = Loop::attach(bench.folder.path(), SIZE) else { return };
    std::fs::write(bench.path("slow.txt"), slow(6)).unwrap();
    let run = ["run", "trace:slow.txt", &drive.path, "--out", "a.ssdg"];
    let image = || std::fs::read(bench.path("image")).unwrap();
    let output = bench.call(&run);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("--confirm"), "{}", text(&output.stderr));
    assert!(image().iter().all(|byte| *byte == 0), "a byte was written");
    assert!(!bench.path("a.ssdg").exists());
    // Discards alone destroy data, too.
    std::fs::write(
        bench.path("trims.txt"),
        "  8,0 0 1 0.0 1 D R 0 + 8 [a]\n  8,0 0 2 0.1 1 D D 0 + 8 [a]\n",
    )
    .unwrap();
    let trims = bench.call(&["run", "trace:trims.txt", &drive.path, "--out", "b.ssdg"]);
    assert_eq!(trims.status.code(), Some(3), "{}", text(&trims.stderr));

    let serial = format!("{}:{SIZE}", drive.name());
    let consent = ["--confirm", &serial, "--confined", &serial];
    let mut command = bench.command(&[&run[..], &consent].concat());
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the replay", || measures(&bench.path("a.ssdg")));
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(75), "{}", text(&output.stderr));
    let run = report(&bench, "a.ssdg");
    assert_eq!(run["complete"], false);

    // It begins again, and all requests are in the result.
    let output = bench.call(&[&["resume", "a.ssdg"][..], &consent].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let run = report(&bench, "a.ssdg");
    assert_eq!(run["complete"], true);
    let point = &run["tests"][0]["points"][0];
    assert_eq!((&point["ios"], &point["errors"]), (&3_000.into(), &0.into()), "{point}");
    let sql = "SELECT count(*) FROM step WHERE phase_kind = 'measure'";
    assert_eq!(query(&bench.path("a.ssdg"), sql), 2, "the stopped replay is kept");
    let trimmed = point["streams"].as_array().unwrap().iter().find(|one| one["name"] == "trims");
    assert_eq!(trimmed.unwrap()["ios"], 750);
}

#[test]
fn a_trace_that_ends_early_or_is_out_of_order_is_refused_before_a_run() {
    let bench = Bench::new();
    let packed = |name: &str, cut: u64| {
        let path = bench.path(name);
        write_packed(&path, 1_000);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() - cut).unwrap();
    };
    packed("cut.trc", 20);
    let line = |number: u64| format!("{},a,0,Read,0,4096,10\n", number * 10);
    let mut late: String = (1_000..70_000).map(line).collect();
    late += &line(3);
    std::fs::write(bench.path("late.csv"), late).unwrap();
    for (trace, words) in
        [("cut.trc", "ends before the end"), ("late.csv", "sort the trace by time")]
    {
        let output = bench.call(&["run", &format!("trace:{trace}"), "sim:tiny", "--out", "a.ssdg"]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{trace}: {error}");
        assert!(error.contains(words) && error.contains("nothing was written"), "{trace}: {error}");
    }
    assert!(!bench.path("a.ssdg").exists());
}

/// Writes a packed trace of `count` reads and writes with response times, 24 bytes each.
fn write_packed(path: &Path, count: u64) {
    let output = BufWriter::new(std::fs::File::create(path).unwrap());
    let mut writer = PackedWriter::new(output, true).unwrap();
    for number in 0..count {
        let record = TraceRecord {
            at: Nanos(number * 10_000),
            kind: if number % 2 == 0 { Kind::Read } else { Kind::Write },
            stream: 0,
            offset: Bytes(number * 7_919 % (1 << 18) * 4_096),
            length: Bytes(4_096),
            response: Some(Nanos(8_000)),
        };
        writer.push(&record).unwrap();
    }
    writer.finish().unwrap().flush().unwrap();
}

/// Returns the peak of the resident memory of `trace info` of a trace with `count` records, in KiB.
fn peak_kib(bench: &Bench, name: &str, count: u64) -> u64 {
    write_packed(&bench.path(name), count);
    let mut command = bench.command(&["trace", "info", name]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    // The peak never falls; a process that has ended has none.
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(child.wait().unwrap().success());
    peak
}

#[test]
fn the_memory_of_a_trace_does_not_grow_with_its_length() {
    let bench = Bench::new();
    let (short, long) = (peak_kib(&bench, "a.trc", 500_000), peak_kib(&bench, "b.trc", 2_000_000));
    println!("VmHWM: {short} KiB with 12 MB of records, {long} KiB with 48 MB");
    assert!(short > 1_000, "{short} KiB");
    // What grows is the set of addressed blocks, which has a limit.
    assert!(long < short + 8 * 1_024 && long < 100_000, "{short} KiB, {long} KiB");
}
