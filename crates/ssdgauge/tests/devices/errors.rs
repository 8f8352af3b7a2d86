//! Help texts and errors, compared with snapshots.

use crate::support::{Bench, Loop, text};
use snapbox::{Data, assert_data_eq, file};

/// Checks the exit code and stderr of a command that fails, and that it creates no file.
fn check(arguments: &[&str], code: i32, expected: Data) {
    let bench = Bench::new();
    std::fs::write(bench.path("notes.txt"), "only some notes\n").unwrap();
    std::fs::write(bench.path("bad-key.toml"), BAD_KEY).unwrap();
    std::fs::write(bench.path("bad-unit.toml"), BAD_UNIT).unwrap();
    std::fs::write(bench.path("bad-chosen.toml"), BAD_CHOSEN).unwrap();
    std::fs::write(bench.path("no-limit.toml"), NO_LIMIT).unwrap();
    std::fs::write(bench.path("too-deep.toml"), TOO_DEEP).unwrap();
    std::fs::write(bench.path("wears.toml"), WEARS).unwrap();
    let before = bench.names();
    let output = bench.call(arguments);
    let stderr = text(&output.stderr).replace(bench.folder.path().to_str().unwrap(), "[FOLDER]");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "errors belong to stderr");
    assert_eq!(bench.names(), before, "{arguments:?} created a file");
    assert_data_eq!(stderr, expected);
}

const BAD_KEY: &str = "[suite]\nid = \"mine\"\nrevison = 1\ntitle = \"Mine\"\n";
const BAD_UNIT: &str = "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"Mine\"\n\n[[test]]\nid = \"a\"\n\
    revision = 1\ntitle = \"A\"\nstream = { access = \"random\", block_size = \"4KX\", read_percent = 100 }\n\
    until = { time = \"1s\" }\nscore = { mean_of = \"iops\" }\n";
const BAD_CHOSEN: &str = "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"Mine\"\n\n[[test]]\nid = \"a\"\n\
    revision = 1\ntitle = \"A\"\nstream = { access = \"random\", block_size = \"4KiB\", read_percent = 100 }\n\
    until = { time = \"1s\" }\nscore = { mean_of = \"iops\" }\nchosen = [\"stream.threads\"]\n";
const NO_LIMIT: &str = "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"Mine\"\n\n[[test]]\nid = \"a\"\n\
    revision = 1\ntitle = \"A\"\nstream = { access = \"random\", block_size = \"4KiB\", read_percent = 100 }\n\
    until = { }\nscore = { mean_of = \"iops\" }\n";
const TOO_DEEP: &str = "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"Mine\"\n\n[[test]]\nid = \"a\"\n\
    revision = 1\ntitle = \"A\"\nengine = \"synchronous\"\n\
    stream = { access = \"random\", block_size = \"4KiB\", read_percent = 100, queue_depth = 4 }\n\
    until = { time = \"1s\" }\nscore = { mean_of = \"iops\" }\n";
const WEARS: &str = "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"Mine\"\n\n[[test]]\nid = \"a\"\n\
    revision = 1\ntitle = \"A\"\n\
    stream = { access = \"random\", block_size = \"4KiB\", read_percent = 0, queue_depth = 32 }\n\
    until = { time = \"10h\" }\nscore = { mean_of = \"iops\" }\n";

#[test]
fn unusable_targets_are_refused() {
    check(&["quick", "/dev/no-such-drive"], 3, file!["snapshots/no-such-drive.txt"]);
    check(&["quick", "/dev/null"], 3, file!["snapshots/character-device.txt"]);
    check(&["quick", "/dev"], 3, file!["snapshots/folder-of-nodes.txt"]);
    check(&["quick", "notes.txt"], 3, file!["snapshots/existing-file.txt"]);
    check(&["quick", "no-folder/file"], 2, file!["snapshots/missing-folder.txt"]);
    check(&["quick", ".", "--size", "0"], 2, file!["snapshots/size-zero.txt"]);
    check(&["quick", ".", "--size", "4XB"], 2, file!["snapshots/size-unit.txt"]);
    check(&["quick", "sim:no-such-profile"], 2, file!["snapshots/no-such-profile.txt"]);
    check(&["quick", "sim:tiny", "--size", "1TB"], 2, file!["snapshots/capacity-exceeded.txt"]);
}

