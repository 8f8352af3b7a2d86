//! Files of strangers in a collection: what cannot be the result of a run is refused as a file, with its place, and the site
//! has the others.

use crate::commands::site::{bench_with_submission, contents, make_fifo};
use crate::support::{Bench, text};
use serde_json::{Value, json};
use std::path::Path;

/// A key by its JSON pointer, the value that it gets, and what is said of it.
type Change = (&'static str, Value, &'static str);

/// What no run has.
fn changes() -> Vec<Change> {
    let year = 365 * 86_400_000_i64;
    vec![
        (
            "/record/tests/0/headline/value",
            json!(-5.0),
            "`record.tests[0].headline.value`: -5 MB/s is below 0",
        ),
        ("/record/tests/0/headline/value", json!(9e15), "is more than can be measured"),
        (
            "/record/tests/1/headline/value",
            json!(2.0),
            "`record.tests[1].headline.value`: 2 is not within its interval",
        ),
        (
            "/record/tests/0/headline/interval/within-run/low",
            json!(1e6),
            "`record.tests[0].headline.interval.mean`",
        ),
        (
            "/record/tests/0/headline/interval/within-run/low",
            json!(-9e15),
            "interval.low`: -9000000000000000 MB/s is beyond what is measured",
        ),
        (
            "/record/tests/0/headline/n",
            json!(0),
            "`record.tests[0].headline.n`: 0 seconds have no interval",
        ),
        ("/record/tests/0/headline/n", json!(-1), "this is not what a submission has"),
        ("/record/tests/0/headline/metric", json!("speed"), "unknown variant `speed`"),
        ("/record/tests/0/headline/value", json!("fast"), "line 1, column "),
        ("/record/tests/0/headline/unit", json!("MB/s"), "unknown field `unit`"),
        ("/record/tests/0/purpose", json!("fun"), "`record.tests[0].purpose`"),
        ("/record/tests/0/title", json!("\u{1b}[31mred"), "`record.tests[0].title`"),
        ("/record/tests/0/title", json!("x".repeat(2_001)), "`record.tests[0].title`"),
        ("/record/tests/0/load", json!("right\u{202e}left"), "`record.tests[0].load`"),
        ("/record/tests/1/id", json!("sequential-read"), "is the id of an earlier test too"),
        ("/record/tests/0/revision", json!(3), "it is the comparison key of another test"),
        ("/record/tests/0/key", json!("anything"), "it is not the comparison key of a test"),
        (
            "/record/tests/0/settings",
            json!("full length, measured drives"),
            "`record.tests[0].settings`",
        ),
        (
            "/record/tests/0/curve/quantity",
            json!("Throughput, furlongs"),
            "`record.tests[0].curve.quantity`",
        ),
        ("/record/tests/0/curve/points/1/1", json!(-1.0), "`record.tests[0].curve.points[1]`"),
        (
            "/record/tests/0/curve/points/1/0",
            json!(0.0),
            "is not a place after the point before it",
        ),
        ("/record/tests/0/meters", json!(["ttyUSB0 at desk"]), "it is not a keyed hash"),
        (
            "/record/tests/0/doubts",
            json!(["noise"]),
            "`record.grade`: it is A, and 1 results are in doubt",
        ),
        ("/record/drive/capacity", json!(0), "`record.drive.capacity`"),
        ("/record/drive/capacity", json!(u64::MAX), "`record.drive.capacity`"),
        ("/record/drive/name", json!("Best SSD"), "it lacks MODEL"),
        ("/record/drive/name", json!(" "), "`record.drive.name`"),
        ("/record/firmware", json!("1.0\u{7}"), "`record.firmware`"),
        ("/record/started_unix_ms", json!(0), "is before the year 2000"),
        (
            "/record/started_unix_ms",
            json!(200 * year),
            "is in the future, by the clock of this machine",
        ),
        ("/record/grade", json!("A+"), "it is none of A, B, C and D"),
        ("/record/grade", json!("D"), "a run with the grade D is not published"),
        ("/record/grade", json!(null), "a run with the grade none is not published"),
        ("/record/marks", json!([]), "MODEL is missing"),
        ("/record/marks", json!(["MODEL", "SHORTENED to 1/10"]), "does not have SHORTENED to 1/10"),
        ("/record/marks", json!(["MODEL", "FAILED"]), "a run marked FAILED is not published"),
        (
            "/record/marks",
            json!(["MODEL", "IMPORTED from fio-3.33"]),
            "a run marked IMPORTED from fio-3.33",
        ),
        ("/record/id", json!("../../etc"), "`record.id`"),
        ("/record/suite", json!(""), "`record.suite`"),
        ("/record/tests", json!([]), "there are 0 tests"),
        ("/unit", json!("S3RIAL"), "`unit`"),
        ("/label", json!("a\nb"), "`label`"),
        ("/ssdgauge-run", json!(7), "it has version 7, and this program reads 1"),
    ]
}

