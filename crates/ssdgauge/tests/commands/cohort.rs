//! The bands of a quick run, and the cohort that the program contains.

use crate::support::{Bench, text};
use serde_json::Value;
use ssdgauge_analysis::Cohort;
use ssdgauge_analysis::drives::model_cohort::ModelCohort;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Returns the virtual drives of the cohort, in their full capacity: every profile but the one for tests.
fn drives() -> Vec<&'static str> {
    let profiles = ssdgauge_sim::profiles().into_iter().chain(ssdgauge_sim::reviewed_profiles());
    profiles.map(|profile| profile.name).filter(|name| *name != "tiny").collect()
}

/// Drives of three classes, which are computed each time.
const CHECKED: [&str; 3] = ["tlc-client", "like-860-dct", "like-p4800x"];

fn data_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join("ssdgauge-analysis/cohort/quick.toml")
}

/// Runs `quick` on the virtual drives, and returns the cohort of them.
fn cohort(bench: &Bench, drives: &[&str]) -> Cohort {
    let queue = Mutex::new(drives.iter());
    let next = || queue.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(drive) = next() {
                    let file = format!("{drive}.ssdg");
                    bench.print(&["quick", &format!("sim:{drive}"), "--out", &file]);
                }
            });
        }
    });
    let files: Vec<PathBuf> =
        drives.iter().map(|drive| bench.path(&format!("{drive}.ssdg"))).collect();
    Cohort::from_runs(&ssdgauge_analysis::read_all(&files).unwrap()).unwrap()
}

/// Returns the tables of the runs in the text of a cohort.
fn tables(text: &str) -> Vec<String> {
    text.split("[[run]]").skip(1).map(|table| table.trim().to_owned()).collect()
}

/// Returns a line with the checksum of the profiles.
fn profiles_line() -> String {
    format!("# The profiles have the checksum {}.\n", checksum())
}

/// Returns the checksum (FNV-1a) of the profiles, without comments and without their descriptions, which change no
/// result.
fn checksum() -> String {
    let profiles = ssdgauge_sim::profiles().into_iter().chain(ssdgauge_sim::reviewed_profiles());
    let lines = profiles.flat_map(|profile| profile.text.lines());
    let lines = lines.filter(|line| !line.starts_with("description = "));
    let figures = lines.map(|line| line.split('#').next().unwrap_or_default().trim_end());
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let sum = figures.flat_map(str::bytes).fold(0xcbf2_9ce4_8422_2325, step);
    format!("{sum:016x}")
}

#[test]
#[ignore = "second tier"]
fn the_cohort_of_the_program_is_what_its_virtual_drives_measure() {
    let bench = Bench::new();
    if std::env::var("SNAPSHOTS").is_ok_and(|mode| mode == "overwrite") {
        let head = format!(
            "# The figures of virtual drives in the suite quick, for the bands of a quick run.\n\
             # Written by `SNAPSHOTS=overwrite cargo test -p ssdgauge --test it cohort`.\n\
             {}\n",
            profiles_line()
        );
        std::fs::write(data_file(), format!("{head}{}", cohort(&bench, &drives()).text())).unwrap();
        return;
    }
    let file = std::fs::read_to_string(data_file()).unwrap();
    let shipped = tables(&file);
    assert_eq!(shipped.len(), drives().len());
    let revision = format!("model_revision = {}\n", ssdgauge_sim::MODEL_REVISION);
    assert!(file.contains(&revision), "the model was changed: compute the cohort again");
    assert!(file.contains(&profiles_line()), "a profile was changed: compute the cohort again");
    for (drive, table) in drives().iter().zip(&shipped) {
        assert!(table.contains(&format!("drive = \"sim:{drive}\"")), "{drive}: {table}");
    }
    for table in tables(&cohort(&bench, &CHECKED).text()) {
        assert!(shipped.contains(&table), "the cohort differs, compute it again:\n{table}");
    }
}

