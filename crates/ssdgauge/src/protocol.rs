//! The protocol of a run: a suite, or the replay of a trace.

use crate::arguments::{PlanOptions, ReplayOptions};
use crate::failure::{Failure, FailureKind};
use crate::request_path;
use crate::suite_options::{DEFAULT_SIZE, find_suite, planner_options_from, size_for};
use crate::target::SizeRequest;
use crate::trace_file::{self, TraceInput};
use ssdgauge_core::{Bytes, DriveInfo, Nanos, Plan, TargetKind};
use ssdgauge_lab::Suite;
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
        let idle_cut = options.idle_cut.and_then(|cut| cut.0);
        Ok(Protocol::Trace(Box::new(TraceProtocol { input, idle_cut, fill: options.fill })))
    }

    /// Returns the target size: `exact` if given, otherwise what the protocol needs.
    pub(crate) fn size(&self, options: &PlanOptions, exact: Option<Bytes>) -> SizeRequest {
        match self {
            Protocol::Suite(suite) => size_for(suite, options, exact),
            Protocol::Trace(trace) => {
                let needed = trace.input.facts().end_bytes.max(UNIT).next_multiple_of(UNIT);
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
                        "a replay is not verified: what each block holds after it is not followed",
                        "nothing was written; omit --verify",
                    ));
                }
                request_path::check_replay(options.request_path())?;
                let replay =
                    trace.input.replay(drive, trace.idle_cut, options.shorten.max(1).into())?;
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