#[test]
fn a_submission_with_a_value_that_no_run_has_is_refused_with_its_place() {
    let (bench, path, sent) = bench_with_submission();
    let folder = path.parent().unwrap();
    let changes = changes();
    for (number, (pointer, value, _)) in changes.iter().enumerate() {
        let mut document: Value = serde_json::from_str(&sent).unwrap();
        match document.pointer_mut(pointer) {
            Some(place) => *place = value.clone(),
            None => {
                let (object, key) = pointer.rsplit_once('/').unwrap();
                document.pointer_mut(object).unwrap()[key] = value.clone();
            }
        }
        // Every file has a run of its own, so that none is a copy of another.
        if *pointer != "/record/id" {
            document["record"]["id"] = json!(format!("20260101-000000-{number:08x}"));
        }
        std::fs::write(folder.join(format!("c{number:02}.ssdgauge.json")), document.to_string())
            .unwrap();
    }
    let raw: [(&str, Vec<u8>, &str); 5] = [
        ("empty", Vec::new(), "line 1, column 0"),
        ("half", sent.as_bytes()[..sent.len() / 2].to_vec(), "line 1, column "),
        ("latin", b"{\"ssdgauge-run\":1,\"\xff".to_vec(), "it is not a text in UTF-8"),
        ("long", vec![b' '; (1 << 20) + 1], "it is longer than 1 MiB"),
        (
            "nan",
            sent.replacen("\"value\":", "\"value\":1e999,\"x\":", 1).into_bytes(),
            "line 1, column ",
        ),
    ];
    for (name, bytes, _) in &raw {
        std::fs::write(folder.join(format!("{name}.ssdgauge.json")), bytes).unwrap();
    }
    let output = bench.call(&["site", "sent", "-o", "site"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let refused = |name: &str, words: &str| {
        let line =
            said.lines().find(|line| line.contains(&format!("/{name}.ssdgauge.json: refused: ")));
        let line = line.unwrap_or_else(|| panic!("{name} is believed: {words}\n{said}"));
        assert!(line.contains(words), "{words}: {line}");
    };
    for (number, (_, _, words)) in changes.iter().enumerate() {
        refused(&format!("c{number:02}"), words);
    }
    raw.iter().for_each(|(name, _, words)| refused(name, words));
    let count = changes.len() + raw.len();
    assert!(
        said.contains(&format!("{count} of {} files could not be read or were refused", count + 1)),
        "{said}"
    );
    assert!(said.contains("hint: ") && said.contains("ssdgauge submit"), "{said}");
    assert!(said.contains("1 drive, 1 run: "), "the site has the one that is right: {said}");
}

#[test]
fn a_submission_contradicts_its_run_by_any_value() {
    let (bench, path, sent) = bench_with_submission();
    let changes: [(&str, Value); 8] = [
        ("/record/tests/3/headline/interval/within-run/high", json!(400_000.0)),
        ("/record/tests/3/curve/points/2/1", json!(345_217.5)),
        ("/record/tests/1/headline/n", json!(11)),
        ("/record/tests/0/title", json!("Sequential read, faster")),
        ("/record/tests/0/doubts", json!(["state of the cache unknown"])),
        ("/record/started_unix_ms", json!(1_000_000_000_000_i64)),
        ("/record/drive/flash", json!("SLC")),
        ("/record/program", json!("ssdgauge 9")),
    ];
    for (pointer, value) in changes {
        let mut document: Value = serde_json::from_str(&sent).unwrap();
        *document.pointer_mut(pointer).unwrap() = value;
        if pointer.ends_with("doubts") {
            document["record"]["grade"] = json!("B");
        }
        std::fs::write(&path, document.to_string()).unwrap();
        let output = bench.call(&["site", "sent", "a.ssdg", "-o", "site"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{pointer}: {said}");
        assert!(
            said.contains("refused: the samples of its run contradict it: `record."),
            "{pointer}: {said}"
        );
        assert!(said.contains(" by the samples"), "{said}");
    }
    // One that leaves a test out hides a result.
    let mut document: Value = serde_json::from_str(&sent).unwrap();
    document["record"]["tests"].as_array_mut().unwrap().pop();
    std::fs::write(&path, document.to_string()).unwrap();
    let output = bench.call(&["site", "sent", "a.ssdg", "-o", "site"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    std::fs::write(&path, &sent).unwrap();
    assert_eq!(bench.call(&["site", "sent", "a.ssdg", "-o", "site"]).status.code(), Some(0));
}

/// Writes the submission of a measured drive with the run `id` and the value `value`.
fn measured(place: &Path, sent: &str, id: &str, value: f64) {
    let sent = sent
        .replace("; MODEL; model revision ", "; measured; X")
        .replace(", models, model revision ", ", measured drives, X");
    // What remains of the revision of the model.
    let parts: Vec<&str> = sent.split('X').collect();
    let sent = parts[1..].iter().fold(parts[0].to_owned(), |all, part| {
        let rest = part.trim_start_matches(|one: char| one.is_ascii_digit());
        all.trim_end_matches(", ").trim_end_matches("; ").to_owned() + rest
    });
    let mut document: Value = serde_json::from_str(&sent).unwrap();
    document["record"]["marks"] = json!([]);
    document["record"]["id"] = json!(id);
    document["record"]["tests"][2]["headline"]["value"] = json!(value);
    std::fs::write(place, document.to_string()).unwrap();
}

#[test]
fn of_submissions_that_contradict_each_other_none_is_believed_and_the_others_are() {
    let (bench, path, sent) = bench_with_submission();
    let site = || {
        let output = bench.call(&["site", "sent", "-o", "site"]);
        (output.status.code(), text(&output.stderr))
    };
    let file = |name: &str| path.with_file_name(format!("{name}.ssdgauge.json"));
    std::fs::write(file("other"), &sent).unwrap();
    let (code, said) = site();
    assert_eq!(code, Some(0), "a copy says the same: {said}");
    assert!(said.contains("1 drive, 1 run"), "{said}");
    measured(&file("m1"), &sent, "m-1", 1_000.0);
    measured(&file("m2"), &sent, "m-2", 1_001.0);
    let (code, said) = site();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("3 runs"), "{said}");
    // The same run with another value, and the same values with another run.
    measured(&file("m3"), &sent, "m-1", 1_002.0);
    measured(&file("m4"), &sent, "m-4", 1_001.0);
    let (code, said) = site();
    assert_eq!(code, Some(1), "{said}");
    for (one, other, why) in [
        ("m1", "m3", "has the same run id and differs"),
        ("m3", "m1", "has the same run id and differs"),
        ("m2", "m4", "has another run id and the same numbers"),
        ("m4", "m2", "has another run id and the same numbers"),
    ] {
        let line =
            said.lines().find(|line| line.contains(&format!("/{one}.ssdgauge.json: refused: ")));
        let line = line.unwrap_or_else(|| panic!("{one}: {said}"));
        assert!(
            line.contains(&format!("/{other}.ssdgauge.json {why}"))
                && line.ends_with(": nothing tells which is right"),
            "{line}"
        );
    }
    assert!(said.contains("1 drive, 1 run"), "{said}");
}

#[test]
fn a_fifo_in_a_collection_is_not_waited_for() {
    let (bench, path, _) = bench_with_submission();
    make_fifo(&path.with_file_name("other.ssdgauge.json"));
    let output = bench.call(&["site", "sent", "-o", "site"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("refused: it is not a regular file"), "{said}");
    assert!(bench.path("site/index.html").exists(), "the site has the others");
}

#[test]
fn a_site_of_nothing_but_refused_files_leaves_the_old_one() {
    let (bench, path, sent) = bench_with_submission();
    let site = |bench: &Bench| bench.call(&["site", "sent", "-o", "site"]);
    assert_eq!(site(&bench).status.code(), Some(0));
    let before = contents(&bench.path("site"));
    std::fs::write(&path, &sent[1..]).unwrap();
    let output = site(&bench);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("nothing was written"), "{}", text(&output.stderr));
    assert_eq!(contents(&bench.path("site")), before);
}

#[test]
fn a_source_that_vanishes_leaves_the_old_site_and_is_named() {
    let (bench, path, _) = bench_with_submission();
    std::fs::create_dir(bench.path("more")).unwrap();
    std::fs::copy(bench.path("a.ssdg"), bench.path("more/a.ssdg")).unwrap();
    let site = || {
        let output = bench.call(&["site", "sent", "more", "-o", "site"]);
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(site().0, Some(0));
    let before = contents(&bench.path("site"));
    let unchanged = |words: &str| {
        let (code, said) = site();
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(words) && said.contains("site is as it was"), "{said}");
        assert_eq!(contents(&bench.path("site")), before);
    };
    // As where a file system is not mounted.
    std::fs::remove_file(&path).unwrap();
    unchanged("none of the 1 run that sent had is there");
    std::fs::remove_dir_all(bench.path("sent")).unwrap();
    unchanged("sent does not exist");
    let without = bench.call(&["site", "more", "-o", "site"]);
    assert_eq!(without.status.code(), Some(0), "{}", text(&without.stderr));
}
