//! A process of this program that runs one target, and the signals that are passed on to it.

use crate::arguments::{ConsentOptions, Part};
use crate::failure::{Failure, FailureKind};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::{Handle, Signals as Received};
use ssdgauge_core::Finding;
use ssdgauge_os::child::{self, End};
use ssdgauge_os::own_process::THIS_PROGRAM;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The time between two looks at the processes and their run files.
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// The maximum number of bytes of a line, and the maximum number of lines that wait to be shown; further ones are lost.
const LONGEST_LINE: u64 = 64 << 10;
const MOST_LINES: usize = 10_000;

/// A process that runs one target.
pub(super) struct Process {
    child: Child,
    ended: Option<ExitStatus>,
    messages: Arc<Messages>,
    /// The signals that it got.
    signalled: usize,
    /// The questions and answers of a check.
    conversation: Option<Conversation>,
}

/// The two ends of a process that is told what to do, line by line.
struct Conversation {
    questions: ChildStdin,
    answers: Receiver<String>,
}

/// The maximum number of answers that wait to be taken.
const MOST_ANSWERS: usize = 16;

/// The lines that a process has printed and that are not shown yet.
#[derive(Default)]
struct Messages {
    lines: Mutex<Vec<String>>,
    is_closed: AtomicBool,
}

impl Process {
    /// Starts this program with its own command line for `part`, with what was permitted and what a check
    /// found. A part that checks is told what to do by [`Process::ask`].
    ///
    /// # Errors
    ///
    /// The process cannot be started.
    pub(super) fn start(
        part: Part,
        consent: &ConsentOptions,
        found: Option<&Finding>,
    ) -> std::io::Result<Process> {
        let end = || if part.checks { Stdio::piped() } else { Stdio::null() };
        let mut child = child::start(THIS_PROGRAM, End::Asked, &[], |command| {
            command.args(command_line(std::env::args_os().skip(1), part, consent, found));
            // Ctrl-C goes to the foreground process group. This process passes it on, once.
            command.stdin(end()).stdout(end()).stderr(Stdio::piped()).process_group(0);
        })?;
        let messages = Arc::new(Messages::default());
        if let Some(stderr) = child.stderr.take() {
            let messages = Arc::clone(&messages);
            std::thread::Builder::new().name("messages".to_owned()).spawn(move || {
                messages.collect(BufReader::new(stderr));
            })?;
        }
        let conversation = match (child.stdin.take(), child.stdout.take()) {
            (Some(questions), Some(stdout)) => {
                let (sender, answers) = sync_channel(MOST_ANSWERS);
                std::thread::Builder::new()
                    .name("answers".to_owned())
                    .spawn(move || pass_lines(stdout, &sender))?;
                Some(Conversation { questions, answers })
            }
            (None, _) | (_, None) => None,
        };
        Ok(Process { child, ended: None, messages, signalled: 0, conversation })
    }

    /// Sends `line` to a process that checks. One that has ended shows by [`Process::has_ended`].
    pub(super) fn ask(&mut self, line: &str) {
        if let Some(conversation) = &mut self.conversation {
            let questions = &mut conversation.questions;
            let _ = writeln!(questions, "{line}").and_then(|()| questions.flush());
        }
    }

    /// Returns its next line, for which it waits a moment.
    pub(super) fn answer(&self) -> Option<String> {
        self.conversation.as_ref()?.answers.recv_timeout(BETWEEN_LOOKS).ok()
    }

    /// Asks a process that checks to end, without a signal.
    pub(super) fn dismiss(&mut self) {
        self.conversation = None;
    }

    /// Returns whether the process has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended.is_some()
    }

    /// Returns the lines that it has printed since the last call.
    pub(super) fn lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.messages.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether all of its lines were taken, and no more will come.
    pub(super) fn is_silent(&self) -> bool {
        let is_closed = self.messages.is_closed.load(Ordering::Acquire);
        is_closed && self.messages.lines.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Sends SIGINT until it got `count` signals: the first one stops the run, the second one ends it.
    pub(super) fn signal(&mut self, count: usize) {
        while self.signalled < count && !self.has_ended() {
            self.signalled += 1;
            // It may have ended in the meantime.
            let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
        }
    }

    /// Returns the failure of its run by its exit code; `None` where it has finished.
    pub(super) fn failure(&self) -> Option<FailureKind> {
        match self.ended.and_then(|status| status.code()) {
            Some(0) => None,
            Some(2) => Some(FailureKind::Usage),
            Some(3) => Some(FailureKind::Refused),
            Some(4) => Some(FailureKind::Criterion),
            Some(75) => Some(FailureKind::Interrupted),
            Some(_) | None => Some(FailureKind::Failed),
        }
    }
}

