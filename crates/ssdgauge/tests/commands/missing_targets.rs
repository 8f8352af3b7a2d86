//! Names of folders and files that do not exist: a typo never tests the drive that holds the folder above.

use crate::support::{Bench, measures, signal, text, unfolded, wait_for};
use std::process::{Output, Stdio};

/// The calls that take a target, before and after its name. A job file of `export` may be for a drive of
/// another machine.
const CALLS: [(&[&str], &[&str]); 7] = [
    (&["quick"], &["--size", "1MiB", "--shorten", "300", "--out", "a.ssdg"]),
    (&["run", "quick"], &["--size", "1MiB", "--shorten", "300", "--out", "a.ssdg"]),
    (&["run", "trace:one.trace"], &["--size", "1MiB", "--out", "a.ssdg"]),
    (&["plan", "quick"], &["--size", "1MiB"]),
    (&["prove"], &["--size", "16MiB", "--out", "a.ssdg"]),
    (&["xray"], &["--size", "16MiB", "--out", "a.ssdg"]),
    (&["bench"], &["--size", "1MiB", "--seconds", "0.01", "--runs", "1"]),
];

/// A trace of two reads, in the form of DiskSim.
const TRACE: &str = "0 0 0 8 1\n200000 0 8 8 1\n";

fn bench_with_folders() -> Bench {
    let bench = Bench::new();
    for folder in ["archive", "data", "shared.d"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    std::fs::write(bench.path("one.trace"), TRACE).unwrap();
    bench
}

#[track_caller]
fn refused(output: &Output, parts: &[&str]) {
    let stderr = unfolded(&text(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    for part in [
        "error: folder ",
        " does not exist; the nearest existing folder is ",
        "nothing was written",
    ]
    .iter()
    .chain(parts)
    {
        assert!(stderr.contains(part), "'{part}' is missing in: {stderr}");
    }
}

#[test]
fn a_name_without_a_suffix_that_does_not_exist_is_not_a_scratch_file() {
    let bench = bench_with_folders();
    let before = bench.names();
    let root = bench.folder.path().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let absolute = format!("{root}/archives/of/2019");
    // The name, and what is said about it.
    let names = [
        (
            "nowhere",
            format!("folder nowhere does not exist; the nearest existing folder is {root}"),
        ),
        ("nowhere", "a suffix (nowhere.bin) or a prefix (file:nowhere)".to_owned()),
        ("dta", format!("did you mean {root}/data?")),
        (&absolute, format!("did you mean {root}/archive?")),
        (
            &absolute,
            format!("folder {absolute} does not exist; the nearest existing folder is {root} "),
        ),
        // A slash at the end names a folder, whatever suffix it has.
        ("share.d/", format!("did you mean {root}/shared.d?")),
        (
            "data/none/scratch.bin",
            format!("folder data/none does not exist; the nearest existing folder is {root}/data"),
        ),
        (
            "file:data/none/scratch",
            format!("folder data/none does not exist; the nearest existing folder is {root}/data"),
        ),
        ("tlc-clent", "did you mean 'sim:tlc-client'?".to_owned()),
    ];
    for (before_name, after) in CALLS {
        for (name, expected) in &names {
            let output = bench.call(&[before_name, &[*name], after].concat());
            refused(&output, &[expected]);
            assert_eq!(bench.names(), before, "{before_name:?} {name} created a file");
        }
    }
}

#[test]
fn a_suffix_or_a_prefix_names_a_new_scratch_file() {
    let bench = bench_with_folders();
    let run = ["--size", "1MiB", "--shorten", "300", "--json"];
    for (number, (name, recorded)) in
        [("new.bin", "new.bin"), ("file:new", "new"), ("file:data/new.img", "data/new.img")]
            .into_iter()
            .enumerate()
    {
        let out = format!("{number}.ssdg");
        let json = bench.print(&[&["quick", name, "--out", &out][..], &run].concat());
        assert!(json.contains(recorded), "{name}: {json}");
        // The same command again finds its target, and the run file by it.
        let again =
            bench.call(&[&["quick", name, "--out", &out, "--or-resume"][..], &run].concat());
        assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    }
    for (name, what) in [
        ("file:one.trace", "exists already"),
        ("file:data", "is a folder"),
        ("file:/dev/null", "exists already"),
        ("file:/dev/new", "does not exist"),
    ] {
        let output = bench.call(&[&["quick", name][..], &run].concat());
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{name}: {stderr}");
        assert!(stderr.contains(what) && stderr.contains("nothing was written"), "{stderr}");
    }
    assert!(!bench.names().contains(&"new".to_owned()));
}

#[test]
fn a_run_whose_folder_has_gone_is_not_resumed_on_the_drive_above_it() {
    let bench = bench_with_folders();
    let file = bench.path("a.ssdg");
    let line = ["quick", "data", "--size", "8MiB", "--shorten", "20", "--out", "a.ssdg"];
    let mut child =
        bench.command(&line).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    wait_for("a measuring step", || measures(&file));
    signal(&child, "KILL");
    child.wait().unwrap();
    bench.print(&["quick", "data", "--size", "1MiB", "--shorten", "20", "--out", "b.ssdg"]);
    std::fs::remove_dir(bench.path("data")).unwrap();
    let resumed: [&[&str]; 2] =
        [&["resume", "a.ssdg"], &["quick", "data", "--out", "a.ssdg", "--or-resume"]];
    for line in resumed {
        refused(&bench.call(line), &["data does not exist; the nearest existing folder is "]);
    }
    if std::process::Command::new("fio").arg("--version").output().is_ok() {
        let checked = bench.call(&["crosscheck", "b.ssdg", "--writes", "--time", "1s"]);
        refused(&checked, &["data does not exist; the nearest existing folder is "]);
    }
    assert!(!bench.names().contains(&"data".to_owned()));
}
