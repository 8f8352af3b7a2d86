//! What the process of each command may still do: decided before the command begins, in one place.
//!
//! A command that reads files of others, or computes with a virtual drive, needs no privilege of root but to read
//! these files. A command that opens a drive keeps the privileges of its caller until it has the drive; the rig then
//! drops them (`ssdgauge_host`). What it has to know before of files of others is read by a process that is
//! restricted (`reader`).

use crate::arguments::{
    Command, ExportArguments, FleetAction, Question, RunOptions, ServeArguments, TraceAction,
    XrayArguments,
};
use crate::failure::{Failure, FailureKind};
use crate::page_file::page_next_to;
use crate::{library, reader, run_files, settings};
use ssdgauge_core::is_virtual;
use ssdgauge_host::Reach;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

/// What a command may do.
#[derive(Debug, PartialEq, Eq)]
enum Restriction {
    /// What its caller may do. Files of others are read by a restricted process (`reader`).
    Unrestricted,
    /// Read, write below these folders, and wait for connections.
    Confined(Vec<PathBuf>),
    /// Read, write below these folders, and use the sockets of runs.
    Connected(Vec<PathBuf>),
    /// Read, write below these folders, and start processes that do so.
    Starting(Vec<PathBuf>),
}

/// Restricts this process to what `command` needs.
///
/// # Errors
///
/// Fails where the kernel does not take the privileges of root away.
pub(crate) fn apply(command: &Command) -> Result<(), Failure> {
    match of(command) {
        Restriction::Unrestricted => Ok(()),
        Restriction::Confined(folders) => confine(&folders, Reach::Listen),
        Restriction::Connected(folders) => confine(&folders, Reach::Connect),
        Restriction::Starting(folders) => confine(&folders, Reach::Start),
    }
}

/// Restricts a process that has its drive open to read the run file `file`; an interrupted write to the file
/// is undone.
///
/// # Errors
///
/// As [`apply`].
pub(crate) fn confine_to_read(file: &Path) -> Result<(), Failure> {
    confine(&journals(&[&file.to_owned()]), Reach::Listen)
}

/// Restricts a process that has its drive open to writes below the folders of `outputs`.
///
/// # Errors
///
/// As [`apply`].
pub(crate) fn confine_to_outputs<'a>(
    outputs: impl Iterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let folders: Vec<PathBuf> = outputs.map(|file| folder_of(Some(file))).collect();
    confine(&folders, Reach::Listen)
}

/// Restricts the process of a run that is resumed on a virtual drive, which is known when `run_file` is open.
///
/// # Errors
///
/// As [`apply`].
pub(crate) fn confine_next_to(run_file: &Path) -> Result<(), Failure> {
    let folder = folder_of(run_file.canonicalize().ok().as_deref().or(Some(run_file)));
    confine(&[folder], Reach::Connect)
}

fn confine(folders: &[PathBuf], reach: Reach) -> Result<(), Failure> {
    let confined = ssdgauge_host::confine(folders, reach);
    confined.map(|()| reader::record_restriction()).map_err(|error| {
        let text = format!("the privileges of root could not be dropped: {error}");
        Failure::new(
            FailureKind::Failed,
            text,
            "nothing was read or written; run it as another user",
        )
    })
}

/// Returns `folder` where this process may write its index: root leaves that of another user alone,
/// whose later commands could not write it.
fn writable_library(folder: PathBuf) -> Option<PathBuf> {
    let is_own = || folder.metadata().is_ok_and(|facts| facts.uid() == 0);
    (!ssdgauge_host::is_root() || is_own()).then_some(folder)
}

