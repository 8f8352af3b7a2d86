//! ssdgauge: the SSD review lab in one binary.
//!
//! This crate holds words and wiring: it reads the command line, opens a rig for the target that
//! was named, lets the lab conduct, shows progress and turns failures into exit codes. It
//! computes nothing.

mod arguments;
mod bench;
mod demo;
mod drive_card;
mod drives;
mod failure;
mod log;
mod meters;
mod output;
mod plans;
mod progress;
mod reports;
mod runs;
mod suites;
mod target;
mod world;

use arguments::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    // A reader that goes away, such as `head`, is no error: see `world::print`.
    let arguments = Arguments::parse();
    match carry_out(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            world::talk(&failure.render());
            ExitCode::from(failure.exit_code())
        }
    }
}

fn carry_out(command: Command) -> Result<(), Failure> {
    match command {
        Command::Quick(quick) => runs::quick(&quick),
        Command::Run(run) => runs::run(&run),
        Command::Plan(plan) => plans::show(&plan),
        Command::Resume(resume) => runs::resume(&resume),
        Command::Suites(suites) => suites::list(&suites),
        Command::Drives(drives) => match &drives.target {
            Some(target) => drive_card::show(target, drives.json),
            None => drives::list(&drives),
        },
        Command::Meters(meters) => meters::show(&meters),
        Command::Report(report) => reports::report(&report),
        Command::Demo(demo) => demo::demo(&demo),
        Command::Compare(compare) => reports::compare(&compare),
        Command::Log(log) => log::print(&log.file),
        Command::Bench(bench) => bench::bench(&bench),
        Command::PrivilegedHelper(helper) => ssdgauge_host::serve_as_helper(&helper.device)
            .map_err(|error| {
                let hint = "this command is started by the program itself";
                Failure::new(failure::Kind::Usage, format!("cannot serve: {error}"), hint)
            }),
    }
}
