//! `ssdgauge site`: a static site of many drives.
//!
//! What a run file holds is kept in a file next to the folder of the site, so that a run is read once. Files of the site
//! that would not change are not written.

mod known;
mod reports;
mod submitted;
mod targets;

use crate::arguments::SiteArguments;
use crate::commands::xray;
use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format, Staged};
use crate::text_file::read_text_file;
use crate::{process, run_files};
use known::Known;
use ssdgauge_analysis::bench::board::Bench;
use ssdgauge_analysis::bench::record::Record;
use ssdgauge_analysis::{Notes, Run};
use ssdgauge_core::rounded::count_of;
use ssdgauge_page::BenchSite;
use ssdgauge_watch::terminal;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The folders of a site.
const FOLDERS: [&str; 4] = ["data", "drives", "suites", "tests"];

/// What crawlers may read: everything.
const ROBOTS: &str = "# ssdgauge-site\nUser-agent: *\nAllow: /\n";

/// Writes the site of the named runs.
///
/// # Errors
///
/// As [`write()`].
pub(super) fn execute(arguments: &SiteArguments) -> Result<(), Failure> {
    let notes = arguments.notes.as_deref().map(notes).transpose()?;
    write(&arguments.sources, &arguments.output, &arguments.title, notes.as_ref())
}

/// Reads the notes in `file`.
///
/// # Errors
///
/// Fails with the line and the remedy where they are invalid.
fn notes(file: &Path) -> Result<Notes, Failure> {
    let name = file.display().to_string();
    let hint =
        "notes are Markdown after TOML front matter; docs/reference/notes-and-specs.md shows them";
    let text =
        read_text_file(&name).map_err(|error| Failure::new(FailureKind::Usage, error, hint))?;
    Ok(Notes::parse(&name, &text)?)
}

/// Writes the site called `title` of the runs in `sources`, with the prices in `notes`, into `folder`.
///
/// # Errors
///
/// Fails where there is no run, and where a file cannot be written or is not one of a site; at the end where a run file could
/// not be read, or a submission was refused.
pub(super) fn write(
    sources: &[PathBuf],
    folder: &Path,
    title: &str,
    notes: Option<&Notes>,
) -> Result<(), Failure> {
    output::check_output_folder(folder)?;
    let now = process::unix_ms();
    let mut known = Known::load(folder, now);
    let suffixes = [".ssdg", submitted::SUFFIX];
    check_sources(sources, &suffixes, &known)?;
    let files = run_files::find_named(sources, &suffixes)?;
    let (submissions, new): (Vec<PathBuf>, Vec<PathBuf>) =
        known.unread(&files).into_iter().partition(|file| submitted::is_submission(file));
    let read = |path: &Path, run: &_| Ok((path.to_owned(), record(path, run)?));
    let mut others: Vec<PathBuf> = Vec::new();
    run_files::for_each_run(&new, &read, &mut |(path, record): (PathBuf, Record)| {
        others.extend(record.is_other_xray.then(|| path.clone()));
        known.add(&path, record);
    });
    for file in others {
        terminal::print_message(&format!(
            "note: {} is an X-ray of another version of ssdgauge: the site names it, without its answers",
            file.display()
        ));
    }
    for file in &submissions {
        match submitted::read(file, now) {
            Ok(record) => known.add(file, record),
            Err(why) => submitted::state(file, &why),
        }
    }
    submitted::refuse_contradictions(&mut known, &files);
    let (records, sources) = one_for_each_run(&known, &files);
    if records.is_empty() {
        let text = "no file has a run for the site";
        return Err(Failure::new(
            FailureKind::Failed,
            text,
            "the messages above state why; nothing was written",
        ));
    }
    let mut bench = Bench::new(records);
    notes.map_or(Ok(()), |notes| bench.set_prices(notes))?;
    let mut pages = ssdgauge_page::bench_pages(&BenchSite { bench: &bench, title });
    for (number, drive) in bench.drives.iter().enumerate() {
        let text = format!("{:#}\n", ssdgauge_export::bench_drive(&bench, number));
        pages.push((format!("drives/{}.json", drive.slug), text));
    }
    pages.push(("schema.json".to_owned(), ssdgauge_export::BENCH_SCHEMA.to_owned()));
    pages.push(("feed.xml".to_owned(), ssdgauge_export::bench_feed(&bench, title)));
    pages.push(("robots.txt".to_owned(), ROBOTS.to_owned()));
    let made = reports::places(folder, &bench, &sources);
    check_targets(folder, &pages, &made)?;
    for name in FOLDERS {
        output::create_folders(&folder.join(name))?;
    }
    let changed = pages.iter().map(|(name, text)| renewed(&folder.join(name), text.as_bytes()));
    let mut staged: Vec<Staged> =
        changed.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?;
    let written = staged.len();
    let reports = reports::stage(folder, &bench, &sources, &mut known)?;
    let count = reports.len();
    staged.extend(reports);
    staged.push(known.stage(folder)?);
    output::take_names(&staged)?;
    let kept: BTreeSet<PathBuf> =
        pages.iter().map(|(name, _)| folder.join(name)).chain(made).collect();
    remove_others(folder, &kept);
    terminal::print_message(&format!(
        "{}, {}: {} and {} written",
        count_of(bench.drives.len(), "drive"),
        count_of(bench.records.len(), "run"),
        count_of(written, "file"),
        count_of(count, "report"),
    ));
    terminal::print_text(&format!("{}\n", folder.join("index.html").display()));
    let unread = files.iter().filter(|file| known.record(file).is_none()).count();
    match unread {
        0 => Ok(()),
        n => Err(Failure::new(
            FailureKind::Failed,
            format!(
                "{n} of {} could not be read or {} refused",
                count_of(files.len(), "file"),
                if n == 1 { "was" } else { "were" }
            ),
            "the messages above state why, and the site has the others; write a refused submission again from its run with \
             `ssdgauge submit`, or remove it",
        )),
    }
}

