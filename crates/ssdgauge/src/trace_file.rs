//! Traces as files.

use crate::failure::{Failure, FailureKind};
use crate::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdgauge_core::{Bytes, DriveInfo, Nanos, RecordedRequests, Replay, TargetKind};
use ssdgauge_trace::{Format, ReplayRequests, ReplayTarget, Routes, Summary, Trace, TraceError};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

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

/// The length of the writes that fill a scratch file: a replay addresses whole ones.
const FILL_BLOCK: u64 = 128 << 10;

/// Returns the length of the range of `drive` that a replay addresses: a scratch file has to be filled in
/// whole writes, because it is read nowhere else.
pub(crate) fn range(drive: &DriveInfo) -> Bytes {
    match drive.kind {
        TargetKind::File => Bytes(drive.capacity.0 / FILL_BLOCK * FILL_BLOCK),
        TargetKind::Block | TargetKind::Virtual | TargetKind::Null => drive.capacity,
    }
}

/// The open file of a trace, which a run reads again after it has dropped its privileges.
#[derive(Clone, Debug)]
pub(crate) struct TraceInput {
    path: PathBuf,
    file: Arc<File>,
    format: Format,
    /// The target of the run, once it is known.
    drive: Option<DriveInfo>,
}

impl TraceInput {
    /// Opens the trace `path`.
    ///
    /// # Errors
    ///
    /// As [`open`].
    pub(crate) fn open(path: &Path, format: Option<Format>) -> Result<TraceInput, Failure> {
        let file = Arc::new(open_file(path)?);
        let trace = Trace::open(BufReader::new(ReadAt { file: file.clone(), at: 0 }), format);
        let format = trace.map_err(|error| failure(path, error))?.format();
        Ok(TraceInput { path: path.to_owned(), file, format, drive: None })
    }

    /// Opens the trace of a run that is resumed, and checks that it is the same one.
    ///
    /// # Errors
    ///
    /// As [`open`], and where the trace has other requests than it had.
    pub(crate) fn open_again(replay: &Replay) -> Result<TraceInput, Failure> {
        let identity = &replay.trace;
        let path = Path::new(&identity.path);
        let input = TraceInput::open(path, Format::from_str(&identity.format).ok())?;
        let summary = summary(path, Some(input.format))?;
        if summary.id != identity.id {
            return Err(Failure::new(
                FailureKind::Refused,
                format!(
                    "{} has other requests than the trace of the run (id {}, not {})",
                    path.display(),
                    summary.id,
                    identity.id
                ),
                "nothing was written; restore the trace under this name",
            ));
        }
        Ok(input)
    }

    /// Returns the same trace for a run on `drive`.
    pub(crate) fn for_drive(mut self, drive: &DriveInfo) -> TraceInput {
        self.drive = Some(drive.clone());
        self
    }

    /// Returns the path of the trace.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the format of the trace.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Returns the requests for `drive` in the streams of `routes`, from the first on.
    ///
    /// # Errors
    ///
    /// That of the trace.
    pub(crate) fn replay_requests(
        &self,
        has_responses: bool,
        drive: &DriveInfo,
        routes: Routes,
        idle_cut: Option<Nanos>,
        at_most: u64,
    ) -> Result<ReplayRequests, TraceError> {
        let input = ReadAt { file: self.file.clone(), at: 0 };
        let trace = Trace::open(BufReader::with_capacity(BUFFER, input), Some(self.format))?;
        let target = ReplayTarget { range: range(drive), block: drive.logical_block };
        ReplayRequests::new(trace, has_responses, target, routes, idle_cut, at_most)
    }

    /// Returns the requests of `replay`.
    ///
    /// # Errors
    ///
    /// The cause in words.
    pub(crate) fn requests_of(&self, replay: &Replay) -> Result<Box<dyn RecordedRequests>, String> {
        let drive = self.drive.as_ref().ok_or("the target is not known")?;
        let requests = self.replay_requests(
            replay.has_response_times,
            drive,
            Routes::of(replay),
            replay.idle_cut,
            replay.at_most,
        );
        match requests {
            Ok(requests) => Ok(Box::new(requests)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A reader with a position of its own in a file that others read as well.
struct ReadAt {
    file: Arc<File>,
    at: u64,
}

impl Read for ReadAt {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(bytes, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
