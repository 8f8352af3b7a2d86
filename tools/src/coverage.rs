//! Measures how often the intervals of this crate contain the truth, and how comparisons decide.
//!
//! `cargo run --release -p ssdgauge-tools -- coverage [SERIES]` prints the tables of
//! `docs/explanation/intervals.md`: SERIES of each kind (default 2,000; half of them from 1,200
//! seconds on); with `stopping` or `sigma` after it, the table of runs that end by their width, or those
//! of mean ÷ σ and of trends, alone. Equal arguments print equal tables. It fails where a goal of that page is missed by
//! more than two standard errors.
#![allow(clippy::print_stdout, reason = "the tables are the product of this program")]

#[path = "../../crates/ssdgauge-statistics/tests/coverage/comparison.rs"]
mod comparison;
#[path = "../../crates/ssdgauge-statistics/tests/coverage/means.rs"]
mod means;
#[path = "../../crates/ssdgauge-statistics/tests/coverage/percentiles.rs"]
mod percentiles;
#[path = "../../crates/ssdgauge-statistics/tests/coverage/series.rs"]
mod series;
#[path = "../../crates/ssdgauge-statistics/tests/coverage/sigma.rs"]
mod sigma;
#[path = "../../crates/ssdgauge-statistics/tests/coverage/stopping.rs"]
mod stopping;

use series::{CHOSEN_ON, HELD_OUT};
use ssdgauge_statistics::RepeatUntil;
use ssdgauge_statistics::repetition::Stopping;
use std::error::Error;
use stopping::{Rule, Spread};

/// The lengths of the series, in seconds.
const LENGTHS: [usize; 6] = [10, 30, 60, 400, 1_200, 3_600];