#[test]
#[ignore = "second tier"]
fn a_quick_run_lies_within_below_or_above_the_band_of_its_class() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tlc-client", "--out", "a.ssdg"]);
    let json: Value = serde_json::from_str(&bench.print(&["report", "a.ssdg", "--json"])).unwrap();
    let bands = &json["runs"][0]["quick_bands"];
    assert_eq!((&bands["class"], &bands["model"]), (&"nvme-client".into(), &true.into()));
    assert_eq!(bands["bands"].as_array().unwrap().len(), 13);
    let page = std::fs::read_to_string(bench.path("a.html")).unwrap();
    assert!(page.contains("within the MODEL band of its class") && page.contains("class=\"band\""));
    let body = page.split("</style>").nth(1).unwrap();
    assert!(!body.to_lowercase().contains("normal"), "a model is no norm");

    // A folder replaces the cohort; the run itself does not count, and another size is not a match.
    std::fs::create_dir(bench.path("runs")).unwrap();
    for (number, drive) in ["mlc-client", "like-pm981", "like-960-evo"].iter().enumerate() {
        let file = format!("runs/{number}.ssdg");
        bench.print(&["quick", &format!("sim:{drive}"), "--out", &file]);
    }
    let with = |file: &str| {
        let text = bench.print(&["report", file, "--cohort", "runs", "--json"]);
        serde_json::from_str::<Value>(&text).unwrap()["runs"][0]["quick_bands"].clone()
    };
    assert_eq!(with("a.ssdg")["cohort_drives"], 3);
    bench.print(&["quick", "sim:tlc-client", "--size", "1GiB", "--out", "small.ssdg"]);
    let small = with("small.ssdg");
    assert!(small["bands"].is_null() && small["reason"].as_str().unwrap().contains("size"));
}

#[test]
fn a_shortened_run_and_a_class_of_two_drives_have_no_band_and_the_reason_is_stated() {
    let bench = Bench::new();
    let reason = |file: &str, words: &str| {
        let json: Value = serde_json::from_str(&bench.print(&["report", file, "--json"])).unwrap();
        let bands = &json["runs"][0]["quick_bands"];
        assert!(bands["bands"].is_null(), "{bands}");
        assert!(bands["reason"].as_str().unwrap().contains(words), "{bands}");
        let page = std::fs::read_to_string(bench.path(file).with_extension("html")).unwrap();
        assert!(
            page.contains("as fast as its class is unknown") && page.contains(words),
            "{words}"
        );
        assert!(!page.contains("of its class"), "{words}");
    };
    bench.print(&["quick", "sim:tlc-client", "--shorten", "10", "--out", "short.ssdg"]);
    reason("short.ssdg", "shortened");
    bench.print(&["quick", "sim:qlc-client", "--out", "qlc.ssdg"]);
    reason("qlc.ssdg", "a band needs 3");
}

#[test]
fn a_folder_without_runs_of_other_drives_and_several_runs_are_usage_errors() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "10", "--out", "a.ssdg"]);
    let fails = |arguments: &[&str], words: &str| {
        let output = bench.call(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    };
    std::fs::create_dir(bench.path("empty")).unwrap();
    fails(&["report", "a.ssdg", "--cohort", "empty", "--json"], "no run file is in the folder");
    fails(&["report", "a.ssdg", "--cohort", "missing", "--json"], "cannot read the folder");
    // The only run is shortened.
    fails(&["report", "a.ssdg", "--cohort", ".", "--json"], "no finished run of the suite quick");
    let other = ["run", "fill-ladder", "sim:tiny", "--shorten", "1000", "--scale-spans"];
    bench.print(&[&other[..], &["--out", "b.ssdg"]].concat());
    fails(
        &["report", "b.ssdg", "--cohort", ".", "-o", "c.html"],
        "no complete run of another drive",
    );
    bench.print(&[&other[..], &["--out", "c.ssdg"]].concat());
    fails(&["report", "b.ssdg", "c.ssdg", "--cohort", "."], "several runs are given");
}

#[test]
fn the_virtual_drives_of_the_cohort_are_of_this_revision_of_the_model_and_small() {
    let shipped = ModelCohort::shipped();
    let remedy = "write them again: cargo run --release -p ssdgauge-tools -- model_cohort";
    assert_eq!(shipped.model_revision, ssdgauge_sim::MODEL_REVISION, "{remedy}");
    assert_eq!(shipped.profiles, checksum(), "a profile was changed; {remedy}");
    // That of all suites, the quick ones included.
    let quick = include_str!("../../../ssdgauge-analysis/cohort/quick.toml");
    let bytes = shipped.text().len() + quick.len();
    assert!(bytes <= 300_000, "{bytes} bytes");
}
