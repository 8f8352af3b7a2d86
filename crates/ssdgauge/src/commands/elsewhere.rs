//! The commands on systems other than Linux: those that read run files. Every other one says what it needs.

mod compare;
mod config;
mod distribution;
mod export;
mod fleet;
mod list;
mod log;
mod prove;
mod report;
mod show;
mod suites;
mod xray;

use crate::arguments::Command;
use crate::failure::{Failure, FailureKind};
use crate::library;

/// Executes `command`.
///
/// # Errors
///
/// Returns the failure of the command; refuses one that needs Linux.
pub(crate) fn execute(mut command: Command) -> Result<(), Failure> {
    // First: what they name may be a drive, which the library does not know.
    if let Some((name, need)) = need(&command) {
        return Err(Failure::new(
            FailureKind::Refused,
            format!("`ssdgauge {name}` needs Linux: {need}"),
            "here: report, show, compare, export, fleet, list, suites, log, config, completions and manual",
        ));
    }
    library::words::resolve(&mut command)?;
    match command {
        Command::Compare(arguments) => compare::execute(&arguments),
        Command::Config(arguments) => {
            config::execute(&arguments);
            Ok(())
        }
        Command::Export(arguments) => export::execute(&arguments),
        Command::Fleet(arguments) => fleet::execute(&arguments),
        Command::List(arguments) => list::execute(&arguments),
        Command::Log(arguments) => log::print(&arguments.file),
        Command::Report(arguments) => report::execute(&arguments),
        Command::Show(arguments) => show::execute(&arguments),
        Command::Suites(arguments) => suites::execute(&arguments),
        Command::Completions(arguments) => {
            distribution::print_completions(&arguments);
            Ok(())
        }
        Command::Manual(arguments) => distribution::print_manual(&arguments),
        _ => unreachable!("`need` has refused the others"),
    }
}

/// Returns the name of a command that needs Linux, and what for; `None` for one that reads run files.
fn need(command: &Command) -> Option<(&'static str, &'static str)> {
    const LOADS: &str = "it sends requests to a drive past the page cache, by io_uring";
    const MODELS: &str = "it records runs of virtual drives, and run files are written there only";
    const OWN: &str = "it is a process that the program itself starts for a run";
    Some(match command {
        Command::Quick(_) => ("quick", LOADS),
        Command::Run(_) => ("run", LOADS),
        Command::Resume(_) => ("resume", LOADS),
        Command::Bench(_) => ("bench", LOADS),
        Command::Plan(_) => ("plan", "it asks the target for its capacity and blocks"),
        Command::Watch(_) => ("watch", "it follows the run file of a run on this machine"),
        Command::Prove(_) => ("prove", "it writes to the blocks of a drive, and reads them back"),
        Command::Xray(_) => {
            ("xray", "it times requests to a drive; `report` prints the X-ray in a run file")
        }
        Command::Drives(_) => ("drives", "it asks the drives of this machine through the kernel"),
        Command::Doctor(_) => ("doctor", "it checks what a run on this machine would need"),
        Command::Meters(_) => ("meters", "it reads sensors and power meters as a run does"),
        Command::Open(_) => {
            ("open", "it starts processes; `report` writes the page, which any browser opens")
        }
        Command::Demo(_) => ("demo", MODELS),
        Command::Claims(_) => ("claims", MODELS),
        Command::Twin(_) => ("twin", "it computes with virtual drives"),
        Command::Trace(_) => ("trace", "it reads traces in a process without rights"),
        Command::Import(_) => ("import", "it writes a run file"),
        Command::Crosscheck(_) => ("crosscheck", "it runs fio on a drive"),
        Command::Site(_) => ("site", "it writes its files through open folders"),
        Command::Submit(_) => ("submit", "it makes a secret that only its owner may read"),
        Command::Serve(_) => ("serve", "it offers a block device to the kernel"),
        Command::PrivilegedHelper(_) => ("privileged-helper", OWN),
        Command::PrivilegedSearch(_) => ("privileged-search", OWN),
        Command::Notifier(_) => ("notifier", OWN),
        Command::Look(_) => ("look", OWN),
        Command::Reader(_) => ("reader", OWN),
        Command::Compare(_)
        | Command::Config(_)
        | Command::Export(_)
        | Command::Fleet(_)
        | Command::List(_)
        | Command::Log(_)
        | Command::Report(_)
        | Command::Show(_)
        | Command::Suites(_)
        | Command::Completions(_)
        | Command::Manual(_) => return None,
    })
}