/// The autocorrelations of the tables of comparisons and percentiles.
const CORRELATIONS: [f64; 4] = [0.0, 0.5, 0.7, 0.9];

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let trials: usize = arguments.first().map_or(Ok(2_000), |text| text.parse())?;
    let mut missed = Vec::new();
    let part = arguments.get(1).map(String::as_str);
    if part.is_none() {
        missed.extend(means(trials));
        missed.extend(comparisons(trials));
        percentiles(trials / 4);
    }
    if part != Some("stopping") {
        missed.extend(means_over_sigma(trials));
        trends(trials);
    }
    if part != Some("sigma") {
        missed.extend(stopping_by_width(10 * trials));
    }
    missed.iter().for_each(|goal| println!("- {goal}"));
    if missed.is_empty() { Ok(()) } else { Err(format!("goals missed: {}", missed.len()).into()) }
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
            let cell = means::measure(kind, n, trials);
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
            if shares[0] > 0.05 + means::noise(0.05, pairs) {
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

/// The lengths of the tables of mean ÷ σ and of trends.
const LONGER: [usize; 5] = [60, 120, 200, 400, 1_200];

fn means_over_sigma(trials: usize) -> Vec<String> {
    println!("\nMean ÷ σ: right among the given (%), median upper ÷ lower end, refused (%)\n");
    println!("| Kind of series | {} |", LONGER.map(|n| format!("n = {n}")).join(" | "));
    println!("|---|{}", "---|".repeat(LONGER.len()));
    let mut missed = Vec::new();
    for spread in sigma::SPREADS {
        let cells = LONGER.map(|n| {
            let outcome = sigma::measure(spread, n, trials);
            if outcome.wrong > 0.08 + means::noise(0.08, trials) {
                missed.push(format!("mean ÷ σ, {}, n = {n}: {outcome:?}", spread.name()));
            }
            outcome.text()
        });
        println!("| {} | {} |", spread.name(), cells.join(" | "));
    }
    missed
}

fn trends(trials: usize) {
    println!("\nTrends found after the cut: drifts + shifts (%)\n");
    println!("| | {} |", LONGER.map(|n| format!("n = {n}")).join(" | "));
    println!("|---|{}", "--:|".repeat(LONGER.len()));
    let rows = [sigma::Added::Nothing, sigma::Added::Drift, sigma::Added::Shift];
    for (added, name) in rows.into_iter().zip(["nothing", "drift of −10 %", "shift of −10 %"]) {
        for phi in CORRELATIONS {
            let cells = LONGER.map(|n| {
                let (drifts, shifts) = sigma::trends(added, phi, n, trials);
                format!("{:.1} + {:.1}", 100.0 * drifts, 100.0 * shifts)
            });
            println!("| {name}, φ {phi} | {} |", cells.join(" | "));
        }
    }
}

fn stopping_by_width(trials: usize) -> Vec<String> {
    const SIGMAS: [f64; 8] = [0.3, 0.6, 1.0, 1.4, 1.8, 2.5, 3.0, 4.0];
    let rule = |half_width: f64, at_least: u32, stopping: Stopping| Rule {
        until: RepeatUntil { half_width, at_least, at_most: RepeatUntil::AT_MOST },
        stopping,
    };
    let chosen = rule(0.02, RepeatUntil::AT_LEAST, Stopping::ByWidth);
    let (normal, fixed) = (Spread::Normal, Stopping::Fixed);
    let ten = Rule {
        until: RepeatUntil { half_width: 0.02, at_least: 10, at_most: 10 },
        stopping: fixed,
    };
    let rows = [
        ("normal, from 3, t of 95 %", rule(0.02, 3, fixed), normal, 1),
        ("normal, from 5, t of 95 %", rule(0.02, 5, fixed), normal, 1),
        ("normal, from 3, t of 97 %", rule(0.02, 3, Stopping::ByWidth), normal, 1),
        ("**the rule**: normal", chosen, normal, 1),
        ("goal 0.5 %", rule(0.005, RepeatUntil::AT_LEAST, Stopping::ByWidth), normal, 1),
        ("goal 10 %", rule(0.1, RepeatUntil::AT_LEAST, Stopping::ByWidth), normal, 1),
        ("five tests", chosen, normal, 5),
        ("log-normal, skewness 1.75", chosen, Spread::LogNormal, 1),
        ("exponential", chosen, Spread::Exponential, 1),
        ("AR(1), φ 0.3", chosen, Spread::Correlated(0.3), 1),
        ("AR(1), φ 0.6", chosen, Spread::Correlated(0.6), 1),
        ("always ten, t of 95 %: exponential", ten, Spread::Exponential, 1),
        ("always ten, t of 95 %: AR(1), φ 0.3", ten, Spread::Correlated(0.3), 1),
        ("always ten, t of 95 %: AR(1), φ 0.6", ten, Spread::Correlated(0.6), 1),
    ];
    println!(
        "\nRuns that end by the width: coverage (%), mean number of repetitions, narrow (%)\n"
    );
    println!("| σ of a repetition ÷ goal | {} |", SIGMAS.map(|s| s.to_string()).join(" | "));
    println!("|---|{}", "--:|".repeat(SIGMAS.len()));
    let mut missed = Vec::new();
    for (name, rule, spread, tests) in rows {
        let outcomes = SIGMAS.map(|sigma| stopping::measure(rule, spread, tests, sigma, trials));
        let cells = outcomes.map(|one| {
            let (all, narrow) = (100.0 * one.coverage, 100.0 * one.narrow);
            // Few runs that become narrow show nothing about them.
            let of_narrow = match (0.05..0.95).contains(&one.narrow) {
                true => format!(" ({:.1})", 100.0 * one.coverage_of_narrow),
                false => String::new(),
            };
            format!("{all:.1}{of_narrow}, {:.1}, {narrow:.0}", one.repetitions)
        });
        println!("| {name} | {} |", cells.join(" | "));
        let least = outcomes.iter().fold(1.0f64, |least, one| least.min(one.coverage));
        let is_rule = spread == normal && rule.until.at_least == RepeatUntil::AT_LEAST;
        if is_rule && rule.stopping == Stopping::ByWidth && least < 0.945 {
            missed.push(format!("{name}: {:.1} % of the intervals hold", 100.0 * least));
        }
    }
    missed
}
