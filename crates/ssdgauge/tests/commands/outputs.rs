//! Output files: no input, no run file and no file of another program is replaced.

use crate::support::{Bench, text, unfolded};

/// Calls the program, which has to refuse with `expected` and to change no file.
fn check_refused(bench: &Bench, code: i32, arguments: &[&str], expected: &str) {
    let read = |name: &String| std::fs::read(bench.path(name)).unwrap_or_default();
    let before: Vec<(String, Vec<u8>)> =
        bench.names().into_iter().map(|name| (name.clone(), read(&name))).collect();
    let output = bench.call(arguments);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(
        stderr.contains(expected) && stderr.contains("nothing was written"),
        "{arguments:?}: {stderr}"
    );
    let after: Vec<(String, Vec<u8>)> =
        bench.names().into_iter().map(|name| (name.clone(), read(&name))).collect();
    assert!(before == after, "{arguments:?} changed a file");
}

#[test]
fn no_output_replaces_an_input_a_run_file_or_a_file_of_another_program() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "50", "--out", "a.ssdg"]);
    bench.print(&["quick", "sim:tiny", "--shorten", "50", "--out", "b.ssdg"]);
    let copy = |from: &str, to: &str| {
        std::fs::copy(bench.path(from), bench.path(to)).unwrap();
    };
    let put = |name: &str, content: &str| std::fs::write(bench.path(name), content).unwrap();
    copy("a.ssdg", "run.html");
    copy("a.ssdg", "c.ssdg");
    put("c.html", "a page of my own");
    put("notes.html", "<html>notes</html>");
    put("spec.toml", "model = \"tiny\"\n");
    std::os::unix::fs::symlink("a.ssdg", bench.path("link.html")).unwrap();
    std::fs::hard_link(bench.path("a.ssdg"), bench.path("second.html")).unwrap();

    check_refused(&bench, 3, &["report", "a.ssdg", "-o", "a.ssdg"], "name of a run file");
    check_refused(&bench, 3, &["report", "a.ssdg", "-o", "b.ssdg"], "name of a run file");
    check_refused(&bench, 3, &["report", "a.ssdg", "-o", "new.ssdg"], "name of a run file");
    check_refused(&bench, 3, &["report", "a.ssdg", "-o", "new.SSDG"], "name of a run file");
    check_refused(
        &bench,
        3,
        &["report", "a.ssdg", "-o", "notes.html"],
        "is not a report of ssdgauge",
    );
    check_refused(&bench, 3, &["report", "a.ssdg", "-o", "link.html"], "read by this command");
    check_refused(&bench, 3, &["report", "b.ssdg", "-o", "link.html"], "is a run file");
    check_refused(&bench, 3, &["report", "b.ssdg", "-o", "run.html"], "is a run file");
    check_refused(&bench, 3, &["report", "a.ssdg", "-o", "second.html"], "read by this command");
    // Without -o the page has the name of the first run file.
    check_refused(&bench, 3, &["report", "run.html"], "read by this command");
    check_refused(&bench, 3, &["report", "c.ssdg"], "is not a report of ssdgauge");
    check_refused(&bench, 3, &["resume", "c.ssdg"], "is not a report of ssdgauge");
    let spec = ["report", "a.ssdg", "--spec", "spec.toml", "-o", "spec.toml"];
    check_refused(&bench, 3, &spec, "read by this command");
    check_refused(&bench, 3, &["demo", "-o", "new.ssdg"], "name of a run file");
    let quick = ["quick", "sim:tiny", "--shorten", "50", "--out"];
    check_refused(&bench, 2, &[&quick[..], &["new.html"]].concat(), "two outputs");
    let log = |name| ["quick", ".", "--size", "1MiB", "--out", "d.ssdg", "--log-ios", name];
    check_refused(&bench, 2, &log("d.ssdg"), "two outputs");
    check_refused(&bench, 2, &log("d.html"), "two outputs");
    check_refused(&bench, 3, &log("notes.html"), "exists already");

    // Outputs of ssdgauge are replaced.
    bench.print(&["report", "a.ssdg", "b.ssdg"]);
    bench.print(&["report", "a.ssdg", "b.ssdg", "-o", "a.html"]);
    bench.print(&["resume", "a.ssdg"]);
    let charts = ["report", "a.ssdg", "--svg", "f", "--png", "f", "--vega", "f"];
    bench.print(&charts);
    bench.print(&charts);
    for (option, suffix) in [("--svg", "svg"), ("--png", "png"), ("--vega", "json")] {
        let files = std::fs::read_dir(bench.path("f")).unwrap();
        let mut files = files.map(|file| file.unwrap().path());
        let file = files.find(|file| file.extension().is_some_and(|is| is == suffix)).unwrap();
        std::fs::write(&file, "mine").unwrap();
        let output = bench.call(&["report", "a.ssdg", option, "f"]);
        assert_eq!(output.status.code(), Some(3), "{}", file.display());
        assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    }
}

#[test]
fn no_file_is_created_among_the_device_nodes() {
    use std::path::Path;
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "50", "--out", "a.ssdg"]);
    std::os::unix::fs::symlink("/dev", bench.path("nodes")).unwrap();
    let name = format!("ssdgauge-test-{}", std::process::id());
    let node = format!("/dev/{name}");
    let page = format!("{node}.html");
    let run = format!("{node}.ssdg");
    let around = format!("/dev/new/../{name}.html");
    let linked = format!("nodes/{name}.html");
    let quick = ["quick", "sim:tiny", "--shorten", "50", "--out"];
    let expected = "no file is created below /dev";
    for arguments in [
        &["report", "a.ssdg", "-o", &page][..],
        &["report", "a.ssdg", "-o", &around],
        &["report", "a.ssdg", "-o", &linked],
        &["report", "a.ssdg", "--svg", &node],
        &["report", "a.ssdg", "--share-image", &format!("{node}.png")],
        &["export", "--fio", "a.ssdg", "-o", &format!("{node}.fio")],
        &[&quick[..], &[&run]].concat(),
        &["quick", ".", "--size", "1MiB", "--out", "b.ssdg", "--log-ios", &format!("{node}.log")],
        &["demo", "-o", &page],
        &["claims", "--runs", &node, "S2-4"],
    ] {
        let output = bench.call(arguments);
        let stderr = unfolded(&text(&output.stderr));
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    for ending in ["", ".html", ".png", ".fio", ".ssdg", ".log"] {
        assert!(!Path::new(&format!("{node}{ending}")).exists(), "{node}{ending}");
    }
    std::fs::write(bench.path("file"), "").unwrap();
    let charts = ["report", "a.ssdg", "-o", "page.html", "--svg", "file"];
    check_refused(&bench, 2, &charts, "file is not a folder");
    assert!(!bench.path("page.html").exists());
    check_refused(
        &bench,
        2,
        &["demo", "-o", "none/deeper/d.html"],
        "there is no folder none/deeper",
    );
}

#[test]
fn a_new_run_removes_no_file_beside_its_name() {
    let bench = Bench::new();
    for suffix in ["-journal", "-wal", "-shm"] {
        let name = format!("n.ssdg{suffix}");
        std::fs::write(bench.path(&name), "mine").unwrap();
        let quick = ["quick", "sim:tiny", "--shorten", "50", "--out", "n.ssdg"];
        check_refused(&bench, 3, &quick, "exists already, and SQLite would");
        std::fs::remove_file(bench.path(&name)).unwrap();
    }
}
