//! Texts about devices that may not answer, made by another process of this program.

use crate::failure::Failure;
use ssdgauge_guard::{ANSWER_LIMIT, Refusal, TargetError};
use ssdgauge_os::own_process::OwnProcess;
use std::io;
use std::time::Instant;

/// Returns the text that a process with the command line `arguments` makes about `subject`.
///
/// # Errors
///
/// The failure in that process, or that it made no text within the limit.
pub(crate) fn text(arguments: &[&str], subject: &str) -> Result<String, Failure> {
    let until = Instant::now() + ANSWER_LIMIT;
    let receive = || -> io::Result<Result<String, Failure>> {
        let (message, _) = OwnProcess::start(arguments)?.receive(until)?;
        Ok(serde_json::from_slice(&message)?)
    };
    receive().unwrap_or_else(|error| {
        let path = subject.to_owned();
        let refusal = match error.kind() {
            io::ErrorKind::TimedOut => Refusal::NoAnswer { path, seconds: ANSWER_LIMIT.as_secs() },
            _ => Refusal::Denied { path, cause: format!("the look at it failed: {error}") },
        };
        Err(TargetError::Refused(refusal).into())
    })
}
