//! Untrusted suite files: accepted or refused, and never a panic.

use ssdgauge_core::{Bytes, DriveInfo, Random, TargetKind};
use ssdgauge_lab::{Options, Suite, assumed_rates, estimate, plan};

/// Number of damaged texts.
const TRIES: usize = 4_000;

/// Fragments with a meaning in suite files: extremes, other types and syntax.
const PIECES: [&str; 24] = [
    "0",
    "-1",
    "1e308",
    "\"99999999999999999999TB\"",
    "\"213503d\"",
    "\"0%\"",
    "\"100%\"",
    "\"64MiB\"",
    "[]",
    "{}",
    "true",
    "\"\"",
    "\"synchronous\"",
    "4096",
    "[[test]]",
    "\n",
    "=",
    "\"",
    "\u{202e}",
    "nan",
    "18446744073709551615",
    "\"1ns\"",
    "\"18446744073709551615\"",
    ",",
];

// The crate opens no file; its tests may.
#[allow(clippy::disallowed_methods)]
fn texts() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/suites");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Replaces, removes or repeats some characters of `text`.
fn damage(text: &str, random: &mut Random) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(4) {
        let at = random.below(characters.len() as u64) as usize;
        let length = (random.below(12) as usize).min(characters.len() - at);
        let piece = PIECES[random.below(PIECES.len() as u64) as usize];
        let piece: Vec<char> = match random.below(3) {
            0 => Vec::new(),
            1 => piece.chars().collect(),
            _ => characters[at..at + length].repeat(2),
        };
        characters.splice(at..at + length, piece);
        if characters.is_empty() {
            break;
        }
    }
    characters.into_iter().collect()
}

/// Replaces a whole value, which leaves the syntax intact more often than other damage.
fn twist(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = random.below(lines.len() as u64) as usize;
    let piece = PIECES[random.below(PIECES.len() as u64) as usize];
    if let Some(value) = lines[at].split([',', '}']).find(|part| part.contains("= ")) {
        let (key, _) = value.split_once("= ").unwrap();
        lines[at] = lines[at].replacen(value, &format!("{key}= {piece}"), 1);
    }
    lines.join("\n")
}

#[test]
fn no_text_makes_reading_or_planning_panic() {
    let seed = 20_261_121;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let texts = texts();
    let drive = DriveInfo {
        kind: TargetKind::Block,
        target: "drive".into(),
        model: None,
        serial: None,
        firmware: None,
        capacity: Bytes(1_000_000_000_000),
        logical_block: Bytes(512),
        physical_block: Bytes(4_096),
        details: Default::default(),
    };
    let (mut refused, mut planned) = (0, 0);
    let tries = if std::env::var_os("SSDGAUGE_LONG").is_some() { 250 * TRIES } else { TRIES };
    for _ in 0..tries {
        let text = &texts[random.below(texts.len() as u64) as usize];
        let text = match random.below(2) {
            0 => damage(text, &mut random),
            _ => twist(text, &mut random),
        };
        match Suite::parse("stranger.toml", &text) {
            Err(error) => {
                assert!(!error.to_string().is_empty() && !error.hint.is_empty());
                refused += 1;
            }
            Ok(suite) => {
                if let Ok(plan) = plan(&suite, &drive, &Options::default()) {
                    estimate(&plan, drive.capacity, &assumed_rates(&drive));
                    plan.extent();
                    planned += 1;
                }
            }
        }
    }
    assert!(refused > tries / 4 && planned > tries / 20, "{refused} refused, {planned} planned");
    let result = format!("{refused} refused with a hint, {planned} planned, 0 panics");
    let command = "cargo test -p ssdgauge-lab --test it no_text";
    crate::tiers::write_figure("suite files", &format!("{tries} damaged texts"), &result, command);
}
