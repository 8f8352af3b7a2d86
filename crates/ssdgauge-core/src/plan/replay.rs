//! The replay of a trace, as a step of a plan.

use crate::sample::{Finding, FindingKind, Severity};
use crate::units::{Bytes, Nanos};
use crate::workload::{Until, Workload};
use serde::{Deserialize, Serialize};

/// The coarsest resolution of the times of a trace without a finding, in nanoseconds: a latency of a
/// solid-state drive spans hundreds of such units. Chosen.
const FINE_RESOLUTION: u64 = 10_000;

/// The replay of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// The trace.
    pub trace: TraceIdentity,
    /// Its requests in sum: one stream, whose block size is the mean length, with a rate that is the mean
    /// behind the cut.
    pub workload: Workload,
    /// The bytes that the requests transfer.
    pub until: Until,
    /// Reads and writes.
    pub requests: [u64; 2],
    /// Their bytes on this target.
    pub bytes: [Bytes; 2],
    /// Discards and flushes of the trace, which are left out.
    pub left_out: [u64; 2],
    /// The longest request.
    pub longest: Bytes,
    /// Requests beyond the target, which are folded into it.
    pub folded: u64,
    /// Requests that are extended to whole blocks of the target.
    pub aligned: u64,
    /// The recorded time, to the last completion, or to the last submission without response times.
    pub recorded: Nanos,
    /// The same behind the cut of idle times.
    pub after_cut: Nanos,
    /// The length to which longer idle times are cut; `None` for no cut.
    pub idle_cut: Option<Nanos>,
    /// Whether the trace has response times.
    pub has_response_times: bool,
    /// The reads and writes that are replayed at most, from the first on.
    pub at_most: u64,
}

/// What identifies a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceIdentity {
    /// The name of its file, without folder and suffix.
    pub name: String,
    /// The absolute path of its file.
    pub path: String,
    /// The name of its format.
    pub format: String,
    /// The number that follows from its requests alone.
    pub id: String,
    /// The resolution of its times, in nanoseconds.
    pub time_resolution_ns: u64,
}

impl Replay {
    /// Returns the rule of idle times for labels, such as `idle time cut to 25ms`.
    pub fn cut_label(&self) -> String {
        match self.idle_cut {
            Some(cut) => format!("idle time cut to {cut}"),
            None => "idle time not cut".to_owned(),
        }
    }

    /// Returns the replay in words for a printed plan.
    pub fn describe(&self) -> String {
        let [reads, writes] = self.requests;
        let (name, bytes) = (&self.trace.name, self.bytes[0] + self.bytes[1]);
        format!(
            "replay of {name}: {reads} reads and {writes} writes, {}, {} of recorded time, {}",
            bytes.about(),
            self.after_cut.about(),
            self.cut_label()
        )
    }

    /// Returns the findings about what the replay changes in the trace.
    pub fn findings(&self) -> Vec<Finding> {
        let total = self.requests[0] + self.requests[1];
        let finding = |is_true: bool, kind, severity, text: String, advice: &str| {
            is_true.then(|| Finding::new(kind, severity, text, advice))
        };
        let [discards, flushes] = self.left_out;
        let resolution = Nanos(self.trace.time_resolution_ns);
        let cut = Nanos(self.recorded.0 - self.after_cut.0.min(self.recorded.0));
        [
            finding(
                self.folded > 0,
                FindingKind::Folded,
                Severity::Warning,
                format!(
                    "{} of {total} requests lie beyond the target; their offsets were folded into it",
                    self.folded
                ),
                "use a target as large as the range that the trace addresses",
            ),
            finding(
                self.aligned > 0,
                FindingKind::Folded,
                Severity::Note,
                format!(
                    "{} of {total} requests were extended to whole logical blocks of the target",
                    self.aligned
                ),
                "use a drive that is formatted with blocks of 512 bytes",
            ),
            finding(
                discards + flushes > 0,
                FindingKind::RequestsLeftOut,
                Severity::Warning,
                format!("{discards} discards and {flushes} flushes of the trace were left out"),
                "compare such a replay only with replays of the same trace",
            ),
            finding(
                !self.has_response_times,
                FindingKind::NoResponseTimes,
                Severity::Note,
                "the trace has no response times: every request was due at its recorded time, also \
                 one that had waited for the completion of another"
                    .into(),
                "record traces with completions, such as those of blktrace or `--log-ios`",
            ),
            finding(
                self.trace.time_resolution_ns > FINE_RESOLUTION,
                FindingKind::CoarseTimes,
                Severity::Warning,
                format!(
                    "the times of the trace are multiples of {resolution}: requests of one such time \
                     were sent together, which makes their latencies longer"
                ),
                "use a trace with times in microseconds",
            ),
            finding(
                cut > Nanos::ZERO,
                FindingKind::IdleCut,
                Severity::Note,
                format!(
                    "{} of {} of recorded time were cut: idle times were shortened to {}",
                    cut.about(),
                    self.recorded.about(),
                    self.idle_cut.unwrap_or_default()
                ),
                "a drive with less idle time does less work in the background",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
