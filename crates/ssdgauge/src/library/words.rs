//! The words by which a command line names runs: files, folders of them, and numbers of the library.

use super::Listing;
use crate::arguments::{Command, FleetAction};
use crate::failure::{Failure, FailureKind};
use crate::run_files;
use ssdgauge_watch::terminal;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// The library, read where a word needs it.
#[derive(Default)]
struct Words {
    library: OnceCell<Listing>,
}

/// Puts files in the places of the numbers and folders that `command` names, before it is restricted to these files.
///
/// # Errors
///
/// Fails where a number is not in the library, a folder has no run file, or several where one is meant.
pub(crate) fn resolve(command: &mut Command) -> Result<(), Failure> {
    let words = Words::default();
    match command {
        Command::Report(report) => words.all(&mut report.files),
        Command::Show(show) => words.all_or_last(&mut show.files),
        Command::Open(open) => words.all_or_last(&mut open.files),
        Command::Compare(compare) => {
            if let Some(last) = compare.last {
                compare.files = words.last(last)?;
            }
            words.all(&mut compare.files)?;
            check_two(&compare.files)
        }
        Command::Twin(twin) if twin.ask.is_none() => {
            twin.card.iter_mut().try_for_each(|file| words.one(file, Wanted::Any))?;
            words.all(&mut twin.files)
        }
        Command::Watch(watch) if watch.files.is_empty() => {
            watch.files = words.running()?;
            Ok(())
        }
        Command::Watch(watch) => words.all(&mut watch.files),
        Command::Resume(resume) => words.one(&mut resume.file, Wanted::Unfinished),
        Command::Crosscheck(crosscheck) => words.one(&mut crosscheck.file, Wanted::Any),
        Command::Prove(prove) => {
            prove.read.iter_mut().try_for_each(|file| words.one(file, Wanted::Any))
        }
        Command::Xray(xray) => {
            let cards = xray.from.iter_mut().chain(xray.compare.iter_mut().flatten());
            cards.into_iter().try_for_each(|file| words.one(file, Wanted::Any))
        }
        Command::Export(export) => {
            // The second word of a job file is its target.
            let count = if export.fio { 1 } else { export.sources.len() };
            for source in export.sources.iter_mut().take(count) {
                let mut file = PathBuf::from(&*source);
                match export.fio && file.is_dir() {
                    true => words.one(&mut file, Wanted::Any)?,
                    false => words.number(&mut file)?,
                }
                *source = file.display().to_string();
            }
            Ok(())
        }
        Command::Fleet(fleet) => {
            let sources = match &mut fleet.action {
                FleetAction::Drift(drift) => &mut drift.sources,
                FleetAction::Page(page) => &mut page.sources,
            };
            sources.iter_mut().try_for_each(|source| words.number(source))
        }
        Command::Submit(submit) => {
            submit.sources.iter_mut().try_for_each(|source| words.number(source))
        }
        Command::Site(site) => site.sources.iter_mut().try_for_each(|source| words.number(source)),
        Command::List(list) => list.sources.iter_mut().try_for_each(|source| {
            words.number(source)?;
            match source.symlink_metadata() {
                Ok(_) => Ok(()),
                Err(_) => usage(
                    format!("file or folder {} does not exist", source.display()),
                    "`ssdgauge list` without a name lists the library".to_owned(),
                ),
            }
        }),
        Command::Quick(_)
        | Command::Run(_)
        | Command::Plan(_)
        | Command::Suites(_)
        | Command::Drives(_)
        | Command::Doctor(_)
        | Command::Config(_)
        | Command::Meters(_)
        | Command::Demo(_)
        | Command::Claims(_)
        | Command::Twin(_)
        | Command::Log(_)
        | Command::Trace(_)
        | Command::Import(_)
        | Command::Serve(_)
        | Command::Completions(_)
        | Command::Manual(_)
        | Command::Bench(_)
        | Command::PrivilegedHelper(_)
        | Command::PrivilegedSearch(_)
        | Command::Notifier(_)
        | Command::Look(_)
        | Command::Reader(_) => Ok(()),
    }
}

/// Which file of a folder is meant where a command takes one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Any,
    Unfinished,
}

impl Words {
    fn library(&self) -> Result<&Listing, Failure> {
        if let Some(library) = self.library.get() {
            return Ok(library);
        }
        let library = super::read()?;
        Ok(self.library.get_or_init(|| library))
    }

    /// Puts files in the place of numbers and folders.
    fn all(&self, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
        let mut found = Vec::with_capacity(files.len());
        for mut file in std::mem::take(files) {
            self.number(&mut file)?;
            match file.is_dir() {
                true => found.extend(run_files::find(&[file])?),
                false => found.push(file),
            }
        }
        *files = found;
        Ok(())
    }