impl Messages {
    /// Takes lines until the other end is closed.
    fn collect(&self, mut from: impl BufRead) {
        loop {
            let mut line = Vec::new();
            match from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) => {
                    let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                    let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
                    if lines.len() < MOST_LINES {
                        lines.push(text);
                    }
                }
            }
        }
        self.is_closed.store(true, Ordering::Release);
    }
}

/// Stops `processes`, and waits for their end.
pub(super) fn stop_all(processes: &mut [Process]) {
    for process in processes {
        process.dismiss();
        process.signal(1);
        while !process.has_ended() {
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }
}

/// Passes the lines of a process on, until it closes its end or they are no longer taken.
fn pass_lines(from: ChildStdout, to: &SyncSender<String>) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        match from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {
                if to.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        }
    }
}

const MAX_WRITES: &str = "--max-writes";

/// Returns the command line `given` with the number of the target, what was permitted and what was found,
/// after the name of the command: arguments after `--` would be targets.
fn command_line(
    given: impl Iterator<Item = OsString>,
    part: Part,
    consent: &ConsentOptions,
    found: Option<&Finding>,
) -> Vec<OsString> {
    let mut own = vec!["--part".to_owned(), part.to_string()];
    if let Some(found) = found {
        let text = serde_json::to_string(found).expect("a finding always serialises");
        own.push(format!("--interference-found={text}"));
    }
    for (option, serials) in [("--confirm", &consent.confirm), ("--erase", &consent.erase)] {
        for serial in serials {
            own.push(format!("{option}={serial}"));
        }
    }
    let given: Vec<OsString> = given.collect();
    // What was typed at the terminal; an option that was given stays where it is.
    let has_limit = given.iter().any(|one| one.to_string_lossy().starts_with(MAX_WRITES));
    let limit = consent.max_writes.filter(|_| !has_limit);
    own.extend(limit.map(|bytes| format!("{MAX_WRITES}={}B", bytes.0)));
    let mut line = Vec::new();
    let mut own = Some(own);
    for argument in given {
        let is_command = argument == "run" || argument == "quick";
        line.push(argument);
        if is_command {
            line.extend(own.take().into_iter().flatten().map(OsString::from));
        }
    }
    line
}

/// Counts the signals that ask for a stop.
pub(super) struct Signals {
    count: Arc<AtomicUsize>,
    handle: Handle,
}

impl Signals {
    /// Takes SIGINT, SIGTERM, SIGHUP and SIGQUIT from now on.
    ///
    /// # Errors
    ///
    /// Fails where the system denies a handler.
    pub(super) fn listen() -> Result<Signals, Failure> {
        let denied = |error: std::io::Error| {
            let hint = "nothing was written; check the security profile of the container";
            let error = format!("cannot handle signals: {error}");
            Failure::new(FailureKind::Refused, error, hint)
        };
        let mut received = Received::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT]).map_err(denied)?;
        let handle = received.handle();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for _ in received.forever() {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            })
            .map_err(denied)?;
        Ok(Signals { count, handle })
    }

    /// Returns how many signals have arrived.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handle.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_of_a_process_is_that_of_the_user_with_its_number_and_its_confirmation() {
        let given = ["--color", "never", "run", "quick", "a", "--", "b"].map(OsString::from);
        let consent = ConsentOptions { confirm: vec!["-S1".into()], ..ConsentOptions::default() };
        let part = Part { number: 1, begun: 7, checks: false };
        let line = command_line(given.into_iter(), part, &consent, None);
        let expected =
            ["--color", "never", "run", "--part", "1:7", "--confirm=-S1", "quick", "a", "--", "b"];
        assert_eq!(line, expected.map(OsString::from));
    }
}
