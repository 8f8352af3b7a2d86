//! Files of others, read by a process that may do nothing else.
//!
//! A command that opens a drive keeps the privileges of its caller until it has the drive, and must know
//! before what a suite, a trace or a run file asks for. So another process of this program, restricted
//! before it reads anything, reads these files and answers with plain values as JSON. A command that is
//! restricted itself reads them without that process.

use crate::arguments::Question;
use crate::failure::{Failure, FailureKind};
use crate::rest_of_run::Outline;
use crate::restriction;
use crate::trace_file::{TraceFacts, WantedReplay};
use crate::{commands, meter_specs, rest_of_run, trace_file};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ssdgauge_core::{Bytes, Nanos, Replay};
use ssdgauge_fio::Repetition;
use ssdgauge_lab::Suite;
use ssdgauge_os::child::{self, End};
use ssdgauge_os::own_process::THIS_PROGRAM;
use ssdgauge_runfile::{Head, RunFile, StepRecord};
use ssdgauge_trace::Format;
use ssdgauge_xray::Stated;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::str::FromStr;

/// The largest text that the process reads from its standard input: the output of fio, which is limited
/// to as much.
const MAX_TEXT: u64 = 16 << 20;
/// The largest answer: the plan and the steps of a run file at the limits for its records.
const MAX_ANSWER: u64 = 256 << 20;

/// The records of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Records {
    /// Plan, drive and host.
    pub(crate) head: Head,
    /// The attempts at its steps.
    pub(crate) steps: Vec<StepRecord>,
    /// Whether the run is complete, where that was asked for.
    pub(crate) is_complete: Option<bool>,
}

/// What fio measured in one repetition of a step.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FioResult {
    /// The time that it took.
    pub(crate) elapsed: Nanos,
    /// The bytes that it wrote.
    pub(crate) written: Bytes,
    /// One value for each direction with requests.
    pub(crate) repetitions: Vec<Repetition>,
}

/// Returns the suite with the contents `text` of the file `name`.
///
/// # Errors
///
/// Fails where it is not a valid suite.
pub(crate) fn suite(name: &str, text: &str) -> Result<Suite, Failure> {
    let here = || Ok(Suite::parse(name, text)?);
    ask(here, &["suite"], &[name.into()], Input::Text(text))
}

/// Returns the specifications in the meter file `name` with the contents `text`, as in `--power`.
///
/// # Errors
///
/// Fails where it is not a valid meter file.
pub(crate) fn meters(name: &str, text: &str) -> Result<Vec<String>, Failure> {
    let here = || meter_specs::specs_of_file(name, text);
    ask(here, &["meters"], &[name.into()], Input::Text(text))
}

/// Returns the stated figures in the file `name` with the contents `text`.
///
/// # Errors
///
/// Fails where a figure is not one of a structure.
pub(crate) fn stated(name: &str, text: &str) -> Result<Vec<Stated>, Failure> {
    let here = || commands::stated_figures(name, text);
    ask(here, &["stated"], &[name.into()], Input::Text(text))
}

/// Returns the facts of the open trace `file` with the name `path`, which is read to its end.
///
/// # Errors
///
/// Fails where it is not a valid trace.
pub(crate) fn trace(
    path: &Path,
    file: &File,
    format: Option<Format>,
) -> Result<TraceFacts, Failure> {
    let here = || TraceFacts::read(path, clone(file)?, format);
    let option = format.map(|format| format!("--format={}", format.name()));
    let words: Vec<&str> = ["trace"].into_iter().chain(option.as_deref()).collect();
    ask(here, &words, &[path.into()], Input::File(file))
}

/// Returns the replay of the open trace `file` with the name `path` and the format `format`.
///
/// # Errors
///
/// Fails where it is not a valid trace, or has neither reads nor writes.
pub(crate) fn replay(
    path: &Path,
    file: &File,
    format: Format,
    wanted: &WantedReplay,
) -> Result<Replay, Failure> {
    let here = || trace_file::read_replay(path, clone(file)?, format, wanted);
    let json = serde_json::to_string(wanted).expect("facts of a trace and a drive serialise");
    let words = ["replay", &format!("--format={}", format.name()), &format!("--wanted={json}")];
    ask(here, &words, &[path.into()], Input::File(file))
}