    /// Puts files in the place of numbers and folders; the last run where nothing is named.
    fn all_or_last(&self, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
        if !files.is_empty() {
            return self.all(files);
        }
        let last = self.library()?.entries.iter().rfind(|entry| entry.content.facts().is_some());
        match last {
            Some(entry) => {
                *files = vec![entry.file.clone()];
                Ok(())
            }
            None => usage(
                format!("the library {} has no runs", super::folder().display()),
                "name a run file, or the folder of the runs with --library; `ssdgauge quick` makes a run".to_owned(),
            ),
        }
    }

    /// Puts a file in the place of a number or a folder.
    fn one(&self, file: &mut PathBuf, wanted: Wanted) -> Result<(), Failure> {
        self.number(file)?;
        if !file.is_dir() {
            return Ok(());
        }
        let mut found = run_files::find(std::slice::from_ref(file))?;
        if wanted == Wanted::Unfinished {
            let is_unfinished = |entry: &super::Entry| {
                entry.content.facts().is_some_and(|facts| !facts.is_complete)
            };
            let entries = super::entries_in(&found)?;
            found = entries.into_iter().filter(is_unfinished).map(|entry| entry.file).collect();
        }
        match found.as_slice() {
            [one] => {
                *file = one.clone();
                Ok(())
            }
            [] => usage(
                format!("no run in {} is unfinished", file.display()),
                format!("`ssdgauge list {}` shows how each ended", file.display()),
            ),
            several => usage(
                format!(
                    "{} has {} such run files, and one is meant",
                    file.display(),
                    several.len()
                ),
                format!("name one; `ssdgauge list {}` shows them", file.display()),
            ),
        }
    }

    /// Puts a file in the place of a number. An existing file of that name wins.
    fn number(&self, word: &mut PathBuf) -> Result<(), Failure> {
        let Some(number) = number(word).filter(|_| word.symlink_metadata().is_err()) else {
            return Ok(());
        };
        let library = self.library()?;
        match library.file_of(number) {
            Some(file) => {
                *word = file.to_owned();
                Ok(())
            }
            None => Err(unknown(number, library)),
        }
    }

    /// Returns the files of the last `count` complete runs.
    fn last(&self, count: usize) -> Result<Vec<PathBuf>, Failure> {
        let files = self.library()?.last_complete(count);
        match files.len() == count {
            true => {
                let names: Vec<String> =
                    files.iter().map(|file| file.display().to_string()).collect();
                terminal::print_message(&format!("last {count}: {}", names.join(", ")));
                Ok(files)
            }
            false => usage(
                format!(
                    "the library {} has {} complete runs of the suite of its last one",
                    super::folder().display(),
                    files.len()
                ),
                "`ssdgauge list` shows all; name run files, or another folder with --library"
                    .to_owned(),
            ),
        }
    }

    /// Returns the files of the runs that a program writes now.
    fn running(&self) -> Result<Vec<PathBuf>, Failure> {
        let library = self.library()?;
        let running = library.entries.iter().filter(|entry| entry.is_running);
        let files: Vec<PathBuf> = running.map(|entry| entry.file.clone()).collect();
        match files.is_empty() {
            false => Ok(files),
            true => usage(
                format!("no run in {} is in progress", super::folder().display()),
                "name a run file or a folder: `ssdgauge watch FILE`; `ssdgauge list` shows the runs of the library"
                    .to_owned(),
            ),
        }
    }
}

/// Returns the number that `word` is.
fn number(word: &Path) -> Option<u32> {
    let word = word.to_str()?;
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit()) && !word.starts_with('0');
    is_number.then(|| word.parse().ok()).flatten()
}

fn unknown(number: u32, library: &Listing) -> Failure {
    let folder = super::folder();
    let folder = folder.display();
    let text = match library.gone.contains(&number) {
        true => format!("the file of run {number} is no longer in the library {folder}"),
        false => format!("run {number} is not in the library {folder}"),
    };
    let nearest: Vec<String> = library.nearest(number).iter().map(u32::to_string).collect();
    let hint = match (nearest.is_empty(), &library.unnumbered) {
        (false, _) => {
            let are = if nearest.len() == 1 { "number is" } else { "numbers are" };
            format!("the nearest {are} {}; `ssdgauge list` shows all", nearest.join(", "))
        }
        (true, Some(why)) => format!("its runs have no numbers: {why}; name the run file"),
        (true, None) => {
            "it has no runs; name the run file, or the folder of the runs with --library".to_owned()
        }
    };
    Failure::new(FailureKind::Usage, text, hint)
}

/// Checks that two runs are compared.
fn check_two(files: &[PathBuf]) -> Result<(), Failure> {
    let text = match files.len() {
        2 => return Ok(()),
        1 => "one run is given, and two are compared".to_owned(),
        n => format!("{n} runs are given, and two are compared"),
    };
    usage(
        text,
        "name the reference and then the other run; `ssdgauge report` makes one page of any number"
            .to_owned(),
    )
}

fn usage<T>(text: String, hint: String) -> Result<T, Failure> {
    Err(Failure::new(FailureKind::Usage, text, hint))
}
