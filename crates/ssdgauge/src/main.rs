//! ssdgauge: the SSD review lab in one binary.
//!
//! Parses the command line, opens the rig of a target, starts the lab, prints progress, and maps
//! failures to exit codes. It never computes a result.
//!
//! On other systems than Linux it has only the commands that read run files. What needs Linux is left out by the lists
//! of modules, here and where a module has a part that does.

#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, unused_imports, reason = "for commands that need Linux")
)]

mod arguments;
#[cfg(target_os = "linux")]
mod browser;
mod build_identity;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/caller.rs")]
mod caller;
#[cfg_attr(not(target_os = "linux"), path = "commands/elsewhere.rs")]
mod commands;
#[cfg(target_os = "linux")]
mod commit_interval;
mod failure;
mod help;
mod in_parallel;
mod library;
#[cfg(target_os = "linux")]
mod look_process;
#[cfg(target_os = "linux")]
mod meter_specs;
#[cfg(target_os = "linux")]
mod notification;
mod outline;
mod output;
mod page_file;
#[cfg(target_os = "linux")]
mod permitted_writes;
mod process;
#[cfg(target_os = "linux")]
mod protocol;
mod provenance;
#[cfg(test)]
#[path = "../../../tests/published.rs"]
mod published;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/reader.rs")]
mod reader;
#[cfg(target_os = "linux")]
mod replay_streams;
#[cfg(target_os = "linux")]
mod request_log;
#[cfg(target_os = "linux")]
mod request_path;
#[cfg(target_os = "linux")]
mod restriction;
#[cfg(target_os = "linux")]
mod run_file_name;
mod run_files;
mod settings;
mod suggestion;
mod suite_options;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/target.rs")]
mod target;
mod text_file;
#[cfg(target_os = "linux")]
mod trace_file;
mod usage_error;
#[cfg(target_os = "linux")]
mod virtual_runs;
mod welcome;

use arguments::Arguments;
use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use failure::{Failure, FailureKind};
use settings::GlobalOptions;
use ssdgauge_watch::terminal::{self, width};
use std::process::ExitCode;

fn main() -> ExitCode {
    caller::leave();
    let columns = width::columns().min(width::DEFAULT);
    let command = help::grouped(Arguments::command(), columns).term_width(columns);
    let parsed = command.clone().try_get_matches();
    // A process that the program itself starts has no settings: its command line has what it needs.
    let is_hidden = |matches: &ArgMatches| {
        let name = matches.subcommand_name();
        let found = name.and_then(|name| command.find_subcommand(name));
        found.is_some_and(clap::Command::is_hide_set)
    };
    let parsed = parsed
        .and_then(|matches| Ok((is_hidden(&matches), Arguments::from_arg_matches(&matches)?)));
    match parsed {
        Ok((is_hidden, arguments)) => {
            match read_settings(&arguments, is_hidden)
                .and_then(|()| commands::execute(arguments.command))
            {
                Ok(()) => match terminal::failed_output() {
                    Some(cause) => report(&incomplete(cause)),
                    None => ExitCode::SUCCESS,
                },
                Err(failure) => report(&failure),
            }
        }
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp => {
                terminal::print(
                    &help::asked(&command, std::env::args()).unwrap_or(error.to_string()),
                );
                ExitCode::SUCCESS
            }
            ErrorKind::DisplayVersion => error.exit(),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if std::env::args().len() == 1 => {
                terminal::print_lines(welcome::screen().lines());
                ExitCode::from(FailureKind::Usage.exit_code())
            }
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
            _ => report(&usage_error::from_clap(&error, &command)),
        },
    }
}

/// Reads the settings of the user; those of a hidden command are its options.
fn read_settings(arguments: &Arguments, is_hidden: bool) -> Result<(), Failure> {
    let (colour, library) = (arguments.color, arguments.library.clone());
    let options = GlobalOptions { colour, library };
    match is_hidden {
        true => settings::take(&options),
        false => settings::read(&options)?,
    }
    terminal::colour::choose(settings::current().colour);
    Ok(())
}

/// Returns the failure of a command whose data did not all reach stdout.
fn incomplete(cause: &std::io::Error) -> Failure {
    Failure::new(
        FailureKind::Failed,
        format!("the standard output is incomplete: {cause}"),
        "free space, or print to another place; files that the command wrote are complete",
    )
}

/// Prints a failure and returns its exit code.
fn report(failure: &Failure) -> ExitCode {
    terminal::print_lines(failure.lines());
    ExitCode::from(failure.exit_code())
}
