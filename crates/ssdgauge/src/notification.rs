//! The command of `--notify`, at the end of a run.
//!
//! A run drops its privileges, so that it cannot start the command with the rights of its caller. Another process
//! of this program is started before, waits, and starts the command when the run has ended, also where it was
//! killed. A failure of the command is a warning.

use crate::arguments::Command;
use crate::caller;
use crate::failure::{Failure, FailureKind};
use serde::{Deserialize, Serialize};
use ssdgauge_core::DriveInfo;
use ssdgauge_os::child::{self, End};
use ssdgauge_os::own_process;
use ssdgauge_watch::terminal;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The time after which a command is ended, with all that it has started.
const LIMIT: Duration = Duration::from_secs(10);
/// The time until the process has answered: that, and what a busy machine takes.
const ANSWER: Duration = Duration::from_secs(20);
/// The time between two looks at a command.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The socket to the process that waits, where there is one.
static WAITING: OnceLock<UnixStream> = OnceLock::new();

/// A run, as the command gets it.
#[derive(Debug, Serialize, Deserialize)]
struct Begun {
    file: PathBuf,
    drive: String,
}

/// What a run tells the process.
#[derive(Debug, Serialize, Deserialize)]
enum Message {
    /// Its run file exists.
    Begun(Begun),
    /// It has ended, and how.
    Ended(String),
}

/// Starts the process that waits for the end of `command`, where that has `--notify`. To be called before
/// privileges are dropped.
///
/// # Errors
///
/// The process cannot be started.
pub(crate) fn prepare(command: &Command) -> Result<(), Failure> {
    let Some(notify) = of(command) else { return Ok(()) };
    let started = own_process::start(&["notifier", "--", notify], End::AtEndOfInput, &[]);
    let (_, socket) = started.map_err(|error| {
        let text = format!("the process for --notify cannot be started: {error}");
        Failure::new(FailureKind::Failed, text, "nothing was written; free memory and processes")
    })?;
    // One command line has one run.
    let _ = WAITING.set(socket);
    Ok(())
}

/// Returns the command that is to be called at the end of `command`.
fn of(command: &Command) -> Option<&str> {
    let options = match command {
        Command::Quick(quick) => Some(&quick.options),
        Command::Run(run) => Some(&run.options),
        Command::Resume(resume) => return resume.notify.command.as_deref(),
        Command::Prove(prove) => return prove.notify.command.as_deref(),
        Command::Xray(xray) => return xray.notify.command.as_deref(),
        Command::Plan(_)
        | Command::Watch(_)
        | Command::Suites(_)
        | Command::Drives(_)
        | Command::Doctor(_)
        | Command::Config(_)
        | Command::Meters(_)
        | Command::List(_)
        | Command::Show(_)
        | Command::Open(_)
        | Command::Report(_)
        | Command::Demo(_)
        | Command::Claims(_)
        | Command::Twin(_)
        | Command::Compare(_)
        | Command::Log(_)
        | Command::Trace(_)
        | Command::Export(_)
        | Command::Fleet(_)
        | Command::Site(_)
        | Command::Submit(_)
        | Command::Import(_)
        | Command::Crosscheck(_)
        | Command::Serve(_)
        | Command::Completions(_)
        | Command::Manual(_)
        | Command::Bench(_)
        | Command::PrivilegedHelper(_)
        | Command::PrivilegedSearch(_)
        | Command::Look(_)
        | Command::Reader(_)
        | Command::Notifier(_) => None,
    }?;
    // Each of several runs has a process of its own, which notifies; a check of its drive is none of them.
    let is_one = match (command, options.part) {
        (_, Some(part)) => !part.checks,
        (Command::Run(run), None) => run.targets.len() == 1 && !options.watch,
        (_, None) => !options.watch,
    };
    options.notify.command.as_deref().filter(|_| is_one)
}

/// Notes that the run in `file` on `drive` has begun: from now on the command is called at its end.
pub(crate) fn begun(file: &Path, drive: &DriveInfo) {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    send(&Message::Begun(Begun { file, drive: terminal::line(drive.name()) }));
}

/// Has the command called where a run has begun, which ended with `result`.
pub(crate) fn ended(result: &Result<(), Failure>) {
    let Some(socket) = WAITING.get() else { return };
    let outcome = match result.as_ref().map_err(|failure| failure.kind) {
        Ok(()) | Err(FailureKind::Criterion | FailureKind::Undecided) => "complete",
        Err(FailureKind::Interrupted | FailureKind::Busy) => "unfinished",
        Err(FailureKind::Failed | FailureKind::Usage | FailureKind::Refused) => "failed",
    };
    send(&Message::Ended(outcome.to_owned()));
    let warning = match own_process::receive(socket, Some(Instant::now() + ANSWER)) {
        Ok((message, _)) => serde_json::from_slice::<Option<String>>(&message).unwrap_or_default(),
        Err(error) => Some(format!("its process gave no answer ({error})")),
    };
    if let Some(warning) = warning {
        terminal::print_message(&format!("warning: --notify: {warning}"));
    }
}

fn send(message: &Message) {
    if let (Some(socket), Ok(bytes)) = (WAITING.get(), serde_json::to_vec(message)) {
        // A process that has ended is reported at the end of the run.
        let _ = own_process::send(socket, &bytes, None);
    }
}

/// Serves as the process that waits, for the run whose socket is standard input, and calls `command`.
///
/// # Errors
///
/// Standard input is not a socket, or the rights of the caller cannot be had.
pub(crate) fn serve(command: &str) -> io::Result<()> {
    let home = caller::become_own()?;
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut begun: Option<Begun> = None;
    loop {
        let message = match own_process::receive(&socket, None) {
            Ok((message, _)) => serde_json::from_slice(&message)?,
            // The run was killed: nobody reads an answer.
            Err(_) => Message::Ended("unfinished".to_owned()),
        };
        match message {
            Message::Begun(run) => begun = Some(run),
            Message::Ended(outcome) => {
                let run = begun.as_ref();
                let warning = run.and_then(|run| call(command, &outcome, run, home.as_deref()));
                let _ = own_process::send(&socket, &serde_json::to_vec(&warning)?, None);
                return Ok(());
            }
        }
    }
}

/// Calls `command` by a shell, and returns what failed.
fn call(command: &str, outcome: &str, run: &Begun, home: Option<&Path>) -> Option<String> {
    let started = child::start_kept("sh", &[], |shell| {
        shell.args(["-c", command]);
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.env("SSDGAUGE_OUTCOME", outcome).env("SSDGAUGE_DRIVE", &run.drive);
        shell.env("SSDGAUGE_FILE", &run.file);
        shell.envs(home.map(|home| ("HOME", home)));
    });
    let mut kept = match started {
        Ok(kept) => kept,
        Err(error) => return Some(format!("the command cannot be started: {error}")),
    };
    let until = Instant::now() + LIMIT;
    loop {
        match kept.try_wait() {
            Ok(Some(status)) if status.success() => return None,
            Ok(Some(status)) => return Some(format!("the command failed ({status})")),
            Err(error) => return Some(format!("the command was lost: {error}")),
            Ok(None) if Instant::now() < until => std::thread::sleep(BETWEEN_LOOKS),
            Ok(None) => {
                kept.end();
                return Some(format!(
                    "the command did not end within {} s, and was ended",
                    LIMIT.as_secs()
                ));
            }
        }
    }
}
