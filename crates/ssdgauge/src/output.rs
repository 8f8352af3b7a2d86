//! Output files of commands: report pages, charts, tables and traces.
//!
//! One rule holds for all of them: no output replaces an input, a run file, or a file that ssdgauge
//! did not write, and none is created among the device nodes.

mod staged;

use crate::failure::{Failure, FailureKind};
use ssdgauge_os::outputs;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

pub(crate) use staged::{Staged, take_names};

/// The format of an output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A report in HTML.
    Page,
    /// A chart as SVG.
    Svg,
    /// A chart as PNG.
    Png,
    /// A job file of fio.
    FioJob,
    /// A table of runs as a Parquet file.
    Parquet,
    /// A trace in the packed form.
    PackedTrace,
    /// The index of a library.
    Index,
    /// A file of a site.
    Site,
    /// The results of a run for the repository of a collection.
    Submission,
    /// The profile of a twin.
    Twin,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Format::Page => "report",
            Format::Svg | Format::Png => "chart",
            Format::FioJob => "job file",
            Format::Parquet => "table",
            Format::PackedTrace => "trace",
            Format::Index => "index",
            Format::Site => "site",
            Format::Submission => "submission",
            Format::Twin => "twin",
        }
    }

    /// Returns the bytes that identify a file of this format as written by ssdgauge.
    fn signature(self) -> &'static [u8] {
        match self {
            Format::Page => ssdgauge_page::PAGE_MARK.as_bytes(),
            Format::Svg => ssdgauge_page::SVG_MARK.as_bytes(),
            Format::Png => ssdgauge_page::PNG_MARK,
            Format::FioJob => ssdgauge_fio::MARK.as_bytes(),
            Format::Parquet => ssdgauge_fleet::MARK.as_bytes(),
            Format::PackedTrace => ssdgauge_trace::PACKED_MARK,
            Format::Index => INDEX_MARK,
            Format::Site => ssdgauge_page::SITE_MARK.as_bytes(),
            Format::Submission => b"{\"ssdgauge-run\":",
            Format::Twin => b"# The twin of ",
        }
    }

    /// Returns the number of leading bytes that are searched for the signature.
    fn search_length(self) -> u64 {
        match self {
            Format::Page
            | Format::Svg
            | Format::Png
            | Format::FioJob
            | Format::Index
            | Format::Site
            | Format::Submission
            | Format::Twin => 4_096,
            Format::PackedTrace => ssdgauge_trace::PACKED_MARK.len() as u64,
            // It has its program at its end; the seconds of a run of a week take some 50 MB.
            Format::Parquet => 1 << 30,
        }
    }
}

/// How the lines of the index of a library begin.
const INDEX_MARK: &[u8] = b"{\"ssdgauge-";

/// The suffix of a file that is not complete, after the number of the process that writes it.
const PARTIAL: &str = ".partial";

