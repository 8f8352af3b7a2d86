//! Tables of many runs in one file for each suite and drive: fewer files, so that questions over thousands of
//! runs are answered sooner.
//!
//! The rows of a run are in two files for a moment, never in none: a file of many runs is written and durable
//! before the files of the single runs are removed. What a killed program leaves is removed by the next one,
//! because the name of a single file states its run.

use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use crate::terminal;
use indicatif::{ProgressBar, ProgressStyle};
use rustix::fs::{FlockOperation, flock};
use ssdgauge_core::rounded::count_of;
use ssdgauge_fleet::{Combined, MOST_RUNS, TABLES, Table, combined_name, combined_number};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The largest file that is read.
const MOST_BYTES: u64 = 1 << 30;

/// The files of one table of one suite and drive.
#[derive(Default)]
struct Partition {
    /// The files of many runs, by their number.
    combined: BTreeMap<usize, PathBuf>,
    /// The files of single runs, by the name of the run.
    single: BTreeMap<String, PathBuf>,
}

/// Keeps other exports from combining files of `folder`, or where `alone`, from writing any as well, until it
/// is dropped. Waits for exports in progress.
///
/// # Errors
///
/// Fails where the folder cannot be locked.
pub(super) fn lock(folder: &Path, alone: bool) -> Result<File, Failure> {
    let kind = if alone { FlockOperation::LockExclusive } else { FlockOperation::LockShared };
    let locked =
        File::open(folder).and_then(|file| flock(&file, kind).map(|()| file).map_err(Into::into));
    locked.map_err(|error| failure("cannot lock", folder, &error))
}

/// Combines the files of single runs below `folder`: all of them where `all`, otherwise those beside files of
/// many runs.
///
/// # Errors
///
/// Fails where a file cannot be read or written, or is none of ssdgauge. The rows of every run are then in at
/// least one file.
pub(super) fn combine(folder: &Path, all: bool) -> Result<(), Failure> {
    let mut partitions = Vec::new();
    for table in TABLES {
        for suite in folders(&folder.join(table), "suite=")? {
            for drive in folders(&suite, "drive=")? {
                let partition = partition(&drive)?;
                let is_wanted = all || !partition.combined.is_empty();
                if is_wanted && !partition.single.is_empty() {
                    partitions.push((table, drive, partition));
                }
            }
        }
    }
    let progress = ProgressBar::new(partitions.len() as u64);
    let style = ProgressStyle::with_template("{pos} of {len} tables combined, {eta} to go");
    progress.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut runs = 0;
    for (table, drive, partition) in partitions {
        runs += combine_partition(table, &drive, partition)?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    if runs > 0 {
        terminal::print_message(&format!("{} of single runs combined", count_of(runs, "table")));
    }
    Ok(())
}

/// Combines the files of one table of one suite and drive; returns how many single ones there were.
fn combine_partition(table: &str, folder: &Path, partition: Partition) -> Result<usize, Failure> {
    let Partition { combined, mut single } = partition;
    let count = single.len();
    let last = combined.keys().next_back().copied().unwrap_or(0);
    for (number, path) in &combined {
        let of_file = Combined::new(read(table, path)?);
        let inside = of_file.runs();
        let mut taken: BTreeSet<String> =
            single.keys().filter(|name| inside.contains(*name)).cloned().collect();
        if *number == last {
            let room = MOST_RUNS.saturating_sub(inside.len());
            let others = single.keys().filter(|name| !inside.contains(*name));
            taken.extend(others.take(room).cloned());
        }
        write(table, path, of_file, &taken, &mut single)?;
    }
    for number in last + 1.. {
        let taken: BTreeSet<String> = single.keys().take(MOST_RUNS).cloned().collect();
        let Some(first) = taken.first().and_then(|name| single.get(name)) else { break };
        // Its rows are taken out again, and added with the others.
        let empty = Combined::new(read(table, first)?);
        write(table, &folder.join(combined_name(number)), empty, &taken, &mut single)?;
    }
    Ok(count)
}

/// Writes `combined` with the rows of the runs `taken` in place of those that it has, and then removes the
/// files of these runs.
fn write(
    table: &str,
    path: &Path,
    mut combined: Combined,
    taken: &BTreeSet<String>,
    single: &mut BTreeMap<String, PathBuf>,
) -> Result<(), Failure> {
    if taken.is_empty() {
        return Ok(());
    }
    combined.remove(taken);
    let files: Vec<PathBuf> = taken.iter().filter_map(|name| single.remove(name)).collect();
    for file in &files {
        combined.add(read(table, file)?);
    }
    let bytes = ssdgauge_fleet::parquet(&combined.into_table()).map_err(|error| {
        let error = format!("cannot encode {}: {error}", path.display());
        Failure::new(FailureKind::Failed, error, "this is a bug in ssdgauge: please report it")
    })?;
    output::write_with(path, Format::Parquet, &[], |file| {
        file.write_all(&bytes)?;
        file.sync_all()
    })?;
    let folder = path.parent().unwrap_or(path);
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| failure("cannot sync", folder, &error))?;
    for file in &files {
        std::fs::remove_file(file).map_err(|error| failure("cannot remove", file, &error))?;
    }
    Ok(())
}

