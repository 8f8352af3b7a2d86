//! The hidden command `reader`: a restricted process of the program that reads a file of others for a command that has
//! privileges, and prints what it contains as JSON.

use super::crosscheck;
use super::look::cannot_serve;
use super::xray::stated_figures;
use crate::arguments::Question;
use crate::failure::{Failure, FailureKind};
use crate::trace_file::{self, TraceFacts};
use crate::{library, meter_specs, outline, suite_options};
use serde::Serialize;
use ssdgauge_trace::Format;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::str::FromStr;

/// The largest text that the process reads from its standard input: the output of fio, which is limited
/// to as much.
const MAX_TEXT: u64 = 16 << 20;

/// Serves as such a process, which is restricted already.
///
/// # Errors
///
/// Fails where the question or its answer cannot be passed; any other failure is an answer.
pub(crate) fn serve(question: &Question) -> Result<(), Failure> {
    let answered = match question {
        Question::Suite { name } => {
            answer(text().and_then(|text| suite_options::parse_suite(name, &text)))
        }
        Question::Meters { name } => {
            answer(text().and_then(|text| meter_specs::specs_of_file(name, &text)))
        }
        Question::Stated { name } => answer(text().and_then(|text| stated_figures(name, &text))),
        Question::Trace { path, format } => {
            let format = format.as_deref().and_then(|name| Format::from_str(name).ok());
            answer(input().and_then(|file| TraceFacts::read(path, &file, format)))
        }
        Question::Replay { path, format, wanted } => answer(input().and_then(|file| {
            let format = Format::from_str(format).map_err(|_| malformed(format))?;
            let wanted = serde_json::from_str(wanted).map_err(malformed)?;
            trace_file::read_replay(path, &file, format, &wanted)
        })),
        Question::Rest { file } => answer(outline::read(file)),
        Question::Records { file, judged } => answer(outline::records(file, *judged)),
        Question::Library { whole, folder } => answer(library::read_from(folder, *whole)),
        Question::Entries { files } => answer(Ok(library::entries_of(files))),
        Question::Fio => answer(text().and_then(|text| crosscheck::result_of_fio(&text))),
    };
    answered.map_err(|error| cannot_serve(&error))
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

fn malformed(cause: impl std::fmt::Display) -> Failure {
    let hint = "nothing was written; this command is started by the program itself";
    Failure::new(FailureKind::Failed, format!("cannot read what was passed: {cause}"), hint)
}