/// Checks that the file or folder `path` can be created where it is: not among the device nodes, and not by a `..`
/// of a folder that does not exist. Nothing is written.
///
/// # Errors
///
/// Refuses such a place.
pub(crate) fn check_place(path: &Path) -> Result<(), Failure> {
    match outputs::check(path) {
        Err(error) if outputs::is_among_device_nodes(&error) => {
            Err(Failure::not_created(path, &error))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::new(
            FailureKind::Usage,
            format!("{} leads out of a folder that does not exist", path.display()),
            "nothing was written; name the place without `..`",
        )),
        // A folder that cannot be opened is the error of the call that needs it.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Creates `folder` and the folders above it that are missing.
///
/// # Errors
///
/// Refuses a place among the device nodes; fails where a folder cannot be created. No folder is left then.
pub(crate) fn create_folders(folder: &Path) -> Result<(), Failure> {
    check_place(&folder.join("file"))?;
    outputs::create_folders(folder).map_err(|error| Failure::not_created(folder, &error))
}

/// Checks that a file of `format` may be written at `path`; `inputs` are the files that the command
/// reads. Nothing is written.
///
/// # Errors
///
/// Refuses the name of a run file, an input, an existing file that ssdgauge did not write in this
/// format, and a place among the device nodes; fails where the folder is missing.
pub(crate) fn check(path: &Path, format: Format, inputs: &[&Path]) -> Result<(), Failure> {
    check_place(path)?;
    check_folder(path)?;
    check_existing(path, format, inputs).map(drop)
}

/// Checks that `path` can be a new file: nothing has that name, its folder exists, and it does not lie among the
/// device nodes. `what`, such as `the run`, is what could be continued instead.
///
/// # Errors
///
/// Fails with exit code 2 or 3 where it cannot.
pub(crate) fn check_new(path: &Path, what: Option<&str>) -> Result<(), Failure> {
    check_place(path)?;
    check_folder(path)?;
    if path.symlink_metadata().is_ok() {
        let resumed = what
            .map_or(String::new(), |what| format!(", or continue {what} with `ssdgauge resume`"));
        return Err(Failure::new(
            FailureKind::Refused,
            format!("{} exists already", path.display()),
            format!("nothing was written; name another --out{resumed}"),
        ));
    }
    Ok(())
}

/// Checks that the folder of the new file `path` exists, and that `path` is not the dash of other programs
/// for the standard output.
///
/// # Errors
///
/// Fails with exit code 2 where either does not hold.
pub(crate) fn check_folder(path: &Path) -> Result<(), Failure> {
    let usage = |text: String, hint: &str| Err(Failure::new(FailureKind::Usage, text, hint));
    if path == Path::new("-") {
        let hint =
            "nothing was written; name a file; `report` prints with --json, --csv or --markdown";
        return usage("'-' is not a file".to_owned(), hint);
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            let hint = "nothing was written; create it, or name a file in another folder";
            usage(format!("folder {} does not exist", folder.display()), hint)
        }
        _ => Ok(()),
    }
}

/// Checks that `folder` can hold output files: it is a folder, or nothing has its name. Nothing is
/// written.
///
/// # Errors
///
/// Fails with exit code 2 where something else has its name.
pub(crate) fn check_output_folder(folder: &Path) -> Result<(), Failure> {
    check_place(folder)?;
    match folder.exists() && !folder.is_dir() {
        true => Err(Failure::new(
            FailureKind::Usage,
            format!("{} is not a folder", folder.display()),
            "nothing was written; name a folder",
        )),
        false => Ok(()),
    }
}

/// Writes `bytes` as a file of `format` at `path`; an existing one of the same format is replaced.
///
/// The bytes are written under a temporary name first: a reader never sees a partial file, and a
/// symbolic link is replaced, not followed.
///
/// # Errors
///
/// Refuses what [`check`] refuses, and fails where the file cannot be written.
pub(crate) fn write(
    path: &Path,
    format: Format,
    inputs: &[&Path],
    bytes: &[u8],
) -> Result<(), Failure> {
    write_with(path, format, inputs, |file| file.write_all(bytes))
}

/// Writes the file `name` of `format` into `folder`, which is created where it is missing; otherwise as
/// [`write()`].
///
/// # Errors
///
/// As [`write()`], and where the folder cannot be created.
pub(crate) fn write_into(
    folder: &Path,
    name: &str,
    format: Format,
    inputs: &[&Path],
    bytes: &[u8],
) -> Result<(), Failure> {
    let path = folder.join(name);
    create_folders(folder)?;
    write(&path, format, inputs, bytes)
}

/// Writes a file of `format` at `path` by `write`, for contents that are not held in memory; otherwise as
/// [`write()`].
///
/// # Errors
///
/// As [`write()`].
pub(crate) fn write_with(
    path: &Path,
    format: Format,
    inputs: &[&Path],
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), Failure> {
    Staged::write(path, format, inputs, write)?.take_name(inputs)
}

/// Creates the file `path`, which must not exist.
///
/// # Errors
///
/// The place is among the device nodes, or the error of the kernel.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    outputs::create_file(path, 0o666)
}

/// The first bytes of a run file: the header of an SQLite database (file format, section 1.3).
const RUN_FILE_HEAD: &[u8] = b"SQLite format 3\0";

/// Returns whether `path` exists and may be replaced; `false` if it does not exist.
fn check_existing(path: &Path, format: Format, inputs: &[&Path]) -> Result<bool, Failure> {
    let refused = |what: &str| {
        let name = format.name();
        let text = format!("{} {what}, and is not replaced by a {name}", path.display());
        let hint = format!("nothing was written; name another file for the {name}");
        Err(Failure::new(FailureKind::Refused, text, hint))
    };
    if path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("ssdg")) {
        return refused("has the name of a run file");
    }
    check_place(path)?;
    if path.symlink_metadata().is_err() {
        return Ok(false);
    }
    let Ok(existing) = path.metadata() else { return refused("is a dangling symbolic link") };
    if inputs.iter().any(|input| outputs::is_same_file(input, path)) {
        return refused("is read by this command");
    }
    if !existing.is_file() {
        return refused("is not a regular file");
    }
    let mut head = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(format.search_length()).read_to_end(&mut head));
    // A run file keeps texts of strangers, such as the name of a drive: one may contain a signature.
    if head.starts_with(RUN_FILE_HEAD) {
        return refused("is a run file");
    }
    let signature = format.signature();
    match read.is_ok() && head.windows(signature.len()).any(|bytes| bytes == signature) {
        true => Ok(true),
        false => refused(&format!("exists and is not a {} of ssdgauge", format.name())),
    }
}

/// A complete file that does not have its name yet. Dropped, it is removed.
struct Partial {
    path: PathBuf,
}