/// Returns what the site keeps of `run`, which was read from `file`.
fn record(file: &Path, run: &Run) -> Result<Record, Failure> {
    let mut record = Record::of(run);
    if run.head.plan.suite.id == ssdgauge_runfile::XRAY_SUITE {
        match xray::recorded(file) {
            Ok(card) => record.xray = Some(ssdgauge_page::xray_headline(&card)),
            Err(_) if xray::asks_otherwise(file) => record.is_other_xray = true,
            Err(failure) => return Err(failure),
        }
    }
    Ok(record)
}

/// Checks that nothing that is named has vanished, such as a folder whose file system is not mounted: the site would lose all
/// of its drives.
///
/// # Errors
///
/// Fails where a source does not exist, and where a folder has none of the runs that it had.
fn check_sources(sources: &[PathBuf], suffixes: &[&str], known: &Known) -> Result<(), Failure> {
    let failed = |text: String, hint: &str| Err(Failure::new(FailureKind::Usage, text, hint));
    for source in sources {
        let name = source.display();
        if source.symlink_metadata().is_err() {
            let hint =
                "nothing was written, and an earlier site is as it was; mount or name the folder";
            return failed(format!("{name} does not exist"), hint);
        }
        let runs = known.count_below(source);
        let is_empty = || run_files::find_named(std::slice::from_ref(source), suffixes).is_err();
        if source.is_dir() && runs > 0 && is_empty() {
            let text = format!("none of the {} that {name} had is there", count_of(runs, "run"));
            let hint = "nothing was written, and the site is as it was; mount the folder, or omit it to \
                        publish without these runs";
            return failed(text, hint);
        }
    }
    Ok(())
}

/// Returns the records of `files`, of copies of a run the one with the most results, and the file of each by its id.
fn one_for_each_run(known: &Known, files: &[PathBuf]) -> (Vec<Record>, BTreeMap<String, PathBuf>) {
    let mut chosen: BTreeMap<String, (Record, PathBuf)> = BTreeMap::new();
    let results =
        |record: &Record| record.tests.iter().filter(|test| test.valid().is_some()).count();
    for (file, record) in files.iter().filter_map(|file| Some((file, known.record(file)?))) {
        // A record from samples counts before a submitted one.
        let rank = |record: &Record| (!record.submitted, results(record));
        let is_better = chosen.get(&record.id).is_none_or(|(other, _)| rank(record) > rank(other));
        if is_better {
            chosen.insert(record.id.clone(), (record.clone(), file.clone()));
        }
    }
    let with_samples = chosen.iter().filter(|(_, (record, _))| !record.submitted);
    let sources = with_samples.map(|(id, (_, file))| (id.clone(), file.clone())).collect();
    (chosen.into_values().map(|(record, _)| record).collect(), sources)
}

/// Checks every file of the site before the first one is written.
///
/// # Errors
///
/// As [`output::check`], and where a folder of the site leads out of it.
fn check_targets(
    folder: &Path,
    pages: &[(String, String)],
    made: &[PathBuf],
) -> Result<(), Failure> {
    targets::check_folders(folder, &FOLDERS)?;
    for (name, _) in pages {
        targets::check(&folder.join(name), Format::Site)?;
    }
    for place in made {
        targets::check(place, Format::Page)?;
    }
    Known::check(folder)
}

/// Stages `bytes` for the name `path` where its file has others.
fn renewed(path: &Path, bytes: &[u8]) -> Result<Option<Staged>, Failure> {
    if std::fs::read(path).is_ok_and(|existing| existing == bytes) {
        return Ok(None);
    }
    Staged::write(path, Format::Site, &[], |file| file.write_all(bytes)).map(Some)
}

/// Removes files of a site that it no longer has, such as the page of a drive whose runs are gone. A file that is not of a
/// site stays.
fn remove_others(folder: &Path, kept: &BTreeSet<PathBuf>) {
    for entry in FOLDERS
        .iter()
        .filter_map(|name| std::fs::read_dir(folder.join(name)).ok())
        .flatten()
        .flatten()
    {
        let path = entry.path();
        let mut head = Vec::new();
        let read = || std::fs::File::open(&path)?.take(4_096).read_to_end(&mut head);
        if kept.contains(&path) || !entry.file_type().is_ok_and(|kind| kind.is_file()) || { read }()
            .is_err()
        {
            continue;
        }
        let marks = [ssdgauge_page::SITE_MARK, ssdgauge_page::PAGE_MARK];
        if marks.iter().any(|mark| head.windows(mark.len()).any(|bytes| bytes == mark.as_bytes())) {
            // One that cannot be removed is of an old state of the site, and nothing leads to it.
            let _ = std::fs::remove_file(&path);
        }
    }
}
