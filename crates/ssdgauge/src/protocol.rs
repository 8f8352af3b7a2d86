//! The protocol of a run: a suite, or the replay of a trace.

use crate::arguments::{PlanOptions, ReplayOptions};
use crate::failure::{Failure, FailureKind};
use crate::replay_streams::ReplayStreams;
use crate::request_path;
use crate::suite_options::{DEFAULT_SIZE, find_suite, planner_options_from, size_for};
use crate::target::SizeRequest;
use crate::trace_file::{self, TraceInput};
use ssdgauge_core::{Bytes, DriveInfo, Nanos, Plan, Replay, TargetKind, TraceIdentity, Until};
use ssdgauge_lab::Suite;
use ssdgauge_trace::{Kind, Routes, Summary};
use std::path::Path;

/// How the name of a trace begins where a suite is expected.
const TRACE: &str = "trace:";
/// The unit of the size of a scratch file, in bytes.
const UNIT: u64 = 1 << 20;

/// The protocol of a run.
pub(crate) enum Protocol {
    /// A suite.
    Suite(Box<Suite>),
    /// The replay of a trace.
    Trace(Box<TraceProtocol>),
}

/// A trace and the options of its replay.
pub(crate) struct TraceProtocol {
    pub(crate) input: TraceInput,
    summary: Summary,
    idle_cut: Option<Nanos>,
    fill: bool,
}

impl Protocol {
    /// Finds the suite or the trace `name`, and reads the trace to its end.
    ///
    /// # Errors
    ///
    /// Fails where there is none, it is not valid, or options do not fit it.
    pub(crate) fn find(name: &str, options: &ReplayOptions) -> Result<Protocol, Failure> {
        let Some(path) = name.strip_prefix(TRACE) else {
            return match options.given() {
                None => Ok(Protocol::Suite(Box::new(find_suite(name)?))),
                Some(option) => Err(Failure::new(
                    FailureKind::Usage,
                    format!("a suite has no {option}"),
                    "nothing was written; name a trace as trace:FILE, or omit the option",
                )),
            };
        };
        let path = Path::new(path);
        let input = TraceInput::open(path, options.trace_format)?;
        let summary = trace_file::summary(path, Some(input.format()))?;
        let idle_cut = options.idle_cut.and_then(|cut| cut.0);
        Ok(Protocol::Trace(Box::new(TraceProtocol {
            input,
            summary,
            idle_cut,
            fill: options.fill,
        })))
    }

    /// Returns the target size: `exact` if given, otherwise what the protocol needs.
    pub(crate) fn size(&self, options: &PlanOptions, exact: Option<Bytes>) -> SizeRequest {
        match self {
            Protocol::Suite(suite) => size_for(suite, options, exact),
            Protocol::Trace(trace) => {
                let needed = trace.summary.end_bytes.max(UNIT).next_multiple_of(UNIT);
                SizeRequest { exact, scratch: Bytes(needed).min(DEFAULT_SIZE), at_most: None }
            }
        }
    }

    /// Returns the plan on `drive`.
    ///
    /// # Errors
    ///
    /// Fails where the protocol does not fit the drive or the options.
    pub(crate) fn plan(&self, drive: &DriveInfo, options: &PlanOptions) -> Result<Plan, Failure> {
        let planner = planner_options_from(options);
        match self {
            Protocol::Suite(suite) => {
                let plan = ssdgauge_lab::plan(suite, drive, &planner)?;
                request_path::check(&plan, drive)?;
                Ok(plan)
            }
            Protocol::Trace(trace) => {
                if options.verify {
                    return Err(Failure::new(
                        FailureKind::Usage,
                        "a replay is not verified: what each block holds behind it is not followed",
                        "nothing was written; omit --verify",
                    ));
                }
                request_path::check_replay(options.request_path())?;
                let replay = trace.replay(drive, u64::from(options.shorten.max(1)))?;
                let fills = trace.fill || drive.kind == TargetKind::File;
                let fill = fills.then(|| trace_file::range(drive));
                Ok(ssdgauge_lab::plan_replay(&replay, fill, drive, &planner)?)
            }
        }
    }

    /// Returns the id of the suite that its runs have.
    pub(crate) fn id(&self) -> String {
        self.suite().map_or_else(|| ssdgauge_lab::REPLAY_SUITE.to_owned(), |suite| suite.id.clone())
    }

    /// Returns the suite, where the protocol is one.
    pub(crate) fn suite(&self) -> Option<&Suite> {
        match self {
            Protocol::Suite(suite) => Some(suite),
            Protocol::Trace(_) => None,
        }
    }

    /// Returns the trace, where the protocol is a replay.
    pub(crate) fn into_trace(self) -> Option<TraceInput> {
        match self {
            Protocol::Suite(_) => None,
            Protocol::Trace(trace) => Some(trace.input),
        }
    }
}

impl TraceProtocol {
    /// Returns the replay on `drive`: of the first requests alone, one `shorten`th of them.
    fn replay(&self, drive: &DriveInfo, shorten: u64) -> Result<Replay, Failure> {
        let path = self.input.path();
        let kinds = [Kind::Read, Kind::Write].map(Kind::name);
        let directions = self.summary.directions.iter();
        let transfers = directions.filter(|one| kinds.contains(&one.kind));
        let transfers: u64 = transfers.map(|one| one.requests).sum();
        let at_most = match shorten {
            1 => u64::MAX,
            shorten => transfers.div_ceil(shorten),
        };
        let failure = |error| trace_file::failure(path, error);
        let has_responses = self.summary.has_response_times;
        let routes = Routes::Trace { has_trim: drive.has_trim() };
        let mut requests = self
            .input
            .replay_requests(has_responses, drive, routes, self.idle_cut, at_most)
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
                format: self.input.format().name().into(),
                id: self.summary.id.clone(),
                time_resolution_ns: self.summary.time_resolution_ns,
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
            idle_cut: self.idle_cut,
            has_response_times: has_responses,
            at_most,
            generated: None,
        })
    }
}
