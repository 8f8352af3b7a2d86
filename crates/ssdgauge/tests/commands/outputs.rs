//! Output files: no input, no run file and no file of another program is replaced.

use crate::commands::samples;
use crate::support::{Bench, text, unfolded};

/// A drive for an X-ray of a second.
const XRAY: &str = "sim:tlc-client?capacity=8GB&slc.fixed_gb=25&slc.dynamic_gb=0";

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
    let charts = ["report", "a.ssdg", "--svg", "f", "--png", "f"];
    bench.print(&charts);
    bench.print(&charts);
    for (option, suffix) in [("--svg", "svg"), ("--png", "png")] {
        let files = std::fs::read_dir(bench.path("f")).unwrap();
        let mut files = files.map(|file| file.unwrap().path());
        let file = files.find(|file| file.extension().is_some_and(|is| is == suffix)).unwrap();
        std::fs::write(&file, "mine").unwrap();
        let output = bench.call(&["report", "a.ssdg", option, "f"]);
        assert_eq!(output.status.code(), Some(3), "{}", file.display());
        assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    }
    // The list of the pictures is checked before the first of them is written, and before the page.
    std::fs::create_dir(bench.path("site")).unwrap();
    std::fs::write(bench.path("site/index.html"), "mine").unwrap();
    let output = bench.call(&["report", "a.ssdg", "-o", "new.html", "--png", "site"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_dir(bench.path("site")).unwrap().count(), 1);
    assert!(!bench.path("new.html").exists());
}

#[test]
fn no_file_is_created_among_the_device_nodes() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "50", "--out", "a.ssdg"]);
    bench.print(&["xray", XRAY, "--only=command", "--out", "xray.ssdg"]);
    samples::write_foreign(&bench);
    std::os::unix::fs::symlink("/dev", bench.path("nodes")).unwrap();
    let name = format!("ssdgauge-test-{}", std::process::id());
    let quick = ["quick", "sim:tiny", "--shorten", "50", "--out"];
    let real = ["quick", ".", "--size", "1MiB", "--out", "b.ssdg", "--log-ios"];
    // Each way to the folder of the nodes. The last one leads there once `new` exists.
    let ways = ["/dev", "nodes", "/dev/new/..", "/dev/shm/new/../.."];
    let names = || -> Vec<std::ffi::OsString> {
        let of = |folder: &str| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let all = of("/dev").chain(of("/dev/shm")).map(|entry| entry.file_name());
        all.filter(|one| *one == "new" || one.to_string_lossy().contains(&name)).collect()
    };
    assert!(names().is_empty(), "{:?} of an earlier test", names());
    for way in ways {
        let node = format!("{way}/{name}");
        let (page, run, png) =
            (format!("{node}.html"), format!("{node}.ssdg"), format!("{node}.png"));
        let (log, socket, job) =
            (format!("{node}.log"), format!("unix:{node}.sock"), format!("{node}.fio"));
        for arguments in [
            &["report", "a.ssdg", "-o", &page][..],
            &["report", "a.ssdg", "--svg", &node],
            &["report", "a.ssdg", "--png", &node],
            &["report", "a.ssdg", "--share-image", &png],
            &["export", "--fio", "a.ssdg", "-o", &job],
            &["export", "--parquet", &node, "a.ssdg"],
            &["fleet", "page", "a.ssdg", "-o", &page],
            &["import", "--fio", "fio.json", "-o", &run],
            &["trace", "convert", "trace.txt", &node],
            &["xray", "--from", "xray.ssdg", "--page", &page],
            &["xray", "--from", "xray.ssdg", "--picture", &png],
            &["xray", XRAY, "--only=command", "--out", &node],
            &["prove", "sim:tiny", "--out", &run],
            &["serve", "sim:tiny", "--once", "--nbd", &socket],
            &[&quick[..], &[&run]].concat(),
            &[&quick[..], &["b.ssdg", "--log-ios", &log]].concat(),
            &[&real[..], &[&log]].concat(),
            &["demo", "-o", &page],
            &["claims", "--runs", &node, "S2-4"],
        ] {
            let output = bench.call(arguments);
            let stderr = unfolded(&text(&output.stderr));
            let code = output.status.code();
            // Where a folder is missing on the way, the command line is invalid.
            let is_missing = way.ends_with("new/../..") && code == Some(2);
            assert!(code == Some(3) || is_missing, "{arguments:?}: {code:?} {stderr}");
            let reason = if is_missing { "folder" } else { "no file is created below /dev" };
            assert!(stderr.contains(reason), "{arguments:?}: {stderr}");
            let truth = ["nothing was written", "nothing was run", "nothing was opened"];
            assert!(truth.iter().any(|one| stderr.contains(one)), "{arguments:?}: {stderr}");
            assert!(names().is_empty(), "{arguments:?} created {:?}", names());
        }
    }
    assert!(!bench.path("b.ssdg").exists());
    std::fs::write(bench.path("file"), "").unwrap();
    let charts = ["report", "a.ssdg", "-o", "page.html", "--svg", "file"];
    check_refused(&bench, 2, &charts, "file is not a folder");
    assert!(!bench.path("page.html").exists());
    check_refused(
        &bench,
        2,
        &["demo", "-o", "none/deeper/d.html"],
        "folder none/deeper does not exist",
    );
}

#[test]
fn a_new_run_removes_no_file_with_a_similar_name() {
    let bench = Bench::new();
    for suffix in ["-journal", "-wal", "-shm"] {
        let name = format!("n.ssdg{suffix}");
        std::fs::write(bench.path(&name), "mine").unwrap();
        let quick = ["quick", "sim:tiny", "--shorten", "50", "--out", "n.ssdg"];
        check_refused(&bench, 3, &quick, "exists already, and SQLite would");
        std::fs::remove_file(bench.path(&name)).unwrap();
    }
}
