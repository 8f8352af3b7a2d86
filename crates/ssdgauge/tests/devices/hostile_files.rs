//! Files from untrusted sources: the strings of a suite or a profile reach terminals and pages as
//! text only.

use crate::support::{Bench, Loop, text};
use crate::tiers::write_figure;
use ssdgauge_core::Random;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Markup, terminal escapes, lines of messages, changes of text direction, a spreadsheet formula, SQL, mathematics: as
/// TOML strings.
const STRINGS: [&str; 7] = [
    r#"<script>alert(1)</script>"#,
    r#"\"><img src=x onerror=alert(1)>'"#,
    r#"\u001b[31mred\u001b[0m\u001b]0;title\u0007\u009b2J"#,
    r#"\u202etxt.exe\u2066\u200b\ufeff"#,
    r#"=cmd|' /C calc'!A0 $x^2$"#,
    r#"a\nerror: forged\r\nwarning: forged"#,
    r#"'; DROP TABLE run; -- %s%n \\ `b` **c** [d](javascript:e)"#,
];

/// Characters that no output may contain.
const FORBIDDEN: [char; 9] =
    ['\u{1b}', '\0', '\u{7}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\u{2028}'];

#[test]
fn hostile_strings_of_suites_and_profiles_are_printed_as_text() {
    let mut outputs = 0;
    for hostile in STRINGS {
        let bench = Bench::new();
        let suite = format!(
            "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"{hostile}\"\nsummary = \"{hostile}\"\n\
             source = \"{hostile}\"\n[[test]]\nid = \"load\"\nrevision = 1\ntitle = \"{hostile}\"\n\
             source = \"{hostile}\"\nprepare = [{{ fill = \"sequential\" }}]\n\
             stream = {{ access = \"random\", block_size = \"4KiB\", read_percent = 100, \
             queue_depth = 1 }}\nuntil = {{ time = \"2s\" }}\nscore = {{ mean_of = \"iops\" }}\n"
        );
        std::fs::write(bench.path("mine.toml"), suite).unwrap();
        let profile = format!(
            "inherits = \"tiny\"\n[drive]\nclass = \"{hostile}\"\ntitle = \"{hostile}\"\n\
             description = \"{hostile}\"\ncapacity_gb = 1.0\nraw_gib = 1.024\n"
        );
        std::fs::write(bench.path("mine-drive.toml"), profile).unwrap();
        let drive = format!("sim:{}", bench.path("mine-drive.toml").display());
        for line in [
            vec!["suites", "mine.toml"],
            vec!["plan", "mine.toml", &drive],
            vec!["drives", &drive],
            vec!["run", "mine.toml", &drive, "--out", "a.ssdg"],
            vec!["report", "a.ssdg", "--csv"],
            vec!["report", "a.ssdg", "--markdown"],
            vec!["report", "a.ssdg", "--json"],
            vec!["report", "a.ssdg", "--openmetrics"],
            vec!["compare", "a.ssdg", "a.ssdg"],
        ] {
            let output = bench.call(&line);
            assert_eq!(output.status.code(), Some(0), "{line:?}: {}", text(&output.stderr));
            for stream in [text(&output.stdout), text(&output.stderr)] {
                check_inert(&stream, &line.join(" "));
                outputs += 1;
            }
        }
        let page = std::fs::read_to_string(bench.path("a.html")).unwrap();
        check_inert(&page, "the page");
        for markup in ["<script>alert", "<img src=x"] {
            assert!(!page.contains(markup), "{markup}");
        }
        outputs += 1;
    }
    write_figure(
        "hostile files",
        &format!("{outputs} outputs of hostile suites and profiles"),
        "0 escapes, 0 markup",
        "cargo test -p ssdgauge --test it hostile_strings",
    );
}

/// Checks that `output` has no forbidden character, and no line of a message that is not of the program.
fn check_inert(output: &str, what: &str) {
    let forged = |line: &&str| ["error: forged", "warning: forged"].contains(&line.trim());
    assert_eq!(output.lines().find(forged), None, "{what}: {output}");
    for forbidden in FORBIDDEN {
        assert!(!output.contains(forbidden), "{what} has {forbidden:?}: {output}");
    }
}

