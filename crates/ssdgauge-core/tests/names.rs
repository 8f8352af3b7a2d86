//! The names of variants in run files, JSON and suites: they never change, and a new one is added here.

#![allow(clippy::unwrap_used)]

use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use ssdgauge_core::{
    Access, Data, Direction, Engine, FindingKind, PowerScope, PurgeMethod, Severity, TargetKind,
};
use std::fmt::Debug;

const FINDINGS: [&str; 87] = [
    "model",
    "shortened",
    "span-scaled",
    "page-cache",
    "punted",
    "engine-fallback",
    "queue-not-reached",
    "faults",
    "drive-gone",
    "hung",
    "resumed",
    "purge-not-possible",
    "not-measured",
    "too-few-samples",
    "disturbed",
    "cache-exceeded",
    "throttled",
    "fall-unexplained",
    "steady-state",
    "not-steady",
    "left-steady-state",
    "two-levels",
    "changes-within",
    "state-changed",
    "order-effect",
    "interval-reached",
    "interval-not-reached",
    "still-settling",
    "trials-disagree",
    "overloaded",
    "withheld",
    "generator-late",
    "media-error",
    "short-transfer",
    "target-shrank",
    "stalled",
    "stood-still",
    "clock-jumped",
    "results-full",
    "results-read",
    "other-traffic",
    "drive-interference",
    "merged",
    "not-polled",
    "not-passed-through",
    "scheduler",
    "frequency-governor",
    "idle-states",
    "remote-node",
    "misaligned",
    "clock-source",
    "host-ceiling",
    "drive-changed",
    "uses-unknown",
    "over-budget",
    "not-kept",
    "lost-writes",
    "verify-failed",
    "not-verified",
    "flush-failed",
    "flush-without-work",
    "meter",
    "power-gaps",
    "contradictory",
    "power-state",
    "write-cache",
    "wrong-data",
    "unwritten",
    "log-incomplete",
    "link-below-capability",
    "implausible",
    "counter-drift",
    "health-warning",
    "purge-started",
    "trim-ineffective",
    "left-unused",
    "lesser-purge",
    "folded",
    "requests-left-out",
    "no-response-times",
    "coarse-times",
    "idle-cut",
    "replayed",
    "generated",
    "imported",
    "imported-percentiles",
    "unknown",
];

fn read<T: DeserializeOwned>(name: &str) -> Result<T, Error> {
    let text: StrDeserializer<'_, Error> = name.into_deserializer();
    T::deserialize(text)
}

/// Checks that `names` are those of all variants, in files and in texts of the program.
fn check<T: DeserializeOwned + Debug>(name: fn(T) -> &'static str, names: &[&str]) {
    for expected in names {
        let variant: T = read(expected).unwrap();
        assert_eq!(name(variant), *expected);
    }
    // The error lists the variants, each between backticks; the first one is the name that was given.
    let listed = read::<T>("from-the-future").unwrap_err().to_string();
    let listed: Vec<&str> = listed.split('`').skip(3).step_by(2).collect();
    assert_eq!(listed, names);
}

#[test]
fn the_keys_of_findings_never_change() {
    for key in FINDINGS {
        let kind: FindingKind = read(key).unwrap();
        assert_eq!(kind.key(), key);
        assert_eq!(kind == FindingKind::Unknown, key == "unknown");
    }
    assert_eq!(FINDINGS.len(), FindingKind::Unknown as usize + 1, "the last one");
    assert_eq!(read::<FindingKind>("from-the-future").unwrap(), FindingKind::Unknown);
}

#[test]
fn the_names_of_other_variants_never_change() {
    check(Severity::name, &["note", "warning", "invalid"]);
    check(TargetKind::name, &["file", "block", "null", "virtual"]);
    check(
        PurgeMethod::name,
        &[
            "format",
            "discard",
            "secure-erase",
            "sanitize-block",
            "sanitize-crypto",
            "sanitize-overwrite",
        ],
    );
    check(Direction::name, &["read", "write", "flush", "trim"]);
    check(PowerScope::name, &["drive", "host-dc", "host-ac"]);
    check(Access::name, &["sequential", "random"]);
    check(Data::name, &["incompressible", "zeros", "repeated", "half"]);
    check(Engine::name, &["io_uring", "synchronous"]);
}
