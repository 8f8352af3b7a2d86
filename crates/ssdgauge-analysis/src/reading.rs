//! Run files read and judged.

use crate::headlines::fill_speed;
use crate::headlines::headline;
use crate::headlines::missing;
use crate::headlines::repetitions;
use crate::load::{self, Source};
use crate::model::{RecordedRun, ReportError, Run, TestRun};
use crate::steps::fall_causes;
use crate::steps::separation;
use crate::steps::slc_cache;
use ssdgauge_runfile::RunFile;
use ssdgauge_statistics::repetition::Stopping;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

/// Reads the run file at `path` and recomputes every number from its samples.
///
/// An interrupted run is read up to its last finished step. The file is not changed.
///
/// # Errors
///
/// Returns an error for a file that is missing, damaged or of another format, and for values that
/// no drive can reach.
pub fn read(path: &Path) -> Result<Run, ReportError> {
    Ok(annotate(load::read(path, Source::Samples)?))
}

/// Reads the open run file `file`, whose path is `path`, as [`read`] does.
///
/// # Errors
///
/// As [`read`].
pub fn read_open(file: &RunFile, path: &Path) -> Result<Run, ReportError> {
    Ok(annotate(load::read_open(file, path, Source::Samples)?))
}

/// Reads the run files at `paths` as [`read`] does, with one thread per processor, and returns the
/// runs in the order of `paths`.
///
/// # Errors
///
/// Returns the first error in the order of `paths`.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Run>, ReportError> {
    read_all_from(paths, Source::Samples)
}

/// Reads the run files at `paths` as [`read_all`] does, but takes each step from its digest where the run
/// recorded one of the same arithmetic and of the same samples.
///
/// # Errors
///
/// As [`read_all`].
pub fn read_all_by_digests(paths: &[PathBuf]) -> Result<Vec<Run>, ReportError> {
    read_all_from(paths, Source::Digests)
}

fn read_all_from(paths: &[PathBuf], source: Source) -> Result<Vec<Run>, ReportError> {
    let read = |path: &Path| Ok(annotate(load::read(path, source)?));
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(paths.len());
    if workers < 2 {
        return paths.iter().map(|path| read(path)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut read_here = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(place) else { return read_here };
            read_here.push((place, read(path)));
        }
    };
    let mut runs: Vec<(usize, Result<Run, ReportError>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let join = |thread: ScopedJoinHandle<'_, Vec<_>>| match thread.join() {
            Ok(runs) => runs,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().flat_map(join).collect()
    });
    runs.sort_by_key(|(place, _)| *place);
    runs.into_iter().map(|(_, run)| run).collect()
}

/// Returns the result of a recorded run: headlines, findings, and where each step lay of the
/// drive's SLC cache.
fn annotate(recorded: RecordedRun) -> Run {
    let RecordedRun { head, tests, mut findings, complete, awaits_flush, .. } = recorded;
    let (file_name, recorded_outcome) = (recorded.file_name, recorded.recorded_outcome);
    let (ended_after, durability, proof, wear) =
        (recorded.ended_after, recorded.durability, recorded.proof, recorded.wear);
    findings.extend(awaits_flush.then(missing::no_flush));
    let stopping = match head.plan.repeat_until {
        Some(_) => Stopping::ByWidth,
        None => Stopping::Fixed,
    };
    let (mut tests, unrepeated): (Vec<TestRun>, Vec<Vec<String>>) = tests
        .into_iter()
        .filter_map(|test| {
            let results: Vec<TestRun> = test.repetitions.into_iter().map(headline::score).collect();
            let unrepeated = fall_causes::unrepeated(&results);
            Some((repetitions::merge(results, &test.totals, stopping)?, unrepeated))
        })
        .unzip();
    fall_causes::annotate(&head.drive, &findings, &mut tests, &unrepeated);
    tests.iter_mut().for_each(fill_speed::settle);
    slc_cache::classify_steps(&mut tests);
    separation::judge(&mut tests);
    if head.imported_from().is_some() {
        let of_tests = tests.iter_mut().flat_map(|test| &mut test.findings);
        let of_tests = of_tests.map(|one| &mut one.finding);
        missing::adapt_to_import(findings.iter_mut().chain(of_tests));
    }
    Run {
        head,
        file_name,
        tests,
        findings,
        complete,
        recorded_outcome,
        awaits_flush,
        ended_after,
        durability,
        proof,
        wear,
    }
}