#[test]
fn names_of_files_begin_no_line_of_a_message() {
    let bench = Bench::new();
    let name = "a\nerror: forged\u{1b}[2J\r\nwarning: forged\n";
    let [run, page, suite, other] =
        [".ssdg", ".html", ".toml", ""].map(|suffix| format!("{name}{suffix}"));
    let (run, page, suite, other) = (run.as_str(), page.as_str(), suite.as_str(), other.as_str());
    // What succeeds states the names of its outputs, and what fails those of its inputs.
    for succeeds in [
        vec!["quick", "sim:tiny", "--shorten", "100", "--out", run],
        vec!["report", run, "-o", page],
        vec!["report", run, "--csv"],
        vec!["report", run, "--json"],
        vec!["compare", run, run],
        vec!["watch", run],
        vec!["resume", run],
    ] {
        let output = bench.call(&succeeds);
        assert_eq!(output.status.code(), Some(0), "{succeeds:?}: {}", text(&output.stderr));
        check_lines(&output, &succeeds);
    }
    std::fs::write(bench.path(suite), "[suite]\nid = 1\n").unwrap();
    std::fs::write(bench.path("cut.ssdg"), "SQLite format 3").unwrap();
    let folder = format!("{other}/");
    let virtual_drive = format!("sim:{suite}");
    let mut failures = 0;
    for fails in [
        vec!["report", other],
        vec!["report", suite],
        vec!["report", "cut.ssdg", "-o", page],
        vec!["report", run, "-o", run],
        vec!["report", run, "--spec", suite],
        vec!["report", run, "--notes", other],
        vec!["report", run, "--svg", page],
        vec!["compare", other, run],
        vec!["watch", other],
        vec!["watch", suite],
        vec!["resume", other],
        vec!["run", suite, "sim:tiny"],
        vec!["run", other, "sim:tiny"],
        vec!["run", "quick", "sim:tiny", "--test", other],
        vec!["run", "quick", "sim:tiny", "--out", other],
        vec!["run", "quick", "null:", "--shorten", "100", "--power", other],
        vec!["run", "quick", "null:", "--shorten", "100", "--label", other],
        vec!["plan", "quick", other],
        vec!["plan", suite, "null:"],
        vec!["quick", other],
        vec!["quick", &folder],
        vec!["quick", suite],
        vec!["quick", "sim:tiny", "--out", run],
        vec!["quick", &virtual_drive],
        vec!["bench", other],
        vec!["prove", other],
        vec!["xray", other],
        vec!["drives", other],
        vec!["drives", &virtual_drive],
        vec!["serve", &virtual_drive],
        vec!["serve", "sim:tiny", "--nbd", other],
        vec!["export", other],
        vec!["import", "--fio", suite],
        vec!["import", "--fio", other],
        vec!["trace", other],
        vec!["trace", suite],
        vec!["log", other],
        vec!["log", suite],
        vec!["suites", other],
        vec!["suites", suite],
        vec!["claims", other],
        vec!["fleet", "page", other, "-o", page],
        vec!["fleet", "drift", other],
        vec!["crosscheck", other, other],
        vec![other],
        vec!["quick", "sim:tiny", "--shorten", other],
        vec!["quick", "sim:tiny", other],
    ] {
        let output = bench.call(&fails);
        assert_ne!(output.status.code(), Some(0), "{fails:?}");
        let errors = text(&output.stderr).lines().filter(|one| one.starts_with("error: ")).count();
        assert!(errors >= 1, "{fails:?}: {}", text(&output.stderr));
        check_lines(&output, &fails);
        failures += 1;
    }
    write_figure(
        "names of files",
        &format!("{failures} failures with a name that has line breaks"),
        "0 forged lines",
        "cargo test -p ssdgauge --test commands names_of_files",
    );
}

/// Checks that neither stream of `output` has a line that begins as the name of a file continues.
fn check_lines(output: &std::process::Output, call: &[&str]) {
    for stream in [&output.stdout, &output.stderr] {
        let stream = text(stream);
        check_inert(&stream, &call.join(" "));
        let begins = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("error: forged") || line.starts_with("warning: forged")
        };
        assert_eq!(stream.lines().find(begins), None, "{call:?}: {stream}");
    }
}