/// Returns what `command` may do: a new command has to be given its place here.
fn of(command: &Command) -> Restriction {
    use Restriction::{Confined, Connected, Unrestricted};
    match command {
        Command::Quick(quick) => of_run(std::slice::from_ref(&quick.target), &quick.options),
        Command::Run(run) => of_run(&run.targets, &run.options),
        Command::Plan(plan) => on_target(&plan.target, Vec::new()),
        // The run file, which a restricted process reads, says which drive is opened: `commands::resume`
        // confines the run of a virtual one.
        Command::Resume(_) => Unrestricted,
        Command::Watch(watch) => {
            Connected(watch.page.iter().map(|page| folder_of(Some(page))).collect())
        }
        Command::Prove(prove) => {
            on_target(&prove.target, vec![folder_of_run(prove.out.as_deref())])
        }
        Command::Xray(xray) => of_xray(xray),
        Command::Suites(_) | Command::Config(_) => Confined(Vec::new()),
        Command::Drives(drives) if !drives.from.is_empty() => Confined(Vec::new()),
        Command::Drives(drives) => match &drives.target {
            Some(target) => on_target(target, Vec::new()),
            // Each drive is asked for its identity.
            None => Unrestricted,
        },
        Command::Doctor(doctor) => match &doctor.target {
            Some(target) => on_target(target, Vec::new()),
            // As `drives`.
            None => Unrestricted,
        },
        // Opens the devices of meters.
        Command::Meters(_) => Unrestricted,
        Command::Report(report) => {
            let cohort = report.cohort.as_ref().or(settings::current().cohort.as_ref());
            let files = report.files.iter().chain(cohort);
            let page =
                report.output.clone().or(report.files.first().map(|file| page_next_to(file)));
            let folders = [&report.svg, &report.png].into_iter().flatten().cloned();
            let files: Vec<&PathBuf> = files.collect();
            let outputs = page.iter().chain(&report.share_image).map(|file| folder_of(Some(file)));
            Confined(journals(&files).into_iter().chain(outputs).chain(folders).collect())
        }
        Command::Claims(claims) => {
            let folders = [&claims.runs].into_iter().chain(&claims.pictures).cloned();
            Confined(folders.collect())
        }
        Command::Twin(twin) => {
            let files: Vec<_> = twin.files.iter().chain(&twin.card).collect();
            let out = twin.out.iter().map(|out| folder_of(Some(out)));
            Confined(journals(&files).into_iter().chain(out).collect())
        }
        // It reads no file of others, and starts the browser of a user who has a desktop.
        Command::Demo(_) if !ssdgauge_host::is_root() => Unrestricted,
        Command::Demo(demo) => Confined(vec![folder_of(demo.output.as_deref())]),
        Command::Compare(compare) => {
            let files = compare.files.iter().chain(&compare.history);
            Confined(journals(&files.collect::<Vec<_>>()))
        }
        Command::List(list) => {
            let library = writable_library(library::folder()).filter(|_| list.sources.is_empty());
            let sources = journals(&list.sources.iter().collect::<Vec<_>>());
            Confined(library.into_iter().chain(sources).collect())
        }
        Command::Show(show) => Confined(journals(&show.files.iter().collect::<Vec<_>>())),
        // It reads no file: another process of the program writes the page. It starts the browser of its user.
        Command::Open(_) => Unrestricted,
        Command::Export(export) => of_export(export),
        Command::Fleet(fleet) => match &fleet.action {
            FleetAction::Drift(drift) => {
                Confined(journals(&drift.sources.iter().collect::<Vec<_>>()))
            }
            // The page of a drive is next to its run file.
            FleetAction::Page(page) => {
                let outputs = page.sources.iter().map(|source| match source.is_dir() {
                    true => source.clone(),
                    false => folder_of(Some(source)),
                });
                Confined(outputs.chain([folder_of(Some(&page.output))]).collect())
            }
        },
        Command::Submit(submit) => {
            let sources = journals(&submit.sources.iter().collect::<Vec<_>>());
            let files = [&submit.output].into_iter().chain(&submit.secret);
            let folders = files.map(|file| folder_of(Some(file))).chain([submit.output.clone()]);
            Confined(sources.into_iter().chain(folders).collect())
        }
        // What it knows of runs is kept next to the folder of the site.
        Command::Site(site) => {
            let sources = journals(&site.sources.iter().collect::<Vec<_>>());
            let folders = [folder_of(Some(&site.output)), site.output.clone()];
            Confined(sources.into_iter().chain(folders).collect())
        }
        Command::Import(import) => {
            let input = import.fio.as_deref().or(import.act.as_deref());
            Confined(vec![folder_of(import.output.as_deref().or(input))])
        }
        // Starts fio on a drive; a restricted process reads the run file and the output of fio.
        Command::Crosscheck(_) => Unrestricted,
        Command::Serve(serve) => Confined(socket_folder(serve)),
        Command::Completions(_) | Command::Manual(_) | Command::Log(_) => Confined(Vec::new()),
        Command::Trace(trace) => match &trace.action {
            TraceAction::Info(_) => Confined(Vec::new()),
            TraceAction::Convert(convert) => Confined(vec![folder_of(Some(convert.out()))]),
        },
        // Opens a target, with the privileges that are measured.
        Command::Bench(_) => Unrestricted,
        Command::Reader(reader) => match &reader.question {
            // The only writer of the run file, as the command that asks is later.
            Question::Rest { file } => {
                Confined(vec![folder_of(file.canonicalize().ok().as_deref().or(Some(file)))])
            }
            Question::Records { file, .. } => Confined(journals(&[file])),
            Question::Library { folder, .. } => {
                Confined(writable_library(folder.clone()).into_iter().collect())
            }
            Question::Entries { files } => Confined(journals(&files.iter().collect::<Vec<_>>())),
            Question::Suite { .. }
            | Question::Meters { .. }
            | Question::Stated { .. }
            | Question::Trace { .. }
            | Question::Replay { .. }
            | Question::Fio => Confined(Vec::new()),
        },
        // They look at drives, or have the rights of the caller by purpose; the helper and its search restrict
        // themselves.
        Command::Notifier(_)
        | Command::Look(_)
        | Command::PrivilegedSearch(_)
        | Command::PrivilegedHelper(_) => Unrestricted,
    }
}

