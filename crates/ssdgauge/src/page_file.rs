//! The report page of a run file, and the summary at the end of a run.

use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use crate::rest_of_run::RestOfRun;
use crate::terminal;
use ssdgauge_lab::{Completion, ConductError};
use ssdgauge_report::{PageOptions, Run};
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
    let page = ssdgauge_report::page(runs, options);
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

/// Finishes a run: prints its summary or JSON, and writes its page.
///
/// # Errors
///
/// Fails where the run failed or was interrupted, and where the page cannot be written.
pub(crate) fn finish_run(
    result: Result<Completion, ConductError>,
    file: &Path,
    json: bool,
) -> Result<(), Failure> {
    let completion = result.map_err(|error| {
        let mut failure = Failure::from(error);
        failure.hint = failure.hint.replace("resume FILE", &format!("resume {}", file.display()));
        failure
    })?;
    if completion == Completion::Interrupted {
        return Err(interrupted(file)?);
    }
    let run = ssdgauge_report::read(file)?;
    let page = page_beside(file);
    if json {
        let value = ssdgauge_report::json(std::slice::from_ref(&run));
        terminal::print_json(&value);
    } else {
        let width = terminal::width::columns();
        terminal::print(&ssdgauge_report::terminal_summary(&run, width, terminal::has_colour()));
    }
    let runs = std::slice::from_ref(&run);
    write_page(&page, &[file], runs, &PageOptions::default())?;
    terminal::print_lines([
        format!("run file: {}", file.display()),
        format!("report:   {}", page.display()),
    ]);
    Ok(())
}
