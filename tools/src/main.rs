//! Programs that measure ssdgauge itself: gates over hundreds of drives, coverage of intervals, speed.
//!
//! `cargo run --release -p ssdgauge-tools -- TOOL [ARGUMENTS]`; each module says what its tool does.
#![allow(clippy::print_stderr, reason = "a program for the terminal")]

mod code_lines;
mod coverage;
mod field;
mod fit;
mod fleet;
mod honest_proofs;
mod iocost;
mod many_runs;
mod model_cohort;
mod own_intervals;
mod planned_and_actual;
mod real_curves;
mod site_verdicts;
mod slow_drives;
mod speed;
mod twin;
mod windows;
mod xray_gate;
mod xray_pairs;

use std::error::Error;
use std::process::ExitCode;

type Tool = fn(&[String]) -> Result<(), Box<dyn Error>>;

const TOOLS: [(&str, Tool); 19] = [
    ("code_lines", code_lines::run),
    ("coverage", coverage::run),
    ("field", field::run),
    ("fit", fit::run),
    ("fleet", fleet::run),
    ("honest_proofs", honest_proofs::run),
    ("iocost", iocost::run),
    ("many_runs", many_runs::run),
    ("model_cohort", model_cohort::run),
    ("own_intervals", own_intervals::run),
    ("planned_and_actual", planned_and_actual::run),
    ("real_curves", real_curves::run),
    ("site_verdicts", site_verdicts::run),
    ("slow_drives", slow_drives::run),
    ("speed", speed::run),
    ("twin", twin::run),
    ("windows", windows::run),
    ("xray_gate", xray_gate::run),
    ("xray_pairs", xray_pairs::run),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = arguments.split_first().and_then(|(name, rest)| {
        let (_, tool) = TOOLS.iter().find(|(tool, _)| tool == name)?;
        Some((tool, rest))
    });
    let Some((tool, rest)) = chosen else {
        eprintln!("usage: ssdgauge-tools {} [ARGUMENTS]", TOOLS.map(|(name, _)| name).join("|"));
        return ExitCode::from(2);
    };
    match tool(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
