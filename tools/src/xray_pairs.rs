//! Compares X-rays of pairs of random virtual drives: one drive with itself, and drives that differ:
//! `cargo run --release -p ssdgauge-tools -- xray_pairs --keep FILE [--pairs N] [--seed S]`.
//!
//! Every pair is a line of FILE as soon as it is compared; another call goes on after the last line. One drive is
//! looked into again as it is, hot, or aged by 1 %; a different one is another draw of the same capacity, or has one
//! part changed. Seeds below 1,000,000 were used while the rules were tuned.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use super::xray_gate::gate::{heat, look};
use super::xray_gate::prior;
use ssdgauge_core::Rig;
use ssdgauge_sim::VirtualRig;
use ssdgauge_xray::{Answer, Compared, Likeness, Structure, compare, inside};
use std::collections::BTreeMap;
use std::io::Write;

/// What is done to a drive before it is looked into for the second time.
const SAME: [&str; 3] = ["again", "hot", "aged by 1 %"];
/// What makes a drive another one: a draw, or a factor of some keys.
const OTHER: [(&str, &[&str], f64); 6] = [
    ("another draw", &[], 1.0),
    ("units x 2", &["nand.dies", "nand.channels"], 2.0),
    ("page read x 1.3", &["nand.t_r_us"], 1.3),
    ("program time x 1.3", &["nand.t_prog_us"], 1.3),
    ("command time x 1.3", &["front.read_command_us", "front.write_command_us"], 1.3),
    ("cache x 1.5", &["slc.fixed_gb", "slc.dynamic_gb"], 1.5),
];
/// What ages: times of cells grow by 1 %, and the cache loses as much.
const OLDER: [&str; 4] = ["nand.t_r_us", "nand.t_prog_us", "nand.t_bers_us", "slc.t_prog_us"];
const SMALLER: [&str; 2] = ["slc.fixed_gb", "slc.dynamic_gb"];
/// The air around a hot drive, in degrees Celsius, and the seconds of reads before it is looked into.
const HOT: (f64, u64) = (60.0, 60);
/// The distance between a seed and that of the noise of the second look, or of another draw.
const APART: u64 = 500_000;

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let text = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)
    };
    let number = |name: &str, default: u64| text(name).map_or(Ok(default), |one| one.parse());
    let (pairs, first) = (number("--pairs", 400)?, number("--seed", 1_000_000)?);
    let keep = text("--keep").ok_or("--keep FILE is missing")?;
    let known = std::fs::read_to_string(keep).unwrap_or_default();
    let mut lines: Vec<String> = known.lines().map(str::to_owned).collect();
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(keep)?;
    for pair in lines.len() as u64..pairs {
        let line = compare_pair(pair, first + pair);
        writeln!(file, "{line}")?;
        file.sync_data()?;
        lines.push(line);
    }
    print!("{}", table(&lines));
    Ok(())
}

/// Looks into both drives of a pair; returns its line: kind, seed, verdict, and what differs, between tabs.
fn compare_pair(pair: u64, seed: u64) -> String {
    let (one, target) = prior::drive(seed);
    let capacity = one.drive().capacity;
    let half = pair / 2;
    let (kind, two) = match pair.is_multiple_of(2) {
        true => {
            let kind = SAME[(half % SAME.len() as u64) as usize];
            (kind, same(kind, &target, seed))
        }
        false => {
            let (kind, keys, factor) = OTHER[(half % OTHER.len() as u64) as usize];
            let two = match keys.is_empty() {
                true => (seed + APART..)
                    .map(prior::drive)
                    .find_map(|(rig, _)| (rig.drive().capacity == capacity).then_some(rig)),
                false => VirtualRig::open(&scaled(&target, keys, factor), seed).ok(),
            };
            (kind, two)
        }
    };
    // A drive without a cache has no larger one, and some figures exclude each other.
    let Some(two) = two.filter(|two| two.profile() != one.profile() || SAME.contains(&kind)) else {
        return format!("{kind}\t{seed}\tno such drive\t");
    };
    let only: Vec<Structure> = Structure::ALL
        .into_iter()
        .filter(|one| !one.needs_steady_state() && *one != Structure::Spare)
        .collect();
    let looked: [Vec<Answer>; 2] =
        [look(one, seed, &only, true), look(two, seed + APART, &only, true)];
    let compared = compare(&looked[0], &looked[1]);
    let different = inside(&compared, Likeness::Different);
    let verdict = match (different.is_empty(), inside(&compared, Likeness::Same).is_empty()) {
        (false, _) => "different",
        (true, false) => "no difference",
        (true, true) => "not decided",
    };
    let words: Vec<String> =
        compared.iter().filter(|one| different.contains(&one.structure)).map(words).collect();
    format!("{kind}\t{seed}\t{verdict}\t{}", words.join("; "))
}

