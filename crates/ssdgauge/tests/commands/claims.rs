//! `ssdgauge claims`: what it lists, refuses, runs, uses again and compares with a list.

use crate::support::{Bench, text, unfolded};

/// The states that claims have.
const GATE: &str = include_str!("../../../ssdgauge-claims/claims/gate.txt");

/// Calls the program, which must end with `code`, and returns its stderr.
fn refused(bench: &Bench, arguments: &[&str], code: i32) -> String {
    let output = bench.call(arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
    message
}

#[test]
fn claims_are_listed_and_unknown_ones_refused_without_a_run() {
    let bench = Bench::new();
    let list = bench.print(&["claims", "--list"]);
    assert_eq!(list.lines().filter(|line| line.starts_with("  S")).count(), 77, "{list}");
    let list = unfolded(&list);
    assert!(list.contains("held out") && list.contains("AnandTech 14541"), "{list}");
    let message = refused(&bench, &["claims", "s2-4"], 2);
    assert!(message.contains("did you mean S2-4?"), "{message}");
    let message = refused(&bench, &["claims", "--markdown", "dc500"], 2);
    assert!(message.contains("kingston-dc500"), "{message}");
    let message = refused(&bench, &["claims", "S3-1", "--gate", "none.txt"], 2);
    assert!(message.contains("none.txt"), "{message}");
    let unjudged = bench.print(&["claims", "S3-3", "--no-runs"]);
    assert!(unfolded(&unjudged).contains("state: not run (no run of random"), "{unjudged}");
    assert!(bench.folder.path().read_dir().unwrap().next().is_none(), "nothing is written");
}

#[test]
#[ignore = "second tier"]
fn a_claim_is_run_once_and_its_run_is_used_again() {
    let bench = Bench::new();
    let json = ["claims", "S3-3", "S3-1", "--runs", "runs", "--json"];
    let first = bench.print(&json);
    let files_in = |folder: &str| -> Vec<String> {
        let entries = bench.path(folder).read_dir().unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let files = || files_in("runs");
    let [name] = &files()[..] else { panic!("{:?}", files()) };
    assert!(name.starts_with("like-sm951.iometer-2015.mixed-random-2-times.r2.m"), "{name}");
    let bytes = std::fs::read(bench.path("runs").join(name)).unwrap();
    assert_eq!(bench.print(&json), first);
    assert_eq!(
        std::fs::read(bench.path("runs").join(name)).unwrap(),
        bytes,
        "it is not written again"
    );
    let found: serde_json::Value = serde_json::from_str(&first).unwrap();
    let claims = found["claims"].as_array().unwrap();
    let states: Vec<&str> = claims.iter().map(|claim| claim["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["cannot-be-modelled", "holds"]);
    assert_eq!(
        (&claims[0]["holds"], &claims[1]["holds"]),
        (&serde_json::Value::Null, &true.into())
    );
    assert_eq!(found["summary"]["behaviour"]["claims"], 2);

    // The list of the repository: these claims need the one run.
    std::fs::write(bench.path("gate.txt"), GATE).unwrap();
    bench.print(&["claims", "S3-1", "S3-2", "S3-3", "--runs", "runs", "--gate", "gate.txt"]);
    std::fs::write(bench.path("other.txt"), "S3-3 = fails\n").unwrap();
    let message = refused(&bench, &["claims", "S3-3", "--runs", "runs", "--gate", "other.txt"], 4);
    assert!(message.contains("S3-3 is listed as 'fails' and is 'holds'"), "{message}");

    // The page of the review: the chart of the one run that there is.
    let page = ["claims", "--markdown", "samsung-sm951", "--no-runs", "--runs", "runs"];
    assert!(!bench.print(&page).contains("## Charts"));
    let page = bench.print(&[&page[..], &["--pictures", "charts"]].concat());
    assert!(page.contains("(charts/samsung-sm951-random-throughput-mb-s.svg)"), "{page}");
    let [chart] = &files_in("charts")[..] else { panic!("{:?}", files_in("charts")) };
    let chart = std::fs::read_to_string(bench.path("charts").join(chart)).unwrap();
    assert!(chart.contains("Mixed random") && chart.contains("MODEL like-sm951"), "{chart}");
    let message = refused(&bench, &["claims", "--pictures", "charts"], 2);
    assert!(message.contains("--markdown"), "{message}");
    refused(&bench, &["claims", "S3-3", "--pictures", "charts"], 2);

    // A run of another revision, and one of another drive under the name of this one.
    std::fs::rename(
        bench.path("runs").join(name),
        bench.path("runs").join(name.replace(".r2.", ".r1.")),
    )
    .unwrap();
    let message = refused(&bench, &["claims", "S3-3", "--runs", "runs"], 2);
    assert!(message.contains("of another revision"), "{message}");
    std::fs::remove_dir_all(bench.path("runs")).unwrap();
    std::fs::create_dir(bench.path("runs")).unwrap();
    let foreign = bench.path("runs").join(name);
    let foreign = foreign.to_str().unwrap();
    let quick = ["run", "iometer-2015", "sim:tiny", "--test", "mixed-random", "--scale-spans"];
    bench.print(&[&quick[..], &["--shorten", "1000", "--out", foreign]].concat());
    let message = refused(&bench, &["claims", "S3-3", "--runs", "runs"], 2);
    assert!(message.contains("a run of another drive"), "{message}");
}

#[test]
#[ignore = "second tier"]
fn a_sample_of_the_page_of_every_profile_comes_out_again() {
    let bench = Bench::new();
    let page = include_str!("../../../../docs/generated/reviews/every-profile.md");
    let row = |page: &str, id: &str| {
        let start = format!("| {id} | ");
        page.lines().find(|line| line.starts_with(&start)).map(str::to_owned)
    };
    let found = bench.print(&["claims", "R-1", "R-20", "--every-profile", "--runs", "runs"]);
    for id in ["R-1", "R-20"] {
        assert_eq!(row(&found, id), row(page, id), "{found}");
        assert!(row(&found, id).is_some(), "{found}");
    }
    assert!(found.contains("--seed 1") && !found.contains("| R-2 |"), "{found}");
}
