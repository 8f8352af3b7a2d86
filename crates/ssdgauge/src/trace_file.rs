//! Traces as files.

use crate::failure::{Failure, FailureKind};
use crate::reader::{self, Input};
use crate::replay_streams::ReplayStreams;
use serde::{Deserialize, Serialize};
use ssdgauge_core::{
    Bytes, DriveInfo, Nanos, RecordedRequests, Replay, TargetKind, TraceIdentity, Until,
};
use ssdgauge_trace::{
    Format, Kind, ReplayRequests, ReplayTarget, Routes, Summary, Trace, TraceError,
};
use ssdgauge_watch::terminal::live_lines::{Count, LiveLines};
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
/// Fails with exit code 2 where there is no such file, it is not a regular file, or its format is not known.
pub(crate) fn open(path: &Path, format: Option<Format>, what: &str) -> Result<Trace, Failure> {
    trace_in(path, open_file(path)?, format, what)
}

/// Returns the trace in the open `file` with the name `path`, from its start.
fn trace_in(path: &Path, file: File, format: Option<Format>, what: &str) -> Result<Trace, Failure> {
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let shown =
        (length >= LONG).then(|| (what.to_owned(), LiveLines::of_stderr(), Count::to(length)));
    let file = ReadAt { file: Arc::new(file), at: 0 };
    let input = BufReader::with_capacity(BUFFER, ShownReading { file, shown });
    Trace::open(input, format).map_err(|error| failure(path, error))
}

/// Opens the file of a trace.
///
/// # Errors
///
/// Fails with exit code 2 where there is no such file, or it is not a regular file.
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
    read_summary(path, open_file(path)?, format)
}

/// Reads the trace in the open `file` with the name `path` to its end.
fn read_summary(path: &Path, file: File, format: Option<Format>) -> Result<Summary, Failure> {
    let mut trace = trace_in(path, file, format, "reading the trace")?;
    Summary::of(&mut trace).map_err(|error| failure(path, error))
}

/// What a replay needs to know of a trace before it has a target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TraceFacts {
    /// The name of its format.
    format: String,
    /// The number that follows from its requests.
    id: String,
    /// The end of the addressed range, in bytes.
    pub(crate) end_bytes: u64,
    /// Reads and writes.
    transfers: u64,
    /// Whether its requests have response times.
    has_response_times: bool,
    /// The unit of its times, in nanoseconds.
    time_resolution_ns: u64,
}

impl TraceFacts {
    /// Reads the trace in the open `file` with the name `path` to its end.
    ///
    /// # Errors
    ///
    /// Fails with exit code 2 where it is not valid, with the line or the record.
    pub(crate) fn read(
        path: &Path,
        file: &File,
        format: Option<Format>,
    ) -> Result<TraceFacts, Failure> {
        let here = || TraceFacts::read_here(path, clone(path, file)?, format);
        let option = format.map(|format| format!("--format={}", format.name()));
        let words: Vec<&str> = ["trace"].into_iter().chain(option.as_deref()).collect();
        reader::ask(here, &words, &[path.into()], Input::File(file))
    }

    fn read_here(path: &Path, file: File, format: Option<Format>) -> Result<TraceFacts, Failure> {
        let summary = read_summary(path, file, format)?;
        let kinds = [Kind::Read, Kind::Write].map(Kind::name);
        let directions = summary.directions.iter().filter(|one| kinds.contains(&one.kind));
        Ok(TraceFacts {
            format: summary.format.to_owned(),
            transfers: directions.map(|one| one.requests).sum(),
            id: summary.id,
            end_bytes: summary.end_bytes,
            has_response_times: summary.has_response_times,
            time_resolution_ns: summary.time_resolution_ns,
        })
    }
}

/// The replay that is wanted of a trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WantedReplay {
    /// The facts of the trace.
    pub(crate) facts: TraceFacts,
    /// The target.
    pub(crate) drive: DriveInfo,
    /// The length to which idle times are cut.
    pub(crate) idle_cut: Option<Nanos>,
    /// The replay has the first requests, one part in so many.
    pub(crate) shorten: u64,
}

/// Reads the replay that is `wanted` of the trace in the open `file` with the name `path`.
///
/// # Errors
///
/// Fails with exit code 2 where the trace is not valid, or has neither reads nor writes.
pub(crate) fn read_replay(
    path: &Path,
    file: &File,
    format: Format,
    wanted: &WantedReplay,
) -> Result<Replay, Failure> {
    let here = || replay_here(path, clone(path, file)?, format, wanted);
    let json = serde_json::to_string(wanted).expect("facts of a trace and a drive serialise");
    let words = ["replay", &format!("--format={}", format.name()), &format!("--wanted={json}")];
    reader::ask(here, &words, &[path.into()], Input::File(file))
}

fn clone(path: &Path, file: &File) -> Result<File, Failure> {
    file.try_clone().map_err(|error| {
        let text = format!("{}: {error}", path.display());
        Failure::new(FailureKind::Failed, text, "nothing was written; close other programs")
    })
}

