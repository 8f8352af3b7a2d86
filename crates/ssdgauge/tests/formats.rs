//! Every format that is read from files and drives, fed with damaged inputs: the targets and corpora
//! of `fuzz`, in the ordinary build. `fuzz/run` follows the coverage of the code; here the corpora,
//! which it found, are damaged at random, by a seed.

// A test ends at the first error, and states its input.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod mutation;

#[path = "../../../fuzz/src/targets/drive_answers.rs"]
mod drive_answers;
#[path = "../../../fuzz/src/targets/notes.rs"]
mod notes;
#[path = "../../../fuzz/src/targets/profile.rs"]
mod profile;
#[path = "../../../fuzz/src/targets/request_log.rs"]
mod request_log;
#[path = "../../../fuzz/src/targets/run_file.rs"]
mod run_file;
#[path = "../../../fuzz/src/targets/specification.rs"]
mod specification;
#[path = "../../../fuzz/src/targets/suite.rs"]
mod suite;
#[path = "../../../fuzz/src/targets/trace.rs"]
mod trace;

use crate::tiers::{repetitions, write_figure};
use mutation::Mutator;
use std::fmt::Write;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The processor time that an input may take: the limit of `fuzz/run`, three times for a build without
/// optimization.
const LIMIT: Duration = Duration::from_secs(60);

/// Reads an input; returns whether it was accepted.
type Target = fn(&[u8]) -> bool;

/// Returns the path of a file or folder of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns the inputs of a corpus, and the files of `folder` that end in `extension`, by name.
fn inputs(target: &str, folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let unpacked = tempfile::tempdir().unwrap();
    let corpus = repository("fuzz/corpus").join(format!("{target}.tar.xz"));
    let tar = Command::new("tar").arg("-xJf").arg(corpus).arg("-C").arg(unpacked.path()).status();
    assert!(tar.unwrap().success(), "the corpus cannot be unpacked (tar and xz)");
    let mut files = files(unpacked.path());
    if !folder.is_empty() {
        files.extend(self::files(&repository(folder)).into_iter().filter(|path| {
            path.extension().is_some_and(|found| found.as_encoded_bytes() == extension.as_bytes())
        }));
    }
    files.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Returns the files below `folder` in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files = Vec::new();
    for path in entries {
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

/// Returns the processor time of this thread.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Reads `inputs` by `target`, and `damaged` inputs made of them (a tenth of them in the first tier), of which at
/// least the share `least` has to be accepted: inputs that are refused at their first byte would show nothing.
fn check(name: &str, target: Target, inputs: &[Vec<u8>], damaged: usize, least: f64) {
    assert!(inputs.len() > 10, "{} inputs", inputs.len());
    let damaged = repetitions(damaged / 10, damaged, damaged);
    let read = |input: &[u8]| read(name, target, input);
    let (accepted, refused) = inputs.iter().map(Vec::as_slice).partition(|input| read(input));
    let mut mutator = Mutator::new(accepted, refused);
    let accepted = (0..damaged).filter(|_| read(&mutator.next())).count();
    let share = accepted as f64 / damaged as f64;
    assert!(share >= least, "{name}: {accepted} of {damaged} damaged inputs were accepted");
    figure(name, inputs.len(), damaged, accepted);
}

/// Returns whether `target` accepts `input`; fails where it panics or takes too long.
fn read(name: &str, target: Target, input: &[u8]) -> bool {
    let began = processor_time();
    let outcome = catch_unwind(|| target(input));
    let took = processor_time() - began;
    if outcome.is_err() || took > LIMIT {
        panic!("{name}: {took:?}; input in hexadecimal:\n{}", hexadecimal(input));
    }
    outcome.is_ok_and(|accepted| accepted)
}

/// Returns the first bytes of an input as text.
fn hexadecimal(input: &[u8]) -> String {
    input.iter().take(16 << 10).fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Writes a line of the table that `./check` prints at its end.
fn figure(name: &str, inputs: usize, damaged: usize, accepted: usize) {
    let command = format!("cargo test -p ssdgauge --test it formats:: {name}");
    let done = format!("{inputs} inputs of the corpus, {damaged} damaged");
    let result = format!("{accepted} accepted, 0 panics");
    write_figure(&format!("format {name}"), &done, &result, &command);
}

#[test]
fn drive_answers() {
    check("drive_answers", drive_answers::run, &inputs("drive_answers", "", ""), 400_000, 0.3);
}

#[test]
fn notes() {
    check("notes", notes::run, &inputs("notes", "", ""), 200_000, 0.1);
}

#[test]
fn profile() {
    let inputs = inputs("profile", "crates/ssdgauge-sim/profiles", "toml");
    check("profile", profile::run, &inputs, 200_000, 0.1);
}

#[test]
fn request_log() {
    check("request_log", request_log::run, &inputs("request_log", "", ""), 200_000, 0.1);
}

#[test]
fn run_file() {
    let inputs = inputs("run_file", "crates/ssdgauge-runfile/tests/format", "ssdg");
    check("run_file", run_file::run, &inputs, 40_000, 0.04);
}

#[test]
fn specification() {
    check("specification", specification::run, &inputs("specification", "", ""), 200_000, 0.1);
}

#[test]
fn suite() {
    let inputs = inputs("suite", "crates/ssdgauge-lab/suites", "toml");
    check("suite", suite::run, &inputs, 60_000, 0.04);
}

#[test]
fn trace() {
    check("trace", trace::run, &inputs("trace", "", ""), 20_000, 0.1);
}
