//! The width of outputs: no line is wider than the terminal.

use crate::support::{Bench, text};
use textwrap::core::display_width;

const WIDTHS: [usize; 4] = [60, 80, 120, 200];

/// Calls the program at each width, and checks the lines of stdout and stderr.
fn check(bench: &Bench, arguments: &[&str]) {
    for width in WIDTHS {
        let mut command = bench.command(arguments);
        let output = command.env("COLUMNS", width.to_string()).output().unwrap();
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(!printed.is_empty(), "{arguments:?}");
        for line in printed.lines() {
            assert!(display_width(line) <= width, "{arguments:?} at {width} columns: {line}");
        }
    }
}

#[test]
fn no_help_text_is_wider_than_the_terminal() {
    let bench = Bench::new();
    check(&bench, &["--help"]);
    for command in [
        "quick",
        "run",
        "plan",
        "drives",
        "suites",
        "report",
        "claims",
        "export",
        "import",
        "serve",
        "watch",
        "prove",
        "completions",
        "crosscheck",
    ] {
        check(&bench, &[command, "--help"]);
    }
}

#[test]
fn no_list_is_wider_than_the_terminal() {
    let bench = Bench::new();
    let suites: serde_json::Value =
        serde_json::from_str(&bench.print(&["suites", "--json"])).unwrap();
    for suite in suites["suites"].as_array().unwrap() {
        check(&bench, &["suites", suite["id"].as_str().unwrap()]);
    }
    check(&bench, &["suites"]);
    check(&bench, &["drives"]);
    check(&bench, &["drives", "sim:like-970-evo-1tb"]);
    check(&bench, &["claims", "--list"]);
    check(&bench, &["claims", "--no-runs"]);
    check(&bench, &["claims", "--no-runs", "S2-4"]);
    check(&bench, &["meters"]);
    for suite in ["quick", "client-2018", "snia-pts-e", "act", "tasks"] {
        check(&bench, &["plan", suite, "sim:tlc-client"]);
    }
    check(&bench, &["plan", "quick", "sim:tiny", "--repeat", "until:2%", "--endurance", "1GB"]);
}

#[test]
fn no_line_of_a_run_is_wider_than_the_terminal() {
    let bench = Bench::new();
    let arguments = ["--shorten", "20", "--out"];
    for width in WIDTHS {
        let file = format!("{width}.ssdg");
        let line = [&["quick", "sim:tiny"], &arguments[..], &[&file]].concat();
        let mut command = bench.command(&line);
        let output = command.env("COLUMNS", width.to_string()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let printed = text(&output.stdout) + &text(&output.stderr);
        for line in printed.lines() {
            assert!(display_width(line) <= width, "at {width} columns: {line}");
        }
    }
    check(&bench, &["compare", "60.ssdg", "80.ssdg"]);
    check(&bench, &["report", "60.ssdg"]);
    check(&bench, &["bench", "null:", "--seconds", "0.01", "--runs", "1", "--no-fill"]);
}

#[test]
fn no_error_is_wider_than_the_terminal() {
    let bench = Bench::new();
    for arguments in [
        &["quick", "sim:no-such-profile"][..],
        &["quick", "sim:tiny?no-such-key=3"],
        &["run", "no-such-suite", "."],
        &["run", "client-2018", ".", "--test", "no-such-test"],
        &["plan", "quick", ".", "--no-such-option"],
        &["plan", "quick", ".", "--size", "4XB"],
        &["no-such-command"],
        &["compare", "a", "b"],
        &["resume", "a.ssdg"],
        &["report", "a.ssdg", "--csv", "--json"],
    ] {
        check(&bench, arguments);
    }
}
