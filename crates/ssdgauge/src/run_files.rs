//! Run files by name, and those below folders; read side by side.

use crate::failure::{Failure, FailureKind};
use crate::in_parallel;
use ssdgauge_analysis::Run;
use ssdgauge_runfile::RunFile;
use ssdgauge_watch::terminal;
use ssdgauge_watch::terminal::live_lines::{Count, LiveLines};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Returns the named run files, and those below the named folders, sorted by name.
///
/// # Errors
///
/// Fails where a folder cannot be read, and where there is no run file.
pub(crate) fn find(sources: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    find_named(sources, &[".ssdg"])
}

/// Returns the named files, and those below the named folders whose names end in one of `suffixes`, sorted by name.
///
/// # Errors
///
/// As [`find`].
pub(crate) fn find_named(sources: &[PathBuf], suffixes: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for source in sources {
        match source.is_dir() {
            true => add_files_below(source, suffixes, &mut files)?,
            false => files.push(source.clone()),
        }
    }
    if files.is_empty() {
        let error = format!("no run file is in the folder {}", listed(sources));
        let hint = "run files end in .ssdg: `ssdgauge quick` writes one";
        return Err(Failure::new(FailureKind::Usage, error, hint));
    }
    Ok(files)
}

/// Adds the run files in `folder` and below. Links to folders are not followed: they may form a circle.
fn add_files_below(
    folder: &Path,
    suffixes: &[&str],
    files: &mut Vec<PathBuf>,
) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|error| {
        let error = format!("cannot read the folder {}: {error}", folder.display());
        Failure::new(FailureKind::Usage, error, "name run files, or folders that you may read")
    })?;
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() && !path.is_symlink() {
            add_files_below(&path, suffixes, files)?;
        } else if path.file_name().is_some_and(|name| has_suffix(name, suffixes)) {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns whether a name ends in one of `suffixes`, and is more than that.
fn has_suffix(name: &std::ffi::OsStr, suffixes: &[&str]) -> bool {
    let name = name.as_encoded_bytes();
    suffixes.iter().any(|suffix| name.len() > suffix.len() && name.ends_with(suffix.as_bytes()))
}

fn listed(sources: &[PathBuf]) -> String {
    let names: Vec<String> = sources.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}

/// Returns `inputs` without copies of a run: the file with the most steps counts, and each other one is stated.
/// A file that cannot be read stays.
pub(crate) fn one_for_each_run(inputs: Vec<PathBuf>) -> Vec<PathBuf> {
    let id = |path: &PathBuf| RunFile::open(path).ok().map(|run| run.head().id.clone());
    // By their places: one name can be given twice.
    let mut files: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, id) in in_parallel::map(inputs.iter().collect(), id).into_iter().enumerate() {
        if let Some(id) = id {
            files.entry(id).or_default().push(place);
        }
    }
    let mut left_out = BTreeSet::new();
    for copies in files.into_values().filter(|files| files.len() > 1) {
        let read = |place: usize| Some((place, ssdgauge_analysis::read(&inputs[place]).ok()?));
        let (places, runs): (Vec<usize>, Vec<Run>) = copies.into_iter().filter_map(read).unzip();
        let paths: Vec<PathBuf> = places.iter().map(|place| inputs[*place].clone()).collect();
        left_out.extend(once_each(&paths, runs).1.into_iter().map(|copy| places[copy]));
    }
    let counted = inputs.into_iter().enumerate().filter(|(place, _)| !left_out.contains(place));
    counted.map(|(_, path)| path).collect()
}

/// Returns `runs` of `files` without those that were given twice, and the places of these, with a note for
/// each.
pub(crate) fn once_each(files: &[PathBuf], runs: Vec<Run>) -> (Vec<Run>, Vec<usize>) {
    let (runs, repeated) = ssdgauge_analysis::once_each(runs);
    let mut left_out = Vec::new();
    for one in repeated {
        let (file, counted) = (&files[one.left_out], files[one.counted].display());
        terminal::print_message(&format!(
            "note: {} has the same run as {counted}, and is left out",
            file.display()
        ));
        left_out.push(one.left_out);
    }
    (runs, left_out)
}

/// Reads each of `inputs`, as many at once as there are processors, and takes the results of `work` in
/// their order. An input that fails is stated and left out. Returns the number of the others.
pub(crate) fn for_each_run<T: Send>(
    inputs: &[PathBuf],
    work: &(impl Fn(&Path, &Run) -> Result<T, Failure> + Sync),
    take: &mut dyn FnMut(T),
) -> usize {
    let (progress, count) = (LiveLines::of_stderr(), Count::to(inputs.len() as u64));
    let one = |path: &PathBuf| work(path, &ssdgauge_analysis::read(path)?);
    let (mut exported, mut done) = (0, 0);
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    for some in inputs.chunks(at_once) {
        let results = in_parallel::map(some.iter().collect(), one);
        for (path, result) in some.iter().zip(results) {
            match result {
                Ok(result) => {
                    take(result);
                    exported += 1;
                }
                Err(failure) => {
                    progress.print(&format!("{}: left out", path.display()));
                    progress.print_lines(failure.lines());
                }
            }
            done += 1;
        }
        let left = count.left(done);
        progress.show(vec![format!("{done} of {} runs, {left} to go", inputs.len())]);
    }
    exported
}