impl Partial {
    /// Writes the contents of the later file `path` by `write`, until they are durable where they shall be.
    fn write(
        path: &Path,
        is_durable: bool,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<Partial> {
        // Partial files of killed processes; one that cannot be removed does no harm.
        for stale in ssdgauge_runfile::stale_temp_files(path, PARTIAL) {
            let _ = std::fs::remove_file(stale);
        }
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}{PARTIAL}", std::process::id()));
        let mut file = create_new(Path::new(&name))?;
        let partial = Partial { path: name.into() };
        // On the medium before it has its name: after a power failure, a new name may stand for a file of
        // zeros, which no later command would replace.
        write(&mut file).and_then(|()| if is_durable { file.sync_all() } else { Ok(()) })?;
        Ok(partial)
    }

    /// Renames it to `path`, which is replaced only if `replaces`; fails with `AlreadyExists` where there is
    /// a file and it does not replace.
    fn take_name(&self, path: &Path, replaces: bool) -> io::Result<()> {
        match replaces {
            true => outputs::replace(&self.path, path),
            false => outputs::name(&self.path, path),
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // It is our own; after a rename there is none.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes those of `entries` that are named `NAME.PID.partial` and whose process has ended.
pub(crate) fn remove_partial_files(entries: &[PathBuf]) {
    let finished = entries.iter().filter_map(|path| {
        let rest = path.to_str()?.strip_suffix(PARTIAL)?;
        Some(PathBuf::from(rest.rsplit_once('.')?.0))
    });
    for stale in finished.flat_map(|path| ssdgauge_runfile::stale_temp_files(&path, PARTIAL)) {
        // One that cannot be removed does no harm.
        let _ = std::fs::remove_file(stale);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn writing_a_page_removes_the_partial_files_of_killed_processes_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        // The first number is above the largest process id of Linux (4,194,304); process 1 is running.
        for name in ["a.html.4194305.partial", "a.html.1.partial", "b.html.4194305.partial"] {
            std::fs::write(folder.path().join(name), "partial").unwrap();
        }
        write(&path, Format::Page, &[], b"complete").unwrap();
        let mut names: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a.html", "a.html.1.partial", "b.html.4194305.partial"]);
    }

    #[test]
    fn only_existing_outputs_of_the_same_format_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let formats = [Format::Page, Format::Svg, Format::Png];
        for format in formats {
            let own = file("own", &[b"<x>", format.signature()].concat());
            write(&own, format, &[], b"new").unwrap();
            assert_eq!(std::fs::read(&own).unwrap(), b"new");
            for other in formats.into_iter().filter(|other| *other != format) {
                let foreign = file("foreign", other.signature());
                assert!(write(&foreign, format, &[], b"new").is_err());
                assert_eq!(std::fs::read(&foreign).unwrap(), other.signature());
            }
        }
        let signature = Format::Page.signature();
        let late =
            file("late", &[&vec![b' '; Format::Page.search_length() as usize], signature].concat());
        let run_file = file("a.SSDG", signature);
        let renamed_run_file = file("run.html", &[RUN_FILE_HEAD, signature].concat());
        let input = file("input.html", signature);
        let linked = folder.path().join("second.html");
        std::fs::hard_link(&input, &linked).unwrap();
        let link = folder.path().join("link.html");
        std::os::unix::fs::symlink(&input, &link).unwrap();
        let nowhere = folder.path().join("nowhere.html");
        std::os::unix::fs::symlink("missing", &nowhere).unwrap();
        let folder_itself = folder.path().to_owned();
        let paths = [&late, &run_file, &renamed_run_file, &input, &linked, &link, &nowhere];
        for path in paths.into_iter().chain([&folder_itself]) {
            let error = write(path, Format::Page, &[&input], b"new").unwrap_err();
            assert!(error.hint.contains("nothing was written"), "{}", error.error);
        }
        assert_eq!(std::fs::read(&input).unwrap(), signature);
        assert!(!folder.path().join("missing").exists());
        // A link to an older report is replaced itself.
        write(&link, Format::Page, &[], b"new").unwrap();
        assert!(!link.is_symlink());
        assert_eq!(std::fs::read(&input).unwrap(), signature);
    }

    #[test]
    fn a_file_created_since_the_check_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        std::fs::write(&path, "theirs").unwrap();
        let partial = Partial::write(&path, true, |file| file.write_all(b"ours")).unwrap();
        let error = partial.take_name(&path, false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        drop(partial);
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_another_export_has_written_meanwhile_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        let theirs = [Format::Page.signature(), b"theirs"].concat();
        let between = |file: &mut File| {
            std::fs::write(&path, &theirs)?;
            file.write_all(b"ours")
        };
        write_with(&path, Format::Page, &[], between).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"ours");
        std::fs::remove_file(&path).unwrap();
        let between = |file: &mut File| {
            std::fs::write(&path, "a stranger's")?;
            file.write_all(b"ours")
        };
        assert!(write_with(&path, Format::Page, &[], between).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"a stranger's");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
}
