//! The report page of a run file, and the summary at the end of a run.

#[cfg(target_os = "linux")]
mod run_end;

use crate::failure::Failure;
use crate::output::{self, Format};
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_runfile::RunFile;
use ssdgauge_watch::rest_of_run::RestOfRun;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
pub(crate) use run_end::{finish_run, write_report};

/// Returns the default path of the page of a run file: the same name with the suffix `.html`.
pub(crate) fn page_next_to(file: &Path) -> PathBuf {
    file.with_extension("html")
}

/// Checks that `page` may be written; `inputs` are the files that it is made from.
///
/// # Errors
///
/// Refuses the name of a run file, an input, or a file that is not a report of ssdgauge.
pub(crate) fn check_page(page: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    output::check(page, Format::Page, inputs)
}

/// Writes the page of `runs`, which were read from `inputs`.
///
/// # Errors
///
/// Fails as [`output::write`] does.
pub(crate) fn write_page(
    output: &Path,
    inputs: &[&Path],
    runs: &[Run],
    options: &PageOptions,
) -> Result<(), Failure> {
    let page = ssdgauge_page::page(runs, options);
    output::write(output, Format::Page, inputs, page.as_bytes())
}

/// Returns what the rest of the run in `file` takes; `None` where that is not known.
pub(crate) fn rest_of(file: &Path) -> Option<String> {
    RestOfRun::read(&RunFile::open(file).ok()?).ok()?.left()
}
