//! Measures how often the intervals of this crate contain the truth, and how comparisons decide.
//!
//! `cargo run --release -p ssdgauge-core --example coverage [SERIES]` prints the tables of
//! `docs/handbook/intervals.md`: SERIES of each kind (default 2,000; half of them from 1,200
//! seconds on). Equal arguments print equal tables. It fails where a goal of that page is missed by
//! more than two standard errors.
#![allow(clippy::print_stdout, reason = "the tables are the product of this program")]

mod comparison;
mod coverage;
mod percentiles;
mod series;

use series::{CHOSEN_ON, HELD_OUT};
use std::process::ExitCode;

/// The lengths of the series, in seconds.
const LENGTHS: [usize; 6] = [10, 30, 60, 400, 1_200, 3_600];

/// The autocorrelations of the tables of comparisons and percentiles.
const CORRELATIONS: [f64; 4] = [0.0, 0.5, 0.7, 0.9];

fn main() -> ExitCode {
    let trials: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2_000);
    let mut missed = means(trials);
    missed.extend(comparisons(trials));
    percentiles(trials / 4);
    println!("\nGoals missed: {}", missed.len());
    missed.iter().for_each(|goal| println!("- {goal}"));
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn means(trials: usize) -> Vec<String> {
    let mut missed = Vec::new();
    println!("Coverage (%), median width ÷ ideal\n");
    println!("| Kind of series | {} |", LENGTHS.map(|n| format!("n = {n}")).join(" | "));
    println!("|---|{}", "---|".repeat(LENGTHS.len()));
    for (place, kind) in CHOSEN_ON.into_iter().chain(HELD_OUT).enumerate() {
        if place == CHOSEN_ON.len() {
            println!("| *not used for the choice:* |{}", " |".repeat(LENGTHS.len()));
        }
        let cells = LENGTHS.map(|n| {
            let trials = if n >= 1_200 { trials.div_ceil(2) } else { trials };
            let cell = coverage::measure(kind, n, trials);
            missed.extend(cell.missed(kind, n));
            cell.text(kind, n)
        });
        println!("| {} | {} |", kind.name(), cells.join(" | "));
    }
    missed
}

fn comparisons(pairs: usize) -> Vec<String> {
    const SHIFTS: [f64; 6] = [0.0, 0.01, 0.02, 0.03, 0.05, 0.10];
    let mut missed = Vec::new();
    println!("\nPairs that are found to differ (%), by the true difference\n");
    println!("| n, φ | {} |", SHIFTS.map(|shift| format!("{:.0} %", 100.0 * shift)).join(" | "));
    println!("|---|{}", "--:|".repeat(SHIFTS.len()));
    for n in [30, 60, 400] {
        for phi in CORRELATIONS {
            let shares = SHIFTS.map(|shift| comparison::share_apart(phi, n, shift, pairs));
            let cells = shares.map(|share| format!("{:.1}", 100.0 * share));
            println!("| {n}, {phi} | {} |", cells.join(" | "));
            if shares[0] > 0.05 + coverage::noise(0.05, pairs) {
                missed.push(format!("n = {n}, φ {phi}: {} % false alarms", cells[0]));
            }
            let power = if phi == 0.0 { 0.90 } else { 0.45 };
            if n == 60 && phi <= 0.5 && shares[4] < power {
                missed.push(format!("n = {n}, φ {phi}: {} % power at 5 %", cells[4]));
            }
        }
    }
    missed
}

fn percentiles(trials: usize) {
    println!("\nCoverage of intervals of percentiles (%)\n");
    println!("| | {} |", CORRELATIONS.map(|phi| format!("φ {phi}")).join(" | "));
    println!("|---|{}", "--:|".repeat(CORRELATIONS.len()));
    for (share, name) in [(0.5, "p50"), (0.99, "p99")] {
        for n in [60, 400] {
            let cells = CORRELATIONS
                .map(|phi| format!("{:.1}", 100.0 * percentiles::coverage(phi, n, share, trials)));
            println!("| {name}, n = {n} | {} |", cells.join(" | "));
        }
    }
}
