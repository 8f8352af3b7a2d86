//! The page beside a run file, and the summary at the end of a run.

use crate::failure::{Failure, Kind};
use crate::output::{self, Form};
use crate::terminal;
use ssdgauge_lab::{Completion, ConductError};
use ssdgauge_report::{PageOptions, Run};
use std::path::{Path, PathBuf};

/// Returns where the page of a run file stands.
pub(crate) fn page_beside(file: &Path) -> PathBuf {
    file.with_extension("html")
}

/// Refuses `page` where no report must be written; `inputs` are the files that it is made from.
pub(crate) fn check_page(page: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    output::check(page, Form::Page, inputs)
}

/// Writes the page of `runs`, which were read from `inputs`.
pub(crate) fn write_page(
    output: &Path,
    inputs: &[&Path],
    runs: &[Run],
    options: &PageOptions,
) -> Result<(), Failure> {
    let page = ssdgauge_report::page(runs, options);
    output::write(output, Form::Page, inputs, page.as_bytes())
}

/// Shows what came of a run.
pub(crate) fn conclude(
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
        let hint = format!("`ssdgauge resume {}` goes on; finished steps are safe", file.display());
        return Err(Failure::new(Kind::Interrupted, "interrupted", hint));
    }
    let run = ssdgauge_report::read(file)?;
    let page = page_beside(file);
    if json {
        let value = ssdgauge_report::json(std::slice::from_ref(&run));
        terminal::print(&format!("{value:#}\n"));
    } else {
        let width = 100;
        terminal::print(&ssdgauge_report::terminal_summary(&run, width, terminal::has_colour()));
    }
    let runs = std::slice::from_ref(&run);
    write_page(&page, &[file], runs, &PageOptions::default())?;
    terminal::talk(&format!("run file: {}\nreport:   {}", file.display(), page.display()));
    Ok(())
}
