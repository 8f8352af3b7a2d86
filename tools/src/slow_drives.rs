//! Counts how many slow drives are found in fleets of virtual drives (MODEL), and how many healthy ones are
//! taken for slow: `cargo run --release -p ssdgauge-tools -- slow_drives [FLEETS [SEED]]`.
//!
//! Each fleet has 30 drives, one with each fault of `tests/drift/fleet.rs`, in four strengths. Seeds below 1,000,000 were used
//! while the method was chosen.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]
#![allow(clippy::unwrap_used, reason = "a measurement, not the program")]

#[path = "../../crates/ssdgauge-fleet/tests/drift/fleet.rs"]
mod fleet;

use self::fleet::{Fault, runs};
use ssdgauge_fleet::drift;
use std::collections::BTreeMap;
use std::error::Error;
use std::num::ParseIntError;

const DRIVES: u64 = 30;

/// The strengths of the faults.
const STRENGTHS: [f64; 4] = [1.0, 0.5, 0.25, 0.125];

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let number = |place: usize, default: u64| -> Result<u64, ParseIntError> {
        arguments.get(place).map_or(Ok(default), |text| text.parse())
    };
    let (fleets, mut seed) = (number(0, 10)?, number(1, 1_000_000)?);
    println!(
        "{fleets} fleets of {DRIVES} virtual drives (MODEL) for each strength, seeds from {seed}"
    );
    let mut rows: BTreeMap<Fault, String> = BTreeMap::new();
    let (mut precision, mut alarms) = (String::new(), String::new());
    for strength in STRENGTHS {
        let mut found: BTreeMap<Fault, u64> = BTreeMap::new();
        let mut wrong = 0;
        for _ in 0..fleets {
            let runs = runs(seed, DRIVES, strength);
            seed += DRIVES;
            for suspect in drift(&runs).suspects {
                let place = runs.iter().position(|run| run.serial == suspect.serial).unwrap();
                match Fault::ALL.get(place) {
                    Some(fault) => *found.entry(*fault).or_default() += 1,
                    None => wrong += 1,
                }
            }
        }
        for fault in Fault::ALL {
            let found = found.get(&fault).copied().unwrap_or_default();
            *rows.entry(fault).or_default() += &format!(" {found} of {fleets} |");
        }
        let all: u64 = found.values().sum();
        precision += &format!(" {all} of {} |", all + wrong);
        alarms += &format!(" {wrong} of {} |", fleets * (DRIVES - Fault::ALL.len() as u64));
    }
    println!("| Fault | strength 1 | 1/2 | 1/4 | 1/8 |\n|---|--:|--:|--:|--:|");
    for (fault, cells) in rows {
        println!("| {fault:?} |{cells}");
    }
    println!("| suspects that are slow (precision) |{precision}");
    println!("| healthy drives that are suspects |{alarms}");
    Ok(())
}
