//! Files of others, read by a process that may do nothing else.
//!
//! A command that opens a drive keeps the privileges of its caller until it has the drive, and must know
//! before what a suite, a trace or a run file asks for. So another process of this program, restricted
//! before it reads anything, reads these files and answers with plain values as JSON (`commands::reader`). A command
//! that is restricted itself reads them without that process.

use crate::failure::{Failure, FailureKind};
use serde::de::DeserializeOwned;
use ssdgauge_os::child::{self, End};
use ssdgauge_os::own_process::THIS_PROGRAM;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

/// The largest answer: the plan and the steps of a run file at the limits for its records.
const MAX_ANSWER: u64 = 256 << 20;

/// Whether this process is restricted.
static RESTRICTED: AtomicBool = AtomicBool::new(false);

/// Returns whether this process is restricted: it may read files of others.
pub(crate) fn is_restricted() -> bool {
    RESTRICTED.load(Ordering::Relaxed)
}

/// Records that this process is restricted.
pub(crate) fn record_restriction() {
    RESTRICTED.store(true, Ordering::Relaxed);
}

/// What a process that reads has as its standard input.
pub(crate) enum Input<'a> {
    /// Nothing.
    None,
    /// A text.
    Text(&'a str),
    /// An open file.
    File(&'a File),
}

/// Returns what `here` reads, in this process where it is restricted, otherwise in one that is: that one
/// is started with `words`, which are a question (`arguments::Question`), and `names`.
///
/// # Errors
///
/// Those of `here`, and where the process cannot be started or is ended.
pub(crate) fn ask<T: DeserializeOwned>(
    here: impl FnOnce() -> Result<T, Failure>,
    words: &[&str],
    names: &[OsString],
    input: Input<'_>,
) -> Result<T, Failure> {
    if is_restricted() {
        return here();
    }
    let failed = |cause: String| {
        let text = format!("the process that reads files of others {cause}");
        let hint = "nothing was written; see the kernel log (dmesg), and report it with the file";
        Failure::new(FailureKind::Failed, text, hint)
    };
    match answer_of(words, names, &input) {
        Ok(Ok(bytes)) => {
            let answer: Result<T, Failure> = serde_json::from_slice(&bytes)
                .map_err(|error| failed(format!("gave no answer: {error}")))?;
            answer
        }
        Ok(Err(signal)) => Err(failed(format!("was ended by signal {signal}"))),
        Err(error) => Err(failed(format!("failed: {error}"))),
    }
}

/// Starts the process and returns its answer, or the signal that ended it.
fn answer_of(
    words: &[&str],
    names: &[OsString],
    input: &Input<'_>,
) -> io::Result<Result<Vec<u8>, i32>> {
    let stdin = match input {
        Input::None => Stdio::null(),
        Input::Text(_) => Stdio::piped(),
        Input::File(file) => Stdio::from(file.try_clone()?),
    };
    // It shows the progress of a long trace. Ctrl-C ends it as well.
    let mut child = child::start(THIS_PROGRAM, End::Killed, &[], |command| {
        command.arg("reader").args(words).arg("--").args(names);
        command.stdin(stdin).stdout(Stdio::piped());
    })?;
    if let (Input::Text(text), Some(mut pipe)) = (input, child.stdin.take()) {
        match pipe.write_all(text.as_bytes()) {
            // It ended before it read all: its answer, or its end, is the reason.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written?,
        }
    }
    let mut bytes = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        pipe.take(MAX_ANSWER).read_to_end(&mut bytes)?;
    }
    let status = child.wait()?;
    Ok(status.signal().map_or(Ok(bytes), Err))
}