/// Returns the drive of `target` once more, in the state of `kind`.
fn same(kind: &str, target: &str, seed: u64) -> Option<VirtualRig> {
    match kind {
        "hot" => {
            let target = format!("{target}&thermal.ambient_c={}", HOT.0);
            let mut rig = VirtualRig::open(&target, seed).ok()?;
            heat(&mut rig, HOT.1);
            Some(rig)
        }
        "aged by 1 %" => {
            let target = scaled(&scaled(target, &OLDER, 1.01), &SMALLER, 0.99);
            VirtualRig::open(&target, seed).ok()
        }
        _ => VirtualRig::open(target, seed).ok(),
    }
}

/// Returns `target` with the figures of `keys` multiplied by `factor`; whole ones stay whole.
fn scaled(target: &str, keys: &[&str], factor: f64) -> String {
    let change = |part: &str| -> String {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let key = name.rsplit('?').next().unwrap_or(name);
        match value.parse::<f64>() {
            Ok(number) if keys.contains(&key) => format!("{name}={}", number * factor),
            _ => part.to_owned(),
        }
    };
    target.split('&').map(change).collect::<Vec<_>>().join("&")
}

fn words(compared: &Compared) -> String {
    let values = compared.outcomes.iter().map(|outcome| match outcome {
        Some(Ok(value)) => format!("{:.4} [{:.4}, {:.4}]", value.value, value.low, value.high),
        _ => "-".into(),
    });
    format!("{} {}", compared.structure.key(), values.collect::<Vec<_>>().join(" and "))
}

/// Returns the table of all pairs, and those that were judged wrongly or not at all.
fn table(lines: &[String]) -> String {
    let mut counts: BTreeMap<(bool, &str), [u32; 4]> = BTreeMap::new();
    let mut wrong = String::new();
    for line in lines {
        let mut parts = line.split('\t');
        let (kind, verdict) = (parts.next().unwrap_or(""), parts.nth(1).unwrap_or(""));
        let is_other = !SAME.contains(&kind);
        let place = ["different", "no difference", "not decided", "no such drive"];
        let place = place.iter().position(|one| *one == verdict).unwrap_or(3);
        counts.entry((is_other, kind)).or_default()[place] += 1;
        if place < 3 && is_other != (verdict == "different") {
            wrong.push_str(&format!("{line}\n"));
        }
    }
    let mut text = format!(
        "{:<22}{:>7}{:>11}{:>15}{:>13}\n",
        "pair", "pairs", "different", "no difference", "not decided"
    );
    for ((_, kind), [different, no_difference, undecided, _]) in &counts {
        let pairs = different + no_difference + undecided;
        text.push_str(&format!(
            "{kind:<22}{pairs:>7}{different:>11}{no_difference:>15}{undecided:>13}\n"
        ));
    }
    for (is_other, words) in [(false, "one drive with itself"), (true, "drives that differ")] {
        let of = counts.iter().filter(|((other, _), _)| *other == is_other);
        let (told, all) = of.fold((0, 0), |(told, all), (_, count)| {
            (told + count[0], all + count[0] + count[1] + count[2])
        });
        text.push_str(&format!("{words}: {told} of {all} pairs are called different\n"));
    }
    format!("{text}{wrong}")
}
