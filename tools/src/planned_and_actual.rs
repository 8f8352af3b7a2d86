//! Prints what was planned and what came, for run files:
//! `cargo run -p ssdgauge-tools -- planned_and_actual RUN.ssdg …`.
//!
//! With `--tests`, a line for each test as well. The estimate is that of this program for the plan and
//! the drive in the run file, whatever program made it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use ssdgauge_core::{Bytes, DriveInfo, Nanos, Plan};
use ssdgauge_lab::{Spent, assumed_rates, estimate, spent};
use ssdgauge_runfile::{RunFile, RunFileError};
use std::error::Error;
use std::path::Path;

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let (options, files): (Vec<String>, Vec<String>) =
        arguments.iter().cloned().partition(|argument| argument.starts_with("--"));
    let has_tests = options.iter().any(|option| option == "--tests");
    println!(
        "| run | time: expected, at most | came | ÷ | written: expected, at most | came | ÷ |"
    );
    println!("|---|---|---|---|---|---|---|");
    for file in &files {
        print(Path::new(file), has_tests).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(())
}

fn print(path: &Path, has_tests: bool) -> Result<(), RunFileError> {
    let run = RunFile::open(path)?;
    let head = run.head();
    let each = spent(&run)?;
    let whole = each.iter().copied().fold(Spent::default(), Spent::plus);
    let name = path.file_stem().map_or("".into(), |name| name.to_string_lossy().into_owned());
    print_line(&name, &head.plan, &head.drive, whole);
    for (test, came) in head.plan.tests.iter().zip(&each).filter(|_| has_tests) {
        let alone = Plan { tests: vec![test.clone()], ..head.plan.clone() };
        print_line(&format!("{name}/{}", test.id), &alone, &head.drive, *came);
    }
    Ok(())
}

fn print_line(name: &str, plan: &Plan, drive: &DriveInfo, came: Spent) {
    let planned = estimate(plan, drive.capacity, &assumed_rates(drive));
    let time = planned.time.map(Nanos::as_secs_f64);
    let written = planned.written.map(|bytes| bytes.0 as f64);
    println!(
        "| {name} | {}, {} | {} | {:.2}, {:.1} | {}, {} | {} | {:.2}, {:.1} |",
        planned.time.expected.about(),
        planned.time.at_most.about(),
        came.time.about(),
        time.expected / came.time.as_secs_f64(),
        time.at_most / came.time.as_secs_f64(),
        planned.written.expected.about(),
        planned.written.at_most.about(),
        came.written.about(),
        written.expected / came.written.max(Bytes(1)).0 as f64,
        written.at_most / came.written.max(Bytes(1)).0 as f64,
    );
}
