//! Prints how often intervals of short parts of a recorded step contain the mean of the whole step:
//! `cargo run --release -p ssdgauge-tools -- windows RUN.ssdg …`.
//!
//! A step of a real drive has no known mean, but that of some thousand seconds is known much better than
//! that of a part of 10 to 60. The parts do not overlap. The last column is of the means of all parts: how
//! many times wider their spread is than independent seconds would make it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use ssdgauge_core::{Nanos, PhaseKind};
use ssdgauge_runfile::{RunFile, RunFileError};
use ssdgauge_statistics::mean_interval::{MeanEstimate, MeanInterval, of_ratio};
use ssdgauge_statistics::summary::sigma;
use std::error::Error;
use std::path::Path;

/// The lengths of the parts, in seconds.
const LENGTHS: [usize; 3] = [10, 30, 60];

/// The sums of one second.
#[derive(Clone, Copy, Default)]
struct Second {
    requests: f64,
    latency_ns: f64,
}

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    println!(
        "| step | seconds | metric | n | parts | contain the mean, % | settling | half-width, % | spread |"
    );
    println!("|---|--:|---|--:|--:|--:|--:|--:|--:|");
    for file in arguments {
        print(Path::new(file)).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(())
}

fn print(path: &Path) -> Result<(), RunFileError> {
    let run = RunFile::open(path)?;
    for step in &run.steps()? {
        // A plan that opens has every step that its file records.
        let test = &run.head().plan.tests[step.place.test];
        if test.phases[step.place.phase].kind != PhaseKind::Measure {
            continue;
        }
        let mut seconds: Vec<Second> = Vec::new();
        run.sums(step.id, |interval| {
            let index = interval.second as usize;
            // The last second is rarely a whole one.
            if interval.length == Nanos::SECOND {
                seconds.resize(seconds.len().max(index + 1), Second::default());
                seconds[index].requests += interval.ios as f64;
                seconds[index].latency_ns += interval.latency.sum() as f64;
            }
        })?;
        let of = |part: &[Second], value: fn(&Second) -> f64| part.iter().map(value).collect();
        let rate = |part: &[Second]| (of(part, |s| s.requests), vec![1.0; part.len()]);
        let latency =
            |part: &[Second]| (of(part, |s| s.latency_ns / 1e3), of(part, |s| s.requests));
        let name = &test.id;
        print_rows(name, &seconds, "IOPS", true, rate);
        print_rows(name, &seconds, "mean latency", false, latency);
    }
    Ok(())
}

fn print_rows(
    name: &str,
    seconds: &[Second],
    metric: &str,
    more_is_better: bool,
    values: impl Fn(&[Second]) -> (Vec<f64>, Vec<f64>),
) {
    let ratio = |(above, below): &(Vec<f64>, Vec<f64>)| {
        above.iter().sum::<f64>() / below.iter().sum::<f64>()
    };
    let whole = values(seconds);
    let truth = ratio(&whole);
    // A second without a request has no latency.
    let each = whole.0.iter().zip(&whole.1).filter(|(_, below)| **below > 0.0);
    let each: Vec<f64> = each.map(|(above, below)| above / below).collect();
    for n in LENGTHS {
        let (mut within, mut settling) = (0, 0);
        let (mut halves, mut means) = (Vec::new(), Vec::new());
        let parts = seconds.chunks_exact(n);
        let count = parts.len();
        for part in parts {
            let (above, below) = values(part);
            means.push(ratio(&(above.clone(), below.clone())));
            match of_ratio(&above, &below, more_is_better) {
                MeanInterval::Found(MeanEstimate { mean, half, .. }) => {
                    within += usize::from((mean - truth).abs() <= half);
                    halves.push(half / mean * 100.0);
                }
                MeanInterval::StillSettling => settling += 1,
                MeanInterval::TooFewSeconds => {}
            }
        }
        halves.sort_by(f64::total_cmp);
        let spread = match (sigma(&means), sigma(&each)) {
            (Some(between), Some(within)) => between / (within / (n as f64).sqrt()),
            _ => f64::NAN,
        };
        println!(
            "| {name} | {} | {metric} | {n} | {count} | {:.0} | {settling} | {:.1} | {spread:.1} |",
            seconds.len(),
            within as f64 * 100.0 / halves.len().max(1) as f64,
            halves.get(halves.len() / 2).copied().unwrap_or(f64::NAN),
        );
    }
}