#[test]
fn no_output_is_written_through_a_link_or_to_a_device() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "100", "--out", "a.ssdg"]);
    let victim = bench.path("victim");
    std::fs::write(&victim, "precious").unwrap();
    let Some(device) = Loop::attach(bench.folder.path(), 1 << 20) else { return };
    let mut node = std::process::Command::new("mknod");
    let made = node.args(["null", "c", "1", "3"]).current_dir(bench.folder.path()).status();
    assert!(made.unwrap().success());
    let content = || std::fs::read(bench.path("image")).unwrap();
    let before = content();
    for name in ["page.html", "page.html.partial", "charts/iops.svg", "log", "b.ssdg"] {
        std::fs::create_dir_all(bench.path("charts")).unwrap();
        std::os::unix::fs::symlink(&device.path, bench.path(name)).unwrap();
    }
    let charts = vec!["report", "a.ssdg", "--svg", "charts"];
    bench.print(&charts);
    for chart in std::fs::read_dir(bench.path("charts")).unwrap() {
        let path = chart.unwrap().path();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
    }
    for line in [
        charts,
        vec!["report", "a.ssdg", "-o", "page.html"],
        vec!["report", "a.ssdg", "-o", &device.path],
        vec!["report", "a.ssdg", "-o", "null"],
        vec!["report", &device.path],
        vec!["resume", &device.path],
        vec!["quick", "null:", "--shorten", "100", "--out", &device.path],
        vec!["quick", "null:", "--shorten", "100", "--out", "b.ssdg"],
        vec![
            "quick",
            ".",
            "--size",
            "8MiB",
            "--shorten",
            "100",
            "--out",
            "c.ssdg",
            "--log-ios",
            "log",
        ],
        vec!["quick", ".", "--size", "8MiB", "--out", "d.ssdg", "--log-ios", &device.path],
    ] {
        let output = bench.call(&line);
        assert_ne!(output.status.code(), Some(0), "{line:?}");
        assert!(text(&output.stderr).contains("hint: "), "{line:?}");
    }
    assert_eq!(content(), before, "a device was written to");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    let is_node = |path: &Path| {
        let kind = std::fs::symlink_metadata(path).unwrap().file_type();
        kind.is_block_device() || kind.is_char_device()
    };
    assert!(is_node(device.path.as_ref()) && is_node(&bench.path("null")), "a node was replaced");
}

#[test]
fn a_damaged_request_log_is_printed_up_to_the_damage_or_refused() {
    let count = if std::env::var_os("SSDGAUGE_LONG").is_some() { 20_000 } else { 200 };
    let bench = Bench::new();
    bench.print(&["bench", "null:", "--runs", "1", "--requests", "500", "--log-ios", "a.log"]);
    let whole = std::fs::read(bench.path("a.log")).unwrap();
    assert!(whole.len() > 500 * 16);
    let mut random = Random::new(20_261_122, 0);
    let (mut printed, mut refused) = (0, 0);
    for _ in 0..count {
        let mut bytes = whole.clone();
        // The first bytes are headers: every second change is made there.
        for _ in 0..=random.below(3) {
            let range = if random.below(2) == 0 { 128 } else { bytes.len() as u64 };
            let at = random.below(range.min(bytes.len() as u64)) as usize;
            match random.below(5) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] ^= 1 << random.below(8),
                2 => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xff),
                3 => bytes.insert(at, random.below(256) as u8),
                _ => drop(bytes.remove(at)),
            }
        }
        std::fs::write(bench.path("b.log"), &bytes).unwrap();
        let output = bench.call(&["log", "b.log"]);
        let message = text(&output.stderr);
        match output.status.code() {
            Some(0) => printed += 1,
            // Damage is 1; a file whose first bytes are not those of a log is 2.
            Some(1 | 2) => {
                assert!(message.contains("hint: "), "{message}");
                refused += 1;
            }
            other => panic!("{other:?}: {message}"),
        }
        check_inert(&message, "the messages");
    }
    assert!(printed > 0 && refused > 0, "{printed} printed, {refused} refused");
    write_figure(
        "request logs",
        &format!("{count} damaged files"),
        &format!("{printed} printed, {refused} refused, 0 panics"),
        "cargo test -p ssdgauge --test it damaged_request_log",
    );
}

#[test]
fn no_command_waits_for_a_fifo() {
    use std::process::{Command, Stdio};
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "100", "--out", "a.ssdg"]);
    std::fs::create_dir(bench.path("cohort")).unwrap();
    for name in ["fifo.ssdg", "a.ssdg-journal", "cohort/b.ssdg"] {
        assert!(Command::new("mkfifo").arg(bench.path(name)).status().unwrap().success());
    }
    std::fs::copy(bench.path("a.ssdg"), bench.path("c.ssdg")).unwrap();
    for line in [
        &["report", "fifo.ssdg", "--json"][..],
        &["resume", "fifo.ssdg"],
        &["report", "a.ssdg", "--json"],
        &["log", "fifo.ssdg"],
        &["report", "c.ssdg", "--cohort", "cohort", "-o", "o.html"],
    ] {
        let mut command = bench.command(line);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        crate::support::wait_for("the end of a command", || child.try_wait().unwrap().is_some());
        let output = child.wait_with_output().unwrap();
        let error = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{line:?}: {error}");
        assert!(error.contains("regular file"), "{line:?}: {error}");
    }
}
