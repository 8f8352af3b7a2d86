//! The end of a run: its page, its summary, and the failure where it has one.

use super::{page_next_to, rest_of, write_page};
use crate::failure::{Failure, FailureKind};
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_lab::{Completion, ConductError};
use ssdgauge_runfile::RunFile;
use ssdgauge_watch::rest_of_run::RestOfRun;
use ssdgauge_watch::terminal;
use std::path::Path;

/// Returns the failure of an interrupted run, with what has finished and what its rest takes.
fn interrupted(file: &Path) -> Result<Failure, Failure> {
    let rest = RestOfRun::read(&RunFile::open(file)?)?;
    let left = rest.left().map_or_else(String::new, |left| format!(": {left}"));
    let name = file.display();
    let hint = format!("finished steps are safe; continue with `ssdgauge resume {name}`{left}");
    Ok(Failure::new(FailureKind::Interrupted, format!("interrupted: {}", rest.finished()), hint))
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

/// Writes the page of `run` next to its `file`.
fn write_own_page(file: &Path, run: &Run) -> Result<(), Failure> {
    write_page_of(&page_next_to(file), file, run)
}

/// Writes the report of the run file `file` at `page`.
///
/// # Errors
///
/// Fails where the file cannot be read, and as [`write_page`] does.
pub(crate) fn write_report(page: &Path, file: &Path) -> Result<(), Failure> {
    write_page_of(page, file, &ssdgauge_analysis::read(file)?)
}

fn write_page_of(page: &Path, file: &Path, run: &Run) -> Result<(), Failure> {
    let options = PageOptions { rest: rest_of(file), ..PageOptions::default() };
    write_page(page, &[file], std::slice::from_ref(run), &options)
}

fn print_files(file: &Path) {
    terminal::print_lines([
        format!("run file: {}", file.display()),
        format!("report:   {}", page_next_to(file).display()),
    ]);
}
