//! The commands, one file each.

mod bench;
mod claims;
mod compare;
mod config;
mod crosscheck;
mod demo;
mod distribution;
mod doctor;
mod drive_description;
mod drives;
mod export;
mod fleet;
mod import;
mod inquiry;
mod list;
mod log;
mod look;
mod meters;
mod open;
mod plan;
mod profiles;
mod prove;
mod reader;
mod report;
mod resume;
mod run;
mod serve;
mod show;
mod site;
mod stored_drives;
mod submit;
mod suites;
mod trace;
mod twin;
mod watch;
mod xray;

use crate::arguments::{Command, PrivilegedHelper};
use crate::failure::Failure;
use crate::{library, notification, restriction};

/// Executes `command`, restricted to what it needs.
///
/// # Errors
///
/// Returns the failure of the command; its kind decides the exit code.
pub(crate) fn execute(mut command: Command) -> Result<(), Failure> {
    library::words::resolve(&mut command)?;
    // Before the privileges are dropped that its command has.
    notification::prepare(&command)?;
    restriction::apply(&command)?;
    let result = carry_out(command);
    notification::ended(&result);
    result
}

fn carry_out(command: Command) -> Result<(), Failure> {
    match command {
        Command::Quick(arguments) => run::execute_quick(&arguments),
        Command::Run(arguments) => run::execute(&arguments),
        Command::Plan(arguments) => plan::execute(&arguments),
        Command::Resume(arguments) => resume::execute(&arguments),
        Command::Watch(arguments) => watch::execute(&arguments),
        Command::Prove(arguments) => prove::execute(&arguments),
        Command::Xray(arguments) => xray::execute(&arguments),
        Command::Suites(arguments) => suites::execute(&arguments),
        Command::Drives(arguments) if !arguments.from.is_empty() => {
            stored_drives::print(&arguments.from, arguments.json)
        }
        Command::Drives(arguments) => match arguments.target.as_deref() {
            Some("sim:") => {
                profiles::print_list(arguments.json);
                Ok(())
            }
            Some(target) => drive_description::print(target, arguments.json),
            None if arguments.slurm => {
                drives::print_slurm();
                Ok(())
            }
            None => {
                drives::print_list(arguments.json);
                Ok(())
            }
        },
        Command::Doctor(arguments) => doctor::execute(&arguments),
        Command::Config(arguments) => {
            config::execute(&arguments);
            Ok(())
        }
        Command::Meters(arguments) => meters::execute(&arguments),
        Command::List(arguments) => list::execute(&arguments),
        Command::Show(arguments) => show::execute(&arguments),
        Command::Open(arguments) => open::execute(&arguments),
        Command::Report(arguments) => report::execute(&arguments),
        Command::Claims(arguments) => claims::execute(&arguments),
        Command::Demo(arguments) => demo::execute(&arguments),
        Command::Twin(arguments) => twin::execute(&arguments),
        Command::Compare(arguments) => compare::execute(&arguments),
        Command::Export(arguments) => export::execute(&arguments),
        Command::Fleet(arguments) => fleet::execute(&arguments),
        Command::Submit(arguments) => submit::execute(&arguments),
        Command::Site(arguments) => site::execute(&arguments),
        Command::Import(arguments) => import::execute(&arguments),
        Command::Crosscheck(arguments) => crosscheck::execute(&arguments),
        Command::Serve(arguments) => serve::execute(&arguments),
        Command::Completions(arguments) => {
            distribution::print_completions(&arguments);
            Ok(())
        }
        Command::Manual(arguments) => distribution::print_manual(&arguments),
        Command::Log(arguments) => log::print(&arguments.file),
        Command::Trace(arguments) => trace::execute(&arguments),
        Command::Bench(arguments) => bench::execute(&arguments),
        Command::Notifier(arguments) => {
            notification::serve(&arguments.command).map_err(|error| look::cannot_serve(&error))
        }
        Command::Look(arguments) => look::serve(&arguments),
        Command::Reader(arguments) => reader::serve(&arguments.question),
        Command::PrivilegedSearch(search) => {
            ssdgauge_host::serve_as_search(&search.device, search.run)
                .map_err(|error| look::cannot_serve(&error))
        }
        Command::PrivilegedHelper(part) => {
            // The claim needs no call: it stays open until the helper ends.
            let PrivilegedHelper { device, claim: _, sequence, changes } = part;
            ssdgauge_host::serve_as_helper(&device, sequence, &changes)
                .map_err(|error| look::cannot_serve(&error))
        }
    }
}
