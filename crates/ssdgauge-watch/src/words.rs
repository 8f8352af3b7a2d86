//! The words for a run that is watched, which all forms of the observation share.

use super::followed::{Followed, Standing};
use super::second::Second;
use ssdgauge_analysis::{imported_mark, sanitize_device, sanitize_prose};
use ssdgauge_core::{Bytes, Nanos, rounded};
use ssdgauge_runfile::{StepRecord, StepState};

/// Returns the name of the drive, with the word MODEL before a virtual one, and the mark of an imported result.
pub fn drive(run: &Followed) -> String {
    let drive = &run.head().drive;
    let name = sanitize_device(drive.name());
    let label = run.head().environment.get("label").map(|label| sanitize_prose(label));
    let label = label.map_or(String::new(), |label| format!(" ({label})"));
    let mark = imported_mark(run.head()).map_or(String::new(), |mark| format!(" [{mark}]"));
    // The name of most virtual drives begins with it.
    match drive.is_model() && !name.starts_with("MODEL") {
        true => format!("MODEL {name}{mark}{label}"),
        false => format!("{name}{mark}{label}"),
    }
}

/// Returns the suite of the run.
pub fn suite(run: &Followed) -> String {
    let plan = &run.head().plan;
    let id = sanitize_prose(&plan.suite.id);
    match plan.shortened {
        0 | 1 => id,
        _ => format!("{id} SHORTENED"),
    }
}

/// Returns the number of the current step and of all, such as `step 3 of 14`.
pub fn step_number(run: &Followed) -> String {
    let Some(step) = run.current() else { return "no step yet".to_owned() };
    let number = run.number(step.place);
    match crate::step_title::count(&run.head().plan) {
        Some(all) => format!("step {number} of {all}"),
        None => format!("step {number}"),
    }
}

/// Returns how the run stands, in one word and with a sign that needs no colour.
pub fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Running => "running",
        Standing::Finished => "finished",
        Standing::Interrupted => "interrupted",
        Standing::Killed => "killed",
    }
}

/// Returns the word for the state of an attempt at a step.
pub fn state(state: StepState) -> &'static str {
    match state {
        StepState::Running => "running",
        StepState::Finished => "finished",
        StepState::Broken => "interrupted",
    }
}

/// Returns that a finished preparation changed nothing; `None` where it did, and for other steps.
pub fn without_effect(run: &Followed, step: &StepRecord) -> Option<&'static str> {
    let prepared = step.prepared().filter(|_| step.state == StepState::Finished)?;
    crate::step_title::without_effect(run.planned(step.place).2, &prepared)
}

/// Returns the figures of a second: throughput, requests, 99th percentile, temperature and power. A part of
/// a second that is too short for a rate has its requests instead.
pub fn figures(second: &Second) -> String {
    let load = &second.load;
    let mut text = match (load.sides.is_empty(), load.mb_s(), load.iops()) {
        (false, Some(mb_s), Some(iops)) => {
            let p99 = load.lat_p99_us.map_or_else(|| "–".to_owned(), rounded::latency);
            let of = load.latency_of.prefix();
            format!("{} MB/s  {} IOPS  {of}p99 {p99}", rounded::number(mb_s), rounded::number(iops))
        }
        (false, ..) => {
            let requests = rounded::count_of(load.ios as usize, "request");
            format!("{requests} in the last {}", load.length.about())
        }
        (true, ..) => String::new(),
    };
    let instruments = [
        second.temperature_c.map(|celsius| format!("{celsius:.0} °C")),
        second.power_w.map(|watts| format!("{} W", rounded::number(watts))),
    ];
    for one in instruments.into_iter().flatten() {
        if !text.is_empty() {
            text.push_str("  ");
        }
        text.push_str(&one);
    }
    let errors: u64 = load.sides.iter().map(|side| side.errors).sum();
    if errors > 0 {
        text.push_str(&format!("  {errors} errors"));
    }
    text
}

/// Returns `time` in whole seconds.
pub fn whole(time: Nanos) -> Nanos {
    Nanos::from_secs(time.0 / 1_000_000_000)
}

/// Returns the rest of the run, such as `39 min left`; empty where it has ended.
pub fn left(run: &Followed) -> String {
    match run.standing() {
        // Whether it goes on is known when its program was seen.
        Standing::Running if !run.was_written() => String::new(),
        Standing::Running => format!("{} left", whole(run.left()).about()),
        ended => standing(ended).to_owned(),
    }
}

/// Returns the bytes that were written so far, such as `1.21 TB written`.
pub fn written(run: &Followed) -> String {
    format!("{} written", Bytes(run.written()).about())
}
