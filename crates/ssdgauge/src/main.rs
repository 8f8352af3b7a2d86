//! ssdgauge: the SSD review lab in one binary.
//!
//! This crate holds words and wiring: it reads the command line, opens a rig for the target that
//! was named, lets the lab conduct, shows progress and turns failures into exit codes. It never
//! computes a result.

mod arguments;
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
    // A reader that goes away, such as `head`, is no error: see `terminal::print`.
    let arguments = Arguments::parse();
    match commands::carry_out(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            terminal::talk(&failure.render());
            ExitCode::from(failure.exit_code())
        }
    }
}
