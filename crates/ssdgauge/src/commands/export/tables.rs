//! Run files as tables: Parquet files in a folder, or JSON lines.

use crate::arguments::ExportArguments;
use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use crate::run_files;
use ssdgauge_analysis::Run;
use ssdgauge_core::rounded::count_of;
use ssdgauge_fleet::{TABLES, Table};
use ssdgauge_watch::terminal;
use std::path::{Path, PathBuf};

/// Writes the tables of every run file into `folder`. A run that was exported before has the same
/// file names, and its files are replaced.
///
/// # Errors
///
/// Fails at the end where a run file could not be read, or a table could not be written; the others
/// are written. Fails before the first one where the folder has files of several runs.
pub(super) fn to_folder(arguments: &ExportArguments, folder: &Path) -> Result<(), Failure> {
    let inputs = run_files::one_for_each_run(run_files::find(&sources(arguments))?);
    output::create_folders(folder)?;
    prepare(folder)?;
    let write = |path: &Path, run: &Run| {
        ssdgauge_fleet::tables(run, arguments.seconds)
            .iter()
            .try_for_each(|table| write_table(folder, path, run, table))
    };
    let exported = run_files::for_each_run(&inputs, &write, &mut |()| {});
    terminal::print_message(&format!("{} in {}", count_of(exported, "run"), folder.display()));
    check_all_exported(exported, inputs.len())
}

/// Removes what killed exports left in `folder`, and refuses a file of several runs, which an earlier version
/// wrote: the rows of a run would be in it and in a file of their own, and count twice.
fn prepare(folder: &Path) -> Result<(), Failure> {
    for table in TABLES {
        for suite in folders(&folder.join(table), "suite=")? {
            for drive in folders(&suite, "drive=")? {
                let files = entries(&drive)?;
                output::remove_partial_files(&files);
                if let Some(shared) = files.iter().find(|file| begins(file, "runs+")) {
                    let error = format!("{} has the rows of several runs", shared.display());
                    let hint = "no table was written; export all run files into a new folder";
                    return Err(Failure::new(FailureKind::Refused, error, hint));
                }
            }
        }
    }
    Ok(())
}

/// Returns the folders in `folder` whose names begin with `begin`; none if `folder` does not exist.
fn folders(folder: &Path, begin: &str) -> Result<Vec<PathBuf>, Failure> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let is_wanted = |entry: &PathBuf| begins(entry, begin) && entry.is_dir() && !entry.is_symlink();
    Ok(entries(folder)?.into_iter().filter(is_wanted).collect())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let read = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect());
    read.map_err(|error: std::io::Error| {
        let error = format!("cannot read {}: {error}", folder.display());
        Failure::new(FailureKind::Failed, error, "no table was written")
    })
}

fn begins(path: &Path, begin: &str) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(begin.as_bytes()))
}

/// Prints each row of the tables of every run file as a line of JSON.
///
/// # Errors
///
/// Fails at the end where a run file could not be read; the others are printed.
pub(super) fn to_json_lines(arguments: &ExportArguments) -> Result<(), Failure> {
    let inputs = run_files::one_for_each_run(run_files::find(&sources(arguments))?);
    terminal::print_json_lines(&ssdgauge_fleet::json_lines_head());
    let lines = |_: &Path, run: &Run| {
        Ok(ssdgauge_fleet::json_lines(&ssdgauge_fleet::tables(run, arguments.seconds)))
    };
    let exported = run_files::for_each_run(&inputs, &lines, &mut |text: String| {
        terminal::print_json_lines(&text)
    });
    check_all_exported(exported, inputs.len())
}

fn sources(arguments: &ExportArguments) -> Vec<PathBuf> {
    arguments.sources.iter().map(PathBuf::from).collect()
}

fn write_table(folder: &Path, path: &Path, run: &Run, table: &Table) -> Result<(), Failure> {
    let bytes = ssdgauge_fleet::parquet(table).map_err(|error| {
        let error =
            format!("cannot encode the table {} of {}: {error}", table.name, path.display());
        Failure::new(FailureKind::Failed, error, "this is a bug in ssdgauge: please report it")
    })?;
    let to = folder.join(ssdgauge_fleet::path(table, run));
    output::create_folders(to.parent().unwrap_or(folder))?;
    output::write(&to, Format::Parquet, &[path], &bytes)
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
