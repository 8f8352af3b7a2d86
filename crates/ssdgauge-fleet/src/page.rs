//! What the page of many drives shows: those that stand out first, and every latency that was compared.

mod judged;
mod names;
mod strips;
mod title;

pub use judged::Extract;
use judged::{Judged, OneRun};
use names::names;
use ssdgauge_analysis::{Batch, BatchDrive, BatchState, BatchStrip, RunOutcome};
use ssdgauge_core::rounded::count_of;
use ssdgauge_core::shell_word;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The files of the runs, and what their surroundings say about them.
pub struct Files<'a> {
    /// The file of each run.
    pub of_runs: &'a [PathBuf],
    /// Run files that cannot be read.
    pub unread: &'a [PathBuf],
    /// Run files that were expected and do not exist.
    pub missing: &'a [PathBuf],
    /// Returns the address of the page of a run file; `None` where there is none.
    pub page: &'a dyn Fn(&Path) -> Option<String>,
    /// Returns the last error in the log of a run file.
    pub last_error: &'a dyn Fn(&Path) -> Option<String>,
}

/// Returns what the page shows of `runs`.
pub fn batch(runs: &[Extract], files: &Files<'_>) -> Batch {
    let identities: Vec<(Option<&str>, &str)> =
        runs.iter().map(|one| (one.label.as_deref(), one.identity())).collect();
    let judged = Judged::new(runs);
    let latest: Vec<usize> = (0..runs.len()).filter(|place| !judged.is_earlier(*place)).collect();
    let names = names(&latest.iter().map(|place| identities[*place]).collect::<Vec<_>>());
    // The latest run of a drive stands for it.
    let mut drives: Vec<(Option<usize>, BatchDrive)> = Vec::new();
    for (place, name) in latest.iter().copied().zip(names) {
        let OneRun { state, did, mut reasons, is_slow, beyond } = judged.of(place);
        let run = &runs[place];
        if matches!(run.outcome, RunOutcome::Unfinished | RunOutcome::Failed) {
            reasons.extend((files.last_error)(&files.of_runs[place]));
        }
        let label = run.label.clone().filter(|label| *label != name);
        let drive = BatchDrive {
            name,
            label,
            model: run.model.clone(),
            file: Some(files.of_runs[place].display().to_string()),
            page: (files.page)(&files.of_runs[place]),
            state,
            did,
            reasons,
            is_slow,
            beyond,
        };
        drives.push((Some(place), drive));
    }
    drives.extend(
        without_run(files, files.unread, "the run file cannot be read").map(|one| (None, one)),
    );
    let words = "no run file and no error in a log: it has not begun";
    drives.extend(without_run(files, files.missing, words).map(|one| (None, one)));
    drives
        .sort_by(|(_, a), (_, b)| (a.state, &a.model, &a.name).cmp(&(b.state, &b.model, &b.name)));
    let (places, drives): (Vec<Option<usize>>, Vec<BatchDrive>) = drives.into_iter().unzip();
    let strips = strips::strips(&judged, runs, &places, &drives);
    Batch {
        kick: kick(runs, drives.len()),
        title: title::title(&drives, judged.drives()),
        sentences: sentences(&drives, &strips, &judged),
        next: next(&places, &drives, runs),
        is_model: runs.iter().any(|one| one.is_model),
        strips,
        drives,
        method: METHOD.map(str::to_owned).to_vec(),
    }
}

/// The drives of one kind that have a sentence each.
const MOST_SENTENCES: usize = 3;

