//! Malformed profiles: each gives a drive or a refusal, and never a panic.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends at its first failure")]

use crate::tiers::{repetitions, write_figure};
use ssdgauge_core::Random;
use ssdgauge_sim::VirtualRig;

/// Fragments that are likely to be significant to the parser or the model.
const FRAGMENTS: [&str; 20] = [
    "0",
    "-1",
    "1e308",
    "-1e-308",
    "nan",
    "inf",
    "18446744073709551615",
    "1e15",
    "0.0000001",
    "true",
    "'x'",
    "''",
    "[]",
    "{}",
    "[nand]",
    "=",
    "\n",
    "\u{202e}",
    "\"",
    "'tlc-client'",
];

fn damage(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=random.below(3) {
        let at = random.below(lines.len() as u64) as usize;
        let fragment = FRAGMENTS[random.below(FRAGMENTS.len() as u64) as usize];
        match (random.below(4), lines[at].split_once('=')) {
            (0, _) => lines[at] = fragment.into(),
            (1, _) => lines.push(lines[at].clone()),
            (_, Some((key, _))) => lines[at] = format!("{key}= {fragment}"),
            (_, None) => lines[at].push_str(fragment),
        }
    }
    lines.join("\n")
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the crate opens no file; its tests may")]
fn no_malformed_profile_panics() {
    let seed = 20_261_121;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let tries = repetitions(2_000, 2_000, 200_000);
    let (mut refused, mut made) = (0, 0);
    // A valid profile with every part of a drive.
    let profiles = ssdgauge_sim::profiles();
    let tiny = profiles.iter().find(|profile| profile.name == "tiny").unwrap();
    assert!(VirtualRig::from_toml("tiny.toml", tiny.text, "", 1).is_ok());
    for _ in 0..tries {
        match VirtualRig::from_toml("damaged.toml", &damage(tiny.text, &mut random), "", 1) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
            Ok(_) => made += 1,
        }
    }
    assert!(refused > tries / 4 && made > tries / 50, "{refused} refused, {made} made");
    let result = format!("{refused} refused, {made} made, 0 panics");
    let command = "cargo test -p ssdgauge-sim --test it malformed_profiles::";
    write_figure("drive profiles", &format!("{tries} damaged texts"), &result, command);
}
