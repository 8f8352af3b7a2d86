//! Looks into random virtual drives, and counts the answers whose interval contains the truth:
//! `cargo run --release -p ssdgauge-tools -- xray_gate --drives N --seed S [--model second | --steady | --map | --volumes | --contents] [--only STRUCTURES] [--all] [--without-noise]`.
//!
//! Drives are those of ssdgauge-sim, or of the second model; with `--steady`, structures of the steady state are
//! looked for in drives of ssdgauge-sim, with `--map` most drives have a map that is available in part, with
//! `--volumes` half of them consist of several volumes, and with `--contents` some compress or deduplicate. Seeds
//! below 1,000,000 were used while the methods were
//! tuned.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

#[path = "../../crates/ssdgauge-lab/tests/xray/gate.rs"]
pub(crate) mod gate;
#[path = "../../crates/ssdgauge-lab/tests/xray/noise.rs"]
mod noise;
#[path = "../../crates/ssdgauge-lab/tests/xray/prior.rs"]
pub(crate) mod prior;
#[allow(dead_code, reason = "tests count what it states")]
#[path = "../../crates/ssdgauge-lab/tests/xray/programs.rs"]
mod programs;
#[path = "../../crates/ssdgauge-lab/tests/xray/second_gate.rs"]
mod second_gate;
#[allow(dead_code, unused_imports, reason = "tests compare more of it with arithmetic")]
#[path = "../../crates/ssdgauge-lab/tests/xray/second_model.rs"]
mod second_model;
#[path = "../../crates/ssdgauge-lab/tests/xray/steady_gate.rs"]
mod steady_gate;

use rustix::time::{ClockId, clock_gettime};
use ssdgauge_xray::Structure;
use std::collections::BTreeMap;

/// Looks into the drive of a seed, and judges each answer.
type Judge = fn(u64, &[Structure], bool) -> (String, Vec<gate::Judged>);

#[derive(Default)]
struct Tally {
    asked: u32,
    identifiable: u32,
    is_known: bool,
    found: u32,
    answered: u32,
    right: u32,
    widths: Vec<f64>,
    errors: Vec<f64>,
}

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let number = |name: &str, default: u64| -> Result<u64, std::num::ParseIntError> {
        let place = arguments.iter().position(|argument| argument == name);
        let value = place.and_then(|place| arguments.get(place + 1));
        value.map_or(Ok(default), |value| value.parse())
    };
    let (drives, first) = (number("--drives", 50)?, number("--seed", 1_000_000)?);
    let noise = !arguments.iter().any(|argument| argument == "--without-noise");
    let only: Vec<Structure> = arguments
        .iter()
        .position(|argument| argument == "--only")
        .and_then(|place| arguments.get(place + 1))
        .map(|keys| keys.split(',').filter_map(Structure::from_key).collect())
        .unwrap_or_default();
    let shows = arguments.iter().any(|argument| argument == "--all");
    let is_second = arguments.windows(2).any(|pair| pair == ["--model", "second"]);
    let kinds: [(&str, Judge, &str); 4] = [
        ("--steady", steady_gate::judge, " in the steady state"),
        ("--map", gate::judge_with_map, " with a map"),
        ("--volumes", gate::judge_with_volumes, " with volumes"),
        ("--contents", gate::judge_with_contents, " some of which compress or deduplicate"),
    ];
    let asked = kinds.into_iter().find(|(flag, _, _)| arguments.iter().any(|one| one == flag));
    let (judge, kind): (Judge, &str) = match (is_second, asked) {
        (true, _) => (second_gate::judge, " of the second model"),
        (false, Some((_, judge, kind))) => (judge, kind),
        (false, None) => (gate::judge, ""),
    };
    let mut looked_s = Vec::new();
    let mut tallies: BTreeMap<Structure, Tally> = BTreeMap::new();
    for seed in first..first + drives {
        let before = processor_seconds();
        let (target, judged) = judge(seed, &only, noise);
        looked_s.push(processor_seconds() - before);
        if shows {
            println!("{seed} sim:{target}");
        }
        for one in judged {
            let tally = tallies.entry(one.truth.structure).or_default();
            tally.asked += 1;
            tally.is_known |= one.truth.identifiable.is_some();
            tally.identifiable += u32::from(one.truth.identifiable == Some(true));
            let is_found = one.truth.identifiable == Some(true) && one.outcome.is_ok();
            tally.found += u32::from(is_found);
            let key = one.truth.structure.key();
            let is_right = one.is_right();
            match &one.outcome {
                Ok(value) => {
                    tally.answered += 1;
                    tally.right += u32::from(is_right);
                    tally.widths.push(value.width());
                    if let Some(truth) = one.truth.value.filter(|truth| *truth != 0.0) {
                        tally.errors.push((value.value / truth - 1.0).abs());
                    }
                    let truth = one.truth.value;
                    if !is_right || shows {
                        let word = if is_right { "right" } else { "MISS" };
                        println!(
                            "{word} {key} seed {seed}: {:.4} [{:.4}, {:.4}], truth {truth:.4?} {}",
                            value.value,
                            value.low,
                            value.high,
                            if shows { "" } else { &target }
                        );
                    }
                }
                Err(reason) if shows => println!(
                    "refused {key} seed {seed} (truth {:.2?}, identifiable {:?}): {}",
                    one.truth.value, one.truth.identifiable, reason.0
                ),
                Err(_) => {}
            }
        }
    }
    let middle = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).map_or("-".into(), |value| format!("{:.1} %", value * 100.0))
    };
    println!("\n{drives} random virtual drives{kind} from seed {first} (MODEL), noise {noise}");
    println!(
        "structure         asked  identifiable  of these answered  answered  right  median width  median error"
    );
    let (mut answered, mut right) = (0, 0);
    for (structure, tally) in &mut tallies {
        let (identifiable, found) = match tally.is_known {
            true => (tally.identifiable.to_string(), tally.found.to_string()),
            false => ("not known".into(), "-".into()),
        };
        println!(
            "{:<16}{:>7}{:>14}{:>19}{:>10}{:>7}{:>14}{:>14}",
            structure.key(),
            tally.asked,
            identifiable,
            found,
            tally.answered,
            tally.right,
            middle(&mut tally.widths),
            middle(&mut tally.errors)
        );
        answered += tally.answered;
        right += tally.right;
    }
    let share = f64::from(right) / f64::from(answered.max(1)) * 100.0;
    println!("{right} of {answered} answers contain the truth ({share:.1} %)");
    looked_s.sort_by(f64::total_cmp);
    let mean = looked_s.iter().sum::<f64>() / drives.max(1) as f64;
    let longest = looked_s.last().unwrap_or(&0.0);
    println!("processor time of a drive with its truth: mean {mean:.1} s, longest {longest:.1} s");
    Ok(())
}

/// Returns the processor time of this process, in seconds.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