#[test]
fn bad_values_and_missing_folders_are_usage_errors_that_name_their_cause() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "100", "--out", "a.ssdg"]);
    std::fs::write(bench.path("notes.txt"), "only some notes\n").unwrap();
    let before = bench.names();
    for (line, words) in [
        (&["log", "missing.log"][..], "missing.log"),
        (&["log", "."], ". is not a request log"),
        (&["log", "notes.txt"], "notes.txt is not a request log"),
        (&["report", "a.ssdg", "-o", "missing/x.html"], "folder missing does not exist"),
        (&["report", "a.ssdg", "-o", "-"], "'-' is not a file"),
        (&["quick", "sim:tiny", "--out", "missing/x.ssdg"], "folder missing does not exist"),
        (&["claims", "--runs", "notes.txt", "--no-runs"], "notes.txt is not a folder"),
        (&["quick", ".", "--size", "-1"], "'-1'"),
        (&["quick", ".", "--size", "0"], "use a size above zero"),
        (&["quick", "sim:tiny", "--seed", "-1"], "'-1'"),
        (&["quick", "sim:tiny", "--shorten", "-1"], "'-1'"),
        (&["quick", "sim:tiny", "--repeat", "until:1e-300%"], "a half-width below 0.000001 %"),
    ] {
        let output = bench.call(line);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line:?}: {stderr}");
        assert!(stderr.contains(words) && stderr.contains("hint: "), "{line:?}: {stderr}");
        assert!(!stderr.contains("unknown option"), "{line:?}: {stderr}");
    }
    assert_eq!(bench.names(), before);
}

#[test]
fn a_file_that_cannot_be_read_is_not_blamed_on_the_folder() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "100", "--out", "a.ssdg"]);
    let bytes = std::fs::read(bench.path("a.ssdg")).unwrap();
    let with = |name: &str, at: usize, word: [u8; 4]| {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].copy_from_slice(&word);
        std::fs::write(bench.path(name), bytes).unwrap();
    };
    // Offsets 44 and 60 of the SQLite file format: the schema format, and `user_version`.
    with("schema.ssdg", 44, 99u32.to_be_bytes());
    with("version.ssdg", 60, [0xff; 4]);
    std::os::unix::fs::symlink("loop.ssdg", bench.path("loop.ssdg")).unwrap();
    std::fs::copy(bench.path("a.ssdg"), bench.path("journal.ssdg")).unwrap();
    std::fs::create_dir(bench.path("journal.ssdg-journal")).unwrap();
    std::fs::write(bench.path("journal.ssdg-journal/x"), "x").unwrap();
    let unchanged = "hint: the file was not changed";
    for (name, words, hint) in [
        ("schema.ssdg", "schema.ssdg cannot be read: ", unchanged),
        ("loop.ssdg", "loop.ssdg cannot be read: ", unchanged),
        ("version.ssdg", "its format number is -1", unchanged),
        ("journal.ssdg", "is not part of journal.ssdg: it is not a", "hint: no file was changed"),
    ] {
        let stderr = text(&bench.call(&["report", name, "--json"]).stderr);
        assert!(stderr.contains(words), "{name}: {stderr}");
        assert!(stderr.contains(hint), "{name}: {stderr}");
    }
}

#[test]
fn missing_and_invalid_suites_are_usage_errors() {
    check(&["run", "no-such-suite", "."], 2, file!["snapshots/no-such-suite.txt"]);
    check(&["run", "quick", ".", "--test", "x"], 2, file!["snapshots/no-such-test.txt"]);
    check(&["run", "missing.toml", "."], 2, file!["snapshots/missing-suite-file.txt"]);
    check(&["run", "bad-key.toml", "."], 2, file!["snapshots/bad-key.txt"]);
    check(&["run", "bad-unit.toml", "."], 2, file!["snapshots/bad-unit.txt"]);
    check(&["run", "bad-chosen.toml", "."], 2, file!["snapshots/bad-chosen.txt"]);
    check(&["run", "no-limit.toml", "."], 2, file!["snapshots/no-limit.txt"]);
    check(&["run", "too-deep.toml", "."], 2, file!["snapshots/too-deep.txt"]);
    check(
        &["run", "client-2018", "sim:tiny", "--test", "mixed-random"],
        3,
        file!["snapshots/span-too-large.txt"],
    );
}