/// Returns what the interrupted run in `file` has left to do. The file is free for the writer of its rest
/// again, and an interrupted write to it is undone.
///
/// # Errors
///
/// Fails where the file cannot be read, is in use or is not a run file.
pub(crate) fn rest(file: &Path) -> Result<Outline, Failure> {
    ask(|| rest_of_run::outline(file), &["rest"], &[file.into()], Input::None)
}

/// Returns the records of the run in `file`; where `is_judged`, with whether it is complete.
///
/// # Errors
///
/// Fails where the file cannot be read or is not a run file.
pub(crate) fn records(file: &Path, is_judged: bool) -> Result<Records, Failure> {
    let words: &[&str] = if is_judged { &["records", "--judged"] } else { &["records"] };
    ask(|| read_records(file, is_judged), words, &[file.into()], Input::None)
}

/// Returns what `text`, the output of fio for the only step of a job, has measured.
///
/// # Errors
///
/// Fails where it is no such output, or requests failed.
pub(crate) fn fio(text: &str) -> Result<FioResult, Failure> {
    ask(|| commands::result_of_fio(text), &["fio"], &[], Input::Text(text))
}

/// Serves as such a process, which is restricted already.
///
/// # Errors
///
/// Fails where the question or its answer cannot be passed; any other failure is an answer.
pub(crate) fn serve(question: &Question) -> Result<(), Failure> {
    let answered = match question {
        Question::Suite { name } => answer(text().and_then(|text| suite(name, &text))),
        Question::Meters { name } => answer(text().and_then(|text| meters(name, &text))),
        Question::Stated { name } => answer(text().and_then(|text| stated(name, &text))),
        Question::Trace { path, format } => {
            let format = format.as_deref().and_then(|name| Format::from_str(name).ok());
            answer(input().and_then(|file| trace(path, &file, format)))
        }
        Question::Replay { path, format, wanted } => answer(input().and_then(|file| {
            let format = Format::from_str(format).map_err(|_| malformed(format))?;
            let wanted = serde_json::from_str(wanted).map_err(malformed)?;
            replay(path, &file, format, &wanted)
        })),
        Question::Rest { file } => answer(rest(file)),
        Question::Records { file, judged } => answer(records(file, *judged)),
        Question::Fio => answer(text().and_then(|text| fio(&text))),
    };
    answered.map_err(|error| commands::cannot_serve(&error))
}

/// What a process that reads has as its standard input.
enum Input<'a> {
    None,
    Text(&'a str),
    File(&'a File),
}

/// Returns what `here` reads, in this process where it is restricted, otherwise in one that is: that one
/// is started with `words` and `names`.
fn ask<T: DeserializeOwned>(
    here: impl FnOnce() -> Result<T, Failure>,
    words: &[&str],
    names: &[OsString],
    input: Input<'_>,
) -> Result<T, Failure> {
    if restriction::is_in_force() {
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

/// Prints `result` for the process that asked.
fn answer<T: Serialize>(result: Result<T, Failure>) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(&result)?;
    bytes.push(b'\n');
    io::stdout().lock().write_all(&bytes)
}

/// Returns the text on standard input.
fn text() -> Result<String, Failure> {
    let mut text = String::new();
    io::stdin().lock().take(MAX_TEXT + 1).read_to_string(&mut text).map_err(malformed)?;
    Ok(text)
}

/// Returns the file on standard input.
fn input() -> Result<File, Failure> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned().map_err(malformed)?))
}

fn clone(file: &File) -> Result<File, Failure> {
    file.try_clone().map_err(malformed)
}

fn malformed(cause: impl std::fmt::Display) -> Failure {
    let hint = "nothing was written; this command is started by the program itself";
    Failure::new(FailureKind::Failed, format!("cannot read what was passed: {cause}"), hint)
}

fn read_records(file: &Path, is_judged: bool) -> Result<Records, Failure> {
    let run = RunFile::open(file)?;
    let is_complete = match is_judged {
        true => Some(ssdgauge_report::read(file)?.complete),
        false => None,
    };
    Ok(Records { head: run.head().clone(), steps: run.steps()?, is_complete })
}
