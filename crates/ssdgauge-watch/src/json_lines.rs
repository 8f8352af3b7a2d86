//! A run that is watched as JSON: one object for each event, in one line. `docs/reference/watch.md` describes them.

use super::followed::{Event, Followed};
use super::second::Second;
use super::words;
use serde::Serialize;
use serde_json::Value;
use ssdgauge_core::Side;
use ssdgauge_runfile::{FindingRecord, StepRecord};
use std::collections::BTreeMap;

/// A line: what every one has, and the members of its event. What is not known is absent.
#[derive(Serialize)]
struct Line<T> {
    event: &'static str,
    schema_version: u32,
    /// The run file.
    file: String,
    /// `MODEL` for a virtual drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    model_data: Option<&'static str>,
    /// The program that measured it, where that was another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    imported_from: Option<String>,
    #[serde(flatten)]
    own: T,
}

/// `run`: the run.
#[derive(Serialize)]
struct Run<'a> {
    run_id: &'a str,
    program: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<String>,
    suite_id: &'a str,
    suite_revision: u32,
    shortened: u32,
    /// Their number, where the plan determines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    serial: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    firmware: Option<&'a str>,
    capacity_bytes: u64,
    drive_kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
}

/// `step` and `step_end`: a step that began or ended.
#[derive(Serialize)]
struct StepLine<'a, T> {
    step_id: i64,
    /// Its number in the plan, from 1.
    number: usize,
    attempt: u32,
    test_id: &'a str,
    test_revision: u32,
    phase: &'static str,
    step: &'a str,
    position: f64,
    #[serde(flatten)]
    own: T,
}

/// A step that began.
#[derive(Serialize)]
struct Began {
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<String>,
}

/// A step that ended.
#[derive(Serialize)]
struct Ended<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_by: Option<&'a str>,
    /// Of a preparation.
    #[serde(skip_serializing_if = "Option::is_none")]
    had_effect: Option<bool>,
}

/// `second`: a second of a step.
#[derive(Serialize)]
struct SecondLine {
    step_id: i64,
    second: u32,
    length_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature_c: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power_w: Option<f64>,
    /// The numbers of each direction.
    #[serde(flatten)]
    sides: BTreeMap<&'static str, Numbers>,
}

/// The numbers of a direction.
#[derive(Serialize)]
struct Numbers {
    requests: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    iops: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    throughput_mb_s: Option<f64>,
    errors: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat_mean_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat_p99_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat_max_us: Option<f64>,
}

/// `finding`.
#[derive(Serialize)]
struct FindingLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    step_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    finding: &'static str,
    severity: &'static str,
    text: &'a str,
    advice: &'a str,
}

/// `end`: nothing follows.
#[derive(Serialize)]
struct End<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_steps: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Returns the object that introduces the run.
pub fn introduction(run: &Followed) -> Value {
    let head = run.head();
    let drive = &head.drive;
    line(
        run,
        "run",
        Run {
            run_id: &head.id,
            program: &head.program,
            started: time(head.started_unix_ms),
            suite_id: &head.plan.suite.id,
            suite_revision: head.plan.suite.revision,
            shortened: head.plan.shortened,
            steps: crate::step_title::count(&head.plan),
            model: drive.model.as_deref(),
            serial: drive.serial.as_deref(),
            firmware: drive.firmware.as_deref(),
            capacity_bytes: drive.capacity.0,
            drive_kind: drive.kind.name(),
            label: head.environment.get("label").map(String::as_str),
        },
    )
}

/// Returns the object of `event`.
pub fn event(run: &Followed, event: &Event) -> Value {
    match event {
        Event::Began(record) => {
            step(run, "step", record, Began { started: time(record.started_unix_ms) })
        }
        Event::Second(one) => second(run, one),
        Event::Ended(record) => {
            let own = Ended {
                state: words::state(record.state),
                elapsed_s: record.elapsed.map(|time| time.as_secs_f64()),
                ended_by: record.ended_by.as_deref(),
                had_effect: record.prepared().map(|prepared| prepared.had_effect()),
            };
            step(run, "step_end", record, own)
        }
        Event::Finding(record) => finding(run, record),
        Event::Closed(standing) => {
            let finished_steps = Some(run.finished().len());
            line(run, "end", End { state: words::standing(*standing), finished_steps, error: None })
        }
    }
}

/// Returns the object of an observation that a failure has ended.
pub fn lost(run: &Followed, error: &str) -> Value {
    line(run, "end", End { state: "unreadable", finished_steps: None, error: Some(error) })
}

fn step(run: &Followed, name: &'static str, record: &StepRecord, own: impl Serialize) -> Value {
    let (test, phase, step) = run.planned(record.place);
    let all = StepLine {
        step_id: record.id.0,
        number: run.number(record.place),
        attempt: record.attempt,
        test_id: &test.id,
        test_revision: test.revision,
        phase: phase.kind.name(),
        step: &step.label,
        position: step.position,
        own,
    };
    line(run, name, all)
}

fn second(run: &Followed, second: &Second) -> Value {
    let sides = second.load.sides.iter();
    let own = SecondLine {
        step_id: second.step.0,
        second: second.load.number,
        length_s: second.load.length.as_secs_f64(),
        temperature_c: second.temperature_c,
        power_w: second.power_w,
        sides: sides.map(|side| (side.direction.name(), numbers(side, second))).collect(),
    };
    line(run, "second", own)
}

fn numbers(side: &Side, second: &Second) -> Numbers {
    Numbers {
        requests: side.ios,
        bytes: side.bytes,
        iops: second.load.rate(side.ios),
        throughput_mb_s: second.load.rate(side.bytes).map(|rate| rate / 1e6),
        errors: side.errors,
        lat_mean_us: side.lat_mean_us,
        lat_p99_us: side.lat_p99_us,
        lat_max_us: side.lat_max_us,
    }
}

fn finding(run: &Followed, record: &FindingRecord) -> Value {
    let finding = &record.finding;
    let own = FindingLine {
        step_id: record.step.map(|step| step.0),
        time: time(record.unix_ms),
        finding: finding.kind.key(),
        severity: finding.severity.name(),
        text: &finding.text,
        advice: &finding.advice,
    };
    line(run, "finding", own)
}

fn time(unix_ms: i64) -> Option<String> {
    // A start that is not known.
    let known = Some(unix_ms).filter(|unix_ms| *unix_ms != 0)?;
    jiff::Timestamp::from_millisecond(known).ok().map(|time| time.to_string())
}

fn line(run: &Followed, event: &'static str, own: impl Serialize) -> Value {
    let head = run.head();
    let line = Line {
        event,
        schema_version: 1,
        file: run.path().display().to_string(),
        model_data: head.drive.is_model().then_some("MODEL"),
        imported_from: head.imported_from().map(ssdgauge_analysis::sanitize_device),
        own,
    };
    serde_json::to_value(line).expect("keys are strings")
}