/// Returns what a command on `target` may do that writes below `folders`.
fn on_target(target: &str, folders: Vec<PathBuf>) -> Restriction {
    match is_virtual(target) {
        true => Restriction::Confined(folders),
        // The guard looks at the drive, and the rig drops the privileges once it is open.
        false => Restriction::Unrestricted,
    }
}

/// A run of virtual drives writes its run files and pages, and the log of its requests.
fn of_run(targets: &[String], options: &RunOptions) -> Restriction {
    // A process for one of several targets has that one.
    let own = options.part.and_then(|part| targets.get(part.number));
    let targets = own.map_or(targets, from_ref);
    if !targets.iter().all(|target| is_virtual(target)) {
        return Restriction::Unrestricted;
    }
    let out = options.out.iter().filter(|out| out.is_dir()).cloned();
    let log = options.log_ios.iter().map(|log| folder_of(Some(log)));
    let folders = out.chain([folder_of_run(options.out.as_deref())]).chain(log).collect();
    // A process for each target, which are watched.
    match options.part.is_none() && (options.watch || targets.len() > 1) {
        true => Restriction::Starting(folders),
        // It looks whether a run of the same file listens on its socket.
        false => Restriction::Connected(folders),
    }
}

fn of_xray(xray: &XrayArguments) -> Restriction {
    let files = [&xray.page, &xray.picture].into_iter().flatten();
    let folders = files.map(|file| folder_of(Some(file)));
    match &xray.target {
        Some(target) => {
            on_target(target, folders.chain([folder_of_run(xray.out.as_deref())]).collect())
        }
        None => {
            let read: Vec<&PathBuf> =
                xray.from.iter().chain(xray.compare.iter().flatten()).collect();
            Restriction::Confined(folders.chain(journals(&read)).collect())
        }
    }
}

fn of_export(export: &ExportArguments) -> Restriction {
    let output = export.output.iter().map(|file| folder_of(Some(file)));
    let sources: Vec<PathBuf> = export.sources.iter().map(PathBuf::from).collect();
    let is_job = export.parquet.is_none() && !export.jsonl;
    // A job file for a drive has its size.
    let target = export.sources.get(1).filter(|_| is_job);
    let folders = match is_job {
        true => journals(&sources.first().into_iter().collect::<Vec<_>>()),
        false => journals(&sources.iter().collect::<Vec<_>>()),
    };
    let folders = folders.into_iter().chain(export.parquet.clone()).chain(output).collect();
    match target {
        Some(target) => on_target(target, folders),
        None => Restriction::Confined(folders),
    }
}

/// The server creates its socket, and removes it.
fn socket_folder(serve: &ServeArguments) -> Vec<PathBuf> {
    let path = serve.nbd.strip_prefix("unix:").map(Path::new);
    path.map(|path| folder_of(Some(path))).into_iter().collect()
}

/// Returns the folder of the run file `out`; that of the library where none is named.
fn folder_of_run(out: Option<&Path>) -> PathBuf {
    out.map_or_else(library::folder, |out| folder_of(Some(out)))
}

/// Returns the folder of the output `file`, the current one where it has none.
fn folder_of(file: Option<&Path>) -> PathBuf {
    let folder = file.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// Returns the folders of those of the run files `sources`, and of the folders of run files, that have a journal
/// next to them: an interrupted write is undone in the file before it is read.
fn journals(sources: &[&PathBuf]) -> Vec<PathBuf> {
    let files = sources.iter().flat_map(|source| {
        // A folder that cannot be read is the error of the command.
        run_files::find(&[(*source).clone()]).unwrap_or_default()
    });
    // SQLite has the journal next to the file that a link leads to.
    let of_journal = |file: PathBuf| {
        let file = file.canonicalize().ok()?;
        let mut journal = file.clone().into_os_string();
        journal.push("-journal");
        Path::new(&journal).exists().then(|| folder_of(Some(&file)))
    };
    let mut folders: Vec<PathBuf> = files.filter_map(of_journal).collect();
    folders.dedup();
    folders
}