/// How drives are judged.
const METHOD: [&str; 2] = [
    "Drives are compared with others of their model, firmware, capacity and suite. For each step, what is expected follows \
     from all of them: the latency in the middle in a closed loop, a regression on the rate in an open loop. The bound is \
     the latency that one healthy drive of a thousand would exceed if they scattered normally. A drive is slow if it is \
     beyond the bound in two steps or more, or by the mean latency of one step at three times the bound (of logarithms). What held a drive back, heat \
     or its link, is said first where fewer than half of its peers had the same. The latest run of a drive counts; faults count in every run.",
    "A dot is red where a slow drive is beyond the bound. A drive just beyond it in one step stays grey: among many drives and \
     steps, some are by chance. A measure “scatters” where two or more drives that are not slow are beyond the bound: \
     such latencies, the p99 of short bursts above all, are not spread normally. Runs that failed or were disturbed are \
     listed and not used as a reference.",
];

/// Returns the drives of run files that do not exist or cannot be read.
fn without_run<'a>(
    files: &'a Files<'_>,
    without: &'a [PathBuf],
    words: &'a str,
) -> impl Iterator<Item = BatchDrive> + 'a {
    without.iter().map(move |file| BatchDrive {
        name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        label: None,
        model: String::new(),
        file: None,
        page: None,
        state: BatchState::NoRun,
        did: Vec::new(),
        reasons: vec![(files.last_error)(file).unwrap_or_else(|| words.to_owned())],
        is_slow: false,
        beyond: (0, 0),
    })
}

/// Returns the line above the headline.
fn kick(runs: &[Extract], drives: usize) -> String {
    let models: BTreeSet<&str> = runs.iter().map(|one| one.model.as_str()).collect();
    let of = match models.len() {
        0 => String::new(),
        1 => format!(" · {}", models.first().copied().unwrap_or_default()),
        n => format!(" of {n} models"),
    };
    format!("{}{of}", count_of(drives, "drive"))
}

/// Returns what to do first: read what the run of a drive with faults observed, or test the slowest drive again; `None`
/// where no drive is either.
fn next(
    places: &[Option<usize>],
    drives: &[BatchDrive],
    runs: &[Extract],
) -> Option<(String, String)> {
    let with_faults =
        |drive: &&BatchDrive| drive.state == BatchState::Failed || !drive.did.is_empty();
    if let Some(drive) = drives.iter().find(with_faults) {
        let command = format!("ssdgauge show {}", shell_word(drive.file.as_ref()?));
        return Some((format!("Read what the run of {} found:", drive.name), command));
    }
    let slow = drives.iter().position(|drive| drive.is_slow)?;
    let run = &runs[places[slow]?];
    let (name, target) = (&drives[slow].name, shell_word(&run.target));
    let command = match run.suite.strip_prefix("quick") {
        Some("") => format!("ssdgauge quick {target} --label again"),
        Some(_) | None => format!("ssdgauge plan {} {target}", run.suite),
    };
    Some((format!("Test {name} again, alone:"), command))
}

/// Returns what was observed of the drives that have faults, where the slowest drives stand out most, and which drives
/// were judged.
fn sentences(drives: &[BatchDrive], strips: &[BatchStrip], judged: &Judged<'_>) -> Vec<String> {
    let slow = drives.iter().enumerate().filter(|(_, drive)| drive.is_slow);
    let observed = drives
        .iter()
        .filter(|drive| !drive.did.is_empty())
        .filter_map(|drive| Some(format!("{}: {}.", drive.name, drive.reasons.first()?)));
    let sentence = |(place, drive): (usize, &BatchDrive)| {
        let dots = strips.iter().flat_map(|strip| strip.dots.iter().map(move |dot| (strip, dot)));
        let own = dots.filter(|(_, dot)| dot.drive == place && dot.is_slow);
        let (strip, dot) = own.max_by(|a, b| a.1.excess.total_cmp(&b.1.excess))?;
        let (slow, all) = drive.beyond;
        Some(format!(
            "{}: {} {}, where {} is usual; beyond the bound in {slow} of {all} steps.",
            drive.name, strip.title, dot.value, strip.median
        ))
    };
    let mut sentences: Vec<String> = observed.take(MOST_SENTENCES).collect();
    sentences.extend(slow.filter_map(sentence).take(MOST_SENTENCES));
    sentences.push(judged.coverage());
    sentences
}
