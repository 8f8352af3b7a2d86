//! `ssdgauge fleet page`: one page of many drives that leads with those that stand out, and one of each.

use super::judged::{Judged, OneRun};
use super::names::Names;
use crate::arguments::FleetPageArguments;
use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use crate::page_file::{page_beside, write_page};
use crate::{run_files, terminal};
use ssdgauge_core::rounded::count_of;
use ssdgauge_report::{Batch, BatchDrive, BatchState, PageOptions, Run};
use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The end of a log that is searched for an error, in bytes.
const LOG_END: u64 = 1 << 16;

/// Writes the page of many drives, and that of each one whose page is missing or older than its run.
///
/// # Errors
///
/// Fails where there is no run or a page cannot be written, and at the end where a run file could not
/// be read.
pub(super) fn execute(arguments: &FleetPageArguments) -> Result<(), Failure> {
    let found = run_files::find(&arguments.sources)?;
    let (inputs, missing): (Vec<PathBuf>, Vec<PathBuf>) =
        found.into_iter().partition(|file| !arguments.expected || file.exists());
    let all: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    output::check(&arguments.output, Format::Page, &all)?;
    check_name(&arguments.output, &all)?;

    let mut read: Vec<(PathBuf, Run)> = Vec::new();
    let take = &mut |one| read.push(one);
    run_files::for_each_run(&inputs, &|path, run| Ok((path.to_owned(), run.clone())), take);
    let known: BTreeSet<PathBuf> = read.iter().map(|(path, _)| path.clone()).collect();
    let unread: Vec<PathBuf> =
        inputs.iter().filter(|file| !known.contains(*file)).cloned().collect();
    for (path, run) in &read {
        write_own_page(path, run)?;
    }
    let (mut runs, mut files) = (Vec::new(), Vec::new());
    for (path, run) in read {
        files.push(path);
        runs.push(run);
    }
    let (counted, repeated) = ssdgauge_report::once_each(runs);
    let left_out: BTreeSet<usize> = repeated.iter().map(|one| one.left_out).collect();
    let files = files.into_iter().enumerate().filter(|(place, _)| !left_out.contains(place));
    let files: Vec<PathBuf> = files.map(|(_, file)| file).collect();

    let batch = batch(&files, &counted, (&unread, &missing), &arguments.output);
    let mark = if counted.iter().any(Run::is_model) { "MODEL: " } else { "" };
    let words = format!("{mark}{}\n", batch.title);
    let options = PageOptions { batch: Some(batch), ..PageOptions::default() };
    write_page(&arguments.output, &all, &counted, &options)?;
    terminal::print_text(&words);
    terminal::print_message(&format!("report: {}", arguments.output.display()));
    match unread.len() {
        0 => Ok(()),
        n => Err(Failure::new(
            FailureKind::Failed,
            format!("{n} of {} run files could not be read", inputs.len()),
            "the messages above state why; the page names them",
        )),
    }
}

/// Refuses a name for the page of all drives that the page of one of `files` has.
fn check_name(output: &Path, files: &[&Path]) -> Result<(), Failure> {
    // Neither page has to exist.
    let place = |page: &Path| {
        let folder = page.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(page.file_name()?))
    };
    let output_place = place(output);
    let of_one =
        |file: &&&Path| output_place.is_some() && place(&page_beside(file)) == output_place;
    files.iter().find(of_one).map_or(Ok(()), |file| {
        let text = format!("{} is the page of the drive of {}", output.display(), file.display());
        Err(Failure::new(FailureKind::Usage, text, "nothing was written; name another --output"))
    })
}

/// Writes the page of `run` beside its file, where there is none or an older one. A file of that name
/// that is no page stays.
fn write_own_page(file: &Path, run: &Run) -> Result<(), Failure> {
    let page = page_beside(file);
    let changed = |path: &Path| path.metadata().and_then(|data| data.modified());
    let is_new = match (changed(&page), changed(file)) {
        (Ok(page), Ok(file)) => page >= file,
        (Err(_), _) | (_, Err(_)) => false,
    };
    if is_new {
        return Ok(());
    }
    write_page(&page, &[file], std::slice::from_ref(run), &PageOptions::default())
}

/// Returns what the page leads with.
fn batch(
    files: &[PathBuf],
    runs: &[Run],
    (unread, missing): (&[PathBuf], &[PathBuf]),
    output: &Path,
) -> Batch {
    let names = Names::new(runs);
    let judged = Judged::new(runs);
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok();
    let link = |file: &Path| {
        let page = page_beside(file);
        let page = if page == output { None } else { page.canonicalize().ok() }?;
        page.strip_prefix(folder.as_ref()?).ok()?.to_str().map(str::to_owned)
    };
    let mut drives: Vec<BatchDrive> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        // The latest run of a drive stands for it.
        if judged.is_earlier(place) {
            continue;
        }
        let OneRun { state, mut reasons } = judged.of(place);
        if !run.complete {
            reasons.extend(last_error(&files[place]));
        }
        drives.push(BatchDrive {
            name: names.of(place).to_owned(),
            model: run.head.drive.name().to_owned(),
            page: link(&files[place]),
            state,
            reasons,
        });
    }
    let mut without = |files: &[PathBuf], words: &str| {
        for file in files {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            drives.push(BatchDrive {
                name: stem.into_owned(),
                model: String::new(),
                page: None,
                state: BatchState::NoRun,
                reasons: vec![last_error(file).unwrap_or_else(|| words.to_owned())],
            });
        }
    };
    without(unread, "the run file cannot be read");
    without(missing, "no run file and no error in a log: it has not begun");
    drives.sort_by(|a, b| (a.state, &a.model, &a.name).cmp(&(b.state, &b.model, &b.name)));
    Batch { title: title(&drives, &judged), sentences: sentences(&drives, &judged), drives }
}

/// Returns the last error in the log beside the run file, which a laboratory keeps there.
fn last_error(file: &Path) -> Option<String> {
    let mut log = std::fs::File::open(file.with_extension("log")).ok()?;
    let length = log.metadata().ok().filter(|data| data.is_file())?.len();
    log.seek(SeekFrom::Start(length.saturating_sub(LOG_END))).ok()?;
    let mut end = Vec::new();
    log.take(LOG_END).read_to_end(&mut end).ok()?;
    let text = String::from_utf8_lossy(&end);
    text.lines().rfind(|line| line.starts_with("error: ")).map(str::to_owned)
}

fn title(drives: &[BatchDrive], judged: &Judged) -> String {
    let of_state = |state: BatchState| {
        let of = drives.iter().filter(|drive| drive.state == state);
        of.map(|drive| drive.name.as_str()).collect::<Vec<_>>()
    };
    let (all, slow) = (drives.len(), of_state(BatchState::Slow));
    let without = of_state(BatchState::NoRun).len() + of_state(BatchState::Unfinished).len();
    let mut title = match (slow.len(), judged.drives()) {
        (0, 0) => format!("{}: not judged beside each other", count_of(all, "drive")),
        (0, n) => format!("No drive of {n} is slower than its peers"),
        (1, _) => format!("1 of {all} drives is slower than its peers: {}", slow[0]),
        (n, _) => format!("{n} of {all} drives are slower than their peers: {}", listed(&slow)),
    };
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

fn sentences(drives: &[BatchDrive], judged: &Judged) -> Vec<String> {
    let mut sentences: Vec<String> = drives
        .iter()
        .filter(|drive| drive.state == BatchState::Slow)
        .take(3)
        .filter_map(|drive| Some(format!("{}: {}.", drive.name, drive.reasons.first()?)))
        .collect();
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