fn replay_here(
    path: &Path,
    file: File,
    format: Format,
    wanted: &WantedReplay,
) -> Result<Replay, Failure> {
    let WantedReplay { facts, drive, idle_cut, shorten } = wanted;
    let file = Arc::new(file);
    let at_most = match shorten {
        1 => u64::MAX,
        shorten => facts.transfers.div_ceil(*shorten),
    };
    let failure = |error| failure(path, error);
    let has_responses = facts.has_response_times;
    let routes = Routes::Trace { has_trim: drive.has_trim() };
    let mut requests = requests_in(&file, format, has_responses, drive, routes, *idle_cut, at_most)
        .map_err(failure)?;
    while requests.read().map_err(failure)?.is_some() {}
    let totals = requests.totals();
    if totals.requests == [0, 0] {
        return Err(Failure::new(
            FailureKind::Usage,
            format!("{} has no read and no write", path.display()),
            "nothing was written; name a trace with reads or writes",
        ));
    }
    let ReplayStreams { workload, own, shared } = ReplayStreams::of(totals, drive);
    let name = path.file_stem().map_or("trace".into(), |name| name.to_string_lossy());
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Ok(Replay {
        trace: TraceIdentity {
            name: name.into_owned(),
            path: path.to_string_lossy().into_owned(),
            format: format.name().into(),
            id: facts.id.clone(),
            time_resolution_ns: facts.time_resolution_ns,
        },
        until: Until { time: None, bytes: Some(Bytes(totals.bytes[0] + totals.bytes[1])) },
        workload,
        streams: own,
        shared_streams: shared,
        requests: totals.requests,
        bytes: totals.bytes.map(Bytes),
        commands: [totals.trims.requests, totals.flushes],
        trimmed: Bytes(totals.trims.bytes),
        left_out: totals.left_out,
        longest: Bytes(totals.longest),
        folded: totals.folded,
        aligned: totals.aligned,
        recorded: totals.recorded,
        after_cut: totals.after_cut,
        idle_cut: *idle_cut,
        has_response_times: has_responses,
        at_most,
        generated: None,
    })
}

/// Returns the failure of a trace that cannot be read.
pub(crate) fn failure(path: &Path, error: TraceError) -> Failure {
    let text = format!("{}: {error}", path.display());
    Failure::new(FailureKind::Usage, text, format!("nothing was written; {}", error.hint))
}

/// A file that shows how far it is read, where it is long.
struct ShownReading {
    file: ReadAt,
    /// The title, the lines and the bytes to read; `None` for a short file.
    shown: Option<(String, LiveLines, Count)>,
}

impl Read for ShownReading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        if let Some((what, lines, count)) =
            self.shown.as_ref().filter(|(_, lines, _)| lines.is_due())
        {
            let at = self.file.at;
            lines.show(vec![format!("{what} {}, {} left", count.bar(at), count.left(at))]);
        }
        Ok(read)
    }
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
    facts: TraceFacts,
    /// The target of the run, once it is known.
    drive: Option<DriveInfo>,
}

impl TraceInput {
    /// Opens the trace `path`, and reads it to its end: where this process has privileges, by one that is
    /// restricted.
    ///
    /// # Errors
    ///
    /// As [`open`], and where it is not valid.
    pub(crate) fn open(path: &Path, format: Option<Format>) -> Result<TraceInput, Failure> {
        let file = Arc::new(open_file(path)?);
        let facts = TraceFacts::read(path, &file, format)?;
        let format = Format::from_str(&facts.format).map_err(|_| {
            let error = format!("{}: the format {} is not known", path.display(), facts.format);
            Failure::new(FailureKind::Usage, error, "nothing was written; name the file of a trace")
        })?;
        Ok(TraceInput { path: path.to_owned(), file, format, facts, drive: None })
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
        if input.facts.id != identity.id {
            return Err(Failure::new(
                FailureKind::Refused,
                format!(
                    "{} has other requests than the trace of the run (id {}, not {})",
                    path.display(),
                    input.facts.id,
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

    /// Returns the facts of the trace.
    pub(crate) fn facts(&self) -> &TraceFacts {
        &self.facts
    }

    /// Returns the replay on `drive`: of its first requests, one `shorten`th of them.
    ///
    /// # Errors
    ///
    /// As [`read_replay`].
    pub(crate) fn replay(
        &self,
        drive: &DriveInfo,
        idle_cut: Option<Nanos>,
        shorten: u64,
    ) -> Result<Replay, Failure> {
        let (facts, drive) = (self.facts.clone(), drive.clone());
        let wanted = WantedReplay { facts, drive, idle_cut, shorten };
        read_replay(&self.path, &self.file, self.format, &wanted)
    }

    /// Returns [`TraceInput::requests_of`] as a function, for the display of a run.
    pub(crate) fn into_requests(self) -> ssdgauge_watch::progress::RequestsOf {
        Box::new(move |replay| self.requests_of(replay))
    }

    /// Returns the requests of `replay`.
    ///
    /// # Errors
    ///
    /// The cause in words.
    pub(crate) fn requests_of(&self, replay: &Replay) -> Result<Box<dyn RecordedRequests>, String> {
        let drive = self.drive.as_ref().ok_or("the target is not known")?;
        let requests = requests_in(
            &self.file,
            self.format,
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

/// Returns the requests of the trace in `file` for `drive` in the streams of `routes`, from the first on.
fn requests_in(
    file: &Arc<File>,
    format: Format,
    has_responses: bool,
    drive: &DriveInfo,
    routes: Routes,
    idle_cut: Option<Nanos>,
    at_most: u64,
) -> Result<ReplayRequests, TraceError> {
    let input = ReadAt { file: file.clone(), at: 0 };
    let trace = Trace::open(BufReader::with_capacity(BUFFER, input), Some(format))?;
    let target = ReplayTarget { range: range(drive), block: drive.logical_block };
    ReplayRequests::new(trace, has_responses, target, routes, idle_cut, at_most)
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
