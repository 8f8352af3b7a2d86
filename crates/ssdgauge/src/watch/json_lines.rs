//! A run that is watched as JSON: one object for each event, in one line. `docs/reference/watch.md` describes them.

use super::followed::{Event, Followed};
use super::second::Second;
use super::words;
use serde_json::{Map, Value, json};
use ssdgauge_core::Side;
use ssdgauge_runfile::{FindingRecord, StepRecord};

/// Returns the object that introduces the run.
pub(crate) fn introduction(run: &Followed) -> Value {
    let head = run.head();
    let drive = &head.drive;
    let started = jiff::Timestamp::from_millisecond(head.started_unix_ms).ok();
    object(
        run,
        "run",
        json!({
            "run_id": head.id,
            "program": head.program,
            "started": started.map(|time| time.to_string()),
            "suite_id": head.plan.suite.id,
            "suite_revision": head.plan.suite.revision,
            "shortened": head.plan.shortened,
            "steps": crate::step_title::count(&head.plan),
            "model": drive.model,
            "serial": drive.serial,
            "firmware": drive.firmware,
            "capacity_bytes": drive.capacity.0,
            "drive_kind": drive.kind.name(),
            "label": head.environment.get("label"),
        }),
    )
}

/// Returns the object of `event`.
pub(crate) fn event(run: &Followed, event: &Event) -> Value {
    match event {
        Event::Began(record) => {
            let started = jiff::Timestamp::from_millisecond(record.started_unix_ms).ok();
            let started = started.map(|time| time.to_string());
            step(run, "step", record, json!({ "started": started }))
        }
        Event::Second(one) => second(run, one),
        Event::Ended(record) => step(
            run,
            "step_end",
            record,
            json!({
                "state": words::state(record.state),
                "elapsed_s": record.elapsed.map(|time| time.as_secs_f64()),
                "ended_by": record.ended_by,
                "had_effect": record.prepared().map(|prepared| prepared.had_effect()),
            }),
        ),
        Event::Finding(record) => finding(run, record),
        Event::Closed(standing) => object(
            run,
            "end",
            json!({
                "state": words::standing(*standing),
                "finished_steps": run.finished().len(),
            }),
        ),
    }
}

/// Returns the object of an observation that a failure has ended.
pub(crate) fn lost(run: &Followed, error: &str) -> Value {
    object(run, "end", json!({ "state": "unreadable", "error": error }))
}

fn step(run: &Followed, name: &str, record: &StepRecord, own: Value) -> Value {
    let (test, phase, step) = run.planned(record.place);
    let mut all = json!({
        "step_id": record.id.0,
        "number": run.number(record.place),
        "attempt": record.attempt,
        "test_id": test.id,
        "test_revision": test.revision,
        "phase": phase.kind.name(),
        "step": step.label,
        "position": step.position,
    });
    merge(&mut all, own);
    object(run, name, all)
}

fn second(run: &Followed, second: &Second) -> Value {
    let mut own = json!({
        "step_id": second.step.0,
        "second": second.load.number,
        "length_s": second.load.length.as_secs_f64(),
        "temperature_c": second.temperature_c,
        "power_w": second.power_w,
    });
    for side in &second.load.sides {
        merge(&mut own, json!({ side.direction.name(): figures(side, second) }));
    }
    object(run, "second", own)
}

fn figures(side: &Side, second: &Second) -> Value {
    let mut figures = json!({
        "requests": side.ios,
        "bytes": side.bytes,
        "iops": second.load.rate(side.ios),
        "throughput_mb_s": second.load.rate(side.bytes).map(|rate| rate / 1e6),
        "errors": side.errors,
        "lat_mean_us": side.lat_mean_us,
        "lat_p99_us": side.lat_p99_us,
        "lat_max_us": side.lat_max_us,
    });
    drop_nulls(&mut figures);
    figures
}

fn finding(run: &Followed, record: &FindingRecord) -> Value {
    let finding = &record.finding;
    let time = jiff::Timestamp::from_millisecond(record.unix_ms).ok();
    object(
        run,
        "finding",
        json!({
            "step_id": record.step.map(|step| step.0),
            "time": time.map(|time| time.to_string()),
            "finding": finding.kind.key(),
            "severity": finding.severity.name(),
            "text": finding.text,
            "advice": finding.advice,
        }),
    )
}

/// Returns the object `name` of `run` with `own` members; absent values have none.
fn object(run: &Followed, name: &str, own: Value) -> Value {
    let mut all =
        json!({ "event": name, "schema_version": 1, "file": run.path().display().to_string() });
    if run.head().drive.is_model() {
        merge(&mut all, json!({ "model_data": "MODEL" }));
    }
    if let Some(program) = run.head().imported_from() {
        merge(&mut all, json!({ "imported_from": ssdgauge_analysis::sanitize_device(program) }));
    }
    merge(&mut all, own);
    drop_nulls(&mut all);
    all
}

fn merge(into: &mut Value, own: Value) {
    if let (Value::Object(into), Value::Object(own)) = (into, own) {
        into.extend(own);
    }
}

fn drop_nulls(value: &mut Value) {
    if let Value::Object(members) = value {
        let kept: Map<String, Value> =
            std::mem::take(members).into_iter().filter(|(_, value)| !value.is_null()).collect();
        *members = kept;
    }
}
