//! `ssdgauge site`: what it writes again, what it leaves alone, and what it refuses.

use crate::support::{Bench, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Runs of three virtual drives, shortened.
fn bench() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("runs")).unwrap();
    for (name, drive) in
        [("a", "sim:tiny"), ("b", "sim:tiny?capacity=128MB"), ("c", "sim:tiny?capacity=160MB")]
    {
        bench.print(&["quick", drive, "--shorten", "10", "-o", &format!("runs/{name}.ssdg")]);
    }
    bench
}

/// Returns the files below `folder` with their contents.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(one) = open.pop() {
        for entry in std::fs::read_dir(one).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    found.insert(
                        path.strip_prefix(folder).unwrap().to_owned(),
                        std::fs::read(&path).unwrap(),
                    );
                }
            }
        }
    }
    found
}

#[test]
fn a_site_is_renewed_where_its_runs_changed_and_equals_one_from_nothing() {
    let bench = bench();
    let site = |folder: &str| {
        let output = bench.call(&["site", "runs", "-o", folder]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    assert!(site("one").contains("3 drives, 3 runs: "));
    assert!(site("one").contains(": 0 files and 0 reports written"), "nothing has changed");
    // A further run of one drive, and one drive less.
    bench.print(&["quick", "sim:tiny", "--shorten", "10", "--seed", "7", "-o", "runs/d.ssdg"]);
    std::fs::remove_file(bench.path("runs/c.ssdg")).unwrap();
    assert!(site("one").contains("2 drives, 3 runs: "));
    assert!(site("two").contains(" 2 reports written"));
    let (one, two) = (contents(&bench.path("one")), contents(&bench.path("two")));
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    let differing: Vec<&PathBuf> =
        one.iter().filter(|(name, bytes)| two[*name] != **bytes).map(|(name, _)| name).collect();
    assert_eq!(differing, Vec::<&PathBuf>::new());
    // A copy of a run counts once.
    std::fs::copy(bench.path("runs/a.ssdg"), bench.path("runs/z.ssdg")).unwrap();
    assert!(site("one").contains("2 drives, 3 runs: 0 files"));

    // Each document has the keys of its schema and no others.
    let schema: Value = serde_json::from_slice(&one[Path::new("schema.json")]).unwrap();
    let documents: Vec<&PathBuf> = one
        .keys()
        .filter(|name| {
            name.starts_with("drives") && name.extension().is_some_and(|kind| kind == "json")
        })
        .collect();
    assert_eq!(documents.len(), 2);
    for name in documents {
        let document: Value = serde_json::from_slice(&one[name]).unwrap();
        check(&schema, &document);
        assert!(document["results"].as_array().unwrap().len() >= 4, "{document}");
    }
    let feed = String::from_utf8(one[Path::new("feed.xml")].clone()).unwrap();
    assert_eq!(feed.matches("<entry>").count(), 3, "{feed}");
    assert!(feed.contains("MODEL, SHORTENED to 1/10"), "{feed}");
}

/// Checks keys and types of `value` by `schema`, as far as ours uses JSON Schema.
fn check(schema: &Value, value: &Value) {
    let is_of = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    match &schema["type"] {
        Value::String(kind) => assert!(is_of(kind), "{value} is not {kind}"),
        Value::Array(kinds) => {
            assert!(kinds.iter().any(|kind| is_of(kind.as_str().unwrap())), "{value}")
        }
        _ => assert_eq!(&schema["const"], value),
    }
    if let (Some(properties), Some(object)) = (schema["properties"].as_object(), value.as_object())
    {
        let required: Vec<&str> = schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| key.as_str().unwrap())
            .collect();
        let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
        let mut named = required.clone();
        keys.sort_unstable();
        named.sort_unstable();
        assert_eq!(keys, named);
        object.iter().for_each(|(key, value)| check(&properties[key], value));
    }
    if let (true, Some(values)) = (schema["items"].is_object(), value.as_array()) {
        values.iter().for_each(|value| check(&schema["items"], value));
    }
}

#[test]
fn a_site_replaces_no_file_of_others_and_states_runs_that_it_cannot_read() {
    let bench = bench();
    std::fs::create_dir(bench.path("own")).unwrap();
    std::fs::write(bench.path("own/index.html"), "<p>mine").unwrap();
    let output = bench.call(&["site", "runs", "-o", "own"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(std::fs::read(bench.path("own/index.html")).unwrap(), b"<p>mine");
    std::fs::write(bench.path("runs/broken.ssdg"), "no run").unwrap();
    let output = bench.call(&["site", "runs", "-o", "site"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("1 of 4 run files could not be read"));
    assert!(bench.path("site/index.html").exists(), "the site has the others");
    std::fs::write(bench.path("site/drives/notes.txt"), "mine").unwrap();
    bench.call(&["site", "runs/a.ssdg", "-o", "site"]);
    assert!(bench.path("site/drives/notes.txt").exists());
    assert_eq!(std::fs::read_dir(bench.path("site/drives")).unwrap().count(), 1 + 3);
}
