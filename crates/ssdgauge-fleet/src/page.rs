//! What the page of many drives shows: those that stand out first, and every latency that was compared.

mod judged;
mod names;
mod strips;

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
        let OneRun { state, mut reasons, beyond } = judged.of(place);
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
            reasons,
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
        title: title(&drives, &judged),
        sentences: sentences(&drives, &strips, &judged),
        next: next(&places, &drives, runs),
        is_model: runs.iter().any(|one| one.is_model),
        strips,
        drives,
        method: METHOD.map(str::to_owned).to_vec(),
    }
}

/// How drives are judged.
const METHOD: [&str; 2] = [
    "Drives are compared with others of their model, firmware, capacity and suite. For each step, what is expected follows \
     from all of them: the latency in the middle in a closed loop, a regression on the rate in an open loop. The bound is \
     the latency that one healthy drive of a thousand exceeds. A drive is slow if it is beyond the bound in two steps or \
     more. The latest run of a drive counts.",
    "A dot is red where a slow drive is beyond the bound. A drive beyond it in one step stays grey: among many drives and \
     steps, some are by chance. Runs that failed or were disturbed are listed and not used as a reference.",
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
        reasons: vec![(files.last_error)(file).unwrap_or_else(|| words.to_owned())],
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

/// Returns the command that tests the slowest drive again; `None` where none is slow.
fn next(
    places: &[Option<usize>],
    drives: &[BatchDrive],
    runs: &[Extract],
) -> Option<(String, String)> {
    let slow = drives.iter().position(|drive| drive.state == BatchState::Slow)?;
    let run = &runs[places[slow]?];
    let (name, target) = (&drives[slow].name, shell_word(&run.target));
    let command = match run.suite.strip_prefix("quick") {
        Some("") => format!("ssdgauge quick {target} --label again"),
        Some(_) | None => format!("ssdgauge plan {} {target}", run.suite),
    };
    Some((format!("Test {name} again, alone:"), command))
}

fn title(drives: &[BatchDrive], judged: &Judged<'_>) -> String {
    let of_state = |state: BatchState| {
        let of = drives.iter().filter(|drive| drive.state == state);
        of.map(|drive| drive.name.as_str()).collect::<Vec<_>>()
    };
    let (all, slow) = (drives.len(), of_state(BatchState::Slow));
    let without = of_state(BatchState::NoRun).len() + of_state(BatchState::Unfinished).len();
    let mut title = match (slow.len(), judged.drives()) {
        (0, 0) => format!("{}: not judged against each other", count_of(all, "drive")),
        (0, n) => format!("No drive of {n} is slower than its peers"),
        (1, _) => format!("1 of {all} drives is slower than its peers: {}", slow[0]),
        (n, _) => format!("{n} of {all} drives are slower than their peers: {}", listed(&slow)),
    };
    match of_state(BatchState::Failed).as_slice() {
        [] => {}
        [one] => title.push_str(&format!("; {one} failed")),
        many => title.push_str(&format!("; {} failed", count_of(many.len(), "drive"))),
    }
    match of_state(BatchState::Worse).as_slice() {
        [] => {}
        [one] => title.push_str(&format!("; {one} has become worse")),
        many => title.push_str(&format!("; {} drives have become worse", many.len())),
    }
    match without {
        0 => {}
        1 => title.push_str("; 1 has no complete run"),
        n => title.push_str(&format!("; {n} have no complete run")),
    }
    title
}

/// Returns `names` as a list, at most four of them.
fn listed(names: &[&str]) -> String {
    match names {
        [first, .., last] if names.len() <= 4 => {
            let between = &names[1..names.len() - 1];
            let between: String = between.iter().map(|name| format!(", {name}")).collect();
            format!("{first}{between} and {last}")
        }
        _ => {
            let shown = names.iter().take(4).copied().collect::<Vec<_>>().join(", ");
            match names.len().saturating_sub(4) {
                0 => shown,
                more => format!("{shown} and {more} more"),
            }
        }
    }
}

/// Returns where the slowest drives stand out most, and which drives were judged.
fn sentences(drives: &[BatchDrive], strips: &[BatchStrip], judged: &Judged<'_>) -> Vec<String> {
    let slow = drives.iter().enumerate().filter(|(_, drive)| drive.state == BatchState::Slow);
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
    let mut sentences: Vec<String> = slow.take(3).filter_map(sentence).collect();
    sentences.push(judged.coverage());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_up_to_four() {
        assert_eq!(listed(&["A"]), "A");
        assert_eq!(listed(&["A", "B"]), "A and B");
        assert_eq!(listed(&["A", "B", "C", "D"]), "A, B, C and D");
        assert_eq!(listed(&["A", "B", "C", "D", "E", "F"]), "A, B, C, D and 2 more");
    }
}
