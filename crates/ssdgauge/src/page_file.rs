//! The report page of a run file, and the summary at the end of a run.

use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use crate::rest_of_run::RestOfRun;
use crate::terminal;
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_lab::{Completion, ConductError};
use ssdgauge_runfile::RunFile;
use std::path::{Path, PathBuf};

/// Returns the default path of the page of a run file: the same name with the suffix `.html`.
pub(crate) fn page_beside(file: &Path) -> PathBuf {
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

/// Returns the failure of an interrupted run, with what has finished and what its rest takes.
fn interrupted(file: &Path) -> Result<Failure, Failure> {
    let rest = RestOfRun::read(&RunFile::open(file)?)?;
    let left = rest.left().map_or_else(String::new, |left| format!(": {left}"));
    let name = file.display();
    let hint = format!("finished steps are safe; continue with `ssdgauge resume {name}`{left}");
    Ok(Failure::new(FailureKind::Interrupted, format!("interrupted: {}", rest.finished()), hint))
}

/// Returns what the rest of the run in `file` takes; `None` where that is not known.
pub(crate) fn rest_of(file: &Path) -> Option<String> {
    RestOfRun::read(&RunFile::open(file).ok()?).ok()?.left()
}

/// Finishes a run: prints its summary or JSON, and writes its page, also where the run failed or was interrupted.
///
/// # Errors
///
/// Fails where the run failed or was interrupted, and where the page cannot be written.
pub(crate) fn finish_run(
    result: Result<Completion, ConductError>,
    file: &Path,
    json: bool,
) -> Result<(), Failure> {
    let failure = match result {
        Ok(Completion::Interrupted) => interrupted(file)?,
        Err(error) => {
            let mut failure = Failure::from(error);
            let resume = format!("resume {}", file.display());
            failure.hint = failure.hint.replace("resume FILE", &resume);
            failure
        }
        Ok(_) => return finish_complete(file, json),
    };
    // The failure of the run comes first: where its page cannot be written as well, that is not the news.
    if let Ok(run) = ssdgauge_analysis::read(file)
        && write_own_page(file, &run).is_ok()
    {
        print_files(file);
    }
    Err(failure)
}

fn finish_complete(file: &Path, json: bool) -> Result<(), Failure> {
    let run = ssdgauge_analysis::read(file)?;
    if json {
        let value = ssdgauge_export::json(std::slice::from_ref(&run));
        terminal::print_json(&value);
    } else {
        let width = terminal::width::columns();
        terminal::print(&ssdgauge_export::terminal_summary(&run, width, terminal::has_colour()));
    }
    write_own_page(file, &run)?;
    print_files(file);
    Ok(())
}

/// Writes the page of `run` beside its `file`.
fn write_own_page(file: &Path, run: &Run) -> Result<(), Failure> {
    let options = PageOptions { rest: rest_of(file), ..PageOptions::default() };
    write_page(&page_beside(file), &[file], std::slice::from_ref(run), &options)
}

fn print_files(file: &Path) {
    terminal::print_lines([
        format!("run file: {}", file.display()),
        format!("report:   {}", page_beside(file).display()),
    ]);
}
