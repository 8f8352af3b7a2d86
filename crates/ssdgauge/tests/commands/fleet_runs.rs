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
    assert_eq!(page.matches("S5 was throttled; 1 of 8 drives is slower").count(), 2, "{page}");
    let words = "seen on none of its 7 peers";
    assert_eq!(page.matches(words).count(), 2, "below the headline and in the table: {page}");
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
    let title = "4 drives: not judged against each other; quick-S10, quick-S9 and S8 have no complete run\n";
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

/// Short runs of nine virtual drives: the second stalls, the fifth fails reads, the seventh disappears.
fn faulty_batch() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("runs")).unwrap();
    for n in 1..=9 {
        let fault = match n {
            2 => "&fault.stall_at_s=18&fault.stall_for_s=3",
            5 => "&fault.error_at=1MB&fault.error_bytes=4096&fault.error_reads=true",
            7 => "&fault.gone_at_s=12",
            _ => "",
        };
        let target = format!("sim:tiny?seed={n}{fault}");
        let (label, out) = (format!("bay{n}"), format!("runs/bay{n}.ssdg"));
        let line = ["quick", &target, "--shorten", "10", "--label", &label, "--out", &out];
        let output = bench.call(&line);
        let code = if n == 7 { 1 } else { 0 };
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
    }
    bench
}

/// Returns each number of failed requests in `value`.
fn errors(value: &Value) -> Vec<u64> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("errors").and_then(Value::as_u64);
            own.into_iter().chain(fields.values().flat_map(errors)).collect()
        }
        Value::Array(values) => values.iter().flat_map(errors).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_drive_that_failed_requests_stood_still_or_disappeared_is_named_before_any_speed() {
    let bench = faulty_batch();
    let title =
        "MODEL: 3 of 9 drives disappeared, stood still or failed requests: bay7, bay2 and bay5;";
    let printed = unfolded(&bench.print(&["fleet", "page", "runs", "-o", "fleet.html"]));
    assert!(printed.starts_with(title), "{printed}");
    let page = std::fs::read_to_string(bench.path("fleet.html")).unwrap();
    let place = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words:?} in {page}"));
    // Each one in the headline, in the strips, and in the table before the healthy ones.
    assert!(page.contains("bay2: stood still; ") && page.contains("bay5: failed requests; "));
    let strips = &page[place("class=\"strips\"")..];
    assert!(strips.contains("circle class=\"ring\""), "{page}");
    let table = &page[place("fleet-drives\"><thead>")..];
    let of_table =
        |words: &str| table.find(words).unwrap_or_else(|| panic!("no {words:?} in {table}"));
    for (name, state, words) in [
        ("bay7", "failed", "is gone"),
        ("bay2", "faults", "no request completed for at least"),
        ("bay5", "faults", "requests failed"),
    ] {
        let row = &table[of_table(&format!("{name}<"))..];
        let row = &row[..row.find("</tr>").unwrap()];
        assert!(row.contains(&format!("<b class=\"bad\">{state}</b>")), "{row}");
        assert!(row.contains(words), "{row}");
        assert!(of_table(&format!("{name}<")) < of_table("bay1<"), "{table}");
    }
    assert!(page.contains("ssdgauge show runs/bay7.ssdg"), "{page}");
    // Not the requests of the first step: those of all, as the steps of the run count them.
    let of_run: Value =
        serde_json::from_str(&bench.print(&["report", "runs/bay5.ssdg", "--json"])).unwrap();
    let failed: Vec<u64> = errors(&of_run).into_iter().filter(|failed| *failed > 0).collect();
    assert!(failed.len() > 1, "{failed:?}");
    let sum: u64 = failed.iter().sum();
    let words = format!("bay5: {sum} requests failed in {} steps", failed.len());
    assert!(page.contains(&words), "no {words:?} in {page}");

    let output = bench.call(&["fleet", "drift", "runs"]);
    assert_eq!(output.status.code(), Some(0), "what is found about drives is no error");
    let printed = unfolded(&text(&output.stdout));
    let faults = printed.find("Faults and failed runs, before any speed:").unwrap();
    assert!(faults < printed.find("Drift, from the first run").unwrap(), "{printed}");
    for (name, kind) in [("bay7", "failed"), ("bay2", "faults"), ("bay5", "faults")] {
        let at = printed.find(&format!("MODEL {name} (")).unwrap();
        let after_run = printed[at..].split(": ").nth(1).unwrap();
        assert!(after_run.starts_with(kind), "{printed}");
    }
    let found = bench.print(&["fleet", "drift", "runs", "--json"]);
    let found: Value = serde_json::from_str(&found).unwrap();
    let troubles = found["troubles"].as_array().unwrap();
    let of = |label: &str| troubles.iter().find(|one| one["label"] == label).unwrap();
    assert_eq!(troubles.len(), 3, "{troubles:?}");
    assert_eq!(of("bay7")["kind"], "failed");
    assert_eq!(of("bay7")["faults"][0]["finding"], "drive-gone");
    assert_eq!(of("bay2")["faults"][0]["finding"], "stalled");
    assert_eq!(of("bay5")["faults"][0]["finding"], "faults");

    // A later run of the drive that ends before the fault does not clear it.
    let target = "sim:tiny?seed=2&fault.stall_at_s=18&fault.stall_for_s=3";
    let line = ["quick", target, "--shorten", "60", "--label", "bay2", "--out", "runs/later.ssdg"];
    bench.print(&line);
    bench.print(&["fleet", "page", "runs", "-o", "fleet.html"]);
    let page = std::fs::read_to_string(bench.path("fleet.html")).unwrap();
    let words = "its earlier run ";
    assert_eq!(page.matches(words).count(), 2, "below the headline and in the table: {page}");
    assert!(page.contains("3 of 9 drives disappeared, stood still or failed requests"), "{page}");
}

