//! `fleet drift` and `compare --history`.

use crate::support::{Bench, open_to_change, text, unfolded};
use serde_json::Value;

/// Runs of one virtual drive and one of another seed, shortened.
fn bench() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("runs")).unwrap();
    for (name, seed) in [("a", "1"), ("b", "1"), ("c", "1"), ("d", "2")] {
        let out = format!("runs/{name}.ssdg");
        let mut line = vec!["quick", "sim:tiny", "--shorten", "10", "--seed", seed, "--out", &out];
        // The latest run of the drive that has one names it.
        let label = if name == "c" { "shelf 3" } else { "shelf 2" };
        if ["a", "c"].contains(&name) {
            line.extend(["--label", label]);
        }
        bench.print(&line);
    }
    bench
}

#[test]
fn the_drift_of_a_drive_is_printed_and_too_few_peers_are_not_judged() {
    let bench = bench();
    let printed = unfolded(&bench.print(&["fleet", "drift", "runs"]));
    assert!(printed.starts_with("4 runs of 2 drives (MODEL"), "{printed}");
    assert!(printed.contains("MODEL shelf 3 (MODEL-"), "{printed}");
    let drive = " bytes), model revision ";
    assert!(printed.matches(drive).count() >= 2, "{printed}");
    assert!(
        printed.contains("(revisions ") && printed.contains(", shortened to 1/10) "),
        "{printed}"
    );
    assert!(printed.contains("not judged, 2 drives with the same load; 7 are needed"));
    // A name given twice is one run.
    let named = ["a", "b", "c", "d", "a"].map(|name| format!("runs/{name}.ssdg"));
    let line: Vec<&str> =
        ["fleet", "drift"].into_iter().chain(named.iter().map(|n| &**n)).collect();
    let again = unfolded(&bench.print(&line));
    assert!(again.starts_with("4 runs of 2 drives (MODEL"), "{again}");
    let found = bench.print(&["fleet", "drift", "runs", "--json"]);
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!((&found["runs"], &found["drives"]), (&4.into(), &2.into()));
    assert_eq!(found["marks"][0], "MODEL");
    let drift = found["drift"].as_array().unwrap();
    // The drive with one run has no drift; equal runs of a virtual drive do not differ by a bit.
    assert!(drift.len() >= 4, "{drift:?}");
    for one in drift {
        assert_eq!(one["conditions"]["shortened"], 10, "{one}");
        assert!(one["serial"].as_str().unwrap().ends_with(" seed 1"), "{one}");
        assert_eq!(one["label"], "shelf 3", "{one}");
        assert_eq!((&one["runs"], &one["change"]), (&3.into(), &0.0.into()), "{one}");
        assert_eq!(one["worse"], false);
    }
    assert_eq!(found["suspects"].as_array().unwrap().len(), 0);
    assert_eq!(found["not_judged"][0]["needed"], 7);

    // A copy of a run in progress, after the whole one in the order of the names.
    std::fs::copy(bench.path("runs/a.ssdg"), bench.path("runs/z.ssdg")).unwrap();
    let part = open_to_change(bench.path("runs/z.ssdg"));
    for table in ["interval", "reading", "finding", "property"] {
        part.execute(&format!("DELETE FROM {table} WHERE step_id > 4"), []).unwrap();
    }
    part.execute("DELETE FROM step WHERE id > 4", []).unwrap();
    drop(part);
    assert_eq!(unfolded(&bench.print(&["fleet", "drift", "runs"])), printed);

    let output = bench.call(&["fleet", "drift", "."]);
    assert_eq!(output.status.code(), Some(0), "folders below are read: {}", text(&output.stderr));
    std::fs::write(bench.path("runs/broken.ssdg"), "no run").unwrap();
    let output = bench.call(&["fleet", "drift", "runs"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("1 of 5 run files could not be read"));
    assert!(text(&output.stdout).contains("4 runs of 2 drives"), "the others are judged");
    let output = bench.call(&["fleet", "drift", "nothing-here"]);
    assert_ne!(output.status.code(), Some(0));
}

#[test]
fn a_comparison_with_too_short_a_history_says_so_and_leaves_the_gate_undecided() {
    let bench = bench();
    let line = ["compare", "runs/a.ssdg", "runs/b.ssdg", "--history", "runs"];
    let stderr = text(&bench.call(&line).stderr);
    let later = "history: 1 run left out (not started before the second run)";
    assert!(stderr.contains(later), "{stderr}");
    let line = ["compare", "runs/a.ssdg", "runs/c.ssdg", "--history", "runs"];
    let output = bench.call(&line);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("history: 1 run left out (another drive)"), "{stderr}");
    let words = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the history has 1 run of this test, and 8 are needed"), "{words}");
    let output = bench.call(&[&line[..], &["--threshold", "5"]].concat());
    assert_eq!(output.status.code(), Some(75), "{}", text(&output.stderr));
    let output = bench.call(&[&line[..], &["--noise", "5"]].concat());
    assert_eq!(output.status.code(), Some(2), "two rules");
    let other = ["compare", "runs/a.ssdg", "runs/d.ssdg", "--history", "runs"];
    let output = bench.call(&other);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("a history is of one drive"));
}

