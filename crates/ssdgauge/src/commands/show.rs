//! `ssdgauge show`: the results of runs on the terminal.

use crate::arguments::{ReportArguments, ShowArguments};
use crate::commands::report;
use crate::failure::Failure;
use ssdgauge_watch::terminal;

/// Prints the card of each run.
///
/// # Errors
///
/// Fails where a file cannot be read.
pub(crate) fn execute(arguments: &ShowArguments) -> Result<(), Failure> {
    for (place, file) in arguments.files.iter().enumerate() {
        if place > 0 {
            terminal::print("\n");
        }
        let run = ssdgauge_analysis::read(file)?;
        let only = ReportArguments { files: vec![file.clone()], ..ReportArguments::default() };
        if !report::print_card(&only, std::slice::from_ref(&run))? {
            let width = terminal::width::columns();
            terminal::print(&ssdgauge_export::terminal_summary(
                &run,
                width,
                terminal::has_colour(),
            ));
        }
    }
    Ok(())
}