#[test]
fn a_run_above_the_allowed_share_of_the_endurance_is_refused() {
    // Ten hours of random writes on a drive of 1 TBW.
    let wears = ["run", "wears.toml", "sim:tiny", "--endurance", "1TBW"];
    check(&wears, 3, file!["snapshots/endurance-exceeded.txt"]);
}

#[test]
fn files_that_are_not_run_files_are_usage_errors() {
    check(&["report", "notes.txt"], 2, file!["snapshots/foreign-file.txt"]);
    check(&["report", "missing.ssdg"], 2, file!["snapshots/missing-run.txt"]);
    check(&["resume", "notes.txt"], 2, file!["snapshots/foreign-resume.txt"]);
}

#[test]
fn read_only_file_systems_are_refused_before_the_first_write() {
    let bench = Bench::new();
    let folder = bench.path("read-only");
    std::fs::create_dir(&folder).unwrap();
    let mount = |arguments: &[&str]| {
        std::process::Command::new(arguments[0]).args(&arguments[1..]).arg(&folder).status()
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "ro,size=64m", "none"]).is_ok_and(|s| s.success()) {
        println!("skipped: no read-only file system available (run as root)");
        return;
    }
    let output = bench.call(&["quick", "read-only", "--size", "16MiB", "--out", "a.ssdg"]);
    mount(&["umount"]).unwrap();
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("Read-only file system") && stderr.contains("nothing was written"));
    assert_eq!(bench.names(), ["read-only"]);
}

#[test]
fn a_drive_that_must_not_be_written_is_refused_before_its_size_is_judged() {
    let bench = Bench::new();
    let Some(device) = Loop::attach(bench.folder.path(), 64 << 20) else { return };
    let set = |flag: &str| {
        let status = std::process::Command::new("blockdev").args([flag, &device.path]).status();
        assert!(status.unwrap().success());
    };
    let refused = |arguments: &[&str]| {
        let output = bench.call(arguments);
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let too_large = ["run", "quick", &device.path, "--size", "1GB"];
    let too_small = ["run", "client-2018", &device.path, "--test", "mixed-random"];
    assert!(refused(&too_large).contains("is more than"));
    assert!(refused(&too_small).contains("needs 64.0 GB"));
    set("--setro");
    let errors = [refused(&too_large), refused(&too_small)];
    set("--setrw");
    for error in errors {
        assert!(error.contains("read-only") && error.contains("nothing was written"), "{error}");
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let bench = Bench::new();
    let program = env!("CARGO_BIN_EXE_ssdgauge");
    let line = format!("{program} suites --json | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}");
    let output = std::process::Command::new("bash").args(["-c", &line]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    drop(bench);
}

#[test]
fn data_that_do_not_reach_a_full_output_are_an_error() {
    let program = env!("CARGO_BIN_EXE_ssdgauge");
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "20", "--out", "a.ssdg"]);
    let watch = ["watch a.ssdg", "watch a.ssdg --jsonl"];
    for arguments in
        ["suites", "suites --json", "drives sim:", "plan demo sim:tiny"].iter().chain(&watch)
    {
        let line = format!("cd {}; {program} {arguments} >/dev/full", bench.path("").display());
        let output = std::process::Command::new("bash").args(["-c", &line]).output().unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {error}");
        assert!(error.contains("the standard output is incomplete: No space left"), "{error}");
    }
}

#[test]
fn without_arguments_the_first_commands_are_listed_in_eighty_columns() {
    let bench = Bench::new();
    let output = bench.call(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let screen = text(&output.stderr);
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    assert!(screen.trim_end().ends_with("All commands: ssdgauge --help"), "{screen}");
    for line in screen.lines().filter_map(|line| line.strip_prefix("  ssdgauge ")) {
        let command = line.split_whitespace().next().unwrap();
        assert_eq!(bench.call(&[command, "--help"]).status.code(), Some(0), "{command}");
    }
}

#[test]
fn help_texts_equal_their_snapshots() {
    let bench = Bench::new();
    for (arguments, snapshot) in [
        (vec!["--help"], file!["snapshots/help.txt"]),
        (vec!["quick", "--help"], file!["snapshots/help-quick.txt"]),
        (vec!["run", "--help"], file!["snapshots/help-run.txt"]),
        (vec!["report", "--help"], file!["snapshots/help-report.txt"]),
    ] {
        assert_data_eq!(bench.print(&arguments), snapshot);
    }
}
