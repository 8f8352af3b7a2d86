//! Run files as tables: Parquet files in a folder, or JSON lines.

use crate::arguments::ExportArguments;
use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use crate::terminal;
use indicatif::{ProgressBar, ProgressStyle};
use ssdgauge_fleet::Table;
use ssdgauge_report::Run;
use std::path::{Path, PathBuf};

/// Writes the tables of every run file into `folder`. A run that was exported before has the same
/// file names, and its files are replaced.
///
/// # Errors
///
/// Fails at the end where a run file could not be read, or a table could not be written; the others
/// are written.
pub(super) fn to_folder(arguments: &ExportArguments, folder: &Path) -> Result<(), Failure> {
    let inputs = run_files(&arguments.sources)?;
    let write = |path: &Path, run: &Run| {
        ssdgauge_fleet::tables(run, arguments.seconds)
            .iter()
            .try_for_each(|table| write_table(folder, path, run, table))
    };
    let exported = for_each_run(&inputs, &write, &|()| {});
    terminal::print_message(&format!("{exported} runs in {}", folder.display()));
    check_all_exported(exported, inputs.len())
}

/// Prints each row of the tables of every run file as a line of JSON.
///
/// # Errors
///
/// Fails at the end where a run file could not be read; the others are printed.
pub(super) fn to_json_lines(arguments: &ExportArguments) -> Result<(), Failure> {
    let inputs = run_files(&arguments.sources)?;
    terminal::print_json_lines(&ssdgauge_fleet::json_lines_head());
    let lines = |_: &Path, run: &Run| {
        Ok(ssdgauge_fleet::json_lines(&ssdgauge_fleet::tables(run, arguments.seconds)))
    };
    let exported = for_each_run(&inputs, &lines, &|text: String| terminal::print_json_lines(&text));
    check_all_exported(exported, inputs.len())
}

fn write_table(folder: &Path, path: &Path, run: &Run, table: &Table) -> Result<(), Failure> {
    let bytes = ssdgauge_fleet::parquet(table).map_err(|error| {
        let error =
            format!("cannot encode the table {} of {}: {error}", table.name, path.display());
        Failure::new(FailureKind::Failed, error, "this is a bug in ssdgauge: please report it")
    })?;
    let to = folder.join(ssdgauge_fleet::path(table, run));
    // No folder is created for a table that may not be written.
    output::check_place(&to)?;
    let parent = to.parent().unwrap_or(folder);
    std::fs::create_dir_all(parent).map_err(|error| {
        let error = format!("cannot create the folder {}: {error}", parent.display());
        Failure::new(FailureKind::Failed, error, "choose another folder for --parquet")
    })?;
    output::write(&to, Format::Parquet, &[path], &bytes)
}

/// Reads each of `inputs`, as many at once as there are processors, and takes the results of `work` in
/// their order. An input that fails is stated and left out. Returns the number of the others.
fn for_each_run<T: Send>(
    inputs: &[PathBuf],
    work: &(impl Fn(&Path, &Run) -> Result<T, Failure> + Sync),
    take: &dyn Fn(T),
) -> usize {
    let progress = ProgressBar::new(inputs.len() as u64);
    let style = ProgressStyle::with_template("{pos} of {len} runs, {eta} to go");
    progress.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let one = |path: &PathBuf| work(path, &ssdgauge_report::read(path)?);
    let mut exported = 0;
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    for some in inputs.chunks(at_once) {
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|path| scope.spawn(move || one(path))).collect();
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        for (path, result) in some.iter().zip(results) {
            match result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                Ok(result) => {
                    take(result);
                    exported += 1;
                }
                Err(failure) => progress.suspend(|| {
                    terminal::print_message(&format!("{}: left out", path.display()));
                    terminal::print_message(&failure.render());
                }),
            }
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    exported
}

fn check_all_exported(exported: usize, inputs: usize) -> Result<(), Failure> {
    match inputs - exported {
        0 => Ok(()),
        left_out => Err(Failure::new(
            FailureKind::Failed,
            format!("{left_out} of {inputs} runs were left out"),
            "the messages above state why; `ssdgauge report FILE` states more",
        )),
    }
}

/// Returns the named run files, and those below the named folders, sorted by name.
fn run_files(sources: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for source in sources.iter().map(Path::new) {
        match source.is_dir() {
            true => add_files_below(source, &mut files)?,
            false => files.push(source.to_owned()),
        }
    }
    if files.is_empty() {
        let error = format!("no run file is in the folder {}", sources.join(", "));
        let hint = "run files end in .ssdg: `ssdgauge quick` writes one";
        return Err(Failure::new(FailureKind::Usage, error, hint));
    }
    Ok(files)
}

/// Adds the run files in `folder` and below. Links to folders are not followed: they may form a circle.
fn add_files_below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|error| {
        let error = format!("cannot read the folder {}: {error}", folder.display());
        Failure::new(FailureKind::Usage, error, "name run files, or folders that you may read")
    })?;
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() && !path.is_symlink() {
            add_files_below(&path, files)?;
        } else if path.extension().is_some_and(|suffix| suffix == "ssdg") {
            files.push(path);
        }
    }
    Ok(())
}
