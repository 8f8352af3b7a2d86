//! ssdgauge: the SSD review lab in one binary.
//!
//! Parses the command line, opens the rig of a target, starts the lab, prints progress, and maps
//! failures to exit codes. It never computes a result.

mod arguments;
mod build_identity;
mod commands;
mod failure;
mod meter_specs;
mod output;
mod page_file;
mod process;
mod progress;
mod request_log;
mod suite_options;
mod target;
mod terminal;
mod text_file;

use arguments::Arguments;
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match commands::execute(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            terminal::print_message(&failure.render());
            ExitCode::from(failure.exit_code())
        }
    }
}
