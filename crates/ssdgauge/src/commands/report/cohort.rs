//! The drives that a single run is compared with: the runs in a folder.

use crate::failure::{Failure, FailureKind};
use ssdgauge_analysis::{Background, Cohort, Run};
use ssdgauge_runfile::{PROOF_SUITE, XRAY_SUITE};
use std::path::{Path, PathBuf};

/// The most run files that are read from a folder.
const MAX_FILES: usize = 10_000;

/// Returns the names of the run files in `folder`, sorted.
///
/// # Errors
///
/// Fails where the folder cannot be read, or has no or too many run files.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failure = |error: String, hint: &str| Failure::new(FailureKind::Usage, error, hint);
    let name = folder.display();
    let entries = std::fs::read_dir(folder).map_err(|error| {
        failure(format!("cannot read the folder {name}: {error}"), "name a folder of run files")
    })?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_run = |path: &PathBuf| path.extension().is_some_and(|suffix| suffix == "ssdg");
    let mut files: Vec<PathBuf> = paths.filter(is_run).take(MAX_FILES + 1).collect();
    files.sort();
    match files.len() {
        0 => Err(failure(
            format!("no run file is in the folder {name}"),
            "run files end in .ssdg: `ssdgauge quick` writes one",
        )),
        n if n > MAX_FILES => Err(failure(
            format!("more than {MAX_FILES} run files are in the folder {name}"),
            "name a folder with fewer of them",
        )),
        _ => Ok(files),
    }
}

/// Returns whether one of `runs` is compared by the bands of the suite quick.
pub(super) fn has_quick(runs: &[Run]) -> bool {
    runs.iter().any(|run| run.head.plan.suite.id == "quick")
}

/// Checks that a run is compared with a cohort: quick runs, or a single other one.
///
/// # Errors
///
/// Refuses several runs of other suites, which are compared with each other.
pub(super) fn check(runs: &[Run]) -> Result<(), Failure> {
    let has_tests = |run: &Run| ![PROOF_SUITE, XRAY_SUITE].contains(&&*run.head.plan.suite.id);
    match matches!(runs, [run] if has_tests(run)) || has_quick(runs) {
        true => Ok(()),
        false => Err(Failure::new(
            FailureKind::Usage,
            "a cohort is compared with one run, or with runs of the suite quick; several runs are given",
            "give one run file, or leave --cohort out: a page of several runs compares them with each other",
        )),
    }
}

/// Reads the runs in `files` that are drawn behind the only one of `runs`.
///
/// # Errors
///
/// Fails where a file cannot be read, or no other drive went through the same tests.
pub(super) fn background(files: &[PathBuf], runs: &[Run]) -> Result<Background, Failure> {
    let background = Background::from_runs(&ssdgauge_analysis::read_all(files)?);
    match runs.iter().any(|run| background.peers(run).is_some()) {
        true => Ok(background),
        false => Err(Failure::new(
            FailureKind::Usage,
            "the cohort has no complete run of another drive with the same tests",
            "suite, revision, settings and size have to be equal: `ssdgauge list` shows them",
        )),
    }
}

/// Reads the run `files` of a cohort.
///
/// # Errors
///
/// Fails where a file cannot be read, or no run fits.
pub(super) fn read(files: &[PathBuf]) -> Result<Cohort, Failure> {
    let runs = ssdgauge_analysis::read_all(files)?;
    Cohort::from_runs(&runs).ok_or_else(|| {
        let error = "the cohort has no finished run of the suite quick on a drive of known class";
        let hint = "docs/reference/reports.md says which runs count";
        Failure::new(FailureKind::Usage, error, hint)
    })
}