/// Short runs of eight virtual drives, of which the fifth has `keys`.
fn batch(keys: &str) -> Bench {
    let bench = Bench::new();
    for n in 1..=8 {
        let slow = if n == 5 { keys } else { "" };
        let (target, out) = (format!("sim:tiny?seed={n}{slow}"), format!("quick-S{n}.ssdg"));
        let label = format!("S{n}");
        let line = ["run", "quick", &target, "--shorten", "10", "--label", &label, "--out", &out];
        bench.print(&line);
    }
    bench
}

#[test]
fn the_page_of_a_batch_says_what_the_run_of_a_slow_drive_found() {
    let bench = batch("&thermal.ambient_c=60&thermal.throttle_c=50&thermal.resume_c=45");
    bench.print(&["fleet", "page", ".", "-o", "batch.html"]);
    let page = std::fs::read_to_string(bench.path("batch.html")).unwrap();
    assert!(page.contains("1 of 8 drives is slower than its peers: "), "{page}");
    assert_eq!(page.matches("its run also found: throttled by heat").count(), 1, "{page}");
}

#[test]
fn the_page_of_a_batch_leads_with_the_slow_drive_and_states_what_is_missing() {
    let bench = batch("&effects.read_retry_share=0.05&effects.read_retry_us=200");
    std::fs::remove_file(bench.path("quick-S1.html")).unwrap();
    let printed = bench.print(&["fleet", "page", ".", "--pages", "-o", "batch.html"]);
    assert_eq!(printed, "MODEL: 1 of 8 drives is slower than its peers: S5\n");
    let page = std::fs::read_to_string(bench.path("batch.html")).unwrap();
    assert!(page.contains("1 of 8 drives is slower than its peers: "), "{page}");
    let link = |n: u32| page.find(&format!("<a href=\"./quick-S{n}.html\">S{n}</a>"));
    assert!(link(5).unwrap() < link(1).unwrap(), "the slow one is first");
    // Red is the slow drive alone, and its name the same in every part: strips, measures, table.
    let red: Vec<&str> = page.split("circle class=\"dot slow\"").skip(1).collect();
    assert!(red.len() > 1 && red.iter().all(|dot| dot.contains("<title>S5: ")), "{}", red.len());
    assert!(page.contains("<th class=\"slow\" scope=\"col\"><span>S5</span></th>"), "{page}");
    assert!(!page.contains("Best for") && !page.contains("easurement grade"));
    assert!(bench.path("quick-S1.html").exists(), "a page that was missing is written");

    // A drive without a run, with the error in its log; one without a log; one with part of its run.
    std::fs::write(bench.path("quick-S9.log"), "error: /dev/x is <used>\nhint: nothing\n").unwrap();
    let part = open_to_change(bench.path("quick-S8.ssdg"));
    for table in ["interval", "reading", "finding", "property"] {
        part.execute(&format!("DELETE FROM {table} WHERE step_id > 4"), []).unwrap();
    }
    part.execute("DELETE FROM step WHERE id > 4", []).unwrap();
    drop(part);
    let files = ["7", "8", "9", "10"].map(|n| format!("quick-S{n}.ssdg"));
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let line = [&["fleet", "page", "-o", "batch.html", "--expected"], &files[..]].concat();
    let title = "4 drives: not judged against each other; 3 have no complete run\n";
    assert_eq!(bench.print(&line), format!("MODEL: {title}"));
    let page = std::fs::read_to_string(bench.path("batch.html")).unwrap();
    assert!(page.contains("error: /dev/x is &lt;used&gt;"));
    assert!(page.contains("no run file and no error in a log: it has not begun"));
    assert!(page.contains("unfinished"));

    let without = [&["fleet", "page", "-o", "batch.html"], &files[..]].concat();
    let output = bench.call(&without);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("2 of 4 run files could not be read"));
    let output = bench.call(&["fleet", "page", ".", "-o", "quick-S1.ssdg"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let own = std::fs::read(bench.path("quick-S1.html")).unwrap();
    for name in ["quick-S1.html", "./quick-S1.html"] {
        let output = bench.call(&["fleet", "page", "quick-S1.ssdg", "quick-S2.ssdg", "-o", name]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        let words = format!("{name} is the page of the drive of quick-S1.ssdg");
        assert!(text(&output.stderr).contains(&words), "{}", text(&output.stderr));
    }
    assert_eq!(std::fs::read(bench.path("quick-S1.html")).unwrap(), own, "its page is kept");
}
