//! A file system that is full at each stage of an output: the output is complete, or it does not exist, and the
//! message says which.

use crate::commands::samples;
use crate::devices::interruption::SmallFileSystem;
use crate::support::{Bench, text, unfolded};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The room that is left, in KiB: a few pages of 4 KiB for the smallest outputs, and enough for all but the largest.
const ROOM_KIB: [usize; 9] = [0, 4, 16, 40, 56, 68, 88, 128, 400];

/// The commands by their lines, in which `OUT` is a name on the small file system.
const OUTPUTS: [(&[&str], &str); 13] = [
    (&["import", "--fio", "fio.json", "-o", "OUT"], "a.ssdg"),
    (&["import", "--act", "act.log", "--size", "960GB", "-o", "OUT"], "a.ssdg"),
    (&["report", "suite.ssdg", "-o", "OUT"], "a.html"),
    (&["report", "suite.ssdg", "--svg", "OUT"], "charts"),
    (&["report", "suite.ssdg", "--png", "OUT"], "charts"),
    (&["report", "suite.ssdg", "--share-image", "OUT"], "a.png"),
    (&["export", "--parquet", "OUT", "--seconds", "suite.ssdg"], "tables"),
    (&["export", "--fio", "suite.ssdg", "-o", "OUT"], "a.fio"),
    (&["fleet", "page", "suite.ssdg", "-o", "OUT"], "a.html"),
    (&["trace", "convert", "trace.txt", "OUT"], "a.trace"),
    (&["xray", "--from", "card.json", "--page", "OUT"], "a.html"),
    (&["site", "suite.ssdg", "-o", "OUT"], "site"),
    (&["prove", "sim:tiny?capacity=256MB", "--quick", "--out", "OUT"], "a.ssdg"),
];

fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_below(&path)),
            false => {
                let bytes = std::fs::read(&path).unwrap();
                files.insert(path, bytes);
            }
        }
    }
    files
}

/// Returns whether the file is complete, by its end, or for a run file by its own reader.
fn is_complete(bench: &Bench, path: &Path, bytes: &[u8]) -> bool {
    let ends = |end: &[u8]| bytes.trim_ascii_end().ends_with(end);
    match path.extension().and_then(|suffix| suffix.to_str()) {
        Some("html") => ends(b"</html>"),
        Some("svg") => ends(b"</svg>"),
        Some("png") => bytes.ends_with(b"IEND\xaeB`\x82"),
        Some("parquet") => bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"),
        Some("ssdg") => {
            let read = bench.call(&["report", path.to_str().unwrap(), "--json"]);
            read.status.success() && !text(&read.stdout).contains("\"complete\": false")
        }
        Some("js") => ends(b")") || ends(b"});"),
        Some("json") => ends(b"}"),
        Some("xml") => ends(b"</feed>"),
        Some("ssdgauge-site") => ends(b"]}"),
        Some("fio" | "trace" | "txt") => !bytes.is_empty(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_output_on_a_full_file_system_is_complete_or_absent() {
    let bench = Bench::new();
    samples::write_all(&bench);
    let Some(small) = SmallFileSystem::mount(&bench, "2m") else { return };
    let mut outcomes = [0, 0];
    for (line, name) in OUTPUTS {
        let out = small.0.join(name).display().to_string();
        let arguments: Vec<&str> =
            line.iter().map(|word| if *word == "OUT" { &out[..] } else { *word }).collect();
        for room in ROOM_KIB {
            let filler = small.fill();
            let length = filler.metadata().unwrap().len();
            assert!(length >= 1 << 20, "{arguments:?}: {:?}", files_below(&small.0).keys());
            let file = std::fs::File::options().write(true).open(&filler).unwrap();
            file.set_len(length - (room as u64) * 1_024).unwrap();
            let output = bench.call(&arguments);
            let stderr = unfolded(&text(&output.stderr));
            let what =
                format!("{arguments:?} with {room} KiB: {:?} {stderr}", output.status.code());
            let mut files = files_below(&small.0);
            files.remove(&filler);
            // A run that has begun can be resumed: its run file is read like any other.
            let has_begun = output.status.code() == Some(75);
            for (path, bytes) in &files {
                let is_journal = path.extension().is_some_and(|suffix| suffix == "ssdg-journal");
                let is_readable =
                    || bench.call(&["report", path.to_str().unwrap(), "--json"]).status.success();
                let is_whole = match has_begun {
                    true => is_journal || is_readable(),
                    false => is_complete(&bench, path, bytes),
                };
                assert!(is_whole, "{} is a part; {what}", path.display());
            }
            match output.status.code() {
                Some(0) => assert!(!files.is_empty(), "{what}"),
                Some(75) => assert!(line[0] == "prove" && stderr.contains("resume"), "{what}"),
                // What is written in several files is there as far as there was room.
                Some(1 | 3) if line[0] == "export" => {}
                Some(1 | 3) => assert!(files.is_empty(), "{files:?} is left; {what}"),
                _ => panic!("{what}"),
            }
            assert!(files.is_empty() || !stderr.contains("nothing was written;"), "{what}");
            outcomes[usize::from(output.status.success())] += 1;
            // A process that another test starts holds our open files until it executes its program, and a removed
            // file keeps its space as long.
            file.set_len(0).unwrap();
            for entry in std::fs::read_dir(&small.0).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    std::fs::remove_dir_all(path)
                } else {
                    std::fs::remove_file(path)
                }
                .unwrap();
            }
        }
    }
    println!("{} failed, {} succeeded", outcomes[0], outcomes[1]);
    assert!(outcomes.iter().all(|count| *count > OUTPUTS.len()), "{outcomes:?}");
}

#[test]
fn a_limit_of_the_size_of_files_is_an_error_and_leaves_no_part_of_an_output() {
    let bench = Bench::new();
    samples::write_all(&bench);
    let before = bench.names();
    let mut failed = 0;
    for (line, name) in OUTPUTS {
        let line: Vec<&str> =
            line.iter().map(|word| if *word == "OUT" { name } else { *word }).collect();
        // In units of 1,024 bytes for bash, and of 512 for other shells.
        let script =
            format!("ulimit -f 8; exec {} {}", env!("CARGO_BIN_EXE_ssdgauge"), line.join(" "));
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", &script]).current_dir(bench.folder.path()).output().unwrap();
        let stderr = unfolded(&text(&output.stderr));
        // A program that a signal ends has no exit code.
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 1 | 3 | 75)), "{line:?}: {:?} {stderr}", output.status);
        failed += u32::from(code != Some(0));
        let left = bench.names();
        let parts =
            left.iter().filter(|name| name.contains(".partial") || name.contains(".opening"));
        assert_eq!(parts.count(), 0, "{line:?}: {left:?}");
        for name in left.iter().filter(|name| !before.contains(name)) {
            let path = bench.path(name);
            if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
                .unwrap();
        }
    }
    assert!(failed >= 6, "{failed} of {} outputs are larger", OUTPUTS.len());
}
