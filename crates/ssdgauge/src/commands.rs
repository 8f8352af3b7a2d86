//! The commands, one file each.

mod bench;
mod compare;
mod demo;
mod drive_description;
mod drives;
mod log;
mod meters;
mod plan;
mod report;
mod resume;
mod run;
mod suites;

use crate::arguments::Command;
use crate::failure::{Failure, Kind};

/// Carries out `command`.
pub(crate) fn carry_out(command: Command) -> Result<(), Failure> {
    match command {
        Command::Quick(quick) => run::quick(&quick),
        Command::Run(run) => run::run(&run),
        Command::Plan(plan) => plan::show(&plan),
        Command::Resume(resume) => resume::resume(&resume),
        Command::Suites(suites) => suites::list(&suites),
        Command::Drives(drives) => match &drives.target {
            Some(target) => drive_description::show(target, drives.json),
            None => drives::list(&drives),
        },
        Command::Meters(meters) => meters::show(&meters),
        Command::Report(report) => report::report(&report),
        Command::Demo(demo) => demo::demo(&demo),
        Command::Compare(compare) => compare::compare(&compare),
        Command::Log(log) => log::print(&log.file),
        Command::Bench(bench) => bench::bench(&bench),
        Command::PrivilegedHelper(helper) => ssdgauge_host::serve_as_helper(&helper.device)
            .map_err(|error| {
                let hint = "this command is started by the program itself";
                Failure::new(Kind::Usage, format!("cannot serve: {error}"), hint)
            }),
    }
}