#[test]
fn a_drive_that_only_heat_slows_is_named_with_the_heat_and_not_called_within_the_batch() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("runs")).unwrap();
    let run = |n: usize, heat: &str| {
        let target = format!("sim:tlc-client?seed={n}{heat}");
        let (label, out) = (format!("bay{n}"), format!("runs/bay{n}.ssdg"));
        bench.print(&["run", "cache-fill", &target, "--label", &label, "--out", &out]);
    };
    // 16 K/W: the drive reaches its limit during the fill, 9.6 K/W of the profile do not.
    (1..=9).for_each(|n| run(n, if n == 4 { "&thermal.r_c_per_w=16" } else { "" }));
    let printed = unfolded(&bench.print(&["fleet", "page", "runs", "-o", "fleet.html"]));
    let title = "MODEL: bay4 was throttled; 1 of 9 drives is slower than its peers: bay4";
    assert!(printed.starts_with(title), "{printed}");
    let page = std::fs::read_to_string(bench.path("fleet.html")).unwrap();
    assert!(page.contains("seen on none of its 8 peers"), "{page}");
    assert!(page.contains("ssdgauge show runs/bay4.ssdg"), "{page}");
    let printed = unfolded(&bench.print(&["fleet", "drift", "runs"]));
    let held = &printed[printed.find("Held back by heat or the link:").unwrap()..];
    assert!(
        held.contains("MODEL bay4 (") && held.contains("the same on 1 of 9 drives"),
        "{printed}"
    );
    let found = bench.print(&["fleet", "drift", "runs", "--json"]);
    let found: Value = serde_json::from_str(&found).unwrap();
    let held = found["held_back"].as_array().unwrap();
    assert_eq!(
        (held.len(), &held[0]["label"], &held[0]["finding"]),
        (1, &"bay4".into(), &"throttled".into())
    );
    assert_eq!(found["suspects"].as_array().unwrap().len(), 1);

    // A batch of which most drives are hot has poor cooling: that tells none from the others.
    for n in 1..=6 {
        for ending in ["ssdg", "html"] {
            std::fs::remove_file(bench.path(&format!("runs/bay{n}.{ending}"))).unwrap();
        }
        run(n, "&thermal.r_c_per_w=16");
    }
    let printed = unfolded(&bench.print(&["fleet", "page", "runs", "-o", "fleet.html"]));
    assert!(!printed.contains("throttled"), "{printed}");
}