/// Reads a table that ssdgauge wrote.
fn read(table: &str, path: &Path) -> Result<Table, Failure> {
    let length = path.metadata().map_err(|error| failure("cannot read", path, &error))?.len();
    if length > MOST_BYTES {
        return Err(failure("cannot read", path, &"it is larger than 1 GiB"));
    }
    let bytes = std::fs::read(path).map_err(|error| failure("cannot read", path, &error))?;
    ssdgauge_fleet::read_parquet(table, bytes).map_err(|error| failure("cannot read", path, &error))
}

/// Returns the folders in `folder` whose names begin with `begin`, in their order; none where there is no such
/// folder.
fn folders(folder: &Path, begin: &str) -> Result<Vec<PathBuf>, Failure> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut folders = Vec::new();
    for entry in entries(folder)? {
        let name = entry.file_name().unwrap_or_default().as_encoded_bytes();
        let is_named = name.starts_with(begin.as_bytes());
        if is_named && entry.is_dir() && !entry.is_symlink() {
            folders.push(entry);
        }
    }
    folders.sort();
    Ok(folders)
}

fn partition(folder: &Path) -> Result<Partition, Failure> {
    let mut partition = Partition::default();
    let entries = entries(folder)?;
    output::remove_partial_files(&entries);
    for path in entries {
        // Partial files of other processes, and files of others, have another suffix.
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let Some(run) = name.strip_suffix(".parquet") else { continue };
        match combined_number(name) {
            Some(number) => drop(partition.combined.insert(number, path)),
            None => drop(partition.single.insert(run.to_owned(), path)),
        }
    }
    Ok(partition)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let read = std::fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>()
    });
    read.map_err(|error| failure("cannot read", folder, &error))
}

fn failure(what: &str, path: &Path, error: &dyn std::fmt::Display) -> Failure {
    let text = format!("{what} {}: {error}", path.display());
    let hint =
        "no row was lost; the run files were not changed; move the file away, or repeat the export";
    Failure::new(FailureKind::Failed, text, hint)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use ssdgauge_fleet::{Cell, Column, Kind};

    /// Returns the table `run` of the run `id` with a label.
    fn table(id: &str, label: &str) -> Vec<u8> {
        let columns =
            vec![Column::required("run_id", Kind::Text), Column::optional("label", Kind::Text)];
        let rows = vec![vec![Cell::from(id), Cell::from(label)]];
        ssdgauge_fleet::parquet(&Table { name: "run", columns, rows }).unwrap()
    }

    /// Returns each run in the files of many runs, with its label and the number of the file.
    fn rows(drive: &Path) -> Vec<(String, String, usize)> {
        let mut rows = Vec::new();
        for (number, path) in partition(drive).unwrap().combined {
            let table = read("run", &path).unwrap();
            let place = table.columns.iter().position(|one| one.name == "label").unwrap();
            for row in table.rows {
                let text = |cell: &Cell| match cell {
                    Cell::Text(text) => text.clone(),
                    other => format!("{other:?}"),
                };
                rows.push((text(&row[0]), text(&row[place]), number));
            }
        }
        rows.sort();
        rows
    }

    #[test]
    fn a_full_file_is_followed_by_another_and_a_run_that_comes_again_is_replaced_in_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let drive = folder.path().join("run/suite=s/drive=d");
        std::fs::create_dir_all(&drive).unwrap();
        let single = |id: &str, label: &str| {
            std::fs::write(drive.join(format!("{id}.parquet")), table(id, label)).unwrap();
        };
        (0..MOST_RUNS + 3).for_each(|number| single(&format!("r{number:04}"), "first"));
        combine(folder.path(), false).unwrap();
        assert!(rows(&drive).is_empty(), "nothing is combined where it is not asked for");
        combine(folder.path(), true).unwrap();
        let all = rows(&drive);
        assert_eq!((all.len(), all.last().unwrap().2), (MOST_RUNS + 3, 2));
        assert!(partition(&drive).unwrap().single.is_empty());

        // Later exports add by themselves: one run of the first file, one of the second, and a new one.
        single("r0001", "second");
        single(&format!("r{:04}", MOST_RUNS + 1), "second");
        single("s0000", "second");
        combine(folder.path(), false).unwrap();
        let all = rows(&drive);
        let changed: Vec<_> = all.iter().filter(|(_, label, _)| label == "second").collect();
        assert_eq!(all.len(), MOST_RUNS + 4);
        assert_eq!(changed.iter().map(|(_, _, file)| *file).collect::<Vec<_>>(), [1, 2, 2]);

        // What a program that was killed before it removed the single files has left.
        let before = all.clone();
        single("r0007", "first");
        combine(folder.path(), false).unwrap();
        assert_eq!((rows(&drive), partition(&drive).unwrap().single.len()), (before, 0));

        // A file of another program is neither read nor removed.
        let foreign = drive.join("foreign.parquet");
        std::fs::write(&foreign, "PAR1 of another program").unwrap();
        assert!(combine(folder.path(), true).is_err());
        assert_eq!(std::fs::read(&foreign).unwrap(), b"PAR1 of another program");
    }
}
