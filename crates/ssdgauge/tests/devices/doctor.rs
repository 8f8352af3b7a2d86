//! `ssdgauge doctor`: what a run would record, before it.

use crate::support::{Bench, Loop, text, unfolded};
use serde_json::Value;
use std::path::Path;

/// Returns the exit code and the document.
fn diagnosis(bench: &Bench, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = bench.call(&[&["doctor"], arguments, &["--json"]].concat());
    let json = serde_json::from_str(&text(&output.stdout));
    (output.status.code(), json.unwrap_or_else(|_| panic!("{}", text(&output.stderr))))
}

fn all(json: &Value) -> &[Value] {
    json["checks"].as_array().unwrap()
}

fn check<'a>(json: &'a Value, name: &str) -> &'a Value {
    all(json).iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {json}"))
}

#[test]
fn the_doctor_and_a_run_find_the_same_and_the_command_of_the_doctor_mends_it() {
    let bench = Bench::new();
    let Some(device) = Loop::attach(bench.folder.path(), 64 << 20) else { return };
    let scheduler = format!("/sys/block/{}/queue/scheduler", device.name());
    if std::fs::write(&scheduler, "mq-deadline").is_err() {
        println!("skipped: the kernel has no I/O scheduler mq-deadline");
        return;
    }
    let writes = device.writes();
    let (code, json) = diagnosis(&bench, &[&device.path]);
    assert_eq!(code, Some(4), "{json}");
    let found = check(&json, "scheduler");
    assert_eq!(found["state"], "mend");
    // The run records the same words as a finding.
    let confirm = format!("{}:{}", device.name(), 64 << 20);
    assert_eq!(check(&json, "confirmation")["remedy"], format!("--confirm {confirm}"));
    let consent = ["--confirm", &confirm, "--confined", &confirm, "--out", "a.ssdg"];
    let quick = ["quick", &device.path, "--size", "16MiB", "--shorten", "100"];
    let before = device.writes();
    assert_eq!(before, writes, "the doctor writes nothing");
    assert!(bench.call(&[&quick[..], &consent].concat()).status.success());
    let run = rusqlite::Connection::open(bench.path("a.ssdg")).unwrap();
    let sql = "SELECT text, advice FROM finding WHERE step_id IS NULL";
    let mut query = run.prepare(sql).unwrap();
    let recorded = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let recorded: Vec<(String, String)> = recorded.map(Result::unwrap).collect();
    let shown: Vec<(&str, &str)> = all(&json)
        .iter()
        .filter_map(|check| Some((check["text"].as_str()?, check["remedy"].as_str()?)))
        .collect();
    let pair = (found["text"].as_str().unwrap(), found["remedy"].as_str().unwrap());
    assert!(recorded.iter().any(|(text, advice)| (&**text, &**advice) == pair), "{recorded:?}");
    // Of the conditions of the machine, the run records none that the doctor does not show.
    let of_host = ["governor", "idle state", "clock source", "link runs", "begins at", "NUMA"];
    for (text, advice) in &recorded {
        let is_shown = shown.contains(&(text, advice));
        assert!(is_shown || !of_host.iter().any(|word| text.contains(word)), "{text}");
    }
    // The command of the remedy is the end of the text.
    let command = pair.1.split_once(": ").unwrap().1;
    assert!(std::process::Command::new("sh").args(["-c", command]).status().unwrap().success());
    let (_, json) = diagnosis(&bench, &[&device.path]);
    assert_eq!(check(&json, "scheduler")["state"], "fine", "{json}");
}

#[test]
fn a_drive_that_a_run_would_refuse_is_to_be_mended_and_has_the_reason_of_the_run() {
    let bench = Bench::new();
    let Some(device) = Loop::attach(bench.folder.path(), 64 << 20) else { return };
    let mut command = std::process::Command::new("blockdev");
    assert!(command.args(["--setro", &device.path]).status().unwrap().success());
    let (code, json) = diagnosis(&bench, &[&device.path]);
    let plan = bench.print(&["plan", "quick", &device.path, "--json"]);
    let plan: Value = serde_json::from_str(&plan).unwrap();
    let list = bench.call(&["doctor"]);
    let mut command = std::process::Command::new("blockdev");
    assert!(command.args(["--setrw", &device.path]).status().unwrap().success());
    assert_eq!(code, Some(4));
    let found = check(&json, "read-only");
    assert_eq!(found["state"], "mend");
    let reason = format!("{} is {}", device.path, found["text"].as_str().unwrap());
    assert_eq!(plan["refused"], reason);
    // One line for each drive. One that cannot be tested is not counted as to be mended.
    let list = text(&list.stdout);
    let line = list.lines().find(|line| line.trim_start().starts_with(device.name()));
    assert!(line.unwrap().ends_with("not testable: read-only"), "{list}");
}

#[test]
fn what_is_not_known_is_said_as_unknown() {
    let bench = Bench::new();
    let (_, json) = diagnosis(&bench, &["."]);
    let governor = check(&json, "governor");
    let is_known = Path::new("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").exists();
    assert_eq!(governor["state"] == "unknown", !is_known, "{governor}");
    let unknown = all(&json).iter().filter(|check| check["state"] == "unknown").count();
    assert_eq!(json["unknown"], unknown);
    // The sum is the end of the card, or where something has to be mended the error after it: once.
    let output = bench.call(&["doctor", "."]);
    let card = text(&output.stdout) + &text(&output.stderr);
    let sums = card.matches(&format!("{unknown} unknown")).count();
    assert_eq!(sums, usize::from(unknown > 0), "{card}");
    assert_eq!(check(&json, "free-space")["state"], "fine", "{json}");
    assert_eq!(bench.names(), Vec::<String>::new());
}

#[test]
fn targets_that_do_not_exist_are_refused_and_virtual_ones_have_nothing_to_mend() {
    let bench = Bench::new();
    for target in ["sim:no-such-drive", "/dev/no-such-drive", "no-such-folder", "/dev/null"] {
        let output = bench.call(&["doctor", target]);
        assert_eq!(output.status.code(), Some(3), "{target}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty() && text(&output.stderr).starts_with("error: "));
    }
    let (code, json) = diagnosis(&bench, &["sim:tiny"]);
    assert_eq!((code, &json["to_mend"]), (Some(0), &0.into()));
    assert!(bench.print(&["doctor", "sim:tiny"]).contains("nothing to fix"));
}

#[test]
fn a_meter_that_a_run_could_not_open_is_to_be_mended() {
    let bench = Bench::new();
    let (code, json) = diagnosis(&bench, &[".", "--power", "hwmon:no-such-chip/power1"]);
    assert_eq!((code, &check(&json, "meters")["state"]), (Some(4), &"mend".into()));
    let run = ["quick", ".", "--size", "16MiB", "--power", "hwmon:no-such-chip/power1"];
    let failure = unfolded(&text(&bench.call(&run).stderr));
    assert!(failure.contains(check(&json, "meters")["text"].as_str().unwrap()), "{failure}");
    let meter = "command:sh -c 'while echo 5; do sleep 0.1; done'";
    let (_, json) = diagnosis(&bench, &[".", "--power", meter]);
    assert_eq!(check(&json, "meters")["state"], "fine", "{json}");
}
