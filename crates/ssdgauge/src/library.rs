//! The library: a folder of runs, each of which has a number that belongs to it for ever.
//!
//! The index in the folder keeps the numbers, and what a list shows of each file, so that a file that did not change is
//! not read again.

mod facts;
mod index;
mod scan;
pub(crate) mod words;

pub(crate) use facts::{Content, Defect, Facts};

use crate::failure::Failure;
use crate::reader::{self, Input};
use crate::{in_parallel, settings};
use index::Index;
use serde::{Deserialize, Serialize};
use ssdgauge_watch::terminal::live_lines::{Count, LiveLines};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file of a library or of another folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The number of its run; `None` outside a library, and where the library cannot be written.
    pub(crate) number: Option<u32>,
    /// Its path, as the caller may type it.
    pub(crate) file: PathBuf,
    /// What it holds.
    pub(crate) content: Content,
    /// Whether a program writes it.
    pub(crate) is_running: bool,
}

/// The files of a library, in the order of their runs' starts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Listing {
    pub(crate) entries: Vec<Entry>,
    /// The numbers of runs whose files are gone.
    pub(crate) gone: Vec<u32>,
    /// Why new runs have no numbers; `None` where all have theirs.
    pub(crate) unnumbered: Option<String>,
}

/// Returns the folder of the library: that of the settings, otherwise the current one.
pub(crate) fn folder() -> PathBuf {
    settings::current().library.clone().unwrap_or_else(|| ".".into())
}

/// Returns the place of what a new run writes as `name` where no option says another.
pub(crate) fn place_of_new(name: &str) -> PathBuf {
    match &settings::current().library {
        Some(folder) => folder.join(name),
        None => name.into(),
    }
}

/// Returns the library, with numbers for the runs that are new in it: read by a restricted process, as every file of
/// others.
///
/// # Errors
///
/// Fails where the folder cannot be read.
pub(crate) fn read() -> Result<Listing, Failure> {
    let folder = folder();
    let of_settings = settings::current().library.is_some();
    let words: &[&str] = if of_settings { &["library", "--whole"] } else { &["library"] };
    let here = || read_from(&folder, of_settings);
    reader::ask(here, words, &[folder.clone().into()], Input::None)
}

/// Returns the library in `folder`, with the folders below where it `is_whole`; this process is restricted.
///
/// # Errors
///
/// As [`read`].
pub(crate) fn read_from(folder: &Path, is_whole: bool) -> Result<Listing, Failure> {
    let mut index = Index::load(folder);
    let files = scan::files(folder, is_whole)?;
    let unread = index.take(&files);
    for (file, content) in unread.iter().zip(contents(&unread, folder)) {
        index.add(file, content);
    }
    let unnumbered = index.store(folder).err();
    let mut entries: Vec<Entry> = Vec::with_capacity(files.len());
    for file in files {
        let content = index.content(&file);
        let is_running = file.is_recent() && content.may_run() && is_written(folder, &file);
        let number = content.facts().and_then(|facts| index.number(&facts.id));
        entries.push(Entry { number, file: file.path(folder), content, is_running });
    }
    sort(&mut entries);
    Ok(Listing { gone: index.gone(), entries, unnumbered })
}

/// Returns what `files` hold, which a restricted process reads.
///
/// # Errors
///
/// That process cannot be started.
pub(crate) fn entries_in(files: &[PathBuf]) -> Result<Vec<Entry>, Failure> {
    let names: Vec<OsString> = files.iter().map(OsString::from).collect();
    reader::ask(|| Ok(entries_of(files)), &["entries"], &names, Input::None)
}

/// Returns what `files` hold; this process is restricted. They have no numbers.
pub(crate) fn entries_of(files: &[PathBuf]) -> Vec<Entry> {
    let one = |file: &PathBuf| Content::read(file);
    let contents = in_parallel::map(files.iter().collect(), one);
    let entry = |(file, content): (&PathBuf, Content)| Entry {
        number: None,
        file: file.clone(),
        is_running: content.may_run() && facts::is_written(file),
        content,
    };
    let mut entries: Vec<Entry> = files.iter().zip(contents).map(entry).collect();
    sort(&mut entries);
    entries
}

/// Sorts by the start of the run; what is not a run comes first.
fn sort(entries: &mut [Entry]) {
    let start = |entry: &Entry| entry.content.facts().map(|facts| facts.started_unix_ms);
    entries.sort_by(|a, b| (start(a), &a.file).cmp(&(start(b), &b.file)));
}

/// Reads `files`, with the number of those that are read on the terminal.
fn contents(files: &[scan::Found], folder: &Path) -> Vec<Content> {
    let (lines, count) = (LiveLines::of_stderr(), Count::to(files.len() as u64));
    let done = AtomicU64::new(0);
    in_parallel::map(files.iter().collect(), |file| {
        let content = match file.is_named_in_utf8() {
            true => Content::read(&file.path(folder)),
            false => Content::defective(Defect::Foreign, "its name is not UTF-8".to_owned()),
        };
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if lines.is_due() {
            let left = count.left(done);
            lines.show(vec![format!("{done} of {} new runs read, {left} to go", files.len())]);
        }
        content
    })
}

fn is_written(folder: &Path, file: &scan::Found) -> bool {
    facts::is_written(&file.path(folder))
}

impl Listing {
    /// Returns the file of run `number`; of several copies the one with the most finished tests.
    pub(crate) fn file_of(&self, number: u32) -> Option<&Path> {
        let copies = self.entries.iter().filter(|entry| entry.number == Some(number));
        let tests = |entry: &&Entry| entry.content.facts().map(|facts| facts.tests_done);
        // The first of equal ones.
        copies.rev().max_by_key(tests).map(|entry| entry.file.as_path())
    }

    /// Returns the numbers with a file that are nearest to `number`, ascending.
    pub(crate) fn nearest(&self, number: u32) -> Vec<u32> {
        const MOST: usize = 3;
        let mut numbers: Vec<u32> = self.entries.iter().filter_map(|entry| entry.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.sort_by_key(|one| one.abs_diff(number));
        numbers.truncate(MOST);
        numbers.sort_unstable();
        numbers
    }

    /// Returns the files of the last `count` complete runs of one suite, that of the last of all, in the order of their
    /// starts; fewer where there are fewer.
    pub(crate) fn last_complete(&self, count: usize) -> Vec<PathBuf> {
        let complete = self.entries.iter().rev().filter_map(|entry| {
            let facts = entry.content.facts().filter(|facts| facts.is_complete)?;
            Some((facts, &entry.file))
        });
        let mut found: Vec<(&Facts, &PathBuf)> = Vec::new();
        for (facts, file) in complete {
            let is_copy = found.iter().any(|(other, _)| other.id == facts.id);
            let is_of_suite = found.first().is_none_or(|(last, _)| last.suite == facts.suite);
            if found.len() < count && is_of_suite && !is_copy {
                found.push((facts, file));
            }
        }
        found.into_iter().rev().map(|(_, file)| file.clone()).collect()
    }
}
