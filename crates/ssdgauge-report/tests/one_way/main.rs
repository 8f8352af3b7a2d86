//! Imports of this crate run one way: from the pages down to the types.

mod imports;

use imports::{Allowed, violations};
use std::path::Path;

/// The rooms of this crate from the ground up, each with the rooms that it may import.
///
/// `analysis` draws nothing, so it knows no `figure`; `figure`, `page` and `output` compute
/// nothing, so no number is made above `analysis`; `load` alone reads a file.
const ALLOWED: [Allowed<'_>; 7] = [
    ("text", &[]),
    ("model", &[]),
    ("load", &["model", "text"]),
    ("analysis", &["model", "text"]),
    ("figure", &["analysis", "model", "text"]),
    ("page", &["analysis", "figure", "model", "text"]),
    ("output", &["analysis", "figure", "model", "text"]),
];

#[test]
fn every_import_runs_down_and_no_files_form_a_circle() {
    let found = violations(Path::new(env!("CARGO_MANIFEST_DIR")), &ALLOWED);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Returns what is found in a crate of the rooms `high` and `low` with these files.
fn check(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder for the made-up crate");
    for (name, text) in files {
        let path = folder.path().join("src").join(name);
        std::fs::create_dir_all(path.parent().expect("below src")).expect("a writable folder");
        std::fs::write(path, text).expect("a writable file");
    }
    violations(folder.path(), &[("high", &["low"]), ("low", &[])])
}

#[test]
fn an_import_against_the_table_is_found_in_every_form() {
    let cases = [
        ("use crate::low::Type;", "fn f() {}", &[][..]),
        ("", "use crate::high::Type;", &["low imports high"][..]),
        ("", "use crate::{high::{self, Type}};", &["low imports high"][..]),
        ("", "fn f() { crate::high::f() }", &["low imports high"][..]),
        ("", "use super::high;", &["low imports high"][..]),
        ("", "use crate::Type;", &["low imports the root of the crate"][..]),
        ("", "// crate::high\n/// See [`crate::high`].", &[][..]),
        ("", "#[cfg(test)]\nmod tests {\n    use crate::high;\n}", &[][..]),
    ];
    for (high, low, expected) in cases {
        let files = [("lib.rs", "mod high;\nmod low;"), ("high.rs", high), ("low.rs", low)];
        assert_eq!(check(&files), expected, "{high} {low}");
    }
}

#[test]
fn a_circle_of_files_is_found_within_a_room_and_between_parent_and_child() {
    let cases = [
        ([("high/a.rs", "use super::b::B;"), ("high/b.rs", "use crate::high::a::A;")], true),
        ([("high/a.rs", "use crate::high::High;"), ("high/b.rs", "")], true),
        ([("high/a.rs", "use super::b::B;"), ("high/b.rs", "")], false),
    ];
    for ([a, b], is_circle) in cases {
        let high = ("high.rs", "mod a;\nmod b;\nfn f() { a::f(); b::f() }");
        let found = check(&[("lib.rs", "mod high;\nmod low;"), high, ("low.rs", ""), a, b]);
        let is_found = found.iter().any(|line| line.starts_with("a circle of files: "));
        assert_eq!((is_found, found.len()), (is_circle, usize::from(is_circle)), "{a:?} {found:?}");
    }
}

#[test]
fn the_table_and_the_rooms_must_agree() {
    let found = check(&[("lib.rs", "mod high;\nmod other;"), ("high.rs", ""), ("other.rs", "")]);
    assert_eq!(
        found,
        [
            "the table names the room low, which does not exist",
            "the room other is not in the table"
        ]
    );
}
