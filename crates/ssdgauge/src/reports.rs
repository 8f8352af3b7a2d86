//! Reports: the page and the other forms of results.

use crate::arguments;
use crate::failure::{Failure, Kind};
use crate::world;
use ssdgauge_report::{PageOptions, Run};
use std::path::{Path, PathBuf};

/// Draws the report of run files, or prints their results.
pub(crate) fn report(arguments: &arguments::Report) -> Result<(), Failure> {
    let mut runs = Vec::new();
    for file in &arguments.files {
        runs.push(ssdgauge_report::read(file)?);
    }
    if let Some(output) = &arguments.output {
        write_page(output, &runs)?;
    }
    if arguments.json {
        world::print(&format!("{:#}\n", ssdgauge_report::json(&runs)));
    } else if arguments.csv {
        world::print(&ssdgauge_report::csv(&runs));
    } else if arguments.markdown {
        world::print(&ssdgauge_report::markdown(&runs));
    } else if arguments.output.is_none() {
        let output = page_beside(&arguments.files[0]);
        write_page(&output, &runs)?;
        world::talk(&format!("report: {}", output.display()));
    }
    Ok(())
}

/// Returns where the page of a run file stands.
pub(crate) fn page_beside(file: &Path) -> PathBuf {
    file.with_extension("html")
}

/// Writes the page under a temporary name first, so that no half page is ever seen.
pub(crate) fn write_page(output: &Path, runs: &[Run]) -> Result<(), Failure> {
    let page = ssdgauge_report::page(runs, &PageOptions::default());
    let failure = |error: std::io::Error| {
        let text = format!("cannot write {}: {error}", output.display());
        Failure::new(Kind::Broke, text, "the run files are untouched; choose another -o FILE")
    };
    let mut partial = output.as_os_str().to_owned();
    partial.push(".partial");
    std::fs::write(&partial, page).map_err(failure)?;
    std::fs::rename(&partial, output).map_err(failure)
}
