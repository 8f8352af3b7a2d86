//! The modules of the crates import each other in one direction only.
//!
//! The compiler enforces the edges between crates. Inside a crate it permits circles and imports
//! from any module into any other; this test compares the sources with the tables below.

// A test ends at the first failure.
#![allow(clippy::unwrap_used)]

mod dependencies;
mod documents;
mod imports;
mod plain_words;
mod promises;
mod release;
mod requests;
mod tiers;
mod writers;

use imports::Sources;
use std::path::{Path, PathBuf};

/// Each module at the root of `ssdgauge-host`, and the modules that it may import.
const HOST: &[(&str, &[&str])] = &[
    ("capabilities", &[]),
    ("environment", &[]),
    ("paths", &[]),
    ("system_calls", &[]),
    ("settings", &[]),
    ("monitor", &[]),
    ("checks", &["monitor"]),
    ("preparation", &[]),
    ("helper", &["capabilities", "paths", "settings", "system_calls"]),
    ("privileges", &["helper", "paths", "system_calls"]),
    ("reader", &[]),
    ("rig", &["capabilities", "monitor", "preparation", "privileges", "settings"]),
];

/// The same of `ssdgauge-guard`.
const GUARD: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("refusal", &[]),
    ("lease", &[]),
    ("signatures", &["text"]),
    ("identity", &["refusal", "text"]),
    ("uses", &["text"]),
    ("look_place", &[]),
    ("place", &["identity", "look_place", "refusal", "text"]),
    ("access", &["identity", "refusal", "signatures", "text"]),
    ("command_node", &["identity", "refusal", "text"]),
    ("scratch", &["place"]),
    (
        "look",
        &[
            "access",
            "identity",
            "look_place",
            "place",
            "refusal",
            "scratch",
            "signatures",
            "text",
            "uses",
        ],
    ),
    ("options", &[]),
    (
        "admission",
        &[
            "access",
            "command_node",
            "identity",
            "lease",
            "look",
            "look_place",
            "options",
            "refusal",
            "signatures",
            "text",
            "uses",
        ],
    ),
    (
        "objections",
        &["admission", "identity", "look", "look_place", "options", "refusal", "text", "uses"],
    ),
    ("origin", &["options", "place"]),
    (
        "target",
        &["admission", "look", "look_place", "objections", "options", "origin", "place", "refusal"],
    ),
    ("write_budget", &["admission", "signatures", "target"]),
    ("survey", &["look", "look_place", "objections", "options", "place", "refusal"]),
];

/// The same of `ssdgauge-analysis`: `load` alone reads a file, and the rooms of results are in one line.
const ANALYSIS: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("model", &[]),
    ("load", &["model", "text"]),
    ("steps", &["model", "text"]),
    ("findings", &["model", "steps", "text"]),
    ("groups", &["findings", "model", "steps", "text"]),
    ("headlines", &["groups", "model", "steps", "text"]),
    ("comparison", &["findings", "groups", "model", "text"]),
    ("drives", &["comparison", "findings", "groups", "model", "steps", "text"]),
    ("quick", &["drives", "findings", "groups", "model", "steps", "text"]),
    ("inputs", &["drives", "model", "quick", "text"]),
    (
        "answers",
        &[
            "comparison",
            "drives",
            "findings",
            "groups",
            "inputs",
            "model",
            "quick",
            "steps",
            "text",
        ],
    ),
    (
        "bench",
        &[
            "answers",
            "comparison",
            "drives",
            "findings",
            "groups",
            "headlines",
            "inputs",
            "model",
            "text",
        ],
    ),
    ("reading", &["headlines", "load", "model", "steps"]),
];

/// The same of `ssdgauge-page`.
const PAGE: &[(&str, &[&str])] =
    &[("chart", &[]), ("page", &["chart"]), ("pictures", &["chart", "page"])];

/// The crates whose files form no circle.
const CRATES: [&str; 23] = [
    "ssdgauge-statistics",
    "ssdgauge-core",
    "ssdgauge-os",
    "ssdgauge-drive",
    "ssdgauge-engine",
    "ssdgauge-meter",
    "ssdgauge-guard",
    "ssdgauge-host",
    "ssdgauge-runfile",
    "ssdgauge-lab",
    "ssdgauge-xray",
    "ssdgauge-sim",
    "ssdgauge-analysis",
    "ssdgauge-page",
    "ssdgauge-export",
    "ssdgauge-nbd",
    "ssdgauge-fio",
    "ssdgauge-fleet",
    "ssdgauge-claims",
    "ssdgauge-twin",
    "ssdgauge-trace",
    "ssdgauge-watch",
    "ssdgauge",
];

/// The circles that are permitted, each by its crate, one of its files, and the reason.
const EXCEPTIONS: [(&str, &str, &str); 2] = [
    ("ssdgauge-lab", "conductor.rs", "its parts share the state of the run"),
    ("ssdgauge-lab", "planner.rs", "its binder resolves references into the plan"),
];

fn source_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(name).join("src")
}

