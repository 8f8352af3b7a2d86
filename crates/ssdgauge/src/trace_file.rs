//! Traces as files.

use crate::failure::{Failure, FailureKind};
use crate::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdgauge_trace::{Format, Summary, Trace, TraceError};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The bytes that are read at once.
const BUFFER: usize = 1 << 20;
/// The length of a trace from which on its reading has a progress bar, in bytes: half a second.
const LONG: u64 = 64 << 20;

/// Opens the trace `path` and returns a trace that shows how far it is read, under the title `what`.
///
/// # Errors
///
/// Fails with exit code 2 where there is no such file, it is no regular file, or its format is not known.
pub(crate) fn open(path: &Path, format: Option<Format>, what: &str) -> Result<Trace, Failure> {
    let file = open_file(path)?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let bar = bar(length, what);
    let input = BufReader::with_capacity(BUFFER, bar.wrap_read(file));
    Trace::open(input, format).map_err(|error| failure(path, error))
}

/// Opens the file of a trace.
///
/// # Errors
///
/// Fails with exit code 2 where there is no such file, or it is no regular file.
pub(crate) fn open_file(path: &Path) -> Result<File, Failure> {
    let name = path.display();
    let no_trace = |text: String| {
        let hint = "nothing was written; name the file of a trace";
        Failure::new(FailureKind::Usage, text, hint)
    };
    let kind = path.metadata().map_err(|error| no_trace(format!("{name}: {error}")))?;
    // An open of a FIFO would wait for a writer, and a trace is read twice.
    if !kind.is_file() {
        return Err(no_trace(format!("{name} is not a regular file")));
    }
    File::open(path).map_err(|error| no_trace(format!("{name}: {error}")))
}

/// Reads a trace to its end.
///
/// # Errors
///
/// Fails with exit code 2 where it is not valid, with the line or the record.
pub(crate) fn summary(path: &Path, format: Option<Format>) -> Result<Summary, Failure> {
    let mut trace = open(path, format, "reading the trace")?;
    Summary::of(&mut trace).map_err(|error| failure(path, error))
}

/// Returns the failure of a trace that cannot be read.
pub(crate) fn failure(path: &Path, error: TraceError) -> Failure {
    let text = format!("{}: {error}", path.display());
    Failure::new(FailureKind::Usage, text, format!("nothing was written; {}", error.hint))
}

fn bar(length: u64, what: &str) -> ProgressBar {
    if length < LONG || !terminal::has_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg} {bar:24} {percent:>3}%, {eta} left");
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    bar.set_style(style.expect("the template is valid").progress_chars("━╸─"));
    bar.set_message(what.to_owned());
    bar
}
