//! Traces: the commands of docs/reference/traces.md, the packed form, replays, and bad input.

use crate::support::{Bench, text};
use serde_json::Value;
use std::path::Path;

/// Returns the blocks of `docs/reference/traces.md` in the language `language`.
fn blocks(language: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/traces.md");
    let text = std::fs::read_to_string(path).unwrap();
    let begin = format!("```{language}\n");
    let blocks =
        text.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    blocks.collect()
}

fn bench() -> Bench {
    let bench = Bench::new();
    std::fs::write(bench.path("web.csv"), &blocks("text")[0]).unwrap();
    bench
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_commands_of_the_documentation_do_what_it_says() {
    let bench = bench();
    let mut commands = 0;
    for line in blocks("sh").iter().flat_map(|block| block.lines()) {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[0], "ssdgauge", "{line}");
        bench.print(&words[1..]);
        commands += 1;
    }
    assert!(commands >= 7, "{commands} commands");
    let info = |file| json(&bench.print(&["trace", "info", file, "--json"]))["trace"].clone();
    let (text, packed) = (info("web.csv"), info("web.trc"));
    assert_eq!((&text["format"], &packed["format"]), (&"msr".into(), &"packed".into()));
    assert_eq!(text["id"], packed["id"]);
    assert_eq!((&text["requests"], &text["idle"][0]["count"]), (&4.into(), &1.into()));
    // 40 ms of the fourth request are left of a second: the run has both times as readings.
    let run = json(&bench.print(&["report", "web.ssdg", "--json"]));
    let run = run.to_string();
    for words in ["cut-25ms", "replayed", "idle-cut", "no-response-times"] {
        assert_eq!(run.contains(words), words != "no-response-times", "{words}: {run}");
    }
    let log = info("quick.log");
    assert_eq!(log["format"], "request-log");
    assert!(log["requests"].as_u64().unwrap() > 1_000, "{log}");
}

#[test]
fn a_replay_on_a_scratch_file_transfers_exactly_the_bytes_of_the_trace() {
    let bench = Bench::new();
    let line = |number: u64| {
        let (kind, length) = (number % 2, [8, 24][(number % 2) as usize]);
        format!("{} 0 {} {length} {kind}\n", number * 200_000, number * 64 % 8_192)
    };
    let trace: String = (0..2_000).map(line).collect();
    std::fs::write(bench.path("mixed.trace"), trace).unwrap();
    let folder = bench.folder.path().to_str().unwrap();
    let output =
        bench.call(&["run", "trace:mixed.trace", folder, "--size", "16MiB", "--out", "a.ssdg"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let file = rusqlite::Connection::open(bench.path("a.ssdg")).unwrap();
    let sum = |direction: &str| -> (i64, i64) {
        let query = "SELECT sum(ios), sum(bytes) FROM interval JOIN step ON step.id = interval.step_id \
                     WHERE direction = ?1 AND step.phase = 1";
        file.query_row(query, [direction], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    assert_eq!(sum("read"), (1_000, 1_000 * 24 * 512));
    assert_eq!(sum("write"), (1_000, 1_000 * 8 * 512));
    // The run file continues nothing: it is complete.
    assert_eq!(bench.call(&["resume", "a.ssdg"]).status.code(), Some(0));
}

#[test]
fn bad_traces_and_options_are_refused_and_nothing_is_written() {
    let bench = bench();
    std::fs::write(bench.path("bad.csv"), "1,web,0,Read,0,4096,1\n2,web,0,Read,x,4096,1\n")
        .unwrap();
    let cases: [(&[&str], &str, i32); 7] = [
        (&["trace", "info", "missing"], "No such file", 2),
        (&["trace", "info", "."], "is not a regular file", 2),
        (&["trace", "info", "bad.csv"], "bad.csv: line 2: 'x' is not a number", 2),
        (&["trace", "info", "web.csv", "--format", "spc"], "unknown format 'spc'", 2),
        (&["run", "trace:bad.csv", "sim:tiny"], "line 2", 2),
        (&["run", "trace:web.csv", "sim:tiny", "--verify"], "a replay is not verified", 2),
        (&["run", "quick", "sim:tiny", "--idle-cut", "1s"], "a suite has no --idle-cut", 2),
    ];
    for (arguments, words, code) in cases {
        let output = bench.call(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
        let error = text(&output.stderr);
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
    let output = bench.call(&["trace", "convert", "web.csv", "bad.csv"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(bench.names(), ["bad.csv", "web.csv"]);
}

#[test]
fn a_resumed_replay_needs_the_same_trace() {
    let bench = bench();
    let trace = "0 0 0 8 1\n1000 0 8 8 0\n";
    std::fs::write(bench.path("a.trace"), trace).unwrap();
    bench.print(&["run", "trace:a.trace", "sim:tiny", "--out", "a.ssdg", "--json"]);
    // Equal arguments continue the run; another cut is another replay.
    let again = |cut: &str| {
        let arguments = ["run", "trace:a.trace", "sim:tiny", "--out", "a.ssdg", "--or-resume"];
        bench.call(&[&arguments[..], &["--idle-cut", cut]].concat())
    };
    let (same, other) = (again("none"), again("1s"));
    assert_eq!(same.status.code(), Some(0), "{}", text(&same.stderr));
    assert_eq!(other.status.code(), Some(3), "{}", text(&other.stderr));
    std::fs::write(bench.path("a.trace"), trace.replace("1000", "2000")).unwrap();
    let output = bench.call(&["resume", "a.ssdg"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("has other requests than the trace of the run"));
}