#[test]
fn modules_import_only_what_the_table_allows() {
    for (name, allowed) in [
        ("ssdgauge-host", HOST),
        ("ssdgauge-guard", GUARD),
        ("ssdgauge-analysis", ANALYSIS),
        ("ssdgauge-page", PAGE),
    ] {
        let violations = Sources::read(&source_of(name)).violations(allowed);
        assert!(violations.is_empty(), "{name}: {violations:#?}");
    }
}

#[test]
fn the_files_of_a_crate_form_no_circle_but_the_permitted_ones() {
    let mut unused = EXCEPTIONS.to_vec();
    for name in CRATES {
        let mut circles = Sources::read(&source_of(name)).circles();
        circles.retain(|circle| {
            let permits = |(owner, file, _): &(&str, &str, &str)| {
                *owner == name && circle.iter().any(|member| member == file)
            };
            unused.retain(|exception| !permits(exception));
            !EXCEPTIONS.iter().any(permits)
        });
        assert!(circles.is_empty(), "{name}: {circles:#?}");
    }
    assert!(unused.is_empty(), "no such circle any more, remove the exception: {unused:#?}");
}

#[test]
fn the_rooms_of_a_crate_stand_in_floors() {
    for name in CRATES {
        let circles = Sources::read(&source_of(name)).circles_of_rooms();
        assert!(circles.is_empty(), "{name}: {circles:#?}");
    }
}

#[test]
fn an_import_that_leads_up_to_another_room_is_found() {
    // No file is in a circle, but each of the two rooms imports from the other.
    let files = [
        ("lib.rs", "mod rig;\nmod text;\n"),
        ("rig.rs", "mod name;\nuse crate::text;\n"),
        ("rig/name.rs", "pub(crate) struct Name;\n"),
        ("text.rs", "pub(crate) mod words;\n"),
        ("text/words.rs", "use crate::rig::name::Name;\n"),
    ];
    let sources = Sources::from_texts(files);
    assert!(sources.circles().is_empty());
    assert_eq!(sources.circles_of_rooms(), [["rig", "text"]]);
    // The same between two rooms of one module.
    let files = [
        ("lib.rs", "mod top;\n"),
        ("top.rs", "mod left;\nmod right;\n"),
        ("top/left.rs", "use crate::top::right::Right;\npub(crate) mod low;\n"),
        ("top/left/low.rs", "pub(crate) struct Low;\n"),
        ("top/right.rs", "use crate::top::left::low::Low;\npub(crate) struct Right;\n"),
    ];
    assert_eq!(Sources::from_texts(files).circles_of_rooms(), [["top/left", "top/right"]]);
}

/// A crate of four files: `rig` imports `guard` and `text`, and `guard` imports `text`.
const CLEAN: [(&str, &str); 4] = [
    ("lib.rs", "mod guard;\nmod rig;\nmod text;\npub use rig::Rig;\n"),
    ("rig.rs", "use crate::guard::{self, Lease};\nuse crate::text::shown as text;\nstruct Rig;"),
    ("guard.rs", "mod lease;\npub(crate) use lease::Lease;\n// use crate::rig::Rig;\n"),
    ("guard/lease.rs", "use crate::text;\npub(crate) struct Lease(&'static str);\n"),
];
const TEXT: (&str, &str) = ("text.rs", "fn shown() -> char { '\"' } // \"use crate::rig::Rig;\"");
const TABLE: &[(&str, &[&str])] =
    &[("rig", &["guard", "text"]), ("guard", &["text"]), ("text", &[])];

/// Checks the files of `CLEAN`, with `file` in the place of the one of the same name.
fn check(file: (&str, &str), violations: &[&str], circles: &[&[&str]]) {
    let others = CLEAN.into_iter().chain([TEXT]).filter(|(name, _)| *name != file.0);
    let sources = Sources::from_texts(others.chain([file]));
    assert_eq!(sources.violations(TABLE), violations, "{}", file.1);
    assert_eq!(sources.circles(), circles, "{}", file.1);
}

#[test]
fn an_import_against_the_table_and_a_circle_are_found() {
    check(TEXT, &[], &[]);
    let circle: &[&str] = &["guard/lease.rs", "rig.rs"];
    for text in [
        "use crate::{rig::Rig, text};\n",
        "use crate::text;\nfn f() { let _ = super::super::rig::Rig; }\n",
        "use crate::text;\nfn f(_: crate::Rig) {}\n",
        "use crate::text;\nuse crate::rig;\nfn f(_: rig::Rig) {}\n",
    ] {
        check(("guard/lease.rs", text), &["guard/lease.rs imports rig.rs"], &[circle]);
    }
    check(
        ("text.rs", "use crate::guard::Lease;\n"),
        &["text.rs imports guard/lease.rs"],
        &[&["guard/lease.rs", "text.rs"]],
    );
    // A module of the same room, against no table, but in a circle with its parent.
    check(
        ("guard.rs", "mod lease;\nuse lease::Lease;\nuse crate::text;\npub(crate) struct Lock;\n"),
        &[],
        &[],
    );
    check(("rig.rs", "use crate::guard;\nstruct Rig;\n"), &["rig -> text is not used"], &[]);
    // Unit tests may import anything.
    let test = "#[cfg(test)]\nmod tests {\n    use crate::rig::Rig;\n}\n";
    check(("text.rs", test), &[], &[]);
}
