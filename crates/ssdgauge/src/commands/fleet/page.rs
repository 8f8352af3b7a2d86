//! `ssdgauge fleet page`: one page of many drives that leads with those that stand out.

use crate::arguments::FleetPageArguments;
use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use crate::page_file::{page_next_to, write_page};
use crate::run_files;
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_fleet::page::{Extract, Files, batch};
use ssdgauge_watch::terminal;
use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The end of a log that is searched for an error, in bytes.
const LOG_END: u64 = 1 << 16;

/// Writes the page of many drives, and with `--pages` that of each one whose page is missing or older than its run.
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
    let counted = run_files::one_for_each_run(inputs.clone());

    let mut read: Vec<(PathBuf, Extract)> = Vec::new();
    let work = |path: &Path, run: &Run| {
        if arguments.pages {
            write_own_page(path, run)?;
        }
        Ok((path.to_owned(), Extract::new(run)))
    };
    run_files::for_each_run(&counted, &work, &mut |one| read.push(one));
    let known: BTreeSet<&PathBuf> = read.iter().map(|(path, _)| path).collect();
    let unread: Vec<PathBuf> =
        counted.iter().filter(|file| !known.contains(*file)).cloned().collect();
    let (files, runs): (Vec<PathBuf>, Vec<Extract>) = read.into_iter().unzip();

    let output = &arguments.output;
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok();
    let link = |file: &Path| {
        let page = page_next_to(file);
        let page = if page == *output { None } else { page.canonicalize().ok() }?;
        page.strip_prefix(folder.as_ref()?).ok()?.to_str().map(str::to_owned)
    };
    let batch = batch(
        &runs,
        &Files {
            of_runs: &files,
            unread: &unread,
            missing: &missing,
            page: &link,
            last_error: &last_error,
        },
    );
    let mark = if batch.is_model { "MODEL: " } else { "" };
    let words = format!("{mark}{}\n", batch.title);
    let page = ssdgauge_page::fleet_page(&batch);
    output::write(&arguments.output, Format::Page, &all, page.as_bytes())?;
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
        |file: &&&Path| output_place.is_some() && place(&page_next_to(file)) == output_place;
    files.iter().find(of_one).map_or(Ok(()), |file| {
        let text = format!("{} is the page of the drive of {}", output.display(), file.display());
        Err(Failure::new(FailureKind::Usage, text, "nothing was written; name another --out"))
    })
}

/// Writes the page of `run` next to its file, where there is none or an older one. A file of that name
/// that is not a page stays.
fn write_own_page(file: &Path, run: &Run) -> Result<(), Failure> {
    let page = page_next_to(file);
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

/// Returns the last error in the log next to the run file, which a laboratory keeps there.
fn last_error(file: &Path) -> Option<String> {
    let mut log = std::fs::File::open(file.with_extension("log")).ok()?;
    let length = log.metadata().ok().filter(|data| data.is_file())?.len();
    log.seek(SeekFrom::Start(length.saturating_sub(LOG_END))).ok()?;
    let mut end = Vec::new();
    log.take(LOG_END).read_to_end(&mut end).ok()?;
    let text = String::from_utf8_lossy(&end);
    text.lines().rfind(|line| line.starts_with("error: ")).map(str::to_owned)
}
