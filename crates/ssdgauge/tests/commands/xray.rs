//! `ssdgauge xray`: the card, its plan, what is only read, and what is refused.

use crate::support::{Bench, text};
use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const DRIVE: &str = "sim:tlc-client?capacity=8GB&slc.fixed_gb=25&slc.dynamic_gb=0";

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn structure<'a>(card: &'a Value, key: &str) -> &'a Value {
    let list = card["structures"].as_array().unwrap();
    list.iter().find(|one| one["structure"] == key).unwrap()
}

#[test]
fn a_card_has_a_value_with_its_interval_or_a_reason_for_each_structure() {
    let bench = Bench::new();
    let only = "--only=command,units,cache,overflow";
    let output = bench.call(&["xray", DRIVE, only, "--json", "--out", "card.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let card = json(&output.stdout);
    assert_eq!((&card["is_model"], &card["is_complete"]), (&true.into(), &true.into()));
    for (key, truth) in [("link", 3_400.0), ("command", 2.6), ("units", 16.0), ("cache", 0.4e9)] {
        let found = structure(&card, key);
        let end = |at: usize| found["interval"][at].as_f64().unwrap();
        assert!(end(0) <= truth && truth <= end(1), "{found}");
        assert!(found["method"].is_string() && found["source"].is_string(), "{found}");
    }
    assert!(structure(&card, "overflow")["not_identifiable"].is_string(), "{card:#}");
    let written = std::fs::read(bench.path("card.json")).unwrap();
    assert_eq!(json(&written), card);
    // A name that exists is kept.
    let again = bench.call(&["xray", DRIVE, only, "--out", "card.json"]);
    assert_eq!(again.status.code(), Some(3), "{}", text(&again.stderr));
    let shown = bench.call(&["xray", DRIVE, "--only=command"]);
    assert!(text(&shown.stdout).contains("MODEL"), "{}", text(&shown.stdout));
}

#[test]
fn a_plan_states_bytes_and_time_and_does_nothing() {
    let bench = Bench::new();
    let bytes = |one: &Value| one["writes_at_most_bytes"].as_u64().unwrap();
    let most = |more: &[&str]| {
        let output = bench.call(&[&["xray", DRIVE, "--plan", "--json"], more].concat());
        let plan = json(&output.stdout);
        plan["experiments"].as_array().unwrap().iter().map(bytes).sum::<u64>()
    };
    let (usual, spare) = (most(&[]), most(&["--only=spare"]));
    assert!((4_000_000_000..8_000_000_000).contains(&usual), "{usual}");
    assert!(spare > 11_000_000_000, "{spare}");
    let gentle = bench.call(&["xray", DRIVE, "--plan", "--gentle", "--json"]);
    let gentle = json(&gentle.stdout);
    assert!(gentle["experiments"].as_array().unwrap().iter().all(|one| bytes(one) == 0));
}

#[test]
fn a_file_is_only_read_with_gentle_and_nothing_of_it_changes() {
    let bench = Bench::new();
    let file = bench.path("image");
    std::fs::File::create(&file).and_then(|file| file.set_len(256 << 20)).unwrap();
    let name = file.display().to_string();
    let before = state(&file);
    let output = bench.call(&["xray", &name, "--gentle", "--only=page-read", "--json"]);
    match output.status.code() {
        Some(0) => {
            let card = json(&output.stdout);
            assert_eq!(card["written_bytes"], 0);
            assert!(card["read_bytes"].as_u64().unwrap() > 0);
        }
        // The folder has no O_DIRECT.
        code => assert_eq!(code, Some(3), "{}", text(&output.stderr)),
    }
    assert_eq!(state(&file), before);
}

/// Returns when the file was changed last, and the blocks that it occupies.
fn state(file: &Path) -> (std::time::SystemTime, u64) {
    let facts = file.metadata().unwrap();
    (facts.modified().unwrap(), facts.blocks())
}

#[test]
fn what_cannot_be_looked_into_is_refused_with_a_hint() {
    let bench = Bench::new();
    for (arguments, code, word) in [
        (&["xray", "null:"][..], 2, "no drive"),
        (&["xray", DRIVE, "--only=cash"], 2, "cache"),
        (&["xray", DRIVE, "--size=1GiB"], 2, "--size"),
        (&["xray", "sim:tiny?capacity=100MB"], 3, "needs"),
    ] {
        let output = bench.call(arguments);
        let shown = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {shown}");
        assert!(shown.contains(word) && shown.contains("hint:"), "{shown}");
    }
}
